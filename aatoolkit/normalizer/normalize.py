"""Section and answer to tables: the pure step between a body and DataFrames."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from aatoolkit import sections
from aatoolkit.availability.detect import Detection, FullDocument, Signal, detect
from aatoolkit.errors import PayloadError, ScopeError
from aatoolkit.jsontree.chunks import Cut, NotInParts, cut
from aatoolkit.jsontree.decode import BOM, gc_paused, is_exact, read_document
from aatoolkit.jsontree.layout import MAX_FIELDS, MAX_NODES, Census, Inexact
from aatoolkit.jsontree.paths import (
    Each,
    Entries,
    Field,
    Named,
    format_path,
    parse_path,
    parse_pattern,
)
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.metadata import attrs
from aatoolkit.normalizer.column_availability import (
    denies,
    hint_table,
    in_words,
    is_silent,
    signal_table,
)
from aatoolkit.normalizer.columns import BuiltTable, joined
from aatoolkit.normalizer.detecting import (
    MANY_KEYS,
    abridge,
    longest_list,
    shortened,
    watched_hints,
)
from aatoolkit.normalizer.draft import (
    OWNER,
    attempt,
    draft_of,
    fits,
    has_values,
    resolve,
    warn_of_draft,
)
from aatoolkit.normalizer.provenance import provenance
from aatoolkit.normalizer.reread import AnswerAtHand, at_hand, quietly
from aatoolkit.normalizer.rows import TablePlan, TableRows, plans, untaken
from aatoolkit.normalizer.tables import TableParts, Tables
from aatoolkit.normalizer.to_pandas import check_backend, to_frame
from aatoolkit.normalizer.walk import DriftReport, field_map, walk
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
    SchemaDriftWarning
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
    reader = _Reader(strict, dtype_backend, options, envelope, max_nodes)
    declared, tentative, owner = resolve(
        section, None if profile is None else Profile.load(profile)
    )
    if declared is None:
        name = section if isinstance(section, str) else section.name
        draft = draft_of(answer, name, None)
        if draft is not None:
            return reader.read(answer, draft, OWNER)
        shipped = sections.default_profile()
        if name not in shipped:
            problem = f"nothing in this answer of {name} can be made a table"
            raise PayloadError(problem, section=name, problems=[problem])
        return reader.read(answer, shipped[name], shipped.name)
    drafts = None
    if tentative and not strict:
        drafts = partial(draft_of, answer, declared.name, declared)
    return reader.read(answer, declared, owner, drafts)


class _Read(NamedTuple):
    """What was read of an answer; its document is None where it is no longer there."""

    tables: dict[str, BuiltTable]
    report: DriftReport
    detection: Detection
    source: attrs.Source
    census: Census
    document: Vector | None = None
    is_error: bool = False


@dataclass(frozen=True)
class _Reader:
    """How answers are read: the parameters of `normalize`."""

    strict: bool
    backend: str
    options: ScopeOptions | None
    envelope: Collection[str]
    max_nodes: int

    def read(
        self,
        answer: Any,
        declared: Section,
        owner: str,
        drafts: Callable[[], Section | None] | None = None,
        whole: bool = False,
    ) -> Tables:
        """Read an answer by a declaration, or by a draft of its own where that does not fit."""
        before = qualifier(declared, owner)
        result = (None if whole else self._in_parts(answer, declared, before)) or self._at_once(
            answer, declared, before
        )
        tables, report, detection, source, census, document, is_error = result
        signals = detection.signals
        if is_error:
            report.differences.clear()
        elif drafts is not None and census.most_keys <= MAX_FIELDS:
            draft = None if fits(tables.values(), report, signals) else drafts()
            drafted = None
            if draft is not None:
                drafted = attempt(partial(self.read, answer, draft, OWNER))
            if drafted is not None:
                return drafted
        if owner == OWNER:
            warn_of_draft()
        else:
            report.raise_or_warn(declared, self.strict)
        again = partial(replace(self, strict=False).read, declared=declared, owner=owner)
        held = at_hand(answer, source, again)
        extra: Callable[[], pd.DataFrame] = report.extra_frame
        find_rows: Callable[[], Any] = partial(_rows_of, tables)
        origins: Callable[[], Any] = dict
        if document is not None:
            origins = partial(_origins, document, tables, report)
        if document is None or (held and not whole and census.keys > MANY_KEYS):
            # The objects of a long answer take many times the room of its bytes.
            reread = cache(partial(quietly, again, answer, whole=True))
            extra, origins = (lambda: reread().extra), (lambda: reread()._provenance)
            find_rows = partial(_rows_again, reread)
            report.kept.clear()
            for table in tables.values() if document is not None else ():
                table.release()
        hints = partial(watched_hints, declared, answer, signals)
        return Tables(
            declared.name,
            {name: partial(_frame, table, self.backend, held) for name, table in tables.items()},
            words=lambda: {name: in_words(t.metadata, signals) for name, t in tables.items()},
            extra=extra,
            availability=partial(signal_table, signals),
            hints=partial(hint_table, detection, hints),
            drift=report.drift_frame,
            provenance=origins,
            rows={name: table.arrow.num_rows for name, table in tables.items()},
            payload=answer if isinstance(answer, Payload) else None,
            declaration=declared,
            drafted=owner == OWNER,
            prefix=before,
            parts=TableParts(tables, find_rows, detection, report, held),
        )

    def _at_once(self, answer: Any, declared: Section, before: str) -> _Read:
        """Read an answer as a whole."""

        def survey(value: Any, is_exact: bool) -> tuple[Any, int]:
            document, census = Vector.of(value), Census(self.max_nodes, is_exact)
            return (document, census, walk(document, declared, census)), census.keys

        body, facts = _body_and_facts(answer, declared)
        document, census, differences = read_document(body, survey, **facts)
        value = document.value(0)
        detection = self._detect(answer, declared, value, census, document)
        source = _source(declared, answer, value)
        report = DriftReport()
        is_error = is_silent(declared, value, detection.signals)
        if is_error:
            report.keep(document, range(1), "no answer")
            document, differences = Vector.of({}), DriftReport()
        tables = _built(document, plans(declared), before, detection.signals, source, report)
        report.extend(differences)
        return _Read(tables, report, detection, source, census, document, is_error)

    def _detect(
        self, answer: Any, declared: Section, value: Any, census: Census, rest: Any
    ) -> Detection:
        """Detect what an answer states about its availability: in its body, status and headers."""
        transport: dict[str, Any] = {}
        if isinstance(answer, Payload):
            transport = {"status": answer.status, "headers": answer.headers}
        is_long = census.keys > MANY_KEYS or not isinstance(rest, Vector)
        path, whole = longest_list(value) if is_long else (), None
        if path:
            value, whole = shortened(value, path), FullDocument(rest, path)
        if census.most_keys > MAX_FIELDS:
            value = abridge(value, field_map(declared))
        about: dict[str, Any] = {"options": self.options, "envelope": self.envelope}
        return detect(value, declared.availability, whole=whole, **about, **transport)

    def _in_parts(self, answer: Any, declared: Section, before: str) -> _Read | None:
        """Read a long regular answer part by part; None where it must be read as a whole.

        The objects of a part are gone before the next is parsed. Each is a smaller answer in the
        same envelope, and is read as such; the rows are joined.
        """
        body = answer.body if isinstance(answer, Payload) else answer
        parts = cut(body.removeprefix(BOM)) if isinstance(body, bytes) else None
        if parts is None or (parts.names and longest_list(parts.envelope)):
            return None
        try:
            return self._joined(answer, parts, declared, before)
        except (NotInParts, Inexact, PayloadError, orjson.JSONDecodeError):
            return None

    def _joined(self, answer: Any, parts: Cut, declared: Section, before: str) -> _Read:
        is_inside = [_is_inside(plan, parts.names) for plan in plans(declared)]
        census = Census(self.max_nodes)
        walk(Vector.of(parts.value([])), declared, census)
        envelope, prefix = census.keys, format_path((*map(Field, parts.names), Each()))
        top = parts.value(next(parts.parts()))
        detection = self._detect(answer, declared, top, census, _Unread())
        source, signals = _source(declared, answer, top), detection.signals
        # A statement about the whole is in the envelope; for any other all rows are to be seen.
        if not detection.is_ruled or detection.hints or any(map(_is_of_rows, signals)):
            raise NotInParts
        columns = [column for table in declared for column in table.columns]
        ordered = {("new level", column.pattern) for column in columns if column.ordered}
        report, new, first = DriftReport(), DriftReport(), 0
        pieces: dict[str, list[BuiltTable]] = {table.name: [] for table in declared}
        for elements in parts.parts():
            document, own = parts.document(elements, first), DriftReport()
            differences = walk(document, declared, census)
            census.keys -= envelope
            built: dict[str, BuiltTable] = {}
            for plan, inside in zip(plans(declared), is_inside, strict=True):
                if inside:
                    built |= _built(document, [plan], before, signals, source, own, is_part=True)
                elif not first:
                    built |= _built(document, [plan], before, signals, source, report)
            own.extend(differences)
            levels = {place for place in own.differences if place[0] == "new level"}
            shapes = own.differences.keys() - levels
            is_alike = not first or shapes == new.differences.keys()
            if levels & ordered or not is_alike or not {kind for kind, _ in shapes} <= _JOINED:
                raise NotInParts
            for place, drift in own.differences.items():
                joint = report if place in levels else new
                if place not in joint.differences:
                    joint.differences[place] = drift
                elif drift.path.startswith(prefix):
                    joint.differences[place] = joint.differences[place].joined(drift)
            for name, table in built.items():
                if table.rows.absent or table.rows.is_null:
                    raise NotInParts
                pieces[name].append(table)
                del table.rows
            first += len(elements)
            del document, elements, own, differences
        if census.keys <= MANY_KEYS or census.most_keys > MAX_FIELDS:
            raise NotInParts
        if not is_exact(parts.body, census.keys):
            raise NotInParts
        tables = {name: joined(tables, report) for name, tables in pieces.items()}
        report.extend(new)
        report.kept.clear()
        if report.differences and not has_values(next(iter(tables.values())).arrow):
            raise NotInParts
        return _Read(tables, report, detection, source, census)


_JOINED = {"new", "absent"}
"""What differs from the declaration in every part or in none; undeclared levels may in some."""


class _Unread:
    """Stands for the whole document, which is not there."""

    def __getattr__(self, name: str) -> Any:
        raise NotInParts


def _is_of_rows(signal: Signal) -> bool:
    return denies(signal) or signal.scope in ("row", "field")


def _built(
    document: Vector,
    chosen: Sequence[TablePlan],
    before: str,
    signals: list[Signal],
    source: attrs.Source,
    report: DriftReport,
    is_part: bool = False,
) -> dict[str, BuiltTable]:
    """Build tables of a document, and keep what only their rows could hold and none does."""
    denies_any = any(map(denies, signals))
    rows = [TableRows(document, plan) for plan in chosen]
    built = {}
    for table in rows:
        name = table.table.name
        built[name] = BuiltTable(table, before, signals, source, report, denies_any)
        if not is_part:
            built[name].check_key(report)
    for place, there, why, where in untaken(rows):
        if why == "new":
            report.record_values(place, there, why, where)
        else:
            report.keep(place, there, why)
    return built


def _is_inside(plan: TablePlan, names: tuple[str, ...]) -> bool:
    """Whether rows are elements of an array, or below; the others have nothing of it.

    Raises
    ------
    NotInParts
        If they are neither.
    """
    table, rows = plan.table, plan.table.rows
    array = (*map(Field, names), Each())
    inside = rows.steps[: len(array)] == array
    sources = [column.source or "" for column in table.columns]
    sources += [source for source, _ in (*rows.without, *rows.only)]
    roots = [parse_path(source[1:].lstrip(".")) for source in sources if source[0] == "$"]
    named = [parse_path(source.lstrip("^")) for source in sources if "=" in source]
    roots += [step.header for path in named for step in path if isinstance(step, Named)]
    roots += [rows.header] if rows.header is not None else []
    if not inside:
        roots += [parse_pattern(column.pattern) for column in table.columns]
        roots += [rows.steps] if rows.function is not None else []
    if any(reading and reading.year is not None for reading in plan.readings.values()):
        raise NotInParts
    for root in roots:
        pairs = zip(root, array, strict=False)
        if all(isinstance(step, Entries) or step == other for step, other in pairs):
            raise NotInParts
    return inside


def _body_and_facts(answer: Any, declared: Section) -> tuple[Any, dict[str, Any]]:
    """What is to be decoded of an answer, and facts for the error."""
    if isinstance(answer, Payload):
        facts = {"url": answer.url, "status": answer.status}
        facts |= {"section": answer.section, "scope": answer.scope}
        return answer.body or (b"null" if answer.status in NO_CONTENT else b""), facts
    if isinstance(answer, Mapping):
        answer = dict(answer)
    if isinstance(answer, bytes | str | dict | list):
        return answer, {"section": declared.name}
    raise PayloadError(
        f"a {type(answer).__name__} is no answer; give a Payload, bytes, text, dict or list",
        section=declared.name,
        problems=[f"{type(answer).__name__} @ $"],
    )


def _source(declared: Section, answer: Any, document: Any) -> attrs.Source:
    start, end = window_of(document)
    if not isinstance(answer, Payload):
        stated = document.get("domain") if isinstance(document, Mapping) else None
        host = stated if isinstance(stated, str) else None
        return attrs.Source(host, declared.name, window_start=start, window_end=end)
    return attrs.Source(
        answer.host,
        declared.name,
        None if answer.scope is None else answer.scope._to_query(),
        answer.url,
        answer.fetched_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        answer.sha256,
        answer.stale,
        start,
        end,
    )


def _origins(document: Vector, tables: dict[str, BuiltTable], report: DriftReport) -> Any:
    return provenance(document, [*tables.values()], report.extra)


def _frame(table: BuiltTable, dtype_backend: str, held: list[AnswerAtHand]) -> pd.DataFrame:
    frame = to_frame(table.arrow, dtype_backend)
    return attrs.attach_later(frame, lambda: table.metadata, table.key, table.arrow, held)


def _rows_of(tables: dict[str, BuiltTable]) -> dict[str, TableRows]:
    return {name: table.rows for name, table in tables.items()}


def _rows_again(read: Callable[[], Tables]) -> dict[str, TableRows]:
    return read()._parts.rows
