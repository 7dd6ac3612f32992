"""``aatoolkit study``: record, show, verify, diff, pack and publish."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aatoolkit._util.text import visible
from aatoolkit.cli import report
from aatoolkit.errors import AAToolkitError, StudyError
from aatoolkit.study import Record, Study
from aatoolkit.study.diff import frames
from aatoolkit.study.storage import STUDY

if TYPE_CHECKING:
    from aatoolkit.client.project import Project
    from aatoolkit.scope import Scope

Note = Callable[[str], None]


def record(asked: argparse.Namespace, project: Project, scope: Scope, note: Note) -> int:
    """Read scope options and sections into a study, and seal it; 1 if a section failed."""
    folder: Path = asked.study
    if (folder / STUDY).exists():
        study = Study.resume(folder)
    else:
        study = Study.create(
            folder, title=asked.title, description=asked.description, creators=asked.creators
        )
    failed: dict[str, AAToolkitError] = {}
    with study:
        recorded = study.record(project)
        try:
            recorded.scope_options()
        except AAToolkitError as error:
            failed["scope options"] = error
        failed |= recorded.read_all(scope, sections=asked.sections).errors
    for name, why in failed.items():
        note(f"aatoolkit: {name} failed: {why}")
    _records(study, asked.json)
    note(f"the study is in {folder}; cite it by its digest, {study.digest}")
    return 1 if failed else 0


def show(asked: argparse.Namespace) -> int:
    """Print what a study holds."""
    study = Study(asked.study)
    if not asked.json:
        about = {**study.about, "digest": study.digest or "not sealed"}
        for name, said in about.items():
            words = ", ".join(said) if isinstance(said, tuple) else said
            print(f"{name}: {visible(str(words or ''))}".rstrip())
        print()
    _records(study, asked.json)
    return 0


def verify(asked: argparse.Namespace, note: Note) -> int:
    """Verify a study, print what is wrong; 1 if something is."""
    found = Study(asked.study).verify(replay=asked.replay)
    if asked.json:
        told = [vars(problem) for problem in found.found]
        report.print_json({"ok": found.ok, "digest": found.digest, "problems": told})
    elif not found.ok:
        print("\n".join(map(str, found.found)))
    if found.ok:
        note(f"{found.files} files, {found.records} records: all as sealed")
        if not asked.json:
            print(found.digest)
    return 0 if found.ok else 1


def diff(asked: argparse.Namespace, note: Note) -> int:
    """Print what changed between two studies: 0 nothing, 1 something, 2 they cannot be read."""
    try:
        found = Study(asked.study).diff(Study(asked.other))
    except StudyError as error:
        note(f"aatoolkit: {error}")
        return 2
    if asked.json:
        told = {name: json.loads(frame.to_json(orient="records")) for name, frame in frames(found)}
        report.print_json({"same": found.same, **told})
    elif not found.is_same:
        print(found)
    return 0 if found.is_same else 1


def pack(asked: argparse.Namespace, note: Note) -> int:
    """Put a study into one file."""
    study = Study(asked.study)
    report.files([study.pack(asked.file)], asked.json)
    note(f"digest {study.digest}")
    return 0


def publish(asked: argparse.Namespace, note: Note) -> int:
    """Put a study's tables into a folder."""
    study = Study(asked.study)
    out = study.publish(
        asked.out,
        redact=asked.redact,
        excel=asked.excel,
        csv=asked.csv,
        licence=asked.licence,
        overwrite=asked.overwrite,
    )
    report.files(sorted(path for path in out.rglob("*") if path.is_file()), asked.json)
    note(f"the publication is in {out}; it cites the study by its digest, {study.digest}")
    return 0


def _records(study: Study, as_json: bool) -> None:
    rows = [_facts(one) for one in study.records]
    if as_json:
        report.print_json({"digest": study.digest, "records": rows})
    elif rows:
        report.grid(rows[0], (row.values() for row in rows))


def _facts(record: Record) -> dict[str, str | int]:
    moment = f"{record.fetched_at:%Y-%m-%d %H:%M:%SZ}"
    return {
        "answer": record.name,
        "status": record.status,
        "fetched": moment,
        "size": record.size,
        "sha256": record.sha256[:12],
    }
