"""The draft of one section, which a person reviews and corrects column by column."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aatoolkit._util.dtypes import Reading
from aatoolkit._util.show import show_as
from aatoolkit.availability.detect import raw
from aatoolkit.errors import ArgumentError, unknown
from aatoolkit.jsontree.coerce import read_as
from aatoolkit.jsontree.paths import Entries, format_path
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.profile.candidates import Candidate
from aatoolkit.profile.checking import find_rule_problem
from aatoolkit.sections import Rule, Section
from aatoolkit.sections.aggregation import rule_of
from aatoolkit.sections.availability_rule import with_rule
from aatoolkit.sections.column import PARSES
from aatoolkit.sections.inference.analysis import Analysis, declare_column, rename_column
from aatoolkit.sections.inference.findings import (
    LIKELY,
    OPEN,
    PROVED,
    SETTLED,
    ColumnFinding,
    Finding,
)

if TYPE_CHECKING:
    import pandas as pd

_PROPERTIES = ("unit", "aggregate", "dtype", "parse", "scale", "missing", "doc")


class SectionDraft:
    """The draft of one section; `review` shows the columns, and `set` corrects a column.

    Attributes
    ----------
    name : str
        The name of the section.
    notes : list of str
        Notes on findings that a person should check.
    """

    def __init__(
        self,
        analysis: Analysis,
        candidates: Iterable[Candidate],
        responses: Sequence[Any],
        headers: Sequence[Mapping[str, str]],
    ) -> None:
        self._responses, self._headers = responses, headers
        self.candidates: tuple[Candidate, ...] = tuple(candidates)
        analysis.watched = tuple(
            watched_candidate.at
            for candidate in self.candidates
            for watched_candidate in (candidate, *candidate.alike)
        )
        self.name: str = analysis.section
        self.notes: list[str] = analysis.notes
        self.analysis = analysis

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the section's tables; the main table comes first."""
        return tuple(relation.name for relation in self.analysis.relations)

    @property
    def section(self) -> Section:
        """The section's declaration as drafted so far: its tables, columns and rules."""
        return self.analysis.declaration

    def columns(self) -> Iterator[ColumnFinding]:
        """Yield the finding about each column, table by table; the main table comes first."""
        for relation in self.analysis.relations:
            yield from relation.columns

    def counts(self) -> dict[str, int]:
        """Return a dict from each confidence, such as ``proved``, to its number of columns.

        Only numeric columns that are not part of a key are counted.
        """
        counts = dict.fromkeys((PROVED, LIKELY, OPEN, SETTLED), 0)
        for column in self.columns():
            if column.reading.is_number and not column.is_key:
                counts[column.confidence] += 1
        return counts

    @property
    def review(self) -> pd.DataFrame:
        """A DataFrame with one row per column of the section: how it is read, and the evidence.

        The index has the table and the column. The columns are ``path``, ``dtype``, ``unit``,
        ``rule`` (how to aggregate), ``meaning``, ``confidence``, ``evidence`` and ``example``.
        """
        import pandas as pd

        cells_by_column = {
            (column.table, column.name): (
                column.path,
                column.dtype,
                column.unit.value,
                column.rule_text,
                column.doc,
                column.confidence,
                column.evidence,
                column.example and str(column.example)[:80],
            )
            for column in self.columns()
        }
        index = pd.MultiIndex.from_tuples(cells_by_column, names=["table", "column"])
        headers = ["path", "dtype", "unit", "rule", "meaning", "confidence", "evidence", "example"]
        return show_as(pd.DataFrame([*cells_by_column.values()], index, headers, dtype="string"))

    def set(
        self, column: str, *, table: str | None = None, name: str | None = None, **facts: Any
    ) -> None:
        """Set properties of a column by hand, such as its unit; other properties stay as drafted.

        Parameters
        ----------
        column : str
            The name of the column, the name of its field in the response, or its path in the
            response.
        table : str, optional
            The name of the table, if several tables have such a column.
        name : str, optional
            A new name for the column.
        **facts
            The properties to set: ``unit``, ``aggregate``, ``dtype``, ``parse``, ``scale``,
            ``missing`` and ``doc``, as in `aatoolkit.Column`. For example, ``aggregate`` may be
            ``"sum"`` or ``ratio("cit", "tot")``.

        Raises
        ------
        ArgumentError
            If no column or several columns match, if the declaration would be invalid, or if the
            values of the responses cannot be read in this way.
        """
        old_column = self._find_column(column, table)
        changed_column = copy(old_column)
        dtypes = PARSES.get(facts.get("parse") or "", ())
        if "dtype" not in facts and dtypes and old_column.dtype not in dtypes:
            facts["dtype"] = dtypes[0]
        for property_name, value in facts.items():
            if property_name == "unit":
                changed_column.unit = Finding(value, SETTLED, "settled by hand")
            elif property_name == "aggregate":
                changed_column.rule = Finding(rule_of(value), SETTLED, "settled by hand")
            elif property_name in ("scale", "doc"):
                setattr(changed_column, property_name, value)
            elif property_name in ("dtype", "parse", "missing"):
                changed_column.reading = replace(changed_column.reading, **{property_name: value})
            else:
                raise ArgumentError(
                    unknown("property", property_name, _PROPERTIES), argument=property_name
                )
        try:
            rule, column_names = changed_column.aggregate, old_column.relation.column_names
            missing_names = {*(rule.over or ()), rule.by, rule.within} - {None, *column_names}
            if missing_names:
                raise ValueError(f"its rule needs {', '.join(map(str, missing_names))}, not there")
            if name is not None and name != old_column.name and name in column_names:
                raise ValueError(f"its table has a column {name!r}")
            declare_column(changed_column)
            if {"dtype", "parse", "missing"} & facts.keys():
                _check_values(changed_column)
        except ValueError as error:
            raise ArgumentError(
                f"{old_column.table}.{column} cannot be declared so: {error}", argument="column"
            ) from None
        vars(old_column).update(vars(changed_column))
        if name is not None:
            rename_column(old_column, name)

    def _find_column(self, column: str, table: str | None) -> ColumnFinding:
        columns = [
            column_finding
            for column_finding in self.columns()
            if table in (None, column_finding.table)
        ]
        for attribute in ("name", "path", "field"):
            matches = [
                column_finding
                for column_finding in columns
                if getattr(column_finding, attribute) == column
            ]
            # The main table comes first.
            matches = [
                column_finding
                for column_finding in matches
                if column_finding.table == self.tables[0]
            ] or matches
            if len(matches) > 1:
                tables = ", ".join(column_finding.table for column_finding in matches)
                raise ArgumentError(
                    f"{column!r} is in several tables of {self.name} ({tables}): say table=",
                    argument="column",
                )
            if matches:
                return matches[0]
        column_names = [column_finding.name for column_finding in columns]
        raise ArgumentError(unknown("column", column, column_names), argument="column")

    @property
    def availability(self) -> pd.DataFrame:
        """A DataFrame of the fields that may say what was measured, the likeliest first.

        A field has no effect until `set_rule` confirms it.

        The columns are ``at`` (the path of the field), ``value`` (its value), ``why`` and ``rule``
        (the call of `set_rule` that confirms it). Each other host of the draft has a column with
        its values.
        """
        import pandas as pd

        candidates = self.candidates
        cells_by_column = {
            "at": [candidate.at for candidate in candidates],
            "value": [raw(candidate.value) for candidate in candidates],
            "why": [candidate.why for candidate in candidates],
            "rule": [
                f"set_rule({', '.join(f'{name}={value!r}' for name, value in rule.items())})"
                for rule in self.proposals()
            ],
        }
        for host in dict.fromkeys(
            host for candidate in candidates for host in candidate.value_by_host
        ):
            cells_by_column[host] = [
                raw(candidate.value_by_host.get(host)) for candidate in candidates
            ]
        return show_as(pd.DataFrame(cells_by_column, dtype="string"))

    def proposals(self) -> list[dict[str, Any]]:
        """Return the proposed arguments of `set_rule`: a dict for each row of `availability`."""
        return [propose_rule(candidate) for candidate in self.candidates]

    def set_rule(self, **rule: Any) -> None:
        """Add a rule that says where and how the service states this section's availability.

        A section may have several rules. A new rule replaces an earlier rule for the same path.
        `remove_rule` removes a rule, and ``section.rules`` lists them all.

        Parameters
        ----------
        **rule
            The arguments of `aatoolkit.sections.Rule`, such as ``at`` and ``words``. The path
            ``at`` alone suffices for a path that `availability` lists: it confirms the rule
            proposed there.

        Raises
        ------
        ArgumentError
            If the arguments make no valid rule, if no response of the draft has the path ``at``, or
            if no value at this path gets a meaning.
        """
        if set(rule) == {"at"}:
            rule = next(
                (proposal for proposal in self.proposals() if proposal["at"] == rule["at"]), rule
            )
        try:
            new_rule = Rule(**rule)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"that is no rule: {error}", argument="rule") from None
        parent, braces, _ = new_rule.at.rpartition("{}")
        if new_rule.of is None and braces and parent in self._paths_by_engine():
            new_rule = replace(new_rule, of="engine")
        self.add_rule(new_rule)

    def add_rule(self, rule: Rule) -> None:
        """Add a `Rule` object; it replaces an earlier rule with the same path ``at``.

        Raises
        ------
        ArgumentError
            If no response of the draft has the path ``at``, or if the rule gives no valid meaning
            to the values at this path.
        """
        candidate_paths = [proposal["at"] for proposal in self.proposals()]
        problem = find_rule_problem(rule, self._responses, self._headers, candidate_paths)
        if problem is not None:
            raise ArgumentError(problem, argument="rule")
        self.analysis.rules = with_rule(self.analysis.rules, rule)

    def _paths_by_engine(self) -> Collection[str]:
        """Return the paths of the objects in the responses that map engines to values."""
        tables = (table for table in self.analysis.relations if table.key == ("engine",))
        return {
            format_path(table.steps[:-1])
            for table in tables
            if isinstance(table.steps[-1], Entries)
        }

    def remove_rule(self, at: str) -> None:
        """Remove the rule for the path ``at``.

        Raises
        ------
        ArgumentError
            If there is no rule for this path.
        """
        rule_by_path = {rule.at: rule for rule in self.analysis.rules}
        if at not in rule_by_path:
            raise ArgumentError(unknown("rule", at, rule_by_path), argument="rule")
        self.analysis.rules = tuple(rule for rule in rule_by_path.values() if rule.at != at)

    def __repr__(self) -> str:
        lines = [f"<Draft of {self.name}: {format_counts(self.counts())}>"]
        for relation in self.analysis.relations:
            lines.append(f"  {relation.name}  {len(relation.columns)} columns")
        lines += [f"  ! {note}" for note in self.notes]
        if self.candidates and not self.analysis.rules:
            paths = ", ".join(candidate.at for candidate in self.candidates)
            lines.append(f"  ? may be about availability: {paths}; see .availability")
        return "\n".join(lines)


