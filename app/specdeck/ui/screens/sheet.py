"""The sheet before an act: difference, checks, then a countdown or a question. Any key but Enter cancels."""

from collections.abc import Awaitable, Callable
from math import ceil
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.worker import Worker, WorkerState

from specdeck.errors import SpecdeckError
from specdeck.services.deck import Plan
from specdeck.state.snapshot import ActKind, ServerState
from specdeck.ui.drawing.plan import fitted, plan_rows, plan_title, question
from specdeck.ui.drawing.spans import Row, wrapped
from specdeck.ui.panes.size import LEAST_HEIGHT, LEAST_WIDTH
from specdeck.ui.screens.asked_once import AskedOnce
from specdeck.ui.widgets.rows import Rows

COUNTDOWN_SECONDS = 3.0
FRAME = 3
"""Rows of the border and of the blank above the question."""
ROOMY = 56
"""Cells of the countdown with what the keys do, far apart."""
TICK_SECONDS = 0.1


class ActSheet(AskedOnce[Plan | None]):
    """Gives the plan back when it shall be done, None when not. The app hands it every key (`answer`)."""

    LETS_MESSAGES_WAIT: ClassVar[bool] = True
    """Nothing else is to be read now."""
    DEFAULT_CSS = """
    ActSheet Toast { display: none; }
    ActSheet { align: center middle; }
    ActSheet > #sheet { width: 84; max-width: 96%; height: auto; max-height: 100%;
        background: $surface; border: round $primary; padding: 0 1; }
    """

    def __init__(
        self,
        plan: Callable[[], Awaitable[Plan]],
        *,
        act: ActKind,
        server: str,
        model: str,
        clock: Callable[[], float],
        seen: Callable[[], ServerState | None] = lambda: None,
    ) -> None:
        super().__init__()
        self._ask_plan = plan
        self._act: ActKind = act
        self._server = server
        self._model = model
        self._clock = clock
        self._seen = seen
        """The server as it is now."""
        self.plan: Plan | None = None
        self.problem: str | None = None
        self.starts_at: float | None = None

    def compose(self) -> ComposeResult:
        """The plan above, the question below."""
        with Vertical(id="sheet"):
            yield Rows(id="plan")
            yield Rows(id="question")

    def on_mount(self) -> None:
        """Look and check, in a worker."""
        self._draw()
        self.run_worker(self._ask_plan(), name="plan", group="plan", exclusive=True, exit_on_error=False)
        self.set_interval(TICK_SECONDS, self.tick)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """The plan is there, or why there is none."""
        event.stop()
        if event.state is WorkerState.SUCCESS and isinstance(event.worker.result, Plan):
            self.plan = event.worker.result
            if self.plan.act == "pivot" and self.plan.is_allowed:
                self.starts_at = self._clock() + COUNTDOWN_SECONDS
        elif event.state is WorkerState.ERROR:
            error = event.worker.error
            self.problem = str(error) if isinstance(error, SpecdeckError) else f"{type(error).__name__}: {error}"
        self._draw()

    def tick(self) -> None:
        """Count down; start when it is over."""
        if self.starts_at is None:
            return
        if self._clock() >= self.starts_at:
            self._finish(self.plan)
        else:
            self._draw_question()

    def answer(self, key: str, *, is_burst: bool) -> None:
        """Enter starts what is allowed and was not pasted; every other key cancels."""
        if key == "enter" and not is_burst:
            if self.plan is not None and self.plan.is_allowed:
                self._finish(self.plan)
                return
            if self.plan is None and self.problem is None:
                return
        self._finish(None)

    def cancel(self) -> None:
        """A paste, or a click beside the sheet."""
        self._finish(None)

    def _finish(self, plan: Plan | None) -> None:
        if not self._is_finished:
            self._is_finished = True
            self.starts_at = None
            self.dismiss(plan)

    _is_finished = False

    def on_click(self, event: events.Click) -> None:
        """A click beside the sheet cancels."""
        if event.widget is self:
            self.cancel()

    def on_resize(self, event: events.Resize) -> None:
        """Wrap again; where nobody can read what is asked, nothing begins."""
        if event.size.width < LEAST_WIDTH or event.size.height < LEAST_HEIGHT:
            self.cancel()
        else:
            self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        sheet, rows = self.query_one("#sheet"), self.query_one("#plan", Rows)
        rows.say("")
        width = max(rows.size.width, 40)
        room = self.size.height - FRAME - len(self._question(width))
        rows.show(fitted([*self._title(), *self._body(width)], room))
        sheet.set_class(self.problem is not None or (self.plan is not None and not self.plan.is_allowed), "-failed")
        self._draw_question()

    def _title(self) -> list[Row]:
        title = plan_title(self.plan) if self.plan is not None else f"{self._act.capitalize()} {self._server}"
        return [((f" {title}", "title"),), (("", ""),)]

    def _body(self, width: int) -> list[Row]:
        if self.problem is not None:
            return [((f" {line}", "error"),) for line in wrapped(self.problem, width - 2, most=8)]
        if self.plan is None:
            return [((" checking…", "starting"),)]
        return plan_rows(self.plan, self._model, width, self._seen())

    def _draw_question(self) -> None:
        rows = self.query_one("#question", Rows)
        rows.show([(("", ""),), *self._question(max(rows.size.width, 40))])

    def _question(self, width: int) -> list[Row]:
        if self.plan is None and self.problem is None:
            return [((" any key but Enter cancels", "dim"),)]
        if self.plan is None or not self.plan.is_allowed:
            text = " not possible as it is; nothing was touched" if self.plan is not None else " nothing was touched"
            return [((text, "warning"), ("      any key closes", "dim"))]
        if self.starts_at is not None:
            left = max(0.0, self.starts_at - self._clock())
            gap = " " * (6 if width >= ROOMY else 3)
            return [
                (
                    (f" starts in {max(ceil(left), 1)} s", "starting-strong"),
                    (f"{gap}Enter", "key"),
                    (" now", ""),
                    (f"{gap}any other key", "key"),
                    (" cancels", ""),
                )
            ]
        ask: list[Row] = [((f" {line}", "strong"),) for line in wrapped(question(self.plan, self._model), width - 2)]
        return [
            *ask,
            ((" Enter", "key"), (" does it", ""), ("      any other key", "key"), (" leaves it as it is", "")),
        ]
