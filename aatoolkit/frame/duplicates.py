"""Find rows that a sum would count twice, after a join or because responses overlap.

Equal rows with the same key are counted once. If rows with the same key differ, the column cannot
be aggregated, and the exception `AggregationRefused` has the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit import sections
from aatoolkit._util.text import join_some
from aatoolkit.errors import AvailabilityError, ScopeError
from aatoolkit.frame.cell_status import IntArray, Mask, is_status_column
from aatoolkit.frame.groupby import Groups
from aatoolkit.frame.reshape import CONTEXT_COLUMNS
from aatoolkit.metadata.attrs import (
    UNDECLARED,
    FrameMetadata,
    Source,
    fingerprint_check_of,
    metadata_and_responses,
    metadata_of,
    table_names_of,
)
from aatoolkit.metadata.fingerprint import OVERWRITTEN_REASON, combine_to_row_hashes, hash_cells
from aatoolkit.scope import FILTERS, Scope
from aatoolkit.sections.aggregation import COUNT, CURRENCY

SEVERAL_GROUPS_PLACEHOLDER = "what is in several groups"
"""A placeholder for the key of a table whose rows are in several groups."""

# A placeholder for the key of a table whose rows no columns identify.
NO_KEY_PLACEHOLDER = "what tells apart rows that are equal in all columns"

JOINED_TABLE_PREFIX = "joined-"
"""The prefix of the table name that a merged frame gets."""


def is_joined_table(table_name: str) -> bool:
    """Return whether a table name stands for a merged frame, such as ``joined-3f2a``."""
    return table_name.startswith(JOINED_TABLE_PREFIX)


class AggregationRefused(Exception):
    """Raised if a column cannot be aggregated; the text is the reason."""


@dataclass(frozen=True)
class ResponseScope:
    """The host, days and filters of the request that a response answers.

    Two responses with the same host, overlapping days and overlapping filters may contain the same
    data, which a sum would then count twice.
    """

    host: str | None
    since: str | None  # the first day
    until: str | None  # the last day
    day_count: str | None
    filters: tuple[frozenset[str], ...]  # the values of each filter, in the order of `FILTERS`

    def is_disjoint(self, other: ResponseScope) -> bool:
        """Return whether two responses have no data in common, e.g. because their days differ."""
        if self.host and other.host and self.host != other.host:
            return True
        window_bounds = (self.since, self.until, other.since, other.until)
        window_start, window_end, other_window_start, other_window_end = map(str, window_bounds)
        if all(window_bounds) and (
            window_end < other_window_start or other_window_end < window_start
        ):
            return True
        filter_pairs = zip(FILTERS, self.filters, other.filters, strict=True)
        # An observation has one value of each other filter; an answer may name several brands.
        return any(
            filter_values and other_values and not filter_values & other_values
            for name, filter_values, other_values in filter_pairs
            if name != "brand"
        )

    def __str__(self) -> str:
        window_text = (
            f"{self.since} to {self.until}" if self.since else f"{self.day_count or '?'} days"
        )
        filters_text = "; ".join(
            f"{name}={','.join(sorted(filter_values))}"
            for name, filter_values in zip(FILTERS, self.filters, strict=True)
            if filter_values
        )
        return " ".join(text for text in (self.host, window_text, filters_text) if text)


def response_scope(source: Source) -> ResponseScope:
    """Return the host, days and filters of a response from the frame's metadata."""
    scope = None if source.scope is None else Scope._from_query(source.scope)
    filter_values_by_name = {} if scope is None else scope._filters
    return ResponseScope(
        source.host,
        source.window_start,
        source.window_end,
        str(scope.days) if scope else None,
        tuple(frozenset(filter_values_by_name.get(name, ())) for name in FILTERS),
    )


