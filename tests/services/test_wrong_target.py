"""What must never be signalled: strangers who look like the server, hold its port or its old number, or carry its environment."""

import asyncio
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.services.bench import Made, end, is_alive, names
from tests.services.stand_in import StandIn

from specdeck.config.objects import Server
from specdeck.errors import Refused
from specdeck.parsing.proc import ProcessStat, process_stat
from specdeck.services.runs import SERVER_WORDS, Look, SeenProcess, look, parse_look
from specdeck.services.survey import Survey
from specdeck.services.target import check_permission, find_target
from specdeck.transport.script import script_text

CASE = Path(__file__).parents[1] / "cases" / "B39_wrong_target"
NOBODY = 65534
USERS = {1000: "ops", 1001: "carol", 0: "root"}


@contextmanager
def running(
    *argv: str, env: Mapping[str, str] | None = None, new_session: bool = True
) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the test, ended with it."""
    full = {**os.environ, **(env or {})}
    process = subprocess.Popen(
        argv, env=full, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=new_session
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)
        if process.stdout:
            process.stdout.close()


def server_words(one_stand_in: StandIn) -> list[str]:
    """The command line of a server that somebody starts by hand."""
    return [str(one_stand_in.python), "-m", "sglang.launch_server", "--port", str(one_stand_in.port)]


def recorded() -> dict[int, tuple[SeenProcess, int]]:
    """The processes of the case's ps.txt, and their process groups."""
    found = {}
    for row in (CASE / "ps.txt").read_text().splitlines()[1:]:
        pid, parent, group, user, state, *rest = row.split()
        argv = tuple(rest[5:])
        number = next(number for number, name in USERS.items() if name == user)
        found[int(pid)] = (SeenProcess(int(pid), int(pid), state[0], argv, argv[0], int(parent), number), int(group))
    return found


def seen_on(port: int) -> Look:
    """What user `ops` sees of a port of the case, by its ports.txt."""
    processes = recorded()
    row = next(row for row in (CASE / "ports.txt").read_text().splitlines() if f":{port} " in row)
    pid = int(row.split("pid=")[1].split(",")[0]) if "pid=" in row else None
    owners = (processes[pid][0],) if pid else ()
    listener = owners[0].user_id if owners else 1001
    return Look("boot", is_listening=True, owners=owners, listeners=(listener or 0,), users=USERS, me=1000)


@pytest.mark.parametrize(("port", "pids"), [(30000, [4000, 4011, 4012, 4013]), (30001, [5000, 5011])])
def test_the_server_on_a_port_is_its_owner_and_the_owners_own_processes(port: int, pids: list[int]) -> None:
    target = find_target(Server("kimi", "lab", "/models/example", port), seen_on(port), "sglang")
    assert target is not None
    table = {
        pid: ProcessStat(pid, "x", each.state, each.parent, group, group, pid)
        for pid, (each, group) in recorded().items()
    }
    assert list(Survey(table, {}, None, None).family(target.pid)) == pids


def test_the_server_of_another_user_is_named_with_its_user_and_left_alone() -> None:
    with pytest.raises(Refused, match="port 30002 of lab belongs to carol, and this user may not see the process"):
        find_target(Server("kimi", "lab", "/models/example", 30002), seen_on(30002), "sglang")


def test_a_client_that_names_the_engine_is_no_server() -> None:
    client = recorded()[7000][0]
    with pytest.raises(Refused, match=r"pid 7000 .*bench_serving.* which is no sglang server"):
        find_target(
            Server("kimi", "lab", "/models/example", 30000), replace(seen_on(30000), owners=(client,)), "sglang"
        )


def test_a_port_that_leads_into_a_container_says_so() -> None:
    proxy = SeenProcess(
        900, 1, "S", ("/usr/bin/docker-proxy", "-proto", "tcp", "-host-port", "30000"), "docker-proxy", 1, 0
    )
    with pytest.raises(Refused, match=r"leads into a container .*docker ps --filter publish=30000"):
        find_target(Server("kimi", "lab", "/m", 30000), replace(seen_on(30000), owners=(proxy,)), "sglang")


