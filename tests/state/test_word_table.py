"""The word for every combination of evidence that the design's section on states names: a table read from top to bottom.

Each row was written from the design, not from the code; the first that fits decides. Every combination of the witnesses is tried.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import pytest

from specdeck.state.health import judge
from specdeck.state.log_story import Cause, LogStory, Phase
from specdeck.state.snapshot import Evidence, HttpWitness, Link, PortWitness, ProcessWitness, Word

NOW = 1000.0
WITNESSES = ("host", "left", "process", "asked", "port", "health", "log", "before", "still")
"""host: its connection. left: what the last stop could not end. asked: a stop of this run. before: it was ready.
still: requests run while counters and log stand still (`work`), or the start is silent beyond its own pace (`start`)."""

# `*`: whatever it is; `a|b`: one of these; `!a|b`: none of these.
TABLE = """
host         left process               asked    port           health            log             before still  -> word

# The host away: nothing is known of now, whatever was known.
down|stale   *    *                     *        *              *                 *               *      *      -> unreachable

# What cannot be killed, a port or memory that nobody gives back.
*            yes  *                     *        *              *                 *               *      *      -> blocked

# Gone, and a stop was asked: over once the family, the port and the memory are free. rc -9 is a clean stop too.
*            *    gone|zombie           clearing *              *                 *               *      *      -> stopping
*            *    gone+family           yes      *              *                 *               *      *      -> stopping
*            *    gone|zombie           yes      ours           *                 *               *      *      -> stopping
*            *    gone|zombie           yes      *              *                 *               *      *      -> stopped
*            *    gone+family           clearing *              *                 *               *      *      -> stopping

# Gone, and nobody asked here: told by others to stop is no crash; anything else is.
*            *    gone|zombie|gone+family no     *              *                 stopping        *      *      -> stopped
*            *    gone|zombie|gone+family no     *              *                 *               *      *      -> crashed

# Alive and told to stop: draining, whatever it answers meanwhile.
*            *    alive|halted|hollow   !no      *              *                 *               *      *      -> stopping
*            *    alive|halted|hollow   no       *              *                 stopping        *      *      -> stopping

# Somebody else has its port: 200 is theirs.
*            *    alive|halted|hollow   *        stranger       *                 *               *      *      -> blocked
*            *    none                  *        stranger       *                 *               *      *      -> blocked

# The log names a fatal cause and it still lives; its engine has gone; a signal holds it still.
*            *    alive|halted|hollow   *        *              *                 fatal           *      *      -> unhealthy
*            *    hollow                *        *              *                 *               *      *      -> unhealthy
*            *    halted                *        *              *                 *               *      *      -> stalled

# Who answers is not known until the port's owner is: the old server says 200 as well.
# It answers (a key or a certificate that we lack is no fault of it): ready, but not before its ready line, nor on a closed port.
*            *    alive                 *        unknown        200|401|tls       !starting       *      *      -> unknown
*            *    alive                 *        unknown        200|401|tls       starting        yes    *      -> unknown
*            *    alive                 *        ours|open|unknown 200|401|tls    starting        no     -      -> starting
*            *    alive                 *        ours|open|unknown 200|401|tls    starting        no     start  -> stalled
*            *    alive                 *        ours|open|unknown 200|401|tls    !starting       *      work   -> stalled
*            *    alive                 *        ours|open|unknown 200|401|tls    starting        yes    work   -> stalled
*            *    alive                 *        ours|open|unknown 200|401|tls    starting        no     work   -> starting
*            *    alive                 *        ours|open|unknown 200|401|tls    *               *      *      -> ready

# It was ready, and answers no more.
*            *    alive                 *        *              503|none|error|refused *          yes    *      -> unhealthy
*            *    alive                 *        closed         *                 *               yes    *      -> unhealthy
*            *    alive                 *        *              503|none|error|refused ready      no     *      -> unhealthy

