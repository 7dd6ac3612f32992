"""``aatoolkit archive``: add, sql, verify and tidy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aatoolkit._util.text import visible
from aatoolkit.cli import options, output
from aatoolkit.cli.options import CONNECTION, argument, examples, option
from aatoolkit.cli.output import note, print_json
from aatoolkit.errors import ArgumentError

if TYPE_CHECKING:
    from aatoolkit.archive import AddReport

_folder = option(
    "--dir",
    "folder",
    required=True,
    metavar="DIR",
    help="The archive's folder, or s3://BUCKET/FOLDER.",
)


@click.group(cls=options.Group)
def archive() -> None:
    """Keep every response of many hosts over time, and read them."""


@archive.command(
    epilog=examples(
        "archive add acme.example --dir history \\\n      --section urls", note=CONNECTION
    ),
)
@argument("hosts", nargs=-1, metavar="[HOST]...")
@_folder
@option("--hosts", "hosts_file", type=options.PATH, help="A file, one host a line.")
@option("--refresh", is_flag=True, help="Request also what has a response of today.")
@options.workers
@options.sections
@options.filters
@options.connection
@options.as_json
def add(
    hosts: Sequence[str],
    folder: str,
    hosts_file: Path | None,
    refresh: bool,
    workers: int,
    sections: Sequence[str],
    as_json: bool,
    **given: Any,
) -> int:
    """Add the responses of today; exits with 1 if anything failed."""
    from aatoolkit.archive import Archive

    scope, hosts = options.scope_of(given), [*hosts, *_hosts_in(hosts_file)]
    if not hosts:
        raise ArgumentError("name hosts, or give a file of them with --hosts", argument="hosts")
    with options.client_of(given, workers=workers) as client:
        done = Archive(folder).add(client, hosts, scope, sections or None, refresh=refresh)
    failures = done.failures.fillna("").to_dict("records")
    if as_json:
        print_json(_facts(done))
    for row in failures:
        place = " ".join(word for word in (row["host"], row["section"], row["scope"]) if word)
        note(f"aatoolkit: {visible(place)} failed: {row['message']}")
    note(_first_line(done))
    return 0 if done else 1


def _hosts_in(file: Path | None) -> list[str]:
    """The hosts in a file, a line each; what follows # is a comment."""
    if file is None:
        return []
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = None
    if lines is None:
        raise ArgumentError(
            f"the file {file} cannot be read; give a file with one host a line", argument="hosts"
        )
    words = (line.partition("#")[0].strip() for line in lines)
    return [word for word in words if word]


def _first_line(report: object) -> str:
    """The first line of a report without the brackets and the name of its type."""
    return repr(report).splitlines()[0].strip("<>").partition(": ")[2]


def _facts(done: AddReport) -> dict[str, Any]:
    failures = done.failures.fillna("").to_dict("records")
    return {
        "run": done.run,
        "answers": done.answers,
        "resumed": done.resumed,
        "skipped": done.skipped,
        "failures": [{str(k): word or None for k, word in row.items()} for row in failures],
    }


@archive.command(
    epilog=examples(
        "archive sql --dir history",
        'archive sql "SELECT count(*) FROM cited_urls" \\\n      --dir history --csv',
    ),
)
@argument("query", required=False)
@_folder
@option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@options.as_json
def sql(query: str | None, folder: str, as_csv: bool, as_json: bool) -> int:
    """Run one SELECT; the tables are views of their names, listed without a QUERY."""
    from aatoolkit.archive import Archive

    form = output.table_format(None, as_json=as_json, as_csv=as_csv)
    kept = Archive(folder)
    frame = kept.tables if query is None else kept._sql_frame(query)
    if form == "csv":
        output.write_table(frame, "query", form, None)
    else:
        output.print_frame(frame, as_json)
    if query is None:
        note(repr(kept).strip("<>"))
    return 0


@archive.command(epilog=examples("archive verify --dir history --replay"))
@_folder
@option("--replay", is_flag=True, help="Normalise the responses again.")
@options.profile
@options.max_nodes
@options.as_json
def verify(folder: str, replay: bool, profile: Path | None, as_json: bool, **given: Any) -> int:
    """Check files, responses and tables; exits with 1 if anything is wrong."""
    from aatoolkit.archive import Archive

    result = Archive(folder, profile=profile, **options.limits_of(given)).verify(replay=replay)
    problems = [{"table": table, "problem": problem} for table, problem in result.found]
    if as_json:
        print_json({"ok": result.ok, "answers": result.answers, "problems": problems})
    else:
        for problem in problems:
            print(visible(f"{problem['table']}: {problem['problem']}"))
    note(_first_line(result))
    return 0 if result else 1


@archive.command(
    epilog=examples("archive tidy --dir history", "archive tidy --dir history --before 2024-01-01"),
)
@_folder
@option(
    "--keep-hours",
    type=options.Number(0, whole=False),
    default=168,
    show_default=True,
    help="How long replaced files are kept for readers.",
)
@option("--forget", "hosts", multiple=True, metavar="HOST", help="Remove it; may be repeated.")
@option("--before", type=options.Day(), help="Remove what was fetched before this day.")
@options.as_json
def tidy(
    folder: str, keep_hours: float, hosts: Sequence[str], before: str | None, as_json: bool
) -> int:
    """Join small files, and remove hosts or what is old if that is requested.

    Exits with 1 if another process was busy with a part of it.
    """
    from aatoolkit.archive import Archive

    kept = Archive(folder)
    if hosts or before:
        done = kept.forget([*hosts] or None, before=before)
    else:
        done = kept.compact(keep_hours=keep_hours)
    if as_json:
        facts = {"files": done.files, "bytes": done.bytes, "rows_removed": done.rows}
        print_json({**facts, "hosts": done.hosts, "busy": done.busy})
    else:
        print(_first_line(done))
    return 1 if done.busy else 0
