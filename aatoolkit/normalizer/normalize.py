"""Section and answer to tables: the pure step between a body and DataFrames."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from aatoolkit import sections
from aatoolkit.availability.detect import Detection, FullDocument, detect
from aatoolkit.errors import PayloadError, ScopeError
from aatoolkit.jsontree.decode import gc_paused, read_document
from aatoolkit.jsontree.layout import MAX_NODES, Survey
from aatoolkit.jsontree.vectors import MAX_FIELDS, Vector
from aatoolkit.metadata import attrs
from aatoolkit.normalizer.abridge import abridge, longest_list, shortened
from aatoolkit.normalizer.column_availability import (
    hint_table,
    in_words,
    is_silent,
    signal_table,
)
from aatoolkit.normalizer.columns import BuiltTable
from aatoolkit.normalizer.draft import OWNER, attempt, draft_of, fits, resolve, warn_of_draft
from aatoolkit.normalizer.drift import DriftReport, collect_unmapped, raise_or_warn
from aatoolkit.normalizer.field_map import field_map
from aatoolkit.normalizer.in_parts import MANY_KEYS, BuiltAnswer, in_parts
from aatoolkit.normalizer.masking import denies_any
from aatoolkit.normalizer.provenance import provenance
from aatoolkit.normalizer.reread import AnswerAtHand, at_hand, quietly
from aatoolkit.normalizer.rows import TableRows, left_out, plans, unread
from aatoolkit.normalizer.tables import TableParts, Tables
from aatoolkit.normalizer.to_pandas import check_backend, to_frame
from aatoolkit.normalizer.watched_paths import watched_hints
from aatoolkit.payload import NO_CONTENT, Payload, window_of
from aatoolkit.scope import ScopeOptions
from aatoolkit.sections import Profile, Section
from aatoolkit.sections.profile import ProfileSource
from aatoolkit.sections.registry import qualifier

if TYPE_CHECKING:
    import pandas as pd


@gc_paused()
def normalize(
    section: str | Section,
    answer: Payload | bytes | str | Mapping[str, Any] | list[Any],
    *,
    profile: ProfileSource | None = None,
    strict: bool = False,
    dtype_backend: str = "numpy_nullable",
    options: ScopeOptions | None = None,
    envelope: Collection[str] = (),
    max_nodes: int = MAX_NODES,
) -> Tables:
    """Normalise the answer of one section to tidy tables, without a network.

    Column names, their order and dtypes depend on the section, never on the answer. What
    no column takes is in ``.extra``; where answer and declaration differ is in ``.drift``.

    An answer that the shipped declaration does not fit at all, or of a section that the profile
    lacks, is read by a draft made of that very answer, with the service's own names: its rows
    are in tables, units and rules of aggregation are open.

    Parameters
    ----------
    section : str
        The section's name, or a declaration of one's own.
    answer : Payload, bytes, str, dict or list
        The answer, as it came or decoded.
    profile : Profile, module, str or path, optional
        What is known of the service; the default profile, `aa.sections.default_profile`, if left
        out.
    strict : bool
        Whether drift is an error.
    dtype_backend : {"numpy_nullable", "pyarrow"}
        The kind of dtypes, as in pandas.
    options : ScopeOptions, optional
        The scope options of the project: they name engines that could not report.
    envelope : collection of str
        The paths that most sections share, where several answers were compared.
    max_nodes : int
        How many different JSON paths the answer may have values at.

    Returns
    -------
    Tables
        One DataFrame a table, built on first access.

    Raises
    ------
    ScopeError
        If there is no such section.
    DecodeError
        If the answer is not one JSON document.
    PayloadError
        If ``strict`` and it drifted, with every problem; or if the answer is no JSON value.
        `PayloadError` if it has more different paths than are allowed.

    Warns
    -----
    DraftWarning
        Once a process, if an answer was read by a draft.
    SchemaDriftWarning
        Once, if the answer drifted.
    SchemaDriftWarning
        If a word of availability in the answer is not understood; it is read as unknown, and kept
        verbatim. A `Rule` of the declaration can define what it means.

    Examples
    --------
    >>> from aatoolkit.sections import Column, Section, Table, records
    >>> columns = (Column("brand", "string"), Column("mention_count", "Int64"))
    >>> table = Table("brands", "One row per brand.", records("brands"), "brand", columns)
    >>> answer = {"brands": [{"brand": "Acme", "mentionCount": 0}]}
    >>> normalize(Section("mine", "Brands.", table), answer).main["mention_count"].tolist()
    [0]
    """
    if not isinstance(section, str | Section):
        raise ScopeError(
            f"section is a {type(section).__name__}; give the name of a section, or a Section",
            parameter="section",
        )
    check_backend(dtype_backend)
    given = partial(
        _read,
        answer,
        strict=strict,
        backend=dtype_backend,
        options=options,
        envelope=envelope,
        max_nodes=max_nodes,
    )
    known = None if profile is None else Profile.load(profile)
    declared, tentative, owner = resolve(section, known)
    if declared is None:
        name = section if isinstance(section, str) else section.name
        draft = draft_of(answer, name, None)
        if draft is not None:
            return given(draft, OWNER)
        shipped = sections.default_profile()
        if name not in shipped:
            problem = f"nothing in this answer of {name} can be made a table"
            raise PayloadError(problem, section=name, problems=[problem])
        return given(shipped[name], shipped.name)
    drafts = partial(draft_of, answer, declared.name, declared) if tentative else None
    return given(declared, owner, drafts=None if strict else drafts)


def _read(
    answer: Any,
    declared: Section,
    owner: str,
    *,
    strict: bool,
    backend: str,
    options: ScopeOptions | None,
    envelope: Collection[str],
    max_nodes: int,
    drafts: Callable[[], Section | None] | None = None,
    whole: bool = False,
) -> Tables:
    """Normalise an answer by a declaration, or by a draft of its own where that does not fit."""
    payload = answer if isinstance(answer, Payload) else None
    before = qualifier(declared, owner)
    detected = partial(_detect, payload, declared, options, envelope)
    source_of = partial(_source, declared, payload)
    how = answer, declared, before, max_nodes, detected, source_of
    reading = (None if whole else in_parts(*how)) or _at_once(*how)
    built, report, detection, source = reading[:4]
    signals = detection.signals
    again = partial(_read, backend=backend, options=options, envelope=envelope, max_nodes=max_nodes)
    if reading.is_error:
        report.differences.clear()
    elif drafts is not None:
        settled = reading.most_keys > MAX_FIELDS or fits(built.values(), report, signals)
        draft = None if settled else drafts()
        drafted = None
        if draft is not None:
            drafted = attempt(partial(again, answer, draft, OWNER, strict=strict))
        if drafted is not None:
            return drafted
    if owner == OWNER:
        warn_of_draft()
    else:
        raise_or_warn(declared, report, strict)
    again = partial(again, declared=declared, owner=owner, strict=False)
    held = at_hand(answer, source, again)
    extra: Callable[[], pd.DataFrame] = report.extra_frame
    document = reading.document
    origins: Callable[[], Any] = dict
    find_rows: Callable[[], Any] = dict
    if document is not None:
        origins = partial(provenance, document, declared, [*built.values()])
        find_rows = partial(dict, {name: table.rows for name, table in built.items()})
    if document is None or (held and not whole and reading.keys > MANY_KEYS):
        # The objects of a long answer take many times the room of its bytes.
        reread = cache(partial(quietly, again, answer, whole=True))
        extra, origins = (lambda: reread().extra), (lambda: reread()._provenance)
        find_rows = partial(_rows_of, reread)
        report.kept.clear()
        for table in built.values() if document is not None else ():
            table.release()
    return Tables(
        declared.name,
        {name: partial(_frame, table, backend, held) for name, table in built.items()},
        rows={name: table.arrow.num_rows for name, table in built.items()},
        words=lambda: {name: in_words(table.metadata, signals) for name, table in built.items()},
        extra=extra,
        availability=partial(signal_table, signals),
        hints=partial(hint_table, detection, partial(watched_hints, declared, answer, signals)),
        drift=report.drift_frame,
        provenance=origins,
        payload=payload,
        declaration=declared,
        drafted=owner == OWNER,
        prefix=before,
        parts=TableParts(built, find_rows, detection, report, held),
    )


def _at_once(
    answer: Any,
    declared: Section,
    before: str,
    max_nodes: int,
    detected: Callable[..., Detection],
    source: Callable[[Any], attrs.Source],
) -> BuiltAnswer:
    """Read an answer as a whole."""
    document, survey = _surveyed(declared, answer, max_nodes)
    value = document.value(0)
    has_many = survey.most_keys > MAX_FIELDS
    detection = detected(document, survey.keys > MANY_KEYS, has_many, document)
    signals, origin = detection.signals, source(value)
    report = DriftReport()
    is_error = is_silent(declared, value, signals)
    if is_error:
        report.keep(document, range(1), "no answer")
        document = Vector.of({})
    may_deny = denies_any(signals)
    rows = [TableRows(document, plan) for plan in plans(declared)]
    built = {}
    for table in rows:
        name = table.table.name
        built[name] = BuiltTable(table, before, signals, origin, report, may_deny)
        built[name].check_key(report)
    for table in rows:
        for place, rows_there in table.unplaced():
            report.keep(place, rows_there, "known")
    for place, rows_there in left_out(rows):
        report.keep(place, rows_there, "left out")
    for place, rows_there in unread(rows):
        if len(rows_there):
            path = place.path(int(rows_there[0])).removeprefix("$").removeprefix(".")
            report.record_values(place, rows_there, "new", path)
    collect_unmapped(document, declared, report)
    return BuiltAnswer(
        built, report, detection, origin, survey.keys, survey.most_keys, document, is_error
    )


def _detect(
    payload: Payload | None,
    declared: Section,
    options: ScopeOptions | None,
    envelope: Collection[str],
    document: Vector,
    is_long: bool,
    has_many_keys: bool,
    rest: Any,
) -> Detection:
    """Detect what an answer states about its availability: in its body, status and headers."""
    transport: dict[str, Any] = {}
    if payload is not None:
        transport = {"status": payload.status, "headers": payload.headers}
    value, whole = document.value(0), None
    path = longest_list(value) if is_long else ()
    if path:
        value, whole = shortened(value, path), FullDocument(rest, path)
    if has_many_keys:
        value = abridge(value, field_map(declared))
    return detect(
        value,
        declared.availability,
        options=options,
        envelope=envelope,
        whole=whole,
        **transport,
    )


def _surveyed(section: Section, answer: Any, max_nodes: int) -> tuple[Vector, Survey]:
    """Decode an answer, and count what it has."""

    def survey(value: Any) -> tuple[tuple[Vector, Survey], int]:
        document, counts = Vector.of(value), Survey(max_nodes)
        counts.walk(document, field_map(section))
        return (document, counts), counts.keys

    if isinstance(answer, Payload):
        facts = {"url": answer.url, "status": answer.status}
        facts |= {"section": answer.section, "scope": answer.scope}
        body = answer.body or (b"null" if answer.status in NO_CONTENT else b"")
        return read_document(body, survey, **facts)
    if isinstance(answer, Mapping):
        answer = dict(answer)
    if isinstance(answer, bytes | str | dict | list):
        return read_document(answer, survey, section=section.name)
    raise PayloadError(
        f"a {type(answer).__name__} is no answer; give a Payload, bytes, text, dict or list",
        section=section.name,
        problems=[f"{type(answer).__name__} @ $"],
    )


def _source(section: Section, payload: Payload | None, document: Any) -> attrs.Source:
    start, end = window_of(document)
    if payload is None:
        stated = document.get("domain") if isinstance(document, Mapping) else None
        host = stated if isinstance(stated, str) else None
        return attrs.Source(host, section.name, window_start=start, window_end=end)
    return attrs.Source(
        payload.host,
        section.name,
        None if payload.scope is None else payload.scope.to_query(),
        payload.url,
        _instant(payload.fetched_at),
        payload.sha256,
        payload.stale,
        start,
        end,
    )


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _rows_of(read: Callable[[], Tables]) -> dict[str, TableRows]:
    return read()._parts.rows


def _frame(table: BuiltTable, dtype_backend: str, held: list[AnswerAtHand]) -> pd.DataFrame:
    frame = to_frame(table.arrow, dtype_backend)
    return attrs.attach_later(frame, lambda: table.metadata, table.key, table.arrow, held)
