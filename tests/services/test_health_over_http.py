"""Health, key and TLS as a server on a real socket shows them, through the probe loop that watches it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.services.lab import Lab
from tests.services.scripted_http import Answer, scripted
from tests.transport.web import make_certificate

from specdeck.config.objects import Host, Server, Tls
from specdeck.engines.registry import ENGINES
from specdeck.services import probe_loop
from specdeck.services.probe_loop import ProbeLoop
from specdeck.state.events import Event, HealthAnswered, LoadSampled
from specdeck.state.snapshot import HttpWitness
from specdeck.transport.asking import Asker, Reply
from specdeck.transport.local import LocalTransport

CASES = Path(__file__).parents[1] / "cases"
LIMIT_SECONDS = 30.0


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A poke is followed at once."""
    monkeypatch.setattr(probe_loop, "LEAST_SECONDS", 0.02)


def case(name: str) -> dict[str, Answer]:
    """The routes of a handed scenario."""
    routes = json.loads((CASES / name).read_text())["routes"]
    return {path: Answer(**steps[-1]) for path, steps in routes.items()}


class Watched:
    """What a probe loop says of one server."""

    def __init__(self, server: Server) -> None:
        self.events: list[Event] = []
        self._news = asyncio.Event()
        self.loop = ProbeLoop(server, self._take, lambda: 7.0)

    def _take(self, event: Event) -> None:
        self.events.append(event)
        self._news.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for a condition on the events."""
        async with asyncio.timeout(LIMIT_SECONDS):
            while not holds():
                await self._news.wait()
                self._news.clear()

    @property
    def healths(self) -> list[HttpWitness]:
        return [event.http for event in self.events if isinstance(event, HealthAnswered)]

    @property
    def loads(self) -> list[LoadSampled]:
        return [event for event in self.events if isinstance(event, LoadSampled)]

    async def health(self) -> HttpWitness:
        """The first."""
        await self.until(lambda: bool(self.healths))
        return self.healths[0]


@asynccontextmanager
async def watching(
    tmp_path: Path, port: int, address: str = "127.0.0.1", engine: str = "sglang", **keys: object
) -> AsyncIterator[Watched]:
    """A probe loop at a port of this machine."""
    watched = Watched(Lab(tmp_path, port).server(**keys))
    watched.loop.aim(address, ENGINES[engine])
    running = asyncio.create_task(watched.loop.run(LocalTransport(Host("lab", "localhost"))))
    try:
        yield watched
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_without_its_key_a_server_is_up_and_says_what_to_set(tmp_path: Path) -> None:
    async with scripted(case("B50_api_key_on_health/scenario.json")) as web, watching(tmp_path, web.port) as seen:
        http = await seen.health()
    assert (http.state, http.status) == ("key-needed", 401)
    assert http.detail == "set api_key_env or api_key_file of this server"


async def test_with_its_key_it_is_asked_and_the_key_is_in_no_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "example-key")
    routes = case("B50_api_key_on_health/scenario.json")
    async with scripted(routes) as web, watching(tmp_path, web.port, api_key_env="A_KEY") as seen:
        await seen.until(lambda: any(load.reading.running == 0 for load in seen.loads))
        assert seen.healths[0].state == "ok"
        assert set(web.keys) == {"Bearer example-key"}
    assert "example-key" not in repr(seen.events)


async def test_a_refused_key_is_named_by_its_place_and_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "wrong-key")
    routes = case("B50_api_key_on_health/scenario.json")
    async with scripted(routes) as web, watching(tmp_path, web.port, api_key_env="A_KEY") as seen:
        http = await seen.health()
    assert http.detail == "the key in $A_KEY of this machine is refused"


async def test_metrics_behind_a_key_do_not_make_an_open_health_any_worse(tmp_path: Path) -> None:
    routes = case("B50_api_key_on_health/scenario_open_health.json")
    async with scripted(routes) as web, watching(tmp_path, web.port) as seen:
        await seen.until(lambda: any(load.note for load in seen.loads))
    assert seen.healths[0].state == "ok"
    assert seen.loads[-1].note == "metrics need an API key"


async def test_a_403_of_something_in_front_shows_its_words(tmp_path: Path) -> None:
    async with scripted(case("B50_api_key_on_health/scenario_403.json")) as web, watching(tmp_path, web.port) as seen:
        http = await seen.health()
    assert (http.state, http.status) == ("key-needed", 403)
    assert http.detail.startswith('"proxy says no"')


async def test_gauges_that_kept_what_was_are_not_told_beside_the_endpoint_that_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an H200 told it when the last of eight requests had ended: /metrics said 7 running for as long as nothing came."""
    routes = {
        "/health": Answer(),
        "/v1/loads": Answer(body='{"loads": [{"num_running_reqs": 0, "num_waiting_reqs": 0, "token_usage": 0.0}]}'),
        "/metrics": Answer(
            body='sglang:num_running_reqs{engine_type="unified"} 7.0\nsglang:spec_accept_length{engine_type="unified"} 1.5\n'
            'sglang:realtime_tokens_total{mode="decode"} 41996.0\n'
        ),
    }
    often = tuple(replace(probe, every_seconds=0.02) for probe in ENGINES["sglang"].probes)
    monkeypatch.setattr(ENGINES["sglang"], "probes", often)
    async with scripted(routes) as web, watching(tmp_path, web.port) as seen:
        await seen.until(lambda: len(seen.loads) > 8)
    readings = [load.reading for load in seen.loads]
    first = next(place for place, reading in enumerate(readings) if reading.running == 0)
    later = readings[first:]
    assert {reading.running for reading in later} == {0, None}
    assert {reading.decode_tokens for reading in later} == {41996.0, None}
    assert 1.5 in {reading.accept_length for reading in later}  # the endpoint of this version does not tell it