class Duplicates:
    """Finds the rows of a grouped frame that a sum would count twice, e.g. after a join."""

    def __init__(self, frame: pd.DataFrame, metadata: FrameMetadata, groups: Groups) -> None:
        self._frame = frame
        self._metadata = metadata
        self._groups = groups
        self._first_rows_by_table: dict[str, tuple[IntArray, list[ResponseScope]]] = {}
        self._context = [
            name
            for name in CONTEXT_COLUMNS
            if name in frame.columns and metadata.has_valid_metadata(name)
        ]

    def find_repeated_rows(self, table_name: str, compared_columns: Sequence[str]) -> Mask | None:
        """Return a boolean mask of the rows that repeat an earlier row; None if no row does.

        A row repeats another row of its group if both have the same key. ``table_name`` is the name
        of the table that the column to sum comes from, such as ``source_domains``. Rows with the
        same key must also have equal values in ``compared_columns``, the columns that are
        aggregated; otherwise `AggregationRefused` is raised.
        """
        if table_name not in self._first_rows_by_table:
            self._first_rows_by_table[table_name] = self._find_first_rows(table_name)
        first_row_positions, overlapping_scopes = self._first_rows_by_table[table_name]
        is_repeated_row: Mask = first_row_positions != np.arange(len(first_row_positions))
        if not is_repeated_row.any():
            return None
        for column in compared_columns:
            cell_hashes = hash_cells(self._frame[column].array)
            if (cell_hashes != cell_hashes[first_row_positions]).any():
                raise AggregationRefused(_describe_difference(column, overlapping_scopes))
        return is_repeated_row

    def is_in_several_groups(self, table_name: str) -> bool:
        """Return whether the rows that a join repeated are in several groups.

        ``table_name`` is the name of a table with repeated rows. For example, a domain with two
        kinds of pages is in two groups by kind of page.
        """
        key_columns, missing_columns = self._key_columns(table_name)
        if missing_columns or key_columns is None:
            return False
        key_codes = _find_first_equal_rows(
            [np.zeros(len(self._frame)), *(self._frame[name].array for name in key_columns)]
        )
        return len(np.unique(_find_first_equal_rows([self._groups.row_codes, key_codes]))) > len(
            np.unique(key_codes)
        )

    def _find_first_rows(self, table_name: str) -> tuple[IntArray, list[ResponseScope]]:
        """Return for each row the position of the first row of its group with the same key.

        Also return the scopes (host, days, filters) of the responses that overlap, i.e. that may
        have rows in common.
        """
        scopes, scope_of_row = self.scopes_and_positions(table_name)
        scope_pairs = [*combinations(scopes, 2)]
        overlapping_pairs = [
            scope_pair for scope_pair in scope_pairs if not scope_pair[0].is_disjoint(scope_pair[1])
        ]
        overlapping_scopes = [scope for scope_pair in overlapping_pairs for scope in scope_pair]
        key_columns, missing_columns = self._key_columns(table_name)
        group_of_row = self._groups.row_codes
        all_row_positions = np.arange(len(self._frame))
        is_repeated_table = table_name in self._metadata.repeated_tables
        was_repeated_table = table_name in metadata_and_responses(self._frame)[0].repeated_tables
        if is_repeated_table and not was_repeated_table and not overlapping_scopes:
            original_match = fingerprint_check_of(
                self._frame
            ).match_original()  # the rows before plain pandas steps
            if original_match is not None:
                return _find_first_equal_rows([group_of_row, original_match[0]]), []
        if missing_columns or key_columns is None:
            self._check_without_key(table_name, missing_columns, overlapping_scopes, scope_of_row)
            return all_row_positions, []
        key_names = [name for name in key_columns if name not in self._groups.constant_keys]
        compared_arrays = [group_of_row, *(self._frame[name].array for name in key_names)]
        first_row_positions = _find_first_equal_rows(compared_arrays)
        if (first_row_positions == all_row_positions).all() and key_columns:
            return all_row_positions, []
        if scope_of_row is None and len(overlapping_pairs) < len(scope_pairs):
            if overlapping_pairs or is_repeated_table:
                raise AggregationRefused(
                    "rows of several responses have one key: aggregate each frame alone, or add "
                    "df.aa.with_context() to each as it was read, before combining them"
                )
            return all_row_positions, []
        if scope_of_row is not None and not overlapping_pairs:
            first_row_positions = _find_first_equal_rows([*compared_arrays, scope_of_row])
        elif scope_of_row is not None and len(overlapping_pairs) < len(scope_pairs):
            raise AggregationRefused(_describe_difference("the key", overlapping_scopes))
        return first_row_positions, overlapping_scopes

    def _check_without_key(
        self,
        table_name: str,
        missing_columns: Sequence[str],
        overlapping_scopes: Sequence[ResponseScope],
        scope_of_row: IntArray | None,
    ) -> None:
        """Raise `AggregationRefused` if a sum may count rows twice, and no key tells which rows.

        ``missing_columns`` lists the key columns that the frame lacks. ``overlapping_scopes`` lists
        the scopes of the responses that may have rows in common. ``scope_of_row`` has for each row
        the number of its response; None if that is not known.
        """
        has_several_rows = has_several_responses = len(self._frame) > len(self._groups)
        if scope_of_row is not None and has_several_rows:
            group_response_pairs = np.unique(
                _find_first_equal_rows([self._groups.row_codes, scope_of_row])
            )
            has_several_responses = len(group_response_pairs) > len(self._groups)
        remedy = (
            f"keep {' and '.join(missing_columns)} in the frame"
            if missing_columns
            else f"{table_name} has no key"
        )
        rows_text = f"rows of {table_name}"
        if is_joined_table(table_name):
            table_columns = [
                name
                for name, column in self._metadata.columns.items()
                if column.table == table_name
            ]
            rows_text = f"rows of the frame with {table_columns[-1]}"
            if not missing_columns or missing_columns == [NO_KEY_PLACEHOLDER]:
                remedy = "no column tells which of them are the same: aggregate before the join"
        if missing_columns == [SEVERAL_GROUPS_PLACEHOLDER] and has_several_rows:
            raise AggregationRefused(
                f"the groups overlap: {rows_text} are in several of them; aggregate the rows that "
                "were grouped, not the groups"
            )
        if table_name in self._metadata.repeated_tables and has_several_rows:
            raise AggregationRefused(
                f"{rows_text} were repeated by a join or stacked twice; {remedy}"
            )
        if overlapping_scopes and has_several_responses:
            raise AggregationRefused(
                f"the responses overlap: {_name_two_scopes(overlapping_scopes)}; {remedy}, "
                f"{_GROUPING_HINT}"
            )

    def _key_columns(self, table_name: str) -> tuple[list[str] | None, list[str]]:
        """Return the key columns of a table that the frame has, and those that it lacks.

        The first list is None if the table has no key.
        """
        key_columns = self._metadata.key_of(table_name)
        if key_columns is None:
            return None, []
        column_names = self._frame.columns
        missing_columns = [
            name
            for name in key_columns
            if name not in column_names or not self._metadata.has_valid_metadata(name)
        ]
        if is_joined_table(table_name):
            return [*key_columns], missing_columns
        return [
            name
            for name in (*key_columns, "_row")
            if name in column_names and name not in CONTEXT_COLUMNS
        ], missing_columns

    def scopes_and_positions(self, table_name: str) -> tuple[list[ResponseScope], IntArray | None]:
        """Return the scopes of a frame's responses, and the position of each row's scope in them.

        A scope is the host, days and filters of a request. The positions are None if no column says
        which response a row came from.
        """
        if is_joined_table(table_name):
            return [], None
        if not self._context:
            sources = self._metadata.sources
            # Of several sections it is not known here which one a table of another profile is in.
            if ":" not in table_name or len({source.section for source in sources}) > 1:
                sources = tuple(source for source in sources if _may_have_table(source, table_name))
            return [*dict.fromkeys(map(response_scope, sources))], None
        context_rows = self._frame[self._context].astype("string")
        scope_of_row: Any = (
            context_rows.groupby(self._context, dropna=False, sort=False)
            .ngroup()
            .to_numpy(np.int64)
        )
        distinct_context_rows = context_rows.drop_duplicates().astype(object)
        scopes = []
        for context_row in distinct_context_rows.where(distinct_context_rows.notna(), None).to_dict(
            "records"
        ):
            filters = tuple(
                frozenset(filter(None, str(context_row.get(f"filter_{name}") or "").split(",")))
                for name in FILTERS
            )
            scope_values = [
                context_row.get(name) for name in ("host", "window_start", "window_end", "days")
            ]
            scopes.append(ResponseScope(*scope_values, filters))  # type: ignore[call-arg, arg-type]
        return scopes, scope_of_row


