"""Print and write the results of commands: data on standard output, notes on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit._util.text import counted, json_text, visible
from aatoolkit.cli.grid import grid
from aatoolkit.cli.streams import note, write_data
from aatoolkit.cli.table_files import STDOUT, records, write_table
from aatoolkit.errors import ScopeError, did_you_mean, near_matches

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.cli.dated import DatedFolders
    from aatoolkit.cli.doctor import Diagnosis
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.http import CacheInfo
    from aatoolkit.normalizer.tables import Tables
    from aatoolkit.scope import Scope, ScopeOptions


def export(dataset: Dataset, folder: Path, json: bool) -> int:
    """Write every table as Parquet and print a summary; returns 1 if a section failed."""
    written = dataset.to_parquet(folder)
    summary = dataset.summary
    if json:
        print_json(
            {
                "folder": str(folder),
                "tables": records(summary),
                "files": [str(path) for path in written],
                "errors": {name: str(error) for name, error in dataset.errors.items()},
            }
        )
    elif sys.stdout.isatty():
        print("\n".join(summary.folds()))
        note(f"{len(summary)} tables, by section; a file, a pipe or --json has each, and why")
    else:
        grid(summary.columns, summary.itertuples(index=False))
    for name, error in dataset.errors.items():
        note(f"aatoolkit: {name} failed: {error}")
    note(f"{counted(len(written), 'Parquet file')} {_are(len(written))} in {folder}")
    return 1 if dataset.errors else 0


def page(dataset: Dataset, path: Path, json: bool) -> int:
    """Write the report and print its path; returns 1 if a section failed."""
    written = dataset.report(path)
    failed = {name: str(error) for name, error in dataset.errors.items()}
    if json:
        print_json({"file": str(written), "sections": list(dataset), "errors": failed})
    else:
        print(written)
    for name, error in failed.items():
        note(f"aatoolkit: {name} failed: {error}")
    note(f"a report of {counted(len(dataset), 'section')} is in {written}")
    return 1 if failed else 0


def collected(
    datasets: Iterable[tuple[str, Scope, Dataset]], folders: DatedFolders, kept: int, json: bool
) -> int:
    """Write the tables of each host as they arrive; returns 1 if a request failed.

    ``kept`` is the number of hosts that need not be read.
    """
    read: list[dict[str, Any]] = []
    for host, _, dataset in datasets:
        files = [folders.write(host, tables) for tables in dataset.values()]
        facts = {
            "host": host,
            "folder": str(folders.place(host)),
            "sections": len(dataset),
            "rows": sum(rows for tables in dataset.values() for rows in tables.rows.values()),
            "files": sum(files),
            "kept": files.count(0),
            "errors": {name: str(error) for name, error in dataset.errors.items()},
        }
        for name, error in dataset.errors.items():
            note(f"aatoolkit: {host} {name} failed: {error}")
        read.append(facts)
    heads = ("host", "folder", "sections", "rows", "files", "kept", "failed")
    if json:
        print_json({"hosts": read, "hosts_kept": kept})
    else:
        grid(heads, ({**facts, "errors": len(facts["errors"])}.values() for facts in read))
    sections = sum(facts["kept"] for facts in read)
    for count, what in ((kept, "host"), (sections, "section")):
        if count:
            there = f"{counted(count, what)} {_are(count)} there"
            note(f"{there} from today and kept; --force reads and writes anew")
    files = sum(facts["files"] for facts in read)
    note(f"{counted(files, 'Parquet file')} {'was' if files == 1 else 'were'} written")
    return 1 if any(facts["errors"] for facts in read) else 0


def scope_options(options: ScopeOptions, json: bool) -> None:
    """Print the six parts of the scope options."""
    frames = {
        "engines": options.engines,
        "topics": options.topics,
        "categories": options.categories,
        "brands": options.brands,
    }
    if json:
        print_json(
            {
                "host": options.host,
                **{name: records(frame) for name, frame in frames.items()},
                "untagged": options.untagged,
                "own_terms": list(options.own_terms),
                "days": list(options.days),
            }
        )
        return
    for name, frame in frames.items():
        print(f"{name}:")
        grid(frame.columns, frame.itertuples(index=False))
        print()
    for name, count in options.untagged.items():
        print(f"prompts without a {name}: {'unknown' if count is None else count}")
    print(f"own_terms: {', '.join(map(visible, options.own_terms))}")
    print(f"days: {', '.join(map(str, options.days))}")


def table(tables: Tables, name: str | None, form: str, out: Path | None) -> None:
    """Print one table of a section, or write it to a file.

    Raises
    ------
    ScopeError
        If the section has no such table.
    """
    name = name or next(iter(tables))
    if name not in tables:
        near = near_matches(name, tables)
        hint = did_you_mean(near, f"it has {', '.join(tables)}")
        raise ScopeError(
            f"{tables.section} has no table {name!r}; {hint}",
            parameter="table",
            unknown=(name,),
            suggestions=near or tuple(tables),
        )
    frame = tables[name]
    if form == "grid":
        grid(frame.columns, frame.itertuples(index=False), fits=out is None)
    else:
        write_table(frame, name, form, out)
    if out not in (None, STDOUT):
        note(f"{counted(len(frame), 'row')} of {name} {_are(len(frame))} in {out}")
    note(f"{name}: {counted(tables.rows[name], 'row')}, {visible(tables.words[name])}")


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def cache(info: CacheInfo, json: bool) -> None:
    """Print what a cache holds, host by host."""
    heads = ("origin", "host", "answers", "bytes", "oldest", "newest")
    if json:
        facts = {**vars(info), "hosts": [vars(host) for host in info.hosts]}
        print_json(facts)
        return
    grid(heads, ([getattr(host, name) for name in heads] for host in info.hosts))
    note(f"{counted(info.answers, 'answer')}, {info.bytes:,} bytes in {info.folder}")


def cleared(count: int, left: CacheInfo, json: bool) -> None:
    """Print how many answers were deleted, and what is left."""
    if json:
        print_json({"removed": count, "answers": left.answers, "bytes": left.bytes})
        return
    removed = counted(count, "answer")
    note(f"{removed} removed; {left.answers} left, {left.bytes:,} bytes in {left.folder}")


def findings(found: Sequence[Diagnosis], json: bool) -> None:
    """Print the findings of `doctor`."""
    if json:
        print_json([vars(finding) for finding in found])
        return
    marks = {True: "ok", False: "PROBLEM", None: "-"}
    grid(("what", "", "finding"), ((f.what, marks[f.good], f.finding) for f in found))


def files(written: Iterable[Path], json: bool) -> None:
    """Print the files that were written."""
    listed = [str(path) for path in written]
    if json:
        print_json(listed)
    else:
        print("".join(f"{each}\n" for each in listed), end="")


def frame(found: pd.DataFrame, json: bool) -> None:
    """Print a frame in columns, or as JSON records."""
    if json:
        print_json(records(found))
    else:
        grid(found.columns, found.itertuples(index=False), fits=True)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    write_data(f"{json_text(value, indent=2)}\n".encode())
