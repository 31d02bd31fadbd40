"""The frame of the command line: which verb a word means, which errors give which exit code, and what is imported for it."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.cli.conftest import AddVerb

from specdeck import __version__
from specdeck.cli.main import fleet_of, options_of, run
from specdeck.cli.verb_table import VERBS
from specdeck.errors import ConfigError, ExitCode, HostUnreachable, Refused, SpecdeckError, UsageError

Capture = pytest.CaptureFixture[str]


def specdeck(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    env = {**os.environ, **environment}
    command = [sys.executable, "-m", "specdeck", *args]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=env, check=False, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def dashboard(add_verb: AddVerb) -> None:
    """A dashboard that only says for which hosts it was opened."""

    @click.command("dashboard")
    @click.argument("targets", nargs=-1)
    @click.pass_context
    def command(ctx: click.Context, targets: tuple[str, ...]) -> None:
        options = options_of(ctx)
        click.echo(f"{list(targets)} {options.fleet_path} {options.is_read_only}")

    add_verb("dashboard", command)


@pytest.fixture
def status(add_verb: AddVerb) -> None:
    """A verb with an argument."""

    @click.command("status")
    @click.argument("words", nargs=-1)
    @click.pass_context
    def command(ctx: click.Context, words: tuple[str, ...]) -> None:
        click.echo(f"status {list(words)} {options_of(ctx).is_read_only}")

    add_verb("status", command)


def raising(error: BaseException) -> click.Command:
    """A verb that fails."""

    @click.command("status")
    def command() -> None:
        raise error

    return command


@pytest.mark.usefixtures("dashboard", "status")
@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "[] None False"),
        (["root@gpu-a", "localhost"], "['root@gpu-a', 'localhost'] None False"),
        (["--fleet", "f.yaml", "lab"], "['lab'] f.yaml False"),
        (["lab", "--fleet=f.yaml", "--read-only"], "['lab'] f.yaml True"),
        (["--read-only"], "[] None True"),
        (["--", "status"], "['status'] None False"),
        (["--read-only", "--", "status", "--read-only"], "['status', '--read-only'] None True"),
        (["status"], "status [] False"),
        (["status", "lab", "--read-only"], "status ['lab'] True"),
        (["--read-only", "status", "--", "--fleet"], "status ['--fleet'] True"),
    ],
)
def test_first_word_is_a_verb_or_a_host(args: list[str], said: str, capsys: Capture) -> None:
    assert run(args) == ExitCode.FINE
    assert capsys.readouterr() == (said + "\n", "")


@pytest.mark.usefixtures("dashboard")
def test_environment_makes_it_read_only(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("SPECDECK_READ_ONLY", "1")
    assert run([]) == ExitCode.FINE
    assert capsys.readouterr().out == "[] None True\n"


def test_misspelt_verb_is_not_taken_for_a_host(capsys: Capture) -> None:
    assert run(["staus"]) == ExitCode.USAGE
    assert (
        "`staus` is no verb, did you mean status? (A host of that name: specdeck -- staus)" in capsys.readouterr().err
    )


def test_a_verb_after_the_host_is_not_taken_for_a_host(capsys: Capture) -> None:
    assert run(["root@gpu-a", "status"]) == ExitCode.USAGE
    assert (
        "the verb comes first: specdeck status root@gpu-a (hosts of these names: specdeck -- root@gpu-a status)"
        in capsys.readouterr().err
    )


def test_a_value_of_an_option_is_no_verb(capsys: Capture) -> None:
    assert run(["root@gpu-a", "--record", "demo", "--no-such-option"]) == ExitCode.USAGE
    assert "No such option '--no-such-option'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "begin"), [(["help"], "Usage: specdeck [OPTIONS]"), (["help", "wait"], "Usage: specdeck wait")]
)
def test_help_is_the_help(words: list[str], begin: str, capsys: Capture) -> None:
    assert run(words) == ExitCode.FINE
    assert capsys.readouterr().out.startswith(begin)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["wait", "kimi", "--timeout", "soon"], "'soon' is not a valid number."),
        (["logs", "kimi", "-n", "1.5"], "'1.5' is not a valid whole number."),
    ],
)
def test_a_wrong_number_is_called_one(words: list[str], said: str, capsys: Capture) -> None:
    assert run(words) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_check_of_a_host_says_how(capsys: Capture) -> None:
    assert run(["check", "root@gpu-a"]) == ExitCode.USAGE
    assert "only --connect takes hosts: specdeck check --connect root@gpu-a" in capsys.readouterr().err


def test_verb_that_is_not_built_yet_is_not_taken_for_a_host(capsys: Capture) -> None:
    assert run(["bench", "kimi"]) == ExitCode.USAGE
    assert "`bench` is not part of this version of specdeck yet" in capsys.readouterr().err


@pytest.mark.usefixtures("dashboard")
def test_host_whose_name_is_near_a_verb_but_no_word(capsys: Capture) -> None:
    assert run(["demo1"]) == ExitCode.FINE
    assert capsys.readouterr().out == "['demo1'] None False\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SpecdeckError("x"), 1),
        (UsageError("x"), 2),
        (ConfigError("x"), 2),
        (HostUnreachable("x"), 3),
        (Refused("x"), 4),
    ],
)
def test_error_is_one_sentence_and_an_exit_code(
    error: SpecdeckError, code: int, add_verb: AddVerb, capsys: Capture
) -> None:
    add_verb("status", raising(error))
    assert run(["status"]) == code
    assert capsys.readouterr() == ("", "specdeck: x\n")


def test_several_problems_are_lines_of_their_own(add_verb: AddVerb, capsys: Capture) -> None:
    add_verb("status", raising(ConfigError("a:1:1: x\na:2:1: y")))
    assert run(["status"]) == ExitCode.USAGE
    assert capsys.readouterr().err == "specdeck: 2 problems\na:1:1: x\na:2:1: y\n"


def test_interrupt(add_verb: AddVerb, capsys: Capture) -> None:
    add_verb("status", raising(KeyboardInterrupt()))
    assert run(["status"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("way", ["return", "exit"])
def test_verb_gives_its_exit_code(way: str, add_verb: AddVerb) -> None:
    @click.command("wait")
    @click.pass_context
    def command(ctx: click.Context) -> ExitCode:
        if way == "exit":
            ctx.exit(ExitCode.NOT_AS_ASKED)
        return ExitCode.NOT_AS_ASKED

    add_verb("wait", command)
    assert run(["wait"]) == ExitCode.NOT_AS_ASKED


def test_verb_gets_its_fleet(add_verb: AddVerb, empty_folder: Path, capsys: Capture) -> None:
    @click.command("status")
    @click.pass_context
    def command(ctx: click.Context) -> None:
        click.echo([host.name for host in fleet_of(ctx, ["c", "a"]).hosts])

    add_verb("status", command)
    (empty_folder / "f.yaml").write_text("hosts: {a: , b: }\n")
    assert run(["status", "--fleet", "f.yaml"]) == ExitCode.FINE
    assert capsys.readouterr().out == "['c', 'a']\n"


def test_option_that_does_not_exist(capsys: Capture) -> None:
    assert run(["--frobnicate"]) == ExitCode.USAGE
    assert "No such option" in capsys.readouterr().err


@pytest.mark.parametrize("args", [["--record", "x.rec"], ["--theme=specdeck-dark"], ["--read-only", "--record=x.rec"]])
def test_options_of_the_dashboard_need_no_host_before_them(
    args: list[str], empty_folder: Path, capsys: Capture
) -> None:
    (empty_folder / "fleet.yaml").write_text("hosts: {a: }\n")
    assert run(args) == ExitCode.USAGE
    assert "the dashboard needs a terminal" in capsys.readouterr().err


def test_help_names_every_verb(capsys: Capture) -> None:
    assert run(["--help"]) == ExitCode.FINE
    said = capsys.readouterr().out
    assert [name for name in VERBS if f"\n  {name} " not in said] == []


@pytest.mark.parametrize(
    "args", [["--help"], ["schema"], ["check"], ["profiles"], ["themes"], ["profiles", "baseline"]]
)
def test_light_verbs_import_nothing_heavy(args: list[str]) -> None:
    heavy = ("textual", "rich", "asyncssh", "httpx", "plotext", "asyncio", "cryptography")
    code = f"import sys; from specdeck.cli.main import run; run({args!r}); sys.exit(sorted(set({heavy!r}) & set(sys.modules)) or 0)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_first_frame_waits_for_no_import_that_watching_needs() -> None:
    late = ("asyncssh", "httpx", "plotext", "specdeck.engines.registry", "specdeck.state.reduce", "prometheus_client")
    code = (
        "import sys, specdeck.services.opening_deck, specdeck.ui.app; "
        f"sys.exit(sorted(set({late!r}) & set(sys.modules)) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_version_is_answered_before_anything_is_imported() -> None:
    code = (
        "import sys; sys.argv = ['specdeck', '--version']; from specdeck.__main__ import main; main(); "
        "print([name for name in sys.modules if name.startswith(('click', 'specdeck.'))])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout == f"specdeck {__version__}\n['specdeck.__main__']\n"


@pytest.mark.parametrize("args", [["--version"], ["-V"], ["--read-only", "--version"]])
def test_version(args: list[str]) -> None:
    ended = specdeck(*args)
    assert (ended.returncode, ended.stdout) == (0, f"specdeck {__version__}\n")


@pytest.mark.parametrize("args", ["profiles", "profiles --json", "schema", "--help"])
def test_reader_that_leaves_is_no_error(args: str) -> None:
    command = f"{sys.executable} -m specdeck {args} | true; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell: str) -> None:
    ended = specdeck("completion", shell)
    assert ended.returncode == 0
    assert "_SPECDECK_COMPLETE" in ended.stdout


def test_completion_knows_the_verbs() -> None:
    ended = specdeck(_SPECDECK_COMPLETE="bash_complete", COMP_WORDS="specdeck pro", COMP_CWORD="1")
    assert ended.stdout == "plain,profiles\n"


def test_terminal_without_the_characters_gets_escapes(empty_folder: Path) -> None:
    (empty_folder / "fleet.yaml").write_text("hosts: {a: }\n")
    (empty_folder / "profiles").mkdir()
    (empty_folder / "profiles/own.yaml").write_text("engine: vllm\ndescribe: 日本\n", "utf-8")
    ended = specdeck("profiles", PYTHONIOENCODING="latin-1")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "\\u65e5\\u672c" in ended.stdout
