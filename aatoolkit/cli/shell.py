"""The common parts of all commands: options, error messages, output formats.

A command is defined by its usage line and its options. An option is defined by its usage and a
description: ``make_option("--table NAME", "One table of it.")``. Error messages do not repeat
arguments, as these may be tokens.

Data is written to standard output, notes to standard error. CSV and JSON are always UTF-8. Tables
are printed in aligned columns, unless an option or the suffix of the file selects another format.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TextIO

import click

import aatoolkit as aa
from aatoolkit._util.defaults import DEADLINE_SECONDS, WORKERS
from aatoolkit._util.text import to_json_text, visible
from aatoolkit.errors import (
    AAToolkitError,
    ArgumentError,
    NotVisible,
    ScopeError,
    find_near_matches,
    suggest_names,
)
from aatoolkit.scope import ALLOWED_DAYS, FILTERS

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.http import Secret

Args = SimpleNamespace
"""The arguments and options of a command, by name."""

CommandFunction = Callable[[Args], int]

SECTIONS = sorted(
    module.name
    for module in iter_modules([str(Path(__file__).parents[1] / "sections" / "declared")])
    if module.name != "scope_options" and not module.name.startswith("_")
)
"""The names of the sections."""

# -- what is refused ---------------------------------------------------------------------------

NO_TOKEN_MESSAGE = (
    "a token is never given on the command line, where others could read it: put it into a file "
    "and name that with --token-file, or set AATOOLKIT_TOKEN"
)


TOKEN_OPTIONS = ("--token", "-token", "--bearer", "--api-key", "--password")
"""Options with which users may try to give a token; they are refused, as others could read it."""


def format_usage_error(error: click.UsageError) -> str:
    """Return the error message for a wrong command line; it does not repeat the values typed."""
    command: Any = error.ctx and error.ctx.command
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return "name a command"
    if isinstance(error, click.NoSuchOption):
        mistyped_name = error.option_name
        if mistyped_name in _ALL_OPTION_NAMES and isinstance(command, click.Group):
            example = f"aatoolkit read HOST {mistyped_name} …"
            return f"option {mistyped_name!r} belongs after the command, as in {example}"
        option_names = [
            option_name for parameter in command.params for option_name in parameter.opts
        ]
        suggestion = suggest_names(find_near_matches(mistyped_name, option_names))
        # A word that resembles no option may be a token.
        option_phrase = (
            f"option {mistyped_name!r}"
            if suggestion or mistyped_name in _ALL_OPTION_NAMES
            else "such option"
        )
        return f"there is no {option_phrase}{suggestion and f'; {suggestion}'}"
    if isinstance(error, click.exceptions.NoSuchCommand):
        suggestion = suggest_names(
            find_near_matches(error.command_name, command.commands),
            f"there are {', '.join(command.commands)}",
        )
        return f"there is no such command; {suggestion}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        mistyped_name = " ".join(filter(None, (error.param.opts[-1], error.param.metavar)))
        is_missing = isinstance(error, click.MissingParameter)
        return (
            f"{mistyped_name} {'is required' if is_missing else _describe_values(error.param.type)}"
        )
    return "too many arguments" if "unexpected extra" in error.message else error.message


def _describe_values(click_type: Any) -> str:
    """Return a phrase on the values that an option accepts, such as "takes a number from 0"."""
    if isinstance(click_type, click.Choice):
        return f"takes {', '.join(click_type.choices)}"
    limit_text = "" if click_type.max is None else f" to {click_type.max}"
    is_integer = isinstance(click_type, click.IntRange)
    return (
        f"takes {'a whole number' if is_integer else 'a number'} from {click_type.min}{limit_text}"
    )


# -- how a command is declared -----------------------------------------------------------------


class OutputPath(click.Path):
    """The click type of the path of an output file, or of a folder if ``is_folder``.

    ``suffixes`` are the allowed suffixes of a file; without them, all are allowed.
    """

    def __init__(self, *suffixes: str, is_folder: bool = False) -> None:
        super().__init__()
        self._suffixes = suffixes
        self._is_folder = is_folder

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert the value of an option to a path, or to None for standard output (``-``)."""
        path = Path(value)
        problem_text = ""
        folder = path if path.exists() else path.absolute().parent
        if value == "-" and not (self._is_folder or param.required):
            return None
        if path.exists() and path.is_dir() != self._is_folder:
            actual_kind, expected_kind = (
                ("a file", "a folder") if self._is_folder else ("a folder", "a file")
            )
            problem_text = f"{path} is {actual_kind}; name {expected_kind}"
        elif self._suffixes and path.suffix.lower() not in self._suffixes:
            suffixes_text = ", ".join(self._suffixes)
            problem_text = (
                f"{path} does not end in one of {suffixes_text}, which says its format; rename it"
            )
        elif not folder.exists():
            problem_text = f"there is no folder {folder}; make it first"
        if problem_text:
            raise ArgumentError(problem_text)
        return path


