"""What the options before the verb say, and the fleet that they name: how every verb gets its fleet."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specdeck.quick_dataclass import dataclass

if TYPE_CHECKING:
    from specdeck.config.objects import Fleet


@dataclass(frozen=True, slots=True)
class Options:
    """The global options; `ctx.obj` in every verb."""

    fleet_path: Path | None = None
    is_read_only: bool = False
    is_ascii: bool = False
    """Draw and print plain ASCII only."""


def options_of(ctx: click.Context) -> Options:
    """The global options of this call."""
    found = ctx.find_object(Options)
    return found if found is not None else Options()


def fleet_of(ctx: click.Context, targets: Sequence[str] = ()) -> "Fleet":
    """The fleet of this call. Raises ConfigError with all problems."""
    from specdeck.config.fleet import load_fleet

    return load_fleet(options_of(ctx).fleet_path, targets)
