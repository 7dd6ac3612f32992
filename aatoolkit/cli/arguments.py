"""The argument parser: no abbreviations, and no error repeats a value that may be a token."""

from __future__ import annotations

import argparse
import functools
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from aatoolkit._util.suggest import did_you_mean, near_matches
from aatoolkit.errors import ConfigurationError

_NO_TOKEN = (
    "a token is never given on the command line, where others could read it: put it into a file "
    "and name that with --token-file, or set AATOOLKIT_TOKEN"
)

_PLAIN_OPTION = re.compile(r"--?(?!.{20})[a-z]+(?:-[a-z]+)*(?=$|=)")
"""An option as people type it: short words of small letters, which are no token."""


# gettext searches the disk for a translation each time; every parser has the same few texts.
argparse._ = functools.cache(argparse._)  # type: ignore[attr-defined]


class HelpFormatter(argparse.HelpFormatter):
    """Help as wide as the terminal, measured without `shutil`, whose import takes long."""

    def __init__(self, prog: str, *arguments: Any, **options: Any) -> None:
        super().__init__(prog, *arguments, **{"width": _columns() - 2, **options})


def _columns() -> int:
    """The columns of the terminal: ``COLUMNS``, or what the system says; 80 without one."""
    try:
        return int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80


class Parser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` whose errors hold no values but near matches.

    What is mistyped as an option may be a token. So neither the value after an unknown option is
    repeated, nor one that does not resemble any choice; nor an option that is not plain words.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        given = {"formatter_class": HelpFormatter, **options, "allow_abbrev": False}
        super().__init__(*arguments, **given)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; exits with 2 if they are not understood."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self._refuse(unknown)
        return found

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments, unless one is an option for a token."""
        args = sys.argv[1:] if args is None else args
        if any(_is_token_option(argument) for argument in args):
            self.error(_NO_TOKEN)
        return super().parse_known_args(args, namespace)

    def _refuse(self, unknown: Sequence[str]) -> NoReturn:
        options = [each for each in unknown if each.startswith("-")]
        if options:
            words = [_PLAIN_OPTION.match(each) for each in options]
            shown = ", ".join("(not shown)" if word is None else word[0] for word in words)
            given = [word[0] for word in words if word]
            near = near_matches(given, _options_of(self), cutoff=0.8)
            hint = did_you_mean(near, "--help lists the options")
            self.error(f"unknown option: {shown}; {hint}")
        self.error(f"{len(unknown)} arguments too many; --help lists the arguments")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError:
            pass
        kinds: dict[Any, str] = {int: "a whole number", float: "a number"}
        kind = kinds.get(action.type, "another value")
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


def output(parser: argparse._ActionsContainer, *names: str, **options: Any) -> None:
    """Add an argument that names a file or folder to write, and ``--parents``."""
    action = parser.add_argument(*names, type=Path, **options)
    parser.add_argument(
        "--parents", action="store_true", help="make the missing folders above it, too"
    )
    parser.set_defaults(output=action.dest)


def max_nodes(parser: argparse._ActionsContainer) -> None:
    """Add ``--max-nodes``: how many different paths an answer may have values at."""
    parser.add_argument(
        "--max-nodes", type=int, metavar="N", help="different JSON paths an answer may have"
    )


def client_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """Return the limits given on the command line, as arguments of `Client` and `Archive`."""
    given = getattr(args, "max_nodes", None)
    return {} if given is None else {"max_nodes": given}


def missing_folder(args: argparse.Namespace) -> Path | None:
    """Return the folder that an output needs, if it does not exist and is not to be made."""
    target = getattr(args, getattr(args, "output", ""), None)
    if target is None or args.parents:
        return None
    folder = Path(target).absolute().parent
    return None if folder.is_dir() else folder


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
