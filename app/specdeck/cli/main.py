"""The command line: global options, the verbs by name, errors into sentences and exit codes."""

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from specdeck import __version__
from specdeck.cli.ascii_output import print_ascii_only
from specdeck.cli.group import VerbGroup
from specdeck.cli.options import Options, fleet_of, options_of
from specdeck.cli.verb_table import DASHBOARD
from specdeck.errors import ExitCode, SpecdeckError

__all__ = ["Options", "fleet_of", "main", "options_of", "run"]

_EPILOG = (
    "Exit codes: 0 fine, 1 not as asked, 2 usage or configuration, 3 host unreachable, 4 refused, 130 interrupted."
)


@click.command(
    cls=VerbGroup,
    invoke_without_command=True,
    subcommand_metavar="[TARGET]... | VERB [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.option(
    "--fleet", type=click.Path(path_type=Path), metavar="FILE", help="Fleet file (else $SPECDECK_FLEET, ./fleet.yaml)."
)
@click.option("--read-only", is_flag=True, envvar="SPECDECK_READ_ONLY", help="Show everything, stop and start nothing.")
@click.option("--ascii", "is_ascii", is_flag=True, envvar="SPECDECK_ASCII", help="Draw and print plain ASCII only.")
@click.version_option(__version__, "-V", "--version", message="specdeck %(version)s")
@click.pass_context
def main(ctx: click.Context, fleet: Path | None, read_only: bool, is_ascii: bool) -> object:
    """Watch LLM inference servers on GPU hosts, and pivot them between launch profiles.

    \b
    specdeck                   the dashboard of the fleet file
    specdeck root@gpu-a        the dashboard of any host that ssh takes
    specdeck demo              the same on this machine, without a GPU
    """
    ctx.obj = Options(fleet_path=fleet, is_read_only=read_only, is_ascii=is_ascii)
    if is_ascii:
        print_ascii_only()
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    if ctx.invoked_subcommand is not None:
        return None
    assert isinstance(ctx.command, VerbGroup)  # noqa: S101 - as declared above
    command = ctx.command.get_command(ctx, DASHBOARD)
    return ctx.invoke(command, targets=()) if command else None


def run(args: Sequence[str]) -> int:
    """Run a command line; the exit code. What is wrong is said on stderr in one sentence, or one line a problem."""
    _print_what_the_terminal_cannot()
    stdout = sys.stdout
    try:
        result = main.main(args=list(args), prog_name="specdeck", standalone_mode=False)
        stdout.flush()
    except click.ClickException as err:
        err.show()
        return err.exit_code
    except SpecdeckError as err:
        click.echo(_sentence(err), err=True)
        return err.exit_code
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except SystemExit as err:  # click ends with 1 where the reader left, and has put a wrapper around stdout
        return _code_of(err.code) if sys.stdout is stdout else _reader_left()
    return _code_of(result)


def _print_what_the_terminal_cannot() -> None:
    """A character that the terminal's encoding lacks becomes an escape, never an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _sentence(err: SpecdeckError) -> str:
    """One problem on the line of the program's name, several on lines of their own."""
    text = str(err)
    return f"specdeck: {text}" if "\n" not in text else f"specdeck: {len(text.splitlines())} problems\n{text}"


def _code_of(result: object) -> int:
    """A verb may return its exit code; anything else is fine."""
    return int(result) if isinstance(result, int) else int(ExitCode.FINE)


def _reader_left() -> int:
    """Who reads our output has seen enough (`| head`): no word, and nothing more to flush at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return ExitCode.FINE
