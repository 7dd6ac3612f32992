"""``aatoolkit study``, ``archive`` and ``explain``: the commands on recorded responses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aatoolkit._util.text import visible
from aatoolkit.cli import output
from aatoolkit.cli.options import (
    CONNECTION,
    CSV,
    FILTER_OPTIONS,
    JSON,
    MAX_NODES,
    ONLY,
    PROFILE,
    TOKEN_NOTE,
    WORKERS_OPTION,
    Given,
    Output,
    client_of,
    command,
    limits_of,
    option,
    project_of,
    scope_of,
)
from aatoolkit.cli.output import grid, note, print_json
from aatoolkit.errors import (
    AAToolkitError,
    ArgumentError,
    ItemNotFound,
    NotWritten,
    StudyError,
)

if TYPE_CHECKING:
    from aatoolkit.study import Study

study = click.Group("study", help="Record, check, compare and publish studies.")
archive = click.Group("archive", help="Keep every response of many hosts over time, and read them.")
_REPLAY = option("--replay", "Normalise the responses again, and compare the tables.")
_DIR = option(
    "--dir DIR", "The archive's folder, or s3://BUCKET/FOLDER.", click.STRING, required=True
)


# -- studies -----------------------------------------------------------------------------------


@command(
    study,
    "record HOST DIR",
    option("--title TEXT", "What a new study is about, in a line."),
    option("--description TEXT", "The same, at length."),
    option("--creator NAME ...", "Who makes a new study; may be repeated."),
    ONLY,
    *FILTER_OPTIONS,
    *CONNECTION,
    JSON,
    examples=["study record acme.example mine --section urls"],
    note=TOKEN_NOTE,
    DIR=Output(is_folder=True),
)
def record(given: Given) -> int:
    """Read scope options and sections into a study, and seal it."""
    from aatoolkit.study import Study
    from aatoolkit.study.files import STUDY

    folder = given.dir
    about = {"title": given.title, "description": given.description, "creators": given.creator}
    failed: dict[str, AAToolkitError] = {}
    with project_of(given) as project:
        if not (folder / STUDY).exists():
            kept = Study.create(folder, **about)
        elif any(about.values()):
            raise ArgumentError(
                f"there is a study in {folder}, and --title, --description and --creator are "
                "of a new one; leave them out to go on with it, or name another folder",
                argument="title",
            )
        else:
            kept = Study.resume(folder)
        with kept:
            recorded = kept.record(project)
            try:
                recorded.scope_options()
            except AAToolkitError as error:
                failed["scope options"] = error
            failed |= recorded.read_all(given.section or None, scope_of(given)).errors
    for name, reason in failed.items():
        note(f"aatoolkit: {name} failed: {reason}")
    _print_records(kept, given.json)
    note(f"the study is in {folder}; cite it by its digest, {kept.digest}")
    return 1 if failed else 0


@command(study, "verify STUDY", _REPLAY, JSON, examples=["study verify mine --replay"])
def verify_study(given: Given) -> int:
    """List what a study holds, and what was altered.

    Exits with 1 if a byte was altered, taken away or added.
    """
    from aatoolkit.study import Study

    kept = Study(given.study)
    result = kept.verify(replay=given.replay)
    if given.json:
        problems = [vars(problem) for problem in result.found]
        print_json({"ok": result.ok, "digest": result.digest, "problems": problems, **_facts(kept)})
    elif result.ok:
        _print_records(kept, given.json)
        print(result.digest)
    else:
        print("\n".join(map(str, result.found)))
    if result.ok:
        note(f"{result.files} files, {result.records} records: all as sealed")
    return 0 if result.ok else 1


@command(study, "diff STUDY OTHER", JSON, examples=["study diff mine mine"])
def diff(given: Given) -> int:
    """Show what changed between two studies.

    Exits with 0 if nothing did, 1 if something, 2 if one cannot be read.
    """
    from aatoolkit.study import Study

    try:
        result = Study(given.study).diff(Study(given.other))
    except StudyError as error:
        note(f"aatoolkit: {error}")
        return 2
    if given.json:
        changes = json.loads(result.changes.to_json(orient="records"))
        print_json({"same": result.same, "changes": changes})
    elif not result.is_same:
        print(result)
    return 0 if result.is_same else 1


@command(
    study,
    "rerun NOTEBOOK STUDY",
    option("-o --output FILE", "The notebook with its outputs.", Output()),
    option("--timeout SECONDS", "What all cells together may take.", click.FloatRange(1), 600),
    JSON,
    examples=["study rerun analysis.ipynb mine -o done.ipynb"],
)
def rerun(given: Given) -> int:
    """Run a notebook again from a study.

    Exits with 0 if each sealed result is the same, 1 if one differs, 2 if it cannot be run.
    """
    from aatoolkit.study import Study

    try:
        result = Study(given.study).rerun(given.notebook, out=given.output, timeout=given.timeout)
    except (StudyError, NotWritten) as error:
        note(f"aatoolkit: {error}")
        return 2
    if given.json:
        print_json(result.to_dict())
    else:
        print("\n".join(result.lines()))
    if given.output is not None:
        note(f"written: {given.output}")
    return 0 if result.ok else 1


@command(
    study,
    "publish STUDY OUT",
    option(
        "--redact COLUMN ...",
        "Leave out a column, a TABLE.COLUMN, or texts: all columns of words; may be repeated.",
    ),
    option("--excel", "Write a workbook too."),
    option("--csv", "Write CSV too."),
    option("--responses", "Ship the responses too, to explain any number."),
    option("--licence SPDX", "Such as CC-BY-4.0."),
    option("--overwrite", "Replace an earlier publication in that folder."),
    JSON,
    examples=["study publish mine published --csv"],
    OUT=Output(is_folder=True),
)
def publish(given: Given) -> int:
    """Put the tables of a study into a folder for others to use."""
    from aatoolkit.study import Study

    kept = Study(given.study)
    names = ("redact", "excel", "csv", "responses", "licence", "overwrite")
    written = kept.publish(given.out, **{name: vars(given)[name] for name in names})
    files = sorted(str(path) for path in written.rglob("*") if path.is_file())
    if given.json:
        print_json(files)
    else:
        print("\n".join(files))
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
            "request": record.name,
            "status": record.status,
            "fetched": f"{record.fetched_at:%Y-%m-%d %H:%M:%SZ}",
            "size": record.size,
            "sha256": record.sha256[:12],
        }
        for record in kept.records
    ]
    return {"records": records, "results": kept.results.hashes}


# -- archives ----------------------------------------------------------------------------------


@command(
    archive,
    "add [HOST]...",
    _DIR,
    option("--hosts FILE", "A file, one host a line."),
    option("--refresh", "Request also what has a response of today."),
    WORKERS_OPTION,
    ONLY,
    *FILTER_OPTIONS,
    *CONNECTION,
    JSON,
    examples=["archive add acme.example --dir history \\\n      --section urls"],
    note=TOKEN_NOTE,
)
def add(given: Given) -> int:
    """Add the responses of today; exits with 1 if anything failed."""
    from aatoolkit.archive import Archive

    scope, hosts = scope_of(given), [*given.host, *_hosts_in(given.hosts)]
    if not hosts:
        raise ArgumentError("name hosts, or give a file of them with --hosts", argument="hosts")
    with client_of(given) as client:
        done = Archive(given.dir).add(
            client, hosts, scope, given.section or None, refresh=given.refresh
        )
    failures = done.failures.fillna("").to_dict("records")
    if given.json:
        listed = [{str(name): word or None for name, word in row.items()} for row in failures]
        facts = {name: getattr(done, name) for name in ("run", "responses", "resumed", "skipped")}
        print_json({**facts, "failures": listed})
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
        raise ArgumentError(
            f"the file {file} cannot be read; give a file with one host a line", argument="hosts"
        ) from None
    words = (line.partition("#")[0].strip() for line in lines)
    return [word for word in words if word]


def _first_line(report: object) -> str:
    """The first line of a report without the brackets and the name of its type."""
    return repr(report).splitlines()[0].strip("<>").partition(": ")[2]


@command(
    archive,
    "sql [QUERY]",
    _DIR,
    CSV,
    JSON,
    examples=[
        "archive sql --dir history",
        'archive sql "SELECT count(*) FROM cited_urls" \\\n      --dir history --csv',
    ],
)
def sql(given: Given) -> int:
    """Run one SELECT; the tables are views of their names, listed without a QUERY."""
    from aatoolkit.archive import Archive

    form = output.table_format(None, as_json=given.json, as_csv=given.csv)
    kept = Archive(given.dir)
    frame = kept.tables if given.query is None else kept._sql_frame(given.query)
    if form == "csv":
        output.write_table(frame, "query", form, None)
    else:
        output.print_frame(frame, given.json)
    if given.query is None:
        note(repr(kept).strip("<>"))
    return 0


@command(
    archive,
    "verify",
    _DIR,
    _REPLAY,
    PROFILE,
    MAX_NODES,
    JSON,
    examples=["archive verify --dir history --replay"],
)
def verify_archive(given: Given) -> int:
    """Check files, responses and tables; exits with 1 if anything is wrong."""
    from aatoolkit.archive import Archive

    kept = Archive(given.dir, profile=given.profile, **limits_of(given))
    result = kept.verify(replay=given.replay)
    problems = [{"table": table, "problem": problem} for table, problem in result.found]
    if given.json:
        print_json({"ok": result.ok, "responses": result.responses, "problems": problems})
    else:
        for problem in problems:
            print(visible(f"{problem['table']}: {problem['problem']}"))
    note(_first_line(result))
    return 0 if result else 1


@command(
    archive,
    "tidy",
    _DIR,
    option(
        "--keep-hours N",
        "How long replaced files are kept for readers.",
        click.FloatRange(0),
        168,
    ),
    option("--forget HOST ...", "Remove it; may be repeated."),
    option("--before DAY", "Remove what was fetched before this day."),
    JSON,
    examples=["archive tidy --dir history", "archive tidy --dir history --before 2024-01-01"],
)
def tidy(given: Given) -> int:
    """Join small files, and remove hosts or what is old if that is requested.

    Exits with 1 if another process was busy with a part of it.
    """
    from aatoolkit.archive import Archive

    kept = Archive(given.dir)
    if given.forget or given.before:
        done = kept.forget([*given.forget] or None, before=given.before)
    else:
        done = kept.compact(keep_hours=given.keep_hours)
    if given.json:
        facts = {"files": done.files, "bytes": done.bytes, "rows_removed": done.rows}
        print_json({**facts, "hosts": done.hosts, "busy": done.busy})
    else:
        print(_first_line(done))
    return 1 if done.busy else 0


# -- explanations ------------------------------------------------------------------------------


def add_explain(app: click.Group) -> None:
    """Add ``aatoolkit explain``."""
    command(
        app,
        "explain STORE TABLE",
        option("--column NAME", "The column of the number.", required=True),
        option(
            "--where NAME=VALUE ...",
            "What identifies the row, such as engine=chatgpt; may be repeated.",
        ),
        option(
            "--row N",
            "The row by its number, from 0; by default the first without a value.",
            click.IntRange(0),
        ),
        option("--host HOST", "The project, where there are several."),
        option(
            "--scope QUERY",
            "The filters, where there are several, such as 'days=30&engine=claude'.",
        ),
        option("-o --out FILE", "Write a page of HTML with folds.", Output(".html", ".htm")),
        JSON,
        examples=["explain mine cited_urls --column citation_count"],
    )(_explain)


def _explain(given: Given) -> int:
    """Explain a number down to the bytes of its response.

    STORE is a study, packed or not, a publication that ships its responses, or an archive; TABLE a
    table of it, such as overview.overview_kpis. Exits with 1 if the trail ends early.
    """
    from aatoolkit._util.files import write_whole
    from aatoolkit.scope import Scope

    pairs = [word.partition("=") for word in given.where]
    if wrong := ["".join(pair) for pair in pairs if not (pair[0] and pair[1])]:
        raise ArgumentError(f"{wrong[0]!r} is not NAME=VALUE", argument="where")
    row = {name: value for name, _, value in pairs} if pairs else given.row
    scope = None if given.scope is None else Scope._from_query(given.scope)
    try:
        explanation = _opened(given.store).explain(
            given.table, row, given.column, host=given.host, scope=scope
        )
    except ItemNotFound as error:
        raise ArgumentError(str(error), argument="where") from None
    if given.out is not None:
        write_whole(given.out, _PAGE.format(explanation._repr_html_()).encode())
        note(f"written: {given.out}")
    elif given.json:
        print_json(explanation.to_dict())
    else:
        print(explanation)
    for reason in explanation.ends:
        note(f"the trail ends early: {reason}")
    return 0 if explanation.is_complete else 1


def _opened(path: Path) -> Any:
    """The study, packed study, publication or archive at a path."""
    from aatoolkit.study import Study
    from aatoolkit.study.files import PACKED

    if (path / "responses" / "_delta_log").is_dir():
        from aatoolkit.archive import Archive

        return Archive(path)
    return Study(path / PACKED if (path / PACKED).is_file() else path)


_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>How a number is known</title>
<style>:root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;
margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}}summary{{cursor:pointer;font-weight:600}}
ul{{padding-left:1.2rem}}</style></head>
<body><h1>How a number is known</h1>{}</body></html>
"""
