"""Declarations as JSON: whole profiles as data, and single tables without how they are read.

A study keeps the profile it was recorded with in this form, so that whoever replays it reads the
same tables, and runs nobody's Python; a file of one table says what its columns are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, TypeVar

from aatoolkit.jsontree.paths import Entries, format_path, parse_pattern
from aatoolkit.sections.aggregation import RULES, Aggregation
from aatoolkit.sections.availability_rule import Rule
from aatoolkit.sections.column import Column
from aatoolkit.sections.profile import Profile
from aatoolkit.sections.row_shapes import Filter, Rows
from aatoolkit.sections.section import Section, Table

T = TypeVar("T")

_SCALAR = (str, int, float, bool)
_READING = ("source", "null", "optional", "parse", "year", "scale", "missing")


def is_portable(section: Section) -> bool:
    """Whether a declaration can be stored as data: no function computes its rows."""
    return all(table.rows.function is None for table in section)


def dump_profile(profile: Profile) -> dict[str, Any]:
    """Convert a profile to a JSON value.

    Sections with `computed` rows are left out: a function is no data.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> dumped = dump_profile(aa.sections.default_profile())
    >>> load_profile(dumped)["domains"] == aa.sections.default_profile()["domains"]
    True
    """
    kept = [section for section in profile.values() if is_portable(section)]
    return {
        "name": profile.name,
        "doc": profile.doc,
        "baseline": _plain(dict(profile.baseline)),
        "tentative": sorted({*profile.tentative} & {section.name for section in kept}),
        "sections": [_dump_section(section) for section in kept],
    }


def load_profile(facts: Any) -> Profile:
    """Build a profile from what `dump_profile` wrote.

    Raises
    ------
    ValueError, TypeError, KeyError, AttributeError, AAToolkitError
        If that is no such profile.
    """
    return Profile(
        _text(facts["name"]),
        *map(_load_section, facts["sections"]),
        doc=_text(facts["doc"]),
        baseline=dict(facts["baseline"]),
        tentative=_texts(facts["tentative"]),
    )


def dump_table(table: Table) -> dict[str, Any]:
    """Convert a table's declaration to a JSON value: grain, key, columns, and where its rows are.

    How rows are filtered, and values read, is left out: only reading answers needs it.
    """
    whole = _dump_table(table)
    rows = {name: whole["rows"][name] for name in _ROWS if name in whole["rows"]}
    columns = [{name: fact for name, fact in column.items() if name not in _READING}
               for column in whole["columns"]]  # fmt: skip
    return {**whole, "rows": rows, "columns": columns}


def load_table(facts: Mapping[str, Any]) -> Table:
    """Build a table from what `dump_table` wrote; its columns read no answers.

    Raises
    ------
    ValueError, TypeError, KeyError
        If that is no such table.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> bots = aa.sections.table("crawl_bots")
    >>> load_table(dump_table(bots))["requests"].unit == bots["requests"].unit
    True
    """
    columns = [{**column, "source": "$"} for column in facts["columns"]]
    return _load_table({**facts, "columns": columns})


def _dump_section(section: Section) -> dict[str, Any]:
    rules = [_changed(rule) for rule in section.rules]
    return {
        "name": section.name,
        "doc": section.doc,
        **{name: list(getattr(section, name)) for name in ("kept", "watched", "emptied")},
        # One rule is written as earlier files have it.
        "availability": rules if len(rules) > 1 else next(iter(rules), None),
        "tables": [_dump_table(table) for table in section],
    }


def _load_section(facts: Any) -> Section:
    rules = facts["availability"]
    rules = rules if isinstance(rules, list) else [] if rules is None else [rules]
    more = {name: _texts(facts.get(name, ())) for name in ("kept", "watched", "emptied")}
    tables = map(_load_table, facts["tables"])
    name, doc = _text(facts["name"]), _text(facts["doc"])
    return Section(
        name, doc, *tables, **more, availability=tuple(_made(Rule, rule) for rule in rules)
    )


def _dump_table(table: Table) -> dict[str, Any]:
    columns = [_changed(column) for column in table.columns]
    rows = _dump_rows(table.rows)
    key = list(table.key)
    return {"name": table.name, "doc": table.doc, "rows": rows, "key": key, "columns": columns}


def _load_table(facts: Any) -> Table:
    columns = tuple(map(_load_column, facts["columns"]))
    name, doc = _text(facts["name"]), _text(facts["doc"])
    return Table(name, doc, _load_rows(facts["rows"]), _texts(facts["key"]), columns)


def _load_column(facts: Any) -> Column:
    given = {name: fact for name, fact in facts.items() if name != "pattern"}
    if "aggregate" in given:
        rule = {**given["aggregate"]}
        if rule.get("rule") not in RULES:
            rule = {"rule": "none", "why": f"its rule, {rule['rule']}, is of a newer version"}
        given["aggregate"] = _made(Aggregation, rule)
    column = _made(Column, given)
    return replace(column, missing=tuple(map(_scalar, column.missing)))


_ROWS = ("path", "labels", "positional", "one")


def _dump_rows(rows: Rows) -> dict[str, Any]:
    limited = [
        [at, list(step.only)]
        for at, step in enumerate(rows.steps)
        if isinstance(step, Entries) and step.only
    ]
    facts = {
        "path": rows.path,
        "limited": limited,
        "labels": list(rows.labels),
        "positional": list(rows.positional),
        "header": format_path(rows.header) if rows.header is not None else None,
        "one": rows.one,
        "first": rows.first,
        "without": [[source, list(values)] for source, values in rows.without],
        "only": [[source, list(values)] for source, values in rows.only],
    }
    return {name: fact for name, fact in facts.items() if fact or name == "path"}


def _load_rows(facts: Any) -> Rows:
    header, first = facts.get("header"), facts.get("first", 0)
    steps = [*parse_pattern(_text(facts["path"]))]
    for at, keys in facts.get("limited", ()):
        if not isinstance(steps[at], Entries):
            raise ValueError("keys are limited where there are none")
        steps[at] = Entries(_texts(keys))
    if type(first) is not int or first < 0:
        raise ValueError("first is no position")
    return Rows(
        tuple(steps),
        _texts(facts.get("labels", ())),
        _texts(facts.get("positional", ())),
        one=facts.get("one", False) is True,
        header=None if header is None else parse_pattern(_text(header)),
        without=_filter(facts.get("without", ())),
        only=_filter(facts.get("only", ())),
        first=first,
    )


def _filter(given: Any) -> Filter:
    return tuple((_text(source), tuple(map(_scalar, values))) for source, values in given)


def _changed(given: Any) -> dict[str, Any]:
    """The fields of a dataclass that differ from their defaults, as JSON values."""
    changed: dict[str, Any] = {}
    for each in fields(given):
        value = getattr(given, each.name)
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if each.compare and (value != default or type(value) is not type(default)):
            changed[each.name] = _plain(value)
    return changed


def _made(kind: type[T], facts: Any) -> T:
    """An object of a dataclass from JSON; arrays are tuples."""
    if not isinstance(facts, dict) or not {*facts} <= {each.name for each in fields(kind)}:  # type: ignore[arg-type]
        raise ValueError(f"no {kind.__name__}")
    given = facts.items()
    return kind(**{n: tuple(v) if isinstance(v, list) else v for n, v in given if v is not None})


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, _SCALAR):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    return _changed(value) if isinstance(value, Aggregation) else str(value)


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError("a text is none")
    return given


def _texts(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        raise ValueError("a list of texts is none")
    return tuple(map(_text, given))


def _scalar(given: Any) -> Any:
    if given is not None and not isinstance(given, _SCALAR):
        raise ValueError("a plain value is none")
    return given
