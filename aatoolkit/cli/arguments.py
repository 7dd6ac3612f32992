"""The argument parser: no abbreviations, and no error repeats a value that may be a token."""

from __future__ import annotations

import argparse
import functools
import math
import os
import re
import sys
from collections.abc import Sequence
from datetime import date, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

from aatoolkit._util.defaults import WORKERS
from aatoolkit._util.text import counted
from aatoolkit.errors import ConfigurationError, did_you_mean, near_matches

_NO_TOKEN = (
    "a token is never given on the command line, where others could read it: put it into a file "
    "and name that with --token-file, or set AATOOLKIT_TOKEN"
)

_PLAIN_OPTION = re.compile(r"--?(?!.{20})[a-z]+(?:-[a-z]+)*(?=$|=)")
"""An option as people type it: short words of small letters, which are no token."""


# gettext searches the disk for a translation each time; every parser has the same few texts.
argparse._ = functools.cache(argparse._)  # type: ignore[attr-defined]


class HelpFormatter(argparse.HelpFormatter):
    """Help as wide as the terminal, in which lines that are indented stay as they are."""

    def __init__(self, prog: str, *arguments: Any, **options: Any) -> None:
        super().__init__(prog, *arguments, **{"width": _columns() - 2, **options})

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        filled: list[str] = []
        for is_plain, lines in groupby(text.splitlines(), lambda line: line.startswith("  ")):
            kept = "\n".join(f"{indent}{line}" for line in lines)
            filled.append(kept if is_plain else super()._fill_text(kept, width, indent))
        return "\n".join(filled)


def _columns() -> int:
    """The columns of the terminal: ``COLUMNS``, or what the system says; 80 without one.

    Measured without `shutil`, whose import takes long.
    """
    try:
        return int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80


