"""`python -m tests.pictures FOLDER [WORD...]`: every scene as SVG, dark and light, in three sizes; `--readme`: the README's own."""

import asyncio
import os
import sys
import time
from pathlib import Path

from tests.pictures.recorded import moment
from tests.pictures.scenes import picture, recorded_picture, scenes

SIZES = ((80, 24), (120, 40), (200, 50))
README_PICTURES = ("starting", "ready", "pivot")
RECORDED_PICTURE = "h200"
"""It comes out a little different each time: a replay looks at moments of its own."""
H200 = Path(__file__).parents[1] / "captures" / "h200_parts" / "part2" / "tape.rec.gz"
UNDER_LOAD = 1795990801.5
"""Unix seconds: the third profile serves eight streams, the two before stand in the plot."""


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
    for name in (*README_PICTURES, RECORDED_PICTURE):
        (Path(__file__).parent / f"{name}.svg").write_text(asyncio.run(readme_picture(name)), "utf-8")


async def readme_picture(name: str) -> str:
    """One of them as SVG."""
    size, theme = (120, 40), "specdeck-dark"
    if name != RECORDED_PICTURE:
        return await picture(scenes()[name], size, theme)
    state, log = await asyncio.to_thread(moment, H200, UNDER_LOAD, "llm")
    return await recorded_picture(state, log, size, theme)


if __name__ == "__main__":
    os.environ |= {"TZ": "UTC", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    time.tzset()
    if sys.argv[1:] == ["--readme"]:
        readme()
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
