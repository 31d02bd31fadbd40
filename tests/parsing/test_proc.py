"""Files of /proc: real ones of this machine in shape, and hostile ones."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdeck.parsing.proc import (
    HostMemory,
    Listener,
    argv,
    boot_id,
    environment,
    host_memory,
    listeners,
    process_stat,
    socket_inode,
)

CASES = Path(__file__).parents[1] / "cases"
TAIL = b"1 4011 4000 34816 4011 4194304 1 0 0 0 2 3 0 0 20 0 1 0 8917123 10000 500 18446744073709551615 1 1"
TCP = b"""\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:7530 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 51234 1 0000 100 0 0 10 0
   1: 00000000:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 777 1 0000 100 0 0 10 0
   2: 0100007F:7530 0100007F:C958 06 00000000:00000000 03:000017B0 00000000     0        0 0 3 0000
   3: 0100007F:C95A 0100007F:7530 01 00000000:00000000 00:00000000 00000000  1000        0 888 1 0000 100 0 0 10 0
  sl  local_address                         remote_address                        st tx rx tr tm->when retrnsmt uid
   0: 00000000000000000000000001000000:7530 00000000000000000000000000000000:0000 0A 0:0 00:0 0  1000        0 999 1 0000
   1: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 0:0 00:0 0     0        0 22 1 0000
"""


@pytest.mark.parametrize(
    ("comm", "name"),
    [
        (b"python3", "python3"),
        (b"sglang::schedul", "sglang::schedul"),
        (b"tmux: server", "tmux: server"),
        (b"a) S 1 (b", "a) S 1 (b"),
        (b"((x))", "((x))"),
        (b"", ""),
        (b"x\x1b[2J\ny", "x y"),
    ],
)
def test_a_process_name_may_hold_spaces_parentheses_and_worse(comm: bytes, name: str) -> None:
    stat = process_stat(b"4012 (" + comm + b") S " + TAIL + b"\n")
    assert stat is not None
    assert (stat.pid, stat.name, stat.state) == (4012, name, "S")
    assert (stat.parent, stat.group, stat.session, stat.start_time) == (1, 4011, 4000, 8917123)


def test_our_own_stat_line_is_read() -> None:
    stat = process_stat(Path("/proc/self/stat").read_bytes())
    assert stat is not None
    assert (stat.pid, stat.parent, stat.session) == (os.getpid(), os.getppid(), os.getsid(0))
    assert not stat.is_dead


def test_a_zombie_is_dead() -> None:
    stat = process_stat(b"7 (python3) Z " + TAIL)
    assert stat is not None
    assert stat.is_dead


@pytest.mark.parametrize(
    "line", [b"", b"7", b"7 (x", b"7 (x) S 1 2", b"x (y) S " + TAIL, b"7 (x) S x" + TAIL, b"7 (y)"]
)
def test_what_is_no_stat_line_is_none(line: bytes) -> None:
    assert process_stat(line) is None


def test_only_listening_sockets_hold_a_port() -> None:
    assert listeners(TCP) == (
        Listener("127.0.0.1", 30000, 51234),
        Listener("0.0.0.0", 3000, 777),  # noqa: S104
        Listener("::1", 30000, 999),
        Listener("::", 22, 22),
    )
    assert [found.is_any_address for found in listeners(TCP)] == [False, True, False, True]


def test_a_real_listening_socket_of_this_machine_is_found_with_its_inode() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        inode = socket_inode(os.readlink(f"/proc/self/fd/{server.fileno()}"))
        assert inode is not None
        assert Listener("127.0.0.1", port, inode) in listeners(Path("/proc/net/tcp").read_bytes())


def test_a_command_line_keeps_every_argument_as_it_is() -> None:
    assert argv(b'python3\0-c\0import os\nx\0\0--json\0{"a": 1}\0') == (
        "python3",
        "-c",
        "import os\nx",
        "",
        "--json",
        '{"a": 1}',
    )
    assert argv(b"sglang::scheduler\0\0\0\0")[0] == "sglang::scheduler"
    assert argv(b"") == ()


def test_an_environment_becomes_names_and_values() -> None:
    found = environment(b"SPECDECK_RUN=kimi/0042\0A=b=c\0junk\0A=later\0=x\0")
    assert found == {"SPECDECK_RUN": "kimi/0042", "A": "b=c"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"0f8b1c1e-8a54-4a44-8f3e-9f7a5a1d2c3b\n", "0f8b1c1e-8a54-4a44-8f3e-9f7a5a1d2c3b"),
        (b"", None),
        (b"not a boot id", None),
    ],
)
def test_a_boot_id_is_a_uuid_or_nothing(text: bytes, expected: str | None) -> None:
    assert boot_id(text) == expected


def test_the_memory_of_a_host_is_its_total_and_what_is_available() -> None:
    meminfo = (CASES / "B13_unified_memory" / "meminfo.txt").read_bytes()
    assert host_memory(meminfo) == HostMemory(total_mib=124610, available_mib=60123)
    assert host_memory(b"MemTotal: many kB") == HostMemory()


@given(st.binary())
def test_any_bytes_are_read_without_an_error(raw: bytes) -> None:
    process_stat(raw)
    process_stat(b"1 (" + raw + b") S 1 " + raw)
    listeners(raw)
    listeners(b"0: " + raw + b" 0:0 0A 0 0 0 0 0 " + raw)
    argv(raw)
    environment(raw)
    boot_id(raw)
    host_memory(b"MemTotal: " + raw)
    socket_inode(raw.decode("utf-8", "replace"))
