"""A YAML file as nodes that know their line and column. Whatever is in the file, only problems come of it."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import yaml
from yaml.reader import ReaderError

from specdeck.config.problems import Place, Problems, place_of_file, shown
from specdeck.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read, and where its problems go."""

    name: str
    problems: Problems

    def place(self, node: yaml.Node) -> Place:
        """Where a node begins."""
        return Place(self.name, node.start_mark.line + 1, node.start_mark.column + 1)


def yaml_files(folder: Path, problems: Problems) -> Sequence[Path]:
    """The YAML files of a folder in order of name, hidden ones (editors leave them) aside; a folder that is not there has none."""
    try:
        return sorted(
            path for path in folder.iterdir() if path.suffix in {".yaml", ".yml"} and not path.name.startswith(".")
        )
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as err:
        problems.add(place_of_file(folder), "folder", f"cannot be read: {err.strerror}")
        return ()


def load(path: Path, problems: Problems) -> tuple[Source, yaml.Node | None]:
    """Read and compose a file; None: it could not be, and the problem is added."""
    source = Source(shown(str(path)), problems)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        problems.add(place_of_file(path), "file", "there is no such file")
    except (OSError, ValueError) as err:
        reason = err.strerror if isinstance(err, OSError) and err.strerror else str(err)
        problems.add(place_of_file(path), "file", f"cannot be read: {reason}")
    else:
        text = _decode(raw, source)
        return source, None if text is None else compose(text, source)
    return source, None


def _decode(raw: bytes, source: Source) -> str | None:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        before = raw[: err.start].decode("utf-8-sig", "replace")
        source.problems.add(_place_at(before, source), "file", f"byte 0x{raw[err.start]:02x} is not UTF-8")
        return None


def _place_at(before: str, source: Source) -> Place:
    """The place after this text."""
    line = before.count("\n") + 1
    return Place(source.name, line, len(before) - (before.rfind("\n") + 1) + 1)


def compose(text: str, source: Source) -> yaml.Node | None:
    """The root node of a YAML text; None: it is not YAML or empty, and the problem is added."""
    try:
        node = _composed(text)
    except yaml.MarkedYAMLError as err:
        source.problems.add(_place_of_error(err, source), "YAML", _words_of_error(err))
    except ReaderError as err:
        what = f"character {shown(chr(int(err.character)))!r} is not allowed here"
        source.problems.add(_place_at(text[: err.position], source), "YAML", what)
    except RecursionError:
        source.problems.add(Place(source.name), "YAML", "it is nested too deeply")
    except (yaml.YAMLError, ValueError, OverflowError, IndexError, TypeError, AttributeError) as err:
        source.problems.add(Place(source.name), "YAML", f"cannot be read: {shown(str(err))}")
    else:
        if node is None:
            source.problems.add(Place(source.name), "file", "it is empty")
        return node
    return None


def _composed(text: str) -> yaml.Node | None:
    """By libyaml where PyYAML has it, in a tenth of the time; what it refuses is told in the words of the slower one."""
    if yaml.__with_libyaml__:
        with suppress(yaml.YAMLError, ValueError):
            return yaml.compose(text, Loader=yaml.CSafeLoader)
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _place_of_error(err: yaml.MarkedYAMLError, source: Source) -> Place:
    mark = err.problem_mark or err.context_mark
    return Place(source.name, mark.line + 1, mark.column + 1) if mark else Place(source.name)


def _words_of_error(err: yaml.MarkedYAMLError) -> str:
    """The parser's sentence, with a hint for the mistakes that launch profiles invite."""
    words = shown(" ".join(filter(None, (err.context, err.problem))))
    snippet = err.problem_mark.get_snippet() if err.problem_mark else None
    if "\t" in (snippet or "") and "\\t" in words:
        return f"{words} (a tab; YAML wants spaces)"
    if "block scalar" in words:
        return f"{words} (a value that begins with > or | must stand in quotes)"
    if "could not find expected ':'" in words or "mapping values" in words or "token" in words:
        return f"{words} (text with :, {{, }}, * or & must stand in quotes)"
    return words
