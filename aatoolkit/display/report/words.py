"""The wording of a report, for readers who know neither Python nor JSON.

This module has the order and titles of the sections, and the tables to show for each. Its functions
convert names, units and values to plain words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from aatoolkit._util.dtypes import DTYPES
from aatoolkit._util.text import capitalize, humanize
from aatoolkit.availability import Status
from aatoolkit.display.plot.style import WORDS_BY_STATUS, humanize_identifiers
from aatoolkit.jsontree.paths import Field, Position, parse_path


class Chapter(NamedTuple):
    """How a report shows one section of the API.

    - ``title``: the heading.
    - ``tables``: maps the name of each table that is not collapsed to the columns to show.
    - ``picture``: the name of the table that is drawn as a picture.
    """

    title: str
    tables: Mapping[str, list[str]]
    picture: str


CHAPTER_BY_SECTION = {
    section: Chapter(**chapter)
    for section, chapter in json.loads(
        Path(__file__).with_name("chapters.json").read_bytes()
    ).items()
}
"""How a report shows each section, by the name of the section, in reading order."""


def find_chapter(section: str) -> Chapter:
    """Return how a report shows a section; an unknown section gets a title made of its name.

    Examples
    --------
    >>> find_chapter("share_of_shelf").title
    'Share of shelf'
    """
    return CHAPTER_BY_SECTION.get(section) or Chapter(capitalize(humanize(section)), {}, "")


_QUOTED_PATTERN = re.compile(r"`+([^`]*)`+")
_JSON_PATH_PATTERN = re.compile(
    r'\$(?:\.\w+|\[\d*\]|\{\}|\["[^"]*"\])+~?|\b\w+(?:\.\w+)*(?:\[\d*\]|\{\})(?:\.\w+|\[\d*\]|\{\})*'
)
_CALL_ADVICE_PATTERN = re.compile(r"; df\.aa\.[^;]*")
"""Matches advice to call a method of ``df.aa``."""
_ID_COUNT_PATTERN = re.compile(r"((?:\d|\bset of) \w+)_id\b")
"""Matches a number of identifiers, such as ``4 prompt_id``; group 1 lacks ``_id``."""
_DTYPE_PATTERN = re.compile(r"\bFloat64\b|\bInt64\b|\bboolean\b|\blist<string>")


def to_plain_words(text: str) -> str:
    """Replace code, names of columns and JSON paths in a text by plain words.

    Examples
    --------
    >>> to_plain_words("The action; refers to `impact_actions`.")
    'The action; refers to impact actions.'
    >>> to_plain_words("4 prompt_id on both sides; df.aa.explain() says more")
    '4 prompts on both sides'
    >>> to_plain_words("as $.rows[0].hitCount, which is no Int64")
    'as “rows” › entry 1 › “hitCount”, which is no whole number'
    """
    plain_text = _ID_COUNT_PATTERN.sub(r"\1s", _CALL_ADVICE_PATTERN.sub("", text))
    plain_text = _QUOTED_PATTERN.sub(lambda match: humanize(match[1]), plain_text)
    plain_text = _JSON_PATH_PATTERN.sub(lambda match: describe_path(match[0]), plain_text)
    plain_text = _DTYPE_PATTERN.sub(lambda match: DTYPES[match[0]].words, plain_text)
    return humanize_identifiers(plain_text)


def describe_path(json_path: str) -> str:
    """Return a JSON path in words; list positions are counted from 1.

    Examples
    --------
    >>> describe_path("$.brands[0].mentionRate")
    '“brands” › entry 1 › “mentionRate”'
    """
    steps = [
        f"“{step.name}”"
        if isinstance(step, Field)
        else f"entry {step.index + 1}"
        if isinstance(step, Position)
        else "all entries"
        for step in parse_path(json_path.removesuffix("~"))
    ]
    return " › ".join(steps) or "the whole response"


def describe_availability(availability_text: str) -> str:
    """Return the availability of a table (whether it was measured) in plain words.

    ``availability_text`` is the text that the ``repr`` of the table's availability shows.

    Examples
    --------
    >>> describe_availability("◐ partial: NOT_ASKED until Monday")
    '◐ Measured in part: not asked until Monday'
    """
    symbol, _, detail = availability_text.partition(" ")
    status = next(
        (
            candidate_status
            for candidate_status in Status
            if detail.startswith(humanize(candidate_status))
        ),
        Status.UNKNOWN,
    )
    return to_plain_words(
        f"{symbol} {capitalize(WORDS_BY_STATUS[status])}{detail.removeprefix(humanize(status))}"
    )
