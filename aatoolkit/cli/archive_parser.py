"""The options of ``aatoolkit archive``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aatoolkit.cli.arguments import Moment, Number, max_nodes, output, workers

DAY = Moment(or_day=True)

Add = Callable[[argparse.ArgumentParser], None]


def add_archive(
    listed: Any,
    commands: Mapping[str, Any],
    command: Callable[..., argparse.ArgumentParser],
    *,
    sections: Callable[..., None],
    filters: Add,
    connection: Callable[..., None],
) -> None:
    """Add the commands that keep and read an archive.

    Parameters
    ----------
    listed
        The commands of the parser.
    commands
        The functions that run them.
    command, sections, filters, connection
        What adds a command, and options that others have too.
    """
    doc = "keep every answer of many hosts over time, and read them"
    archive = listed.add_parser("archive", help=doc, description=f"{doc.capitalize()}.")
    archive.set_defaults(run=archive.name_a_command)
    actions = archive.add_subparsers(title="commands", metavar="COMMAND")

    def one(name: str, doc: str) -> argparse.ArgumentParser:
        added = command(actions, name, doc, commands[f"archive {name}"])
        added.add_argument(
            "--dir",
            required=True,
            metavar="DIR",
            help="the archive's folder, or s3://BUCKET/FOLDER",
        )
        return added

    add = one("add", "add the answers of today; exits with 1 if anything failed")
    add.add_argument("hosts", metavar="HOST", nargs="*", help="the projects' domains")
    add.add_argument(
        "--hosts", type=Path, metavar="FILE", dest="hosts_file", help="a file, one host a line"
    )
    add.add_argument(
        "--refresh", action="store_true", help="ask also for what has an answer of today"
    )
    workers(add)
    sections(add)
    filters(add)
    connection(add)
    one("info", "list the tables, with rows, hosts, days and bytes")
    sql = one("sql", "ask a question in SQL; the tables are views of their names")
    sql.add_argument("query", metavar="QUERY", help="one SELECT")
    sql.add_argument("--csv", action="store_true", help="print CSV")
    compact = one("compact", "join small files, and remove those that nobody needs")
    compact.add_argument(
        "--keep-hours",
        type=Number(0, whole=False),
        default=168,
        metavar="N",
        help="how long replaced files are kept for readers (default: %(default)s)",
    )
    verify = one("verify", "check files, answers and tables; exits with 1 if anything is wrong")
    verify.add_argument("--replay", action="store_true", help="normalise the answers again")
    _profile(verify)
    _profile(one("rebuild", "make the tables anew from the answers"))
    export = one("export", "write tables as Parquet files with metadata")
    output(
        export, "out", is_folder=True, metavar="OUT", help="the folder: OUT/SECTION/TABLE.parquet"
    )
    export.add_argument("--host", action="append", metavar="HOST", help="this one; may be repeated")
    export.add_argument(
        "--since", type=DAY, metavar="DAY", help="what was fetched from this day on"
    )
    export.add_argument("--until", type=DAY, metavar="DAY", help="what was fetched up to this day")
    sections(export)
    forget = one("forget", "remove hosts, or what was fetched before a day")
    forget.add_argument("--host", action="append", metavar="HOST", help="this one; may be repeated")
    forget.add_argument(
        "--before", type=DAY, metavar="DAY", help="what was fetched before this day"
    )


def _profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--profile", type=Path, metavar="FILE", help="what is known of the service")
    max_nodes(parser)
