"""Print and write the results of commands: data on standard output, notes on standard error."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from aatoolkit._util.files import write_whole
from aatoolkit._util.text import json_text, visible
from aatoolkit.cli.grid import grid as grid
from aatoolkit.errors import ConfigurationError, ScopeError

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.cli.dated import DatedFolders
    from aatoolkit.cli.doctor import Diagnosis
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.http import CacheInfo
    from aatoolkit.normalizer.tables import Tables
    from aatoolkit.scope import Scope, ScopeOptions

Format = Literal["grid", "csv", "json", "parquet"]

_SUFFIXES: dict[str, Format] = {".parquet": "parquet", ".csv": "csv", ".json": "json"}


def export(dataset: Dataset, folder: Path, json: bool) -> int:
    """Write every table as Parquet and print a summary; returns 1 if a section failed."""
    written = dataset.to_parquet(folder)
    summary = dataset.summary
    if json:
        print_json(
            {
                "folder": str(folder),
                "tables": _records(summary),
                "files": [str(path) for path in written],
                "errors": {name: str(error) for name, error in dataset.errors.items()},
            }
        )
    elif sys.stdout.isatty():
        print("\n".join(summary.folds()))
        _note(f"{len(summary)} tables, by section; a file, a pipe or --json has each, and why")
    else:
        grid(summary.columns, summary.itertuples(index=False))
    for name, error in dataset.errors.items():
        _note(f"aatoolkit: {name} failed: {error}")
    _note(f"{len(written)} Parquet files are in {folder}")
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
        _note(f"aatoolkit: {name} failed: {error}")
    _note(f"a report of {len(dataset)} sections is in {written}")
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
            _note(f"aatoolkit: {host} {name} failed: {error}")
        read.append(facts)
    heads = ("host", "folder", "sections", "rows", "files", "kept", "failed")
    if json:
        print_json({"hosts": read, "hosts_kept": kept})
    else:
        grid(heads, ({**facts, "errors": len(facts["errors"])}.values() for facts in read))
    sections = sum(facts["kept"] for facts in read)
    for count, what in ((kept, "hosts are there whole"), (sections, "sections are there")):
        if count:
            _note(f"{count} {what} from today and are kept; --force reads and writes them anew")
    _note(f"{sum(facts['files'] for facts in read)} Parquet files were written")
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
                **{name: _records(frame) for name, frame in frames.items()},
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


def table_format(out: Path | None, *, json: bool, csv: bool) -> Format:
    """Return the format that options and the suffix of a file ask for.

    Raises
    ------
    ConfigurationError
        If they contradict each other, or the suffix is none of a format.
    """
    formats: list[Format] = []
    if csv:
        formats.append("csv")
    if json:
        formats.append("json")
    if out is not None:
        check_suffix(out, *_SUFFIXES)
        formats.append(_SUFFIXES[out.suffix.lower()])
    if len({*formats}) > 1:
        several = " and as ".join(dict.fromkeys(formats))
        raise ConfigurationError(
            f"the table is requested as {several}; choose one format",
            setting="format",
        )
    return formats[0] if formats else "grid"


def check_suffix(path: Path, *suffixes: str) -> None:
    """Raise a `ConfigurationError` if a file has none of these suffixes."""
    if path.suffix.lower() not in suffixes:
        raise ConfigurationError(
            f"{path.name} does not end in {' or '.join(suffixes)}, which says its format; "
            "rename it",
            setting="out",
        )


def table(tables: Tables, name: str | None, form: Format, out: Path | None) -> None:
    """Print one table of a section, or write it to a file.

    Raises
    ------
    ScopeError
        If the section has no such table.
    """
    name = name or next(iter(tables))
    if name not in tables:
        raise ScopeError(
            f"{tables.section} has no table {name!r}; it has {', '.join(tables)}",
            parameter="table",
            unknown=(name,),
            suggestions=tuple(tables),
        )
    frame = tables[name]
    if form == "grid":
        grid(frame.columns, frame.itertuples(index=False), fits=True)
    elif form == "parquet" and out is not None:
        from aatoolkit.frame.parquet import write_parquet

        write_parquet(frame, out)
    else:
        content = _serialized(frame, name, form)
        if out is None:
            print(content, end="")
        else:
            write_whole(out, content.encode())
    if out is not None:
        _note(f"{len(frame)} rows of {name} are in {out}")
    _note(f"{name}: {tables.rows[name]} rows, {visible(tables.words[name])}")


def _serialized(frame: pd.DataFrame, name: str, form: Format) -> str:
    from aatoolkit.frame.csv import csv_bytes

    if form == "csv":
        return csv_bytes(frame).decode()
    facts = {"table": name, "rows": _records(frame), "availability": _availability(frame)}
    return json_text(facts, indent=2) + "\n"


def cache(info: CacheInfo, json: bool) -> None:
    """Print what a cache holds, host by host."""
    heads = ("origin", "host", "answers", "bytes", "oldest", "newest")
    if json:
        facts = {**vars(info), "hosts": [vars(host) for host in info.hosts]}
        print_json(facts)
        return
    grid(heads, ([getattr(host, name) for name in heads] for host in info.hosts))
    _note(f"{info.answers} answers, {info.bytes:,} bytes in {info.folder}")


def cleared(count: int, left: CacheInfo, json: bool) -> None:
    """Print how many answers were deleted, and what is left."""
    if json:
        print_json({"removed": count, "answers": left.answers, "bytes": left.bytes})
        return
    _note(f"{count} answers removed; {left.answers} left, {left.bytes:,} bytes in {left.folder}")


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
        print("\n".join(listed))


def frame(found: pd.DataFrame, json: bool) -> None:
    """Print a frame in columns, or as JSON records."""
    if json:
        print_json(_records(found))
    else:
        grid(found.columns, found.itertuples(index=False), fits=True)


def _availability(frame: pd.DataFrame) -> Any:
    from aatoolkit.frame.accessor import Accessor

    return jsonlib.loads(Accessor(frame).availability.to_json(orient="index"))


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as JSON objects: each number with all its digits, days and moments in ISO 8601."""
    columns = {str(name): _json_values(frame[name]) for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _json_values(values: pd.Series) -> list[Any]:
    from pandas.api.types import is_datetime64_any_dtype

    from aatoolkit.frame.csv import as_texts

    cells = as_texts(values) if is_datetime64_any_dtype(values.dtype) else values
    there = values.notna().to_numpy(bool)
    return [
        _json_value(cell) if known else None
        for cell, known in zip(cells.to_numpy(object), there, strict=True)
    ]


def _json_value(cell: Any) -> Any:
    if isinstance(cell, str) or not hasattr(cell, "__iter__"):
        return cell.item() if hasattr(cell, "item") else cell
    return [_json_value(item) for item in cell]


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json_text(value, indent=2))


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
