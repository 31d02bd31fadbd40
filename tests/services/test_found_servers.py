"""Servers that nobody wrote into a fleet file: found with profile, log and owner, watched and stopped like one of ours."""

import asyncio
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services.lab import Lab, is_alive
from tests.services.waiting import kimi, until

from specdeck.config.fleet import read_fleet
from specdeck.config.objects import Fleet, Host, Profile
from specdeck.config.problems import Problems
from specdeck.services import host_monitor, watching
from specdeck.services.discovery import Found, as_server, discover, read_discovery
from specdeck.services.open_deck import open_deck
from specdeck.state.snapshot import FleetState, ServerState, Word
from specdeck.transport.connect import transport_for

SPECULATION = (
    *("--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", "/m/draft"),
    *("--speculative-num-steps", "3", "--speculative-eagle-topk", "8", "--speculative-num-draft-tokens", "16"),
)
CONTAINER = "3f9c0b7d5a1e4f2893c6d7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f708"
IN_DOCKER = f"0::/system.slice/docker-{CONTAINER}.scope"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A host without servers."""
    return Lab(tmp_path)


@pytest.fixture(scope="module")
def shipped() -> dict[str, Profile]:
    """The profiles that come with specdeck."""
    return dict(read_fleet(None, Problems()).profiles)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ticks as the deck takes them while something changes, and shorter."""
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.2)
    monkeypatch.setattr(host_monitor, "FAST_TICK_SECONDS", 0.1)
    monkeypatch.setattr(host_monitor, "LEAST_SURVEY_SECONDS", 0.1)


