"""Workers that hold GPU memory for no server: marked in the GPU pane, and ended from the palette after a question."""

from dataclasses import replace

from tests.ui.fake_deck import FakeDeck
from tests.ui.fleets import fleet
from tests.ui.playing import playing
from textual.app import SystemCommand

from specdeck.services.deck import Plan
from specdeck.state.gpu_snapshot import GpuProcess
from specdeck.state.snapshot import FleetState, ProcessWitness, Word
from specdeck.ui.drawing.gpu_owners import owners
from specdeck.ui.drawing.plan import plan_title, question
from specdeck.ui.screens.sheet import ActSheet

ORPHAN = GpuProcess(4711, "sglang::scheduler_TP0", "GPU-0", 76_000, user="ops", is_left_behind=True)
PLAN = Plan(
    "end", "pid 4711", "lab", None, None, 4711, family=((4711, "sglang::schedul"),), gpu_memory_mib=76_000, start_time=5000,
    notes=("sglang::scheduler_TP0 of user ops, 3h old, left behind by its server",),
)  # fmt: skip


def with_orphan() -> FleetState:
    """The usual fleet, and one worker too many on its first host."""
    state = fleet()
    first, *rest = state.hosts
    gpu, *others = first.gpus
    host = replace(first, processes=(*first.processes, ORPHAN), gpus=(replace(gpu, processes=(ORPHAN,)), *others))
    return replace(state, hosts=(host, *rest))


def end_commands(commands: list[SystemCommand]) -> list[str]:
    return [command.title for command in commands if command.title.startswith("End orphan")]


async def test_the_palette_offers_to_end_an_orphan_and_the_sheet_asks_with_all_that_a_decision_needs() -> None:
    deck = FakeDeck(with_orphan())
    deck.next_plan = PLAN
    async with playing(deck) as play:
        commands = list(play.app.get_system_commands(play.app.screen))
        assert end_commands(commands) == ["End orphan 4711 sglang::scheduler_TP0"]
        next(command for command in commands if command.title.startswith("End orphan")).callback()
        await play.until(lambda: isinstance(play.app.screen, ActSheet))
        await play.until(lambda: deck.asked != [])
        assert deck.asked[0][:2] == ("end", f"4711@{with_orphan().hosts[0].name}")
        assert deck.performed == []


async def test_a_read_only_dashboard_offers_no_end() -> None:
    async with playing(FakeDeck(with_orphan(), is_read_only=True)) as play:
        assert end_commands(list(play.app.get_system_commands(play.app.screen))) == []


def test_the_question_names_pid_host_name_user_age_and_memory() -> None:
    assert plan_title(PLAN) == "End pid 4711: its server is gone"
    asked = question(PLAN, "-")
    for word in ("pid 4711", "lab", "sglang::scheduler_TP0", "user ops", "3h old", "74 GiB"):
        assert word in asked


def test_the_gpu_pane_marks_an_orphan_and_no_other_stranger() -> None:
    gpu = with_orphan().hosts[0].gpus[0]
    text = "".join(words for words, _ in owners(gpu))
    assert "orphan sglang::scheduler_TP0 4711 74G" in text
    stranger = replace(ORPHAN, is_left_behind=False)
    assert "orphan" not in "".join(words for words, _ in owners(replace(gpu, processes=(stranger,))))


async def test_what_a_crashed_server_left_can_be_stopped_with_the_key() -> None:
    state = fleet()
    left = ProcessWitness("gone", 41_233, (41_240,), 137, names=("sglang::schedul",))
    kimi = state.server("kimi")
    assert kimi is not None
    crashed = replace(kimi, word=Word.CRASHED, evidence=replace(kimi.evidence, process=left))
    others = tuple(server for server in state.servers if server.name != "kimi")
    async with playing(FakeDeck(replace(state, servers=(crashed, *others)))) as play:
        assert play.app.screen.check_action("act", ("stop",)) is True
        gone = replace(crashed, evidence=replace(crashed.evidence, process=replace(left, family=(), names=())))
        play.app.fleet = replace(state, servers=(gone, *others))
        await play.pilot.pause()
        assert play.app.screen.check_action("act", ("stop",)) is False
