"""The entry point of the command line: run a command, print its error, return the exit code."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from click.exceptions import Exit

from aatoolkit.cli import shell
from aatoolkit.cli.app import app
from aatoolkit.errors import (
    AAToolkitError,
    ArgumentError,
    BadRequest,
    ItemNotFound,
    NotVisible,
    ScopeError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``aatoolkit`` on the command line; by default ``sys.argv[1:]``.

    Returns
    -------
    int
        The exit code: 0 for success, 1 if something failed, 2 if an argument is wrong, 130 after
        Ctrl-C.

    Examples
    --------
    >>> main(["--version"])
    aatoolkit ...
    0
    """
    shell.escape_unprintable()
    command_words = [*(sys.argv[1:] if arguments is None else arguments)]
    try:
        if completion_request := os.environ.get("_AATOOLKIT_COMPLETE"):
            from click.shell_completion import shell_complete

            return shell_complete(app, {}, "aatoolkit", "_AATOOLKIT_COMPLETE", completion_request)
        if any(
            command_word.partition("=")[0] in shell.TOKEN_OPTIONS for command_word in command_words
        ):
            raise click.UsageError(shell.NO_TOKEN_MESSAGE)
        with _print_warnings_as_notes(), app.make_context("aatoolkit", command_words) as context:
            exit_code = int(app.invoke(context) or 0)
        sys.stdout.flush()
    except Exit as exit_signal:
        return exit_signal.exit_code
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "aatoolkit"
        if isinstance(error, click.exceptions.NoArgsIsHelpError):
            shell.print_note(error.format_message())
        shell.print_note(
            f"{command}: {shell.format_usage_error(error)}\n{command} --help shows what there is"
        )
        return 2
    except BrokenPipeError:
        # Whoever read our output has read enough.
        shell.discard_output(sys.stdout)
        return 0
    except (KeyboardInterrupt, click.Abort):
        return _report_interruption()
    except RuntimeError as error:
        if str(error) == _DUCKDB_INTERRUPT_MESSAGE:
            return _report_interruption()
        raise
    except (AAToolkitError, ImportError) as error:
        # An argument that is a flag has the same name here.
        message = re.sub(r"\b([a-z]+)=True\b", r"--\1", str(error))
        shell.print_note(f"aatoolkit: {message}")
        return 2 if isinstance(error, _USAGE_ERRORS) else 1
    except OSError as error:
        shell.print_note(f"aatoolkit: {error.filename or 'output'}: {error.strerror or error}")
        return 1
    return exit_code


_USAGE_ERRORS = (ArgumentError, BadRequest, ItemNotFound, NotVisible, ScopeError)

_DUCKDB_INTERRUPT_MESSAGE = "Query interrupted"
"""DuckDB's message when Ctrl-C ends a query."""


def _report_interruption() -> int:
    """Print that Ctrl-C ended the command; return the exit code for this case."""
    shell.print_note("aatoolkit: interrupted")
    return 130


@contextmanager
def _print_warnings_as_notes() -> Iterator[None]:
    """Print each warning in a ``with`` block once on standard error, without file and line."""
    seen_messages = set()

    def print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in seen_messages:
            seen_messages.add(str(message))
            shell.print_note(f"aatoolkit: warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = print_warning
        yield
