"""A parent whose engine processes are gone may still say 200."""

from specdeck.services.workers import Workers
from specdeck.state.health import judge
from specdeck.state.snapshot import Evidence, HttpWitness, PortWitness, ProcessWitness, Word

FAMILY = ((41233, 41240, 41241), ("python3", "sglang::schedul", "sglang::detoken"))
ALIVE = "41240 (sglang::schedul) S 41233 41233 41233 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 777 0 0"


def test_workers_are_gone_once_they_were_there_and_none_is_left() -> None:
    workers = Workers()
    workers.see((41233,), ("python3",))
    assert not workers.are_gone  # it only starts
    workers.see(*FAMILY)
    assert (workers.pids, workers.are_gone) == ((41240,), False)
    workers.see((41233, 41241), ("python3", "sglang::detoken"))
    assert workers.are_gone


def test_a_worker_that_is_asked_for_and_not_there_or_a_zombie_is_lost() -> None:
    workers = Workers()
    workers.see(*FAMILY)
    assert not workers.has_lost({})
    assert not workers.has_lost({41240: ALIVE})
    assert workers.has_lost({41240: ""})
    assert workers.has_lost({41240: ALIVE.replace(") S ", ") Z ")})


def looked(*letters: str) -> list[tuple[int, ...]]:
    """What is held still after each look, of a scheduler in these states."""
    workers, seen = Workers(), list[tuple[int, ...]]()
    workers.see(*FAMILY)
    for letter in letters:
        workers.look({41240: ALIVE.replace(") S ", f") {letter} ")}, 41233)
        seen.append(workers.halted)
    return seen


def test_a_worker_that_a_signal_stopped_is_halted_at_once_and_until_it_goes_on() -> None:
    assert looked("R", "T", "T", "S") == [(), (41240,), (41240,), ()]


def test_a_debugger_that_takes_a_stack_halts_nobody_and_one_that_stays_does() -> None:
    assert looked("t", "S", "t", "t", "R") == [(), (), (), (41240,), ()]


def test_a_change_is_told_so_that_health_is_asked_at_once() -> None:
    workers = Workers()
    parent = ALIVE.replace("41240 (sglang::schedul)", "41233 (python3)")
    assert not workers.look({41233: parent}, 41233)
    assert workers.look({41233: parent.replace(") S ", ") T ")}, 41233)
    assert not workers.look({41233: parent.replace(") S ", ") T ")}, 41233)
    assert workers.look({41233: parent}, 41233)
    assert not workers.look({}, None)


def test_200_without_an_engine_is_unhealthy_at_once() -> None:
    evidence = Evidence(
        link="up",
        process=ProcessWitness("alive", 41233, (41233,), is_engine_gone=True),
        port=PortWitness("ours", 41233),
        http=HttpWitness("ok", 200, 0.1, at=10.0),
        was_ready=True,
    )
    verdict = judge(evidence, 11.0)
    assert (verdict.word, verdict.because[0]) == (
        Word.UNHEALTHY,
        "engine gone: its worker processes have ended, only the web part lives",
    )
