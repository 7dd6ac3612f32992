"""The commands, and those of them that read a service."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aatoolkit import __version__
from aatoolkit._util.defaults import DEMO_HOST
from aatoolkit._util.text import counted, visible
from aatoolkit.cli import options, output
from aatoolkit.cli.archive import archive
from aatoolkit.cli.options import CONNECTION, Output, argument, examples, option
from aatoolkit.cli.output import grid, note, print_json
from aatoolkit.cli.profile import profile
from aatoolkit.cli.serving import serve
from aatoolkit.cli.study import study
from aatoolkit.errors import ArgumentError, ItemNotFound, ScopeError, unknown

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.frame.explain import Explanation
    from aatoolkit.scope import ScopeOptions

_END = """\
aatoolkit COMMAND --help says more of each, with examples.

Data goes to standard output, notes and progress to standard error; progress only to a terminal.

\b
Exit codes:
  0    done
  1    something failed: the service, the network or a file
  2    the command was not understood, or a value is wrong
  130  interrupted by Ctrl-C

\b
Completion, in the file that your shell starts with:
  bash  eval "$(_AATOOLKIT_COMPLETE=bash_source aatoolkit)"
  zsh   eval "$(_AATOOLKIT_COMPLETE=zsh_source aatoolkit)"
  fish  _AATOOLKIT_COMPLETE=fish_source aatoolkit | source"""


@click.group(
    cls=options.Group,
    epilog=_END,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="aatoolkit", message="%(prog)s %(version)s")
def app() -> None:
    """How AI assistants mention, rank and cite a brand: the Agent Analytics API."""


for group in (study, archive, profile, serve):
    app.add_command(group)


@app.command(epilog=examples("demo --days 7 -o demo-7"))
@option(
    "-o",
    "--out",
    type=Output(is_folder=True),
    default="aatoolkit-demo",
    show_default=True,
    metavar="DIR",
    help="The folder for the Parquet files.",
)
@option("--host", default=DEMO_HOST, show_default=True, help="The synthetic project to read.")
@options.synthetic
@options.filters
@options.as_json
def demo(out: Path, host: str, as_json: bool, **given: Any) -> int:
    """Read everything from an embedded service on synthetic data."""
    from aatoolkit.client.connect import demo as demo_project

    scope = options.scope_of(given)
    note("starting the embedded service on synthetic data")
    with demo_project(host, **given) as project:
        note(f"serving at {project.client.base_url}, for as long as this command runs")
        choices = project.scope_options()
        note(repr(scope.check(choices) and choices))
        return _write_all(project.read_all(None, scope), out, as_json)


def _write_all(dataset: Dataset, folder: Path, as_json: bool) -> int:
    """Write each table as one Parquet file and print a summary; 1 if a section failed."""
    written: list[Path] = []
    for section, tables in dataset.items():
        for name, frame in tables.items():
            path = folder / section / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            written.append(frame.aa.to_parquet(path))
    summary = dataset.summary
    errors = {name: str(error) for name, error in dataset.errors.items()}
    if as_json:
        facts = {"folder": str(folder), "tables": output.records(summary)}
        print_json({**facts, "files": [str(path) for path in written], "errors": errors})
    elif sys.stdout.isatty():
        from aatoolkit._util.show import folds

        print("\n".join(folds(summary)))
        note(f"{len(summary)} tables, by section; a file, a pipe or --json has each, and why")
    else:
        grid(summary.columns, summary.itertuples(index=False))
    for name, error in errors.items():
        note(f"aatoolkit: {name} failed: {error}")
    note(f"{counted(len(written), 'Parquet file')}, one a table: {folder}")
    return 1 if errors else 0


@app.command(
    epilog=examples(
        "read acme.example",
        "read acme.example domains",
        "read acme.example domains --engine chatgpt --csv",
        "read acme.example urls -o urls.xlsx",
        "read acme.example chats --table chat_mentions",
        note=CONNECTION,
    ),
    help="Print one table of a section, or write it to a file.\n\nWithout a SECTION it prints what "
    f"the filters may be. The sections are {', '.join(options.SECTIONS)}.",
)
@options.host
@argument(
    "section",
    required=False,
    shell_complete=lambda ctx, param, start: [s for s in options.SECTIONS if s.startswith(start)],
)
@option("--table", metavar="NAME", help="One table of it (default: the main table).")
@option("--csv", "as_csv", is_flag=True, help="Print CSV in UTF-8.")
@option(
    "-o",
    "--out",
    type=Output(*output.SUFFIXES),
    help="Write a file in the format of its suffix: .parquet or .feather (with metadata), .xlsx, "
    ".csv, .json or .ndjson (a row a line); - is standard output.",
)
@option("--refresh", is_flag=True, help="Let the service refresh, and use no cached response.")
@options.filters
@options.connection
@options.as_json
def read(
    host: str,
    section: str | None,
    table: str | None,
    as_csv: bool,
    as_json: bool,
    out: Path | None,
    refresh: bool,
    **given: Any,
) -> int:
    form = output.table_format(out, as_json=as_json, as_csv=as_csv)
    scope = options.scope_of(given)
    with options.project_of(host, given) as project:
        if section is None:
            _print_options(project.scope_options(refresh=refresh), as_json)
            return 0
        tables = project.read(section, scope, refresh=refresh)
    name = table or next(iter(tables))
    if name not in tables:
        raise ScopeError(unknown(f"table of {tables.section}", name, tables), parameter="table")
    frame = tables[name]
    if form == "grid":
        grid(frame.columns, frame.itertuples(index=False), fits=out is None)
    else:
        output.write_table(frame, name, form, out)
    if out is not None and str(out) != "-":
        note(f"{counted(len(frame), 'row')} of {name}: {out}")
    note(f"{name}: {counted(tables.rows[name], 'row')}, {visible(tables._words[name])}")
    return 0


def _print_options(choices: ScopeOptions, as_json: bool) -> None:
    """Print the values of the filters."""
    names = ("engines", "topics", "categories", "brands")
    frames = {name: getattr(choices, name) for name in names}
    if as_json:
        print_json(
            {
                "host": choices.host,
                **{name: output.records(frame) for name, frame in frames.items()},
                "untagged": choices.untagged,
                "own_terms": [*choices.own_terms],
                "days": [*choices.days],
            }
        )
        return
    for name, frame in frames.items():
        print(f"{name}:")
        grid(frame.columns, frame.itertuples(index=False))
        print()
    for name, count in choices.untagged.items():
        print(f"prompts without a {name}: {'unknown' if count is None else count}")
    print(f"own_terms: {', '.join(map(visible, choices.own_terms))}")
    print(f"days: {', '.join(map(str, choices.days))}")


@app.command(
    epilog=examples("report acme.example -o acme.html --section urls", note=CONNECTION),
)
@options.host
@option("-o", "--out", type=Output(".html", ".htm"), required=True, help="The HTML file to write.")
@options.sections
@options.filters
@options.connection
@options.as_json
def report(host: str, out: Path, sections: Sequence[str], as_json: bool, **given: Any) -> int:
    """Write one page of HTML with pictures and tables."""
    scope = options.scope_of(given)
    with options.project_of(host, given) as project:
        dataset = project.read_all(sections or None, scope)
    written = dataset.report(out)
    errors = {name: str(error) for name, error in dataset.errors.items()}
    if as_json:
        print_json({"file": str(written), "sections": [*dataset], "errors": errors})
    else:
        print(written)
    for name, error in errors.items():
        note(f"aatoolkit: {name} failed: {error}")
    note(f"a report of {counted(len(dataset), 'section')} is in {written}")
    return 1 if errors else 0


@app.command(
    epilog=examples(
        "collect acme.example globex.example -o files \\\n      --section urls --section crawl",
        note=CONNECTION,
    ),
)
@argument("hosts", nargs=-1, required=True, metavar="HOST...")
@option(
    "-o",
    "--out",
    type=Output(is_folder=True),
    required=True,
    metavar="DIR",
    help="The folder: DIR/HOST/DAY/SECTION/TABLE.parquet, the day in UTC.",
)
@option("--force", is_flag=True, help="Read and write anew what is there from today.")
@options.sections
@options.workers
@options.filters
@options.connection
@options.as_json
def collect(
    hosts: Sequence[str],
    out: Path,
    force: bool,
    sections: Sequence[str],
    workers: int,
    as_json: bool,
    **given: Any,
) -> int:
    """Write every table of hosts as Parquet, day by day."""
    from aatoolkit.cli.dated import write_dated

    scope = options.scope_of(given)
    with options.client_of(given, workers=workers) as client:
        return write_dated(
            client, hosts, sections or None, scope, folder=out, force=force, as_json=as_json
        )


@app.command(
    epilog=examples("explain mine cited_urls --column citation_count"),
)
@argument("store", type=options.PATH, metavar="STORE")
@argument("table")
@option("--column", required=True, metavar="NAME", help="The column of the number.")
@option(
    "--where",
    multiple=True,
    metavar="NAME=VALUE",
    help="What identifies the row, such as engine=chatgpt; may be repeated.",
)
@option(
    "--row",
    type=options.Number(0),
    help="The row by its number, from 0; by default the first without a value.",
)
@option("--host", help="The project, where there are several.")
@option(
    "--scope",
    metavar="QUERY",
    help="The filters, where there are several, such as 'days=30&engine=claude'.",
)
@option("-o", "--out", type=Output(".html", ".htm"), help="Write a page of HTML with folds.")
@options.as_json
def explain(
    store: Path,
    table: str,
    column: str,
    where: Sequence[str],
    row: int | None,
    host: str | None,
    scope: str | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Explain a number down to the bytes of its response.

    STORE is a study, packed or not, a publication that ships its responses, or an archive; TABLE a
    table of it, such as overview.overview_kpis. Exits with 1 if the trail ends early.
    """
    from aatoolkit.scope import Scope

    problem = ""
    try:
        explanation = _opened(store).explain(
            table,
            _where(where) if where else row,
            column,
            host=host,
            scope=None if scope is None else Scope.from_query(scope),
        )
    except ItemNotFound as error:
        problem = str(error)
    if problem:
        raise ArgumentError(problem, argument="where")
    if out is not None:
        from aatoolkit._util.files import write_whole

        write_whole(out, _page(explanation).encode())
        output.print_files([out], as_json)
    elif as_json:
        print_json(explanation.to_dict())
    else:
        print(explanation)
    for reason in explanation.ends:
        note(f"the trail ends early: {reason}")
    return 0 if explanation.is_complete else 1


