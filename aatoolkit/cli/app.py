"""The commands, and those of them that read a service."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

import click

from aatoolkit import __version__
from aatoolkit._util.defaults import DEMO_HOST
from aatoolkit._util.text import counted, visible
from aatoolkit.cli import options, output
from aatoolkit.cli.options import (
    CONNECTION,
    CSV,
    FILTER_OPTIONS,
    JSON,
    ONLY,
    PAGE,
    SERVICE,
    SYNTHETIC,
    TOKEN_NOTE,
    WORKERS_OPTION,
    Given,
    Output,
    command,
    option,
    project_of,
    scope_of,
)
from aatoolkit.cli.output import grid, note, print_json
from aatoolkit.cli.stores import add_explain, archive, study
from aatoolkit.errors import ArgumentError, ScopeError, unknown
from aatoolkit.scope import Scope

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.scope import ScopeOptions
    from aatoolkit.service import Accounts

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

app = click.Group(
    "aatoolkit",
    help="How AI assistants mention, rank and cite a brand: the Agent Analytics API.",
    epilog=_END,
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(__version__, prog_name="aatoolkit", message="%(prog)s %(version)s")(app)
profile = click.Group(
    "profile",
    help="Draft and check what is known of a service.\n\nA profile is a Python file, and is "
    "executed when it is read: use only those that you trust.",
)
for group in (study, archive, profile):
    app.add_command(group)
add_explain(app)


@command(
    app,
    "demo",
    option(
        "-o --out DIR",
        "The folder for the Parquet files.",
        Output(is_folder=True),
        "aatoolkit-demo",
    ),
    option("--host HOST", "The synthetic project to read.", default=DEMO_HOST),
    *SYNTHETIC,
    *FILTER_OPTIONS,
    JSON,
    examples=["demo --days 7 -o demo-7"],
)
def demo(given: Given) -> int:
    """Read everything from an embedded service on synthetic data."""
    from aatoolkit.client.connect import demo as demo_project

    scope, data = scope_of(given), {name: vars(given)[name] for name in ("seed", "answers", "icc")}
    note("starting the embedded service on synthetic data")
    with demo_project(given.host, **data) as project:
        note(f"serving at {project.client.base_url}, for as long as this command runs")
        choices = project.scope_options()
        note(repr(scope._check(choices) and choices))
        return _write_all(project.read_all(None, scope), given.out, given.json)


def _write_all(dataset: Dataset, folder: Path, as_json: bool) -> int:
    """Write each table as one Parquet file and print a summary; 1 if a section failed."""
    written: list[Path] = []
    for section, tables in dataset.items():
        (folder / section).mkdir(parents=True, exist_ok=True)
        for name, frame in tables.items():
            written.append(frame.aa.to_parquet(folder / section / f"{name}.parquet"))
    summary, errors = dataset.summary, _errors(dataset)
    if as_json:
        facts = {"folder": str(folder), "tables": output.records(summary)}
        print_json({**facts, "files": [str(path) for path in written], "errors": errors})
    else:
        output.print_frame(summary, as_json)
    note(f"{counted(len(written), 'Parquet file')}, one a table: {folder}")
    return 1 if errors else 0


def _errors(dataset: Dataset, of: str = "") -> dict[str, str]:
    """The sections that failed, each of which is noted."""
    errors = {name: str(error) for name, error in dataset.errors.items()}
    for name, error in errors.items():
        note(f"aatoolkit: {of}{name} failed: {error}")
    return errors


@command(
    app,
    "read HOST [SECTION]",
    option("--table NAME", "One table of it (default: the main table)."),
    CSV,
    option(
        "-o --out FILE",
        "Write a file in the format of its suffix: .parquet or .feather (with metadata), .xlsx, "
        ".csv, .json or .ndjson (a row a line); - is standard output.",
        Output(*output.SUFFIXES),
    ),
    option("--refresh", "Let the service refresh, and use no cached response."),
    *FILTER_OPTIONS,
    *CONNECTION,
    JSON,
    examples=[
        "read acme.example",
        "read acme.example domains",
        "read acme.example domains --engine chatgpt --csv",
        "read acme.example urls -o urls.xlsx",
        "read acme.example chats --table chat_mentions",
    ],
    note=TOKEN_NOTE,
    text="Print one table of a section, or write it to a file.\n\nWithout a SECTION it prints what "
    f"the filters may be. The sections are {', '.join(options.SECTIONS)}.",
)
def read(given: Given) -> int:
    out = given.out
    form = output.table_format(out, as_json=given.json, as_csv=given.csv)
    scope = scope_of(given)
    with project_of(given) as project:
        if given.section is None:
            _print_options(project.scope_options(refresh=given.refresh), given.json)
            return 0
        tables = project.read(given.section, scope, refresh=given.refresh)
    name = given.table or next(iter(tables))
    if name not in tables:
        raise ScopeError(unknown(f"table of {tables.section}", name, tables), parameter="table")
    frame = tables[name]
    if form == "grid":
        grid(frame.columns, frame.itertuples(index=False))
    else:
        output.write_table(frame, name, form, out)
    if out is not None and str(out) != "-":
        note(f"{counted(len(frame), 'row')} of {name}: {out}")
    note(f"{name}: {counted(tables.rows[name], 'row')}, {visible(tables._words[name])}")
    return 0


def _print_options(choices: ScopeOptions, as_json: bool) -> None:
    """Print the values of the filters."""
    frames = {
        name: getattr(choices, name) for name in ("engines", "topics", "categories", "brands")
    }
    lists: dict[str, list[Any]] = {"own_terms": [*choices.own_terms], "days": [*choices.days]}
    if as_json:
        tables = {name: output.records(frame) for name, frame in frames.items()}
        print_json({"host": choices.host, **tables, "untagged": choices.untagged, **lists})
        return
    for name, frame in frames.items():
        print(f"{name}:")
        grid(frame.columns, frame.itertuples(index=False))
        print()
    for name, count in choices.untagged.items():
        print(f"prompts without a {name}: {'unknown' if count is None else count}")
    for name, values in lists.items():
        print(f"{name}: {', '.join(visible(str(value)) for value in values)}")


@command(
    app,
    "report HOST",
    PAGE,
    ONLY,
    *FILTER_OPTIONS,
    *CONNECTION,
    JSON,
    examples=["report acme.example -o acme.html --section urls"],
    note=TOKEN_NOTE,
)
def report(given: Given) -> int:
    """Write one page of HTML with pictures and tables."""
    scope = scope_of(given)
    with project_of(given) as project:
        dataset = project.read_all(given.section or None, scope)
    written, errors = dataset.report(given.out), _errors(dataset)
    if given.json:
        print_json({"file": str(written), "sections": [*dataset], "errors": errors})
    else:
        print(written)
    note(f"a report of {counted(len(dataset), 'section')} is in {written}")
    return 1 if errors else 0


@command(
    app,
    "collect HOST...",
    option(
        "-o --out DIR",
        "The folder: DIR/HOST/DAY/SECTION/TABLE.parquet, DAY in UTC, with the filters.",
        Output(is_folder=True),
        required=True,
    ),
    option("--force", "Read and write anew what is there from today."),
    ONLY,
    WORKERS_OPTION,
    *FILTER_OPTIONS,
    *CONNECTION,
    JSON,
    examples=[
        "collect acme.example globex.example -o files \\\n      --section urls --section crawl"
    ],
    note=TOKEN_NOTE,
)
def collect(given: Given) -> int:
    """Write every table of hosts as Parquet, day by day."""
    from aatoolkit._util.files import writing_folder
    from aatoolkit.client.reading import known_sections
    from aatoolkit.frame.parquet import write_section

    rows: list[dict[str, Any]] = []
    scope = scope_of(given)
    day = f"{datetime.now(UTC):%Y-%m-%d}{(scope != Scope() and ' ' + scope._to_query()) or ''}"
    with options.client_of(given) as client:
        names = known_sections(given.section or None, client.profile)
        for host in dict.fromkeys(client.project(host).host for host in given.host):
            folder = given.out / host / day
            lacking = [name for name in names if given.force or not (folder / name).is_dir()]
            written, errors = 0, {}
            for _, _, dataset in client._datasets(host, lacking, scope) if lacking else ():
                for tables in dataset.values():
                    folder.mkdir(parents=True, exist_ok=True)
                    path = folder / tables.section
                    with writing_folder(path, overwrite=given.force) as temporary:
                        written += len([*write_section(tables, temporary)])
                errors = _errors(dataset, f"{host} ")
            kept = len(names) - len(lacking)
            rows.append(
                {"host": host, "folder": str(folder), "files": written, "kept": kept}
                | {"errors": errors}
            )
    if given.json:
        print_json({"hosts": rows})
    else:
        heads = ("host", "folder", "files", "kept", "failed")
        grid(heads, ({**row, "errors": len(row["errors"])}.values() for row in rows))
    if kept := sum(row["kept"] for row in rows):
        note(f"{counted(kept, 'section')} of today kept; --force reads and writes anew")
    return int(any(row["errors"] for row in rows))


@command(
    app,
    "cache",
    option("--clear", "Delete the responses."),
    option("--host HOST", "With --clear: those of this host only."),
    option("--folder DIR", "The folder (default: the user's)."),
    JSON,
    examples=["cache", "cache --clear --host acme.example"],
)
def cache(given: Given) -> int:
    """List the cached responses by host, or delete them."""
    from aatoolkit._util.hosts import canonical_host
    from aatoolkit.http import cache_info, clear_cache

    if given.host is not None and not given.clear:
        raise ArgumentError("--host goes with --clear", argument="host")
    host = None if given.host is None else canonical_host(given.host)
    removed = clear_cache(given.folder, host) if given.clear else 0
    info = cache_info(given.folder)
    if given.json:
        hosts = [vars(entry) for entry in info.hosts]
        print_json({**vars(info), "hosts": hosts, "removed": removed})
    elif not given.clear:
        heads = ("origin", "host", "responses", "bytes", "oldest", "newest")
        grid(heads, ([getattr(entry, name) for name in heads] for entry in info.hosts))
    gone = f"{counted(removed, 'response')} removed; " if given.clear else ""
    note(f"{gone}{counted(info.responses, 'response')}, {info.bytes:,} bytes in {info.folder}")
    return 0


@command(
    app,
    "doctor [HOST]",
    *SERVICE,
    JSON,
    examples=["doctor", "doctor acme.example"],
    note=TOKEN_NOTE,
)
def doctor(given: Given) -> int:
    """Check what is installed, configured and reachable."""
    from aatoolkit.cli.doctor import examine

    token = options.read_token(given.token_file)
    findings = [*examine(given.base_url, token, given.host, **options.limits_of(given))]
    if given.json:
        print_json([dict(zip(("what", "good", "finding"), row, strict=True)) for row in findings])
    else:
        marks = {True: "ok", False: "PROBLEM", None: "-"}
        grid(("what", "", "finding"), ((what, marks[good], text) for what, good, text in findings))
    return int(any(good is False for _, good, _ in findings))


# -- profiles ----------------------------------------------------------------------------------


@command(
    profile,
    "draft HOST",
    option("-o --out FILE", "The Python file to write.", Output(), required=True),
    option("--requests N", "At most so many.", click.IntRange(1), 60),
    option("--seconds N", "No longer than this.", click.FloatRange(1), 120),
    option("--beside HOST ...", "Another project, to see what differs there; may be repeated."),
    option("--confirm", "Ask where availability is stated, and go on from --out."),
    option("--own-names", "Keep the service's names where there are others."),
    *SERVICE,
    *options.CACHE,
    JSON,
    examples=["profile draft acme.example -o service.py"],
    note=TOKEN_NOTE,
)
def draft(given: Given) -> int:
    """Find out what a service's responses mean, and write a profile.

    Exits with 1 if a section could not be read.
    """
    from aatoolkit.profile import draft as draft_profile

    how = {"requests": given.requests, "seconds": given.seconds, "hosts": given.beside}
    with project_of(given) as project:
        drafted = draft_profile(project, standard_names=not given.own_names, **how)
        if given.confirm:
            drafted.resume(given.out)
        path = drafted.save(given.out)
        if given.confirm:
            drafted.confirm().ask(keep=lambda: drafted.save(given.out))
    if given.json:
        counts = {name: section.counts() for name, section in drafted.items()}
        errors = {name: str(error) for name, error in drafted.errors.items()}
        facts = {"file": str(path), "requests": len(drafted.requests)}
        print_json({**facts, "sections": counts, "errors": errors})
    else:
        text = repr(drafted).replace("<", "", 1).replace(">", "", 1)
        print("\n".join(map(visible, text.splitlines())))
    note(f"the profile is in {path}; review it, and read with --profile {path}")
    return 1 if drafted.errors or drafted.stopped else 0


@command(
    profile,
    "check HOST",
    *CONNECTION,
    JSON,
    examples=["profile check acme.example \\\n      --profile service.py"],
    note=TOKEN_NOTE,
)
def check(given: Given) -> int:
    """List where a service's responses differ from its profile; exits with 1 if they do."""
    from aatoolkit.profile import check as compare

    if given.profile is None:
        raise ArgumentError("name a profile with --profile FILE", argument="profile")
    with project_of(given) as project:
        changes = compare(project.client.profile, project)
    if given.json:
        output.print_frame(changes, given.json)
    else:
        for row in changes.itertuples(index=False):
            print(visible(f"{row.section}: {row.change} {row.path} ({row.count})"))
    note(counted(len(changes), "change") if len(changes) else "nothing changed")
    return 1 if len(changes) else 0


