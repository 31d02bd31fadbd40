"""What the alerts of a fleet remember from one second to the next: which hold, since when, what was told; frozen, no rules."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from specdeck.quick_dataclass import dataclass

AlertKind = Literal["crashed", "stalled", "unhealthy", "ready", "throttled", "slow", "accept", "disk", "lost"]
AlertKey = tuple[AlertKind, str]
"""The kind, and the server or host that it is about."""
RECENT_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that somebody who does not look at the screen should know."""

    number: int
    """Counts up: who has seen number 7 has seen all before it."""
    kind: AlertKind
    subject: str
    """Server or host name."""
    text: str
    """One sentence without the subject."""
    severity: Literal["info", "warning", "error"]
    at: float
    is_over: bool = False
    """It says that the alert has cleared."""
    is_silenced: bool = False
    """The user wants to be left alone: it is listed, nobody is rung for."""

    @property
    def sentence(self) -> str:
        """`glm crashed: NCCL timeout on TP5 (exit 137)`."""
        return f"{self.subject} {self.text}"


@dataclass(frozen=True, slots=True)
class Track:
    """One condition of one subject."""

    is_raised: bool = False
    changing_since: float | None = None
    """Since when the opposite has held without a break; None: it does not."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Speed:
    """One measured rate with the load it was measured at."""

    at: float
    tok_s: float
    running: int


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing rings until a moment, or (`until` None) what holds now does not ring before it has cleared."""

    until: float | None = None
    keys: frozenset[AlertKey] = frozenset()

    def covers(self, key: AlertKey, at: float) -> bool:
        """This alert is silent now."""
        return key in self.keys or (self.until is not None and at < self.until)


@dataclass(frozen=True, slots=True, eq=False)
class AlertBook:
    """All tracks, what was told last, and whether it rings."""

    tracks: Mapping[AlertKey, Track] = field(default_factory=dict)
    speeds: Mapping[str, tuple[Speed, ...]] = field(default_factory=dict)
    """By server, oldest first: what it did lately at which load."""
    recent: tuple[Alert, ...] = ()
    """Newest last, bounded."""
    told: int = 0
    """How many there were in all: the number of the newest."""
    silence: Silence = Silence()

    @property
    def raised(self) -> tuple[AlertKey, ...]:
        """What holds now; `ready` is news, not a trouble."""
        return tuple(key for key, track in self.tracks.items() if track.is_raised and key[0] != "ready")

    def after(self, number: int) -> tuple[Alert, ...]:
        """The alerts after a number, as far as they are kept."""
        return tuple(alert for alert in self.recent if alert.number > number)
