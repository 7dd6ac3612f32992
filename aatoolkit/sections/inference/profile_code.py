"""Write the guessed tables of a service as a Python file that people can read and edit."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from aatoolkit import sections as vocabulary
from aatoolkit._util.text import find_unused_name
from aatoolkit.jsontree.paths import format_path
from aatoolkit.scope import FILTERS
from aatoolkit.sections import COUNT, FRACTION, Aggregation, Rule, Section, column as columns
from aatoolkit.sections.column import camel, to_snake_case
from aatoolkit.sections.inference.analysis import SectionAnalysis, declare_column, declare_table
from aatoolkit.sections.inference.draft_tables import PROVED, DraftColumn, DraftTable

_LINE_WIDTH = 120
_MAX_LITERAL_LENGTH = 80
_MAX_UNBROKEN_LENGTH = 24
_MIN_REPETITIONS = 3
"""How often columns or a rule are in a profile before they are declared once, with a name."""

_CONSTANT_NAMES = [name for name in vocabulary.VOCABULARY if name.isupper() and name != "RULES"]
_SHORT_FORMS: dict[tuple[str, str | None], columns.ShortForm] = {
    **columns.SHORT_FORM_BY_DTYPE_AND_UNIT,
    ("Int64", COUNT): columns.count,
    ("Float64", FRACTION): columns.fraction,
}
_COLUMN_PARAMETERS = ("source", "unit", "parse", "year", "scale", "missing", "valid", "aggregate")
_LITERAL_PATTERN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_LITERAL_PIECE_PATTERN = re.compile(
    rf".{{1,{_MAX_LITERAL_LENGTH}}}(?: |$)|.{{1,{_MAX_LITERAL_LENGTH}}}"
)
_FILE_HEADER_TEMPLATE = '''"""{title}

