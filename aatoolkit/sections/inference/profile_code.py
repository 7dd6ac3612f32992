"""Write the guessed tables of a service as a Python file that people can read and edit."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aatoolkit import sections as vocabulary
from aatoolkit.jsontree.paths import format_path
from aatoolkit.scope import FILTERS
from aatoolkit.sections import COUNT, FRACTION, Aggregation, Rule, Section
from aatoolkit.sections import column as columns
from aatoolkit.sections.column import camel, snake
from aatoolkit.sections.inference.analysis import Analysis, declare_column, declare_table
from aatoolkit.sections.inference.findings import PROVED, ColumnFinding, Relation

_WIDTH, _MAX_LITERAL, _MAX_UNBROKEN = 120, 80, 24
_CONSTANTS = [name for name in vocabulary.VOCABULARY if name.isupper() and name != "RULES"]
_SHORT_FORMS: dict[tuple[str, str | None], columns.ShortForm] = {
    **columns.FORMS,
    ("Int64", COUNT): columns.count,
    ("Float64", FRACTION): columns.fraction,
}
_PARAMETERS = ("source", "unit", "parse", "year", "scale", "missing", "valid", "aggregate")
_LITERAL = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_LITERAL_PIECE = re.compile(rf".{{1,{_MAX_LITERAL}}}(?: |$)|.{{1,{_MAX_LITERAL}}}")
_HEAD = '''"""{title}

A comment above a table says what proved the rules of its numbers. Units are likely, by name and
range. A number without a rule is not added up until it has one: count(...) in place of number(...).
"""'''


def format_profile(
    name: str,
    title: str,
    analyses: Iterable[Analysis],
    baseline: Mapping[str, Any],
    options: Section | None,
) -> str:
    """Return the source of a Python file that describes the tables of a service.

    Parameters
    ----------
    name : str
        The name of the profile, as in `Profile`.
    title : str
        The first line of the file, which is also the description of the profile.
    analyses : iterable of Analysis
        The tables of each section, with the reasons for units and ways to aggregate.
    baseline : mapping
        The description of the responses, as in `Profile`.
    options : Section or None
        The paths at which the service lists the values of its filters.
    """
    sections = dict(
        sorted((_format_variable_name(analysis.section), analysis) for analysis in analyses)
    )
    blocks = ["\n".join(_format_section(*item)) for item in sections.items()]
    baseline_code = f", baseline={baseline!r}" if baseline else ""
    variables = [*sections]
    if options is not None:
        filter_tables = zip(FILTERS, options, vocabulary.scope_options(), strict=False)
        path_arguments = (
            f"{filter_name}={table[filter_name].pattern!r}"
            for filter_name, table, default_table in filter_tables
            if table.rows != default_table.rows
        )
        blocks.append(f"SCOPE_OPTIONS = scope_options({', '.join(path_arguments)})")
        variables.append("SCOPE_OPTIONS")
    code = f"PROFILE = Profile({', '.join([repr(name), *variables])}, doc={title!r}{baseline_code})"
    body = "\n\n".join([*blocks, "\n".join(_wrap_lines(code, "", "    "))])
    return f"{_HEAD.format(title=title)}\n\n{_format_imports(body)}\n\n{body}\n"


def _format_variable_name(section: str) -> str:
    """Return the name of the Python variable for a section, such as ``DOMAINS``."""
    return re.sub(r"\W", "_", section).upper()


def _format_imports(body: str) -> str:
    """Return the import statement for all names of `aatoolkit.sections` in some Python code."""
    used_names = [
        name
        for name in vocabulary.VOCABULARY
        if re.search(rf"(?<![\w'\"]){name}(?=[(,)}}]|$)", body, re.M)
    ]
    imports = f"from aatoolkit.sections import ({', '.join(sorted(used_names))})"
    return "\n".join(_wrap_lines(imports, "", "    "))


def _format_section(variable_name: str, analysis: Analysis) -> Iterator[str]:
    """Yield the lines of code that declare a section, with comments on the guesses."""
    yield from (f"# {note}"[:_WIDTH] for note in analysis.notes)
    section = analysis.declaration
    yield f"{variable_name} = Section({section.name!r}, {section.doc!r},"
    # Places that may be about availability; a rule that reads one makes it sure.
    keywords = [
        f"{name}={paths!r}"
        for name in ("optional", "watched", "emptied")
        if (paths := getattr(section, name))
    ]
    if analysis.rules:
        keywords.insert(0, f"availability=({', '.join(map(_format_rule, analysis.rules))},)")
    *tables, last_table = analysis.relations
    for relation in tables:
        yield from _format_table(relation, ",")
    yield from _format_table(last_table, f"{', '.join(['', *keywords])})")


def _format_rule(rule: Rule) -> str:
    """Return the Python code that creates a `Rule`.

    Examples
    --------
    >>> _format_rule(Rule(at="meta.state", words={"red": "pending"}))
    "Rule(at='meta.state', words={'red': 'pending'})"
    """
    keywords = [
        f"{name}={value!r}" for name, value in vars(rule).items() if value != getattr(Rule(), name)
    ]
    return f"Rule({', '.join(keywords)})"


def _format_rows(relation: Relation) -> str:
    """Return the shortest Python code that declares the path and shape of a table's rows."""
    rows = declare_table(relation).rows
    path, labels = rows.path, rows.labels
    list_path = path.removesuffix("[]")
    key_code = f", key={_format_names(labels)}" if labels else ""
    if rows.one:
        code = "single()"
    elif rows.header is not None:
        code = f"grid({list_path!r}, header={format_path(rows.header).removesuffix('[]')!r})"
    elif path.endswith("]"):
        first_code = f", first={rows.first}" if rows.first else ""
        code = f"records({path if list_path.endswith(']') else list_path!r}{key_code}{first_code})"
    elif path.endswith("{}" * len(labels)):
        code = f"keyed({path[: -2 * len(labels)]!r}{key_code})"
    else:
        code = f"Rows(parse_pattern({path!r}), {labels!r})"
    filters = {"without": dict(rows.without), "only": dict(rows.only)}
    filter_code = ", ".join(f"{name}={values!r}" for name, values in filters.items() if values)
    return f"{code}.where({filter_code})" if filter_code else code


