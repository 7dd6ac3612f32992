"""Read the values that each filter of a project may have, and enable Tab completion of names."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aatoolkit.client.reading import ReadingOptions
from aatoolkit.jsontree.vectors import Missing
from aatoolkit.normalizer.columns import BuiltTable
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.payload import Payload
from aatoolkit.scope import ALLOWED_DAYS, FILTERS, ScopeOptions
from aatoolkit.sections import Section, Table, get
from aatoolkit.sections.profile import SCOPE_OPTIONS

_TABLE_NAME_BY_PLURAL = {plural: f"scope_{plural}" for plural in FILTERS.values()}


def read_scope_options(host: str, payload: Payload, options: ReadingOptions) -> ScopeOptions:
    """Convert a response to `ScopeOptions`, which are the values that each filter may have.

    ``options`` say how responses are converted to tables.
    """
    declared_section = get(SCOPE_OPTIONS)
    if options.profile is not None:
        profile_section = options.profile.get(SCOPE_OPTIONS)
        # A declaration that names the tables otherwise is no help in finding them.
        if profile_section is not None and {*_TABLE_NAME_BY_PLURAL.values()} <= {
            *profile_section.names
        }:
            declared_section = profile_section
    tables = normalize(_adapt_to_lists_of_texts(declared_section, payload), payload)
    built_tables = tables._origin.built_tables
    scope_options = ScopeOptions(
        host,
        own_terms=(
            own_term for own_term in _read_list(payload, "ownTerms") if isinstance(own_term, str)
        ),
        # Without windows in the response, the documented ones apply.
        days=[day_count for day_count in _read_list(payload, "days") if type(day_count) is int]
        or ALLOWED_DAYS,
        unknown=[
            filter_name
            for filter_name, plural in FILTERS.items()
            if not _has_value_list(built_tables[_TABLE_NAME_BY_PLURAL[plural]])
        ],
        **{plural: tables[table_name] for plural, table_name in _TABLE_NAME_BY_PLURAL.items()},
    )
    scope_options.has_runs = _has_value_list(built_tables["scope_engines"], ("last_run_day",))
    return scope_options


def _has_value_list(built_table: BuiltTable, column_names: Sequence[str] = ()) -> bool:
    """Return whether a response has the list of a filter's values, such as the list of topics.

    ``built_table`` is the table that was made from this list. An empty list counts. A list with
    items counts only if these have the field of one of the columns ``column_names``; by default,
    these are the key columns.
    """
    table_rows = built_table.table_rows
    list_vector = table_rows.step_vectors[-2]
    if list_vector.types.isdisjoint((list, dict)):
        return False
    field_paths = [
        built_table.table[column_name].source or ""
        for column_name in column_names or built_table.table.key
    ]
    has_field = any(
        table_rows.get_values(field_path)[0].types - {Missing} for field_path in field_paths
    )
    return not any(list_vector.values) or (built_table.row_count > 0 and has_field)


def _adapt_to_lists_of_texts(declared_section: Section, payload: Payload) -> Section:
    """Adapt table declarations to a response that has lists of strings instead of objects.

    For example, the list is ``["a"]`` instead of ``[{"id": "a"}]``.
    """

    def adapt_table(table: Table) -> Table:
        item_types = {*map(type, _read_list(payload, table.rows.path.removesuffix("[]")))}
        # One that is no text, such as null, is reported as of a wrong type; the others are values.
        if str not in item_types or dict in item_types:
            return table
        adapted_columns = (
            replace(column, source=".") if column.name in table.key else column
            for column in table.columns
        )
        return replace(table, columns=tuple(adapted_columns))

    return Section(
        declared_section.name,
        declared_section.doc,
        *map(adapt_table, declared_section),
        kept=declared_section.kept,
        availability=declared_section.availability,
    )


def _read_list(payload: Payload, field_name: str) -> list[Any]:
    """Return the list in the field ``field_name`` of a response; an empty list if there is none."""
    document = payload.json
    field_value = document.get(field_name) if isinstance(document, Mapping) else None
    return field_value if isinstance(field_value, list) else []


# -- Tab ---------------------------------------------------------------------------------------

_CALL_PATTERN = re.compile(r"([^\W\d]\w*)\.(?:read|fetch|read_all)\(([^()]*)['\"](\w*)$")
"""Matches code such as ``project.read("ran``: object, text before the quote, text after it."""

# What precedes the quote if the name after it is that of a section, or that of a filter.
_SECTION_PATTERN = re.compile(r"\s*(?:sections?\s*=\s*)?\[?\s*(?:['\"]\w*['\"]\s*,\s*)*")
_FILTER_PATTERN = re.compile(r".*\bsplit\s*=\s*", re.S)

_MATCHER_IDENTIFIER = "aatoolkit.names"


def register_completion() -> None:
    """Enable Tab completion of section and filter names in IPython."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    completer = getattr(shell, "Completer", None)
    if completer is None or any(
        getattr(matcher, "matcher_identifier", "") == _MATCHER_IDENTIFIER
        for matcher in completer.custom_matchers
    ):
        return
    from IPython.core.completer import SimpleCompletion, context_matcher
    from IPython.core.guarded_eval import EVALUATION_POLICIES

    @context_matcher(identifier=_MATCHER_IDENTIFIER)  # type: ignore[untyped-decorator]
    def match_names(context: Any) -> Any:
        call_match = _CALL_PATTERN.search(context.text_until_cursor)
        project = shell.user_ns.get(call_match[1]) if call_match else None
        section_names = getattr(type(project), "_section_names", None)
        if call_match is None or section_names is None:
            return {"completions": []}
        completion_type = "filter"
        candidate_names = FILTERS if _FILTER_PATTERN.fullmatch(call_match[2]) else ()
        if _SECTION_PATTERN.fullmatch(call_match[2]):
            completion_type = "section"
            candidate_names = section_names(project)
        completions = [
            SimpleCompletion(text=candidate_name, type=completion_type)
            for candidate_name in candidate_names
            if candidate_name.startswith(call_match[3])
        ]
        return {
            "completions": completions,
            "matched_fragment": call_match[3],
            "suppress": bool(completions),  # files and magics are neither
        }

    completer.custom_matchers.append(match_names)
    # So that dataset["crawl"][" completes as well: it is looked into, which asks for nothing.
    evaluation_policy: Any = EVALUATION_POLICIES["limited"]
    evaluation_policy.allowed_getitem_external.add(("aatoolkit.client.dataset", "Dataset"))
