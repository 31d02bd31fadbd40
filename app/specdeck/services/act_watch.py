"""The newest act on a server, as its journal on the host and the lock of its port tell it."""

from specdeck.parsing.proc import process_stat
from specdeck.quick_dataclass import replace
from specdeck.services.answers import Answers, RunFiles
from specdeck.services.left import is_still_left, left_questions
from specdeck.services.presence import act_elsewhere
from specdeck.services.run_records import HostClock, is_actor_needed, read_act, read_actor
from specdeck.state.snapshot import Act, PortLock


class ActWatch:
    """Of one server."""

    def __init__(self) -> None:
        self.files = RunFiles()
        self._lock: PortLock | None = None
        self._is_lock_old = False
        self._left_gone: str | None = None
        """What a stop had left, and is seen to be gone."""

    @property
    def is_stop_asked(self) -> bool:
        """Of the run in the folder."""
        return "stop" in self.files.items

    def take_lock(self, lock: PortLock | None) -> None:
        """Seen twice it is no act that just begins its journal."""
        self._is_lock_old = lock is not None and lock == self._lock
        self._lock = lock

    def questions(self) -> list[str]:
        """Whether what a stop left still lives, and the script that acts."""
        actor = read_actor(self.files)[0] if is_actor_needed(self.files) else None
        return [*left_questions(self.files.left), *([f"pid {actor}"] if actor else [])]

    def newest(self, answers: Answers, clock: HostClock) -> Act | None:
        """The act; one whose script is gone without a last word has failed, one of others has no journal here."""
        act = read_act(self.files, clock)
        if act and is_actor_needed(self.files) and self._is_actor_gone(answers):
            act = _broken_off(act)
        if (act is None or act.is_over) and self._lock and self._is_lock_old:
            return act_elsewhere(self._lock) or act
        return act

    def blocked(
        self, answers: Answers, clock: HostClock, *, is_listening: bool, unclaimed_mib: int | None
    ) -> str | None:
        """What the newest stop could not end, as long as it is still there."""
        act = read_act(self.files, clock)
        if act is None or act.step != "blocked":
            return None
        is_left = self._is_still_left(answers, is_listening=is_listening, unclaimed_mib=unclaimed_mib)
        return act.detail if is_left else None

    def _is_still_left(self, answers: Answers, *, is_listening: bool, unclaimed_mib: int | None) -> bool:
        left = self.files.left
        if left is None or left == self._left_gone:
            return left is None  # an act of an older specdeck wrote down nothing to watch
        is_left = is_still_left(left, answers.stats, is_listening=is_listening, unclaimed_mib=unclaimed_mib)
        self._left_gone = None if is_left else left
        return is_left

    def _is_actor_gone(self, answers: Answers) -> bool:
        pid, start_time = read_actor(self.files)
        if pid is None or pid not in answers.stats:
            return False
        stat = process_stat(answers.stats[pid].encode("utf-8", "surrogateescape"))
        return stat is None or stat.is_dead or stat.start_time != start_time


def _broken_off(act: Act) -> Act:
    """Its script is gone without a last word."""
    words = f"broke off after `{act.step}`: its script on the host is gone; {act.kind} again to finish it"
    return replace(act, step="failed", detail=words, kill_at=None, is_over=True, is_failed=True)
