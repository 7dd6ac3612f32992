"""Redaction: columns that are left out of a publication, and everything that may quote them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from aatoolkit.errors import NotWritten, did_you_mean, near_matches
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.attrs import FrameMetadata, Source, attach, metadata_of
from aatoolkit.scope import FILTERS

TEXTS = "texts"
"""The group of all text columns: prompts, answers, and notes on them."""

_WORDS = frozenset(
    {
        *("answer_text", "excerpt", "prompt", "query", "term", "text", "title"),
        *("headline", "body", "what", "why", "recommendation", "detail", "delivery_text"),
    }
)

_NEEDED = frozenset({"response", "section", "fetched_at"})
"""The columns that identify responses, and cannot be left out."""

_FIXED = frozenset({"availability", "statements", "extra", "drift"})
"""The tables whose columns are only left out as ``table.column``: their names are common."""


@dataclass(frozen=True)
class Redaction:
    """The columns that are left out.

    Parameters
    ----------
    everywhere
        The columns that are left out of every table.
    of_tables
        The columns, as ``table.column``, that are left out of one.
    requested
        The arguments, sorted.
    """

    everywhere: frozenset[str] = frozenset()
    of_tables: frozenset[str] = frozenset()
    requested: tuple[str, ...] = ()

    @classmethod
    def of(cls, redact: str | Iterable[str], dtypes: Mapping[str, Mapping[str, str]]) -> Redaction:
        """Parse the arguments that name what is left out.

        Parameters
        ----------
        redact
            Names of columns, ``table.column``, or the group ``texts``. The name of a filter
            also stands for the column ``filter_<name>``.
        dtypes
            The dtypes of the columns of each table.

        Raises
        ------
        NotWritten
            If there is no such column: a typing error must not publish what is private.
        """
        words = sorted({redact} if isinstance(redact, str) else {*redact})
        names = {name for table in {*dtypes} - _FIXED for name in dtypes[table]} - _NEEDED
        names |= {*FILTERS}
        full = {(t, c) for t, found in dtypes.items() for c in found if c not in _NEEDED}
        everywhere: set[str] = set()
        of_tables: set[str] = set()
        for word in words:
            if word == TEXTS:
                of_tables |= {
                    f"{t}.{c}" for t, c in full if c in _WORDS and _holds_words(dtypes[t][c])
                }
            elif word in names:
                everywhere |= {word, f"filter_{word}"}
            elif tuple(word.split(".", 1)) in full:
                of_tables.add(word)
            else:
                known = [TEXTS, *sorted(names), *sorted(f"{t}.{c}" for t, c in full)]
                hint = did_you_mean(near_matches(word, known), "check its spelling")
                raise NotWritten(f"there is no column {word!r} to leave out; {hint}")
        return cls(frozenset(everywhere), frozenset(of_tables), tuple(words))

    @property
    def names(self) -> frozenset[str]:
        """The columns that were given by name."""
        return self.everywhere | {name for name in self.of_tables if name in self.requested}

    def hides(self, table: str, column: str) -> bool:
        """Whether a column of a table is left out."""
        everywhere = column in self.everywhere and table not in _FIXED
        return everywhere or f"{table}.{column}" in self.of_tables

    def hides_texts_of(self, tables: Mapping[str, Collection[str]]) -> bool:
        """Whether the notes of a section are left out: they may quote a column that is.

        Parameters
        ----------
        tables
            The columns of each table of the section.
        """
        return (
            TEXTS in self.requested
            or any(name in self.everywhere for name in CONTEXT)
            or any(self.hides(table, name) for table, found in tables.items() for name in found)
        )

    def source(self, source: Source) -> Source:
        """Remove from a source the facts that are left out."""
        hidden = {name for name in vars(source) if self.hides_of_responses(name)}
        return Source(**{name: fact for name, fact in vars(source).items() if name not in hidden})

    def hides_of_responses(self, fact: str) -> bool:
        """Whether a fact about responses is left out, or a column that reveals it."""
        scope = {*CONTEXT} - {"host", "fetched_at"}
        revealing = {"host": {"host"}, "scope": scope, "url": {"url", "host", *scope}}
        return any(self.hides("responses", name) for name in revealing.get(fact, {fact}))

    def applied(self, table: str, frame: pd.DataFrame, *, silent: bool) -> pd.DataFrame:
        """Drop the columns left out of a frame; with ``silent``, also all reasons."""
        if not self.requested:
            return frame
        known = metadata_of(frame)
        kept = [name for name in map(str, frame.columns) if not self.hides(table, name)]
        columns = {
            name: replace(column, availability=replace(column.availability, reason=None))
            if silent
            else column
            for name, column in known.columns.items()
            if name in kept
        }
        key = tuple(name for name in known.key if name in kept)
        sources = tuple(self.source(source) for source in known.sources)
        rest = frame[kept].copy(deep=False)
        return attach(rest, FrameMetadata(columns, key, sources))


def texts_of(column: pd.Series) -> set[str]:
    """The texts of a column, also those within lists."""
    if not _holds_words(str(column.dtype)):
        return set()
    words = column.dropna()
    if str(column.dtype).startswith("list<"):
        words = words.astype("object").explode().dropna()
    return {word for word in words.unique() if isinstance(word, str)}


def _holds_words(dtype: str) -> bool:
    return dtype in ("string", "category") or dtype.startswith("list<")
