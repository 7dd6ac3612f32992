"""Contact sheets of the pictures of the demonstration, to be looked at one by one.

``python tests/bench/pictures.py FOLDER [--theme dark] [--size 6x4] [--only WORD]`` draws the
picture of every table and of results of statistics, and pastes them into numbered sheets of
twelve. A picture that is refused is listed with the reason. With ``--service URL TOKEN HOST`` the
tables are those that a draft reads from another service.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from PIL import Image, ImageDraw, ImageOps

import aatoolkit as aa
from aatoolkit.errors import AAToolkitError

Drawing = tuple[str, Callable[..., Any]]
COLUMNS, SHEET, WIDTH, CAPTION = 3, 12, 640, 18
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
        if table not in data[section]:
            continue
        call = getattr(data[section][table].aa, verb)
        yield (
            f"{table} {verb}",
            lambda call=call, positional=arguments, **more: call(*positional).aa.plot(**more),
        )


def read_service(url: str, token: str, host: str) -> aa.Dataset:
    """All sections of a host, read with a profile that is drafted from its own responses."""
    project = aa.Client(url, token, cache=False).project(host)
    draft = aa.profile.draft(project, progress=False)
    draft.confirm().ask(lambda _: "y", lambda _: None)
    project = aa.Client(url, token, cache=False, profile=draft.profile()).project(host)
    return project.read_all(days=30, progress=False)


def paste(tiles: list[tuple[str, Image.Image]]) -> Image.Image:
    """One sheet with a dozen pictures, each scaled to the width of its column."""
    heights = [
        CAPTION + max(image.height for _, image in tiles[start : start + COLUMNS])
        for start in range(0, len(tiles), COLUMNS)
    ]
    sheet = Image.new("RGB", (COLUMNS * WIDTH, sum(heights)), "#888888")
    for place, (name, image) in enumerate(tiles):
        left, top = place % COLUMNS * WIDTH, sum(heights[: place // COLUMNS])
        ImageDraw.Draw(sheet).text((left + 4, top + 3), name, fill="white")
        sheet.paste(image, (left, top + CAPTION))
    return sheet


def main() -> None:
    """Draw everything, and write the sheets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--size", help="inches, such as 6x4 (default: as high as it needs)")
    parser.add_argument("--service", nargs=3, metavar=("URL", "TOKEN", "HOST"))
    parser.add_argument("--only", default="", help="only pictures with this in their name")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    size = tuple(map(float, options.size.split("x"))) if options.size else None
    if options.service:
        data = read_service(*options.service)
    else:
        data = aa.demo().read_all(days=30, progress=False)
    tiles, refusals = [], []
    with aa.set_theme(options.theme):
        for name, draw in drawings(data):
            if options.only not in name:
                continue
            try:
                axes = draw(figsize=size)
            except (AAToolkitError, TypeError) as error:
                refusals.append(f"{name}: {error}")
                continue
            buffer = io.BytesIO()
            axes.figure.savefig(buffer, dpi=100)
            image = Image.open(buffer).convert("RGB")
            tiles.append((name, ImageOps.contain(image, (WIDTH - 6, 10 * WIDTH))))
            plt.close("all")
    for number, start in enumerate(range(0, len(tiles), SHEET), 1):
        paste(tiles[start : start + SHEET]).save(options.folder / f"sheet_{number:02}.png")
    sys.stdout.write("\n".join(["refused:", *refusals, ""]))


if __name__ == "__main__":
    main()
