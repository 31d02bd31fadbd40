"""Scripts over every transport: bytes in, bytes out, statuses, ends."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.transport.processes import children, end, is_alive, only_the_last_survives, pids_in, until

from specdeck.config.objects import Host
from specdeck.errors import ConnectionLost, ScriptTimeout, TransportError
from specdeck.transport.base import Channel, Transport
from specdeck.transport.connect import transport_for
from specdeck.transport.script import Script


@pytest.mark.parametrize("status", [0, 3, 255])
async def test_run_gives_the_scripts_own_status(transport: Transport, status: int) -> None:
    outcome = await transport.run(Script(f"echo out; echo err >&2; exit {status}"))
    assert (outcome.stdout, outcome.stderr, outcome.exit_status) == (b"out\n", b"err\n", status)


@pytest.mark.parametrize(
    "word",
    [
        "",
        "it's",
        'say "hi"',
        "two\nlines\n",
        "größe 日本",
        "$HOME `id` $(id) \\n \\",
        "-n",
        "*",
        "\udcff\udc80",
        "a\tb",
        "!x",
    ],
)
async def test_arguments_arrive_byte_for_byte(transport: Transport, word: str) -> None:
    outcome = await transport.run(Script("printf '%s|' \"$@\"", (word, "next")))
    assert outcome.stdout == word.encode("utf-8", "surrogateescape") + b"|next|"


async def test_output_that_is_not_utf8_arrives_byte_for_byte(transport: Transport) -> None:
    outcome = await transport.run(Script("printf '\\377\\376\\000x\\r\\n'"))
    assert outcome.stdout == b"\xff\xfe\x00x\r\n"


async def test_large_output_arrives_whole(transport: Transport) -> None:
    outcome = await transport.run(Script("head -c 5000000 /dev/zero; echo end"))
    assert len(outcome.stdout) == 5_000_004
    assert outcome.stdout.endswith(b"end\n")


async def test_a_script_longer_than_the_shells_buffer_runs_whole(transport: Transport) -> None:
    text = "".join(f": line {number} of a long script\n" for number in range(3000)) + "echo end"
    assert (await transport.run(Script(text))).stdout == b"end\n"


async def test_a_one_shot_script_reads_nothing(transport: Transport) -> None:
    outcome = await transport.run(Script("cat; echo after"))
    assert outcome.stdout == b"after\n"


async def test_a_script_ended_by_a_signal_of_its_own_says_so(transport: Transport) -> None:
    outcome = await transport.run(Script("sh -c 'kill -9 $$'"))
    assert outcome.exit_status == 128 + 9


async def test_a_script_that_is_no_shell_is_an_error_with_the_shells_words(transport: Transport) -> None:
    with pytest.raises(TransportError, match=r"the login shell ended .* before it ran the script.*yntax error"):
        await transport.run(Script("if then ("))


async def test_the_hosts_variables_are_exported_byte_for_byte(host: Host) -> None:
    transport = transport_for(replace(host, env={"SPECDECK_TEST": "a'b $HOME\n"}))
    await transport.connect()
    try:
        outcome = await transport.run(Script("sh -c 'printf %s \"$SPECDECK_TEST\"'"))
    finally:
        await transport.close()
    assert outcome.stdout == b"a'b $HOME\n"


async def test_a_path_that_finds_nothing_does_not_end_a_script_that_goes_on(host: Host) -> None:
    transport = transport_for(replace(host, env={"PATH": "/nonexistent"}))
    await transport.connect()
    try:
        async with transport.open(Script("while read -r word; do echo got $word; done")) as channel:
            await channel.write(b"one\n")
            assert await anext(channel.chunks()) == b"got one\n"
    finally:
        await transport.close()


async def test_questions_are_answered_one_by_one(transport: Transport) -> None:
    async with transport.open(Script('while read -r word; do echo "got $word $1"; done', ("x",))) as channel:
        chunks = channel.chunks()
        for word in ("one", "two", "three"):
            await channel.write(f"{word}\n".encode())
            assert await anext(chunks) == f"got {word} x\n".encode()
        assert channel.exit_status is None


async def test_a_channel_that_ends_by_itself_gives_its_status(transport: Transport) -> None:
    async with transport.open(Script("echo last words; exit 7")) as channel:
        assert b"".join([chunk async for chunk in channel.chunks()]) == b"last words\n"
        assert channel.exit_status == 7


async def test_a_trap_that_kills_the_group_does_not_cost_the_status(transport: Transport) -> None:
    async with transport.open(Script("trap 'kill 0' EXIT; sleep 600 </dev/null & echo $!; exit 4")) as channel:
        said = b"".join([chunk async for chunk in channel.chunks()])
        assert channel.exit_status in (4, 143)
    await until(lambda: not is_alive(int(said)))


async def test_writing_to_a_script_that_has_ended_is_a_lost_connection(transport: Transport) -> None:
    async with transport.open(Script("exit 0")) as channel:
        async for _ in channel.chunks():
            pass
        with pytest.raises(ConnectionLost):
            await _write_until_it_fails(channel)


async def test_a_script_over_its_limit_is_ended_on_the_host(transport: Transport, tmp_path: Path) -> None:
    file = tmp_path / "pids"
    with pytest.raises(ScriptTimeout, match=r"within 3 s"):
        await transport.run(children(file), limit_seconds=3)
    await only_the_last_survives(file)


async def test_a_cancelled_run_leaves_nothing_behind(transport: Transport, tmp_path: Path) -> None:
    file = tmp_path / "pids"
    task = asyncio.create_task(transport.run(children(file), limit_seconds=60))
    await until(lambda: bool(pids_in(file)))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await only_the_last_survives(file)


async def test_leaving_a_channel_ends_its_children(transport: Transport, tmp_path: Path) -> None:
    file = tmp_path / "pids"
    async with transport.open(children(file)):
        await until(lambda: bool(pids_in(file)))
    await only_the_last_survives(file)


async def test_closing_the_transport_ends_its_scripts(transport: Transport, tmp_path: Path) -> None:
    file = tmp_path / "pids"
    async with transport.open(children(file)):
        await until(lambda: bool(pids_in(file)))
        await transport.close()
        await only_the_last_survives(file)


async def test_a_child_in_a_session_of_its_own_outlives_a_script_that_ended(transport: Transport) -> None:
    outcome = await transport.run(Script("setsid sleep 30 >/dev/null 2>&1 & echo $!"))
    pid = int(outcome.stdout)
    try:
        assert is_alive(pid)
        await transport.close()
        assert is_alive(pid)
    finally:
        end(pid)


async def _write_until_it_fails(channel: Channel) -> None:
    async with asyncio.timeout(90):
        while True:
            await channel.write(b"too late\n")
            await asyncio.sleep(0)
