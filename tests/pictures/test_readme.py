"""The pictures of the README are what the dashboard draws now: `python -m tests.pictures --readme` makes them anew."""

import html
import re
from pathlib import Path

import pytest
from tests.pictures.__main__ import README_PICTURES, RECORDED_PICTURE, readme_picture

from specdeck.ui.commands import readme_table

HERE = Path(__file__).parent
README = HERE.parents[1] / "README.md"


@pytest.mark.parametrize("name", README_PICTURES)
async def test_the_picture_is_what_the_dashboard_draws(name: str) -> None:
    drawn = await readme_picture(name)
    assert (HERE / f"{name}.svg").read_text("utf-8") == drawn
    assert drawn.count("://") == 2  # the namespace, and who made the SVG


async def test_the_recorded_picture_shows_what_the_dashboard_draws_of_that_moment() -> None:
    kept, drawn = (HERE / f"{RECORDED_PICTURE}.svg").read_text("utf-8"), await readme_picture(RECORDED_PICTURE)
    for picture in (kept, drawn):
        texts = html.unescape(" ".join(re.findall(r"<text [^>]*>([^<]*)</text>", picture))).replace("\xa0", " ")
        assert texts.count("ready") >= 3
        assert texts.count("pivot") >= 2
        assert all(words in texts for words in ("READY", "eagle3-v2", "NVIDIA H200", "131/140G", "speculation v2"))
        assert re.search(r"1,5\d\d tok/s", texts)


def test_the_readme_tells_every_key() -> None:
    assert readme_table().strip() in README.read_text("utf-8")


def test_the_readme_shows_them() -> None:
    assert all(
        f"tests/pictures/{name}.svg" in README.read_text("utf-8") for name in (*README_PICTURES, RECORDED_PICTURE)
    )
