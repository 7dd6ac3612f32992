"""Section and answer to tables: the pure step between a body and DataFrames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from aatoolkit import sections
from aatoolkit._util.text import shown
from aatoolkit.availability.detect import Detection, FullDocument, Hint, Signal, detect, raw
from aatoolkit.errors import AAToolkitError, ArgumentError, PayloadError
from aatoolkit.jsontree.decode import decode, gc_paused, read_document
from aatoolkit.jsontree.layout import MAX_FIELDS, MAX_NODES, Census
from aatoolkit.jsontree.paths import Field, parse_pattern
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.metadata import attrs
from aatoolkit.normalizer.column_availability import (
    hint_table,
    in_words,
    is_silent,
    signal_table,
)
from aatoolkit.normalizer.columns import BuiltTable
from aatoolkit.normalizer.draft import OWNER, draft_of, fits, resolve, warn_of_draft
from aatoolkit.normalizer.provenance import provenance
from aatoolkit.normalizer.rows import TableRows, plans, untaken
from aatoolkit.normalizer.tables import AnswerAtHand, TableParts, Tables, at_hand, quietly
from aatoolkit.normalizer.walk import DriftReport, FieldNode, field_map, walk
from aatoolkit.payload import NO_CONTENT, Payload, window_of
from aatoolkit.scope import ScopeOptions
from aatoolkit.sections import Profile, Section
from aatoolkit.sections.profile import ProfileSource
from aatoolkit.sections.registry import qualifier

if TYPE_CHECKING:
    import pandas as pd

_BACKENDS = ("numpy_nullable", "pyarrow")

_MANY_KEYS = 20_000
"""In answers of more keys the longest list is cut for detection, unless it is needed.

