"""Answers kept in memory, to be normalised again: to explain a number, or to unpickle tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

from aatoolkit.errors import AAToolkitWarning
from aatoolkit.metadata.column import Source
from aatoolkit.payload import Payload

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.normalizer.tables import Tables

_HELD = 1 << 22
"""The largest body, in bytes, that the frames made of an answer hold on to by themselves."""


@dataclass(frozen=True, eq=False)
class AnswerAtHand:
    """An answer in memory, and how it was normalised.

    A large answer is not kept for the sake of its frames: it is at hand as long as anybody holds
    its `Payload`, such as the tables it was read into.

    Parameters
    ----------
    source : Source
        Which answer it is.
    answer : callable
        Gives the answer; None once nobody holds it.
    read : callable
        Reads it as it was read.
    """

    source: Source
    answer: Callable[[], Payload | bytes | str | None]
    read: Callable[[Any], Tables]

    @property
    def payload(self) -> Payload | None:
        """The answer as it was fetched; None where it was not, or nobody holds it."""
        found = self.answer()
        return found if isinstance(found, Payload) else None

    @property
    def body(self) -> bytes | None:
        """The answer's bytes; None once nobody holds them."""
        found = self.answer()
        if isinstance(found, Payload):
            return found.body
        return found.encode() if isinstance(found, str) else found

    def tables(self) -> Tables | None:
        """The answer's tables, normalised again; None once nobody holds the answer."""
        found = self.answer()
        if found is None:
            return None
        return quietly(self.read, found)


def quietly(read: Callable[..., Tables], answer: Any, **how: Any) -> Tables:
    """Read an answer again, without the warnings that were given already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AAToolkitWarning)
        return read(answer, **how)


def at_hand(answer: Any, source: Source, read: Callable[[Any], Tables]) -> list[AnswerAtHand]:
    """Hold the answer if it is bytes, text or a payload; other objects may have changed."""
    if isinstance(answer, Payload) and len(answer.body) > _HELD:
        return [AnswerAtHand(source, ref(answer), read)]
    if isinstance(answer, Payload | bytes | str):
        return [AnswerAtHand(source, lambda: answer, read)]
    return []


_FACTS = ("rows", "declaration", "drafted")
_HIDDEN = {"words": "_words", "provenance": "_provenance"}
_LISTINGS = ("words", "extra", "availability", "drift", "hints", "provenance")


def reduced(tables: Tables) -> tuple[Callable[..., Tables], tuple[Any, ...]]:
    """What a pickle of tables holds.

    Returns
    -------
    tuple
        How the tables are made again: of the answer, if it is there, as it was read, beside the
        frames that were built; else of all frames and listings.
    """
    held = tables._parts.held[0] if tables._parts.held else None
    answer = held.answer() if held else None
    if held is not None and answer is not None:
        return _read_again, (held.read, answer, tables._frames)
    facts = {name: getattr(tables, name) for name in _FACTS}
    listings = {name: getattr(tables, _HIDDEN.get(name, name)) for name in _LISTINGS}
    return _without_answer, (tables.section, dict(tables), facts, listings)


def _read_again(
    read: Callable[[Any], Tables], answer: Any, frames: Mapping[str, pd.DataFrame]
) -> Tables:
    tables = quietly(read, answer)
    # A frame that nobody changed is made again, so that its numbers can be explained as before.
    changed = {name: frame for name, frame in frames.items() if not frame.equals(tables[name])}
    tables._frames.update(changed)
    return tables


def _without_answer(
    section: str,
    frames: Mapping[str, pd.DataFrame],
    facts: Mapping[str, Any],
    listings: Mapping[str, Any],
) -> Tables:
    from aatoolkit.normalizer.tables import Tables

    made: dict[str, Any] = {name: partial(listings.__getitem__, name) for name in listings}
    return Tables(
        section, {name: partial(frames.__getitem__, name) for name in frames}, **facts, **made
    )
