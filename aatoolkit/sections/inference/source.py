"""Write a profile as a Python file that a person reads, edits and commits."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from aatoolkit.sections import Aggregation, Rule, vocabulary
from aatoolkit.sections.inference.analysis import Analysis
from aatoolkit.sections.inference.declare import doc_of, grain_of, section_of, without_of
from aatoolkit.sections.inference.findings import OPEN, ColumnFinding
from aatoolkit.sections.inference.relations import Relation
from aatoolkit.sections.inference.vocabulary import words_of
from aatoolkit.sections.section import camel

_WIDTH = 96
_UNITS = tuple(
    name
    for name in vocabulary.__all__
    if name.isupper() and isinstance(getattr(vocabulary, name), str)
)
"""The names of the units, as ``aatoolkit.sections`` has them."""
_RULES = ("KEY", "LAST", "MAX", "MEAN", "MIN", "NONE", "NOT_ADDITIVE", "SUM")
_CALLS = tuple(sorted(words_of("grid keyed pairs records single")))


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
    blocks, names = [], []
    for analysis in analyses:
        variable = analysis.section.upper().replace("-", "_")
        names.append(variable)
        blocks.append("\n".join(_section(variable, analysis)))
    body = "\n\n".join(blocks)
    listed = "\n".join(f"    {one}," for one in names)
    end = (
        f"PROFILE = Profile(\n    {name!r},\n{listed}\n    doc={title!r},\n"
        f"    baseline={_mapping(baseline)},\n)\n"
    )
    imports = _imports(body, ("Column", "Profile", "Section", "Table"))
    return "\n\n".join([_head(title), imports, body, end])


def code_of(analysis: Analysis) -> str:
    """Generate the Python of one section, each guess with its evidence."""
    body = "\n".join(_section("SECTION", analysis))
    imports = _imports(body, ("Column", "Section", "Table"))
    return f"from aatoolkit import sections\n{imports}\n\n{body}\nsections.register(SECTION)"


def _head(title: str) -> str:
    lines = [
        f'"""{title}',
        "",
        "Each number says what its unit and its rule were seen by: proved (an identity or an",
        "experiment held on all rows), likely (name and range agree) or open (nothing shows it; to",
        "aggregate it is refused). Settle what is open here, and keep the file with your analysis.",
        '"""',
    ]
    return "\n".join(lines)


def _imports(body: str, always: tuple[str, ...]) -> str:
    used = [*always]
    used += [name for name in ("Aggregation", "Rows", "Rule") if f"{name}(" in body]
    used += [name for name in (*_UNITS, *_RULES) if f"={name}," in body or f"={name})" in body]
    used += [name for name in (*_UNITS,) if f": {name}," in body or f": {name}}}" in body]
    calls = (*_CALLS, "parse_pattern", "ratio", "refused", "weighted")
    used += [
        name for name in calls if f" {name}(" in body or f"={name}(" in body or f"({name}(" in body
    ]
    upper = sorted({one for one in used if one.isupper()})
    classes = sorted({one for one in used if one[0].isupper() and not one.isupper()})
    rest = sorted({one for one in used if one[0].islower()})
    listed = textwrap.fill(", ".join([*upper, *classes, *rest]), _WIDTH - 4)
    return f"from aatoolkit.sections import (\n{textwrap.indent(listed, '    ')},\n)"


def _section(variable: str, analysis: Analysis) -> Iterator[str]:
    for note in analysis.notes:
        yield from _comment(note, "")
    yield f"{variable} = Section("
    yield f"    {analysis.section!r},"
    yield f"    {doc_of(analysis)!r},"
    for relation in analysis.relations:
        yield from _table(relation, analysis.columns[relation.name])
    if len(analysis.rules) == 1:
        yield f"    availability={_rule(analysis.rules[0])},"
    elif analysis.rules:
        yield "    availability=("
        yield from (f"        {_rule(rule)}," for rule in analysis.rules)
        yield "    ),"
    watched = section_of(analysis).watched
    if watched:
        yield from _comment("may be about availability; a rule that reads it makes it sure", "    ")
        yield f"    watched={watched!r},"
    if analysis.emptied:
        yield from _comment("empty, and without a word, where nothing was measured", "    ")
        yield f"    emptied={analysis.emptied!r},"
    yield ")"


