"""Files for the tests of the configuration: a fleet with its surroundings, alone in a folder."""

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from specdeck.config.fleet import load_fleet
from specdeck.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Desk:
    """The current folder of a user who has nothing configured yet."""

    folder: Path

    def write(self, name: str, text: str) -> Path:
        """Write a file, its text without the indent of the test."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), "utf-8")
        return path

    def problems(self, fleet: str) -> list[str]:
        """What is wrong with this fleet file, `file` left out: `line:column: key: what`."""
        self.write("fleet.yaml", fleet)
        with pytest.raises(ConfigError) as caught:
            load_fleet(None)
        return [line.removeprefix("fleet.yaml:") for line in str(caught.value).splitlines()]