# Nobody has asked yet on this connection.
*            *    alive                 *        !closed        unknown           *               yes    *      -> unknown
*            *    alive                 *        !closed        unknown           ready           no     *      -> unknown

# It starts: port 000 and 503 are normal then, silence beyond its pace is not. A log that cannot be read tells of no start.
*            *    alive                 *        ours           none|error        unreadable      no     *      -> unhealthy
*            *    alive                 *        *              *                 !ready          no     start  -> stalled
*            *    alive                 *        !closed        unknown           !starting       no     *      -> unknown
*            *    alive                 *        *              *                 *               no     *      -> starting

# No run of ours: others' server, by its port, its answers and its log.
*            *    none                  *        open           *                 stopping        *      *      -> stopping
*            *    none                  *        open           200|401|tls       starting        no     !work  -> starting
*            *    none                  *        open           200|401|tls       starting        no     work   -> starting
*            *    none                  *        open           200|401|tls       *               *      work   -> stalled
*            *    none                  *        open           200|401|tls       *               *      *      -> ready
*            *    none                  *        open           503               !ready          no     *      -> starting
*            *    none                  *        open           503               *               *      *      -> unhealthy
*            *    none                  *        open           none|error        *               *      *      -> unhealthy
*            *    none                  *        open           refused|unknown   *               *      *      -> unknown
*            *    none                  *        closed         *                 starting        *      *      -> starting
*            *    none                  *        closed         *                 fatal           *      *      -> crashed
*            *    none                  *        closed         *                 *               *      *      -> stopped
*            *    none                  *        unknown        *                 *               *      *      -> unknown