def _rule(rule: Rule) -> str:
    """Generate the Python of an availability rule: the fields that differ from defaults."""
    default = Rule()
    given = [
        f"{each.name}={getattr(rule, each.name)!r}"
        for each in fields(rule)
        if getattr(rule, each.name) != getattr(default, each.name)
    ]
    return f"Rule({', '.join(given)})"


def _table(relation: Relation, columns: Iterable[ColumnFinding]) -> Iterator[str]:
    rows = str(relation.rows)
    left_out = without_of(relation)
    if left_out:
        rows += f".where(without={left_out!r})"
    yield "    Table("
    yield f"        {relation.name!r},"
    yield f"        {grain_of(relation)!r},"
    yield f"        {rows},"
    yield f"        key={relation.key!r},"
    yield "        columns=("
    for column in columns:
        yield from _comment(_evidence(column), "            ")
        yield f"            {_column(column)},"
    yield "        ),"
    yield "    ),"


def _evidence(column: ColumnFinding) -> str:
    """Explain why a column is read as it is; empty where its values show it."""
    if column.is_key or column.dtype not in ("Int64", "Float64"):
        return column.reading if column.parse or column.missing else ""
    return column.evidence


def _comment(text: str, indent: str) -> Iterator[str]:
    for line in textwrap.wrap(" ".join(text.split()), _WIDTH - len(indent) - 2):
        yield f"{indent}# {line}"


def _column(found: ColumnFinding) -> str:
    given = [repr(found.name), repr(found.dtype)]
    if found.doc:
        given.append(repr(found.doc))
    if found.source != camel(found.name) and not found.source.startswith("@"):
        given.append(f"source={found.source!r}")
    if found.unit.value is not None and found.unit.confidence != OPEN:
        given.append(f"unit={unit_code(found.unit.value)}")
    if found.units:
        inner = ", ".join(f"{key!r}: {unit_code(unit)}" for key, unit in found.units.items())
        given.append(f"units={{{inner}}}")
    if found.parse is not None:
        given.append(f"parse={found.parse!r}")
    if found.year is not None:
        given.append(f"year={found.year!r}")
    if found.scale != 1.0:
        given.append(f"scale={found.scale!r}")
    if found.missing:
        given.append(f"missing={found.missing!r}")
    code = rule_code(found.aggregate)
    if code != "NONE":
        given.append(f"aggregate={code}")
    return f"Column({', '.join(given)})"


def unit_code(unit: str) -> str:
    """Generate the Python of a unit: its constant, or its name as text.

    Examples
    --------
    >>> unit_code("count"), unit_code("furlongs")
    ('COUNT', "'furlongs'")
    """
    return next((name for name in _UNITS if getattr(vocabulary, name) == unit), repr(unit))


def rule_code(rule: Aggregation) -> str:
    """Generate the Python of an aggregation rule.

    Examples
    --------
    >>> rule_code(vocabulary.SUM), rule_code(vocabulary.ratio("hits", "answers"))
    ('SUM', "ratio('hits', 'answers')")
    """
    for name in _RULES:
        if getattr(vocabulary, name) == rule:
            return name
    if rule.rule == "ratio" and rule.over and rule == vocabulary.ratio(*rule.over):
        return f"ratio({rule.over[0]!r}, {rule.over[1]!r})"
    if rule.by is not None and rule == vocabulary.weighted(rule.by):
        return f"weighted({rule.by!r})"
    if rule.why is not None and rule == vocabulary.refused(rule.why):
        return f"refused({rule.why!r})"
    return repr(rule)


def _mapping(baseline: Mapping[str, Any]) -> str:
    text = repr(dict(baseline))
    return text if len(text) < _WIDTH else text.replace("], ", "],\n        ")