_PATH_PLACEHOLDERS = ("FILE", "DIR", "FOLDER", "STORE", "STUDY", "OTHER", "NOTEBOOK")


def _to_click_type(placeholder: str, click_type: Any) -> Any:
    """Return ``click_type``, or else `Path` for a placeholder such as ``FILE``, or None."""
    return click_type or (Path if placeholder in _PATH_PLACEHOLDERS else None)


_ALL_OPTION_NAMES: set[str] = set()
"""The spellings of all options, of whatever command."""


def make_option(
    usage: str, help_text: str, click_type: Any = None, default: Any = None, **click_settings: Any
) -> click.Option:
    """Create an option of a command from its usage, such as ``-o --out FILE``.

    An option without a placeholder such as ``FILE`` is a flag. ``...`` at the end of the spelling
    means that the option may be repeated. ``click_settings`` are further arguments of
    `click.Option`.
    """
    usage_words = usage.split()
    option_names = [word for word in usage_words if word.startswith("-")]
    _ALL_OPTION_NAMES.update(option_names)
    placeholders = usage_words[len(option_names) :]
    parameter_name = option_names[-1].strip("-").replace("-", "_")
    return click.Option(
        [*option_names, parameter_name],
        type=_to_click_type("".join(placeholders[:1]), click_type),
        metavar=placeholders[0]
        if placeholders and not isinstance(click_type, click.Choice)
        else None,
        is_flag=not placeholders,
        multiple=placeholders[1:] == ["..."],
        help=help_text,
        **click_settings | ({} if default is None else {"default": default, "show_default": True}),
    )


def _make_argument(usage_word: str, click_types: Mapping[str, Any]) -> click.Argument:
    """Create a click argument from a word of a usage line, such as ``[SECTION]`` or ``HOST...``."""
    argument_name = usage_word.strip("[].")
    return click.Argument(
        [argument_name.lower()],
        type=_to_click_type(argument_name, click_types.get(argument_name)),
        nargs=-1 if usage_word.endswith("...") else 1,
        required=not usage_word.startswith("["),
    )


_EXAMPLES_BY_COMMAND = dict(
    block.split("\n", 1)
    for block in Path(__file__).with_name("examples.txt").read_text("utf-8").split("\n\n")
)
"""Example command lines, by group and command."""


def command(
    group: click.Group,
    usage: str,
    *options: click.Option,
    help_text: str = "",
    **click_types: Any,
) -> Callable[[CommandFunction], CommandFunction]:
    """Return a decorator that makes a function a command of a group.

    Parameters
    ----------
    group : click.Group
        The group, such as ``aatoolkit`` or ``aatoolkit study``.
    usage : str
        The name and the arguments of the command, such as ``read HOST [SECTION]``.
    *options : click.Option
        The options of the command.
    help_text : str
        The help text of the command; by default the docstring of the function.
    **click_types : click.ParamType
        The types of arguments, by their names in ``usage``.
    """
    command_name, *arguments = usage.split()
    examples = _EXAMPLES_BY_COMMAND[f"{group.name} {command_name}"]
    token_note = _TOKEN_NOTE if {*SERVICE_OPTIONS} <= {*options} else ""

    def decorate(function: CommandFunction) -> CommandFunction:
        def run(**option_values: Any) -> int:
            import aatoolkit.frame  # noqa: F401  frames have df.aa, which help does without

            try:
                return function(Args(**option_values))
            except ScopeError as error:
                if error.parameter == "host":
                    error.args = (f"{error}; the order is {group.name} {usage}",)
                raise
            except NotVisible as error:
                from aatoolkit._util.hosts import canonical_host
                from aatoolkit.http import cache_info

                with suppress(AAToolkitError):  # the cache may be damaged
                    cached_hosts = {host_info.host for host_info in cache_info().hosts}
                    host = canonical_host(option_values["host"])
                    suggestion = suggest_names(find_near_matches(host, cached_hosts))
                    if suggestion and host not in cached_hosts:
                        error.args = (f"{error}; {suggestion}",)
                raise

        group.add_command(
            click.Command(
                command_name,
                params=[*(_make_argument(word, click_types) for word in arguments), *options],
                callback=run,
                help=help_text or function.__doc__,
                epilog=f"{token_note}\n\n\b\nexamples:\n{examples}".strip(),
            )
        )
        return function

    return decorate


_TOKEN_NOTE = """
The service and the token come from --base-url and --token-file, then from the environment
(AATOOLKIT_BASE_URL, AATOOLKIT_TOKEN, AATOOLKIT_TOKEN_FILE), then from the system's key store. A
token is never given on the command line, where others could read it."""

