"""Pickles and copies of `Tables`: the answer and the frames that were built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from aatoolkit.normalizer.reread import quietly

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.normalizer.tables import Tables

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

    parts: dict[str, Any] = {**facts}
    parts |= {name: partial(listings.__getitem__, name) for name in listings}
    return Tables(section, {name: partial(frames.__getitem__, name) for name in frames}, **parts)
