"""Declare the tables in a response: the paths to their rows and columns.

A section is one kind of response, such as ``domains``. Its declaration lists its tables. Each table
has a path to its rows, such as ``domains[]``. Each column has a path from the row to its value,
such as ``citationCount``. ``[]`` stands for all elements of an array, and ``{}`` for all entries of
an object whose keys are data.

The path of a column starts at the row. With ``^`` it starts at the object that contains the row,
and with ``$`` at the whole response.

>>> Table(
...     "source_domain_engines",
...     "One row per cited domain and engine.",
...     keyed("domains[].byEngine", key="engine"),
...     key=("source_domain", "engine"),
...     columns=(
...         Column("source_domain", "string", "The cited domain.", source="^domain"),
...         Column("engine", "string", "The engine."),
...         Column("citation_count", "Int64", "Citations.", source=".", unit=COUNT, aggregate=SUM),
...     ),
... ).columns[2].pattern
'domains[].byEngine{}'
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from aatoolkit._util.text import TitledRepr
from aatoolkit.errors import ArgumentError, item_not_found
from aatoolkit.jsontree.paths import (
    Elements,
    Entries,
    NamedColumn,
    Position,
    Steps,
    format_path,
    parse_path,
)
from aatoolkit.sections.aggregation import COUNT, KEY, SUM, to_name_tuple
from aatoolkit.sections.availability_rule import Rule, to_rule_tuple, with_rule
from aatoolkit.sections.column import Column, camel
from aatoolkit.sections.row_shapes import Rows, computed, grid, keyed, pairs, records, single

__all__ = [
    "COUNT",
    "SUM",
    "Column",
    "Rows",
    "Rule",
    "Section",
    "Table",
    "camel",
    "computed",
    "grid",
    "keyed",
    "pairs",
    "records",
    "single",
]

ENVELOPE_FIELDS = ("section", "domain", "window", "filters", "generatedAt", "availability")
"""The names of the fields that every response has beside its data."""


@dataclass(frozen=True)
class Table(TitledRepr):
    """A table in a response: the path to its rows, its columns and its key.

    Parameters
    ----------
    name : str
        The name of the table, in snake_case.
    doc : str
        The description of a row, such as "One row per cited domain." If it is empty, a description
        is made from the key.
    rows : Rows
        The path to the rows and their form, such as ``records("domains")``. See also `keyed`,
        `grid`, `pairs`, `single` and `computed`.
    key : str or tuple of str, optional
        The names of the columns that identify a row; none for a table of one row.
    columns : tuple of Column, optional
        The columns, in their order in the table.

    Raises
    ------
    ArgumentError
        If two columns have the same name, or if the key is not among the columns.

    Examples
    --------
    >>> columns = (Column("bot", "string"), Column("requests", "Int64"))
    >>> Table("bots", "", records("bots"), "bot", columns).doc
    'One row per bot.'
    """

    name: str
    doc: str
    rows: Rows
    key: str | tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()

    def __post_init__(self) -> None:
        key = to_name_tuple(self.key)
        column_names = [column.name for column in self.columns]
        invalid_names = [
            *({*key} - {*column_names}),
            *(name for name in {*column_names} if column_names.count(name) > 1),
        ]
        if invalid_names:
            raise ArgumentError(
                f"table {self.name!r}: key or columns do not fit: {sorted(invalid_names)}"
            )
        list_names = [name for name in key if self[name].dtype == "list<string>"]
        if list_names:
            raise ArgumentError(
                f"table {self.name!r}: a list cannot be a key: {list_names}; choose other columns"
            )
        for source, _ in (*self.rows.without, *self.rows.only):
            make_pattern(self.rows, source)
        row_noun = " and ".join(name.replace("_", " ") for name in key) or "response"
        columns = tuple(
            replace(
                column,
                source=self._find_source(column),
                pattern=make_pattern(self.rows, self._find_source(column)),
                aggregate=KEY if column.name in key else column.aggregate,
            )
            for column in self.columns
        )
        vars(self).update(key=key, doc=self.doc or f"One row per {row_noun}.", columns=columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise item_not_found(f"column of {self.name}", name, self.names)

    def _title_and_lines(self) -> tuple[str, list[str]]:
        """Return the title and the lines of text with which the table is printed."""
        title = f"{self.name}: {self.doc} Key: {', '.join(self.key)}"
        return title, [f"{column.name}: {column.doc}" for column in self.columns]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def is_optional(self) -> bool:
        """Whether the table may be absent: all its columns except the key are optional."""
        value_columns = [column for column in self.columns if column.name not in self.key]
        return bool(value_columns) and all(column.optional for column in value_columns)

    def _find_source(self, column: Column) -> str:
        """Return the path from the row to a column's value.

        It is the declared path. Without one, it leads to the row's key, to an element of the row or
        to the field with the name of the column, according to the form of the rows.
        """
        if column.source is not None:
            return column.source
        if column.name in self.rows.labels:
            return f"@{self.rows.labels.index(column.name)}"
        if column.name in self.rows.positional:
            return f"[{self.rows.positional.index(column.name)}]"
        if self.rows.header is not None:
            return f"[{column.name}]"
        return camel(column.name)


@dataclass(frozen=True, init=False)
class Section(TitledRepr):
    """A section (one kind of response, such as ``domains``): its name and its tables.

    Parameters
    ----------
    name : str
        The name of the section, as it is requested from the service.
    doc : str
        The content of the section, in a sentence.
    *tables : Table
        The tables. The first one is shown as ``tables.main``.
    kept : tuple of str
        The paths of known fields that are in no table. Their values are in ``tables.extra``.
    optional : tuple of str
        The paths of rows and fields that may be absent from a response.
    availability : Rule or tuple of Rule, optional
        The paths at which responses state which data could not be measured, and the meaning of the
        values there.
    watched : tuple of str
        The paths of fields that may also state which data could not be measured, but that have no
        `Rule`. Their values are listed in ``tables.hints``.
    emptied : tuple of str
        The paths of lists that are empty in responses without measured data. If such a list is
        empty, it is listed in ``tables.hints``. ``$`` stands for the whole response.

    Raises
    ------
    ArgumentError
        If there is no table, or two tables have the same name.

    Examples
    --------
    >>> columns = (Column("bot", "string"), Column("requests", "Int64"))
    >>> table = Table("bots", "One row per bot.", records("bots"), "bot", columns)
    >>> section = Section("mine", "Bots.", table, availability=Rule("theirs", at="meta.state"))
    >>> import aatoolkit as aa
    >>> aa.normalize(section, {"meta": {"state": "not_connected"}, "bots": []})._availability_texts
    {'bots': 'unavailable (not connected)'}
    """

    name: str
    doc: str
    tables: tuple[Table, ...]
    kept: tuple[str, ...]
    optional: tuple[str, ...] = field(repr=False)
    availability: Rule | tuple[Rule, ...] | None
    watched: tuple[str, ...] = field(repr=False)
    emptied: tuple[str, ...] = field(repr=False)

    def __init__(
        self,
        name: str,
        doc: str,
        *tables: Table,
        kept: tuple[str, ...] = (),
        optional: tuple[str, ...] = (),
        availability: Rule | tuple[Rule, ...] | None = None,
        watched: tuple[str, ...] = (),
        emptied: tuple[str, ...] = (),
    ) -> None:
        if not tables:
            raise ArgumentError(f"section {name!r} has no table; give one or more")
        table_names = [table.name for table in tables]
        if len({*table_names}) < len(table_names):
            raise ArgumentError(
                f"section {name!r} has two tables of one name: {', '.join(table_names)}"
            )
        rules = to_rule_tuple(availability)
        for rule_path in (rule.at for rule in rules if rule.kind != "header"):
            if rule_path.partition(".")[0] not in ENVELOPE_FIELDS and rule_path not in kept:
                kept = (*kept, rule_path)
            watched = tuple(path for path in watched if not is_on_path_of_rule(path, rule_path))
        availability = rules[0] if len(rules) == 1 else rules or None
        vars(self).update(
            name=name, doc=doc, tables=tables, kept=kept, optional=optional,
            availability=availability, watched=watched, emptied=emptied,
        )  # fmt: skip

    def __getitem__(self, name: str) -> Table:
        for table in self.tables:
            if table.name == name:
                return table
        raise item_not_found(f"{self.name} table", name, self.names)

    def __hash__(self) -> int:
        # All of it would take as long as reading a small response.
        return hash((self.name, self.doc))

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def _title_and_lines(self) -> tuple[str, list[str]]:
        """Return the title and the lines of text with which the section is printed."""
        return f"{self.name}: {self.doc}", [f"{table.name}: {table.doc}" for table in self.tables]

    def with_rule(self, **rule: Any) -> Section:
        """Return a copy with one more `Rule`: a path whose value states which data are missing.

        The new rule replaces an earlier one with the same path ``at``.

        Parameters
        ----------
        **rule
            The parameters of `Rule`, such as ``at`` and ``words``.

        Returns
        -------
        Section
            The changed copy; pass it to `aatoolkit.normalize`.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> taught = aa.sections.get("crawl").with_rule(at="light", words={"red": "not_connected"})
        >>> taught.availability.at
        'light'
        """
        parameter_names = ("kept", "optional", "watched", "emptied")
        other_arguments = {name: getattr(self, name) for name in parameter_names}
        rules = with_rule(self.rules, Rule(**rule))
        return Section(self.name, self.doc, *self.tables, availability=rules, **other_arguments)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that find which data could not be measured, as a tuple."""
        return to_rule_tuple(self.availability)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tables, in order."""
        return tuple(table.name for table in self.tables)


def is_on_path_of_rule(path: str, rule_path: str) -> bool:
    """Return whether two paths are equal, or one is the beginning of the other.

    Paths are compared step by step, not by characters.

    Examples
    --------
    >>> is_on_path_of_rule("meta", "meta.state"), is_on_path_of_rule("metadata", "meta")
    (True, False)
    """
    path = path.replace("{}", "")
    rule_path = rule_path.replace("{}", "")
    return f"{path}.".startswith(f"{rule_path}.") or f"{rule_path}.".startswith(f"{path}.")


def make_pattern(rows: Rows, value_path: str) -> str:
    """Return the path from the top of the response to the values of a column.

    Parameters
    ----------
    rows : Rows
        The path to the rows.
    value_path : str
        The path from the row to the value, as in `Column`.

    Examples
    --------
    >>> make_pattern(records("domains"), "type.name"), make_pattern(records("domains"), "$.window")
    ('domains[].type.name', 'window')
    """
    if value_path.startswith("$"):
        return format_path(widen_to_all_elements(parse_path(value_path[1:].lstrip("."))))
    steps = rows.steps
    while value_path.startswith("^"):
        steps = _find_enclosing_steps(steps)
        value_path = value_path[1:]
    if value_path == "." or value_path[0] in "@#":
        return format_path(steps)
    if value_path.startswith("[") and (rows.positional or rows.header is not None):
        return format_path(steps) + "[]"
    return format_path(widen_to_all_elements((*steps, *parse_path(value_path))))


def widen_to_all_elements(steps: Steps) -> Steps:
    """Replace each step to a single element of an array, such as ``[0]``, by ``[]``."""
    return tuple(
        Elements() if isinstance(step, Elements | Position | NamedColumn)
        else Entries(step.only_keys) if isinstance(step, Entries) else step
        for step in steps
    )  # fmt: skip


def _find_enclosing_steps(steps: Steps) -> Steps:
    """Return the path of the object that contains the rows: ``a[]`` for the rows ``a[].b[]``."""
    elements_step_indexes = [
        index for index, step in enumerate(steps[:-1]) if isinstance(step, Elements)
    ]
    if not elements_step_indexes:
        raise ArgumentError(f"no record encloses {format_path(steps)!r}; leave out a ^")
    return steps[: elements_step_indexes[-1] + 1]
