"""Profiles as JSON: a whole declaration as data, which can be read without running a file.

A study keeps the profile it was recorded with in this form, so that whoever replays it reads the
same tables, and runs nobody's Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from aatoolkit.jsontree.paths import Entries, Step, format_path, parse_pattern
from aatoolkit.sections.aggregation import Aggregation
from aatoolkit.sections.availability_rule import Rule
from aatoolkit.sections.column import Column
from aatoolkit.sections.profile import Profile
from aatoolkit.sections.row_shapes import Filter, Rows
from aatoolkit.sections.section import Section, Table

_PLAIN = (str, int, float, bool)


def is_portable(section: Section) -> bool:
    """Whether a declaration can be stored as data: no function computes its rows."""
    return all(table.rows.function is None for table in section)


def dump_profile(profile: Profile) -> dict[str, Any]:
    """Convert a profile to a JSON value.

    Sections with `computed` rows are left out: a function is no data.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> found = dump_profile(aa.sections.default_profile())
    >>> load_profile(found)["domains"] == aa.sections.default_profile()["domains"]
    True
    """
    kept = [section for section in profile.values() if is_portable(section)]
    return {
        "name": profile.name,
        "doc": profile.doc,
        "baseline": _plain(dict(profile.baseline)),
        "tentative": sorted(set(profile.tentative) & {section.name for section in kept}),
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
        *(_load_section(one) for one in facts["sections"]),
        doc=_text(facts["doc"]),
        baseline=dict(facts["baseline"]),
        tentative=_texts(facts["tentative"]),
    )


def _dump_section(section: Section) -> dict[str, Any]:
    rules = [_changed(rule) for rule in section.rules]
    return {
        "name": section.name,
        "doc": section.doc,
        "kept": list(section.kept),
        "watched": list(section.watched),
        "emptied": list(section.emptied),
        # One rule is written as earlier files have it.
        "availability": rules if len(rules) > 1 else next(iter(rules), None),
        "tables": [_dump_table(table) for table in section],
    }


def _load_section(facts: Any) -> Section:
    given = facts["availability"]
    rules = given if isinstance(given, list) else [] if given is None else [given]
    return Section(
        _text(facts["name"]),
        _text(facts["doc"]),
        *(_load_table(one) for one in facts["tables"]),
        kept=_texts(facts["kept"]),
        watched=_texts(facts.get("watched", ())),
        emptied=_texts(facts.get("emptied", ())),
        availability=tuple(Rule(**_known(Rule, one)) for one in rules),
    )


def _dump_table(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "doc": table.doc,
        "rows": _dump_rows(table.rows),
        "key": list(table.key),
        "columns": [_dump_column(column) for column in table.columns],
    }


def _load_table(facts: Any) -> Table:
    columns = tuple(_load_column(one) for one in facts["columns"])
    rows = _load_rows(facts["rows"])
    return Table(_text(facts["name"]), _text(facts["doc"]), rows, _texts(facts["key"]), columns)


def _dump_rows(rows: Rows) -> dict[str, Any]:
    found: dict[str, Any] = {"path": rows.path}
    limited = [
        [at, list(step.only)]
        for at, step in enumerate(rows.steps)
        if isinstance(step, Entries) and step.only
    ]
    if limited:
        found["limited"] = limited
    for name in ("labels", "positional"):
        if getattr(rows, name):
            found[name] = list(getattr(rows, name))
    if rows.header is not None:
        found["header"] = format_path(rows.header)
    if rows.one:
        found["one"] = True
    if rows.first:
        found["first"] = rows.first
    for name in ("without", "only"):
        chosen: Filter = getattr(rows, name)
        if chosen:
            found[name] = [[source, list(values)] for source, values in chosen]
    return found


def _load_rows(facts: Any) -> Rows:
    header, first = facts.get("header"), facts.get("first", 0)
    steps = list(parse_pattern(_text(facts["path"])))
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
        header=_steps(header),
        without=_filter(facts.get("without", ())),
        only=_filter(facts.get("only", ())),
        first=first,
    )


def _steps(path: Any) -> tuple[Step, ...] | None:
    return None if path is None else parse_pattern(_text(path))


def _filter(given: Any) -> Filter:
    return tuple((_text(source), tuple(_scalar(one) for one in values)) for source, values in given)


def _dump_column(column: Column) -> dict[str, Any]:
    found = {name: one for name, one in _changed(column).items() if name != "pattern"}
    if "aggregate" in found:
        found["aggregate"] = _changed(column.aggregate)
    return found


def _load_column(facts: Any) -> Column:
    given = _known(Column, facts)
    given.pop("pattern", None)
    if "aggregate" in given:
        given["aggregate"] = Aggregation(**_known(Aggregation, given["aggregate"]))
    if "missing" in given:
        given["missing"] = tuple(_scalar(one) for one in given["missing"])
    return Column(**given)


def _changed(given: Any) -> dict[str, Any]:
    """The fields of a dataclass that differ from their defaults, as JSON values."""
    found: dict[str, Any] = {}
    for each in fields(given):
        value = getattr(given, each.name)
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if value != default or type(value) is not type(default):
            found[each.name] = _plain(value)
    return found


def _known(kind: Any, facts: Any) -> dict[str, Any]:
    """The arguments of a dataclass from JSON; arrays are tuples."""
    names = {each.name for each in fields(kind)}
    if not isinstance(facts, dict) or not set(facts) <= names:
        raise ValueError(f"no {kind.__name__}")
    return {
        name: tuple(one) if isinstance(one, list) else one
        for name, one in facts.items()
        if one is not None
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    if isinstance(value, Aggregation):
        return _changed(value)
    return str(value)


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError("a text is none")
    return given


def _texts(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        raise ValueError("a list of texts is none")
    return tuple(map(_text, given))


def _scalar(given: Any) -> Any:
    if given is not None and not isinstance(given, _PLAIN):
        raise ValueError("a plain value is none")
    return given
