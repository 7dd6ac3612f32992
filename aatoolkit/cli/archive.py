"""``aatoolkit archive``: add, info, sql, compact, verify, rebuild, export and forget."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit._util.text import visible
from aatoolkit.archive import AddReport, Archive
from aatoolkit.cli import report
from aatoolkit.errors import ConfigurationError

if TYPE_CHECKING:
    from aatoolkit.archive.upkeep import UpkeepReport
    from aatoolkit.client.client import Client
    from aatoolkit.scope import Scope

Note = Callable[[str], None]


def hosts_of(asked: argparse.Namespace) -> list[str]:
    """The hosts that a command names, or those in the file that it names.

    Raises
    ------
    ConfigurationError
        If there are none, or the file cannot be read.
    """
    named = list(asked.hosts)
    if asked.hosts_file is not None:
        try:
            lines = asked.hosts_file.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            lines = None
        if lines is None:
            raise ConfigurationError(
                f"the file {asked.hosts_file} cannot be read; give a file with one host a line",
                setting="hosts",
            )
        words = (line.partition("#")[0].strip() for line in lines)
        named += [word for word in words if word]
    if not named:
        raise ConfigurationError("name hosts, or give a file of them with --hosts", setting="hosts")
    return named


def add(
    asked: argparse.Namespace, client: Client, scope: Scope, hosts: list[str], note: Note
) -> int:
    """Add the answers of today; 1 if anything failed."""
    done = Archive(asked.dir).add(client, hosts, scope, asked.sections, refresh=asked.refresh)
    if asked.json:
        report.print_json(_facts(done))
    for row in done.failures.fillna("").to_dict("records"):
        place = " ".join(word for word in (row["host"], row["section"], row["scope"]) if word)
        note(f"aatoolkit: {visible(place)} failed: {row['message']}")
    note(repr(done).splitlines()[0])
    return 0 if done else 1


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


def info(asked: argparse.Namespace, note: Note) -> int:
    """List the tables of an archive."""
    archive = Archive(asked.dir)
    report.frame(archive.tables, asked.json)
    note(repr(archive))
    return 0


def sql(asked: argparse.Namespace) -> int:
    """Print the answer to a question in SQL."""
    found = Archive(asked.dir).sql(asked.query).df()
    if asked.csv:
        from aatoolkit.frame.csv import csv_bytes

        print(csv_bytes(found).decode(), end="")
    else:
        report.frame(found, asked.json)
    return 0


def compact(asked: argparse.Namespace) -> int:
    """Join small files."""
    return _kept(asked, Archive(asked.dir).compact(keep_hours=asked.keep_hours))


def forget(asked: argparse.Namespace) -> int:
    """Remove hosts or times."""
    return _kept(asked, Archive(asked.dir).forget(asked.host, before=asked.before))


def _kept(asked: argparse.Namespace, done: UpkeepReport) -> int:
    if asked.json:
        report.print_json(
            {"files": done.files, "bytes": done.bytes, "rows_removed": done.rows}
            | {"hosts": done.hosts, "busy": done.busy}
        )
    else:
        print(done)
    return 1 if done.busy else 0


def verify(asked: argparse.Namespace, note: Note) -> int:
    """Check an archive; 1 if anything is wrong."""
    found = Archive(asked.dir, profile=asked.profile).verify(replay=asked.replay)
    if asked.json:
        told = [{"table": table, "problem": problem} for table, problem in found.found]
        report.print_json({"ok": found.ok, "answers": found.answers, "problems": told})
    for table, problem in () if asked.json else found.found:
        print(visible(f"{table}: {problem}"))
    note(repr(found).splitlines()[0])
    return 0 if found else 1


def rebuild(asked: argparse.Namespace, note: Note) -> int:
    """Make the tables anew; 1 if some answers give none."""
    done = Archive(asked.dir, profile=asked.profile).rebuild()
    if asked.json:
        report.print_json(_facts(done))
    for name, error in done.problems.items():
        note(f"aatoolkit: {visible(name)}: {error}")
    note(f"the tables of {asked.dir} are made anew")
    return 0 if done else 1


def export(asked: argparse.Namespace, note: Note) -> int:
    """Write tables as Parquet files with metadata."""
    from aatoolkit.frame.parquet import write_parquet

    archive = Archive(asked.dir)
    written: list[Path] = []
    for section, table in archive.tables[["section", "table"]].itertuples(index=False):
        if asked.sections is None or section in asked.sections:
            frame = archive.read(
                section, table, hosts=asked.host, since=asked.since, until=asked.until
            )
            written.append(write_parquet(frame, asked.out / section / f"{table}.parquet"))
    report.files(written, asked.json)
    note(f"{len(written)} Parquet files are in {asked.out}")
    return 0 if written else 1
