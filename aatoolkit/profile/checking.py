"""Check whether the responses of a service still agree with its saved profile.

A profile is a description of the tables and columns in a service's JSON.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aatoolkit._util.show import DisplayOptions, show_as
from aatoolkit._util.text import join_some
from aatoolkit.availability import Cause, Status
from aatoolkit.availability.detect import detect, read_status_text, to_json_text
from aatoolkit.availability.detect.words import NO_MEANING
from aatoolkit.errors import AAToolkitError, find_near_matches, suggest_names
from aatoolkit.jsontree.paths import (
    NamedColumn,
    format_path,
    list_leaf_paths_and_texts,
    parse_path,
    parse_pattern,
)
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile, Rule
from aatoolkit.sections.profile import ProfileSource

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.client.client import Project
    from aatoolkit.sections import Section
    from aatoolkit.sections.inference.analysis import SectionAnalysis

ALLOWED_MEANINGS = (
    *(str(status) for status in Status if status != Status.UNKNOWN),
    *(str(cause) for cause in Cause if cause not in (Cause.ABSENT, Cause.FILTERED, Cause.NO_ROW)),
    NO_MEANING,
)
"""The meanings that a `Rule` may give to a word: statuses, causes, and ``nothing``."""

_MAX_EXAMPLES = 8
_MAX_MEDIAN_RATIO = 25

ProfileDifference = tuple[str, str, int, str | None]
"""One difference: its kind, its path, how often it occurs, and an example value."""


def describe_baseline(
    sections: Mapping[str, Section], payloads: Mapping[str, Payload]
) -> dict[str, Any]:
    """Describe the responses of a service, so that `check` can compare later responses with them.

    Parameters
    ----------
    sections : mapping of str to Section
        The tables of each section (one kind of response).
    payloads : mapping of str to Payload
        The response of each section.

    Returns
    -------
    dict
        The key ``drift`` has a dict from each section to a list: the kind and the path of each
        difference that there already is. The key ``medians`` has a dict from each table to a dict
        from each of its columns of shares to the median.
    """
    baseline: dict[str, Any] = {}
    for section_name, payload in payloads.items():
        with suppress(AAToolkitError):  # what was not drafted, or is too large to be read, has none
            tables = _normalize_without_warnings(sections[section_name], payload)
            drift_kinds_and_paths = sorted(
                [drift_kind, path] for drift_kind, path, *_ in _list_differences(tables)
            )
            if drift_kinds_and_paths:
                baseline.setdefault("drift", {})[section_name] = drift_kinds_and_paths
            medians_by_table = _find_share_medians(sections[section_name], tables)
            baseline.setdefault("medians", {}).update(medians_by_table)
    return baseline


def find_optional_paths(analysis: SectionAnalysis, responses: Iterable[Any]) -> tuple[str, ...]:
    """Return the paths of fields that are absent from some rows or some responses.

    Parameters
    ----------
    analysis : SectionAnalysis
        The tables of a section.
    responses : iterable
        The decoded JSON of the section.

    Returns
    -------
    tuple of str
        The sorted paths. If all fields of an object are absent, only the path of the object is
        listed.
    """
    columns = [column for draft_table in analysis.draft_tables for column in draft_table.columns]
    optional_paths = {
        column.path for column in columns if column.is_row_field and MISSING in column.values
    }
    for response in responses:
        with suppress(AAToolkitError):  # a text in the place of data lacks nothing
            response_differences = _list_differences(
                _normalize_without_warnings(analysis.declaration, response)
            )
            optional_paths |= {
                path for drift_kind, path, *_ in response_differences if drift_kind == "absent"
            }
    field_paths = {column.path for column in columns}
    for parent_steps in sorted({parse_path(path)[:-1] for path in optional_paths} - {()}, key=len):
        nested_paths = {
            path for path in field_paths if parse_path(path)[: len(parent_steps)] == parent_steps
        }
        if nested_paths <= optional_paths:
            optional_paths = optional_paths - nested_paths | {format_path(parent_steps)}
    return tuple(sorted(optional_paths))


def check(
    profile: ProfileSource, project: Project, sections: Iterable[str] | None = None
) -> pd.DataFrame:
    """Request sections of a service, and list how the responses differ from their description.

    The service is asked even if its responses are cached, unless the client is offline.

    Parameters
    ----------
    profile : Profile, module, str or path
        The description: a `Profile`, or the Python file that a draft was saved to, which is run.
    project : Project
        A project of the service, as from `aatoolkit.project`.
    sections : iterable of str, optional
        The names of the sections to request; by default all that are described.

    Returns
    -------
    DataFrame
        One row for each difference; none, printed as a sentence, if nothing differs. The columns
        are ``section``, ``change`` (the kind of difference, such as ``absent``), ``path`` (in the
        response), ``count`` (how often it occurs) and ``example``. ``count`` is Int64, the others
        are text.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> project = aa.demo()
    >>> aa.profile.check(aa.sections.default_profile(), project, ["urls"])
    nothing changed: the responses are as the profile says
    """
    import pandas as pd

    profile = Profile.load(profile)
    difference_rows = [
        (section_name, *difference)
        for section_name in sections or profile.names
        for difference in _find_differences(profile, project, section_name)
    ]
    column_names = ["section", "change", "path", "count", "example"]
    difference_frame = pd.DataFrame(difference_rows, columns=column_names, dtype="string")
    # Only here: a selection of changes that is empty does not mean that there are none.
    no_change_text = (
        "" if difference_rows else "nothing changed: the responses are as the profile says"
    )
    return show_as(
        difference_frame.astype({"count": "Int64"}), DisplayOptions(if_empty=no_change_text)
    )


def _find_differences(
    profile: Profile, project: Project, section_name: str
) -> Iterator[ProfileDifference]:
    """Request a section, and yield the differences of its response from the profile.

    Yields
    ------
    tuple
        The kind of a difference, its path, how often it occurs, and an example value or None.
    """
    try:
        payload = project.fetch(section_name, refresh=not project.client.offline)
        tables = _normalize_without_warnings(profile[section_name], payload)
    except AAToolkitError as error:
        yield "not read", "$", 1, str(error)
        return
    previous_kinds_and_paths = [
        [*kind_and_path]
        for kind_and_path in profile.baseline.get("drift", {}).get(section_name, ())
    ]
    yield from (
        difference
        for difference in _list_differences(tables)
        if [*difference[:2]] not in previous_kinds_and_paths
    )
    old_medians_by_table = profile.baseline.get("medians")
    if old_medians_by_table is None:
        return
    for table_name, median_by_column in _find_share_medians(profile[section_name], tables).items():
        for column_name, median in median_by_column.items():
            column_label = f"{table_name}.{column_name}"
            old_median = old_medians_by_table.get(table_name, {}).get(column_name, 0.0)
            if median is None and old_median is not None:
                yield "no values any more", column_label, 1, None
            median_ratio = median / old_median if median and old_median else 1
            if not 1 / _MAX_MEDIAN_RATIO < median_ratio < _MAX_MEDIAN_RATIO:
                yield "another scale", column_label, 1, f"{median:.2g}, was {old_median:.2g}"


def _find_share_medians(section: Section, tables: Tables) -> dict[str, dict[str, float | None]]:
    """Return the median of each column of shares in a section.

    Returns
    -------
    dict of str to dict
        Maps each table to a dict from column to median. A column in which all values are missing is
        listed with None, whatever its kind.
    """
    medians_by_table: dict[str, dict[str, float | None]] = {}
    for table in section:
        for column in table.columns:
            column_values = tables[table.name][column.name].dropna()
            is_share = (column.unit or "").startswith("fraction")
            if is_share if len(column_values) else len(tables[table.name]):
                median = float(f"{abs(column_values).median():.2g}") if len(column_values) else None
                medians_by_table.setdefault(table.name, {})[column.name] = median
    return medians_by_table


def _normalize_without_warnings(section: Section, payload: Any) -> Tables:
    """Convert a response to tables, without warnings about fields that differ from the profile."""
    # A check reports all drift itself, so the warning would say it twice.
    with warnings.catch_warnings(action="ignore"):
        return normalize(section, payload)


def _list_differences(tables: Tables) -> list[ProfileDifference]:
    """Return the differences of a response from the profile.

    Each is a tuple: its kind, its path, how often it occurs, and an example value or None.
    ``tables`` are the tables of the response.
    """
    drift_frame = tables.drift.astype(object).where(tables.drift.notna(), None)
    return [
        (str(drift_kind), str(path), int(drift_count), example if example is None else str(example))
        for drift_kind, path, drift_count, example, *_ in drift_frame.itertuples(index=False)
    ]


# --- rules --------------------------------------------------------------------------------------


def find_rule_problem(
    rule: Rule,
    responses: Sequence[Any],
    headers: Mapping[str, str],
    possible_field_paths: Sequence[str],
) -> str | None:
    """Return a message if a rule finds no value that it can interpret, else None.

    Parameters
    ----------
    rule : Rule
        The path of a field, and the meaning of each of its texts, such as ``not_run``.
    responses : sequence
        The decoded JSON of the responses.
    headers : mapping of str to str
        The HTTP headers of the first response.
    possible_field_paths : sequence of str
        Paths that the message may suggest instead.

    Examples
    --------
    >>> responses = [{"rivit": [{"lkm": 0, "tyhja": True}]}]
    >>> rule = Rule(at="rivit[].tyhja", words={True: "not_run"})
    >>> find_rule_problem(rule, responses, {}, ()) is None
    True
    >>> find_rule_problem(Rule(at="rivit[].tyhjä"), responses, {}, ())
    "no response has 'rivit[].tyhjä'; did you mean 'rivit[].tyhja' or 'rivit[]' or 'rivit[].lkm'?"
    """
    for meaning in rule.words.values():
        if meaning != NO_MEANING and read_status_text(meaning).status == Status.UNKNOWN:
            return f"{meaning!r} is no status; there are {', '.join(ALLOWED_MEANINGS)}"
    for response_position, response in enumerate(responses):
        with warnings.catch_warnings(action="ignore"):
            response_headers = {} if response_position else headers
            signals = detect(response, rule, headers=response_headers, days=Scope().days).signals
        statuses = (signal.availability.status for signal in signals if signal.rule == rule.name)
        if any(status != Status.UNKNOWN for status in statuses):
            return None
    values_at_path = [value for name, value in headers.items() if name.lower() == rule.header]
    if rule.kind != "header":
        # A column of a grid is not in each of its rows by name, so its rows stand for it.
        steps = [step for step in parse_pattern(rule.at) if not isinstance(step, NamedColumn)]
        path_values = Vector(responses).descend(steps).values
        values_at_path = [value for value in path_values if value is not MISSING]
    if not values_at_path:
        response_paths = {
            re.sub(r"\[\d+\]", "[]", path)[2:]
            for response in responses
            for path, _ in list_leaf_paths_and_texts(response, "$")
        }
        similar_paths = find_near_matches(
            rule.at,
            sorted({*response_paths, *(path.rpartition(".")[0] for path in response_paths)}),
        )
        possible_fields_text = (
            f"possible fields: {join_some(possible_field_paths)}" if possible_field_paths else ""
        )
        suggestion = (
            f"{suggest_names(similar_paths)} {possible_fields_text}".strip()
            or "look at the response for its fields"
        )
        return f"no response has {rule.at!r}; {suggestion}" if responses else None
    if NO_MEANING in (rule.meaning_of(value)[0] for value in values_at_path):
        return None
    value_texts = dict.fromkeys(to_json_text(value)[:80] for value in values_at_path)
    return (
        f"none of the values of {rule.at!r} is known: {', '.join([*value_texts][:_MAX_EXAMPLES])}; "
        f"say what they mean as words=, with {', '.join(ALLOWED_MEANINGS)}, or which field says "
        "it, as status="
    )
