"""The word of a server from its evidence: a table, the truths that it must hold, and a walk over every combination."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import get_args

import pytest

from specdeck.state.health import judge
from specdeck.state.log_story import BatchReport, Cause, LogStory, LogWord, Phase, Progress
from specdeck.state.snapshot import Evidence, HttpWitness, Link, PortWitness, ProcessWitness, ServerState, Word
from specdeck.state.witnesses import shown_word

NOW = 1000.0
ALIVE = ProcessWitness("alive", 41233, tuple(range(41233, 41242)))
GONE = ProcessWitness("gone", 41233, (), 1)
NO_RUN = ProcessWitness("none")
CLOSED, OURS, OPEN = PortWitness("closed"), PortWitness("ours", 41233), PortWitness("open")
STRANGER = PortWitness("stranger", 9100, "node")
OK = HttpWitness("ok", 200, 0.3, NOW)
REFUSED, TIMEOUT = HttpWitness("refused", at=NOW), HttpWitness("timeout", None, 25.0, NOW)
UNAVAILABLE = HttpWitness("unavailable", 503, 0.3, NOW)
KEY_NEEDED = HttpWitness("key-needed", 401, 0.01, NOW)
LOADING = LogStory(
    engine="sglang", phase=Phase("weights", 5, 11), progress=Progress("target weights", 22, 64, 34.4), lines=90
)
WARMING_UP = LogStory(engine="sglang", phase=Phase("warm_up", 11, 11), lines=200)
READY = LogStory(engine="sglang", word="ready", has_ready_line=True, lines=220)
NCCL = Cause("nccl", "NCCL timeout on TP5", line=12)
PORT_TAKEN = Cause("port-in-use", "[Errno 98] address already in use", line=300)
UP = Evidence(link="up", listen_port=30000)
SERVING = replace(UP, process=ALIVE, port=OURS, http=OK, story=READY, log_at=NOW, was_ready=True)


def word_of(evidence: Evidence) -> Word:
    return judge(evidence, NOW).word


TABLE: tuple[tuple[str, Evidence, Word], ...] = (
    ("nothing is known yet", Evidence(), Word.UNKNOWN),
    ("connected, nothing asked yet", UP, Word.UNKNOWN),
    ("loading, port refused", replace(UP, process=ALIVE, port=CLOSED, http=REFUSED, story=LOADING), Word.STARTING),
    ("no line of log yet", replace(UP, process=ALIVE, port=CLOSED), Word.STARTING),
    ("503 in the warm-up", replace(UP, process=ALIVE, port=OURS, http=UNAVAILABLE, story=WARMING_UP), Word.STARTING),
    ("200 before the ready line", replace(UP, process=ALIVE, port=OURS, http=OK, story=WARMING_UP), Word.STARTING),
    ("serving", SERVING, Word.READY),
    ("serving, found just now", replace(SERVING, was_ready=False), Word.READY),
    ("serving, log unreadable", replace(SERVING, story=None, log_error="permission denied"), Word.READY),
    ("serving, owner not readable", replace(SERVING, port=OPEN), Word.READY),
    ("serving, a key is needed", replace(SERVING, http=KEY_NEEDED), Word.READY),
    ("health hangs", replace(SERVING, http=TIMEOUT), Word.UNHEALTHY),
    ("503 after ready", replace(SERVING, http=UNAVAILABLE), Word.UNHEALTHY),
    ("refused after ready", replace(SERVING, http=REFUSED, port=CLOSED), Word.UNHEALTHY),
    ("503 after ready, log unreadable", replace(SERVING, http=UNAVAILABLE, story=None, log_error="x"), Word.UNHEALTHY),
    ("503 of an old server, found just now", replace(SERVING, http=UNAVAILABLE, was_ready=False), Word.UNHEALTHY),
    ("503 while a stop is asked", replace(SERVING, http=UNAVAILABLE, stop_asked=True), Word.STOPPING),
    ("200 while a stop is asked", replace(SERVING, stop_asked=True), Word.STOPPING),
    ("told to stop by others", replace(SERVING, story=LogStory(word="stopping", has_ready_line=True)), Word.STOPPING),
    ("stalled", replace(SERVING, stall="3 running, 0 tok/s for 1m50s"), Word.STALLED),
    ("stalled, and health hangs", replace(SERVING, stall="3 running", http=TIMEOUT), Word.UNHEALTHY),
    ("dying", replace(SERVING, story=replace(READY, word="crashed", cause=NCCL)), Word.UNHEALTHY),
    ("crashed", replace(UP, process=GONE, port=CLOSED, story=replace(LOADING, cause=NCCL)), Word.CRASHED),
    ("silent death", replace(UP, process=replace(GONE, exit_status=137), port=CLOSED, story=LOADING), Word.CRASHED),
    ("a zombie is gone", replace(UP, process=replace(GONE, state="zombie"), port=CLOSED), Word.CRASHED),
    ("stopped", replace(UP, process=GONE, port=CLOSED, stop_asked=True), Word.STOPPED),
    (
        "stopped by SIGKILL of itself",
        replace(UP, process=replace(GONE, exit_status=137), stop_asked=True),
        Word.STOPPED,
    ),
    ("stopped with status -9", replace(UP, process=replace(GONE, exit_status=-9), stop_asked=True), Word.STOPPED),
    ("stopped, cause in the log", replace(UP, process=GONE, story=LogStory(cause=NCCL), stop_asked=True), Word.STOPPED),
    ("stopped by others", replace(UP, process=GONE, story=LogStory(word="stopped")), Word.STOPPED),
    ("stopped, orphans live", replace(UP, process=replace(GONE, family=(41240,)), stop_asked=True), Word.STOPPING),
    ("stopped, orphan holds the port", replace(UP, process=GONE, port=OURS, stop_asked=True), Word.STOPPING),
    ("memory held by nobody", replace(UP, process=GONE, stop_asked=True, blocked="768 GiB held"), Word.BLOCKED),
    ("stranger on the port", replace(UP, process=ALIVE, port=STRANGER, http=OK, story=READY), Word.BLOCKED),
    ("stranger on the port, nothing launched", replace(UP, process=NO_RUN, port=STRANGER, http=OK), Word.BLOCKED),
    ("nothing runs", replace(UP, process=NO_RUN, port=CLOSED), Word.STOPPED),
    ("others' server serves", replace(UP, process=NO_RUN, port=OPEN, http=OK), Word.READY),
    ("others' server starts", replace(UP, process=NO_RUN, port=OPEN, http=UNAVAILABLE), Word.STARTING),
    ("others' server hangs", replace(UP, process=NO_RUN, port=OPEN, http=TIMEOUT), Word.UNHEALTHY),
    ("others' log grows", replace(UP, process=NO_RUN, port=CLOSED, story=LOADING, log_grew_at=NOW - 1), Word.STARTING),
    ("others' log is old", replace(UP, process=NO_RUN, port=CLOSED, story=LOADING, log_at=NOW), Word.STOPPED),
    ("others' crash", replace(UP, process=NO_RUN, port=CLOSED, story=LogStory(cause=NCCL)), Word.CRASHED),
    ("host down", replace(SERVING, link="down"), Word.UNREACHABLE),
    ("host silent", replace(SERVING, link="stale", stop_asked=True), Word.UNREACHABLE),
    ("host down while blocked", replace(UP, link="down", blocked="768 GiB held"), Word.UNREACHABLE),
)


@pytest.mark.parametrize(("evidence", "word"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_table_of_evidence(evidence: Evidence, word: Word) -> None:
    verdict = judge(evidence, NOW)
    assert verdict.word == word, verdict.because


def test_the_table_reaches_every_word() -> None:
    assert {row[2] for row in TABLE} == set(Word)


def test_a_refused_port_while_loading_is_called_normal() -> None:
    because = judge(replace(UP, process=ALIVE, port=CLOSED, http=REFUSED, story=LOADING, log_at=NOW - 0.3), NOW).because
    assert because == (
        "log: target weights 22/64, last line 0.3 s ago",
        "process 41233 alive, 9 in its family",
        "port 30000 not listening yet (normal in this phase)",
        "health connection refused",
    )


def test_a_200_of_a_stranger_is_never_our_server() -> None:
    verdict = judge(replace(UP, process=ALIVE, port=STRANGER, http=OK, story=READY), NOW)
    assert verdict.word is Word.BLOCKED
    assert verdict.because[0] == "port 30000 held by pid 9100 (node), not by this server"


def test_what_was_wrong_with_a_listener_that_is_gone_is_told_no_more() -> None:
    odd = HttpWitness("error", detail="Server disconnected without sending a response.", at=NOW)
    told = " ".join(judge(replace(UP, process=ALIVE, port=STRANGER, http=odd, story=LOADING), NOW).because)
    assert "Server disconnected" in told
    told = " ".join(judge(replace(UP, process=ALIVE, port=CLOSED, http=odd, story=LOADING), NOW).because)
    assert "Server disconnected" not in told


def test_fired_up_without_owning_the_port_is_not_ready() -> None:
    """A real SGLang with its port taken loads for 36 s, is answered by the other server and prints its ready line."""
    for port in (CLOSED, STRANGER):
        assert word_of(replace(UP, process=ALIVE, port=port, http=OK, story=READY)) is not Word.READY
    taken = replace(READY, word="crashed", cause=PORT_TAKEN)
    assert word_of(replace(UP, process=ALIVE, port=OPEN, http=OK, story=taken)) is Word.UNHEALTHY
    gone = judge(replace(UP, process=replace(GONE, exit_status=3), port=STRANGER, http=OK, story=taken), NOW)
    assert gone.word is Word.CRASHED
    assert gone.because[0] == "exit 3: [Errno 98] address already in use"


def test_an_answer_older_than_the_ready_line_says_nothing_against_it() -> None:
    before = replace(SERVING, was_ready=False, ready_line_at=NOW + 5, http=UNAVAILABLE)
    assert word_of(before) is Word.STARTING
    after = replace(before, http=replace(UNAVAILABLE, at=NOW + 15))
    assert judge(after, NOW + 15).word is Word.UNHEALTHY


def test_a_ready_line_without_any_answer_claims_nothing() -> None:
    assert word_of(replace(UP, process=ALIVE, port=OURS, story=READY)) is Word.UNKNOWN


def test_an_answer_of_minutes_ago_is_no_witness_of_now() -> None:
    assert judge(SERVING, NOW + 89).word is Word.READY
    verdict = judge(SERVING, NOW + 91)
    assert verdict.word is Word.UNKNOWN
    assert not any("200" in sentence for sentence in verdict.because)


def test_a_ready_line_in_unknown_words_is_not_awaited_for_ever() -> None:
    waiting = replace(UP, process=ALIVE, port=OURS, http=OK, story=WARMING_UP, ok_since=NOW - 299)
    assert word_of(waiting) is Word.STARTING
    assert word_of(replace(waiting, ok_since=NOW - 301)) is Word.READY


def test_work_in_the_log_proves_ready_where_its_beginning_was_not_read() -> None:
    story = replace(WARMING_UP, batch=BatchReport(640.0, 2, 0), batch_at=NOW)
    assert word_of(replace(UP, process=ALIVE, port=OURS, http=OK, story=story)) is Word.READY


def test_a_cause_that_is_not_fatal_crashes_no_living_process() -> None:
    retract = replace(READY, cause=Cause("kv-full", "KV cache pool is full", is_fatal=False))
    assert word_of(replace(SERVING, story=retract)) is Word.READY


def test_a_fatal_cause_is_dying_until_the_process_is_gone() -> None:
    dying = replace(SERVING, story=replace(READY, cause=NCCL))
    assert judge(dying, NOW).because[0] == "dying: NCCL timeout on TP5"
    assert judge(replace(dying, process=GONE, port=CLOSED), NOW).because[0] == "exit 1: NCCL timeout on TP5"


def test_a_silent_death_is_told_by_its_exit_status_and_place() -> None:
    verdict = judge(replace(UP, process=replace(GONE, exit_status=137), port=CLOSED, story=LOADING), NOW)
    assert verdict.because[0] == "exit 137, SIGKILL: ended without an error message at 22/64 (target weights)"
    illegal = judge(replace(UP, process=replace(GONE, exit_status=132), log_error="no log file"), NOW)
    assert illegal.because[0] == "exit 132, SIGILL: built for another CPU: no log tells why (no log file)"


def test_a_warning_in_the_log_is_no_cause_of_a_silent_death() -> None:
    story = replace(LOADING, cause=Cause("kv-full", "KV cache pool is full", is_fatal=False))
    assert "KV cache" not in judge(replace(UP, process=GONE, story=story), NOW).because[0]


def test_unreachable_tells_its_age_and_why() -> None:
    down = replace(SERVING, link="down", heard_at=NOW - 72, link_error="timed out")
    assert judge(down, NOW).because[0] == "no connection to the host for 1m12s: timed out"
    stale = replace(SERVING, link="stale", heard_at=NOW - 8)
    assert judge(stale, NOW).because[0] == "no data from the host for 8 s"


def test_a_server_that_only_wants_a_key_is_shown_as_up_and_not_as_ready() -> None:
    server = ServerState("kimi", "lab", 30000, "sglang", word=Word.READY, evidence=replace(SERVING, http=KEY_NEEDED))
    assert shown_word(server) == "up, key needed"
    assert shown_word(replace(server, evidence=SERVING)) == "ready"
    assert shown_word(replace(server, word=Word.CRASHED)) == "crashed"


def test_a_key_that_is_needed_is_said_first() -> None:
    assert judge(replace(SERVING, http=KEY_NEEDED), NOW).because[0].startswith("up, but health 401, a key is needed")
    starting = replace(UP, process=ALIVE, port=OURS, http=KEY_NEEDED, story=WARMING_UP)
    assert word_of(starting) is Word.STARTING


def test_hostile_text_of_a_host_reaches_no_sentence_as_control_characters() -> None:
    nasty = "x\x1b[31m\r\n\x07[/bold]"
    evidence = replace(
        SERVING,
        port=PortWitness("stranger", 1, nasty),
        http=replace(OK, detail=nasty),
        story=replace(READY, cause=Cause("exception", nasty, is_fatal=False)),
    )
    gone = replace(UP, process=GONE, story=LogStory(cause=Cause("exception", nasty)))
    for each in (evidence, replace(evidence, log_error=nasty), gone, replace(UP, blocked=nasty)):
        assert all(sentence.isprintable() for sentence in judge(each, NOW).because)


STORIES = (
    None,
    LogStory(),
    LOADING,
    READY,
    *(LogStory(word=word, cause=NCCL) for word in get_args(LogWord)),
    *(LogStory(word=word, has_ready_line=True) for word in get_args(LogWord)),
)
PROCESSES = (ProcessWitness(), NO_RUN, ALIVE, replace(GONE, state="zombie"), GONE, replace(GONE, family=(41240,)))
PORTS = (PortWitness(), CLOSED, OURS, STRANGER, OPEN)
ANSWERS = (HttpWitness(), REFUSED, OK, UNAVAILABLE, KEY_NEEDED, TIMEOUT, HttpWitness("error", at=NOW))


def every_evidence() -> Iterator[Evidence]:
    for link, process, port, http, story in product(get_args(Link), PROCESSES, PORTS, ANSWERS, STORIES):
        for stop_asked, blocked, was_ready in product((False, True), (None, "left"), (False, True)):
            yield Evidence(
                link=link,
                process=process,
                port=port,
                http=http,
                story=story,
                log_at=NOW,
                stop_asked=stop_asked,
                blocked=blocked,
                was_ready=was_ready,
                stall="3 running" if was_ready else None,
            )


def broken_truth(evidence: Evidence, word: Word) -> str | None:
    """The first invariant that a word breaks."""
    process, port = evidence.process.state, evidence.port.state
    is_up = evidence.link in ("connecting", "up")
    is_gone = process in ("gone", "zombie")
    serves = word in (Word.READY, Word.STALLED)
    truths = {
        "unreachable if and only if the link is": (word is Word.UNREACHABLE) != is_up,
        "blocked wins while the host is up": not (is_up and evidence.blocked) or word is Word.BLOCKED,
        "no ready without an answer": not serves or evidence.http.state in ("ok", "key-needed"),
        "no ready on a port that is a stranger's or closed": not serves or port not in ("stranger", "closed"),
        "no ready of a process that is gone": not serves or not is_gone,
        "no ready while a stop is asked of a living one": not (serves and evidence.stop_asked and process == "alive"),
        "no ready with a fatal cause": not (serves and process == "alive" and evidence.story and evidence.story.cause),
        "no stopped while alive": not (word is Word.STOPPED and process == "alive"),
        "no stopped without knowing of the process": not (word is Word.STOPPED and process == "unknown"),
        "no stopped while the family holds the port": not (word is Word.STOPPED and is_gone and port == "ours")
        or not evidence.stop_asked,
        "no crashed while alive": not (word is Word.CRASHED and process == "alive"),
        "no crashed when asked to stop": not (word is Word.CRASHED and is_gone and evidence.stop_asked),
        "no starting of what is gone": not (word is Word.STARTING and is_gone),
        "no stopping of what nobody asked": word is not Word.STOPPING
        or evidence.stop_asked
        or (evidence.story is not None and evidence.story.word in ("stopping", "stopped")),
        "no evidence, no claim": not (is_up and process == port == "unknown" and not evidence.blocked)
        or word is Word.UNKNOWN,
        "a living process always has a word": not (is_up and process == "alive" and evidence.http.state != "unknown")
        or word is not Word.UNKNOWN
        or port == "unknown",
        "no ready of a living process before its port's owner is known": not (serves and process == "alive")
        or port in ("ours", "open"),
    }
    return next((truth for truth, holds in truths.items() if not holds), None)


def test_no_combination_of_witnesses_breaks_a_truth() -> None:
    seen: set[Word] = set()
    for evidence in every_evidence():
        verdict = judge(evidence, NOW)
        seen.add(verdict.word)
        assert broken_truth(evidence, verdict.word) is None, (evidence, verdict)
        assert verdict.because or verdict.word is Word.UNKNOWN
        assert len(set(verdict.because)) == len(verdict.because)
    assert seen == set(Word)


def test_a_stop_as_asked_sounds_like_no_kill_and_its_exit_status_is_evidence() -> None:
    killed = replace(GONE, exit_status=137)
    because = judge(replace(UP, process=killed, port=CLOSED, stop_asked=True), NOW).because
    assert because[0] == "stopped as asked"
    assert because[1].endswith("gone (exit 137, SIGKILL)")
