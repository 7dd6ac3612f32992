"""Commands as data, the options that they share, and how a command line is refused.

A command is a line of usage and a list of options, each of which is a line as help shows it and a
sentence: ``option("--table NAME", "One table of it.")``. A function gets what was typed as one
object. A refusal never repeats what may be a token.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from aatoolkit._util.defaults import DAYS, DEADLINE, FILTERS, WORKERS
from aatoolkit.errors import ArgumentError, did_you_mean, near_matches

if TYPE_CHECKING:
    from aatoolkit.client.client import Client
    from aatoolkit.client.project import Project
    from aatoolkit.scope import Scope

Given = SimpleNamespace
"""What was typed, by the names of arguments and options."""

Run = Callable[[Given], int]

SECTIONS = sorted(
    module.name
    for module in iter_modules([str(Path(__file__).parents[1] / "sections" / "declared")])
    if module.name != "scope_options" and not module.name.startswith("_")
)
"""The names of the sections, without loading what they declare."""

NO_TOKEN = (
    "a token is never given on the command line, where others could read it: put it into a file "
    "and name that with --token-file, or set AATOOLKIT_TOKEN"
)
_PLAIN_OPTION = re.compile(r"--?(?!.{20})[a-z]+(?:-[a-z]+)*(?=$|=)")
"""An option as people type it: short words of small letters, which are no token."""


def is_token_option(word: str) -> bool:
    """Whether a word of the command line would be followed by a token."""
    name = word.partition("=")[0]
    return name in ("--token", "-token", "--bearer", "--api-key", "--password")


def problem_of(error: click.UsageError) -> str:
    """Say what is wrong with a command line; a value that may be a token is not repeated."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return "name a command"
    if isinstance(error, click.NoSuchOption):
        plain = _PLAIN_OPTION.match(error.option_name)
        if plain is None:
            return "unknown option: (not shown)"
        options = [name for one in _commands_of(error.ctx) for p in one.params for name in p.opts]
        near = near_matches(plain[0], [name for name in options if name[:2] == "--"], cutoff=0.8)
        return "; ".join(filter(None, (f"unknown option: {plain[0]}", did_you_mean(near))))
    if isinstance(error, click.exceptions.NoSuchCommand) and error.ctx is not None:
        group = error.ctx.command
        return choice_problem("COMMAND", error.command_name, getattr(group, "commands", ()))
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{_name_of(error.param)} is required"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"{_name_of(error.param)} {error.message}"
    if error.message.startswith("Got unexpected extra"):
        return "too many arguments"
    return error.message


def choice_problem(what: str, value: str, choices: Iterable[str]) -> str:
    """Say that a value is not among the choices; it is shown if it resembles one."""
    choices = [*choices]
    near = near_matches(value, choices)
    shown = f"{value!r} is unknown" if near else f"the {what} is unknown"
    hint = did_you_mean(near, f"there are {', '.join(choices)}")
    return f"{shown}; {hint}"


def _commands_of(context: click.Context | None) -> list[click.Command]:
    command = context.command if context else None
    groups = getattr(command, "commands", {}).values()
    return [*([command] if command else []), *groups]


