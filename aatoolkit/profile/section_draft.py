"""The guessed tables of one section (one kind of response), for a person to review and correct."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aatoolkit._util.dtypes import Reading
from aatoolkit._util.show import show_as
from aatoolkit._util.text import counted
from aatoolkit.availability.detect import to_json_text
from aatoolkit.errors import ArgumentError, unknown
from aatoolkit.jsontree.coerce import parse_values
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.profile.checking import find_rule_problem
from aatoolkit.profile.possible_fields import PossibleStatusField
from aatoolkit.sections import CURRENCY, SUM, Rule, Section
from aatoolkit.sections.aggregation import as_rule
from aatoolkit.sections.availability_rule import with_rule
from aatoolkit.sections.column import DTYPES_BY_PARSE
from aatoolkit.sections.inference.analysis import SectionAnalysis, declare_column, rename_column
from aatoolkit.sections.inference.draft_tables import (
    LIKELY,
    OPEN,
    PROVED,
    SETTLED,
    DraftColumn,
    Guess,
)
from aatoolkit.sections.inference.units import find_currency_column

if TYPE_CHECKING:
    import pandas as pd

_PROPERTY_NAMES = ("unit", "aggregate", "dtype", "parse", "scale", "missing", "doc")


class SectionDraft:
    """The guessed tables of one section: `review` shows their columns, `set` corrects a column.

    A section is one kind of response, such as ``domains``. `Draft` maps the names of sections to
    objects of this class. `availability` shows fields that may say that data are missing, and
    `set_rule` confirms one.

    Parameters
    ----------
    analysis : SectionAnalysis
        The guessed tables.
    possible_fields : iterable of PossibleStatusField
        The fields that may say that data are missing.
    responses : sequence
        The JSON of the section, from one or several requests.
    headers : mapping of str to str
        The HTTP headers of the first response.

    Attributes
    ----------
    name : str
        The name of the section, such as ``domains``.
    notes : list of str
        Notes on guesses that a person should check.
    """

    def __init__(
        self,
        analysis: SectionAnalysis,
        possible_fields: Iterable[PossibleStatusField],
        responses: Sequence[Any],
        headers: Mapping[str, str],
    ) -> None:
        self._responses = responses
        self._headers = headers
        self.possible_fields: tuple[PossibleStatusField, ...] = tuple(possible_fields)
        analysis.watched_paths = tuple(
            watched_field.at
            for possible_field in self.possible_fields
            for watched_field in (possible_field, *possible_field.similar_fields)
        )
        self.name: str = analysis.section_name
        self.notes: list[str] = analysis.notes
        self.analysis = analysis

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of this section's tables, the most important one first."""
        return tuple(draft_table.name for draft_table in self.analysis.draft_tables)

    @property
    def section(self) -> Section:
        """The tables as a `Section`, which `aatoolkit.normalize` takes to read a response."""
        return self.analysis.declaration

    def columns(self) -> Iterator[DraftColumn]:
        """Yield a `DraftColumn` (the guesses about a column) for each column of each table."""
        for draft_table in self.analysis.draft_tables:
            yield from draft_table.columns

    def counts(self) -> dict[str, int]:
        """Count the columns of numbers by the confidence of the guesses about them.

        Returns
        -------
        dict of str to int
            Maps ``proved``, ``likely``, ``open`` and ``settled`` to a number of columns. A column
            is ``settled`` if a person set both its unit and its rule. Otherwise, the less sure
            of these two decides. Columns that identify rows are not counted.
        """
        column_count_by_confidence = dict.fromkeys((PROVED, LIKELY, OPEN, SETTLED), 0)
        for column in self.columns():
            if column.format.is_number and not column.is_key:
                column_count_by_confidence[column.confidence] += 1
        return column_count_by_confidence

    @property
    def review(self) -> pd.DataFrame:
        """A DataFrame with one row for each column: the guesses about it, and their reasons.

        The index has the levels ``table`` and ``column``. The columns, all text, are ``path`` (in
        the response), ``dtype``, ``unit``, ``rule`` (how to aggregate), ``meaning``, ``confidence``
        (``proved``, ``likely``, ``open`` or ``settled``), ``evidence`` (the reasons) and
        ``example`` (a value).
        """
        import pandas as pd

        cells_by_column = {
            (column.table, column.name): (
                column.path,
                column.dtype,
                column.unit.value,
                column.aggregation_text,
                column.doc,
                column.confidence,
                column.evidence,
                column.example and str(column.example)[:80],
            )
            for column in self.columns()
        }
        table_and_column_index = pd.MultiIndex.from_tuples(
            cells_by_column, names=["table", "column"]
        )
        property_names = [
            "path",
            "dtype",
            "unit",
            "rule",
            "meaning",
            "confidence",
            "evidence",
            "example",
        ]
        return show_as(
            pd.DataFrame(
                [*cells_by_column.values()], table_and_column_index, property_names, dtype="string"
            )
        )

    def set(
        self, column: str, *, table: str | None = None, name: str | None = None, **properties: Any
    ) -> None:
        """Correct a column, for example its unit. Properties that are not given stay unchanged.

        Parameters
        ----------
        column : str
            The name of the column, of its JSON field, or the path of the field.
        table : str, optional
            The name of the table, if several tables have such a column.
        name : str, optional
            A new name for the column.
        **properties
            The new properties: ``unit``, ``aggregate``, ``dtype``, ``parse``, ``scale``,
            ``missing`` and ``doc``, as in `aatoolkit.sections.Column`. For example, ``aggregate``
            may be ``"sum"`` or ``aatoolkit.sections.ratio("cit", "tot")``.

        Raises
        ------
        ArgumentError
            If no column or several columns match, if the properties contradict each other, or if
            the values in the responses cannot be read in this way.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> draft = aa.profile.draft(aa.demo(), sections=["urls"], requests=2)
        >>> draft["urls"].set("title", table="urls", doc="The title of the page.")
        >>> draft["urls"].review.loc[("urls", "title"), "meaning"]
        'The title of the page.'
        """
        old_column = self._find_column(column, table)
        changed_column = copy(old_column)
        dtypes = DTYPES_BY_PARSE.get(properties.get("parse") or "", ())
        if "dtype" not in properties and dtypes and old_column.dtype not in dtypes:
            properties["dtype"] = dtypes[0]
        for property_name, value in properties.items():
            if property_name == "unit":
                changed_column.unit = Guess(value, SETTLED, "settled by hand")
            elif property_name == "aggregate":
                changed_column.aggregation = Guess(as_rule(value), SETTLED, "settled by hand")
            elif property_name == "scale":
                changed_column.scale_factor = value
            elif property_name == "doc":
                changed_column.doc = value
            elif property_name in ("dtype", "parse", "missing"):
                changed_column.format = replace(changed_column.format, **{property_name: value})
            else:
                raise ArgumentError(
                    unknown("property", property_name, _PROPERTY_NAMES), argument=property_name
                )
        try:
            aggregation = changed_column.aggregate
            if changed_column.unit.value == CURRENCY and aggregation == SUM:
                aggregation = replace(aggregation, within=find_currency_column(changed_column))
                changed_column.aggregation = replace(changed_column.aggregation, value=aggregation)
            column_names = old_column.draft_table.column_names
            missing_names = {*(aggregation.over or ()), aggregation.by, aggregation.within} - {
                None,
                *column_names,
            }
            if missing_names:
                raise ValueError(f"its rule needs {', '.join(map(str, missing_names))}, not there")
            if name is not None and name != old_column.name and name in column_names:
                raise ValueError(f"its table has a column {name!r}")
            declare_column(changed_column)
            if {"dtype", "parse", "missing"} & properties.keys():
                _check_parsed_values(changed_column)
        except ValueError as error:
            raise ArgumentError(
                f"{old_column.table}.{column} cannot be declared so: {error}", argument="column"
            ) from None
        vars(old_column).update(vars(changed_column))
        if name is not None:
            rename_column(old_column, name)

    def _find_column(self, column: str, table: str | None) -> DraftColumn:
        """Return the column whose name, path in the response, or JSON field is ``column``.

        If ``table`` is given, only columns of this table are searched. Raise an ArgumentError if no
        column or several columns match.
        """
        columns_in_scope = [
            draft_column for draft_column in self.columns() if table in (None, draft_column.table)
        ]
        for attribute_name in ("name", "path", "field_name"):
            matching_columns = [
                draft_column
                for draft_column in columns_in_scope
                if getattr(draft_column, attribute_name) == column
            ]
            # The main table comes first.
            matching_columns = [
                draft_column
                for draft_column in matching_columns
                if draft_column.table == self.tables[0]
            ] or matching_columns
            if len(matching_columns) > 1:
                table_names = ", ".join(draft_column.table for draft_column in matching_columns)
                raise ArgumentError(
                    f"{column!r} is in several tables of {self.name} ({table_names}): say table=",
                    argument="column",
                )
            if matching_columns:
                return matching_columns[0]
        column_names = [draft_column.name for draft_column in columns_in_scope]
        raise ArgumentError(unknown("column", column, column_names), argument="column")

    @property
    def availability(self) -> pd.DataFrame:
        """A DataFrame of the fields that may say that data are missing, the likeliest first.

        Such a field is ignored until `set_rule` confirms it.

        The columns, all text, are ``at`` (the path of the field), ``value``, ``why`` (the reason to
        list it) and ``rule`` (the call of `set_rule` that confirms it). There is one more column
        for each other host that was requested, with the values on that host.
        """
        import pandas as pd

        possible_fields = self.possible_fields
        cells_by_column = {
            "at": [possible_field.at for possible_field in possible_fields],
            "value": [to_json_text(possible_field.value) for possible_field in possible_fields],
            "why": [possible_field.why for possible_field in possible_fields],
            "rule": [
                f"set_rule({', '.join(f'{name}={value!r}' for name, value in rule.items())})"
                for rule in self.proposals()
            ],
        }
        for host in dict.fromkeys(
            host for possible_field in possible_fields for host in possible_field.value_by_host
        ):
            cells_by_column[host] = [
                to_json_text(possible_field.value_by_host.get(host))
                for possible_field in possible_fields
            ]
        return show_as(pd.DataFrame(cells_by_column, dtype="string"))

    def proposals(self) -> list[dict[str, Any]]:
        """Return the proposed arguments of `set_rule` for each row of `availability`.

        To accept a proposal, call ``set_rule(**arguments)`` with it.

        Returns
        -------
        list of dict
            One dict of arguments per row of `availability`.
        """
        return [propose_rule(possible_field) for possible_field in self.possible_fields]

    def set_rule(self, **rule: Any) -> None:
        """Confirm that a field of the responses says which data are missing.

        Call it again for another field. A second call for the same path replaces the first.
        `remove_rule` undoes it, and ``section.rules`` lists all confirmed fields.

        Parameters
        ----------
        **rule
            The arguments of `aatoolkit.sections.Rule`: ``at``, the path of the field; ``words``,
            the meanings of its values; and others. If `availability` lists the path, ``at`` and
            ``words``, or ``at`` alone, are enough; the rest is as proposed there.

        Raises
        ------
        ArgumentError
            If the arguments contradict each other, if no response has the path ``at``, or if no
            value at this path gets a meaning.
        """
        if rule.keys() <= {"at", "words"}:
            proposals = (
                {**proposal, **rule, "at": proposal["at"]}
                for possible_field, proposal in zip(
                    self.possible_fields, self.proposals(), strict=True
                )
                if rule.get("at") in (possible_field.at, proposal["at"])
            )
            rule = next(
                ({**proposal, **rule, "at": proposal["at"]} for proposal in proposals), rule
            )
        try:
            new_rule = Rule(**rule)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"that is no rule: {error}", argument="rule") from None
        self.add_rule(new_rule)

    def add_rule(self, rule: Rule) -> None:
        """Confirm that a field says which data are missing, by a `Rule`; `set_rule` calls this.

        Parameters
        ----------
        rule : Rule
            The path of the field, and the meanings of its values.

        Raises
        ------
        ArgumentError
            If no response has the path, or if no value at this path gets a valid meaning.
        """
        possible_field_paths = [proposal["at"] for proposal in self.proposals()]
        problem = find_rule_problem(rule, self._responses, self._headers, possible_field_paths)
        if problem is not None:
            raise ArgumentError(problem, argument="rule")
        self.analysis.rules = with_rule(self.analysis.rules, rule)

    def remove_rule(self, at: str) -> None:
        """Remove the rule that `set_rule` added for a field.

        Parameters
        ----------
        at : str
            The path of the field.

        Raises
        ------
        ArgumentError
            If there is no rule for this path.
        """
        rule_by_path = {rule.at: rule for rule in self.analysis.rules}
        if at not in rule_by_path:
            raise ArgumentError(unknown("rule", at, rule_by_path), argument="rule")
        del rule_by_path[at]
        self.analysis.rules = tuple(rule_by_path.values())

    def __repr__(self) -> str:
        lines = [f"<Draft of {self.name}: {format_counts(self.counts())}>"]
        for draft_table in self.analysis.draft_tables:
            lines.append(f"  {draft_table.name}  {counted(len(draft_table.columns), 'column')}")
        lines += [f"  ! {note}" for note in self.notes]
        if self.possible_fields and not self.analysis.rules:
            paths = ", ".join(possible_field.at for possible_field in self.possible_fields)
            lines.append(f"  ? may be about availability: {paths}; see .availability")
        return "\n".join(lines)


