"""The function `normalize`, which converts a JSON response to tables.

The declaration of a section (one kind of response) lists its tables and columns. If no declaration
fits the response, one is drafted from the response itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from aatoolkit import sections
from aatoolkit.availability.detect import Hint, Signal, detect, to_json_text
from aatoolkit.availability.detect.words import echoes_request
from aatoolkit.errors import ArgumentError, PayloadError, SchemaDriftWarning, warn
from aatoolkit.jsontree.decode import decode, gc_paused, read_document
from aatoolkit.jsontree.layout import MAX_FIELDS, MAX_NODES
from aatoolkit.jsontree.paths import (
    Field,
    NamedColumn,
    Step,
    is_within,
    list_leaf_paths_and_texts,
    parse_pattern,
)
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.metadata import attrs
from aatoolkit.normalizer.column_availability import (
    ENGINE_LIST_RULE,
    describe_availability,
    is_error_response,
    make_signal_frame,
    states_unmeasured,
)
from aatoolkit.normalizer.columns import BuiltTable
from aatoolkit.normalizer.provenance import record_provenance
from aatoolkit.normalizer.rows import (
    DriftReport,
    ResponseWalk,
    TableRows,
    build_field_tree,
    find_unused_values,
    frame_from_rows,
    plan_tables,
)
from aatoolkit.normalizer.tables import LoadedResponse, Tables, TablesOrigin
from aatoolkit.payload import NO_CONTENT_STATUSES, Payload, find_day_window
from aatoolkit.scope import Scope, ScopeOptions
from aatoolkit.sections import Profile, Section
from aatoolkit.sections.column import to_snake_case
from aatoolkit.sections.inference.analysis import analyse_responses
from aatoolkit.sections.profile import ProfileSource
from aatoolkit.sections.registry import register_section
from aatoolkit.sections.section import ENVELOPE_FIELDS

DRAFT_PROFILE_NAME = "draft"
"""The profile name in the metadata of tables whose declaration was drafted from the response."""

_DTYPE_BACKENDS = ("numpy_nullable", "pyarrow")

_EMPTY_VALUE_HINT_TEXT = (
    "empty without a reason: perhaps nothing was measured, so it is not read as zero"
)
_EMPTY_VALUES: tuple[Any, ...] = (None, MISSING, "", [], {})
_WATCHED_PATH_HINT_TEXT = (
    "the profile lists this path as perhaps about availability, and no rule reads it"
)

_warning_registry: dict[Any, Any] = {}
"""The registry by which Python shows the warning about drafts only once."""


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
    """Convert a JSON response to DataFrames, without sending a request.

    A section is one kind of response, such as ``domains``. Its declaration lists the tables and
    columns, with names and dtypes. Values without a column are kept in ``.extra`` of the result.
    Differences from the declaration are in ``.drift``.

    If the response does not fit the declaration, or there is none, tables are inferred from the
    response itself. The columns are then named after its JSON fields, and have no units.

    Parameters
    ----------
    section : str or Section
        The name of the section, such as ``"domains"``, or its declaration.
    response : Payload, bytes, str, dict or list
        The response, as JSON text or decoded.
    profile : Profile, module, str or path, optional
        The declarations of all sections of a service; by default those of this package.
    strict : bool
        Whether to raise an error if the response differs from the declaration.
    dtype_backend : {"numpy_nullable", "pyarrow"}
        The kind of dtypes, as in pandas.
    options : ScopeOptions, optional
        The result of `Project.scope_options`. It is used to mark data of engines that never ran.
    max_nodes : int
        The maximum number of distinct JSON paths in the response, such as ``domains[].rank``.

    Returns
    -------
    Tables
        A mapping from table names to DataFrames. ``.main`` is the first of them.

    Raises
    ------
    ScopeError
        If there is no section of this name and no ``profile`` is given. With ``profile``, tables
        are inferred instead.
    DecodeError
        If the response is not one JSON document.
    PayloadError
        If the response is not a JSON value, or has too many paths. With ``strict``, also if it
        differs from the declaration.

    Warns
    -----
    SchemaDriftWarning
        If the response differs from the declaration, if tables were inferred, or if the response
        has an unknown status such as ``"paused"``.
    AAToolkitWarning
        If the service seems to have ignored a filter of the request.

    Examples
    --------
    >>> from aatoolkit.sections import Column, Section, Table, records
    >>> columns = (Column("brand", "string"), Column("mention_count", "Int64"))
    >>> table = Table("brands", "One row per brand.", records("brands"), "brand", columns)
    >>> response = {"brands": [{"brand": "Acme", "mentionCount": 0}]}
    >>> normalize(Section("mine", "Brands.", table), response).main["mention_count"].tolist()
    [0]
    """
    if dtype_backend not in _DTYPE_BACKENDS:
        raise ArgumentError(
            f"dtype_backend={dtype_backend!r} is not known; use 'numpy_nullable' or 'pyarrow'",
            argument="dtype_backend",
        )
    response_reader = _ResponseReader(strict, dtype_backend, options, max_nodes)
    service_profile = sections.default_profile() if profile is None else Profile.load(profile)
    profile_name = (
        f"profile {DRAFT_PROFILE_NAME}"
        if service_profile.name == DRAFT_PROFILE_NAME
        else service_profile.name
    )
    if isinstance(section, Section):
        return response_reader.read(response, section, "own" if profile is None else profile_name)
    declared_section = (
        service_profile.section(section) if profile is None else service_profile.get(section)
    )
    if declared_section is not None:
        is_section_tentative = declared_section.name in service_profile.tentative and not strict
        return response_reader.read(response, declared_section, profile_name, is_section_tentative)
    drafted_section = _draft_section(response, section, None)
    if drafted_section is not None:
        return response_reader.read(response, drafted_section, DRAFT_PROFILE_NAME)
    default_profile = sections.default_profile()
    if section not in default_profile:
        raise PayloadError(
            f"nothing in this response of {section} can be made a table", section=section
        )
    return response_reader.read(response, default_profile[section], default_profile.name)


@dataclass(frozen=True)
class _ResponseReader:
    """Converts responses to tables; the attributes are arguments of `normalize`.

    ``max_paths`` is the argument ``max_nodes``.
    """

    strict: bool
    dtype_backend: str
    options: ScopeOptions | None
    max_paths: int

    def read(
        self, response: Any, section: Section, profile_name: str, is_section_tentative: bool = False
    ) -> Tables:
        """Convert a response to tables.

        Parameters
        ----------
        response : Payload, bytes, str, dict or list
            The response, as JSON text or decoded.
        section : Section
            The tables and columns.
        profile_name : str
            The name of the profile (the declarations of a service) that has ``section``.
        is_section_tentative : bool
            Whether tables may be inferred if the response does not fit the declaration.
        """

        def visit_response(
            root_value: Any, has_exact_integers: bool
        ) -> tuple[tuple[Vector, ResponseWalk], int]:
            """Visit all values; return the document, the finished walk and the number of keys."""
            vector = Vector([root_value])
            response_walk = ResponseWalk(self.max_paths, has_exact_integers)
            response_walk.visit(vector, build_field_tree(section))
            return (vector, response_walk), response_walk.key_count

        response_body = response
        error_details = {"section": section.name}
        detect_keywords: dict[str, Any] = {"options": self.options}
        if isinstance(response, Payload):
            response_body = response.body or (
                b"null" if response.status in NO_CONTENT_STATUSES else b""
            )
            error_details = {
                name: getattr(response, name) for name in ("url", "status", "section", "scope")
            }
            detect_keywords |= {"status": response.status, "headers": response.headers}
            detect_keywords["days"] = response.scope and response.scope.days
        elif not isinstance(response, bytes | str | Mapping | list):
            raise PayloadError(
                f"a {type(response).__name__} is no response; give a Payload, bytes, text, dict or "
                "list",
                section=section.name,
                problems=[f"{type(response).__name__} @ $"],
            )
        response_body = dict(response_body) if isinstance(response_body, Mapping) else response_body
        document_vector, response_walk = read_document(
            response_body, visit_response, **error_details
        )
        root_value = document_vector.values[0]
        has_many_fields = response_walk.max_key_count > MAX_FIELDS
        detection = detect(
            _keep_frequent_keys(root_value) if has_many_fields else root_value,
            section.availability,
            vector=None if has_many_fields else document_vector,
            **detect_keywords,
        )
        signals = detection.signals
        metadata_name_prefix = register_section(section, profile_name)
        if isinstance(response, Payload) and response.scope is not None:
            _warn_of_ignored_filters(section.name, response.scope, root_value, signals)
        response_source = _describe_source(section, response, root_value)
        drift_report = DriftReport()
        is_error = is_error_response(section, root_value, signals)
        if is_error:
            drift_report.add_extra(document_vector, range(1), "error response")
            document_vector = Vector([{}])
        table_rows_by_name = {
            table_plan.table.name: TableRows(document_vector, table_plan)
            for table_plan in plan_tables(section)
        }
        built_tables = {
            name: BuiltTable(
                table_rows, metadata_name_prefix + name, signals, response_source, drift_report
            )
            for name, table_rows in table_rows_by_name.items()
        }
        for unused_values in find_unused_values([*table_rows_by_name.values()]):
            drift_report.add_extra(*unused_values)
        for table in built_tables.values():
            table.check_key(drift_report)
        if is_error:
            drift_report.drift_by_kind_and_path.clear()
        else:
            drift_report.extend(response_walk.drift_report)
        may_draft = is_section_tentative and not is_error and not has_many_fields
        if may_draft and not _tables_fit_response(built_tables.values(), drift_report, signals):
            drafted_section = _draft_section(response, section.name, section)
            if drafted_section is not None:
                return self.read(response, drafted_section, DRAFT_PROFILE_NAME)
        if profile_name != DRAFT_PROFILE_NAME:
            drift_report.ignore_absent_paths(section.optional)
            drift_report.raise_or_warn(section, self.strict)
        else:  # once a process, as Python's filters have it
            warn(
                "this service is new to aatoolkit: its tables and columns have the names that they "
                "have in its responses, and few numbers have a unit or can be summed; draft a "
                "profile and read with it: aa.profile.draft(project), or aatoolkit profile draft",
                SchemaDriftWarning,
                _warning_registry,
            )
        read_again = partial(
            replace(self, strict=False).read, section=section, profile_name=profile_name
        )
        # A decoded response may be changed before it is read again.
        is_immutable = isinstance(response, Payload | bytes | str)
        responses = [LoadedResponse(response_source, response, read_again)] if is_immutable else []

        tables_origin = TablesOrigin(built_tables, signals, responses)
        return Tables(
            section.name,
            {
                name: partial(table.to_frame, self.dtype_backend, responses)
                for name, table in built_tables.items()
            },
            rows={name: table.row_count for name, table in built_tables.items()},
            payload=response if isinstance(response, Payload) else None,
            declaration=section,
            drafted=profile_name == DRAFT_PROFILE_NAME,
            prefix=metadata_name_prefix,
            origin=tables_origin,
            availability_texts=lambda: {
                name: describe_availability(built_table.metadata, signals)
                for name, built_table in built_tables.items()
            },
            availability=lambda: make_signal_frame(signals),
            hints=lambda: frame_from_rows(
                ("path", "value", "why"),
                {
                    hint.path: [*vars(hint).values()]
                    for hint in [*_find_hints(section, response, signals), *detection.hints]
                }.values(),
            ),
            drift=drift_report.drift_frame,
            extra=drift_report.extra_frame,
            provenance=lambda: record_provenance(
                document_vector, [*built_tables.values()], drift_report.text_and_reason_by_path
            ),
        )


def _describe_source(section: Section, response: Any, root_value: Any) -> attrs.Source:
    """Return what is known of a response, such as its host, URL, time and window of days."""
    window_start, window_end = find_day_window(root_value)
    if not isinstance(response, Payload):
        host = root_value.get("domain") if isinstance(root_value, Mapping) else None
        host = host if isinstance(host, str) else None
        return attrs.Source(host, section.name, window_start=window_start, window_end=window_end)
    return attrs.Source(
        response.host,
        section.name,
        None if response.scope is None else response.scope._to_query(),
        response.url,
        response.fetched_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        response.sha256,
        response.stale,
        window_start,
        window_end,
    )


def _warn_of_ignored_filters(
    section_name: str, scope: Scope, root_value: Any, signals: Iterable[Signal]
) -> None:
    """Warn of each filter of the request that the service seems to have ignored.

    That is assumed if the response repeats the request's filters, and has null for this filter.
    """
    top_level_values = root_value.values() if isinstance(root_value, dict) else ()
    echoed_filters = {
        to_snake_case(filter_name): echoed_value
        for json_object in (root_value, *top_level_values)
        if isinstance(json_object, dict)
        for key, echoed_object in json_object.items()
        if echoes_request(key) and isinstance(echoed_object, dict)
        for filter_name, echoed_value in echoed_object.items()
    }
    reasons_text = " ".join(signal.availability.reason or "" for signal in signals)
    for filter_name, filter_values in scope._filters.items():
        echoed_value = echoed_filters.get(
            filter_name, echoed_filters.get(f"{filter_name}s", filter_name)
        )
        if echoed_value in (None, "", []) and filter_name not in reasons_text:
            warn(
                f"{section_name}: the response repeats the filter {filter_name} without a value: "
                f"the service may have ignored {filter_name}={','.join(filter_values)!r}, so that "
                "its numbers are of all; project.scope_options() lists the values"
            )


def _keep_frequent_keys(value: Any) -> Any:
    """Return a copy of a JSON value in which objects have only the most frequent keys.

    It is used for responses with very many distinct keys.
    """
    if isinstance(value, dict):
        return _keep_frequent_keys([value])[0]
    if not isinstance(value, list):
        return value
    count_by_key = Counter(
        chain.from_iterable(record for record in value if isinstance(record, dict))
    )
    kept_keys = {*ENVELOPE_FIELDS, *dict(count_by_key.most_common(MAX_FIELDS))}
    return [
        {
            key: _keep_frequent_keys(field_value)
            for key, field_value in record.items()
            if key in kept_keys
        }
        if isinstance(record, dict)
        else _keep_frequent_keys(record)
        for record in value
    ]


# --- hints -----------------------------------------------------------------------------------


def _find_hints(section: Section, response: Any, signals: list[Signal]) -> Iterator[Hint]:
    """Yield hints: values that may say which data are missing, but that no rule (`Rule`) reads."""
    if not section.watched and not section.emptied:
        return
    document_vector = Vector([response.json if isinstance(response, Payload) else decode(response)])
    is_status_unstated = all(signal.rule == ENGINE_LIST_RULE for signal in signals)
    # Paths that are empty if nothing was measured.
    for path in section.emptied if is_status_unstated else ():
        path_steps = parse_pattern(path) if path != "$" else ()
        value = document_vector.descend(
            [step for step in path_steps if isinstance(step, Field)]
        ).values[0]
        if value != "" and value in _EMPTY_VALUES:
            value_text = to_json_text(None if value is MISSING else value)
            yield Hint("$" if path == "$" else f"$.{path}", value_text, _EMPTY_VALUE_HINT_TEXT)
    signal_paths = [signal.path for signal in signals if signal.path not in ("", "$")]
    for path_pattern in section.watched:
        value_vector, values, path_suffix = _find_values_at(
            document_vector, parse_pattern(path_pattern)
        )
        value_text_by_position = {
            value_position: repr(value)
            for value_position, value in enumerate(values)
            if value not in _EMPTY_VALUES
        }
        count_by_value_text = Counter(value_text_by_position.values())
        # The rarest value is the likeliest exception.
        for value_position in sorted(
            value_text_by_position,
            key=lambda position: count_by_value_text[value_text_by_position[position]],
        )[:1]:
            path = value_vector.path(value_position) + path_suffix
            if not any(
                is_within(path, signal_path) or is_within(signal_path, path)
                for signal_path in signal_paths
            ):
                yield Hint(path, to_json_text(values[value_position]), _WATCHED_PATH_HINT_TEXT)


def _find_values_at(
    document_vector: Vector, steps: Sequence[Step]
) -> tuple[Vector, list[Any], str]:
    """Return all values at a path of a response.

    Returns
    -------
    vector : Vector
        A vector with one row per value. Its method ``path`` returns the JSON path of a row.
    values : list
        The values.
    suffix : str
        What follows the path of the row in the JSON path of the value: "" if the value is the row,
        ``[2]`` if it is the third element of the row.
    """
    last_step = steps[-1]
    if not isinstance(last_step, NamedColumn):
        vector = document_vector.descend(steps)
        return vector, vector.values, ""
    # A column of an array of arrays; another array has the names of the columns.
    row_vector = document_vector.descend(steps[:-1])
    column_names = [*document_vector.descend(last_step.header).values]
    column_position = (
        column_names.index(last_step.name) if last_step.name in column_names else len(column_names)
    )
    values = [
        row[column_position] if isinstance(row, list) and column_position < len(row) else None
        for row in row_vector.values
    ]
    return row_vector, values, f"[{column_position}]"


# --- drafts ----------------------------------------------------------------------------------


def _tables_fit_response(
    built_tables: Iterable[BuiltTable], drift_report: DriftReport, signals: Iterable[Signal]
) -> bool:
    """Return whether a response fits its declaration well enough to be read by it.

    It fits if at least half of the main table's columns have values, or if at least half of all
    values have a column. It also fits if the response says that nothing was measured.
    """
    value_counts_of_tables = (
        [
            built_table.row_count - built_table.get_array(name).null_count
            for name in built_table.table.names
        ]
        for built_table in built_tables
    )
    main_table_value_counts = next(value_counts_of_tables)
    # At least half of the columns of the main table have values.
    if any(main_table_value_counts) and 2 * sum(map(bool, main_table_value_counts)) >= len(
        main_table_value_counts
    ):
        return True
    if any(signal.scope == "section" and states_unmeasured(signal) for signal in signals):
        return True
    extra_leaves = (
        list_leaf_paths_and_texts(value, "")
        for value, _, _ in drift_report.iter_extra_values("new", "wrong type")
    )
    extra_texts = [
        text for _, text in chain.from_iterable(extra_leaves) if text not in ("null", "{}", "[]")
    ]
    # At least half of the values are in columns.
    return bool(
        len(extra_texts) <= sum(main_table_value_counts) + sum(map(sum, value_counts_of_tables))
    )


def _draft_section(
    response: Any, section_name: str, declared_section: Section | None
) -> Section | None:
    """Infer the declaration of tables and columns from a response.

    ``section_name`` is the name of the section (kind of response), and ``declared_section`` the
    declaration that the response does not fit, if there is one. Return None if no table can be
    inferred.
    """
    if isinstance(response, Payload) and (not response.body or response.status >= 400):
        return None
    try:
        drafted_section = analyse_responses(response, section_name, guesses_units=False).declaration
    except PayloadError:
        return None
    if declared_section is not None and all(table.rows.one for table in drafted_section):
        return None
    drafted_tables = []
    for table in drafted_section:
        columns = (
            replace(column, doc=f"Drafted from this response: {column.pattern or 'the response'}.")
            for column in table.columns
        )
        drafted_tables.append(replace(table, columns=tuple(columns)))
    availability_rule = None if declared_section is None else declared_section.availability
    summary = "Drafted from this response; units and aggregation rules are open."
    return Section(
        drafted_section.name,
        summary,
        *drafted_tables,
        kept=drafted_section.kept,
        availability=availability_rule,
    )
