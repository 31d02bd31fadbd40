"""Run folders and journals into state, by eye from the files."""

from specdeck.services.answers import RunFiles
from specdeck.services.run_records import HostClock, is_actor_needed, read_act, read_exit, read_run
from specdeck.state.snapshot import Act, RunIdentity

ITEMS = {"profile": "eagle3-v2", "pid": "4711 99", "boot": "b-1", "started": "1000", "who": "ann"}
STOP = ("1000\tpivot\tasked\tann eagle3-v2", "1001\tpivot\tterm\tkill_at=1061")


def test_a_run_is_what_its_files_say() -> None:
    run = read_run(RunFiles("0007", ITEMS), "/state/kimi", HostClock())
    assert run == RunIdentity("0007", 4711, 99, "b-1", "eagle3-v2", "/state/kimi/0007/log", 1000.0, "ann")


def test_a_run_without_a_pid_is_not_there_yet_unless_it_has_ended() -> None:
    assert read_run(RunFiles("0007", {"profile": "x"}), "/s", HostClock()) is None
    ended = read_run(RunFiles("0007", {"exit": "127 1001"}), "/s", HostClock())
    assert ended is not None
    assert ended.pid == 0


def test_an_exit_status_that_is_half_written_is_not_known() -> None:
    assert read_exit(RunFiles("1", {"exit": "137 1001"})) == 137
    assert read_exit(RunFiles("1", {"exit": ""})) is None
    assert read_exit(RunFiles("1", {"exit": "x y"})) is None


def test_times_of_the_host_become_ours() -> None:
    act = read_act(RunFiles("1", {}, STOP), HostClock(ahead_seconds=100.0))
    assert act == Act("pivot", "term", "kill_at=1061", 900.0, 961.0, "eagle3-v2", "ann")


def test_the_countdown_goes_on_through_later_steps_and_ends_with_the_family() -> None:
    waiting = read_act(RunFiles("1", {}, (*STOP, "1002\tpivot\twaiting\tleft=3")), HostClock())
    gone = read_act(RunFiles("1", {}, (*STOP, "1009\tpivot\tgone\tpid 4711")), HostClock())
    assert waiting is not None
    assert gone is not None
    assert (waiting.kill_at, gone.kill_at) == (1061.0, None)


def test_an_act_is_over_with_its_last_step() -> None:
    done = read_act(RunFiles("1", {}, (*STOP, "1010\tpivot\tdone\t")), HostClock())
    blocked = read_act(RunFiles("1", {}, (*STOP, "1010\tpivot\tblocked\tcannot be killed")), HostClock())
    assert done is not None
    assert blocked is not None
    assert (done.is_over, done.is_failed) == (True, False)
    assert (blocked.is_over, blocked.is_failed) == (True, True)
    assert not is_actor_needed(RunFiles("1", {}, (*STOP, "1010\tpivot\tdone\t")))
    assert is_actor_needed(RunFiles("1", {}, STOP))


def test_a_journal_that_makes_no_sense_is_no_act() -> None:
    assert read_act(RunFiles("1", {}, ("hello", "1\tdance\tasked\tann")), HostClock()) is None


def test_escape_sequences_of_a_journal_do_not_pass() -> None:
    act = read_act(RunFiles("1", {}, ("1000\tstop\tasked\tann\x1b[31m x",)), HostClock())
    assert act is not None
    assert (act.who, act.profile) == ("ann", "x")
