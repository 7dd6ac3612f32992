"""``aatoolkit study``: record, verify, diff, rerun and publish."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aatoolkit.cli import options
from aatoolkit.cli.options import CONNECTION, Output, argument, examples, option
from aatoolkit.cli.output import grid, note, print_files, print_json
from aatoolkit.errors import AAToolkitError, ArgumentError, NotWritten, StudyError

if TYPE_CHECKING:
    from aatoolkit.study import Study

_folder = argument("folder", type=options.PATH, metavar="STUDY")


@click.group(cls=options.Group)
def study() -> None:
    """Record, check, compare and publish studies."""


@study.command(epilog=examples("study record acme.example mine --section urls", note=CONNECTION))
@options.host
@argument("folder", type=Output(is_folder=True), metavar="DIR")
@option("--title", metavar="TEXT", help="What a new study is about, in a line.")
@option("--description", metavar="TEXT", help="The same, at length.")
@option(
    "--creator",
    "creators",
    multiple=True,
    metavar="NAME",
    help="Who makes a new study; may be repeated.",
)
@options.sections
@options.filters
@options.connection
@options.as_json
def record(
    host: str,
    folder: Path,
    title: str | None,
    description: str | None,
    creators: Sequence[str],
    sections: Sequence[str],
    as_json: bool,
    **given: Any,
) -> int:
    """Read scope options and sections into a study, and seal it."""
    from aatoolkit.study import Study
    from aatoolkit.study.files import STUDY

    scope = options.scope_of(given)
    with options.project_of(host, given) as project:
        if (folder / STUDY).exists():
            if title or description or creators:
                raise ArgumentError(
                    f"there is a study in {folder}, and --title, --description and --creator are "
                    "of a new one; leave them out to go on with it, or name another folder",
                    argument="title",
                )
            kept = Study.resume(folder)
        else:
            kept = Study.create(folder, title=title, description=description, creators=creators)
        failed: dict[str, AAToolkitError] = {}
        with kept:
            recorded = kept.record(project)
            try:
                recorded.scope_options()
            except AAToolkitError as error:
                failed["scope options"] = error
            failed |= recorded.read_all(sections or None, scope).errors
    for name, reason in failed.items():
        note(f"aatoolkit: {name} failed: {reason}")
    _print_records(kept, as_json)
    note(f"the study is in {folder}; cite it by its digest, {kept.digest}")
    return 1 if failed else 0


@study.command(epilog=examples("study verify mine --replay"))
@_folder
@option("--replay", is_flag=True, help="Normalise the responses again, and compare the tables.")
@options.as_json
def verify(folder: Path, replay: bool, as_json: bool) -> int:
    """List what a study holds, and what was altered.

    Exits with 1 if a byte was altered, taken away or added.
    """
    from aatoolkit.study import Study

    kept = Study(folder)
    result = kept.verify(replay=replay)
    if as_json:
        problems = [vars(problem) for problem in result.found]
        print_json({"ok": result.ok, "digest": result.digest, "problems": problems, **_facts(kept)})
    elif result.ok:
        _print_records(kept, as_json)
        print(result.digest)
    else:
        print("\n".join(map(str, result.found)))
    if result.ok:
        note(f"{result.files} files, {result.records} records: all as sealed")
    return 0 if result.ok else 1


@study.command(epilog=examples("study diff mine mine"))
@_folder
@argument("other", type=options.PATH)
@options.as_json
def diff(folder: Path, other: Path, as_json: bool) -> int:
    """Show what changed between two studies.

    Exits with 0 if nothing did, 1 if something, 2 if one cannot be read.
    """
    from aatoolkit.study import Study
    from aatoolkit.study.diff import PARTS

    try:
        result = Study(folder).diff(Study(other))
    except StudyError as error:
        note(f"aatoolkit: {error}")
        return 2
    if as_json:
        changes = {
            name: json.loads(getattr(result, name).to_json(orient="records")) for name in PARTS
        }
        print_json({"same": result.same, **changes})
    elif not result.is_same:
        print(result)
    return 0 if result.is_same else 1


@study.command(epilog=examples("study rerun analysis.ipynb mine -o done.ipynb"))
@argument("notebook", type=options.PATH)
@argument("folder", type=options.PATH, metavar="STUDY", required=False)
@option("-o", "--output", "out", type=Output(), help="The notebook with its outputs.")
@option("--crate", type=options.PATH, metavar="FOLDER", help="The run as a Workflow Run RO-Crate.")
@option(
    "--timeout",
    type=options.Number(1, whole=False),
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="What all cells together may take.",
)
@options.as_json
def rerun(
    notebook: Path,
    folder: Path | None,
    out: Path | None,
    crate: Path | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Run a notebook again from a study.

    By default from the study that it names.
    Exits with 0 if each sealed result is the same, 1 if one differs, 2 if it cannot be run.
    """
    from aatoolkit.study import Study
    from aatoolkit.study.rerun import study_named_in

    try:
        kept = Study(folder or study_named_in(notebook))
        result = kept.rerun(notebook, out=out, crate=crate, timeout=timeout)
    except (StudyError, NotWritten) as error:
        note(f"aatoolkit: {error}")
        return 2
    if as_json:
        print_json(result.to_dict())
    else:
        print("\n".join(result.lines()))
    for path in filter(None, (out, crate)):
        note(f"written: {path}")
    return 0 if result.ok else 1


@study.command(epilog=examples("study publish mine published --csv"))
@_folder
@argument("out", type=Output(is_folder=True))
@option(
    "--redact",
    multiple=True,
    metavar="COLUMN",
    help="Leave out a column, a TABLE.COLUMN, or texts: all columns of words; may be repeated.",
)
@option("--excel", is_flag=True, help="Write a workbook too.")
@option("--csv", is_flag=True, help="Write CSV too.")
@option("--answers", is_flag=True, help="Ship the responses too, to explain any number.")
@option("--licence", metavar="SPDX", help="Such as CC-BY-4.0.")
@option("--overwrite", is_flag=True, help="Replace an earlier publication in that folder.")
@options.as_json
def publish(folder: Path, out: Path, as_json: bool, **given: Any) -> int:
    """Put the tables of a study into a folder for others to use."""
    from aatoolkit.study import Study

    kept = Study(folder)
    written = kept.publish(out, **given)
    print_files(sorted(path for path in written.rglob("*") if path.is_file()), as_json)
    note(f"the publication is in {written}; it cites the study by its digest, {kept.digest}")
    return 0


def _print_records(kept: Study, as_json: bool) -> None:
    facts = _facts(kept)
    if as_json:
        print_json({"digest": kept.digest, **facts})
    elif facts["records"]:
        grid(facts["records"][0], (row.values() for row in facts["records"]))


def _facts(kept: Study) -> dict[str, Any]:
    records = [
        {
            "answer": record.name,
            "status": record.status,
            "fetched": f"{record.fetched_at:%Y-%m-%d %H:%M:%SZ}",
            "size": record.size,
            "sha256": record.sha256[:12],
        }
        for record in kept.records
    ]
    results = {name: {"rows": r.rows, "hash": r.hash} for name, r in kept.results.items()}
    return {"records": records, "results": results}
