"""Pictures as inline SVG, with the page's colours and searchable text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from xml.etree import ElementTree

import pandas as pd

from aatoolkit._util.numbers import number as format_number
from aatoolkit.display.plot.axes import Picture
from aatoolkit.display.plot.data import plot_data
from aatoolkit.display.plot.draw import picture_of
from aatoolkit.display.plot.style import LIGHT
from aatoolkit.display.report.grid import element, text

NumberLink = Callable[[Picture, int, str, str, str], str]
"""From a picture, the position of a row, a column, the row's name and the number to HTML."""

_MOST_CHARACTERS = 700

_COLOURS = {
    LIGHT[name]: f"var(--{name})" for name in ("ink", "muted", "grid", "paper", "lack", "hatch")
}
"""Colours that follow the theme of the page."""

_COLOUR = re.compile("|".join(_COLOURS))
_FONT = re.compile(r"font-family:[^;]*;? ?")
_REFERENCE = re.compile(r"url\(#([\w.-]+)\)")
_LINK = re.compile(r'href="#([^"]+)"')
_DROPPED = ("metadata", "style", "title", "desc")


def drawn(frame: pd.DataFrame, name: str, link: NumberLink | None = None) -> str:
    """The figure of a frame with its caption; empty if it has no picture.

    Parameters
    ----------
    frame
        The frame.
    name
        What ids begin with.
    link
        Makes of a number of the caption a link to its evidence.
    """
    picture = picture_of(frame)
    if picture is None:
        return ""
    finding = caption(picture, link)
    label = element("figcaption", finding, id=f"{name}-caption")
    return element("figure", f"{_svg(picture, name)}\n{label}")


@dataclass(frozen=True)
class DrawnNumber:
    """A number that a picture shows: the position of its row, its column, the row's name."""

    row: int
    column: str
    label: str
    value: float


def caption(picture: Picture, link: NumberLink | None) -> str:
    """The finding of a picture, in which the numbers of marks are links to their evidence."""
    finding = picture.finding
    numbers = {} if link is None or picture.panel is None else _numbers(picture)
    if link is None or not numbers or len(finding) > _MOST_CHARACTERS:
        return text(finding, _MOST_CHARACTERS)
    words = "|".join(map(re.escape, sorted(numbers, key=len, reverse=True)))
    parts, end = [], 0
    for match in re.finditer(
        rf"(?<![\w.,−-])(?:{words})(?![\w.,%]|\.\d| of | times| cells)", finding
    ):
        mark = _meant(numbers[match[0]], finding[: match.start()])
        if mark is not None:
            shown = link(picture, mark.row, mark.column, mark.label, match[0])
            parts += [text(finding[end : match.start()], _MOST_CHARACTERS), shown]
            end = match.end()
    return "".join([*parts, text(finding[end:], _MOST_CHARACTERS)])


def _numbers(picture: Picture) -> dict[str, list[DrawnNumber]]:
    """The numbers that a picture shows, as they are written."""
    found: dict[str, list[DrawnNumber]] = {}
    marks = picture.panel.drawn if picture.panel else None
    if marks is None or marks.counts:
        return found
    data = plot_data(marks.frame, traced=False)
    labels = data.text(marks.labels[0]) if marks.labels else [""] * len(data)
    for column in marks.columns:
        if data.kinds.get(column) != "number":
            continue
        values, units = data.values(column), data.units(column)
        for row, (value, unit) in enumerate(zip(values.tolist(), units, strict=True)):
            if value == value:
                number = DrawnNumber(row, column, labels[row], value)
                found.setdefault(format_number(value, unit), []).append(number)
    return found


def _meant(numbers: list[DrawnNumber], before: str) -> DrawnNumber | None:
    """The number that is meant where several are written alike; None if that is not sure."""
    words = before.rstrip(" :,")
    named = [one for one in numbers if one.label and one.label in words[-60:]]
    if len(numbers) == 1 or len(named) == 1:
        return (named or numbers)[0]
    by_word = {
        "from": lambda: numbers[0],
        "to": lambda: numbers[-1],
        "between": lambda: min(numbers, key=lambda one: one.value),
        "and": lambda: max(numbers, key=lambda one: one.value),
    }
    choose = by_word.get(words.rpartition(" ")[2])
    return choose() if choose and not named else None


def _svg(picture: Picture, name: str) -> str:
    """The picture's SVG with unique ids, the page's colours, and no active content."""
    written = picture.svg(name)
    root = ElementTree.fromstring(written)
    _clean(root, name, {*_REFERENCE.findall(written), *_LINK.findall(written)})
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-caption")
    return ElementTree.tostring(root, encoding="unicode")


def _clean(node: ElementTree.Element, name: str, used: set[str]) -> None:
    node.tag = node.tag.rpartition("}")[2]
    node.text, node.tail = _words(node), None
    attributes = dict(node.attrib)
    node.attrib.clear()
    for key, value in attributes.items():
        key = key.rpartition("}")[2]
        if key == "id":
            if value in used:
                node.set("id", f"{name}-{value}")
        elif key == "href":
            node.set("href", value.replace("#", f"#{name}-", 1) if value[0] == "#" else value)
        elif key not in ("version", "width", "height") or node.tag != "svg":
            value = _REFERENCE.sub(rf"url(#{name}-\1)", _FONT.sub("", value))
            node.set(key, _COLOUR.sub(lambda found: _COLOURS[found[0]], " ".join(value.split())))
    for child in list(node):
        if child.tag.rpartition("}")[2] in _DROPPED:
            node.remove(child)
            continue
        _clean(child, name, used)
        if child.tag in ("g", "defs") and not len(child) and not child.get("id"):
            node.remove(child)


def _words(node: ElementTree.Element) -> str | None:
    return node.text if node.tag in ("text", "tspan") else None
