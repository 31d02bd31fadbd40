"""The wheel: a real one is built, unpacked and asked for what it ships."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
ASK = """\
import sys
sys.path.insert(0, sys.argv[1])
from specdeck.config import places
from specdeck.cli.main import run
assert places.shipped("themes").is_relative_to(sys.argv[1])
sys.exit(run(["profiles", "eagle3-v2"]))
"""


def test_wheel_ships_the_profiles_and_themes(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=TOP, check=True, capture_output=True, timeout=120)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    shipped = tmp_path / "site/specdeck/shipped"
    assert {path.name for path in (shipped / "profiles").glob("*.yaml")} == {
        p.name for p in (TOP / "profiles").glob("*.yaml")
    }
    assert {path.name for path in (shipped / "themes").glob("*.yaml")} == {
        p.name for p in (TOP / "themes").glob("*.yaml")
    }
    asked = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path / "site")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout.startswith("env SGLANG_ENABLE_SPEC_V2=True")