A comment above a table says what proved the rules of its numbers. Units are likely, by name and
range. A number without a rule is not added up until it has one: count(...) in place of number(...).
"""'''


def format_profile(
    name: str,
    title: str,
    analyses: Iterable[SectionAnalysis],
    baseline: Mapping[str, Any],
    options_section: Section | None,
) -> str:
    """Return the source of a Python file that describes the tables of a service.

    Parameters
    ----------
    name : str
        The name of the profile, as in `Profile`.
    title : str
        The first line of the file, which is also the description of the profile.
    analyses : iterable of SectionAnalysis
        The tables of each section, with the reasons for units and ways to aggregate.
    baseline : mapping
        The description of the responses, as in `Profile`.
    options_section : Section or None
        The paths at which the service lists the values of its filters.
    """
    analysis_by_variable = dict(
        sorted((_format_variable_name(analysis.section_name), analysis) for analysis in analyses)
    )
    name_by_code = _name_repeated_code(analysis_by_variable)
    constant_codes = (
        "\n".join(_wrap_lines(f"{name} = {profile_code}", "", "    "))
        for profile_code, name in name_by_code.items()
    )
    code_blocks = [
        "\n".join(constant_codes),
        *(
            "\n".join(_format_section(*variable_and_analysis, name_by_code))
            for variable_and_analysis in analysis_by_variable.items()
        ),
    ]
    baseline_code = f", baseline={baseline!r}" if baseline else ""
    variable_names = [*analysis_by_variable]
    if options_section is not None:
        filter_tables = zip(FILTERS, options_section, vocabulary.scope_options(), strict=False)
        path_arguments = (
            f"{filter_name}={table[filter_name].pattern!r}"
            for filter_name, table, default_table in filter_tables
            if table.rows != default_table.rows
        )
        code_blocks.append(f"SCOPE_OPTIONS = scope_options({', '.join(path_arguments)})")
        variable_names.append("SCOPE_OPTIONS")
    name_codes = ", ".join([repr(name), *variable_names])
    profile_code = f"PROFILE = Profile({name_codes}, doc={title!r}{baseline_code})"
    code_blocks.append("\n".join(_wrap_lines(profile_code, "", "    ")))
    body_code = "\n\n".join(filter(None, code_blocks))
    header_code = _FILE_HEADER_TEMPLATE.format(title=title)
    return f"{header_code}\n\n{_format_imports(body_code)}\n\n{body_code}\n"


def _format_variable_name(name: str) -> str:
    """Return the name of the Python variable for a section or a path, such as ``DOMAINS``."""
    return "_".join(map(to_snake_case, re.findall(r"\w+", name))).upper()


def _name_repeated_code(analysis_by_variable: Mapping[str, SectionAnalysis]) -> dict[str, str]:
    """Return a dict from the code that several sections repeat to the name of a constant for it.

    Such code declares a rule, or columns of objects that each response has, such as ``meta``.
    """
    names_and_codes = [
        (_format_variable_name(constant_name), code)
        for analysis in analysis_by_variable.values()
        for constant_name, code in (
            *((f"{rule.at}.rule", _format_rule(rule)) for rule in analysis.rules),
            *(
                column_run
                for table in analysis.draft_tables
                for column_run in _format_column_runs(table)
            ),
        )
    ]
    name_by_code: dict[str, str] = {}
    for (constant_name, code), repetition_count in Counter(names_and_codes).items():
        if (
            repetition_count >= _MIN_REPETITIONS
            and len(code) > _MAX_LITERAL_LENGTH
            and constant_name.isidentifier()
        ):
            used_names = [*name_by_code.values(), *analysis_by_variable, *vocabulary.VOCABULARY]
            used_names += "PROFILE", "SCOPE_OPTIONS"
            name_by_code[code] = find_unused_name(constant_name, used_names)
    return name_by_code


def _format_imports(code: str) -> str:
    """Return the import statement for all names of `aatoolkit.sections` in some Python code."""
    used_names = [
        name
        for name in vocabulary.VOCABULARY
        if re.search(rf"(?<![\w'\"]){name}(?=[(,)}}]|$)", code, re.M)
    ]
    import_code = f"from aatoolkit.sections import ({', '.join(sorted(used_names))})"
    return "\n".join(_wrap_lines(import_code, "", "    "))


def _format_section(
    variable_name: str, analysis: SectionAnalysis, name_by_code: Mapping[str, str]
) -> Iterator[str]:
    """Yield the lines of code that declare a section, with comments on the guesses.

    ``name_by_code`` has the names of the constants, as `_name_repeated_code` returns them.
    """
    yield from (f"# {note}"[:_LINE_WIDTH] for note in analysis.notes)
    section = analysis.declaration
    yield f"{variable_name} = Section({section.name!r}, {section.doc!r},"
    # Places that may be about availability; a rule that reads one makes it sure.
    keyword_arguments = [
        f"{parameter_name}={json_paths!r}"
        for parameter_name in ("optional", "watched", "emptied")
        if (json_paths := getattr(section, parameter_name))
    ]
    if analysis.rules:
        rule_codes = map(_format_rule, analysis.rules)
        rules_code = ", ".join(name_by_code.get(code, code) for code in rule_codes)
        keyword_arguments.insert(
            0, f"availability={f'({rules_code})' if len(analysis.rules) > 1 else rules_code}"
        )
    *tables, last_table = analysis.draft_tables
    for table in tables:
        yield from _format_table(table, ",", name_by_code)
    yield from _format_table(last_table, f"{', '.join(['', *keyword_arguments])})", name_by_code)


def _format_rule(rule: Rule) -> str:
    """Return the Python code that creates a `Rule`.

    Examples
    --------
    >>> _format_rule(Rule(at="meta.state", words={"red": "pending"}))
    "Rule(at='meta.state', words={'red': 'pending'})"
    """
    keyword_arguments = [
        f"{parameter_name}={value!r}"
        for parameter_name, value in vars(rule).items()
        if value != getattr(Rule(), parameter_name)
    ]
    return f"Rule({', '.join(keyword_arguments)})"


def _format_rows(table: DraftTable) -> str:
    """Return the shortest Python code that declares where in the JSON the rows of a table are.

    The code also says how the rows are given there, e.g. ``records('rows')`` for a list of objects.
    """
    row_declaration = declare_table(table).rows
    row_path = row_declaration.path
    key_names = row_declaration.labels
    list_path = row_path.removesuffix("[]")
    key_code = f", key={_format_names(key_names)}" if key_names else ""
    if row_declaration.one:
        rows_code = "single()"
    elif row_declaration.header is not None:
        header_path = format_path(row_declaration.header).removesuffix("[]")
        rows_code = f"grid({list_path!r}, header={header_path!r})"
    elif row_path.endswith("]"):
        records_path = row_path if list_path.endswith("]") else list_path
        first_row_code = f", first={row_declaration.first}" if row_declaration.first else ""
        rows_code = f"records({records_path!r}{key_code}{first_row_code})"
    else:
        rows_code = f"keyed({row_path.rstrip('{}')!r}{key_code})"
    row_filters = {"without": dict(row_declaration.without), "only": dict(row_declaration.only)}
    filter_code = ", ".join(
        f"{parameter_name}={filter_values!r}"
        for parameter_name, filter_values in row_filters.items()
        if filter_values
    )
    return f"{rows_code}.where({filter_code})" if filter_code else rows_code


def _format_names(names: tuple[str, ...]) -> str:
    """Return the Python code of a tuple of names, or of a single name, such as ``'engine'``."""
    return repr(names[0] if len(names) == 1 else names)


def _format_column_runs(table: DraftTable) -> Iterator[tuple[str, str]]:
    """Yield the path of each object, and the code of all columns that are fields of the object."""
    column_runs = groupby(
        table.columns,
        lambda column: column.path.partition(".")[0] if table.rows.one else table.rows.path,
    )
    for object_path, columns_of_run in column_runs:
        column_calls = map(_format_column, columns_of_run)
        columns_code = ", ".join(
            column_call.replace(" ", "\0")
            if len(column_call) < _MAX_UNBROKEN_LENGTH
            else column_call
            for column_call in column_calls
        )
        yield object_path, f"({columns_code},)"


def _format_table(
    table: DraftTable, closing_code: str, name_by_code: Mapping[str, str]
) -> Iterator[str]:
    """Yield the lines of code that declare a table, with comments on what proved the guesses.

    ``closing_code`` is written after the last parenthesis. ``name_by_code`` has the names of the
    constants, as `_name_repeated_code` returns them.
    """
    key_code = f"key={_format_names(table.key)}, " if table.key else ""
    column_names_by_proof_reason: dict[str, list[str]] = {}
    for column in table.columns:
        if column.is_measure and PROVED in (column.aggregation.confidence, column.unit.confidence):
            proved_guess = (
                column.aggregation if column.aggregation.confidence == PROVED else column.unit
            )
            column_names_by_proof_reason.setdefault(
                re.split("[;,]", proved_guess.reason)[0], []
            ).append(column.name)
    proof_text = "; ".join(
        f"{', '.join(column_names)}: {proof_reason}"
        for proof_reason, column_names in column_names_by_proof_reason.items()
        if proof_reason
    )
    if proof_text:
        yield f"    # {textwrap.shorten(proof_text, _LINE_WIDTH - 6, placeholder=' …')}"
    column_codes = [
        f"*{name_by_code[code]}" if code in name_by_code else code[1:-2]
        for _, code in _format_column_runs(table)
    ]
    is_single_item = len(table.columns) == 1 or column_codes[0][0] == "*"
    needs_trailing_comma = len(column_codes) == 1 and is_single_item
    table_code = (
        f"Table({table.name!r}, '', {_format_rows(table)}, {key_code}"
        f"columns=({', '.join(column_codes)}{',' * needs_trailing_comma})){closing_code}"
    )
    yield from _wrap_lines(table_code, "    ", " " * 8)


def _format_column(draft_column: DraftColumn) -> str:
    """Return the shortest Python code that declares a column."""
    column = declare_column(draft_column)
    column_name = column.name
    aggregation = column.aggregate
    source = column.source or ""
    short_form = _SHORT_FORMS.get((column.dtype, column.unit)) or _SHORT_FORMS[column.dtype, None]
    short_form_arguments: dict[str, Any] = {}
    if short_form is columns.fraction and aggregation.over:
        short_form_arguments = {"over": aggregation.over}
    elif short_form is columns.count and aggregation.rule == "sum":
        short_form_arguments = {"across": aggregation.across} if aggregation.across else {}
    elif short_form is columns.count:
        short_form = columns.integer
    default_column = short_form(column_name, **short_form_arguments)
    changed_parameters = {
        parameter: value
        for parameter in _COLUMN_PARAMETERS
        if (value := getattr(column, parameter)) != getattr(default_column, parameter)
    }
    first_argument = column_name
    # These sources are the defaults: labels, names of a header, and the name in camelCase.
    has_header = draft_column.draft_table.rows.header is not None
    default_source = f"[{column_name}]" if has_header else camel(column_name)
    if source == default_source or source[:1] == "@":
        del changed_parameters["source"]
    elif re.fullmatch(r"\^*[\w.-]+", source) and to_snake_case(source) == column_name:
        first_argument = f".{column_name}" if source == column_name else source
        del changed_parameters["source"]
    doc_argument = [repr(column.doc)] if column.doc else []
    keyword_arguments = [
        f"{parameter}={_format_value(parameter, value)}"
        for parameter, value in {**short_form_arguments, **changed_parameters}.items()
    ]
    argument_codes = [repr(first_argument), *doc_argument, *keyword_arguments]
    return f"{short_form.__name__}({', '.join(argument_codes)})"


def _format_value(parameter: str, value: Any) -> str:
    """Return the Python code of an argument, such as ``COUNT`` for ``unit="count"``."""
    if parameter == "aggregate":
        return format_aggregation(value)
    if parameter == "across":
        return _format_names(value)
    constant_names = (name for name in _CONSTANT_NAMES if getattr(vocabulary, name) == value)
    return next(constant_names, repr(value)) if parameter == "unit" else repr(value)


def format_aggregation(aggregation: Aggregation) -> str:
    """Return the shortest Python code that creates an `Aggregation`.

    Examples
    --------
    >>> format_aggregation(vocabulary.SUM), format_aggregation(vocabulary.ratio("hits", "answers"))
    ('SUM', "ratio('hits', 'answers')")
    """
    numerator, denominator = aggregation.over or ("", "")
    why_code = f", why={aggregation.why!r}" if aggregation.why else ""
    aggregation_by_code = {
        **{name: getattr(vocabulary, name) for name in _CONSTANT_NAMES},
        f"ratio({numerator!r}, {denominator!r})": vocabulary.ratio(numerator, denominator),
        f"weighted({aggregation.by!r}{why_code})": vocabulary.weighted(
            aggregation.by or "", None, aggregation.why
        ),
        f"refused({aggregation.why!r})": vocabulary.refused(aggregation.why or ""),
    }
    return next(
        (
            code
            for code, coded_aggregation in aggregation_by_code.items()
            if coded_aggregation == aggregation
        ),
        repr(aggregation),
    )


def _wrap_lines(code: str, initial_indent: str, subsequent_indent: str) -> list[str]:
    """Break Python code into lines of at most 120 characters; long texts are split.

    Parameters
    ----------
    code : str
        The code, in one line.
    initial_indent, subsequent_indent : str
        The spaces before the first line and before the others.
    """

    def make_unbreakable(match: re.Match[str]) -> str:
        """Replace the spaces in a string literal, so that it is not broken across lines."""
        literal = match[0].replace(" ", "\0")
        if len(literal) > _MAX_LITERAL_LENGTH + 2 and "\\" not in literal and literal[0] == "'":
            pieces = _LITERAL_PIECE_PATTERN.findall(match[0][1:-1])
            literal = " ".join(repr(piece).replace(" ", "\0") for piece in pieces)
        return literal

    lines = textwrap.wrap(
        _LITERAL_PATTERN.sub(make_unbreakable, code), _LINE_WIDTH,
        initial_indent=initial_indent, subsequent_indent=subsequent_indent,
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

    def __init__(self, analysis: SectionAnalysis) -> None:
        self.section: Section = analysis.declaration
        body_code = "\n".join(_format_section("SECTION", analysis, {}))
        self.code: str = f"{_format_imports(body_code)}\n\n{body_code}"

    def __str__(self) -> str:
        return self.code

    __repr__ = __str__
