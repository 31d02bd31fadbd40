"""A line of 300 ms and few bytes a second: a long log does not hold up what is asked meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.transport.relay import running_relay
from tests.transport.test_half_open import go_through
from tests.transport.test_login import connected

from specdeck.services.log_source import LogSource
from specdeck.transport.script import Script
from specdeck.transport.ssh import SshTransport

pytestmark = pytest.mark.sshd


async def answers_until(done: "asyncio.Task[bytes]", transport: SshTransport) -> int:
    """How often the host answers before something else is over."""
    count = 0
    while not done.done():
        assert (await transport.run(Script("echo here"))).stdout == b"here\n"
        count += 1
    return count - 1


async def test_a_range_of_a_log_comes_bit_by_bit(own_openssh: OpenSsh, tmp_path: Path) -> None:
    log = tmp_path / "log"
    content = b"".join(b"line %06d of a log\n" % number for number in range(6_500))
    log.write_bytes(content)
    async with running_relay(own_openssh.port) as relay:
        go_through(own_openssh, relay.port)
        async with connected(own_openssh) as transport:
            relay.delay_seconds, relay.bytes_per_second = 0.05, 60_000.0
            reading = asyncio.create_task(LogSource(transport, str(log)).read(0, len(content)))
            assert await answers_until(reading, transport) >= 2
            assert reading.result() == content
            relay.heal()


async def test_a_file_that_is_cut_while_it_is_read_ends_there(own_openssh: OpenSsh, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * 40_000)
    async with connected(own_openssh) as transport:
        assert len(await LogSource(transport, str(log)).read(0, 90_000)) == 40_000


async def test_a_log_that_is_faster_than_the_line_does_not_silence_the_host(own_openssh: OpenSsh) -> None:
    """Its sender would have half a minute of it on the way otherwise, and each answer would wait behind that."""
    async with running_relay(own_openssh.port) as relay:
        go_through(own_openssh, relay.port)
        async with connected(own_openssh) as transport, transport.open(Script("yes 'a log line'")) as channel:
            relay.bytes_per_second = 60_000.0
            reader = asyncio.create_task(_drain(channel.chunks()))
            async with asyncio.timeout(20):
                for _ in range(2):
                    assert (await transport.run(Script("echo here"))).stdout == b"here\n"
            assert not reader.done()
            relay.heal()
            reader.cancel()
            await asyncio.wait([reader])


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    async for _ in chunks:
        pass
