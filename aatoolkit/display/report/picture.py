"""Pictures as inline SVG, with the page's colours and searchable text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

import pandas as pd

from aatoolkit.display.plot.canvas import Picture, svg_of
from aatoolkit.display.plot.draw import picture_of
from aatoolkit.display.plot.style import GRID, INK, MUTED, PAPER, UNMEASURED_FILL
from aatoolkit.display.report.markup import element, text

_COLOURS = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--grid)",
    PAPER: "var(--paper)",
    str(UNMEASURED_FILL["facecolor"]): "var(--lack)",
    str(UNMEASURED_FILL["edgecolor"]): "var(--hatch)",
}
"""Colours that follow the theme of the page."""

_COLOUR = re.compile("|".join(_COLOURS))
_FONT = re.compile(r"font-family:[^;]*;? ?")
_REFERENCE = re.compile(r"url\(#([\w.-]+)\)")
_LINK = re.compile(r'href="#([^"]+)"')
_DROPPED = ("metadata", "style", "title", "desc")


def drawn(frame: pd.DataFrame, name: str, kinds: Iterable[str] = ()) -> str:
    """The figure of a frame with its caption; empty if its picture is of another kind."""
    picture = picture_of(frame, kinds)
    if picture is None:
        return ""
    finding = text(picture.finding, 700)
    label = element("figcaption", finding, id=f"{name}-caption")
    return element("figure", f"{_svg(picture, name)}\n{label}")


def _svg(picture: Picture, name: str) -> str:
    """The picture's SVG with unique ids, the page's colours, and no active content."""
    written = svg_of(picture, name)
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