async def test_a_server_out_of_sight_is_asked_for_its_page_of_metrics_more_rarely_once_its_rate_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Answer(body='sglang:realtime_tokens_total{mode="decode"} 41996.0\n')
    routes = {"/health": Answer(), "/v1/loads": Answer(body='{"loads": []}'), "/metrics": page}
    pauses = {"load": (0.02, None), "metrics": (0.02, 3_600.0)}
    often = tuple(
        replace(probe, every_seconds=pauses[probe.kind][0], unseen_seconds=pauses[probe.kind][1])
        for probe in ENGINES["sglang"].probes
        if probe.kind in pauses
    )
    health = next(probe for probe in ENGINES["sglang"].probes if probe.kind == "health")
    monkeypatch.setattr(ENGINES["sglang"], "probes", (health, *often))
    async with scripted(routes) as web, watching(tmp_path / "seen", web.port) as seen:
        await seen.until(lambda: web.asked["/metrics"] > 5)
    async with scripted(routes) as web, watching(tmp_path / "unseen", web.port) as seen:
        seen.loop.is_in_sight = False
        await seen.until(lambda: web.asked["/v1/loads"] > 20)
        assert web.asked["/metrics"] == 2


async def test_metrics_that_are_off_are_told_with_their_flag_and_asked_rarely(tmp_path: Path) -> None:
    async with scripted(case("B51_no_metrics_endpoint/scenario.json")) as web, watching(tmp_path, web.port) as seen:
        await seen.until(lambda: len(seen.healths) >= 1 and bool(seen.loads))
        assert web.asked["/metrics"] == 1
    assert seen.loads[0].note == "metrics are off (--enable-metrics)"
    assert seen.healths[0].state == "ok"


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
async def test_a_server_on_one_loopback_family_only_is_asked_there(tmp_path: Path, address: str) -> None:
    url = f"[{address}]" if ":" in address else address
    async with scripted({"/health": Answer()}, address) as web, watching(tmp_path, web.port, url) as seen:
        assert (await seen.health()).state == "ok"


async def test_a_port_that_speaks_tls_is_said_to_and_not_called_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "example-key")
    certificate = make_certificate(tmp_path / "server.pem", "gpu-a")
    async with scripted({"/health": Answer()}, certificate=certificate) as web:
        async with watching(tmp_path, web.port, api_key_env="A_KEY") as seen:
            http = await seen.health()
        assert web.keys == []  # whom nobody vouches for gets no key
    assert http.state == "tls"
    assert http.detail.startswith("this port speaks TLS: set tls")


@pytest.mark.parametrize(
    ("tls", "state", "detail"),
    [
        (Tls(), "tls", "certificate not trusted (self-signed, CN gpu-a)"),
        (Tls(verify=False), "ok", "certificate not verified"),
        (Tls(ca="server.pem"), "ok", ""),
        (Tls(ca="nowhere.pem"), "tls", "nowhere.pem: No such file or directory"),
        (Tls(ca="other.pem"), "tls", "certificate not trusted (self-signed, CN gpu-a)"),
    ],
    ids=["verify", "no verify", "its own ca", "no such ca", "another ca"],
)
async def test_a_self_signed_certificate_is_trusted_as_the_fleet_file_says(
    tmp_path: Path, tls: Tls, state: str, detail: str
) -> None:
    certificate = make_certificate(tmp_path / "server.pem", "gpu-a")
    make_certificate(tmp_path / "other.pem", "somebody else")
    tls = Tls(tls.verify, str(tmp_path / tls.ca)) if tls.ca else tls
    async with (
        scripted({"/health": Answer()}, certificate=certificate) as web,
        watching(tmp_path, web.port, tls=tls) as seen,
    ):
        http = await seen.health()
    assert http.state == state
    assert http.detail.endswith(detail)


