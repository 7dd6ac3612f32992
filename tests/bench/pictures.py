"""Contact sheets of the pictures of the demonstration, to be looked at one by one.

``python tests/bench/pictures.py FOLDER [--theme dark] [--only WORD]`` draws the picture of every
table, of the verbs of statistics, and of the options of ``df.aa.plot``, and pastes them into
numbered sheets. A picture that is refused is listed with the reason.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from PIL import Image, ImageDraw

import aatoolkit as aa
from aatoolkit.errors import AAToolkitError

Drawing = tuple[str, Callable[[], Any]]
_COLUMNS, _ROWS, _WIDTH, _CAPTION = 2, 3, 760, 18


def tables(data: aa.Dataset) -> Iterator[Drawing]:
    """The default picture of every table."""
    for section in data.values():
        for name, frame in section.items():
            yield name, frame.aa.plot


def options(data: aa.Dataset) -> Iterator[Drawing]:
    """Pictures with arguments."""
    trend = data["overview"]["overview_trend"]
    engines = data["overview"]["overview_engines"]
    brands = data["overview"]["overview_top_brands"]
    daily = data["conversions"]["conversion_daily"]
    domains = data["domains"]["source_domains"]
    prompts = data["prompts"]["prompts"]
    calls: list[tuple[str, pd.DataFrame, dict[str, Any]]] = [
        ("kind=bars", engines, {"kind": "bars"}),
        ("color= over time", daily, {"x": "date", "y": "sessions", "color": "engine"}),
        ("lines by engine", daily, {"kind": "line", "y": "sessions", "color": "engine", "top": 4}),
        ("several y", trend, {"y": ["mention_rate", "share_of_voice"]}),
        (
            "bars color=",
            domains,
            {"x": "source_domain", "y": "citation_count", "color": "domain_type"},
        ),
        ("bars of a rate by topic", prompts, {"x": "topic", "y": "mention_rate"}),
        (
            "rate by topic and intent",
            prompts,
            {"x": "topic", "y": "mention_rate", "color": "intent"},
        ),
        ("facet lines", daily, {"x": "date", "y": "sessions", "facet": "engine"}),
        ("facet bars", prompts, {"x": "topic", "y": "mention_rate", "facet": "intent"}),
        ("figsize", brands, {"figsize": (4, 3)}),
        ("palette", brands, {"palette": "#7d4f8e"}),
        ("positions", brands, {"kind": "bars", "y": "average_position"}),
        ("title", trend, {"title": "What the boss wants to read, in a title that is rather long"}),
    ]
    for name, frame, arguments in calls:
        yield name, lambda frame=frame, arguments=arguments: frame.aa.plot(**arguments)
    yield "ax=, three at once", lambda: _on_axes([trend, engines, daily])
    weekly = aa.demo().read("overview", split="engine", days=90)["overview_trend"]
    yield "weeks by engine", lambda: weekly.aa.plot("line", color="engine", freq="W")
    yield "months", lambda: weekly.aa.plot("line", y="answer_count", color="engine", freq="MS")
    two = aa.concat([trend.assign(host="a.example"), trend.assign(host="b.example")])
    yield "two hosts", two.aa.plot


def statistics(data: aa.Dataset) -> Iterator[Drawing]:
    """Pictures of results of statistics."""
    project = aa.demo()
    prompts, chats = data["prompts"]["prompt_engines"], data["chats"]["chat_mentions"]
    overview = data["overview"]
    yield "interval", lambda: overview["overview_engines"].aa.interval("mention_rate").aa.plot()
    yield "rank", lambda: prompts.aa.rank("mentioned", by="engine").aa.plot()
    yield (
        "concentration",
        lambda: data["domains"].main.aa.concentration("citation_count").aa.plot(),
    )
    yield "changes", lambda: overview["overview_trend"].aa.changes("mention_rate").aa.plot()
    yield "aggregate", lambda: prompts.aa.aggregate("engine").aa.plot()
    yield "chats", lambda: chats.aa.aggregate("brand").aa.plot()
    yield (
        "by engine",
        lambda: project.read("prompts", split="engine").main.aa.plot(
            x="topic", y="mention_rate", color="engine"
        ),
    )


def _on_axes(frames: list[pd.DataFrame]) -> Any:
    _, axes = plt.subplots(1, len(frames), figsize=(5 * len(frames), 4), layout="constrained")
    for frame, ax in zip(frames, axes, strict=True):
        frame.aa.plot(ax=ax)
    return axes[0]


def sheets(drawings: list[Drawing], folder: Path, theme: str | None) -> list[str]:
    """Draw everything into sheets; return what was refused."""
    tiles, refused = [], []
    for name, draw in drawings:
        try:
            axes = draw()
        except (AAToolkitError, TypeError) as error:
            refused.append(f"{name}: {error}")
            continue
        buffer = io.BytesIO()
        axes.figure.savefig(buffer, dpi=100)
        tiles.append((name, Image.open(buffer).convert("RGB")))
        plt.close("all")
    at, count = 0, 0
    paper = "#444444" if theme == "dark" else "#dddddd"
    while at < len(tiles):
        columns: list[list[tuple[str, Image.Image]]] = [[] for _ in range(_COLUMNS)]
        heights = [0] * _COLUMNS
        while at < len(tiles) and min(heights) < _ROWS * 420:
            column = heights.index(min(heights))
            name, image = tiles[at]
            image = image.resize((_WIDTH, round(image.height * _WIDTH / image.width)))
            columns[column].append((name, image))
            heights[column] += image.height + _CAPTION + 8
            at += 1
        sheet = Image.new("RGB", (_COLUMNS * (_WIDTH + 8), max(heights)), paper)
        for place, column_tiles in enumerate(columns):
            top = 0
            for name, image in column_tiles:
                ImageDraw.Draw(sheet).text((place * (_WIDTH + 8) + 4, top + 3), name, fill="red")
                sheet.paste(image, (place * (_WIDTH + 8), top + _CAPTION))
                top += image.height + _CAPTION + 8
        count += 1
        sheet.save(folder / f"sheet_{count:02}.png")
    return refused


def main() -> None:
    """Write the sheets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--theme")
    parser.add_argument("--only", help="only pictures with this in their name")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    data = aa.demo().read_all(days=30, progress=False)
    drawings = [*tables(data), *options(data), *statistics(data)]
    if chosen.only:
        drawings = [each for each in drawings if chosen.only in each[0]]
    with plt.style.context("dark_background" if chosen.theme == "dark" else "default"):
        refused = sheets(drawings, chosen.folder, chosen.theme)
    sys.stdout.write("\n".join(["refused:", *refused, ""]))


if __name__ == "__main__":
    main()
