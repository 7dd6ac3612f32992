"""Commands as data, the options that they share, and how a command line is refused.

A command is a line of usage and a list of options, each of which is a line as help shows it and a
sentence: ``option("--table NAME", "One table of it.")``. A function gets what was typed as one
object. A refusal never repeats what may be a token.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

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


def is_token_option(word: str) -> bool:
    """Whether a word of the command line would be followed by a token."""
    name = word.partition("=")[0]
    return name in ("--token", "-token", "--bearer", "--api-key", "--password")


def problem_of(error: click.UsageError) -> str:
    """Say what is wrong with a command line; what was typed may be a token, and is not repeated."""
    context = error.ctx
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return "name a command"
    if isinstance(error, click.NoSuchOption):
        names = [name for p in context.command.params for name in p.opts] if context else []
        near = did_you_mean(near_matches(error.option_name, names))
        return f"unknown option{near and f'; {near}'}"
    if isinstance(error, click.exceptions.NoSuchCommand):
        names = [*getattr(context and context.command, "commands", ())]
        listed = f"there are {', '.join(names)}"
        return f"unknown COMMAND; {did_you_mean(near_matches(error.command_name, names), listed)}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        named = error.param.opts[-1 if error.param.param_type_name == "option" else 0]
        is_missing = isinstance(error, click.MissingParameter)
        return f"{named} {'is required' if is_missing else _takes(error.param.type)}"
    return "too many arguments" if "unexpected extra" in error.message else error.message


def _takes(kind: Any) -> str:
    if isinstance(kind, click.Choice):
        return f"takes {', '.join(kind.choices)}"
    upto = "" if kind.max is None else f" to {kind.max}"
    is_whole = isinstance(kind, click.IntRange)
    return f"takes {'a whole number' if is_whole else 'a number'} from {kind.min}{upto}"


class FilePath(click.Path):
    """A path that exists or not."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """Return the path."""
        return Path(value)


class Output(FilePath):
    """A file or folder to write, which is checked before anything else is done."""

    def __init__(self, *suffixes: str, is_folder: bool = False) -> None:
        super().__init__()
        self._suffixes, self._is_folder = suffixes, is_folder

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """Return the path, unless it is known that it cannot be written."""
        path = Path(value)
        problem = "" if str(value) == "-" else self._problem(path)
        if problem:
            raise ArgumentError(problem, argument="out")
        return path

    def _problem(self, path: Path) -> str:
        if path.exists() and path.is_dir() != self._is_folder:
            there, wanted = ("a file", "a folder") if self._is_folder else ("a folder", "a file")
            return f"{path} is {there}; name {wanted}"
        if self._suffixes and path.suffix.lower() not in self._suffixes:
            listed = ", ".join(self._suffixes)
            return f"{path} does not end in one of {listed}, which says its format; rename it"
        place = path if path.exists() else path.absolute().parent
        if not place.exists():
            return f"there is no folder {place}; make it first"
        writable = os.access(place, os.W_OK)
        return "" if writable else f"{place} is write-protected; permit writing, or name another"


def _complete_sections(_: Any, __: Any, incomplete: str) -> list[str]:
    return [name for name in SECTIONS if name.startswith(incomplete)]


_PATHS = ("FILE", "DIR", "FOLDER", "STORE", "STUDY", "OTHER", "NOTEBOOK")


def _kind(name: str, kind: Any) -> dict[str, Any]:
    """The type of an argument or option by its name in capitals, and what shells complete."""
    if name == "SECTION":
        return {"type": kind, "shell_complete": _complete_sections}
    return {"type": kind or (FilePath() if name in _PATHS else None)}


def option(
    line: str, text: str, kind: Any = None, default: Any = None, **more: Any
) -> click.Option:
    """An option as help shows it, such as ``-o --out FILE`` or ``--section SECTION ...``."""
    words = line.split()
    flags = [word for word in words if word.startswith("-")]
    values = words[len(flags) :]
    return click.Option(
        [*flags, flags[-1].strip("-").replace("-", "_")],
        **_kind("".join(values[:1]), kind),
        metavar=values[0] if values and not isinstance(kind, click.Choice) else None,
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
        **_kind(name, kinds.get(name)),
        nargs=-1 if word.endswith("...") else 1,
        required=not word.startswith("["),
    )


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
        The types of arguments, where their names do not say them.
    """
    name, *arguments = usage.split()
    lines = "\n".join(f"  aatoolkit {line}" for line in examples)

    def decorate(function: Run) -> Run:
        def run(**given: Any) -> int:
            import aatoolkit.frame  # noqa: F401  frames have df.aa, which help does without

            return function(Given(**given))

        group.add_command(
            click.Command(
                name,
                params=[*(_argument(word, kinds) for word in arguments), *options],
                callback=run,
                help=text or function.__doc__,
                epilog=f"{note}\n\n\b\nexamples:\n{lines}".strip(),
            )
        )
        return function

    return decorate


JSON = option("--json", "Print JSON.")
CSV = option("--csv", "Print CSV in UTF-8.")
WORKERS_OPTION = option("--workers N", "Concurrent requests.", click.IntRange(1), WORKERS)
ONLY = option("--section SECTION ...", "This section only; may be repeated (default: all).")
PAGE = option("-o --out FILE", "The HTML file to write.", Output(".html", ".htm"), required=True)
FILTER_OPTIONS = (
    option("--days N", "The window up to now.", click.Choice([str(n) for n in DAYS]), "30"),
    *(option(f"--{name} VALUE ...", f"This {name}; may be repeated.") for name in FILTERS),
)
PROFILE = option(
    "--profile FILE",
    "The profile of the service. It is a Python file, and is executed: use your own only.",
)
MAX_NODES = option(
    "--max-nodes N", "How many different JSON paths a response may have.", click.IntRange(1)
)
SERVICE = (
    option("--base-url URL", "The address of the service."),
    option("--token-file FILE", "A file that holds the token."),
    option(
        "--deadline SECONDS",
        f"How long a request may take, all attempts together (default: {DEADLINE:g}).",
        click.FloatRange(1),
    ),
)
CACHE = (
    option("--no-cache", "Cache no responses."),
    option("--offline", "Use cached responses only."),
)
CONNECTION = (*SERVICE, *CACHE, PROFILE, MAX_NODES)
SYNTHETIC = (
    option("--seed N", "Same seed, same data.", click.IntRange(0), 0),
    option("--answers N", "AI answers in all.", click.IntRange(1), 5000),
    option(
        "--icc X",
        "How much answers to one prompt resemble each other (intra-class correlation).",
        click.FloatRange(0, 0.999),
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
