"""An act that was held up on its way, as on a laptop that slept: it is not done when nobody expects it any more."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest
from tests.openssh import OpenSsh
from tests.services.bench import Bench, Made, benches, names
from tests.services.stand_in import StandIn
from tests.transport.relay import Relay, running_relay
from tests.transport.test_half_open import go_through

from specdeck.errors import Refused
from specdeck.services import runs

pytestmark = pytest.mark.sshd


@dataclass
class Far:
    """A bench at the other end of a line that can be made slow."""

    relay: Relay
    make: Made


@pytest.fixture
async def far(own_openssh: OpenSsh, stand_in: StandIn) -> AsyncIterator[Far]:
    async with running_relay(own_openssh.port) as relay:
        go_through(own_openssh, relay.port)
        async for make in benches(stand_in, replace(own_openssh.host(), env=stand_in.env)):
            yield Far(relay, make)
            relay.heal()


async def test_an_act_over_a_slow_line_is_done(far: Far) -> None:
    one: Bench = await far.make()
    far.relay.delay_seconds = 0.2
    assert names(await one.do("launch")) == ["asked", "launched", "done"]


async def test_one_that_comes_too_late_touches_nothing(far: Far, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "ASK_SECONDS", 0)
    one: Bench = await far.make()
    plan = await one.launcher.plan("launch", "kimi")
    far.relay.delay_seconds = 0.8
    with pytest.raises(Refused, match=r"it came \d+ s too late, over a connection that hung: nothing was touched"):
        await one.launcher.perform(plan)
    folder = one.stand_in.runs
    assert [each.name for each in folder.iterdir()] == [] if folder.exists() else True
