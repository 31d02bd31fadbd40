"""A pivot whose asker dies, or is cut off for good, at every step of its journal: it ends as asked, with one server, always."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services.bench import end, is_alive, read
from tests.services.stand_in import StandIn, make_stand_in, profile

from specdeck.config.objects import Host, Profile
from specdeck.errors import SpecdeckError
from specdeck.services.acting import act
from specdeck.services.journal import LAST_STEPS, read_step
from specdeck.services.launcher import Launcher
from specdeck.services.runs import look
from specdeck.transport.connect import transport_for

pytestmark = [pytest.mark.sshd, pytest.mark.long]

LIMIT_SECONDS = 180
PLAIN = ("asked", "identified", "term", "gone", "port-free", "memory-back", "launched")
CASES = [
    (end_of_asker, step)
    for end_of_asker in ("killed", "cut")
    for step in (*PLAIN, "waiting", "kill", "watching", "rollback")
]


@dataclass
class Story:
    """How one pivot went."""

    steps: list[str]
    most_servers: int
    profile: str
    """Of the run that lives at the end."""
    wanted: str
    listeners: int
    workers: int


@dataclass
class Chain:
    """One server that is pivoted again and again, each time by an asker that does not live to see the end."""

    stand_in: StandIn
    sshd: OpenSsh
    end_of_asker: str
    profiles: tuple[Profile, ...]
    rollback: bool = False
    told: dict[str, object] = field(default_factory=dict)
    """What `status --json` of a fresh process says at the end."""

    def __post_init__(self) -> None:
        self.server = self.stand_in.server(rollback=self.rollback)
        self.host = replace(self.sshd.host(name="lab"), env=self.stand_in.env, servers=(self.server,))
        self.fleet = self.stand_in.fleet(self.host, *self.profiles)

    async def run(self, steps: tuple[str, ...]) -> dict[str, Story]:
        """Launch, then one pivot for each step."""
        near = transport_for(Host(name="lab", ssh="localhost", env=self.stand_in.env))
        launcher = Launcher(self.fleet, {"lab": near}, time.time)
        await launcher.perform(await launcher.plan("launch", "kimi", "one"))
        await self._until_one_listens()
        stories = {}
        for step in steps:
            running = self._living()[-1]
            wanted = "two" if (self.stand_in.runs / running / "profile").read_text() == "one\n" else "one"
            most = await (self._pivot_by_cli(step) if self.end_of_asker == "killed" else self._pivot_and_cut(step))
            most = max(most, await self._until_over())
            await self._until_one_listens()
            seen = await look(near, self.server)
            alive = self._living()
            stories[step] = Story(
                [each.name for each in seen.journal.steps],
                most,
                (self.stand_in.runs / alive[-1] / "profile").read_text().strip(),
                wanted,
                len(seen.owners),
                len([file for file in self.stand_in.gpus.glob("[0-9]*") if is_alive(int(file.name))]),
            )
            if self.end_of_asker == "cut":
                self.sshd.start()
        if "rollback" in steps or "kill" in steps:
            await self._ask_status()
        await near.close()
        return stories

    def _living(self) -> list[str]:
        """The runs whose own process lives; a pid that somebody else has by now is none of theirs."""
        pids = {file.parent.name: file.read_text().split() for file in self.stand_in.runs.glob("[0-9]*/pid")}
        return sorted(run for run, words in pids.items() if words and is_alive(int(words[0]), int(words[1])))

    def _journal(self) -> list[str]:
        return [step.name for line in read(self.stand_in.runs / "act").splitlines() for step in read_step(line)]

    async def _until(self, step: str, began: float) -> int:
        """Until the new journal has this step; the most servers that lived at one time."""
        most = 0
        async with asyncio.timeout(LIMIT_SECONDS):
            while not (self._began() > began and step in self._journal()):
                most = max(most, len(self._living()))
                await asyncio.sleep(0.02)
        return most

    def _began(self) -> float:
        with suppress(OSError):
            return (self.stand_in.runs / "actor").stat().st_mtime
        return 0.0

    async def _until_over(self) -> int:
        most = 0
        async with asyncio.timeout(LIMIT_SECONDS):
            while (self._journal() or [""])[-1] not in LAST_STEPS:
                most = max(most, len(self._living()))
                await asyncio.sleep(0.02)
        return most

    async def _until_one_listens(self) -> None:
        async with asyncio.timeout(LIMIT_SECONDS):
            while True:
                with suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
                    writer.close()
                    await writer.wait_closed()
                    return
                await asyncio.sleep(0.05)

    def _cli(self, *words: str) -> tuple[list[str], dict[str, str]]:
        """The command line on a machine that knows only the fleet file."""
        folder = self.stand_in.folder / "desk"
        if not folder.exists():
            self._write_fleet(folder)
        env = {**os.environ, "SPECDECK_USER": "ann@desk", "XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": str(folder)}
        return [sys.executable, "-m", "specdeck", "--fleet", str(folder / "fleet.yaml"), *words], env

    def _write_fleet(self, folder: Path) -> None:
        (folder / "profiles").mkdir(parents=True)
        for each in self.profiles:
            text = {"engine": each.engine, "env": dict(each.env), "args": dict(each.args)}
            (folder / "profiles" / f"{each.name}.yaml").write_text(json.dumps(text))
        server = {
            "model": self.server.model, "port": self.server.port, "python": self.server.python, "profiles": ["one", "two"],
            "drain_seconds": 1, "kill_after_seconds": 2, "rollback": self.rollback,
        }  # fmt: skip
        host = {
            "ssh": "gpu-a",
            "ssh_config": str(self.sshd.ssh_config),
            "env": self.stand_in.env,
            "servers": {"kimi": server},
        }
        (folder / "fleet.yaml").write_text(json.dumps({"hosts": {"lab": host}}))

    async def _pivot_by_cli(self, step: str) -> int:
        """`specdeck pivot kimi --yes` in a process of its own, ended by SIGKILL the moment the step is there."""
        words, env = self._cli("pivot", "kimi", "--yes")
        began = self._began()
        errors = self.stand_in.folder / "errors"
        with errors.open("wb") as file:
            asker = await asyncio.create_subprocess_exec(*words, env=env, stdout=file, stderr=file)
        try:
            return await self._until(step, began)
        except TimeoutError as error:
            raise AssertionError(f"{step} never came: {errors.read_text()}; {self._journal()}") from error
        finally:
            with suppress(ProcessLookupError):
                asker.send_signal(signal.SIGKILL)
            await asker.wait()

    async def _pivot_and_cut(self, step: str) -> int:
        """The same from here, over a connection that ends for good the moment the step is there."""
        far = transport_for(self.host)
        await far.connect()
        launcher = Launcher(self.fleet, {"lab": far}, time.time)
        began = self._began()

        async def ask() -> None:
            with suppress(SpecdeckError):
                async for _ in act(launcher, far, self.server, await launcher.plan("pivot", "kimi")):
                    pass

        asking = asyncio.create_task(ask())
        try:
            most = await self._until(step, began)
            self.sshd.stop()
            async with asyncio.timeout(90):
                await asking
            return most
        finally:
            asking.cancel()
            await far.close()

    async def _ask_status(self) -> None:
        """A fresh process on another machine."""
        words, env = self._cli("status", "--json")
        status = await asyncio.create_subprocess_exec(*words, env=env, stdout=asyncio.subprocess.PIPE)
        out, _ = await asyncio.wait_for(status.communicate(), LIMIT_SECONDS)
        self.told = json.loads(out)["servers"][0]["act"]


def chains(folder: Path) -> list[tuple[Chain, tuple[str, ...]]]:
    """For each way to lose the asker: the plain steps, a server that must be killed, and the two ends of a rollback."""
    plain = (profile("one"), profile("two", args={"page-size": 16}))
    stubborn = tuple(replace(each, env={"STAND_IN": "stubborn"}) for each in plain)
    bad = (plain[0], replace(plain[1], env={"STAND_IN": "bad"}))
    kinds = (
        (plain, False, PLAIN[:4]), (plain, False, PLAIN[4:]), (stubborn, False, ("waiting", "kill")),
        (plain, True, ("watching",)), (bad, True, ("rollback",)),
    )  # fmt: skip
    made = []
    for end_of_asker in ("killed", "cut"):
        for number, (profiles, rollback, steps) in enumerate(kinds):
            own = folder / f"{end_of_asker}{number}"
            own.mkdir()
            sshd = OpenSsh(own / "openssh")
            sshd.start()  # holds its port before the server's is chosen
            made.append((Chain(make_stand_in(own), sshd, end_of_asker, profiles, rollback), steps))
    return made


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory, openssh: OpenSsh) -> Iterator[dict[tuple[str, str], Story]]:
    """All pivots, side by side; each chain has a host of its own."""
    made = chains(tmp_path_factory.mktemp("crash"))
    try:
        yield asyncio.run(_all(made))
    finally:
        for chain, _ in made:
            chain.sshd.stop()
            _end_all(chain.stand_in)


async def _all(made: list[tuple[Chain, tuple[str, ...]]]) -> dict[tuple[str, str], Story]:
    few = asyncio.Semaphore(4)

    async def run(chain: Chain, steps: tuple[str, ...]) -> dict[str, Story]:
        async with few:
            return await chain.run(steps)

    found = await asyncio.gather(*(run(chain, steps) for chain, steps in made))
    for chain, steps in made:
        if "rollback" in steps:
            assert (chain.told["kind"], chain.told["step"], chain.told["over"]) == ("pivot", "failed", True)
            assert "one runs again as run 0003" in str(chain.told["detail"])
        if "kill" in steps:
            assert (chain.told["kind"], chain.told["step"], chain.told["over"]) == ("pivot", "done", True)
    return {
        (chain.end_of_asker, step): story
        for (chain, _), stories in zip(made, found, strict=True)
        for step, story in stories.items()
    }


def _end_all(stand_in: StandIn) -> None:
    for file in stand_in.folder.glob("state/specdeck/*/*/pid"):
        with suppress(ValueError):
            pid, start_time = map(int, file.read_text().split())
            end(pid, start_time)
    for file in stand_in.gpus.glob("[0-9]*"):
        end(int(file.name), started_before=file.stat().st_mtime)


@pytest.mark.parametrize(("end_of_asker", "step"), CASES)
def test_a_pivot_ends_as_asked_when_its_asker_is_lost_at_any_step(
    stories: dict[tuple[str, str], Story], end_of_asker: str, step: str
) -> None:
    story = stories[end_of_asker, step]
    assert step in story.steps
    assert story.most_servers == 1, "never two servers"
    assert (story.listeners, story.workers) == (1, 2), "never a lost one"
    if step == "rollback":
        assert story.steps[-1] == "failed"
        assert story.profile == "one"
    else:
        assert story.steps[-1] == "done"
        assert story.profile == story.wanted