# The process was not asked for yet: who answers on a port that somebody holds is up, and nothing else is claimed.
*            *    unknown               *        open           200|401|tls       starting        no     *      -> unknown
*            *    unknown               *        open           200|401|tls       *               *      work   -> stalled
*            *    unknown               *        open           200|401|tls       *               *      *      -> ready
*            *    unknown               *        *              *                 *               *      *      -> unknown
"""

HOSTS: dict[str, Link] = {"up": "up", "stale": "stale", "down": "down"}
PROCESSES = {
    "unknown": ProcessWitness(),
    "none": ProcessWitness("none"),
    "alive": ProcessWitness("alive", 7, (7, 8)),
    "halted": ProcessWitness("alive", 7, (7, 8), halted=(8,)),
    "hollow": ProcessWitness("alive", 7, (7,), is_engine_gone=True),
    "zombie": ProcessWitness("zombie", 7, (), 137),
    "gone": ProcessWitness("gone", 7, (), -9),
    "gone+family": ProcessWitness("gone", 7, (8,), 1),
}
PORTS = {
    "unknown": PortWitness(),
    "closed": PortWitness("closed"),
    "ours": PortWitness("ours", 7),
    "stranger": PortWitness("stranger", 9, "node"),
    "open": PortWitness("open"),
}
ANSWERS = {
    "unknown": HttpWitness(),
    "refused": HttpWitness("refused", at=NOW),
    "none": HttpWitness("timeout", None, 25.0, NOW),
    "error": HttpWitness("error", 500, 0.1, NOW),
    "503": HttpWitness("unavailable", 503, 0.1, NOW),
    "200": HttpWitness("ok", 200, 0.1, NOW),
    "401": HttpWitness("key-needed", 401, 0.1, NOW),
    "tls": HttpWitness("tls", None, 0.1, NOW),
}
NCCL = Cause("nccl", "NCCL timeout on TP5", line=12)
LOGS = {
    "none": None,
    "unreadable": None,
    "starting": LogStory(phase=Phase("weights", 5, 9)),
    "ready": LogStory(word="ready", has_ready_line=True),
    "stopping": LogStory(word="stopping", has_ready_line=True),
    "fatal": LogStory(word="crashed", cause=NCCL),
}
POOLS = {
    "host": tuple(HOSTS),
    "left": ("no", "yes"),
    "process": tuple(PROCESSES),
    "asked": ("no", "yes", "clearing"),
    "port": tuple(PORTS),
    "health": tuple(ANSWERS),
    "log": tuple(LOGS),
    "before": ("no", "yes"),
    "still": ("-", "work", "start"),
}
Combination = dict[str, str]


def combinations() -> Iterator[Combination]:
    """All that can be: only a process that was there has a family that holds the port; a start that is silent never served.

    Of a host that is away, and beside what a stop has left, it makes no difference whether work stands still.
    """
    for values in product(*(POOLS[name] for name in WITNESSES)):
        each = dict(zip(WITNESSES, values, strict=True))
        if each["port"] == "ours" and each["process"] in ("unknown", "none"):
            continue
        if each["asked"] != "no" and each["process"] in ("unknown", "none"):
            continue
        if each["still"] == "start" and (each["before"] == "yes" or each["log"] != "starting"):
            continue
        if each["host"] != "up" and (each["left"], each["still"]) != ("no", "-"):
            continue
        if each["left"] == "yes" and each["still"] != "-":
            continue
        yield each


def evidence_of(each: Combination) -> Evidence:
    return Evidence(
        link=HOSTS[each["host"]],
        blocked="SIGKILL does not end 8" if each["left"] == "yes" else None,
        process=PROCESSES[each["process"]],
        stop_asked=each["asked"] != "no",
        is_clearing=each["asked"] == "clearing",
        port=PORTS[each["port"]],
        http=ANSWERS[each["health"]],
        story=LOGS[each["log"]],
        log_error="permission denied" if each["log"] == "unreadable" else None,
        log_at=NOW - 1,
        log_grew_at=NOW - 1,
        was_ready=each["before"] == "yes",
        stall="3 running, 0 tok/s for 1m50s" if each["still"] == "work" else None,
        start_stall="weights stalled at 24/85" if each["still"] == "start" else None,
        ok_since=NOW if each["health"] in ("200", "401", "tls") else None,
        ready_line_at=NOW - 60 if each["log"] == "ready" else None,
    )


def fits(pattern: str, value: str) -> bool:
    if pattern == "*":
        return True
    names = pattern.removeprefix("!").split("|")
    return (value in names) != pattern.startswith("!")


def rows() -> list[tuple[dict[str, str], str]]:
    lines = [line for line in TABLE.splitlines()[2:] if line and not line.startswith("#")]
    cells = [line.split() for line in lines]
    return [(dict(zip(WITNESSES, words[:-2], strict=True)), words[-1]) for words in cells]


ROWS = rows()


@cache
def decided() -> tuple[tuple[Combination, int], ...]:
    """Every combination with the row that decides it."""
    return tuple((each, row_of(each)) for each in combinations())


def row_of(each: Combination) -> int:
    return next(place for place, (row, _) in enumerate(ROWS) if all(fits(row[name], each[name]) for name in WITNESSES))


def test_every_combination_of_evidence_has_the_word_of_the_table() -> None:
    wrong = []
    for each, row in decided():
        word = str(judge(evidence_of(each), NOW).word)
        if word != ROWS[row][1]:
            wrong.append((each, "the table", ROWS[row][1], "said", word))
    assert wrong == []


def test_every_row_of_the_table_decides_something() -> None:
    used = {row for _, row in decided()}
    assert [ROWS[place] for place in range(len(ROWS)) if place not in used] == []


def test_the_table_gives_every_word_of_the_design() -> None:
    assert {word for _, word in ROWS} == set(Word)


@pytest.mark.parametrize("name", WITNESSES)
def test_every_name_in_the_table_is_a_witness_that_there_is(name: str) -> None:
    named = {word for row, _ in ROWS for word in row[name].removeprefix("!").split("|")}
    assert named - {"*"} <= set(POOLS[name])
