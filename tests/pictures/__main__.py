"""`python -m tests.pictures FOLDER [WORD...]`: every scene as SVG, dark and light, in three sizes; `--readme`: the README's own."""

import asyncio
import os
import sys
import time
from pathlib import Path

from tests.pictures.scenes import picture, scenes

SIZES = ((80, 24), (120, 40), (200, 50))
README_PICTURES = ("starting", "ready", "pivot")


def main(folder: Path, wanted: list[str]) -> None:
    """Write all pictures whose scene, size or theme is wanted."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, scene in scenes().items():
        for width, height in SIZES:
            for theme in ("dark", "light"):
                path = folder / f"{name}-{width}x{height}-{theme}.svg"
                if all(word in path.name for word in wanted):
                    path.write_text(asyncio.run(picture(scene, (width, height), f"specdeck-{theme}")), "utf-8")
                    print(path)


def readme() -> None:
    """Write those that README.md shows, beside this file."""
    for name in README_PICTURES:
        drawn = asyncio.run(picture(scenes()[name], (120, 40), "specdeck-dark"))
        (Path(__file__).parent / f"{name}.svg").write_text(drawn, "utf-8")


if __name__ == "__main__":
    os.environ |= {"TZ": "UTC", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    time.tzset()
    if sys.argv[1:] == ["--readme"]:
        readme()
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