Their objects take many times the room of their bytes, and are not kept for ``extra``.
"""

_FIRST = 1000
"""How many elements of a very long list are looked at for statements."""

_SILENT = "empty without a reason: perhaps nothing was measured, so it is not read as zero"
_WATCHED = "the profile names this place as perhaps about availability, and no rule reads it"


@gc_paused()
def normalize(
    section: str | Section,
    answer: Payload | bytes | str | Mapping[str, Any] | list[Any],
    *,
    profile: ProfileSource | None = None,
    strict: bool = False,
    dtype_backend: str = "numpy_nullable",
    options: ScopeOptions | None = None,
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
        If the response is not one JSON document.
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
        If a word of availability in the response is not understood; it is read as unknown, and kept
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
    if dtype_backend not in _BACKENDS:
        raise ArgumentError(
            f"dtype_backend={shown(dtype_backend)} is not known; use 'numpy_nullable' or 'pyarrow'",
            argument="dtype_backend",
        )
    reader = _Reader(strict, dtype_backend, options, max_nodes)
    loaded = None if profile is None else Profile.load(profile)
    declared, tentative, owner = resolve(section, loaded)
    if declared is None:
        name = section if isinstance(section, str) else section.name
        declared, owner = draft_of(answer, name, None), OWNER
        if declared is None and name in sections.default_profile():
            declared, owner = sections.default_profile()[name], sections.default_profile().name
        if declared is None:
            problem = f"nothing in this response of {name} can be made a table"
            raise PayloadError(problem, section=name, problems=[problem])
    return reader.read(answer, declared, owner, tentative and not strict)


@dataclass(frozen=True)
class _Reader:
    """How answers are read: the parameters of `normalize`."""

    strict: bool
    backend: str
    options: ScopeOptions | None
    max_nodes: int

    def read(
        self,
        answer: Any,
        declared: Section,
        owner: str,
        is_tentative: bool = False,
        is_whole: bool = False,
    ) -> Tables:
        """Read an answer by a declaration, or by a draft of its own where that does not fit."""

        def survey(value: Any, is_exact: bool) -> tuple[Any, int]:
            document, census = Vector.of(value), Census(self.max_nodes, is_exact)
            return (document, census, walk(document, declared, census)), census.keys

        body, facts = _body_and_facts(answer, declared)
        document, census, differences = read_document(body, survey, **facts)
        value = document.values[0]
        detection = self._detect(answer, declared, value, census, document)
        signals, before = detection.signals, qualifier(declared, owner)
        source = _source(declared, answer, value)
        report = DriftReport()
        is_error = is_silent(declared, value, signals)
        if is_error:
            report.keep(document, range(1), "error response")
            document, differences = Vector.of({}), DriftReport()
        chosen = [TableRows(document, plan) for plan in plans(declared)]
        tables = {
            table.name: BuiltTable(rows, f"{before}{table.name}", signals, source, report)
            for table, rows in zip(declared, chosen, strict=True)
        }
        for place, there, why, where in untaken(chosen):
            if why == "new":
                report.record_values(place, there, why, where)
            else:
                report.keep(place, there, why)
        for built in tables.values():
            built.check_key(report)
        report.extend(differences)
        if is_error:
            report.differences.clear()
        elif is_tentative and census.most_keys <= MAX_FIELDS:
            fitting = fits(tables.values(), report, signals)
            draft = None if fitting else draft_of(answer, declared.name, declared)
            if draft is not None:
                return self.read(answer, draft, OWNER)
        if owner == OWNER:
            warn_of_draft()
        else:
            report.raise_or_warn(declared, self.strict)
        again = partial(replace(self, strict=False).read, declared=declared, owner=owner)
        held = at_hand(answer, source, again)
        if held and not is_whole and census.keys > _MANY_KEYS:
            whole = cache(partial(quietly, again, answer, is_whole=True))
            rest: dict[str, Callable[[], Any]] = {
                "extra": lambda: whole().extra,
                "provenance": lambda: whole()._provenance,
            }
            find_rows: Callable[[], Any] = lambda: whole()._parts.rows  # noqa: E731
            report.kept.clear()
            for built in tables.values():
                built.release()
        else:
            rest = {
                "extra": report.extra_frame,
                "provenance": partial(_origins, document, tables, report),
            }
            find_rows = partial(dict, [*zip(tables, chosen, strict=True)])
        hints = partial(_hints, declared, answer, signals)
        return Tables(
            declared.name,
            {name: partial(_frame, table, self.backend, held) for name, table in tables.items()},
            words=lambda: {name: in_words(t.metadata, signals) for name, t in tables.items()},
            availability=partial(signal_table, signals),
            hints=partial(hint_table, detection, hints),
            drift=report.drift_frame,
            rows={name: table.size for name, table in tables.items()},
            payload=answer if isinstance(answer, Payload) else None,
            declaration=declared,
            drafted=owner == OWNER,
            prefix=before,
            parts=TableParts(tables, find_rows, detection, report, held),
            **rest,
        )

    def _detect(
        self, answer: Any, declared: Section, value: Any, census: Census, rest: Any
    ) -> Detection:
        """Detect what an answer states about its availability: in its body, status and headers.

        Statements are looked for under every key, which takes far longer than to parse it. So
        what is very long is shortened before.
        """
        about: dict[str, Any] = {"options": self.options}
        if isinstance(answer, Payload):
            about |= {"status": answer.status, "headers": answer.headers}
        path = _longest_list(value) if census.keys > _MANY_KEYS else ()
        if path:
            value, about["whole"] = _shortened(value, path), FullDocument(rest, path)
        if census.most_keys > MAX_FIELDS:
            value = _abridged(value, field_map(declared))
        return detect(value, declared.availability, **about)


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
        f"a {type(answer).__name__} is no response; give a Payload, bytes, text, dict or list",
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
    frame = table.frame(dtype_backend)
    key = tuple(table.table.key)
    return attrs.attach_later(frame, lambda: table.metadata, key, lambda: table.arrow, held)


def _abridged(document: Any, node: FieldNode | None) -> Any:
    """Shorten each object of more than `MAX_FIELDS` keys to the declared ones and the first."""
    if isinstance(document, list):
        return [_abridged(value, node and node.each) for value in document]
    if not isinstance(document, dict):
        return document
    fields: Mapping[str, FieldNode] = {} if node is None else node.fields
    keys = [*document]
    if len(keys) > MAX_FIELDS:
        keys = [*(fields.keys() & document), *[key for key in keys if key not in fields][:_FIRST]]
    return {key: _abridged(document[key], fields.get(key, node and node.entries)) for key in keys}


def _longest_list(document: Any) -> tuple[str, ...]:
    """The fields that lead to the longest list that only objects enclose, if it is long."""
    longest: tuple[str, ...] = ()
    most = _FIRST
    waiting: list[tuple[tuple[str, ...], Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, list) and len(value) > most:
            longest, most = path, len(value)
        elif isinstance(value, dict) and len(value) <= MAX_FIELDS:
            waiting += [((*path, key), inner) for key, inner in value.items()]
    return longest


def _shortened(document: Any, path: tuple[str, ...]) -> Any:
    """Copy a document with no more than the first elements of the list at a path."""
    if not path:
        return document[:_FIRST]
    return {**document, path[0]: _shortened(document[path[0]], path[1:])}


def _hints(section: Section, answer: Any, signals: list[Signal]) -> Iterator[Hint]:
    """Yield hints of the values at the watched paths; of many rows, the rarest value.

    Also where an answer without rows states nothing: it may not have been measured.
    """
    if not section.watched and not section.emptied:
        return
    try:
        whole = Vector.of(answer.json if isinstance(answer, Payload) else decode(answer))
    except AAToolkitError:
        return
    is_unstated = all(signal.rule == "options" for signal in signals)
    for path in section.emptied if is_unstated else ():
        steps = parse_pattern(path) if path != "$" else ()
        value = whole.descend([step for step in steps if isinstance(step, Field)]).values[0]
        if value in (None, [], {}, MISSING):
            evidence = raw(None if value is MISSING else value)
            yield Hint("$" if path == "$" else f"$.{path}", evidence, _SILENT)
    read = [signal.path for signal in signals if signal.path]
    for watched in section.watched:
        place = whole.descend(parse_pattern(watched))
        texts = {
            row: repr(value)
            for row, value in enumerate(place.values)
            if value is not MISSING and value not in (None, "", [], {})
        }
        counts = Counter(texts.values())
        rarest = min(texts, key=lambda row: counts[texts[row]], default=None)
        if rarest is not None:
            path = place.path(rarest)
            if not any(_touch(path, other) or _touch(other, path) for other in read):
                yield Hint(path, raw(place.values[rarest]), _WATCHED)


def _touch(path: str, above: str) -> bool:
    """Whether a path is another one, or below it."""
    return above != "$" and (path == above or path.startswith((f"{above}.", f"{above}[")))
