"""Section and response to tables: the pure step between a body and DataFrames.

A response that its declaration does not fit at all is read by a draft, made of the response itself.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from aatoolkit import sections
from aatoolkit.availability.detect import Hint, Signal, detect, raw
from aatoolkit.errors import ArgumentError, PayloadError, SchemaDriftWarning
from aatoolkit.jsontree.decode import decode, gc_paused, read_document
from aatoolkit.jsontree.layout import MAX_FIELDS, MAX_NODES, Census
from aatoolkit.jsontree.paths import Field, is_within, leaves, parse_pattern
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.metadata import attrs
from aatoolkit.normalizer.column_availability import (
    INFERRED,
    denies,
    in_words,
    is_silent,
    signal_table,
)
from aatoolkit.normalizer.columns import BuiltTable
from aatoolkit.normalizer.provenance import provenance
from aatoolkit.normalizer.rows import (
    DriftReport,
    TableRows,
    Walk,
    field_map,
    listing,
    plans,
    untaken,
)
from aatoolkit.normalizer.tables import ResponseAtHand, TableParts, Tables, quietly
from aatoolkit.payload import NO_CONTENT, Payload, window_of
from aatoolkit.scope import ScopeOptions
from aatoolkit.sections import Profile, Section
from aatoolkit.sections.inference.analysis import outline
from aatoolkit.sections.profile import ProfileSource
from aatoolkit.sections.registry import qualifier
from aatoolkit.sections.section import ENVELOPE

if TYPE_CHECKING:
    import pandas as pd

OWNER = "draft"
"""The name, in metadata, of the profile that a drafted declaration is of."""

_BACKENDS = ("numpy_nullable", "pyarrow")

_MANY_KEYS = 20_000
"""Objects of more keys take many times the room of their bytes, and are not kept for ``extra``."""

_SILENT = "empty without a reason: perhaps nothing was measured, so it is not read as zero"
_NOTHING: tuple[Any, ...] = (None, MISSING, "", [], {})
_WATCHED = "the profile names this place as perhaps about availability, and no rule reads it"

_warned: dict[Any, Any] = {}
"""Where Python keeps that the warning of drafts was given."""


@gc_paused()
def normalize(
    section: str | Section,
    response: Payload | bytes | str | Mapping[str, Any] | list[Any],
    *,
    profile: ProfileSource | None = None,
    strict: bool = False,
    dtype_backend: str = "numpy_nullable",
    options: ScopeOptions | None = None,
    max_nodes: int = MAX_NODES,
) -> Tables:
    """Normalise the response of one section to tidy tables, without a network.

    Column names, their order and dtypes depend on the section, never on the response. What
    no column takes is in ``.extra``; where response and declaration differ is in ``.drift``.

    A response that the shipped declaration does not fit at all, or of a section that the profile
    lacks, is read by a draft made of that very response, with the service's own names: its rows
    are in tables, units and rules of aggregation are open.

    Parameters
    ----------
    section : str
        The section's name, or a declaration of one's own.
    response : Payload, bytes, str, dict or list
        The response, as it came or decoded.
    profile : Profile, module, str or path, optional
        What is known of the service; the default profile, `aa.sections.default_profile`, if left
        out.
    strict : bool
        Whether drift is an error.
    dtype_backend : {"numpy_nullable", "pyarrow"}
        The kind of dtypes, as in pandas.
    options : ScopeOptions, optional
        The scope options of the project: they name engines that could not report.
    max_nodes : int
        How many different JSON paths the response may have values at.

    Returns
    -------
    Tables
        One DataFrame a table, built on first access.

    Raises
    ------
    ScopeError
        If there is no such section.
    DecodeError
        If the response is not one JSON document.
    PayloadError
        If ``strict`` and it drifted, with every problem; or if the response is no JSON value.
        `PayloadError` if it has more different paths than are allowed.

    Warns
    -----
    SchemaDriftWarning
        Once a process, if a response was read by a draft.
    SchemaDriftWarning
        Once, if the response drifted.
    SchemaDriftWarning
        If a word of availability in the response is not understood; it is read as unknown, and kept
        verbatim. A `Rule` of the declaration can define what it means.

    Examples
    --------
    >>> from aatoolkit.sections import Column, Section, Table, records
    >>> columns = (Column("brand", "string"), Column("mention_count", "Int64"))
    >>> table = Table("brands", "One row per brand.", records("brands"), "brand", columns)
    >>> response = {"brands": [{"brand": "Acme", "mentionCount": 0}]}
    >>> normalize(Section("mine", "Brands.", table), response).main["mention_count"].tolist()
    [0]
    """
    if dtype_backend not in _BACKENDS:
        raise ArgumentError(
            f"dtype_backend={dtype_backend!r} is not known; use 'numpy_nullable' or 'pyarrow'",
            argument="dtype_backend",
        )
    reader = _Reader(strict, dtype_backend, options, max_nodes)
    loaded = sections.default_profile() if profile is None else Profile.load(profile)
    owner = f"profile {OWNER}" if loaded.name == OWNER else loaded.name
    if isinstance(section, Section):
        return reader.read(response, section, "own" if profile is None else owner)
    declared = loaded.section(section) if profile is None else loaded.get(section)
    if declared is not None:
        is_tentative = declared.name in loaded.tentative and not strict
        return reader.read(response, declared, owner, is_tentative)
    draft = _draft_of(response, section, None)
    if draft is not None:
        return reader.read(response, draft, OWNER)
    default = sections.default_profile()
    if section not in default:
        problem = f"nothing in this response of {section} can be made a table"
        raise PayloadError(problem, section=section, problems=[problem])
    return reader.read(response, default[section], default.name)


@dataclass(frozen=True)
class _Reader:
    """How responses are read: the parameters of `normalize`."""

    strict: bool
    backend: str
    options: ScopeOptions | None
    max_nodes: int

    def read(
        self,
        response: Any,
        declared: Section,
        owner: str,
        is_tentative: bool = False,
        is_kept: bool = False,
    ) -> Tables:
        """Read a response by a declaration, or by a draft of its own where that does not fit."""

        def survey(value: Any, is_exact: bool) -> tuple[tuple[Vector, Walk], int]:
            document, walk = Vector([value]), Walk(Census(self.max_nodes, is_exact))
            walk.visit(document, field_map(declared))
            return (document, walk), walk.census.keys

        body, facts = response, {"section": declared.name}
        about: dict[str, Any] = {"options": self.options}
        if isinstance(response, Payload):
            body = response.body or (b"null" if response.status in NO_CONTENT else b"")
            facts = {
                name: getattr(response, name) for name in ("url", "status", "section", "scope")
            }
            about |= {"status": response.status, "headers": response.headers}
        elif not isinstance(response, bytes | str | Mapping | list):
            raise PayloadError(
                f"a {type(response).__name__} is no response; give a Payload, bytes, text, dict or "
                "list",
                section=declared.name,
                problems=[f"{type(response).__name__} @ $"],
            )
        body = dict(body) if isinstance(body, Mapping) else body
        document, walk = read_document(body, survey, **facts)
        census, value = walk.census, document.values[0]
        stating = value if census.most_keys <= MAX_FIELDS else _abridged(value)
        detection = detect(
            stating, declared.availability, vector=document if stating is value else None, **about
        )
        signals, before = detection.signals, qualifier(declared, owner)
        source, report = _source(declared, response, value), DriftReport()
        is_error = is_silent(declared, value, signals)
        if is_error:
            report.keep(document, range(1), "error response")
            document = Vector([{}])
        rows = [TableRows(document, plan) for plan in plans(declared)]
        built = {
            of.table.name: BuiltTable(of, f"{before}{of.table.name}", signals, source, report)
            for of in rows
        }
        for untaken_values in untaken(rows):
            report.keep(*untaken_values)
        for table in built.values():
            table.check_key(report)
        if is_error:
            report.differences.clear()
        else:
            report.extend(walk.report)
        if is_tentative and not is_error and census.most_keys <= MAX_FIELDS:
            draft = None
            if not _fits(built.values(), report, signals):
                draft = _draft_of(response, declared.name, declared)
            if draft is not None:
                return self.read(response, draft, OWNER)
        if owner != OWNER:
            report.raise_or_warn(declared, self.strict)
        else:  # once a process, as Python's filters have it
            warnings.warn_explicit(
                "this service is new to aatoolkit: its tables and columns have the names that they "
                "have in its responses, and few numbers have a unit or can be summed; draft a "
                "profile and read with it: aa.profile.draft(project), or aatoolkit profile draft",
                SchemaDriftWarning,
                __file__,
                1,
                __name__,
                _warned,
            )
        again = partial(replace(self, strict=False).read, declared=declared, owner=owner)
        # Other objects may have changed.
        is_fixed = isinstance(response, Payload | bytes | str)
        held = [ResponseAtHand(source, response, again)] if is_fixed else []

        @cache
        def kept() -> Tables:
            return quietly(again, response, is_kept=True)

        is_released = bool(held) and not is_kept and census.keys > _MANY_KEYS
        if is_released:
            for table in built.values():
                table.release()
            report.kept.clear()
            del document, rows

        def rows_of_tables() -> dict[str, TableRows]:
            return kept()._parts.rows() if is_released else dict(zip(built, rows, strict=True))

        def places() -> Any:
            if is_released:
                return kept()._provenance
            return provenance(document, [*built.values()], report.extra)

        parts = TableParts(built, rows_of_tables, signals, held)
        return Tables(
            declared.name,
            {name: partial(table.frame, self.backend, held) for name, table in built.items()},
            rows={name: table.size for name, table in built.items()},
            payload=response if isinstance(response, Payload) else None,
            declaration=declared,
            drafted=owner == OWNER,
            prefix=before,
            parts=parts,
            words=lambda: {name: in_words(t.metadata, signals) for name, t in built.items()},
            availability=lambda: signal_table(signals),
            hints=lambda: _hint_table([*_hints(declared, response, signals), *detection.hints]),
            drift=report.drift_frame,
            extra=lambda: kept().extra if is_released else report.extra_frame(),
            provenance=places,
        )


def _source(declared: Section, response: Any, document: Any) -> attrs.Source:
    start, end = window_of(document)
    if not isinstance(response, Payload):
        host = document.get("domain") if isinstance(document, Mapping) else None
        host = host if isinstance(host, str) else None
        return attrs.Source(host, declared.name, window_start=start, window_end=end)
    return attrs.Source(
        response.host,
        declared.name,
        None if response.scope is None else response.scope._to_query(),
        response.url,
        response.fetched_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        response.sha256,
        response.stale,
        start,
        end,
    )


def _abridged(value: Any) -> Any:
    """Shorten objects to the envelope and the `MAX_FIELDS` keys that most in their array have."""
    if isinstance(value, dict):
        return _abridged([value])[0]
    if not isinstance(value, list):
        return value
    keys = Counter(chain.from_iterable(o for o in value if isinstance(o, dict)))
    common = {*ENVELOPE, *dict(keys.most_common(MAX_FIELDS))}
    return [
        {key: _abridged(item) for key, item in o.items() if key in common}
        if isinstance(o, dict)
        else _abridged(o)
        for o in value
    ]


# --- hints -----------------------------------------------------------------------------------


def _hint_table(hints: list[Hint]) -> pd.DataFrame:
    by_path = {hint.path: [*vars(hint).values()] for hint in hints}
    return listing(("path", "value", "why"), by_path.values())


def _hints(section: Section, response: Any, signals: list[Signal]) -> Iterator[Hint]:
    """Yield hints of the values at the watched paths; of many rows, the rarest value.

    Also where a response without rows states nothing: it may not have been measured.
    """
    if not section.watched and not section.emptied:
        return
    document = Vector([response.json if isinstance(response, Payload) else decode(response)])
    is_unstated = all(signal.rule == INFERRED for signal in signals)
    for path in section.emptied if is_unstated else ():
        steps = parse_pattern(path) if path != "$" else ()
        value = document.descend([step for step in steps if isinstance(step, Field)]).values[0]
        if value != "" and value in _NOTHING:
            evidence = raw(None if value is MISSING else value)
            yield Hint("$" if path == "$" else f"$.{path}", evidence, _SILENT)
    read = [signal.path for signal in signals if signal.path not in ("", "$")]
    for watched in section.watched:
        place = document.descend(parse_pattern(watched))
        texts = {
            row: repr(value) for row, value in enumerate(place.values) if value not in _NOTHING
        }
        counts = Counter(texts.values())
        for row in sorted(texts, key=lambda row: counts[texts[row]])[:1]:
            path = place.path(row)
            if not any(is_within(path, other) or is_within(other, path) for other in read):
                yield Hint(path, raw(place.values[row]), _WATCHED)


# --- drafts ----------------------------------------------------------------------------------


def _fits(tables: Iterable[BuiltTable], report: DriftReport, signals: Iterable[Signal]) -> bool:
    """Whether a declaration describes a response at all.

    It is not if most of its values are in no column, and it does not state that there is nothing
    to report. A main table in which at least half of the columns have values settles it.
    """
    filled = ([t.size - t.array(name).null_count for name in t.table.names] for t in tables)
    main = next(filled)
    if any(main) and 2 * sum(map(bool, main)) >= len(main):
        return True
    if any(signal.scope == "section" and denies(signal) for signal in signals):
        return True
    unread = (leaves(value, "") for value, _, _ in report.values("new", "wrong type"))
    texts = [text for _, text in chain.from_iterable(unread) if text not in ("null", "{}", "[]")]
    return bool(len(texts) <= sum(main) + sum(map(sum, filled)))


def _draft_of(response: Any, name: str, declared: Section | None) -> Section | None:
    """Draft a declaration of a section from one response, with the service's own names.

    None if the response holds no records, or nothing that can be made a table. An availability
    rule that is known is kept; units and rules of aggregation are open.
    """
    if isinstance(response, Payload) and (not response.body or response.status >= 400):
        return None
    try:
        drawn = outline(response, name)
    except PayloadError:
        return None
    if declared is not None and all(table.rows.one for table in drawn):
        return None
    tables = []
    for table in drawn:
        described = (
            replace(c, doc=f"Drafted from this response: {c.pattern or 'the response'}.")
            for c in table.columns
        )
        tables.append(replace(table, columns=tuple(described)))
    rule = None if declared is None else declared.availability
    doc = "Drafted from this response; units and aggregation rules are open."
    return Section(drawn.name, doc, *tables, kept=drawn.kept, availability=rule)