def test_a_port_that_two_servers_share_is_nobodys() -> None:
    both = (recorded()[4000][0], recorded()[5000][0])
    with pytest.raises(Refused, match=r"is shared by pid 4000 .* pid 5000 .*: nothing is touched"):
        find_target(Server("kimi", "lab", "/m", 30000), replace(seen_on(30000), owners=both), "sglang")


def test_an_http_part_that_holds_the_port_for_its_parent_leads_to_the_parent() -> None:
    parent = SeenProcess(50, 7, "S", ("/v/bin/vllm", "serve", "/m", "--api-server-count", "2"), "vllm", 40, 1000)
    wrapper = SeenProcess(40, 6, "S", ("bash", "start.sh"), "bash", 30, 1000)
    child = SeenProcess(51, 8, "S", ("VLLM::ApiServer_0",), "VLLM::ApiServer", 50, 1000)
    seen = Look("boot", is_listening=True, owners=(child,), above=(parent, wrapper), users=USERS, me=1000)
    target = find_target(Server("kimi", "lab", "/m", 8000), seen, "vllm")
    assert target is not None
    assert target.words == "50:7"


def test_a_server_that_does_not_listen_yet_is_found_by_its_command_line_and_port() -> None:
    servers = tuple(recorded()[pid][0] for pid in (4000, 5000, 7000, 8001))
    seen = Look("boot", similar=servers, users=USERS, me=1000)
    target = find_target(Server("kimi", "lab", "/m", 30001), seen, "sglang")
    assert target is not None
    assert target.pid == 5000
    assert find_target(Server("kimi", "lab", "/m", 30009), seen, "sglang") is None


def test_root_may_end_the_server_of_another_user_and_is_told_whose_it_is() -> None:
    carols = recorded()[6000][0]
    seen = Look("boot", is_listening=True, owners=(carols,), members=(carols,), users=USERS, me=0)
    target = find_target(Server("kimi", "lab", "/m", 30002), seen, "sglang")
    assert target is not None
    (check,) = check_permission(seen, target)
    assert (check.state, check.detail) == (
        "passed",
        "pid 6000 (python3) belongs to carol; this user may end it all the same",
    )


def test_a_users_own_run_that_another_user_started_is_refused_with_a_name() -> None:
    carols = recorded()[6000][0]
    seen = Look("boot", is_listening=True, owners=(carols,), members=(carols,), users=USERS, me=1000)
    target = find_target(Server("kimi", "lab", "/m", 30002), seen, "sglang")
    assert target is not None
    (check,) = check_permission(seen, target)
    assert (check.state, check.detail) == (
        "failed",
        "pid 6000 (python3) belongs to carol: no permission to signal it",
    )


def seen_by_nobody(port: int) -> Look:
    """One look as the user `nobody`."""
    text = "\n".join(map(script_text, ("proc", "lock", "look")))
    become = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    argv = (*become, "sh", "-s", "--", "kimi", str(port), SERVER_WORDS, "-")
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    asked = subprocess.run(
        argv, input=text.encode(), capture_output=True, timeout=30, start_new_session=True, env=env, check=False
    )
    return parse_look(asked.stdout)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
async def test_a_real_port_of_another_user_is_refused_with_the_users_name(stand_in: StandIn) -> None:
    taken = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", stand_in.port)
    async with taken:
        seen = await asyncio.to_thread(seen_by_nobody, stand_in.port)
    assert (seen.is_listening, seen.owners, seen.listeners, seen.me) == (True, (), (0,), NOBODY)
    with pytest.raises(Refused, match="belongs to root, and this user may not see the process"):
        find_target(stand_in.server(), seen, "sglang")


async def test_the_shell_in_which_a_server_was_started_by_hand_lives_on(local_bench: Made) -> None:
    one = await local_bench()
    words = " ".join(server_words(one.stand_in))
    shell = f"{words} >/dev/null 2>&1 & sleep 600"
    with running("sh", "-c", shell, env=one.stand_in.env) as terminal:
        await one.until_it_listens()
        steps = await one.do("stop")
        assert names(steps)[-1] == "done"
        assert one.holders() == []
        assert is_alive(terminal.pid)
        beside = below(terminal.pid)
        assert [name for name in beside.values() if "sleep" in name] == ["sleep"]
    for pid in beside:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def reap(pid: int) -> None:
    """End a child of the test."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def stat_of(pid: int) -> ProcessStat:
    """Of a living process."""
    stat = process_stat(Path(f"/proc/{pid}/stat").read_bytes())
    assert stat is not None
    return stat


def below(parent: int) -> dict[int, str]:
    """The living children of a process."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            stat = process_stat((folder / "stat").read_bytes())
            if stat and stat.parent == parent and not stat.is_dead:
                found[stat.pid] = stat.name
    return found


