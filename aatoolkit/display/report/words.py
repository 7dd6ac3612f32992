"""The wording of a report, for readers who know neither Python nor JSON.

This module has the order and titles of the sections, and the tables to show for each. Its functions
convert names, units and values to plain words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from aatoolkit._util.dtypes import DTYPES
from aatoolkit._util.text import capitalized, humanize
from aatoolkit.availability import Status
from aatoolkit.display.plot.style import STATUS_WORDS, in_words
from aatoolkit.jsontree.paths import Field, Position, parse_path


class Chapter(NamedTuple):
    """How a report shows one section: its title, picture, and tables that are not collapsed.

    ``tables`` maps each table that is not collapsed to the columns to show.
    """

    title: str
    tables: Mapping[str, list[str]]
    picture: str


CHAPTERS = {
    section: Chapter(**chapter)
    for section, chapter in json.loads(
        Path(__file__).with_name("chapters.json").read_bytes()
    ).items()
}
"""The sections in reading order: title, table that is drawn, and unfolded tables with columns."""


def in_reading_order(sections: Iterable[str]) -> list[str]:
    """Return sections in the order of a report; sections that `CHAPTERS` does not list come last.

    Examples
    --------
    >>> in_reading_order(["ads", "mine", "overview"])
    ['overview', 'ads', 'mine']
    """
    return sorted(sections, key=lambda name: [*CHAPTERS, name].index(name))


def chapter_of(section: str) -> Chapter:
    """Return the `Chapter` of a section, or a default one for an unknown section.

    Examples
    --------
    >>> chapter_of("share_of_shelf").title
    'Share of shelf'
    """
    return CHAPTERS.get(section) or Chapter(capitalized(humanize(section)), {}, "")


_QUOTED = re.compile(r"`+([^`]*)`+")
_PATH = re.compile(
    r'\$(?:\.\w+|\[\d*\]|\{\}|\["[^"]*"\])+~?|\b\w+(?:\.\w+)*(?:\[\d*\]|\{\})(?:\.\w+|\[\d*\]|\{\})*'
)
_CALL = re.compile(r"; df\.aa\.[^;]*")
"""Matches advice to call a method of ``df.aa``."""
_COUNTED = re.compile(r"((?:\d|\bset of) \w+)_id\b")
"""Matches a count of identifiers, such as ``4 prompt_id``."""
_DTYPE = re.compile(r"\bFloat64\b|\bInt64\b|\bboolean\b|\blist<string>")


def plain_words(text: str) -> str:
    """Replace code, names of columns and JSON paths in a text by plain words.

    Examples
    --------
    >>> plain_words("The action; refers to `impact_actions`.")
    'The action; refers to impact actions.'
    >>> plain_words("4 prompt_id on both sides; df.aa.explain() says more")
    '4 prompts on both sides'
    >>> plain_words("as $.rows[0].hitCount, which is no Int64")
    'as “rows” › entry 1 › “hitCount”, which is no whole number'
    """
    unquoted = _COUNTED.sub(r"\1s", _CALL.sub("", text))
    unquoted = _QUOTED.sub(lambda match: humanize(match[1]), unquoted)
    unquoted = _PATH.sub(lambda match: path_words(match[0]), unquoted)
    unquoted = _DTYPE.sub(lambda match: DTYPES[match[0]].words, unquoted)
    return in_words(unquoted)


def path_words(path: str) -> str:
    """Return a JSON path in words; its list positions are counted from 1.

    Examples
    --------
    >>> path_words("$.brands[0].mentionRate")
    '“brands” › entry 1 › “mentionRate”'
    """
    steps = [
        f"“{step.name}”"
        if isinstance(step, Field)
        else f"entry {step.number + 1}"
        if isinstance(step, Position)
        else "all entries"
        for step in parse_path(path.removesuffix("~"))
    ]
    return " › ".join(steps) or "the whole response"


def state_words(state: str) -> str:
    """Return the availability of a table (whether it was measured) in plain words.

    ``state`` is the text that the ``repr`` of the table's availability shows.

    Examples
    --------
    >>> state_words("◐ partial: NOT_ASKED until Monday")
    '◐ Measured in part: not asked until Monday'
    """
    sign, _, detail = state.partition(" ")
    status = next((s for s in Status if detail.startswith(humanize(s))), Status.UNKNOWN)
    return plain_words(
        f"{sign} {capitalized(STATUS_WORDS[status])}{detail.removeprefix(humanize(status))}"
    )
