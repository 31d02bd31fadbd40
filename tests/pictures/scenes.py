"""The pictures of the README, from scripted states: every scene is a deck and the keys that lead there."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tests.ui import fleets
from tests.ui.fake_deck import Clock, FakeDeck, lines
from tests.ui.states import STATES

from specdeck.config.problems import Problems
from specdeck.config.theme import ThemeSpec, read_themes
from specdeck.parsing.lines import Line
from specdeck.state.snapshot import FleetState
from specdeck.ui.app import SpecdeckApp

THEMES = Path(__file__).parents[2] / "themes"
STAMP = "[2026-11-29 14:0{}:{:02}"


def starting_log() -> list[str]:
    """What SGLang writes while it loads."""
    first = [
        "[2026-11-29 14:01:29] server_args=ServerArgs(model_path='/data/models/kimi-k2', tp_size=8)",
        "[2026-11-29 14:01:38] Attention backend not specified. Use flashinfer backend by default.",
        "[2026-11-29 14:01:40] WARNING: Spec v2 is enabled for eagle/eagle3 speculative decoding.",
    ]
    ranks = [f"[2026-11-29 14:01:{54 + i % 4:02} TP{i}] Init torch distributed begin." for i in range(8)]
    ends = [f"[2026-11-29 14:01:57 TP{i}] Init torch distributed ends. mem usage=0.41 GB" for i in range(8)]
    load = [f"[2026-11-29 14:02:04 TP{i}] Load weight begin. avail mem=94.20 GB" for i in range(8)]
    return [
        *first,
        *ranks,
        *ends,
        *load,
        "Multi-thread loading shards:  34% Completed | 22/64 [00:07<00:12,  3.30it/s]",
    ]


def serving_log() -> list[str]:
    """What SGLang writes while it serves."""
    ready = ["[2026-11-29 14:00:02] The server is fired up and ready to roll!"]
    batches = [
        f"[2026-11-29 14:0{1 + i // 30}:{2 * i % 60:02} TP0] Decode batch, #running-req: {31 - i % 5}, #token: {41_200 + 630 * i}, "
        f"token usage: 0.62, "
        f"cuda graph: True, gen throughput (token/s): {760 + 11 * (i % 4):.2f}, #queue-req: {4 - i % 3}"
        for i in range(36)
    ]
    return [*ready, *batches]


def crashed_log() -> list[str]:
    """The cause, then what follows from it."""
    before = [
        f"[2026-11-29 13:49:{i:02} TP5] Decode batch, #running-req: 8, gen throughput (token/s): 512.10"
        for i in range(33)
    ]
    cause = [
        "[rank5]:[E1129 14:00:01] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8812, OpType=ALLREDUCE) "
        "ran for 600012 milliseconds",
        "[rank5]:[E1129 14:00:01] Some NCCL operations have failed or timed out.",
    ]
    after = [
        f'  File "/opt/sglang/srt/managers/scheduler.py", line {400 + i}, in run_scheduler_process' for i in range(30)
    ]
    return [*before, *cause, *after, "RuntimeError: Rank 0 scheduler died, exit code: -6"]


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture."""

    state: FleetState
    keys: Sequence[str] = ()
    is_read_only: bool = False
    logs: Mapping[str, Sequence[str]] | None = None
    is_worst_first: bool = False
    """Otherwise the servers stand as in the fleet, which the keys count on."""


def scenes() -> dict[str, Scene]:
    """All of them, by name."""
    logs = {"kimi": starting_log(), "qwen": serving_log(), "glm": crashed_log()}
    every = fleets.fleet()
    stale_host = replace(fleets.blackwell(), link="stale", last_seen=fleets.NOW - 47)
    return {
        "overview": Scene(every, (), logs=logs, is_worst_first=True),
        "starting": Scene(every, ("enter",), logs=logs),
        "ready": Scene(every, ("j", "enter"), logs=logs),
        "crashed": Scene(every, ("j", "j", "j", "enter", "d"), logs=logs),
        "pivot": Scene(every, ("enter", "v"), logs=logs),
        "acting": Scene(fleets.with_server(every, fleets.acting(fleets.kimi())), (), logs=logs),
        "acting-server": Scene(fleets.with_server(every, fleets.acting(fleets.kimi())), ("enter",), logs=logs),
        "stale": Scene(replace(every, hosts=(stale_host, *every.hosts[1:])), ("enter",), logs=logs),
        "unreachable": Scene(every, ("j", "j", "j", "j", "enter"), logs=logs),
        "help": Scene(every, ("question_mark",), logs=logs),
        "picker": Scene(every, ("p",), logs=logs),
        "stop": Scene(every, ("K",), logs=logs),
        "palette": Scene(every, ("ctrl+p",), logs=logs),
        **{f"kimi-{name}": Scene(state, ("1",), logs=logs) for name, state in STATES.items()},
    }


@cache
def themes() -> tuple[ThemeSpec, ...]:
    """The shipped ones, read once for some hundred dashboards."""
    return tuple(read_themes([THEMES], Problems()).values())


async def picture(scene: Scene, size: tuple[int, int], theme: str) -> str:
    """The scene as SVG."""
    deck = FakeDeck(scene.state, is_read_only=scene.is_read_only)
    deck.logs = {name: lines(texts) for name, texts in (scene.logs or {}).items()}
    return await _drawn(deck, scene, size, theme)


async def recorded_picture(state: FleetState, log: Sequence[Line], size: tuple[int, int], theme: str) -> str:
    """The first server of a state that really was, with its log, as SVG."""
    deck = FakeDeck(state, clock=Clock(state.at))
    deck.logs = {state.servers[0].name: list(log)}
    return await _drawn(deck, Scene(state, ("enter",)), size, theme)


async def _drawn(deck: FakeDeck, scene: Scene, size: tuple[int, int], theme: str) -> str:
    app = SpecdeckApp(deck, themes=themes(), theme=theme, clock=deck.clock, key_time=Typist())
    app.arrangement.is_worst_first = scene.is_worst_first
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        for key in scene.keys:
            await pilot.press(key)
            await pilot.pause()
        await pilot.pause()
        return for_readers(app.export_screenshot(title="specdeck"))


def for_readers(svg: str) -> str:
    """The same picture with fonts that the reader has: a page that shows it fetches nothing."""
    plain = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    plain = plain.replace(
        "font-family: Fira Code, monospace", "font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace"
    )
    return "".join(
        f"{line.rstrip()}\n" for line in plain.replace("<svg ", '<svg xml:space="preserve" ', 1).splitlines()
    )


class Typist:
    """A hand that types a key every half second, by its own clock."""

    def __init__(self) -> None:
        self._at = 0.0

    def __call__(self, _: object) -> float:
        self._at += 0.5
        return self._at