JSON_OPTION = make_option("--json", "Print JSON.")
CSV_OPTION = make_option("--csv", "Print CSV in UTF-8.")
WORKERS_OPTION = make_option("--workers N", "Concurrent requests.", click.IntRange(1), WORKERS)
SECTIONS_OPTION = make_option(
    "--section SECTION ...",
    "This section only; may be repeated (default: all, or those that the profile declares).",
)
FILTER_OPTIONS = (
    make_option(
        "--days N", "The window up to now.", click.Choice([str(n) for n in ALLOWED_DAYS]), "30"
    ),
    *(make_option(f"--{name} VALUE ...", f"This {name}; may be repeated.") for name in FILTERS),
)
PROFILE_OPTION = make_option(
    "--profile FILE",
    "The profile of the service. It is a Python file, and is executed: use your own only.",
)
SERVICE_OPTIONS = (
    make_option("--base-url URL", "The address of the service."),
    make_option("--token-file FILE", "A file that holds the token."),
    make_option(
        "--deadline SECONDS",
        f"How long a request may take, all attempts together (default: {DEADLINE_SECONDS:g}).",
        click.FloatRange(1),
    ),
)
CONNECTION_OPTIONS = (
    *SERVICE_OPTIONS,
    make_option("--no-cache", "Cache no responses."),
    make_option("--offline", "Use cached responses only, those of the same token."),
    PROFILE_OPTION,
)
READING_OPTIONS = (*FILTER_OPTIONS, *CONNECTION_OPTIONS, JSON_OPTION)
SYNTHETIC_OPTIONS = (
    make_option("--seed N", "Same seed, same data.", click.IntRange(0), 0),
    make_option("--answers N", "AI answers in all.", click.IntRange(1), 5000),
    make_option(
        "--icc X",
        "How much answers to one prompt resemble each other (intra-class correlation).",
        click.FloatRange(0, 0.999),
        0.3,
    ),
)


def pick_options(args: Args, *option_names: str) -> dict[str, Any]:
    """Return a dict with the values of the named options, except those without a value."""
    option_values = {name: vars(args).get(name) for name in option_names}
    return {name: value for name, value in option_values.items() if value is not None}


def make_scope(args: Args) -> aa.Scope:
    """Create the `Scope` (days and filters) of requests from ``--days`` and other options."""
    return aa.Scope(days=int(args.days), **pick_options(args, *FILTERS))


def make_client(args: Args) -> aa.Client:
    """Create a client from options such as ``--base-url`` and ``--offline``."""
    client_options = pick_options(args, "offline", "profile", "workers", "deadline")
    return aa.Client(args.base_url, read_token(args), cache=not args.no_cache, **client_options)


def make_project(args: Args) -> aa.Project:
    """Return the project for the argument ``HOST``, with options such as ``--base-url``."""
    return make_client(args).project(args.host)


def choose_sections(args: Args, client: aa.Client) -> tuple[str, ...]:
    """Return the sections of ``--section``, by default those that the profile declares, or all."""
    from aatoolkit.client.reading import check_sections

    sections = check_sections(args.section or None, client.profile)
    if not args.section and len(sections) < len(SECTIONS):
        print_note(f"the profile declares {', '.join(sections)}; --section reads others")
    return sections


def read_token(args: Args) -> Secret | None:
    """Read the token from the file that ``--token-file`` names; None without this option."""
    from aatoolkit.client.client import read_token_file

    return None if args.token_file is None else read_token_file(args.token_file, "--token-file")


# -- what is printed ---------------------------------------------------------------------------


