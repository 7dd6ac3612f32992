"""A group of options, and a choice among them as one bit per option."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np


class OptionFlag(IntFlag):
    """Flags for the state of an option; ``picker.js`` uses the same numbers."""

    PLAIN = 0
    BOLD = 1
    """The own brand: shown in bold."""
    DIMMED = 2
    """Dimmed, such as an engine that is not configured."""
    DISABLED = 4
    """Shown, but cannot be chosen: the API has no such filter value."""
    STALE = 8
    """Chosen earlier, and no longer offered."""


class Option(NamedTuple):
    """One option: value, label, detail, note and flags."""

    value: Any
    label: str | None = None
    detail: str = ""
    note: str = ""
    mark: OptionFlag = OptionFlag.PLAIN


@dataclass(frozen=True)
class OptionGroup:
    """Options of one kind, of which one or several can be chosen.

    Parameters
    ----------
    name
        The name of the choice in Python.
    title
        The title for people.
    options
        The options; of equal values the first is used.
    one
        Whether exactly one is chosen.
    empty
        The text for an empty choice; ``{}`` is replaced by the number of options.
    rows
        The most rows shown without scrolling.
    """

    name: str
    title: str
    options: tuple[Option, ...]
    one: bool = False
    empty: str = "none chosen: all {}"
    rows: int = 8

    def __post_init__(self) -> None:
        first: dict[Any, Option] = {}
        for option in self.options:
            first.setdefault(option.value, option)
        object.__setattr__(self, "options", tuple(first.values()))

    @cached_property
    def places(self) -> dict[Any, int]:
        """The index of each value."""
        return {option.value: at for at, option in enumerate(self.options)}

    @cached_property
    def marks(self) -> np.ndarray:
        """The flags of each option, as numbers."""
        marks = (option.mark for option in self.options)
        return np.fromiter(marks, np.uint8, len(self.options))

    @cached_property
    def values(self) -> frozenset[Any]:
        """The values that can be chosen."""
        can = np.flatnonzero(self.marks & OptionFlag.DISABLED == 0)
        return frozenset(self.options[at].value for at in can.tolist())

    def among(self, chosen: Iterable[Any], mark: OptionFlag) -> tuple[Any, ...]:
        """The values of a choice whose options have a flag."""
        return tuple(value for value in chosen if self.marks[self.places[value]] & mark)

    @property
    def offered(self) -> int:
        """Count the options that can be chosen and are still offered."""
        return int(np.count_nonzero(self.marks & (OptionFlag.DISABLED | OptionFlag.STALE) == 0))

    def bits(self, chosen: Iterable[Any]) -> bytes:
        """Encode a choice, one bit per option, the first in the lowest bit."""
        flags = np.zeros(len(self.options), dtype=np.uint8)
        flags[[self.places[value] for value in chosen]] = 1
        return np.packbits(flags, bitorder="little").tobytes()

    def chosen(self, bits: bytes) -> tuple[Any, ...]:
        """Decode a choice, in the order of the options; disabled ones are ignored."""
        flags = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")
        taken = flags[: len(self.options)] & (self.marks & OptionFlag.DISABLED == 0)
        return tuple(self.options[at].value for at in np.flatnonzero(taken))

    def sent(self) -> dict[str, Any]:
        """Encode the group for ``picker.js``, column by column."""
        values = [option.value for option in self.options]
        labels = _distinct_labels([str(option.label or option.value) for option in self.options])
        details = [option.detail for option in self.options]
        return {
            "name": self.name,
            "title": self.title,
            "one": self.one,
            "empty": self.empty,
            "rows": self.rows,
            "values": values,
            "labels": None if labels == values else labels,
            "details": details if any(details) else None,
            "notes": [option.note for option in self.options],
            "marks": self.marks.tobytes(),
        }


def with_stale(
    options: Sequence[Option], chosen: Iterable[Any], words: str = "{}"
) -> tuple[Option, ...]:
    """The options, preceded by chosen values that are not among them."""
    there = {option.value for option in options}
    gone = (
        Option(value, words.format(value), note="no longer offered", mark=OptionFlag.STALE)
        for value in chosen
        if value not in there
    )
    return (*gone, *options)


def _distinct_labels(labels: Sequence[str]) -> list[str]:
    """Labels, escaped to ASCII where two look the same and are not equal."""
    if all(map(str.isascii, labels)):
        return list(labels)
    looks = [unicodedata.normalize("NFC", label) for label in labels]
    shared = {look for look, count in Counter(looks).items() if count > 1}
    return [
        ascii(label)[1:-1] if look in shared else label
        for look, label in zip(looks, labels, strict=True)
    ]
