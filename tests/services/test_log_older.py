"""Older lines from the host: in pieces of any size, together with the kept ones they are the log, no line twice or missing."""

from pathlib import Path

import pytest
from tests.services.test_log_following import Following, on_this_machine, write

from specdeck.config.objects import Host
from specdeck.errors import Refused
from specdeck.parsing.lines import Line
from specdeck.services import log_follower, log_older
from specdeck.services.log_older import read_older
from specdeck.services.log_source import LogSource
from specdeck.transport.local import LocalTransport


async def here() -> LocalTransport:
    transport = LocalTransport(Host("here", "localhost"))
    await transport.connect()
    return transport


async def all_before(source: LogSource, before: Line, *, gap_end: int = 0) -> list[Line]:
    """Piece after piece up to the begin of the file."""
    found: list[Line] = []
    while True:
        piece = await read_older(source, before, unnumbered_before=gap_end)
        found[:0] = piece.lines
        if piece.begin == 0:
            return found
        before = piece.lines[0]


@pytest.mark.parametrize("block", [40, 64, 999, 100_000])
async def test_pieces_of_any_size_are_the_lines_of_the_file(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_older, "BLOCK_BYTES", block)
    log = tmp_path / "log"
    log.write_bytes(b"".join(b"line %04d%s" % (n, b"\r\n" if n % 3 else b"\n") for n in range(60)))
    last = Line("line 0059", 60, log.stat().st_size - len("line 0059\r\n"))
    lines = await all_before(LogSource(await here(), str(log)), last)
    assert [line.text for line in lines] == [f"line {n:04}" for n in range(59)]
    assert [line.number for line in lines] == list(range(1, 60))


async def test_bars_are_folded_as_ever_also_where_a_piece_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_older, "BLOCK_BYTES", 50)
    log = tmp_path / "log"
    log.write_text("begin\n" + "".join(f"Loading: {n:02}%\r" for n in range(90)) + "Loading: 100%\nmiddle\nend\n")
    end = Line("end", 94, log.stat().st_size - 4)
    lines = await all_before(LogSource(await here(), str(log)), end)
    assert [(line.text, line.number) for line in lines] == [("begin", 1), ("Loading: 100%", 92), ("middle", 93)]


async def test_a_log_that_was_replaced_is_not_taken_for_the_old_one(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("another server\n" * 50)
    with pytest.raises(Refused, match="cut or replaced"):
        await read_older(LogSource(await here(), str(log)), Line("line 0040", 41, 400))


async def test_what_a_long_log_left_out_is_there_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("WHOLE_BYTES", 4000), ("HEAD_BYTES", 1000), ("TAIL_BYTES", 1000)):
        monkeypatch.setattr(log_follower, name, size)
    log = tmp_path / "log"
    write(log, "".join(f"line {number:04}\n" for number in range(1000)))
    following = Following(log)
    async with on_this_machine(following):
        await following.until_last("line 0999")
        first = next(line for line in following.follower.ring.after(0) if line.text > "line 0500")
        older = await following.follower.older(await here(), first)
    texts = [line.text for line in older.lines]
    assert texts == [f"line {number:04}" for number in range(int(first.text[5:]))]
    assert older.begin == 0


async def test_lines_after_a_note_of_ours_keep_their_place_in_the_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, "old\n")
    following = Following(log)
    async with on_this_machine(following):
        await following.until_last("old")
    log.write_text("new 1\nnew 2\n")
    async with on_this_machine(following):
        await following.until_last("new 2")
    kept = following.follower.ring.after(0)
    assert [line.offset for line in kept if line.text.startswith("new")] == [0, 6]