def _format_names(names: tuple[str, ...]) -> str:
    """Return the Python code of a tuple of names, or of a single name, such as ``'engine'``."""
    return repr(names[0] if len(names) == 1 else names)


def _format_table(relation: Relation, end: str) -> Iterator[str]:
    """Yield the lines of code that declare a table, with comments on the evidence.

    ``end`` is written after the last parenthesis.
    """
    key_code = f"key={_format_names(relation.key)}, " if relation.key else ""
    names_by_reason: dict[str, list[str]] = {}
    for column in relation.columns:
        if column.is_measure and PROVED in (column.rule.confidence, column.unit.confidence):
            finding = column.rule if column.rule.confidence == PROVED else column.unit
            names_by_reason.setdefault(re.split("[;,]", finding.evidence)[0], []).append(
                column.name
            )
    proof = "; ".join(
        f"{', '.join(names)}: {reason}" for reason, names in names_by_reason.items() if reason
    )
    if proof:
        yield f"    # {textwrap.shorten(proof, _WIDTH - 6, placeholder=' …')}"
    calls = (_format_column(column) for column in relation.columns)
    code = ", ".join(
        call.replace(" ", "\0") if len(call) < _MAX_UNBROKEN else call for call in calls
    )
    table_code = (
        f"Table({relation.name!r}, '', {_format_rows(relation)}, {key_code}columns=({code},)){end}"
    )
    yield from _wrap_lines(table_code, "    ", " " * 8)


