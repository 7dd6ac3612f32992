"""Write a profile as a Python file that a person reads, edits and commits."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from aatoolkit.sections import Aggregation, Rule, Section, vocabulary
from aatoolkit.sections.inference.analysis import Analysis, of_answers, without_of
from aatoolkit.sections.inference.relations import OPEN, PROVED, ColumnFinding, Relation
from aatoolkit.sections.section import camel

_WIDTH = 119
_CONSTANTS = [name for name in vocabulary.__all__ if name.isupper() and name != "RULES"]
_FORMS = {
    "string": "text", "Int64": "integer", "Float64": "number", "boolean": "flag", "date": "date",
    "timestamp": "timestamp", "list<string>": "words",
}  # fmt: skip
_HEAD = '''"""{title}

Above a table stands what proved the rules of its numbers: an identity or an experiment that held on
all rows. Units are likely by name and range; a number without a rule is not aggregated.
Settle what is open here, and keep the file with your analysis.
"""'''


def file_of(
    name: str, title: str, analyses: Iterable[Analysis], baseline: Mapping[str, Any]
) -> str:
    """Generate the text of a profile's file.

    Parameters
    ----------
    name : str
        The profile's name.
    title : str
        What it was drafted from, in a sentence.
    analyses : iterable of Analysis
        The sections.
    baseline : mapping
        What differed already when it was drafted.
    """
    sections = dict(sorted((_variable(analysis.section), analysis) for analysis in analyses))
    blocks = ["\n".join(_section(*item)) for item in sections.items()]
    held = _mapping("    baseline=", baseline)
    end = _wrapped("PROFILE = Profile(", [repr(name), *sections, f"doc={title!r}"], "", "    ")
    body = "\n\n".join([*blocks, "\n".join([*end, *held, ")"])])
    return "\n\n".join([_HEAD.format(title=title), _imports(body), f"{body}\n"])


def code_of(analysis: Analysis) -> str:
    """Generate the Python of one section, each guess with its evidence."""
    body = "\n".join(_section("SECTION", analysis))
    return f"from aatoolkit import sections\n{_imports(body)}\n\n{body}\nsections.register(SECTION)"


def _variable(section: str) -> str:
    return re.sub(r"\W", "_", section).upper()


def _imports(body: str) -> str:
    used = [n for n in vocabulary.__all__ if re.search(rf"(?<![\w'\"]){n}(?=[(,)}}])", body)]
    return "\n".join(_wrapped("from aatoolkit.sections import (", sorted(used), ")", "    "))


def _section(variable: str, analysis: Analysis) -> Iterator[str]:
    yield from (f"# {note}"[:_WIDTH] for note in analysis.notes)
    section = analysis.declared
    yield f"{variable} = Section({section.name!r}, {section.doc!r},"
    lines = [line for relation in analysis.relations for line in _table(relation)]
    if analysis.rules:
        lines += _wrapped("    availability=(", map(_rule, analysis.rules), "),", " " * 8)
    # Places that may be about availability; a rule that reads one makes it sure.
    for name in ("watched", "emptied"):
        if getattr(section, name):
            places = map(repr, getattr(section, name))
            lines += _wrapped(f"    {name}=(", places, "),", " " * 8)
    yield from [*lines[:-1], f"{lines[-1]})"]


def _rule(rule: Rule) -> str:
    plain = Rule()
    given = {one.name: getattr(rule, one.name) for one in fields(rule)}
    changed = (
        f"{name}={value!r}" for name, value in given.items() if value != getattr(plain, name)
    )
    return f"Rule({', '.join(changed)})"


def _table(relation: Relation) -> Iterator[str]:
    left_out = without_of(relation)
    rows = str(relation.rows) + (f".where(without={left_out!r})" if left_out else "")
    key = repr(relation.key[0]) if len(relation.key) == 1 else repr(relation.key)
    head = [repr(relation.name), "''", rows, f"key={key}"]
    proved = "; ".join(filter(None, map(_evidence, relation.columns)))
    yield from (f"    # {line}" for line in textwrap.wrap(proved, _WIDTH - 6))
    yield from _wrapped("    Table(", head, " columns=(", " " * 8)
    yield from _wrapped(" " * 8, map(_column, relation.columns), ")),", " " * 8)


def _evidence(column: ColumnFinding) -> str:
    """What proved the unit or the rule of a number, in short; empty where nothing did."""
    for finding in (column.rule, column.unit):
        is_measure = column.reading.is_number and not column.is_key
        if is_measure and finding.confidence == PROVED and finding.evidence:
            return f"{column.name}: {re.split('[;,]', finding.evidence)[0]}"
    return ""


def _column(column: ColumnFinding) -> str:
    """The call that declares a column."""
    rule = rule_code(column.aggregate)
    unit = column.unit.value if column.unit.confidence != OPEN else None
    across = column.aggregate.across
    is_sum = column.aggregate == Aggregation("sum", across=across)
    is_count = column.dtype == "Int64" and unit == "count" and is_sum
    form = "count" if is_count else _FORMS[column.dtype]
    given = [repr(column.name)]
    if column.doc:
        given.append(repr(column.doc))
    if column.source != camel(column.name) and not column.source.startswith("@"):
        given.append(f"source={column.source!r}")
    if unit is not None and not is_count:
        given.append(f"unit={unit_code(unit)}")
    if column.units:
        inner = ", ".join(f"{key!r}: {unit_code(one)}" for key, one in column.units.items())
        given.append(f"units={{{inner}}}")
    for name in ("parse", "year", "missing"):
        value = getattr(column.reading, name)
        if value:
            given.append(f"{name}={value!r}")
    if column.scale != 1.0:
        given.append(f"scale={column.scale!r}")
    if is_count and across:
        given.append(f"across={across!r}")
    if rule != "NONE" and not is_count:
        given.append(f"aggregate={rule}")
    code = f"{form}({', '.join(given)})"
    if len(code) > _WIDTH - 14 and {'"', "\\"} & {*code}:
        return "\n".join(_wrapped(f"{' ' * 8}{form}(", given, ")     ", " " * 12)).strip()
    return code


def unit_code(unit: str) -> str:
    """Generate the Python of a unit: its constant, or its name as text.

    Examples
    --------
    >>> unit_code("count"), unit_code("furlongs")
    ('COUNT', "'furlongs'")
    """
    return next((name for name in _CONSTANTS if getattr(vocabulary, name) == unit), repr(unit))


def rule_code(rule: Aggregation) -> str:
    """Generate the Python of an aggregation rule.

    Examples
    --------
    >>> rule_code(vocabulary.SUM), rule_code(vocabulary.ratio("hits", "answers"))
    ('SUM', "ratio('hits', 'answers')")
    """
    above, below = rule.over or ("", "")
    short = {
        **{name: getattr(vocabulary, name) for name in _CONSTANTS},
        f"ratio({above!r}, {below!r})": vocabulary.ratio(above, below),
        f"weighted({rule.by!r})": vocabulary.weighted(rule.by or ""),
        f"refused({rule.why!r})": vocabulary.refused(rule.why or ""),
    }
    return next((code for code, meant in short.items() if meant == rule), repr(rule))


def _wrapped(start: str, items: Iterable[str], end: str, indent: str) -> list[str]:
    """Some items after a start, each with a comma, in lines of the width."""
    lines = [start]
    for item in items:
        used = len(lines[-1].rpartition("\n")[2]) + len(end)
        if lines[-1].strip() and used + len(item.partition("\n")[0]) + 2 > _WIDTH:
            lines.append(indent)
        gap = "" if lines[-1].endswith("(") or not lines[-1].strip() else " "
        *whole, last = _parts(f"{gap}{item},", _WIDTH - len(lines[-1]) - len(end))
        for part in whole:
            lines[-1] += part
            lines.append(indent)
        lines[-1] += last
    return [*lines[:-1], lines[-1] + end]


def _parts(code: str, room: int) -> Iterator[str]:
    """Code that is too long for a line in several pieces, between words of its texts."""
    while len(code) > room and not {'"', "\\", "\n"} & {*code}:
        at = code.rfind(" ", 1, room - 1)
        if at < 1:
            break
        quote = "'" * (code[:at].count("'") % 2)
        yield code[:at] + (f" {quote}" if quote else "")
        code, room = quote + code[at + 1 :], _WIDTH - 20
    yield code


def _mapping(start: str, value: Mapping[str, Any], indent: str = "    ") -> Iterator[str]:
    """A mapping of JSON values; what is in one of a section is packed."""
    yield f"{start}{{"
    for name, inner in value.items():
        if isinstance(inner, dict) and any(isinstance(one, dict | list) for one in inner.values()):
            yield from _mapping(f"{indent}    {name!r}: ", inner, f"{indent}    ")
        elif isinstance(inner, dict | list):
            items = [*map(repr, inner)]
            if isinstance(inner, dict):
                items = [f"{key!r}: {one!r}" for key, one in inner.items()]
            signs = "{}" if isinstance(inner, dict) else "[]"
            start = f"{indent}    {name!r}: {signs[0]}"
            yield from _wrapped(start, items, f"{signs[1]},", f"{indent}        ")
    yield f"{indent}}},"


class Proposal:
    """A proposed declaration: prints as the Python that makes it, with the evidence in comments.

    Attributes
    ----------
    section : Section
        The declaration itself, ready to register.
    code : str
        The Python that makes it.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.section: Section = analysis.declared
        self.code: str = code_of(analysis)

    def __str__(self) -> str:
        return self.code

    __repr__ = __str__


def propose(answers: Any, name: str | None = None) -> Proposal:
    """Draft a declaration from an answer, or from several of one section.

    Parameters
    ----------
    answers : Payload, bytes, str, dict, or list of these
        The answers; more of them show more fields.
    name : str, optional
        The section's name; by default what a payload or the answer itself says.

    Raises
    ------
    DecodeError
        If an answer is not one JSON document.
    PayloadError
        If nothing in the answers can be made a table, or an object is no JSON value.

    Examples
    --------
    >>> rows = [{"day": "2026-11-03", "hits": "1,204"}, {"day": "2026-11-04", "hits": "n/a"}]
    >>> column = propose({"rows": rows}, "crawl").section.tables[0]["hits"]
    >>> column.parse, column.missing, column.unit
    ('number', ('n/a',), 'count')
    """
    return Proposal(of_answers(answers, name))