async def test_a_shell_that_somebody_opened_with_the_servers_environment_lives_on(local_bench: Made) -> None:
    one = await local_bench()
    await one.do("launch")
    await one.until_it_listens()
    run_id = (one.stand_in.runs / "0001" / "id").read_text().strip()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("sleep", ["sleep", "600"], {**os.environ, "SPECDECK_RUN": run_id})  # noqa: S606 - the child of a fork
    try:
        steps = await one.do("stop")
        assert names(steps)[-1] == "done"
        assert is_alive(pid)
    finally:
        os.close(terminal)
        reap(pid)


async def test_a_dead_leaders_number_is_not_signalled_while_its_orphans_are_ended(local_bench: Made) -> None:
    one = await local_bench(mode="orphans")
    await one.do("launch")
    await one.until_it_listens()
    os.kill(one.pid(), signal.SIGKILL)
    await one.until("exit")
    with running("sleep", "600") as stranger:
        start = (one.stand_in.runs / "0001" / "pid").read_text().split()[1]
        (one.stand_in.runs / "0001" / "pid").write_text(f"{stranger.pid} {start}\n")
        steps = await one.do("stop")
        assert names(steps)[-1] == "done"
        assert "term" not in names(steps)
        assert one.holders() == []
        assert is_alive(stranger.pid)


async def test_a_session_that_has_the_old_number_by_now_is_a_strangers(local_bench: Made) -> None:
    one = await local_bench()
    await one.do("launch")
    await one.until_it_listens()
    await one.do("stop")
    with running("sh", "-c", "sleep 600 >/dev/null & echo $!") as leader:
        assert leader.stdout is not None
        member = int(leader.stdout.readline())
        leader.wait(10)
        stat = stat_of(member)
        try:
            assert stat.session == leader.pid
            (one.stand_in.runs / "0001" / "pid").write_text(f"{leader.pid} 1\n")
            (one.stand_in.runs / "0001" / "ended").write_text(f"{stat.start_time}\n")
            with pytest.raises(Refused, match="does not run"):
                await one.launcher.plan("stop", "kimi")
            (one.stand_in.runs / "0001" / "ended").write_text(f"{stat.start_time + 1}\n")
            seen = await look(one.transport, one.server)
            assert [process.pid for process in seen.members] == [member]
        finally:
            end(member, stat.start_time)


async def test_a_file_that_is_called_like_the_socket_owns_no_port(local_bench: Made, tmp_path: Path) -> None:
    one = await local_bench()
    taken = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", one.stand_in.port)
    async with taken:
        inode = os.fstat(taken.sockets[0].fileno()).st_ino
        lure = tmp_path / f"a 3 -> socket:[{inode}]"
        lure.touch()
        with running("sh", "-c", 'exec 5<"$1"; exec sleep 600', "sh", str(lure)):
            seen = await look(one.transport, one.server)
    assert [owner.pid for owner in seen.owners] == [os.getpid()]


@pytest.mark.parametrize("name", ["a) R 1 (b", "x\ny Z 1", " spaced ", "(("])
def test_a_process_may_be_called_anything(name: str) -> None:
    code = f"import ctypes, time; ctypes.CDLL(None).prctl(15, {name.encode()!r}, 0, 0, 0); print(1, flush=True); time.sleep(600)"
    with running(sys.executable, "-c", code) as named:
        assert named.stdout is not None
        named.stdout.readline()
        text = f'{script_text("proc")}\nset -f; proc_stat {named.pid}; printf "%s %s\\n" "$stat_ppid" "$stat_start"; family_rows'
        told = subprocess.run(["sh", "-s"], input=text.encode(), capture_output=True, timeout=20, check=False)
        stat = stat_of(named.pid)
        session = os.getsid(named.pid)
    first, *rows = told.stdout.decode().split("\n")
    assert first.split() == [str(os.getpid()), str(stat.start_time)]
    assert f"{named.pid}:{os.getpid()}:{session}" in rows