def _format_column(finding: ColumnFinding) -> str:
    """Return the shortest Python code that declares a column."""
    column = declare_column(finding)
    name, rule, source = column.name, column.aggregate, column.source or ""
    short_form = _SHORT_FORMS.get((column.dtype, column.unit)) or _SHORT_FORMS[column.dtype, None]
    parameters: dict[str, Any] = {}
    if short_form is columns.fraction and rule.over:
        parameters = {"over": rule.over}
    elif short_form is columns.count and rule.rule == "sum":
        parameters = {"across": rule.across} if rule.across else {}
    elif short_form is columns.count:
        short_form = columns.integer
    default_column = short_form(name, **parameters)
    changed_parameters = {
        parameter: value
        for parameter in _PARAMETERS
        if (value := getattr(column, parameter)) != getattr(default_column, parameter)
    }
    first_argument = name
    # These sources are the defaults: labels, names of a header, and the name in camelCase.
    default_source = f"[{name}]" if finding.relation.rows.header is not None else camel(name)
    if source == default_source or source[:1] == "@":
        del changed_parameters["source"]
    elif re.fullmatch(r"\^*[\w.-]+", source) and snake(source) == name:
        first_argument = f".{name}" if source == name else source
        del changed_parameters["source"]
    doc_argument = [repr(column.doc)] if column.doc else []
    keywords = [
        f"{parameter}={_format_value(parameter, value)}"
        for parameter, value in {**parameters, **changed_parameters}.items()
    ]
    return f"{short_form.__name__}({', '.join([repr(first_argument), *doc_argument, *keywords])})"


def _format_value(parameter: str, value: Any) -> str:
    """Return the Python code of an argument, such as ``COUNT`` for ``unit="count"``."""
    if parameter == "aggregate":
        return format_aggregation(value)
    if parameter == "across":
        return _format_names(value)
    constants = (name for name in _CONSTANTS if getattr(vocabulary, name) == value)
    return next(constants, repr(value)) if parameter == "unit" else repr(value)


def format_aggregation(rule: Aggregation) -> str:
    """Return the shortest Python code that creates an `Aggregation`.

    Examples
    --------
    >>> format_aggregation(vocabulary.SUM), format_aggregation(vocabulary.ratio("hits", "answers"))
    ('SUM', "ratio('hits', 'answers')")
    """
    numerator, denominator = rule.over or ("", "")
    rules_by_code = {
        **{name: getattr(vocabulary, name) for name in _CONSTANTS},
        f"ratio({numerator!r}, {denominator!r})": vocabulary.ratio(numerator, denominator),
        f"weighted({rule.by!r})": vocabulary.weighted(rule.by or ""),
        f"weighted({rule.by!r}, why={rule.why!r})": vocabulary.weighted(
            rule.by or "", None, rule.why
        ),
        f"refused({rule.why!r})": vocabulary.refused(rule.why or ""),
    }
    return next(
        (code for code, candidate in rules_by_code.items() if candidate == rule), repr(rule)
    )


def _wrap_lines(code: str, first_indent: str, other_indent: str) -> list[str]:
    """Break Python code into lines of at most 120 characters; long texts are split.

    Parameters
    ----------
    code : str
        The code, in one line.
    first_indent, other_indent : str
        The spaces before the first line and before the others.
    """

    def make_unbreakable(match: re.Match[str]) -> str:
        """Replace the spaces in a string literal, so that it is not broken across lines."""
        text = match[0].replace(" ", "\0")
        if len(text) > _MAX_LITERAL + 2 and "\\" not in text and text[0] == "'":
            parts = _LITERAL_PIECE.findall(match[0][1:-1])
            text = " ".join(repr(part).replace(" ", "\0") for part in parts)
        return text

    lines = textwrap.wrap(
        _LITERAL.sub(make_unbreakable, code), _WIDTH,
        initial_indent=first_indent, subsequent_indent=other_indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [line.replace("\0", " ") for line in lines]


class Proposal:
    """The guessed tables of some JSON. It prints as Python code, with the reasons in comments.

    Attributes
    ----------
    section : Section
        The tables; pass it to `aatoolkit.normalize`.
    code : str
        The Python code that creates ``section``.

    Examples
    --------
    >>> vocabulary.propose({"items": [{"id": "a", "n": 1}]}, "things").section.names
    ('things',)
    """

    def __init__(self, analysis: Analysis) -> None:
        self.section: Section = analysis.declaration
        body = "\n".join(_format_section("SECTION", analysis))
        self.code: str = f"{_format_imports(body)}\n\n{body}"

    def __str__(self) -> str:
        return self.code

    __repr__ = __str__