async def test_an_expired_certificate_says_so(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path / "server.pem", "gpu-a", days=(-9, -2))
    tls = Tls(ca=str(certificate))
    async with (
        scripted({"/health": Answer()}, certificate=certificate) as web,
        watching(tmp_path, web.port, tls=tls) as seen,
    ):
        assert (await seen.health()).detail == "certificate has expired (CN gpu-a)"


async def test_whoever_the_named_authority_vouches_for_may_have_another_name(tmp_path: Path) -> None:
    """Asked is the host's own loopback, which no certificate names."""
    certificate = make_certificate(tmp_path / "server.pem", "gpu-b", address="192.0.2.7")
    tls = Tls(ca=str(certificate))
    async with (
        scripted({"/health": Answer()}, certificate=certificate) as web,
        watching(tmp_path, web.port, tls=tls) as seen,
    ):
        assert (await seen.health()).state == "ok"


async def test_tls_asked_of_a_plain_port_says_that_there_is_none(tmp_path: Path) -> None:
    async with scripted({"/health": Answer()}) as web, watching(tmp_path, web.port, tls=Tls(verify=False)) as seen:
        http = await seen.health()
    assert (http.state, http.detail) == ("error", "no TLS on this port: remove `tls` of this server")


async def test_a_health_request_that_hangs_is_alone_and_holds_nothing_else_up(tmp_path: Path) -> None:
    routes = {"/health": Answer(), "/metrics": Answer(body="sglang:num_running_reqs{} 3\n")}
    async with scripted(routes) as web, watching(tmp_path, web.port) as seen:
        await seen.until(lambda: bool(seen.healths))
        web.routes["/health"] = Answer(hangs=True)
        seen.loop.poke()
        before = len(seen.loads)
        await seen.until(lambda: web.in_flight["/health"] == 1 and len(seen.loads) >= before + 1)
        seen.loop.poke()
        assert web.most_in_flight["/health"] == 1


VERSION = '{"version":"%s","loads":[{"num_running_reqs":0}]}'


@pytest.mark.parametrize(("version", "path"), [("0.5.23", "/ready"), ("0.5.20", "/ready"), ("0.5.18", "/health")])
async def test_health_that_costs_a_generation_is_left_for_ready_where_the_version_has_it(
    tmp_path: Path, version: str, path: str
) -> None:
    routes = {"/health": Answer(), "/ready": Answer(), "/v1/loads": Answer(body=VERSION % version)}
    async with scripted(routes) as web, watching(tmp_path, web.port) as seen:
        await seen.until(lambda: bool(seen.loads))
        first = web.asked.copy()
        seen.loop.poke()
        await seen.until(lambda: len(seen.healths) >= 2)
        assert first["/health"] == 1
        assert web.asked[path] == first[path] + 1


async def test_a_ready_that_is_not_there_after_all_is_not_asked_again(tmp_path: Path) -> None:
    routes = {"/health": Answer(), "/v1/loads": Answer(body=VERSION % "0.5.23")}
    async with scripted(routes) as web, watching(tmp_path, web.port) as seen:
        await seen.until(lambda: bool(seen.loads))
        for number in (2, 3):
            seen.loop.poke()
            await seen.until(lambda number=number: len(seen.healths) >= number)  # type: ignore[misc]
        assert web.asked["/ready"] == 1
        assert {http.state for http in seen.healths} == {"ok"}


ENVIRONMENTS: list[Mapping[str, str]] = json.loads((CASES / "B46_own_http_client_and_proxies/env.json").read_text())


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=[" ".join(each) for each in ENVIRONMENTS])
async def test_the_proxies_and_certificates_of_the_users_environment_do_not_matter(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scripted({}) as proxy, scripted({"/health": Answer()}) as web:
        for name, value in environment.items():
            for where in ("proxy.example:3128", "127.0.0.1:1080"):
                value = value.replace(where, f"127.0.0.1:{proxy.port}")
            monkeypatch.setenv(name, value)
        asker = Asker(LocalTransport(Host("lab", "localhost")), f"http://127.0.0.1:{web.port}")
        reply = await asker.get("/health", limit_seconds=5.0)
        await asker.close()
        assert isinstance(reply, Reply)
        assert (web.asked["/health"], sum(proxy.asked.values())) == (1, 0)