def _name_of(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return parameter.make_metavar(click.Context(click.Command("")))


class Choice(click.ParamType[Any]):
    """One of some names; another is refused with near matches."""

    name = "choice"

    def __init__(self, *choices: str) -> None:
        self._choices = choices

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the name."""
        if value not in self._choices:
            self.fail(choice_problem("value", str(value), self._choices), param, ctx)
        return str(value)

    def get_metavar(self, param: Any, ctx: Any) -> str:
        """The choices, as help shows them."""
        return f"[{'|'.join(self._choices)}]"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """The choices that begin so."""
        return [CompletionItem(name) for name in self._choices if name.startswith(incomplete)]


class Number(click.ParamType[Any]):
    """A number from a least to a most."""

    name = "N"

    def __init__(self, least: float, most: float = float("inf"), *, whole: bool = True) -> None:
        self._least, self._most, self._whole = least, most, whole

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Convert the text of an option."""
        try:
            number = (int if self._whole else float)(value)
        except ValueError:
            number = float("nan")
        if not self._least <= number <= self._most:
            upto = f" to {self._most}" if self._most < float("inf") else ""
            kind = "a whole number" if self._whole else "a number"
            self.fail(f"takes {kind} from {self._least}{upto}", param, ctx)
        return number


class Day(click.ParamType[Any]):
    """A day, or a moment with a time zone."""

    name = "DAY"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the text of an option unless it is neither."""
        try:
            is_day = len(value) == 10 and bool(date.fromisoformat(value))
            is_taken = is_day or datetime.fromisoformat(value).tzinfo is not None
        except ValueError:
            is_taken = False
        if not is_taken:
            kinds = "a day, such as 2026-11-20, or a moment, such as 2026-11-20T23:00:00Z"
            self.fail(f"takes {kinds}", param, ctx)
        return str(value)


class FilePath(click.ParamType[Any]):
    """A path that exists or not; completed by the shell."""

    name = "FILE"

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """Return the path."""
        return Path(value)

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Leave it to the shell."""
        return [CompletionItem(incomplete, type="file")]


class Output(FilePath):
    """A file or folder to write, which is checked before anything else is done."""

    def __init__(self, *suffixes: str, is_folder: bool = False) -> None:
        self._suffixes, self._is_folder = suffixes, is_folder

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """Return the path, unless it is known that it cannot be written."""
        path = Path(value)
        problem = "" if str(value) == "-" else self._problem(path)
        if problem:
            raise ArgumentError(problem, argument="out")
        return path

    def _problem(self, path: Path) -> str:
        if path.is_dir() and not self._is_folder:
            return f"{path} is a folder; name a file"
        if path.exists() and not path.is_dir() and self._is_folder:
            return f"{path} is a file; name a folder"
        if self._suffixes and path.suffix.lower() not in self._suffixes:
            *others, last = self._suffixes
            listed = f"{', '.join(others)} or {last}" if others else last
            name = path.name or "a file without a name"
            return f"{name} does not end in {listed}, which says its format; rename it"
        if path.exists():
            if not os.access(path, os.W_OK):
                return f"{path} is write-protected; permit writing, or name another"
            return ""
        folder = path.absolute().parent
        if not folder.is_dir():
            return f"there is no folder {folder}; make it first"
        if not os.access(folder, os.W_OK):
            return f"the folder {folder} cannot be written to; permit writing, or name another"
        return ""


class Suggested(click.ParamType[Any]):
    """A text for which the shell offers names."""

    name = "text"

    def __init__(self, names: Iterable[str]) -> None:
        self._names = [*names]

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """The names that begin so."""
        return [CompletionItem(name) for name in self._names if name.startswith(incomplete)]


KINDS: Mapping[str, click.ParamType[Any]] = {
    **dict.fromkeys(("FILE", "DIR", "FOLDER", "STORE", "STUDY", "OTHER", "NOTEBOOK"), FilePath()),
    **dict.fromkeys(("SECTION",), Suggested(SECTIONS)),
}
"""The types of arguments and options by their names in capitals; all others are texts."""


def option(
    line: str, text: str, kind: Any = None, default: Any = None, **more: Any
) -> click.Option:
    """An option as help shows it, such as ``-o --out FILE`` or ``--section SECTION ...``."""
    words = line.split()
    flags = [word for word in words if word.startswith("-")]
    values = words[len(flags) :]
    return click.Option(
        [*flags, flags[-1].strip("-").replace("-", "_")],
        type=kind or KINDS.get("".join(values[:1])),
        metavar=values[0] if values and not isinstance(kind, Choice) else None,
        is_flag=not values,
        multiple=values[1:] == ["..."],
        help=text,
        **more | ({} if default is None else {"default": default, "show_default": True}),
    )


def _argument(word: str, kinds: Mapping[str, Any]) -> click.Argument:
    """An argument as usage shows it: ``HOST``, ``[SECTION]``, ``HOST...``."""
    name = word.strip("[].")
    return click.Argument(
        [name.lower()],
        type=kinds.get(name) or KINDS.get(name),
        nargs=-1 if word.endswith("...") else 1,
        required=not word.startswith("["),
    )


class Command(click.Command):
    """A command whose options are given once, unless they may be repeated."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words of a command."""
        _, _, order = self.make_parser(ctx).parse_args(args=[*args])
        for parameter in {*order}:
            is_single = isinstance(parameter, click.Option) and not (
                parameter.multiple or parameter.is_flag
            )
            if is_single and order.count(parameter) > 1:
                raise click.UsageError(f"{_name_of(parameter)} is given twice; choose one", ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; its frames have ``df.aa``, which help does without."""
        import aatoolkit.frame  # noqa: F401

        return super().invoke(ctx)


def command(
    group: click.Group,
    usage: str,
    *options: click.Option,
    examples: Iterable[str],
    note: str = "",
    text: str = "",
    **kinds: Any,
) -> Callable[[Run], Run]:
    """Add a command to a group.

    Parameters
    ----------
    group
        The group.
    usage
        Its name and arguments, such as ``read HOST [SECTION]``.
    *options
        Its options.
    examples
        The end of its help, which the tests run.
    note
        What stands above them.
    text
        Its help; by default the docstring of the function.
    **kinds
        The types of arguments that are none of `KINDS`.
    """
    name, *arguments = usage.split()
    lines = "\n".join(f"  aatoolkit {line}" for line in examples)

    def decorate(function: Run) -> Run:
        group.add_command(
            Command(
                name,
                params=[*(_argument(word, kinds) for word in arguments), *options],
                callback=lambda **given: function(Given(**given)),
                help=text or function.__doc__,
                epilog=f"{note}\n\n\b\nexamples:\n{lines}".strip(),
            )
        )
        return function

    return decorate


def group_of(name: str, text: str, **more: Any) -> click.Group:
    """A group of commands."""
    return click.Group(name, help=text, **more)


JSON = option("--json", "Print JSON.")
CSV = option("--csv", "Print CSV in UTF-8.")
WORKERS_OPTION = option("--workers N", "Concurrent requests.", Number(1), WORKERS)
ONLY = option("--section SECTION ...", "This section only; may be repeated (default: all).")
PAGE = option("-o --out FILE", "The HTML file to write.", Output(".html", ".htm"), required=True)
FILTER_OPTIONS = (
    option("--days N", "The window up to now.", Choice(*map(str, DAYS)), "30"),
    *(option(f"--{name} VALUE ...", f"This {name}; may be repeated.") for name in FILTERS),
)
PROFILE = option(
    "--profile FILE",
    "The profile of the service. It is a Python file, and is executed: use your own only.",
)
MAX_NODES = option("--max-nodes N", "How many different JSON paths a response may have.", Number(1))
SERVICE = (
    option("--base-url URL", "The address of the service."),
    option("--token-file FILE", "A file that holds the token."),
    option(
        "--deadline SECONDS",
        f"How long a request may take, all attempts together (default: {DEADLINE:g}).",
        Number(1, whole=False),
    ),
)
CACHE = (
    option("--no-cache", "Cache no responses."),
    option("--offline", "Use cached responses only."),
)
CONNECTION = (*SERVICE, *CACHE, PROFILE, MAX_NODES)
SYNTHETIC = (
    option("--seed N", "Same seed, same data.", Number(0), 0),
    option("--answers N", "AI answers in all.", Number(1), 5000),
    option(
        "--icc X",
        "How much answers to one prompt resemble each other (intra-class correlation).",
        Number(0, 0.999, whole=False),
        0.3,
    ),
)

TOKEN_NOTE = """
The service and the token come from --base-url and --token-file, then from the environment
(AATOOLKIT_BASE_URL, AATOOLKIT_TOKEN, AATOOLKIT_TOKEN_FILE), then from the system's key store. A
token is never given on the command line, where others could read it."""


def scope_of(given: Given) -> Scope:
    """The filters that were given."""
    from aatoolkit.scope import Scope

    return Scope(days=int(given.days), **{name: getattr(given, name) for name in FILTERS})


def client_of(given: Given) -> Client:
    """A client by the options of the connection."""
    from aatoolkit.client.client import Client

    facts = vars(given)
    settings = {name: facts[name] for name in ("offline", "profile", "workers") if name in facts}
    settings |= {"cache": not facts.get("no_cache")} | limits_of(given)
    return Client(given.base_url, read_token(given.token_file), **settings)


def project_of(given: Given) -> Project:
    """The same, for a project."""
    return client_of(given).project(given.host)


def limits_of(given: Given) -> dict[str, Any]:
    """The limits that were given."""
    limits = {name: vars(given).get(name) for name in ("deadline", "max_nodes")}
    return {name: limit for name, limit in limits.items() if limit is not None}


def read_token(file: Path | None) -> str | None:
    """Read the token in the file that ``--token-file`` names.

    Raises
    ------
    ArgumentError
        If the file cannot be read. The error does not repeat its name, which may be the token
        itself, given by mistake.
    """
    from aatoolkit._util.files import read_regular_file

    if file is None:
        return None
    try:
        return read_regular_file(file, 65_536).strip()
    except (OSError, ValueError):  # not text, or no path
        pass
    raise ArgumentError(
        "the file that --token-file names cannot be read; check its path and permissions",
        argument="token_file",
    )