def format_counts(column_count_by_confidence: Mapping[str, int]) -> str:
    """Format the result of `SectionDraft.counts` as text.

    Counts of 0 are shown, too, but not that of ``settled``.

    Examples
    --------
    >>> format_counts({"proved": 3, "likely": 0, "open": 1, "settled": 0})
    '3 proved, 0 likely, 1 open'
    """
    return ", ".join(
        f"{column_count} {confidence}"
        for confidence, column_count in column_count_by_confidence.items()
        if column_count or confidence != SETTLED
    )


def propose_rule(possible_field: PossibleStatusField) -> dict[str, Any]:
    """Return the arguments of a `Rule` by which a field says which data are missing.

    Parameters
    ----------
    possible_field : PossibleStatusField
        The field, which may say that data are missing.

    Returns
    -------
    dict
        The arguments, such as ``at`` (the path) and ``words`` (the meanings of its texts).
    """
    flag_by_text = {"true": True, "false": False, "null": None}
    meaning_by_word = {
        flag_by_text.get(word, word): meaning
        for word, meaning in possible_field.meaning_by_word.items()
    }
    has_engine_placeholder = any("{engine}" in word for word in possible_field.meaning_by_word)
    parent_path, _, field_name = possible_field.at.rpartition(".")
    rule_arguments: dict[str, Any] = {"at": possible_field.at}
    if isinstance(possible_field.value, list):
        rule_arguments = {
            "at": f"{possible_field.at}[]",
            "of": "engine" if has_engine_placeholder else "section",
        }
    elif isinstance(possible_field.value, dict):
        row_kind = None if {*possible_field.at} & {*"[{"} else "engine"
        rule_arguments = {"at": f"{possible_field.at}{{}}", "of": row_kind}
    elif possible_field.total_field and {*possible_field.at}.isdisjoint("[{"):
        rule_arguments = {"at": parent_path or "$", "status": field_name}
    elif possible_field.engine_field == "{}":
        rule_arguments["of"] = "engine"
    elif possible_field.engine_field:
        rule_arguments |= {"of": "engine", "engines": possible_field.engine_field}
    elif possible_field.is_about_section or has_engine_placeholder:
        rule_arguments["of"] = "engine" if has_engine_placeholder else "section"
    rule_arguments |= {"total": possible_field.total_field} if possible_field.total_field else {}
    return {**rule_arguments, "words": meaning_by_word}


def _check_parsed_values(column: DraftColumn) -> None:
    """Raise a ValueError if a value of a column cannot be parsed as the column's dtype."""
    json_values = [None if json_value is MISSING else json_value for json_value in column.values]
    dtype = column.format.dtype
    parse = column.format.parse
    if column.format.year is not None or not json_values:
        return
    invalid_positions = parse_values(
        json_values, Reading(dtype, parse, None, None, column.format.missing)
    ).invalid_positions
    if invalid_positions:
        example_texts = [
            *dict.fromkeys(
                to_json_text(json_values[invalid_position])
                for invalid_position in invalid_positions
            )
        ]
        argument_text = f"parse={parse!r}" if parse else f"dtype={dtype!r}"
        raise ValueError(
            f"{argument_text} reads {len(json_values) - len(invalid_positions)} of "
            f"{len(json_values)} values, and not {', '.join(example_texts[:3])}; say another "
            "parse=, or missing= for what stands for none"
        )
