"""A page as its elements and words, and an answer in which every word is hostile."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pandas as pd

import aatoolkit as aa

HOSTILE = (
    "<script>window.hacked=1</script>",
    "</style><script>window.hacked=2</script>",
    "</title><script>window.hacked=3</script>",
    "</svg></figure><img src=x onerror='window.hacked=4'>",
    "\"'><svg onload=window.hacked=5>",
    "<a href=javascript:window.hacked=6>click</a>",
    "--!><script>window.hacked=7</script><!--",
    "]]><script>window.hacked=8</script>",
    "}*{background:url(https://evil.example/x)}",
    "<iframe src=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "url(https://evil.example/y)",
    "\u202eevil",
    "$\\frac{1}{0}$",
    "&lt;b&gt;",
    "x" * 3000,
)


class Page(HTMLParser):
    """The elements of a page, each with its attributes and the text in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "wbr"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, "elements nest"

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in tags]


def hostile() -> aa.Dataset:
    """The dataset of a hostile answer, whose declaration is drawn up from it."""
    rows = [
        {"brand": words, "own": at == 0, "mentionCount": 100 - at, "note": words, words[:99]: words}
        for at, words in enumerate(HOSTILE)
    ]
    pairs = [{"brand": a, "engine": b, "n": 1} for a in HOSTILE for b in HOSTILE[:3]]
    body = {"items": rows, "pairs": pairs}
    payload = aa.Payload(
        json.dumps(body).encode(),
        fetched_at=pd.Timestamp("2026-11-20", tz="UTC").to_pydatetime(),
        host=HOSTILE[2],
        section="hostile",
        scope=aa.Scope(engine=HOSTILE[0]),
    )
    tables = aa.normalize(aa.sections.propose(body, "hostile").section, payload)
    failure = aa.errors.ServerFailed(HOSTILE[3], section=HOSTILE[0])
    return aa.Dataset({HOSTILE[1]: tables}, {HOSTILE[0]: failure})