def _where(words: Sequence[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    wrong = ["".join(pair) for pair in pairs if not (pair[0] and pair[1])]
    if wrong:
        raise ArgumentError(f"{wrong[0]!r} is not NAME=VALUE", argument="where")
    return {name: value for name, _, value in pairs}


def _opened(path: Path) -> Any:
    """The study, packed study, publication or archive at a path."""
    from aatoolkit.study import Study
    from aatoolkit.study.files import PACKED

    if (path / PACKED).is_file():
        return Study(path / PACKED)
    if (path / "answers" / "_delta_log").is_dir():
        from aatoolkit.archive import Archive

        return Archive(path)
    return Study(path)


def _page(explanation: Explanation) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>How a number is known</title>'
        "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;"
        "max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}"
        "summary{cursor:pointer;font-weight:600}ul{padding-left:1.2rem}</style></head>"
        f"<body><h1>How a number is known</h1>{explanation._repr_html_()}</body></html>\n"
    )


@app.command(epilog=examples("cache", "cache --clear --host acme.example"))
@option("--clear", is_flag=True, help="Delete the responses.")
@option("--host", help="With --clear: those of this host only.")
@option("--folder", type=options.PATH, metavar="DIR", help="The folder (default: the user's).")
@options.as_json
def cache(clear: bool, host: str | None, folder: Path | None, as_json: bool) -> int:
    """List the cached responses by host, or delete them."""
    from aatoolkit._util.hosts import canonical_host
    from aatoolkit.http import cache_info, clear_cache

    if host is not None and not clear:
        raise ArgumentError("--host goes with --clear", argument="host")
    removed = None
    if clear:
        removed = clear_cache(folder, None if host is None else canonical_host(host))
    info = cache_info(folder)
    if removed is not None:
        if as_json:
            print_json({"removed": removed, "answers": info.answers, "bytes": info.bytes})
        else:
            note(
                f"{counted(removed, 'response')} removed; {info.answers} left, "
                f"{info.bytes:,} bytes in {info.folder}"
            )
        return 0
    if as_json:
        print_json({**vars(info), "hosts": [vars(entry) for entry in info.hosts]})
        return 0
    heads = ("origin", "host", "answers", "bytes", "oldest", "newest")
    grid(heads, ([getattr(entry, name) for name in heads] for entry in info.hosts))
    note(f"{counted(info.answers, 'response')}, {info.bytes:,} bytes in {info.folder}")
    return 0


@app.command(epilog=examples("doctor", "doctor acme.example", note=CONNECTION))
@argument("host", required=False)
@options.service
@options.as_json
def doctor(host: str | None, base_url: str | None, as_json: bool, **given: Any) -> int:
    """Check what is installed, configured and reachable."""
    from aatoolkit.cli.doctor import examine

    token = options.read_token(given.pop("token_file"))
    findings = examine(base_url, token, host, **options.limits_of(given))
    if as_json:
        print_json([vars(finding) for finding in findings])
    else:
        marks = {True: "ok", False: "PROBLEM", None: "-"}
        grid(("what", "", "finding"), ((f.what, marks[f.good], f.finding) for f in findings))
    return 0 if all(finding.good is not False for finding in findings) else 1
