"""Earlier starts of servers and how long each phase took; kept in the run's folder on the host, for colleagues too."""

from collections.abc import Sequence

from specdeck.quick_dataclass import dataclass
from specdeck.state.log_story import PhaseSpan


@dataclass(frozen=True, slots=True)
class PastStart:
    """One start that became ready."""

    server: str
    run: str
    model: str
    profile: str | None
    engine: str
    engine_version: str | None
    boot_id: str
    started_at: float
    """Unix seconds."""
    phases: tuple[tuple[str, float], ...]
    """Name and seconds, in their order; `import` only where somebody watched the start."""
    is_cold: bool | None = None
    """The first of this model since the host booted: its files came from the disk, its kernels may have been compiled."""

    @property
    def seconds(self) -> float:
        """Of the whole start, as far as it was measured."""
        return sum(seconds for _, seconds in self.phases)


def lengths(spans: Sequence[PhaseSpan], import_seconds: float | None) -> tuple[tuple[str, float], ...]:
    """The phases that have a begin and an end; the first has its begin outside the log."""
    first = (("import", import_seconds),) if import_seconds is not None else ()
    told = ((span.name, span.ended - span.began) for span in spans if span.began is not None and span.ended is not None)
    return (*first, *told)


def is_first_since_boot(boot_id: str, started_at: float, starts: Sequence[PastStart]) -> bool:
    """No earlier one of this boot is known among the starts of a model."""
    return not any(start.boot_id == boot_id and start.started_at < started_at for start in starts)
