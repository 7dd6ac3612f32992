"""``aatoolkit archive``: add, info, sql, compact, verify, rebuild, export and forget."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit._util.text import counted, visible
from aatoolkit.archive import AddReport, Archive
from aatoolkit.cli import report
from aatoolkit.cli.arguments import client_arguments
from aatoolkit.cli.table_files import table_format, write_table
from aatoolkit.errors import ConfigurationError, ScopeError, did_you_mean, near_matches

if TYPE_CHECKING:
    from aatoolkit.archive.upkeep import UpkeepReport
    from aatoolkit.client.client import Client
    from aatoolkit.scope import Scope

Note = Callable[[str], None]


def hosts_of(args: argparse.Namespace) -> list[str]:
    """The hosts that a command names, or those in the file that it names.

    Raises
    ------
    ConfigurationError
        If there are none, or the file cannot be read.
    """
    hosts = list(args.hosts)
    if args.hosts_file is not None:
        try:
            lines = args.hosts_file.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            lines = None
        if lines is None:
            raise ConfigurationError(
                f"the file {args.hosts_file} cannot be read; give a file with one host a line",
                setting="hosts",
            )
        words = (line.partition("#")[0].strip() for line in lines)
        hosts += [word for word in words if word]
    if not hosts:
        raise ConfigurationError("name hosts, or give a file of them with --hosts", setting="hosts")
    return hosts


def add(
    args: argparse.Namespace, client: Client, scope: Scope, hosts: list[str], note: Note
) -> int:
    """Add today's answers; return 1 if anything failed."""
    done = Archive(args.dir).add(client, hosts, scope, args.sections, refresh=args.refresh)
    if args.json:
        report.print_json(_facts(done))
    for row in done.failures.fillna("").to_dict("records"):
        place = " ".join(word for word in (row["host"], row["section"], row["scope"]) if word)
        note(f"aatoolkit: {visible(place)} failed: {row['message']}")
    note(_words(done))
    return 0 if done else 1


def _words(report: object) -> str:
    """The first line of a report without the brackets and the name of its type."""
    return repr(report).splitlines()[0].strip("<>").partition(": ")[2]


def _facts(done: AddReport) -> dict[str, Any]:
    return {
        "run": done.run,
        "answers": done.answers,
        "resumed": done.resumed,
        "skipped": done.skipped,
        "failures": [
            {name: word or None for name, word in row.items()}
            for row in done.failures.fillna("").to_dict("records")
        ],
    }


def info(args: argparse.Namespace, note: Note) -> int:
    """List the tables of an archive."""
    archive = Archive(args.dir)
    report.frame(archive.tables, args.json)
    note(repr(archive).strip("<>"))
    return 0


def sql(args: argparse.Namespace) -> int:
    """Print the answer to a question in SQL."""
    form = table_format(None, json=args.json, csv=args.csv)
    found = Archive(args.dir)._sql_frame(args.query)
    if form == "csv":
        write_table(found, "query", form, None)
    else:
        report.frame(found, args.json)
    return 0


def compact(args: argparse.Namespace) -> int:
    """Join small files."""
    return _print_upkeep(args, Archive(args.dir).compact(keep_hours=args.keep_hours))


def forget(args: argparse.Namespace) -> int:
    """Remove hosts or times."""
    if args.host is None and args.before is None:
        raise ConfigurationError(
            "say what to forget: --host HOST, or --before DAY, or both", setting="host"
        )
    return _print_upkeep(args, Archive(args.dir).forget(args.host, before=args.before))


def _print_upkeep(args: argparse.Namespace, done: UpkeepReport) -> int:
    if args.json:
        report.print_json(
            {"files": done.files, "bytes": done.bytes, "rows_removed": done.rows}
            | {"hosts": done.hosts, "busy": done.busy}
        )
    else:
        print(_words(done))
    return 1 if done.busy else 0


def verify(args: argparse.Namespace, note: Note) -> int:
    """Check an archive; 1 if anything is wrong."""
    found = Archive(args.dir, profile=args.profile, **client_arguments(args)).verify(
        replay=args.replay
    )
    if args.json:
        problems = [{"table": table, "problem": problem} for table, problem in found.found]
        report.print_json({"ok": found.ok, "answers": found.answers, "problems": problems})
    for table, problem in () if args.json else found.found:
        print(visible(f"{table}: {problem}"))
    note(_words(found))
    return 0 if found else 1


def rebuild(args: argparse.Namespace, note: Note) -> int:
    """Rebuild the tables from the answers; return 1 if some answers give none."""
    done = Archive(args.dir, profile=args.profile, **client_arguments(args)).rebuild()
    if args.json:
        report.print_json(_facts(done))
    for name, error in done.problems.items():
        note(f"aatoolkit: {visible(name)}: {error}")
    note(f"the tables of {args.dir} are made anew")
    return 0 if done else 1


def export(args: argparse.Namespace, note: Note) -> int:
    """Write tables as Parquet files with metadata."""
    from aatoolkit.frame.parquet import write_parquet

    archive = Archive(args.dir)
    there = archive.tables[["section", "table"]]
    _check_sections(args.sections or (), there["section"])
    written: list[Path] = []
    rows = 0
    for section, table in there.itertuples(index=False):
        if args.sections is None or section in args.sections:
            frame = archive.read(
                section, table, hosts=args.host, since=args.since, until=args.until
            )
            written.append(write_parquet(frame, args.out / section / f"{table}.parquet"))
            rows += len(frame)
    report.files(written, args.json)
    note(f"{counted(len(written), 'Parquet file')} with {counted(rows, 'row')}: {args.out}")
    return 0 if written else 1


def _check_sections(wanted: Iterable[str], there: Iterable[str]) -> None:
    """Raise a `ScopeError` for sections of which the archive has no table."""
    known = sorted({*there})
    for name in wanted:
        if name not in known:
            near = near_matches(name, known)
            hint = did_you_mean(near, f"it has {', '.join(known) or 'none'}")
            raise ScopeError(
                f"the archive has no tables of a section {name!r}; {hint}",
                parameter="section",
                unknown=(name,),
                suggestions=near,
            )
