"""`python -m tests.pictures FOLDER [SCENE...]`: the pictures as SVG, dark and light, in three sizes."""

import asyncio
import sys
from pathlib import Path

from tests.pictures.scenes import picture, scenes

SIZES = ((80, 24), (120, 40), (200, 50))


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


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
