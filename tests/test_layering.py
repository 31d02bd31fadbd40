"""The layers of the design, read from the import statements themselves."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "app" / "specdeck"
PURE = {"config", "parsing", "engines", "state"}
MAY_IMPORT = {
    "config": {"config", "parsing"},
    "parsing": {"parsing"},
    "state": {"state", "parsing", "config"},
    "engines": {"engines", "state", "parsing", "config"},
    "transport": {"transport", *PURE},
    "services": {"services", "transport", *PURE},
    "ui": {"ui", "services", *PURE},
    "cli": {"cli", "ui", "demo", "services", "transport", *PURE},
    "demo": {"demo", "services", "transport", *PURE},
}
BESIDE = {"errors", "late_pattern", "quick_dataclass", ""}
"""Files beside the layers, for all of them."""
ONLY_IN = {
    "asyncssh": {"transport", "demo"},
    "httpx": {"transport"},
    "httpcore": {"transport"},
    "textual": {"ui"},
    "rich": {"ui"},
    "plotext": {"ui"},
    "click": {"cli"},
    "prometheus_client": {"parsing"},
}
SOURCES = sorted(PACKAGE.rglob("*.py"))


def imported_modules(path: Path) -> set[str]:
    """All modules that a file imports, at its top or inside a function."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            found.add(node.module or "")
    return found


def layer_of(path: Path) -> str:
    """`parsing` for app/specdeck/parsing/lines.py; `` for files beside the layers."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_layer_imports_only_what_lies_below(path: Path) -> None:
    layer = layer_of(path)
    for module in imported_modules(path):
        top, _, rest = module.partition(".")
        if top == "specdeck" and layer:
            target = rest.partition(".")[0]
            assert target in BESIDE | MAY_IMPORT[layer], f"{layer} imports {module}"
        if top in ONLY_IN and layer:
            assert layer in ONLY_IN[top], f"{layer} imports {module}"


def test_plotext_is_imported_in_one_file_only() -> None:
    users = [path.name for path in SOURCES if any(m.split(".")[0] == "plotext" for m in imported_modules(path))]
    assert len(users) <= 1, users


@pytest.mark.parametrize("layer", sorted(PURE))
def test_pure_layers_do_no_io_and_read_no_clock(layer: str) -> None:
    banned = {"asyncio", "socket", "subprocess", "time", "threading"}
    for path in (PACKAGE / layer).rglob("*.py"):
        assert not banned & {module.split(".")[0] for module in imported_modules(path)}, path
