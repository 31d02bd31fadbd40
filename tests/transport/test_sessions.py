"""Hosts that allow few sessions per connection: busy is not down, and the user's acts come first."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from tests.openssh import OpenSsh
from tests.transport.test_login import connected

from specdeck.errors import ChannelRefused
from specdeck.transport.script import Script
from specdeck.transport.slots import MOST_CHANNELS

pytestmark = pytest.mark.sshd
WAITS = Script("echo up; cat")


async def test_with_one_session_all_scripts_take_turns(own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(MaxSessions="1")
    async with connected(own_openssh) as transport:
        outcomes = await asyncio.gather(*(transport.run(Script("echo $1", (str(n),))) for n in range(6)))
        assert [outcome.stdout for outcome in outcomes] == [b"%d\n" % n for n in range(6)]


async def test_a_channel_gives_its_only_session_to_a_script_that_cannot_wait(own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(MaxSessions="1")
    async with connected(own_openssh) as transport, transport.open(WAITS) as channel:
        chunks = channel.chunks()
        assert await anext(chunks) == b"up\n"
        async with asyncio.timeout(3):
            assert (await transport.run(Script("echo act"))).stdout == b"act\n"
        with pytest.raises(ChannelRefused, match="gave its session"):
            await anext(chunks)
        with pytest.raises(ChannelRefused, match="one session at a time"):
            async with transport.open(WAITS):
                pass


async def test_with_two_sessions_the_oldest_channel_stays(own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(MaxSessions="2")
    async with connected(own_openssh) as transport, transport.open(WAITS) as monitor, transport.open(WAITS) as log:
        assert (await transport.run(Script("echo act"))).stdout == b"act\n"
        with pytest.raises(ChannelRefused, match="gave its session"):
            assert [chunk async for chunk in log.chunks()]
        chunks = monitor.chunks()
        assert await anext(chunks) == b"up\n"
        await monitor.write(b"still here\n")
        assert await anext(chunks) == b"still here\n"
        assert (await transport.run(Script("echo next"))).stdout == b"next\n"


async def test_an_act_goes_through_while_all_channels_are_in_use(openssh: OpenSsh) -> None:
    async with connected(openssh) as transport, AsyncExitStack() as stack:
        for _ in range(MOST_CHANNELS):
            await stack.enter_async_context(transport.open(WAITS))
        with pytest.raises(ChannelRefused, match="one is kept free"):
            await stack.enter_async_context(transport.open(WAITS))
        async with asyncio.timeout(2):
            assert (await transport.run(Script("echo act"))).stdout == b"act\n"


async def test_sessions_come_back(openssh: OpenSsh) -> None:
    async with connected(openssh) as transport:
        for _ in range(12):
            async with transport.open(WAITS):
                pass
        assert (await transport.run(Script("echo fine"))).stdout == b"fine\n"
