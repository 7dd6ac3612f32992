"""Contact sheets of the pictures of the demonstration, to be looked at one by one.

``python tests/bench/pictures.py FOLDER [--theme dark] [--size 6x4] [--only WORD]`` draws the
picture of every table and of results of statistics, and pastes them into numbered sheets of
twelve. A picture that is refused is listed with the reason.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from PIL import Image, ImageDraw

import aatoolkit as aa
from aatoolkit.errors import AAToolkitError

Drawing = tuple[str, Callable[..., Any]]
COLUMNS, ROWS, WIDTH, CAPTION = 3, 4, 640, 18
VERBS: tuple[tuple[str, str, str, tuple[Any, ...]], ...] = (
    ("overview", "overview_engines", "interval", ("mention_rate",)),
    ("overview", "overview_trend", "changes", ("mention_rate",)),
    ("prompts", "prompt_engines", "rank", ("mentioned", "engine")),
    ("domains", "source_domains", "concentration", ("citation_count",)),
)


def drawings(data: aa.Dataset) -> Iterator[Drawing]:
    """Everything that is drawn, with its caption."""
    for tables in data.values():
        for name, frame in tables.items():
            yield name, frame.aa.plot
    for section, table, verb, arguments in VERBS:
        call = getattr(data[section][table].aa, verb)
        yield (
            f"{table} {verb}",
            lambda call=call, positional=arguments, **more: call(*positional).aa.plot(**more),
        )


def main() -> None:
    """Draw everything, and write the sheets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--size", default="6x4", help="inches (default: %(default)s)")
    parser.add_argument("--only", default="", help="only pictures with this in their name")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    width, height = map(float, options.size.split("x"))
    tiles, refusals = [], []
    with aa.set_theme(options.theme):
        for name, draw in drawings(aa.demo().read_all(days=30, progress=False)):
            if options.only not in name:
                continue
            try:
                axes = draw(figsize=(width, height))
            except (AAToolkitError, TypeError) as error:
                refusals.append(f"{name}: {error}")
                continue
            buffer = io.BytesIO()
            axes.figure.savefig(buffer, dpi=100)
            tiles.append((name, Image.open(buffer).convert("RGB")))
            plt.close("all")
    tall = round(WIDTH * height / width) + CAPTION
    count = COLUMNS * ROWS
    for start in range(0, len(tiles), count):
        sheet = Image.new("RGB", (COLUMNS * WIDTH, ROWS * tall), "#888888")
        for place, (name, image) in enumerate(tiles[start : start + count]):
            left, top = place % COLUMNS * WIDTH, place // COLUMNS * tall
            ImageDraw.Draw(sheet).text((left + 4, top + 3), name, fill="white")
            sheet.paste(image.resize((WIDTH - 6, tall - CAPTION - 4)), (left, top + CAPTION))
        sheet.save(options.folder / f"sheet_{start // count + 1:02}.png")
    sys.stdout.write("\n".join(["refused:", *refusals, ""]))


if __name__ == "__main__":
    main()
