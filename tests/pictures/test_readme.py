"""The pictures of the README are what the dashboard draws now: `python -m tests.pictures --readme` makes them anew."""

from pathlib import Path

import pytest
from tests.pictures.__main__ import README_PICTURES
from tests.pictures.scenes import picture, scenes

from specdeck.ui.commands import readme_table

HERE = Path(__file__).parent
README = HERE.parents[1] / "README.md"


@pytest.mark.parametrize("name", README_PICTURES)
async def test_the_picture_is_what_the_dashboard_draws(name: str) -> None:
    drawn = await picture(scenes()[name], (120, 40), "specdeck-dark")
    assert (HERE / f"{name}.svg").read_text("utf-8") == drawn
    assert drawn.count("://") == 2  # the namespace, and who made the SVG


def test_the_readme_tells_every_key() -> None:
    assert readme_table().strip() in README.read_text("utf-8")


def test_the_readme_shows_them() -> None:
    assert all(f"tests/pictures/{name}.svg" in README.read_text("utf-8") for name in README_PICTURES)