@command(
    profile,
    "types FILE",
    option("-o --out FILE", "The Python file to write.", Output()),
    examples=["profile types service.py -o types.py"],
)
def types(given: Given) -> int:
    """Write the tables and columns of a profile as a typed module for editors."""
    from aatoolkit._util.files import write_whole
    from aatoolkit.sections import Profile, typed_module

    text = typed_module(Profile.load(given.file)).encode()
    if given.out is None:
        output.write_data(text)
    else:
        write_whole(given.out, text)
        note(f"the types are in {given.out}; use them as {given.out.stem}.typed(project)")
    return 0


# -- the reference service ---------------------------------------------------------------------


@command(
    app,
    "serve [DIR]",
    option("--synth", "Write a synthetic store into DIR first."),
    *SYNTHETIC,
    option("--describe", "Print the tables that a store may hold, and exit."),
    option("--address IP", "The address to listen on.", default="127.0.0.1"),
    option("--port N", "0 takes a free one.", click.IntRange(0, 65_535), 8765),
    option("--accounts FILE", "JSON: the SHA-256 of each token, and the hosts that it may see."),
    option(
        "--token-file FILE",
        "One token that may see every host (default: AATOOLKIT_TOKEN, else a new one, which is "
        "printed).",
    ),
    examples=["serve store --synth --answers 2000 --port 0"],
)
def serve(given: Given) -> int:
    """Serve a store of observations until Ctrl-C."""
    from aatoolkit import service

    if given.describe:
        output.write_data(f"{service.describe_store()}\n".encode())
        return 0
    if given.dir is None:
        raise ArgumentError("say which store to serve: aatoolkit serve DIR", argument="store")
    try:
        if given.synth:
            data = {name: vars(given)[name] for name in ("seed", "answers", "icc")}
            service.write_synthetic_store(given.dir, **data)
        allowed, whom = _accounts(given)
        opened = service.Store.open(given.dir)
    except (service.StoreError, ValueError) as error:
        raise ArgumentError(str(error), argument="store") from None
    serving = f"serving {', '.join(opened.hosts)} at {{}} for {whom}; Ctrl-C stops it"
    try:
        service.run_server(
            service.Service(opened, allowed),
            given.address,
            given.port,
            on_ready=lambda base_url: note(serving.format(base_url)),
        )
    except OSError as error:
        raise ArgumentError(
            f"nothing can be served at {given.address}, port {given.port}: {error.strerror}; "
            "choose others with --address and --port",
            argument="port",
        ) from None
    return 0


def _accounts(given: Given) -> tuple[Accounts, str]:
    """Who may see what, and who that is; an error does not repeat a name that may be a token."""
    from aatoolkit.service import Accounts

    if given.accounts is not None:
        try:
            return Accounts.load(given.accounts), "the accounts of that file"
        except OSError:
            raise ArgumentError(
                "the file that --accounts names cannot be read; check its path and permissions",
                argument="accounts",
            ) from None
    if token := options.read_token(given.token_file):
        return Accounts.single(token), "the token in that file"
    if token := os.environ.get("AATOOLKIT_TOKEN", "").strip():
        return Accounts.single(token), "the token in AATOOLKIT_TOKEN"
    token = token_urlsafe(24)
    return Accounts.single(token), f"the new token {token}"
