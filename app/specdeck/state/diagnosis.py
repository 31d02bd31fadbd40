"""What a diagnosis of a server says, once everything was looked at."""

from collections.abc import Mapping
from dataclasses import field

from specdeck.parsing.lines import Line
from specdeck.quick_dataclass import dataclass
from specdeck.state.log_story import Cause, LogStory


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All of it; nothing here is a guess."""

    server: str
    word: str
    log: str | None = None
    story: LogStory | None = None
    cause: Cause | None = None
    ended: str | None = None
    """The exit status in words; None: it lives, or there is no run."""
    advice: tuple[str, ...] = ()
    kernel: tuple[str, ...] = ()
    """What the kernel says of it, or that it may not be asked."""
    memory: tuple[str, ...] = ()
    """Who holds GPU memory now."""
    proxies: Mapping[str, str] = field(default_factory=dict)
    context: tuple[Line, ...] = ()
    """The lines around the cause."""
    last: tuple[Line, ...] = ()
    because: tuple[str, ...] = ()