def drop_repeated_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without the rows that a join or `pandas.concat` repeated.

    If the key columns are gone, equal rows cannot be told apart, and `AvailabilityError` is raised.
    """
    stored_metadata, _ = metadata_and_responses(frame)
    metadata = metadata_of(frame)
    key_by_table = {
        name: stored_metadata.key_of(name) or () for name in table_names_of(stored_metadata)
    }
    repeated_tables = {*metadata.repeated_tables}
    if not repeated_tables:
        return frame
    original_match = fingerprint_check_of(frame).match_original()
    if original_match is not None:
        frame = frame[_is_first_occurrence(frame, original_match[0])]
        repeated_tables &= {*stored_metadata.repeated_tables}
    is_first = _is_first_occurrence(frame)
    if not repeated_tables or is_first.all():
        return frame
    key_columns = dict.fromkeys(
        name
        for table in sorted(repeated_tables)
        for name in key_by_table.get(table, (NO_KEY_PLACEHOLDER,))
    )
    missing_columns = [name for name in key_columns if name not in frame.columns]
    if missing_columns:
        has_column_names = {NO_KEY_PLACEHOLDER, SEVERAL_GROUPS_PLACEHOLDER}.isdisjoint(
            missing_columns
        )
        hint = (
            f"keep {' and '.join(missing_columns)}"
            if has_column_names
            else "draw what was read before the join"
        )
        reason = (
            "rows that are alike were repeated by a join or stacked twice, and nothing tells them"
        )
        raise AvailabilityError(
            f"{reason} apart; {hint}", columns=dict.fromkeys(missing_columns, reason)
        )
    return frame.loc[is_first]


def _is_first_occurrence(frame: pd.DataFrame, *other_arrays: IntArray) -> Mask:
    """Return a boolean mask of the rows that differ from all earlier rows.

    The arrays ``other_arrays`` are compared as additional columns.
    """
    compared_arrays = [*(values.array for _, values in frame.items()), *other_arrays]
    is_first: Mask = _find_first_equal_rows(compared_arrays) == np.arange(len(frame))
    return is_first


def _find_first_equal_rows(columns: Sequence[Any]) -> IntArray:
    """Return for each row the position of the first row that is equal to it in all ``columns``."""
    pandas_arrays = (
        pd.array(column) if isinstance(column, np.ndarray) else column for column in columns
    )
    row_hashes = combine_to_row_hashes([hash_cells(values) for values in pandas_arrays])
    row_positions = pd.Series(np.arange(len(row_hashes)))
    return row_positions.groupby(row_hashes, sort=False).transform("first").to_numpy()


def _may_have_table(source: Source, table_name: str) -> bool:
    """Return whether a response may contain rows of a table; True if its section is not known."""
    with suppress(ScopeError, KeyError):
        return any(
            declaration.name == table_name for declaration in sections.get(source.section or "")
        )
    return True


def _name_two_scopes(scopes: Iterable[ResponseScope]) -> str:
    """Return a text that names two of the responses by their days or filters.

    For example, ``7 days and 30 days``.
    """
    scope_texts = [*dict.fromkeys(map(str, scopes))]
    return " and ".join(scope_texts[:2]) if len(scope_texts) > 1 else f"two of {scope_texts[0]}"


_GROUPING_HINT = "or aggregate by what tells them apart, such as 'fetched_at' of an archive"


def _describe_difference(column_name: str, overlapping_scopes: Sequence[ResponseScope]) -> str:
    """Return the error message for rows that have one key but differ in the column ``column_name``.

    ``overlapping_scopes`` has the host, days and filters of each of the responses that overlap, if
    any do.
    """
    if overlapping_scopes:
        return (
            f"the responses overlap and {column_name} differs in them: "
            f"{_name_two_scopes(overlapping_scopes)}; aggregate each alone, {_GROUPING_HINT}"
        )
    return (
        f"rows with the same key differ in {column_name}; aggregate the frames before you join them"
    )


_MIN_SHARED_COLUMNS = 3
"""A frame with this many columns of a declared table is taken for a part of this table."""


def missing_rule_reason(frame: pd.DataFrame, metadata: FrameMetadata, column_name: str) -> str:
    """Return the text that says why a column has no rule such as "sum", and what to do about it."""
    column_metadata = metadata.columns[column_name]
    if metadata.has_lost_values(column_name):
        availability_reason = column_metadata.availability.reason
        loss_reason = (
            "its values are not those that were read"
            if availability_reason == OVERWRITTEN_REASON
            else availability_reason
        )
        hint = "aggregate the frame that was read, or say by rules= how to aggregate the new values"
        return f"{loss_reason}; {hint}"
    unsuffixed_name, *other_names = (
        other_name.removesuffix("_x").removesuffix("_y")
        for other_name in (column_name, *map(str, frame.columns))
    )
    # A common name may be a coincidence unless other columns of the table are here, too.
    column_sets_of_tables = [
        {*table.names}
        for section in sections.names()
        for table in sections.get(section)
        if unsuffixed_name in table.names
        and (
            table[unsuffixed_name].aggregate.rule not in ("none", "key")
            or len({*other_names} & {*table.names}) >= _MIN_SHARED_COLUMNS
        )
    ]
    has_adopted_metadata = "adopt" in (metadata_and_responses(frame)[0].recipe or ())
    if (
        metadata.has_valid_metadata(column_name)
        or has_adopted_metadata
        or not column_sets_of_tables
    ):
        rules_argument = suggest_rule(frame, metadata, column_name)
        dropped_columns = [
            old_name
            for old_name in metadata_and_responses(frame)[0].columns
            if old_name not in frame.columns
        ]
        hint = f"; if it was {join_some(dropped_columns)}, rename by df.aa.rename" * bool(
            dropped_columns
        )
        return f"it has no declared rule; aggregate with one, such as {rules_argument}{hint}"
    loss_reason = "a plain pandas step lost its declaration, or a file such as CSV has none"
    if unsuffixed_name == column_name and any(
        {*map(str, frame.columns)} <= column_set for column_set in column_sets_of_tables
    ):
        return (
            f"{loss_reason}: stack the frames that were read with aatoolkit.concat in place of "
            "pd.concat, or add .aa.adopt(first, second) to the frame"
        )
    return (
        f"{loss_reason}: write left.aa.merge(right, on=…) in place of left.merge, or add "
        ".aa.adopt(left, right) to what was merged"
    )


_ROUNDING_TOLERANCE = 0.1
"""The maximum rounding error of a rate times its denominator."""


def suggest_rule(frame: pd.DataFrame, metadata: FrameMetadata, column_name: str) -> str:
    """Return a ``rules=`` argument for a column as text, such as ``rules={'visits': 'sum'}``.

    It is a count for texts, a sum for counts, and a weighted mean for rates.
    """
    column_values = frame[column_name]
    declaration = metadata.declaration_of(column_name)
    if not pd.api.types.is_numeric_dtype(column_values.dtype):
        return f"rules={{{column_name!r}: 'count'}}"
    currency_columns = [
        str(other_name) for other_name in frame.columns if "currency" in str(other_name)
    ]
    is_money = declaration.unit == CURRENCY
    if is_money and len(currency_columns) == 1:
        rule_text = f"aa.sections.Aggregation('sum', within={currency_columns[0]!r})"
        return f"rules={{{column_name!r}: {rule_text}}}"
    has_fractions = bool((column_values % 1 > 0).any())
    # Of one's own numbers, rates and differences of rates do not add up.
    is_additive = (
        has_fractions
        and declaration is UNDECLARED
        and column_values.min() >= 0
        and column_values.max() > 1
    )
    if is_money or not has_fractions or is_additive:
        return f"rules={{{column_name!r}: 'sum'}}"
    count_column_names = [
        other_name
        for other_name in map(str, frame.select_dtypes("integer").columns)
        if other_name not in CONTEXT_COLUMNS
        and metadata.declaration_of(other_name).unit in (None, COUNT)
        and frame.loc[column_values.notna(), other_name]
        .notna()
        .all()  # a weight is needed in each row
    ]
    if (
        column_values.dropna().between(0, 1).all()
    ):  # a rate; times its denominator it is a whole number
        product_by_column = {
            other_name: column_values * frame[other_name] for other_name in count_column_names
        }
        count_column_names = [
            other_name
            for other_name, product in product_by_column.items()
            if (product - product.round()).abs().max() < _ROUNDING_TOLERANCE
        ]
    if not count_column_names:
        return (
            f"rules={{{column_name!r}: aa.sections.weighted(COUNTS)}}, with the table of the "
            "counts joined by df.aa.merge"
        )
    return f"rules={{{column_name!r}: aa.sections.weighted({count_column_names[0]!r})}}"


_MAX_REPEAT_PROBABILITY = 0.01
_EQUAL_VALUE_PROBABILITY = 0.05
"""Rows with equal values count as repeats of each other if the probability that unrelated rows
have these values is below the first number. The second number is the assumed probability that two
unrelated values are equal.
"""


def check_repeated_values(frame: pd.DataFrame, groups: Groups, column_name: str) -> None:
    """Raise `AggregationRefused` if a join probably repeated values of a column.

    A sum would add the repeated values several times.
    """
    has_value = frame[column_name].notna().to_numpy(bool)
    column_values = frame.loc[has_value, column_name]
    # A column of 0 and 1, or with only one distinct value, says nothing.
    if column_values.nunique() < 2 or column_values.isin([0, 1]).all():
        return
    for column, dtype in frame.dtypes.items():
        if pd.api.types.is_numeric_dtype(dtype) or is_status_column(frame, str(column)):
            continue
        key_codes = _find_first_equal_rows([frame[column].array[has_value]])
        key_value_rows = pd.DataFrame(
            {"key": key_codes, "value": column_values.array, "group": groups.row_codes[has_value]}
        )
        key_value_pairs = key_value_rows[["key", "value"]].drop_duplicates()
        repeat_count = len(key_value_rows) - len(key_value_pairs)
        # The sign of a repeat: rows with the same text or day always have the same value.
        has_repeats = key_value_rows.duplicated(["group", "key"]).any()
        if not has_repeats or key_value_pairs["key"].duplicated().any():
            continue
        value_shares = key_value_pairs["value"].value_counts(normalize=True)
        equal_value_probability = (
            (value_shares**2).sum()
            if column_values.isin(range(10)).all()
            else _EQUAL_VALUE_PROBABILITY
        )
        if equal_value_probability**repeat_count < _MAX_REPEAT_PROBABILITY:
            raise AggregationRefused(
                f"it has one value per {column} over {len(key_value_rows):,} rows, and a sum would "
                "count it several times: join with df.aa.merge, which counts each once; if each "
                "row has its own, aggregate with "
                f"rules={{{column_name!r}: aa.sections.Aggregation('sum')}}"
            )
