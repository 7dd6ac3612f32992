"""The options of ``aatoolkit study``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aatoolkit.cli.archive_parser import Add
from aatoolkit.cli.arguments import Number, output


def add_study(
    listed: Any,
    commands: Mapping[str, Any],
    command: Callable[..., argparse.ArgumentParser],
    *,
    sections: Callable[..., None],
    filters: Add,
    connection: Callable[..., None],
) -> None:
    """Add the commands that make, check and rerun studies.

    Parameters
    ----------
    listed
        The commands of the parser.
    commands
        The functions that run them.
    command, sections, filters, connection
        What adds a command, and options that others have too.
    """
    doc = "record, check, compare and publish studies"
    study = listed.add_parser("study", help=doc, description=f"{doc.capitalize()}.")
    study.set_defaults(run=study.name_a_command)
    actions = study.add_subparsers(title="commands", metavar="COMMAND")

    def one(name: str, doc: str) -> argparse.ArgumentParser:
        added = command(actions, name, doc, commands[f"study {name}"])
        if name == "record":
            added.add_argument("host", metavar="HOST", help="the project's domain")
            output(added, "study", is_folder=True, metavar="DIR", help="the study's folder")
        elif name != "rerun":
            added.add_argument(
                "study", type=Path, metavar="DIR", help="the study's folder, or its file if packed"
            )
        return added

    record = one("record", "read scope options and sections into a study, and seal it")
    record.add_argument("--title", metavar="TEXT", help="what a new study is about, in a line")
    record.add_argument("--description", metavar="TEXT", help="the same, at length")
    record.add_argument(
        "--creator",
        action="append",
        default=[],
        metavar="NAME",
        dest="creators",
        help="who makes a new study; may be repeated",
    )
    read = record.add_mutually_exclusive_group()
    sections(read)
    read.add_argument(
        "--all-sections",
        action="store_const",
        const=None,
        dest="sections",
        help="all sections (the default)",
    )
    filters(record)
    connection(record)
    one("show", "list what a study holds")
    verify = one("verify", "find any byte that was altered, taken away or added")
    verify.add_argument(
        "--replay",
        action="store_true",
        help="normalise the answers again, and compare the tables",
    )
    diff = one("diff", "show what changed; exits with 0 if nothing did, 1 if something, else 2")
    diff.add_argument("other", type=Path, metavar="OTHER", help="the study to compare it with")
    pack = one("pack", "put a study into one file")
    output(pack, "file", metavar="FILE", help="the zip file to write")
    _rerun(one("rerun", "run a notebook offline from a study; 1 if a sealed result differs"))
    publish = one("publish", "put the tables of a study into a folder for others to use")
    output(publish, "out", is_folder=True, metavar="OUT", help="the folder to write")
    publish.add_argument(
        "--redact",
        action="append",
        default=[],
        metavar="COLUMN",
        help="leave out a column, a TABLE.COLUMN, or texts: all columns of words; may be repeated",
    )
    publish.add_argument("--excel", action="store_true", help="write a workbook too")
    publish.add_argument("--csv", action="store_true", help="write CSV too")
    publish.add_argument(
        "--answers", action="store_true", help="ship the answers too, to explain any number"
    )
    publish.add_argument("--licence", metavar="SPDX", help="such as CC-BY-4.0")
    publish.add_argument(
        "--overwrite", action="store_true", help="replace an earlier publication in that folder"
    )


def _rerun(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``study rerun``."""
    command.add_argument("notebook", type=Path, metavar="NOTEBOOK", help="the notebook to run")
    command.add_argument(
        "study",
        type=Path,
        metavar="DIR",
        nargs="?",
        help="the study's folder, or its file if packed; else the one that the notebook names",
    )
    output(
        command, "-o", "--output", metavar="FILE", dest="out", help="the notebook with its outputs"
    )
    command.add_argument(
        "--crate", type=Path, metavar="FOLDER", help="write the run as a Workflow Run RO-Crate"
    )
    command.add_argument(
        "--timeout",
        type=Number(1, whole=False),
        default=600,
        metavar="SECONDS",
        help="what all cells together may take (default: %(default)s)",
    )
