"""Hosts that allow few sessions per connection: busy is not down, and the user's acts come first."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.transport.processes import until
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
        async with asyncio.timeout(90):
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


async def test_short_scripts_that_collide_do_not_cost_the_monitor(own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(MaxSessions="2")
    async with connected(own_openssh) as transport, transport.open(WAITS) as monitor:
        outcomes = await asyncio.gather(*(transport.run(Script("echo $1", (str(n),))) for n in range(4)))
        assert [outcome.exit_status for outcome in outcomes] == [0] * 4
        await monitor.write(b"still here\n")
        assert b"".join([await anext(chunks) for chunks in [monitor.chunks()] * 2]) == b"up\nstill here\n"


async def test_an_act_does_not_wait_for_what_watches(own_openssh: OpenSsh, tmp_path: Path) -> None:
    """A slow nvidia-smi, and the monitor: both sessions of this host are held, and K is pressed."""
    own_openssh.reconfigure(MaxSessions="2")
    async with connected(own_openssh) as transport, transport.open(WAITS):
        file = tmp_path / "begun"
        slow = asyncio.create_task(transport.run(Script('echo >"$1"; sleep 60', (str(file),)), limit_seconds=60))
        await until(file.exists)
        patient = asyncio.create_task(transport.run(Script("true"), limit_seconds=60))
        assert (await transport.run(Script("echo act", is_urgent=True), limit_seconds=30)).stdout == b"act\n"
        assert not slow.done()
        for task in (slow, patient):
            task.cancel()
        await asyncio.wait([slow, patient])


async def test_with_one_session_an_act_is_next(own_openssh: OpenSsh, tmp_path: Path) -> None:
    """However many scripts that watch are waiting for their turn."""
    own_openssh.reconfigure(MaxSessions="1")
    order = tmp_path / "order"
    note = 'echo "$1" >>"$2"; sleep 0.3'
    async with connected(own_openssh) as transport:
        watching = [
            asyncio.create_task(transport.run(Script(note, ("watch", str(order))), limit_seconds=120)) for _ in range(8)
        ]
        await until(order.exists)
        await transport.run(Script(note, ("act", str(order)), is_urgent=True), limit_seconds=60)
        await asyncio.gather(*watching)
    assert order.read_text().split().index("act") <= 3


async def test_scripts_that_watch_never_take_all_turns(openssh: OpenSsh, tmp_path: Path) -> None:
    async with connected(openssh) as transport:
        slow = [asyncio.create_task(transport.run(Script("sleep 60"), limit_seconds=60)) for _ in range(5)]
        await asyncio.sleep(0)
        assert (await transport.run(Script("echo act", is_urgent=True), limit_seconds=30)).stdout == b"act\n"
        for task in slow:
            task.cancel()
        await asyncio.wait(slow)


async def test_a_script_that_never_gets_a_session_finds_the_host_busy_not_down(
    own_openssh: OpenSsh, tmp_path: Path
) -> None:
    own_openssh.reconfigure(MaxSessions="1")
    async with connected(own_openssh) as transport:
        file = tmp_path / "begun"
        long = asyncio.create_task(transport.run(Script('echo >"$1"; sleep 60', (str(file),)), limit_seconds=60))
        await until(file.exists)
        with pytest.raises(ChannelRefused, match=r"no session became free within 0\.3 s"):
            await transport.run(Script("true"), limit_seconds=0.3)
        long.cancel()
        await asyncio.wait([long])


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8])
async def test_a_script_cancelled_while_its_session_opens_gives_it_back(openssh: OpenSsh, steps: int) -> None:
    async with connected(openssh) as transport:
        for _ in range(12):
            task = asyncio.create_task(transport.run(Script("sleep 60")))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        assert (await transport.run(Script("echo fine"), limit_seconds=30)).stdout == b"fine\n"


async def test_the_channel_of_two_sessions_may_be_opened_again(own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(MaxSessions="2")
    async with connected(own_openssh) as transport:
        async with transport.open(WAITS), transport.open(WAITS):
            await transport.run(Script("true"))
        async with transport.open(WAITS) as monitor:
            assert await anext(monitor.chunks()) == b"up\n"
            with pytest.raises(ChannelRefused, match="one is kept free"):
                async with transport.open(WAITS):
                    pass


async def test_an_act_goes_through_while_all_channels_are_in_use(openssh: OpenSsh) -> None:
    async with connected(openssh) as transport, AsyncExitStack() as stack:
        for _ in range(MOST_CHANNELS):
            await stack.enter_async_context(transport.open(WAITS))
        with pytest.raises(ChannelRefused, match="one is kept free"):
            await stack.enter_async_context(transport.open(WAITS))
        async with asyncio.timeout(90):
            assert (await transport.run(Script("echo act"))).stdout == b"act\n"


async def test_sessions_come_back(openssh: OpenSsh) -> None:
    async with connected(openssh) as transport:
        for _ in range(12):
            async with transport.open(WAITS):
                pass
        assert (await transport.run(Script("echo fine"))).stdout == b"fine\n"
