"""Concatenate the tables of all answers: one table each, over all hosts and scopes.

Each row has ``answer``, which refers to the table ``answers``, and host, filters and time. There
are also tables of the availability of each column, of the answers' own statements, of undeclared
values, and of drift.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from aatoolkit.errors import AAToolkitWarning, NotWritten
from aatoolkit.frame.concat import concat
from aatoolkit.frame.merge import rename
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, attach, metadata_of, stored_of
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload
from aatoolkit.sections.section import Column
from aatoolkit.study.publish.provenance_tables import (
    ABOUT,
    ANSWER,
    FACTS,
    MEASURED,
    answers_table,
    other_facts,
)
from aatoolkit.study.publish.redaction import Redaction, texts_of


@dataclass(frozen=True)
class FailedAnswer:
    """A request without a usable answer.

    Parameters
    ----------
    answer : Payload
        The answer.
    why : str
        What is wrong with it.
    """

    answer: Payload
    why: str


@dataclass(frozen=True)
class PublishedTable:
    """One table of a publication.

    Parameters
    ----------
    name
        Its name.
    doc
        What a row is, in a sentence.
    frame
        Its rows.
    section
        Its section; None for a table about the answers.
    """

    name: str
    doc: str
    frame: pd.DataFrame
    section: str | None = None

    @cached_property
    def known(self) -> FrameMetadata:
        """The metadata of its columns."""
        return metadata_of(self.frame)

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The declaration of each column; an undeclared one is a plain string column."""
        ours = {column.name: column for column in FACTS.get(self.name, ("", ABOUT))[1]}
        return {
            name: declared(column) or ours.get(name) or Column(name, "string")
            for name, column in self.known.columns.items()
        }

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The primary key; empty if it is not unique."""
        key = [*self.known.key]
        missing = not key or self.frame[key].isna().any(axis=None)
        return () if missing or self.frame.duplicated(key).any() else tuple(key)


def collect_tables(
    answers: Iterable[Tables], failures: Iterable[FailedAnswer], redact: str | Iterable[str]
) -> tuple[list[PublishedTable], Redaction]:
    """Build all tables of a publication, in a fixed order, after redaction.

    Raises
    ------
    NotWritten
        If a column to leave out does not exist.

    Warns
    -----
    AAToolkitWarning
        If text that is left out of one column is also in another.
    """
    read = sorted(answers, key=lambda tables: _order(_payload(tables)))
    failed = sorted(failures, key=lambda failure: _order(failure.answer))
    numbered = dict(enumerate(read, 1))
    names: dict[str, str] = {}
    for tables in sorted(read, key=lambda tables: tables.section):
        names |= dict.fromkeys(tables, tables.section)
    metadata = {
        (n, name): metadata_of(tables[name]) for n, tables in numbered.items() for name in tables
    }
    first_of = {n: metadata[n, next(iter(tables))] for n, tables in numbered.items()}
    answered = answers_table(
        [
            *((_payload(tables), first_of[n], None) for n, tables in numbered.items()),
            *((failure.answer, FrameMetadata(), failure.why) for failure in failed),
        ]
    )
    whole = [
        PublishedTable(
            name,
            _doc(numbered.values(), section, name),
            _stacked(name, section, numbered, metadata, answered),
            section,
        )
        for name, section in names.items()
    ]
    facts = {"answers": answered, **other_facts(numbered, metadata)}
    whole += [PublishedTable(name, FACTS[name][0], frame) for name, frame in facts.items()]
    dtypes = {each.name: _dtypes(each.frame) for each in whole}
    redaction = Redaction.of(redact, dtypes)
    quoting = {
        section
        for section in names.values()
        if redaction.hides_texts_of(
            {name: dtypes[name] for name in names if names[name] == section}
        )
    }
    silent = {name: section for name, section in names.items() if section in quoting}
    left = [_redacted(each, redaction, silent) for each in whole]
    _warn_of_copies(whole, left, by_name=redaction.names)
    return left, redaction


def _payload(tables: Tables) -> Payload:
    if tables.payload is None:
        raise NotWritten(f"the tables of {tables.section} do not say which answer they are of")
    return tables.payload


def _order(answer: Payload) -> tuple[str, ...]:
    """The sort key of an answer: its request, then its time."""
    scope = "" if answer.scope is None else answer.scope.to_query()
    parts = (answer.host, answer.section, scope, answer.fetched_at.isoformat(), answer.sha256)
    return tuple(part or "" for part in parts)


def _doc(answers: Iterable[Tables], section: str, table: str) -> str:
    """Describe a row of a table; empty for an undeclared table."""
    found = (each.declaration for each in answers if each.section == section and table in each)
    return next((one[table].doc for one in found if one is not None), "")


def _stacked(
    name: str,
    section: str,
    numbered: Mapping[int, Tables],
    metadata: Mapping[tuple[int, str], FrameMetadata],
    answered: pd.DataFrame,
) -> pd.DataFrame:
    """Concatenate one table of all answers that have it, with host, filters and time."""
    parts = {
        number: tables[name]
        for number, tables in numbered.items()
        if tables.section == section and name in tables
    }
    rows = concat(parts.values(), ignore_index=True)
    places = np.repeat([number - 1 for number in parts], [len(part) for part in parts.values()])
    context = answered[[ANSWER.name, *CONTEXT]].take(places).reset_index(drop=True)
    taken = {str(name): f"{name}_" for name in rows if name in context}
    rows = rename(rows, columns=taken) if taken else rows
    known, made = metadata_of(rows), stored_of(rows)[0]
    keys = {metadata[number, name].key for number in parts}
    own = keys.pop() if len(keys) == 1 else ()
    unique = ("_row",) if "_row" in rows else tuple(taken.get(key, key) for key in own)
    return attach(
        pd.concat([context, rows], axis=1),
        FrameMetadata(
            {**dict.fromkeys(map(str, context), MEASURED), **known.columns},
            (ANSWER.name, *unique) if unique else (),
            made.sources,
            recipe=made.recipe,
        ),
    )


def _dtypes(frame: pd.DataFrame) -> dict[str, str]:
    return {str(name): str(dtype) for name, dtype in frame.dtypes.items()}


def _redacted(
    table: PublishedTable, redaction: Redaction, silent: Mapping[str, str]
) -> PublishedTable:
    """Drop from a table the columns left out, and notes that may quote them.

    Parameters
    ----------
    table
        The table.
    redaction
        The columns left out.
    silent
        The tables of the sections that may quote them, each with its section.
    """
    frame, known = table.frame, table.known
    if table.name in ("statements", "extra", "drift"):
        frame = frame[~frame["section"].isin({*silent.values()})].reset_index(drop=True)
    if table.name == "availability":
        frame = frame.assign(reason=frame["reason"].mask(frame["table"].isin({*silent})))
    if table.name == "answers" and redaction.requested:
        # An error message may quote anything.
        frame = frame.assign(error=frame["error"].mask(frame["error"].notna(), "left out"))
        frame = frame.drop(
            columns=[name for name in frame if redaction.hides_of_answers(str(name))]
        )
    if frame is not table.frame:
        known = replace(known, columns={name: known.columns[name] for name in frame.columns})
        frame = attach(frame, known)
    rest = redaction.applied(table.name, frame, silent=table.name in silent)
    return replace(table, frame=rest)


def _warn_of_copies(
    whole: Iterable[PublishedTable], left: Iterable[PublishedTable], by_name: Collection[str]
) -> None:
    """Warn if text that is left out of one column is also in another.

    Of columns left out as ``texts``, only longer texts count: the title of a page may be just
    the name of a brand.
    """
    hidden: set[str] = set()
    for before, after in zip(whole, left, strict=True):
        for name in {*before.frame.columns} - {*after.frame.columns}:
            texts = texts_of(before.frame[name])
            named = not {name, f"{before.name}.{name}"}.isdisjoint(by_name)
            hidden |= texts if named else {word for word in texts if word.count(" ") > 2}
    places = [
        f"{table.name}.{name}"
        for table in (left if hidden else ())
        for name in table.frame.columns
        if not hidden.isdisjoint(texts_of(table.frame[name]))
    ]
    if places:
        warnings.warn(
            f"text that is left out is also in {', '.join(places)}; leave that out too",
            AAToolkitWarning,
            stacklevel=4,
        )
