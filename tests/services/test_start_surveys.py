"""While a server loads, its ranks come to the GPUs: who holds them is looked at in each phase, and not without end."""

from specdeck.config.objects import Server
from specdeck.services.answers import Answers, RunFiles
from specdeck.services.host_place import Place
from specdeck.services.server_monitor import ServerMonitor
from specdeck.services.survey import Survey
from specdeck.state.events import LogAdvanced
from specdeck.state.log_story import LogStory, LogWord, Phase
from specdeck.state.phases import PhaseName


class Start:
    """A server that was launched and surveyed; nothing is due but what its log brings."""

    def __init__(self) -> None:
        self.monitor = ServerMonitor(Server("kimi", "lab", "/m", 30000), "sglang", lambda event: None, lambda: 0.0)
        self.monitor.begin(Place(boot_id="b", state_folder="/state"))
        self.monitor.take("k", Answers({"k": RunFiles()}))
        self.is_survey_asked()

    def says(self, phase: PhaseName | None, word: LogWord = "starting") -> bool:
        """The log grew by a line of this phase; True: it brought a survey."""
        story = LogStory(word=word, phase=Phase(phase, 1, 8) if phase else None)
        self.monitor.follower._post(LogAdvanced("kimi", story))
        return self.is_survey_asked()

    def is_survey_asked(self) -> bool:
        """And it is done."""
        is_asked = self.monitor.wants_survey
        self.monitor.begin_survey()
        self.monitor.take_survey(Survey({}, {}, None, None))
        return is_asked


def test_each_phase_of_a_start_brings_one_survey_however_many_lines_it_has() -> None:
    start = Start()
    phases: tuple[PhaseName, ...] = ("weights", "weights", "weights", "graphs", "graphs")
    assert [start.says(phase) for phase in phases] == [True, False, False, True, False]


def test_a_server_that_serves_brings_none() -> None:
    start = Start()
    start.says("graphs")
    assert not start.says(None, "ready")
    assert not start.says("graphs", "ready")
