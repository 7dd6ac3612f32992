"""``aatoolkit study``: record, show, verify, diff, pack, rerun and publish."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aatoolkit._util.text import visible
from aatoolkit.cli import report
from aatoolkit.cli.grid import grid
from aatoolkit.cli.table_files import check_suffix
from aatoolkit.errors import AAToolkitError, ConfigurationError, NotWritten, StudyError
from aatoolkit.study import Record, Study
from aatoolkit.study.diff import frames
from aatoolkit.study.rerun.named import study_named_in
from aatoolkit.study.storage import STUDY

if TYPE_CHECKING:
    from aatoolkit.client.project import Project
    from aatoolkit.scope import Scope

Note = Callable[[str], None]


def record(args: argparse.Namespace, project: Project, scope: Scope, note: Note) -> int:
    """Read scope options and sections into a study, and seal it; 1 if a section failed."""
    folder: Path = args.study
    if (folder / STUDY).exists():
        if args.title or args.description or args.creators:
            raise ConfigurationError(
                f"there is a study in {folder}, and --title, --description and --creator are of a "
                "new one; leave them out to go on with it, or name another folder",
                setting="title",
            )
        study = Study.resume(folder)
    else:
        study = Study.create(
            folder, title=args.title, description=args.description, creators=args.creators
        )
    failed: dict[str, AAToolkitError] = {}
    with study:
        recorded = study.record(project)
        try:
            recorded.scope_options()
        except AAToolkitError as error:
            failed["scope options"] = error
        failed |= recorded.read_all(args.sections, scope).errors
    for name, why in failed.items():
        note(f"aatoolkit: {name} failed: {why}")
    _records(study, args.json)
    note(f"the study is in {folder}; cite it by its digest, {study.digest}")
    return 1 if failed else 0


def show(args: argparse.Namespace) -> int:
    """Print what a study holds."""
    study = Study(args.study)
    if not args.json:
        about = {**study.about, "digest": study.digest or "not sealed"}
        for name, value in about.items():
            words = ", ".join(value) if isinstance(value, tuple) else value
            print(f"{name}: {visible(str(words or ''))}".rstrip())
        print()
    _records(study, args.json)
    if not args.json and study.results:
        print()
        listed = ((one.name, f"{one.rows:,}", one.hash[:12]) for one in study.results.values())
        grid(("result", "rows", "hash"), listed)
    return 0


def verify(args: argparse.Namespace, note: Note) -> int:
    """Verify a study, print what is wrong; 1 if something is."""
    found = Study(args.study).verify(replay=args.replay)
    if args.json:
        problems = [vars(problem) for problem in found.found]
        report.print_json({"ok": found.ok, "digest": found.digest, "problems": problems})
    elif not found.ok:
        print("\n".join(map(str, found.found)))
    if found.ok:
        note(f"{found.files} files, {found.records} records: all as sealed")
        if not args.json:
            print(found.digest)
    return 0 if found.ok else 1


def diff(args: argparse.Namespace, note: Note) -> int:
    """Print what changed between two studies: 0 nothing, 1 something, 2 they cannot be read."""
    try:
        found = Study(args.study).diff(Study(args.other))
    except StudyError as error:
        note(f"aatoolkit: {error}")
        return 2
    if args.json:
        changes = {
            name: json.loads(frame.to_json(orient="records")) for name, frame in frames(found)
        }
        report.print_json({"same": found.same, **changes})
    elif not found.is_same:
        print(found)
    return 0 if found.is_same else 1


def pack(args: argparse.Namespace, note: Note) -> int:
    """Put a study into one file."""
    check_suffix(args.file, ".zip")
    study = Study(args.study)
    report.files([study.pack(args.file)], args.json)
    note(f"digest {study.digest}")
    return 0


def rerun(args: argparse.Namespace, note: Note) -> int:
    """Rerun a notebook: 0 if each sealed result is the same, 1 if not, 2 if it cannot be run."""
    notebook: Path = args.notebook
    try:
        study = Study(args.study or study_named_in(notebook))
        found = study.rerun(notebook, out=args.out, crate=args.crate, timeout=args.timeout)
    except (StudyError, NotWritten) as error:
        note(f"aatoolkit: {error}")
        return 2
    if args.json:
        report.print_json(found.to_dict())
    else:
        print("\n".join(found.lines()))
    for path in filter(None, (args.out, args.crate)):
        note(f"written: {path}")
    return 0 if found.ok else 1


def publish(args: argparse.Namespace, note: Note) -> int:
    """Put a study's tables into a folder."""
    study = Study(args.study)
    out = study.publish(
        args.out,
        redact=args.redact,
        excel=args.excel,
        csv=args.csv,
        answers=args.answers,
        licence=args.licence,
        overwrite=args.overwrite,
    )
    report.files(sorted(path for path in out.rglob("*") if path.is_file()), args.json)
    note(f"the publication is in {out}; it cites the study by its digest, {study.digest}")
    return 0


def _records(study: Study, as_json: bool) -> None:
    rows = [_facts(one) for one in study.records]
    if as_json:
        results = {name: {"rows": r.rows, "hash": r.hash} for name, r in study.results.items()}
        report.print_json({"digest": study.digest, "records": rows, "results": results})
    elif rows:
        grid(rows[0], (row.values() for row in rows))


def _facts(record: Record) -> dict[str, str | int]:
    moment = f"{record.fetched_at:%Y-%m-%d %H:%M:%SZ}"
    return {
        "answer": record.name,
        "status": record.status,
        "fetched": moment,
        "size": record.size,
        "sha256": record.sha256[:12],
    }