@contextmanager
def serving(
    lab: Lab, *words: str, before: tuple[str, ...] = (), **changes: object
) -> Iterator[subprocess.Popen[bytes]]:
    """A server as others start it, with more words and other outputs."""
    env = {
        **os.environ,
        "PYTHONPATH": str(lab.folder / "site"),
        "FAKE_SERVER": str(lab.folder),
        "HF_TOKEN": "hf_secret",
    }
    env["SGLANG_ENABLE_SPEC_V2"] = "False"
    argv = [
        *before,
        sys.executable,
        "-m",
        "sglang.launch_server",
        "--model-path",
        "/data/models/kimi",
        "--port",
        str(lab.port),
    ]
    options: dict[str, object] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **changes}
    process = subprocess.Popen([*argv, *words], env=env, stdin=subprocess.DEVNULL, start_new_session=True, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


async def find(lab: Lab, is_it: Callable[[Found], bool] = lambda _: True) -> Found:
    """The lab's server, once it is seen; the machine may have others."""
    transport = transport_for(Host("lab", "localhost", env=lab.env))
    await transport.connect()
    try:
        async with asyncio.timeout(90):
            while True:
                for each in await discover(transport):
                    if each.port == lab.port and is_it(each):
                        return each
                await asyncio.sleep(0.05)
    finally:
        await transport.close()


def seen(state: FleetState, port: int) -> ServerState | None:
    return next((server for server in state.servers if server.port == port), None)


@pytest.mark.sshd
async def test_a_found_server_is_watched_and_stopped_over_ssh_like_one_of_ours(
    lab: Lab, openssh: OpenSsh, shipped: dict[str, Profile]
) -> None:
    fleet = Fleet((openssh.host(env=lab.env),), shipped)
    with (lab.folder / "server.log").open("ab") as log, serving(lab, *SPECULATION, stdout=log, stderr=log) as process:
        async with open_deck(fleet) as deck:
            state = await until(deck, lambda state: (s := seen(state, lab.port)) and s.run and s.story)
            server = seen(state, lab.port)
            assert server is not None
            assert server.run is not None
            assert server.profile_words == "eagle3-v1, but topk 8"
            assert (server.run.pid, server.run.log) == (process.pid, str(lab.folder / "server.log"))
            assert server.configured_profiles == (f"{server.name}-found",)
            again = await deck.plan("relaunch", server.name)
            assert (again.new_profile, again.changes) == (f"{server.name}-found", ())
            plan = await deck.plan("stop", server.name)
            assert (plan.pid, plan.is_allowed) == (process.pid, True)
            await deck.perform(plan)
            await asyncio.to_thread(process.wait, 30)
            await until(deck, lambda state: (s := seen(state, lab.port)) and s.word == Word.STOPPED)
    assert not is_alive(process.pid)


async def test_one_that_begins_to_load_is_seen_at_once_and_not_with_the_next_search(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "DISCOVERY_SECONDS", 3600.0)
    monkeypatch.setattr(watching, "LEAST_DISCOVERY_SECONDS", 0.1)
    (lab.folder / "site" / "sglang" / "launch_server.py").write_text("import signal\nsignal.pause()\n")
    async with open_deck(lab.local()) as deck:
        await until(deck, lambda state: kimi(state).word == Word.STOPPED)
        with serving(lab) as process:
            state = await until(deck, lambda state: kimi(state).word == Word.STARTING)
            assert kimi(state).evidence.process.pid == process.pid


async def test_its_variables_are_read_and_its_secrets_are_not(lab: Lab) -> None:
    with serving(lab):
        found = await find(lab)
    assert found.process.env["SGLANG_ENABLE_SPEC_V2"] == "False"
    assert "HF_TOKEN" in found.process.secret_names
    assert "hf_secret" not in repr(found)
    assert found.process.program == sys.executable


@pytest.mark.parametrize("way", ["null", "pipe", "terminal", "deleted"])
async def test_an_output_that_is_no_log_is_said_in_words(lab: Lab, way: str) -> None:
    gone = lab.folder / "gone.log"
    with ExitStack() as stack:
        if way == "terminal":
            _, terminal = pty.openpty()
            stack.callback(os.close, terminal)
        outputs = {
            "null": lambda: subprocess.DEVNULL,
            "pipe": lambda: subprocess.PIPE,
            "terminal": lambda: terminal,
            "deleted": lambda: stack.enter_context(gone.open("ab")),
        }
        out = outputs[way]()  # type: ignore[no-untyped-call]
        process = stack.enter_context(serving(lab, stdout=out, stderr=subprocess.STDOUT))
        if process.stdout is not None:
            stack.callback(process.stdout.close)
        if way == "deleted":
            gone.unlink()
        found = await find(lab, lambda each: len(each.process.outputs) > 1)
    said = {
        "null": "its output is thrown away (/dev/null)",
        "pipe": "its output goes into a pipe, to another program",
        "terminal": "its output goes to a terminal (/dev/pts/",
        "deleted": f"its log {gone} was deleted",
    }
    assert found.process.log is None
    assert found.process.no_log.startswith(said[way])


def unshare_works() -> bool:
    words = ["unshare", "--pid", "--mount", "--fork", "--mount-proc", "true"]
    try:
        return subprocess.run(words, capture_output=True, timeout=20, check=False).returncode == 0
    except OSError:
        return False


async def test_a_server_in_namespaces_of_its_own_is_found_with_its_log_by_its_root(lab: Lab) -> None:
    if not unshare_works():
        pytest.skip("this machine allows no namespaces")
    apart = ("unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc")
    with (lab.folder / "server.log").open("ab") as log, serving(lab, before=apart, stdout=log, stderr=log) as outer:
        found = await find(lab, lambda each: "pid" in each.process.apart)
        assert found.process.pid != outer.pid
        assert (found.process.inner_pid, found.process.is_contained) == (1, True)
        assert found.process.log == f"/proc/{found.process.pid}/root{lab.folder}/server.log"
        assert os.path.exists(found.process.log)  # noqa: ASYNC240 - a stat of /proc
        assert "it runs in a container" in " ".join(as_server(found, "lab", ()).notes)


def container(more: str = "", port: str = "1F40") -> bytes:
    """A server in a Docker container with a network of its own, as discover.sh tells it to root."""
    return f"""\
@ours 0::/user.slice/user-0.slice/session-3.scope
@home /root
@own PATH=/usr/bin
@arg 77 /usr/bin/python3
@arg 77 -m
@arg 77 vllm.entrypoints.openai.api_server
@arg 77 --model
@arg 77 org/kimi
@cwd 77 /app
@env 77 PATH=/usr/bin
@cgroup 77 {IN_DOCKER}
@nspid 77 77 1
@apart 77 mnt
@apart 77 net
@apart 77 pid
{more}@socket 901 77
@out 77 pipe:[55]
@err 77 pipe:[56]
@listen {port} 901 00000000
@address 77 172.17.0.2
""".encode()


def test_a_container_is_named_and_its_log_is_where_its_runtime_keeps_it() -> None:
    kept = f"/var/lib/docker/containers/{CONTAINER}/{CONTAINER}-json.log"
    (found,) = read_discovery(container(f"@kept 77 {kept}\n"))
    assert found.process.owner is not None
    assert found.process.owner.words == f"Docker container {CONTAINER[:12]}"
    assert (found.process.log, found.process.env) == (kept, {})


def test_a_container_log_that_may_not_be_read_says_who_may() -> None:
    (found,) = read_discovery(container())
    assert found.process.log is None
    assert found.process.no_log == (
        f"its output is kept by Docker container {CONTAINER[:12]}, where this user may not read it"
        f" (docker logs {CONTAINER[:12]})"
    )


def test_a_published_port_is_the_hosts_port() -> None:
    proxy = (
        b"@proxy /usr/bin/docker-proxy -proto tcp -host-ip 0.0.0.0 -host-port 9000 "
        b"-container-ip 172.17.0.2 -container-port 8000 \n"
    )
    (found,) = read_discovery(container() + proxy)
    assert (found.port, found.inner_port, found.is_published) == (9000, 8000, True)
    (found,) = read_discovery(container() + proxy.replace(b"172.17.0.2", b"172.17.0.9"))
    assert (found.port, found.is_published) == (8000, False)
    assert "port 8000 is its container's own" in as_server(found, "lab", ()).notes[-1]


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ("0::/system.slice/vllm.service", "its output goes into the journal (journalctl -u vllm.service)"),
        ("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "its output goes into a socket"),
    ],
)
def test_the_journal_of_a_unit_is_told_by_its_command(group: str, words: str) -> None:
    answer = (
        f"@ours 0::/x\n@arg 5 /usr/bin/ollama\n@arg 5 serve\n@cgroup 5 {group}\n@out 5 socket:[9]\n@err 5 socket:[9]\n"
    )
    (found,) = read_discovery(answer.encode())
    assert found.process.no_log == words


def test_a_process_whose_files_are_hidden_says_so() -> None:
    (found,) = read_discovery(b"@arg 5 /usr/bin/ollama\n@arg 5 serve\n@out 5 \n@no-env 5\n")
    assert found.process.no_log == "where its output goes may not be read by this user"
    assert any("environment may not be read" in note for note in as_server(found, "lab", ()).notes)


def test_a_title_that_holds_the_command_line_is_read_as_one() -> None:
    (found,) = read_discovery(
        b"@arg 5 /opt/bin/python3 -m sglang.launch_server --model-path /m/kimi --port 30007\n@arg 5 \n"
    )
    assert (found.engine, found.port, as_server(found, "lab", ()).server.model) == ("sglang", 30007, "/m/kimi")