class _Once(argparse._StoreAction):
    """An option with one value; one that is given twice with different values is refused."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        given = vars(namespace).setdefault("given", {})
        if option_string and given.setdefault(self.dest, values) != values:
            raise argparse.ArgumentError(self, "is given twice with different values; choose one")
        super().__call__(parser, namespace, values, option_string)


class Number:
    """The type of an option that takes a number from a least to a most.

    Parameters
    ----------
    least : int or float
        The least.
    most : int or float, optional
        The most.
    below : int or float, optional
        What it is below.
    whole : bool
        Whether it is a whole number.
    """

    def __init__(
        self,
        least: float,
        most: float = math.inf,
        *,
        below: float = math.inf,
        whole: bool = True,
    ) -> None:
        self._least, self._most, self._below, self._whole = least, most, below, whole
        upto = (
            f" to {most}" if most < math.inf else f" to below {below}" if below < math.inf else ""
        )
        self.kind = f"a {'whole ' if whole else ''}number from {least}{upto}"

    def __call__(self, text: str) -> float:
        """Convert the text of an option."""
        number = int(text) if self._whole else float(text)
        if not (self._least <= number <= self._most and number < self._below):
            raise ValueError(self.kind)
        return number


class Moment:
    """The type of an option that takes a moment with a time zone, or also a day."""

    def __init__(self, *, or_day: bool) -> None:
        self._or_day = or_day
        self.kind = "a moment with a time zone, such as 2026-11-20T23:00:00Z"
        if or_day:
            self.kind = f"a day, such as 2026-11-20, or {self.kind}"

    def __call__(self, text: str) -> str:
        """Return the text of an option unless it is neither."""
        if not (self._or_day and len(text) == 10 and date.fromisoformat(text)):
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is None:
                raise ValueError(self.kind)
        return text


class Parser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` whose errors hold no values but near matches.

    What is mistyped as an option may be a token. So neither the value after an unknown option is
    repeated, nor one that does not resemble any choice; nor an option that is not plain words.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        given = {"formatter_class": HelpFormatter, **options, "allow_abbrev": False}
        super().__init__(*arguments, **given)
        for name in (None, "store"):
            self.register("action", name, _Once)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; exits with 2 if one is not known, or is an option for a token."""
        args = sys.argv[1:] if args is None else args
        if any(_is_token_option(argument) for argument in args):
            self.error(_NO_TOKEN)
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self._refuse(unknown)
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Exit with 2: one line says what is wrong, another where help is."""
        self.exit(2, f"{self.prog}: {message}\n{self.prog} --help shows what there is\n")

    def name_a_command(self, _: argparse.Namespace) -> int:
        """Show the commands that there are, of which none was named; returns 2."""
        self.print_help(sys.stderr)
        print(f"\n{self.prog}: name a command", file=sys.stderr)
        return 2

    def _refuse(self, unknown: Sequence[str]) -> NoReturn:
        options = [each for each in unknown if each.startswith("-")]
        if options:
            words = [_PLAIN_OPTION.match(each) for each in options]
            shown = ", ".join("(not shown)" if word is None else word[0] for word in words)
            given = [word[0] for word in words if word]
            near = near_matches(given, _options_of(self), cutoff=0.8)
            self.error("; ".join(filter(None, (f"unknown option: {shown}", did_you_mean(near)))))
        self.error(f"{counted(len(unknown), 'argument')} too many")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError:
            pass
        kinds: dict[Any, str] = {int: "a whole number"}
        kind = kinds.get(action.type) or getattr(action.type, "kind", "another value")
        raise argparse.ArgumentError(action, f"takes {kind}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = [str(choice) for choice in action.choices or ()]
        if action.choices is None or value in action.choices:
            return
        near = near_matches(str(value), choices)
        hint = did_you_mean(near, f"there are {', '.join(choices)}")
        shown = f"{str(value)!r} is unknown" if near else "its value is unknown"
        raise argparse.ArgumentError(action, f"{shown}; {hint}")


def _options_of(parser: argparse.ArgumentParser) -> list[str]:
    """The long options of a parser and of its commands."""
    found = [name for action in parser._actions for name in action.option_strings]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += (name for each in action.choices.values() for name in _options_of(each))
    return [name for name in dict.fromkeys(found) if name.startswith("--")]


def _is_token_option(argument: str) -> bool:
    name = argument.partition("=")[0]
    return name in ("--token", "-token", "--bearer", "--api-key", "--password")


def output(
    parser: argparse._ActionsContainer, *names: str, is_folder: bool = False, **options: Any
) -> None:
    """Add an argument that names a file or folder to write, and ``--parents``."""
    action = parser.add_argument(*names, type=Path, **options)
    parser.add_argument(
        "--parents", action="store_true", help="make the missing folders above it, too"
    )
    parser.set_defaults(output=action.dest, output_is_folder=is_folder)


def check_output(args: argparse.Namespace) -> None:
    """Raise unless the output of a command can be written, before anything else is done.

    Raises
    ------
    ConfigurationError
        If its folder is missing, and is not to be made, or cannot be written to; or if a folder is
        where a file should be, or the other way round.
    """
    target: Path | None = getattr(args, getattr(args, "output", ""), None)
    if target is None or target == Path("-"):
        return
    problem = _problem_of(target, is_folder=args.output_is_folder, parents=args.parents)
    if problem:
        raise ConfigurationError(problem, setting=args.output)


def _problem_of(target: Path, *, is_folder: bool, parents: bool) -> str:
    """Why a file or folder cannot be written; empty if nothing is known to be in the way."""
    if target.is_dir() and not is_folder:
        return f"{target} is a folder; name a file"
    if target.exists() and not target.is_dir() and is_folder:
        return f"{target} is a file; name a folder"
    if target.exists() and not os.access(target, os.W_OK):
        return f"{target} is write-protected; permit writing, or name another"
    folder = target.absolute().parent
    if not folder.exists() and not parents:
        return f"there is no folder {folder}; make it, or give --parents"
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        return f"{folder} is a file, not a folder; name another"
    if not target.exists() and not os.access(folder, os.W_OK):
        return f"the folder {folder} cannot be written to; permit writing, or name another"
    return ""


def workers(parser: argparse._ActionsContainer) -> None:
    """Add ``--workers``: how many requests run concurrently."""
    parser.add_argument(
        "--workers",
        type=Number(1),
        default=WORKERS,
        metavar="N",
        help="concurrent requests (default: %(default)s)",
    )


def max_nodes(parser: argparse._ActionsContainer) -> None:
    """Add ``--max-nodes``: how many different paths an answer may have values at."""
    parser.add_argument(
        "--max-nodes",
        type=Number(1),
        metavar="N",
        help="how many different JSON paths an answer may have (for very large ones)",
    )


def client_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """Return the limits given on the command line, as arguments of `Client` and `Archive`."""
    given = {name: getattr(args, name, None) for name in ("deadline", "max_nodes")}
    return {name: value for name, value in given.items() if value is not None}


def read_token(file: Path) -> str:
    """Read the token in the file that ``--token-file`` names.

    Raises
    ------
    ConfigurationError
        If the file cannot be read. The error does not repeat its name, which may be the token
        itself, given by mistake.
    """
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):  # not text, or no path
        pass
    raise ConfigurationError(
        "the file that --token-file names cannot be read; check its path and permissions",
        setting="token_file",
    )