def escape_unprintable() -> None:
    """Make standard output and error escape the characters that their encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


def print_note(note: str) -> None:
    """Print a note to standard error."""
    try:
        print(note, file=sys.stderr, flush=True)
    except BrokenPipeError:
        discard_output(sys.stderr)


def discard_output(stream: TextIO) -> None:
    """Redirect an output stream to the null device, after its reader closed the pipe."""
    # Else the interpreter would end with an error when it flushes the stream.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write_data(output_bytes: bytes) -> None:
    """Write bytes to standard output."""
    sys.stdout.flush()
    sys.stdout.buffer.write(output_bytes)
    sys.stdout.buffer.flush()


def print_output(args: Args, json_output: Any, lines: Iterable[str] = ()) -> None:
    """Print the output of a command: as JSON with ``--json``, else the ``lines``."""
    if args.json:
        write_data(f"{to_json_text(json_output, indent=2)}\n".encode())
    else:
        for line in lines:
            print(line)


def show_frame(args: Args, frame: pd.DataFrame) -> None:
    """Print a DataFrame as aligned columns, or as JSON with ``--json``."""
    print_output(
        args,
        to_json_rows(frame) if args.json else None,
        format_grid(frame.columns, frame.to_numpy(object)),
    )


def format_grid(headers: Iterable[str], rows: Iterable[Iterable[Any]]) -> Iterable[str]:
    """Yield the lines of a text table with aligned columns; ``headers`` are the column names."""
    header_row = [*map(str, headers)]
    text_rows = [header_row, *([_format_cell(cell_value) for cell_value in row] for row in rows)]
    if sys.stdout.isatty():
        import pandas as pd

        from aatoolkit._util.show import DisplayOptions, as_text

        yield as_text(pd.DataFrame(text_rows[1:], columns=header_row), DisplayOptions(details=()))
        return
    column_widths = [max(map(len, column)) for column in zip(*text_rows, strict=True)]
    for row in text_rows:
        cells_and_widths = zip(row, column_widths, strict=True)
        yield "  ".join(
            f"{cell:{column_width}}" for cell, column_width in cells_and_widths
        ).rstrip()


def _format_cell(value: Any) -> str:
    """Return one value of a table as text without line breaks."""
    from pandas import isna
    from pandas.api.types import is_scalar

    if not is_scalar(value):
        return ", ".join(map(_format_cell, value))
    if isna(value):
        return ""
    if getattr(value, "hour", None) == 0 and getattr(value, "tzinfo", None) is None:
        return f"{value:%Y-%m-%d}"
    return visible(f"{value:.4g}" if isinstance(value, float) else str(value))


# -- tables in a format ------------------------------------------------------------------------


def choose_format(args: Args, out_path: Path | None = None) -> str:
    """Return the format in which to write a table, such as ``csv`` or ``grid``.

    An option such as ``--csv`` selects it, or the suffix of the file ``out_path``.

    Raises
    ------
    ArgumentError
        If options or the suffix contradict each other.
    """
    format_names = [format_name for format_name in ("csv", "json") if vars(args)[format_name]]
    if out_path is not None:
        format_names.append(out_path.suffix.lower().removeprefix("."))
    if len({*format_names}) > 1:
        formats_text = " and as ".join(format_names)
        raise ArgumentError(f"the table is requested as {formats_text}; choose one format")
    return format_names[0] if format_names else "grid"


def write_table(
    frame: pd.DataFrame, table_name: str, format_name: str, out_path: Path | None
) -> None:
    """Write a table in a format such as ``csv``, to a file or else to standard output."""
    from aatoolkit._util.files import write_bytes

    if format_name in _FILE_WRITER_BY_FORMAT:
        _FILE_WRITER_BY_FORMAT[format_name](frame, out_path)
    elif out_path is None:
        write_data(_SERIALIZER_BY_FORMAT[format_name](frame, table_name))
    else:
        write_bytes(out_path, _SERIALIZER_BY_FORMAT[format_name](frame, table_name))


def to_json_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a DataFrame as a list of dicts of JSON values."""
    values_by_column = {
        str(column_name): _json_values(frame[column_name]) for column_name in frame.columns
    }
    return [
        dict(zip(values_by_column, row, strict=True))
        for row in zip(*values_by_column.values(), strict=True)
    ]


def _json_values(column: pd.Series) -> list[Any]:
    """Return the cells of a column as a list of JSON values."""
    from pandas.api.types import is_datetime64_any_dtype

    from aatoolkit.frame.csv import as_texts
    from aatoolkit.stats.explain.explanation import to_json_value

    cells = as_texts(column) if is_datetime64_any_dtype(column.dtype) else column
    return [*map(to_json_value, cells.to_numpy(object))]


def _to_csv_bytes(frame: pd.DataFrame, _: str) -> bytes:
    """Return the bytes of a table as CSV in UTF-8."""
    from aatoolkit.frame.csv import csv_bytes

    return csv_bytes(frame)


def _to_json_bytes(frame: pd.DataFrame, table_name: str) -> bytes:
    """Return a table as the bytes of a JSON object with its name, rows and availability."""
    availability = json.loads(frame.aa.availability.to_json(orient="index"))
    document = {"table": table_name, "rows": to_json_rows(frame), "availability": availability}
    return f"{to_json_text(document, indent=2)}\n".encode()


_SERIALIZER_BY_FORMAT: dict[str, Callable[[pd.DataFrame, str], bytes]] = {
    "csv": _to_csv_bytes,
    "json": _to_json_bytes,
    "ndjson": lambda frame, _: "".join(
        f"{to_json_text(row)}\n" for row in to_json_rows(frame)
    ).encode(),
}
_FILE_WRITER_BY_FORMAT: dict[str, Callable[[Any, Any], Any]] = {
    "parquet": lambda frame, out: frame.aa.to_parquet(out),
    "xlsx": lambda frame, out: frame.aa.to_excel(out),
}
TABLE_SUFFIXES = tuple(f".{name}" for name in (*_FILE_WRITER_BY_FORMAT, *_SERIALIZER_BY_FORMAT))
"""The suffixes of the files to which a table can be written."""
