"""A command line, understood without being run."""

from __future__ import annotations

from collections.abc import Iterator

import click

from aatoolkit.cli import app


def commands(group: click.Group = app, *path: str) -> Iterator[tuple[str, click.Command]]:
    """Each command that does something, by the words that name it."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield " ".join([*path, name]), command


def understood(words: list[str]) -> str:
    """The command that words name, which must take all of them."""
    command: click.Command = app
    context, names = app.make_context("aatoolkit", [*words]), []
    while isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        name, subcommand, words = command.resolve_command(context, rest)
        assert name is not None
        assert subcommand is not None
        command, context = subcommand, subcommand.make_context(name, words, parent=context)
        names.append(name)
    return " ".join(names)