def format_counts(counts: Mapping[str, int]) -> str:
    """Return the counts of columns by confidence as a text: ``3 proved, 0 likely, 1 open``."""
    return ", ".join(
        f"{n} {confidence}" for confidence, n in counts.items() if n or confidence != SETTLED
    )


def propose_rule(candidate: Candidate) -> dict[str, Any]:
    """Return the keyword arguments of the `Rule` that would read a candidate's path."""
    flag_by_text = {"true": True, "false": False, "null": None}
    meaning_by_word = {
        flag_by_text.get(word, word): meaning for word, meaning in candidate.words.items()
    }
    names_engine = any("{engine}" in word for word in candidate.words)
    parent, _, field_name = candidate.at.rpartition(".")
    rule: dict[str, Any] = {"at": candidate.at}
    if isinstance(candidate.value, list):
        rule = {"at": f"{candidate.at}[]", "of": "engine" if names_engine else "section"}
    elif isinstance(candidate.value, dict):
        rule = {"at": f"{candidate.at}{{}}", "of": None if {*candidate.at} & {*"[{"} else "engine"}
    elif candidate.total and {*candidate.at}.isdisjoint("[{"):
        rule = {"at": parent, "status": field_name}
    elif candidate.engine == "{}":
        rule["of"] = "engine"
    elif candidate.engine:
        rule |= {"of": "engine", "engines": candidate.engine}
    elif candidate.is_of_section or names_engine:
        rule["of"] = "engine" if names_engine else "section"
    rule |= {"total": candidate.total} if candidate.total else {}
    return {**rule, "words": meaning_by_word}


def _check_values(column: ColumnFinding) -> None:
    """Raise a ValueError if a column's ``dtype`` and ``parse`` cannot read its values."""
    values = [None if value is MISSING else value for value in column.values]
    dtype, parse = column.reading.dtype, column.reading.parse
    if column.reading.year is not None or not values:
        return
    invalid_rows = read_as(
        values, Reading(dtype, parse, None, None, column.reading.missing)
    ).invalid
    if invalid_rows:
        examples = [*dict.fromkeys(raw(values[row]) for row in invalid_rows)]
        argument = f"parse={parse!r}" if parse else f"dtype={dtype!r}"
        raise ValueError(
            f"{argument} reads {len(values) - len(invalid_rows)} of {len(values)} values, and not "
            f"{', '.join(examples[:3])}; say another parse=, or missing= for what stands for none"
        )
