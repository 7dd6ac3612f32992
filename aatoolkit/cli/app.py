"""The commands of ``aatoolkit``.

Each command imports its modules when it runs, so ``--help`` does not wait for pandas.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import aatoolkit as aa
from aatoolkit._util.defaults import DEMO_HOST, EXTRAS, MAX_DRAFT_REQUESTS, RETENTION_HOURS
from aatoolkit._util.files import write_bytes
from aatoolkit._util.text import counted, visible
from aatoolkit.cli.shell import (
    CONNECTION_OPTIONS,
    CSV_OPTION,
    FILTER_OPTIONS,
    JSON_OPTION,
    PROFILE_OPTION,
    READING_OPTIONS,
    SECTIONS,
    SECTIONS_OPTION,
    SERVICE_OPTIONS,
    SYNTHETIC_OPTIONS,
    TABLE_SUFFIXES,
    WORKERS_OPTION,
    Args,
    OutputPath,
    choose_format,
    choose_sections,
    command,
    format_grid,
    make_client,
    make_option,
    make_project,
    make_scope,
    pick_options,
    print_note,
    print_output,
    read_token,
    show_frame,
    to_json_rows,
    write_data,
    write_table,
)
from aatoolkit.errors import (
    AAToolkitError,
    ArgumentError,
    NotWritten,
    StudyError,
)
from aatoolkit.scope import FILTERS, Scope

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.scope import ScopeOptions
    from aatoolkit.service import Accounts
_EPILOG = """\
aatoolkit COMMAND --help says more of each, with examples.

Data goes to standard output, notes and progress to standard error; progress only to a terminal.

\b
Exit codes:
  0    done
  1    something failed: the service, the network or a file
  2    the command was not understood, or a value is wrong:
       a name or host, or a study or archive that is not there
  130  interrupted by Ctrl-C

\b
Completion, in the file that your shell starts with:
  bash  eval "$(_AATOOLKIT_COMPLETE=bash_source aatoolkit)"
  zsh   eval "$(_AATOOLKIT_COMPLETE=zsh_source aatoolkit)"
  fish  _AATOOLKIT_COMPLETE=fish_source aatoolkit | source"""

profile_commands = click.Group(
    "profile",
    help="Draft and check the profile of a service.\n\nA profile is a Python file, and is "
    "executed when it is read: use only those that you trust.",
)
study_commands = click.Group("study", help="Record, check, compare and publish studies.")
archive_commands = click.Group(
    "archive", help="Keep every response of many hosts over time, and read them."
)
app = click.Group(
    "aatoolkit",
    commands=[study_commands, archive_commands, profile_commands],
    help="How AI assistants mention, rank and cite a brand: the Agent Analytics API.",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(aa.__version__, prog_name="aatoolkit", message="%(prog)s %(version)s")(app)


@command(
    app,
    "demo",
    make_option(
        "-o --out DIR",
        "The folder for the Parquet files.",
        OutputPath(is_folder=True),
        "aatoolkit-demo",
    ),
    make_option("--host HOST", "The synthetic project to read.", default=DEMO_HOST),
    *SYNTHETIC_OPTIONS,
    *FILTER_OPTIONS,
    JSON_OPTION,
)
def demo(args: Args) -> int:
    """Read all sections from an embedded service with synthetic data, and write them as Parquet."""
    scope = make_scope(args)
    print_note("starting the embedded service on synthetic data")
    with aa.demo(args.host, **pick_options(args, "seed", "answers", "icc")) as project:
        print_note(f"serving at {project.client.base_url}, for as long as this command runs")
        options = project.scope_options()
        print_note(repr(scope._check(options) and options))
        dataset = project.read_all(None, scope)
    dataset.to_parquet(args.out)
    error_by_section = _print_errors(dataset)
    show_frame(args, dataset.summary)
    table_count = counted(sum(map(len, dataset.values())), "table")
    print_note(f"{table_count}, as Parquet files that aa.read_dataset reads: {args.out}")
    return 1 if error_by_section else 0


def _print_errors(dataset: Dataset, prefix: str = "") -> dict[str, str]:
    """Print the errors of sections that could not be read; return a dict from section to text.

    ``prefix`` precedes the name of the section in the printed lines.
    """
    error_text_by_section = {
        section_name: str(error) for section_name, error in dataset.errors.items()
    }
    for section_name, error in error_text_by_section.items():
        print_note(f"aatoolkit: {prefix}{section_name} failed: {error}")
    return error_text_by_section


@command(
    app,
    "read HOST [SECTION]",
    make_option("--table NAME", "One table of it (default: the main table)."),
    CSV_OPTION,
    make_option(
        "-o --out FILE",
        f"Write a file in the format of its suffix: {', '.join(TABLE_SUFFIXES)} (.parquet with "
        "metadata; .ndjson has a row per line); - is standard output.",
        OutputPath(*TABLE_SUFFIXES),
    ),
    make_option(
        "--require COLUMN ...",
        "Write nothing, and exit with 1, if nothing of this column was measured; may be repeated.",
    ),
    make_option("--refresh", "Let the service refresh, and use no cached response."),
    *READING_OPTIONS,
    help_text="Print one table of a section, or write it to a file.\n\nWithout a SECTION it prints "
    f"what the filters may be. The sections are {', '.join(SECTIONS)}.",
)
def read(args: Args) -> int:
    format_name = choose_format(args, args.out)
    scope = make_scope(args)
    with make_project(args) as project:
        if args.section is None:
            if args.csv or args.table or args.out or args.require:
                raise ArgumentError(
                    "--csv, --table, --out and --require are of a SECTION; name it too"
                )
            scope_options = project.scope_options(refresh=args.refresh)
            json_output = None
            if args.json:
                json_output = {
                    "host": scope_options.host,
                    **{
                        table_name: to_json_rows(getattr(scope_options, table_name))
                        for table_name in FILTERS.values()
                    },
                    "untagged": scope_options.untagged,
                    "own_terms": [*scope_options.own_terms],
                    "days": [*scope_options.days],
                }
            print_output(args, json_output, _iter_option_lines(scope_options))
            return 0
        tables = project.read(args.section, scope, refresh=args.refresh)
    table_name = args.table or next(iter(tables))
    frame = tables[table_name].aa.require(args.require)
    if format_name == "grid":
        show_frame(args, frame)
    else:
        write_table(frame, table_name, format_name, args.out)
    if args.out is not None:
        print_note(f"{counted(len(frame), 'row')} of {table_name}: {args.out}")
    print_note(
        f"{table_name}: {counted(tables.rows[table_name], 'row')}, "
        f"{visible(tables._availability_texts[table_name])}"
    )
    return 0


def _iter_option_lines(scope_options: ScopeOptions) -> Iterator[str]:
    """Yield the lines that ``aatoolkit read HOST`` prints: the values that each filter may have."""
    for plural_name in FILTERS.values():
        frame = getattr(scope_options, plural_name)
        yield from (f"{plural_name}:", *format_grid(frame.columns, frame.to_numpy(object)), "")
    for filter_name, untagged_count in scope_options.untagged.items():
        count_text = "unknown" if untagged_count is None else untagged_count
        yield f"prompts without a {filter_name}: {count_text}"
    yield f"own_terms: {', '.join(map(visible, scope_options.own_terms))}"
    yield f"days: {', '.join(map(str, scope_options.days))}"


@command(
    app,
    "report HOST",
    make_option(
        "-o --out FILE", "The HTML file to write.", OutputPath(".html", ".htm"), required=True
    ),
    make_option(
        "--title TEXT", "The title of the page (default: the host), which still names the host."
    ),
    make_option("--alias NAME", "A name to show instead of the host."),
    SECTIONS_OPTION,
    *READING_OPTIONS,
)
def report(args: Args) -> int:
    """Write a report on a host: one HTML page with pictures and tables."""
    scope = make_scope(args)
    with make_client(args).project(args.host, alias=args.alias) as project:
        dataset = project.read_all(choose_sections(args, project.client), scope)
    report_path = str(dataset.report(args.out, title=args.title))
    error_text_by_section = _print_errors(dataset)
    print_output(
        args,
        {"file": report_path, "sections": [*dataset], "errors": error_text_by_section},
        [report_path],
    )
    print_note(f"a report of {counted(len(dataset), 'section')} is in {report_path}")
    return 1 if error_text_by_section else 0


@command(
    app,
    "collect HOST...",
    make_option(
        "-o --out DIR",
        "The folder: DIR/HOST/DAY/SECTION/TABLE.parquet, DAY in UTC, with the filters.",
        OutputPath(is_folder=True),
        required=True,
    ),
    make_option("--force", "Read and write anew what is there from today."),
    SECTIONS_OPTION,
    WORKERS_OPTION,
    *READING_OPTIONS,
)
def collect(args: Args) -> int:
    """Write all tables of hosts as Parquet files, into one folder per host and day."""
    from aatoolkit._util.files import write_folder_atomically
    from aatoolkit.frame.parquet import write_section

    host_rows: list[dict[str, Any]] = []
    scope = make_scope(args)
    folder_name = (
        f"{datetime.now(UTC):%Y-%m-%d}{(scope != Scope() and ' ' + scope._to_query()) or ''}"
    )
    with make_client(args) as client:
        sections = choose_sections(args, client)
        for host in dict.fromkeys(client.project(host).host for host in args.host):
            host_folder = args.out / host / folder_name
            sections_to_read = [
                section_name
                for section_name in sections
                if args.force or not (host_folder / section_name).is_dir()
            ]
            table_count = 0
            error_text_by_section = {}
            for _, _, dataset in client._read_each_host(host, sections_to_read, scope):
                for tables in dataset.values():
                    host_folder.mkdir(parents=True, exist_ok=True)
                    section_folder = host_folder / tables.section
                    with write_folder_atomically(
                        section_folder, overwrite=args.force
                    ) as temporary_folder:
                        table_count += len([*write_section(tables, temporary_folder)])
                error_text_by_section = _print_errors(dataset, f"{host} ")
            host_rows.append(
                {
                    "host": host,
                    "folder": str(host_folder),
                    "files": table_count,
                    "kept": len(sections) - len(sections_to_read),
                    "errors": error_text_by_section,
                }
            )
    summary_rows = (
        {**host_row, "errors": len(host_row["errors"])}.values() for host_row in host_rows
    )
    print_output(
        args,
        {"hosts": host_rows},
        format_grid(("host", "folder", "files", "kept", "failed"), summary_rows),
    )
    if kept_section_count := sum(host_row["kept"] for host_row in host_rows):
        print_note(
            f"{counted(kept_section_count, 'section')} of today kept; --force reads and writes anew"
        )
    return int(any(host_row["errors"] for host_row in host_rows))


@command(
    app,
    "cache",
    make_option("--clear", "Delete the responses."),
    make_option("--host HOST", "With --clear: those of this host only."),
    make_option("--folder DIR", "The folder (default: the user's)."),
    JSON_OPTION,
)
def cache(args: Args) -> int:
    """List the cached responses by host, or delete them."""
    from aatoolkit._util.hosts import canonical_host
    from aatoolkit.http import cache_info, clear_cache

    if args.host is not None and not args.clear:
        raise ArgumentError("--host goes with --clear")
    selected_host = None if args.host is None else canonical_host(args.host)
    removed_count = clear_cache(args.folder, selected_host) if args.clear else 0
    cache_status = cache_info(args.folder)
    host_rows = [*map(vars, cache_status.hosts)]
    headers = ("origin", "host", "responses", "bytes", "oldest", "newest")
    lines = format_grid(
        headers, ([host_row[header] for header in headers] for host_row in host_rows)
    )
    json_output = {**vars(cache_status), "hosts": host_rows, "removed": removed_count}
    print_output(args, json_output, () if args.clear else lines)
    clear_note = f"{counted(removed_count, 'response')} removed; " if args.clear else ""
    print_note(
        f"{clear_note}{counted(cache_status.responses, 'response')}, {cache_status.bytes:,} bytes "
        f"in {cache_status.folder}"
    )
    return 0


@command(app, "doctor [HOST]", *SERVICE_OPTIONS, JSON_OPTION)
def doctor(args: Args) -> int:
    """Check which packages are installed, the settings, and whether the service can be reached."""
    diagnoses = [*_iter_diagnoses(args)]
    headers = ("what", "good", "finding")
    mark_by_result = {True: "ok", False: "PROBLEM", None: "-"}
    lines = format_grid(
        headers,
        (
            (check_name, mark_by_result[is_good], detail)
            for check_name, is_good, detail in diagnoses
        ),
    )
    print_output(
        args, [dict(zip(headers, diagnosis, strict=True)) for diagnosis in diagnoses], lines
    )
    return int(any(is_good is False for _, is_good, _ in diagnoses))


_CORE_PACKAGES = ("pandas", "pyarrow", "requests", "requests-cache", "ipywidgets", "tqdm")


def _iter_diagnoses(args: Args) -> Iterator[tuple[str, bool | None, str]]:
    """Check the installation, the settings, the cache and the service; yield a tuple per check.

    The tuple has the name of the check, whether the result is good (None if it is neither good nor
    bad), and the result in words.
    """
    from aatoolkit.http import cache_info

    token = read_token(args)
    yield "aatoolkit", True, aa.__version__
    yield "python", True, f"{platform.python_version()} on {platform.system()}"
    for package_name in _CORE_PACKAGES:
        yield package_name, True, _installed_version(package_name)
    for extra_name, package_names in EXTRAS.items():
        if absent_packages := ", ".join(
            package_name for package_name in package_names if not _installed_version(package_name)
        ):
            remedy = f'without {absent_packages}: pip install "aatoolkit[{extra_name}]"'
            yield f"extra {extra_name}", None, remedy
        else:
            versions_text = ", ".join(
                f"{package_name} {_installed_version(package_name)}"
                for package_name in package_names
            )
            yield f"extra {extra_name}", True, versions_text
    try:
        cache_status = cache_info()
        size_text = f"{counted(cache_status.responses, 'response')}, {cache_status.bytes:,} bytes"
        yield "cache", True, f"{size_text} in {cache_status.folder}"
    except AAToolkitError as error:
        yield "cache", False, str(error)
    try:
        client = aa.Client(args.base_url, token, cache=False, **pick_options(args, "deadline"))
    except AAToolkitError as error:
        # Without a service to ask, the demo still works: only a wanted one is a problem.
        yield "service", False if args.base_url or args.host else None, str(error)
        return
    with client:
        yield "service", True, client.base_url
        has_token = client._source.has_token
        yield "token", has_token or None, "found" if has_token else "none found"
        if args.host is None:
            yield "project", None, "name a HOST to connect to it"
            return
        try:
            yield "project", True, repr(client.project(args.host).scope_options())
        except AAToolkitError as error:
            yield "project", False, str(error)


def _installed_version(package: str) -> str:
    """Return the version of an installed package; "" if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


# -- profiles ----------------------------------------------------------------------------------


@command(
    profile_commands,
    "draft HOST",
    make_option("-o --out FILE", "The Python file to write.", OutputPath(), required=True),
    make_option("--requests N", "At most so many.", click.IntRange(1), MAX_DRAFT_REQUESTS),
    make_option("--seconds N", "No longer than this.", click.FloatRange(1), 120),
    make_option(
        "--beside HOST ...", "Another project, to see what differs there; may be repeated."
    ),
    make_option(
        "--confirm",
        "Ask about each place that may state availability, except in sections with rules in --out. "
        "Type WORD=MEANING to correct a meaning, such as waiting=not_run, and then y, n, s or q.",
    ),
    make_option("--section SECTION ...", "This section only; may be repeated (default: all)."),
    make_option("--own-names", "Keep the service's names where there are others."),
    *CONNECTION_OPTIONS,
    JSON_OPTION,
)
def draft(args: Args) -> int:
    """Infer the tables and columns in a service's responses, and write them as a profile.

    Exits with 1 if a section could not be read, or if the time ran out.
    """
    with make_project(args) as project:
        profile_draft = aa.profile.draft(
            project,
            requests=args.requests,
            seconds=args.seconds,
            hosts=args.beside,
            sections=args.section or None,
            standard_names=not args.own_names,
        )
        if args.confirm:
            profile_draft.resume(args.out)
        profile_path = profile_draft.save(args.out)
        if args.confirm:
            profile_draft.confirm().ask(keep=lambda: profile_draft.save(args.out))
    json_output = {
        "file": str(profile_path),
        "requests": len(profile_draft.requests),
        "sections": {
            section_name: section_draft.counts()
            for section_name, section_draft in profile_draft.items()
        },
        "errors": {
            section_name: str(error) for section_name, error in profile_draft.errors.items()
        },
    }
    undrafted_sections = [
        section_name
        for section_name in args.section or SECTIONS
        if section_name not in {*profile_draft, *profile_draft.errors}
    ]
    summary_text = repr(profile_draft).replace("<", "", 1).replace(">", "", 1)
    print_output(args, json_output, map(visible, summary_text.splitlines()))
    if undrafted_sections:
        print_note(f"not drafted: {', '.join(undrafted_sections)}; more --requests may show them")
    print_note(
        f"the profile is in {profile_path}; review it, and read with --profile {profile_path}"
    )
    section_errors = profile_draft.errors.keys() - {"combined"}  # a view, and no section
    return 1 if section_errors or profile_draft.stopped else 0


@command(
    profile_commands,
    "check HOST",
    *CONNECTION_OPTIONS,
    JSON_OPTION,
)
def check(args: Args) -> int:
    """List where a service's responses differ from its profile; exits with 1 if they do."""
    if args.profile is None:
        raise ArgumentError("name a profile with --profile FILE")
    with make_project(args) as project:
        profile_changes = aa.profile.check(project.client.profile, project)
    change_rows = profile_changes.itertuples(index=False)
    lines = (
        visible(f"{change_row.section}: {change_row.change} {change_row.path} ({change_row.count})")
        for change_row in change_rows
    )
    print_output(args, to_json_rows(profile_changes), lines)
    print_note(
        counted(len(profile_changes), "change") if len(profile_changes) else "nothing changed"
    )
    return 1 if len(profile_changes) else 0


@command(
    profile_commands,
    "types [FILE]",
    make_option("-o --out FILE", "The Python file to write.", OutputPath()),
)
def types(args: Args) -> int:
    """Write a Python module with types for the tables and columns of a profile.

    With it, editors complete the names of tables and columns. Without a FILE, these are the tables
    of this package.
    """
    from aatoolkit.sections import Profile, default_profile, typed_module

    profile = default_profile() if args.file is None else Profile.load(args.file)
    module_bytes = typed_module(profile).encode()
    if args.out is None:
        write_data(module_bytes)
    else:
        write_bytes(args.out, module_bytes)
        print_note(f"the types are in {args.out}; use them as {args.out.stem}.typed(project)")
    return 0


# -- the reference service ---------------------------------------------------------------------


@command(
    app,
    "serve [DIR]",
    make_option("--synth", "Write a synthetic store into DIR first."),
    *SYNTHETIC_OPTIONS,
    make_option("--describe", "Print the tables that a store may hold, and exit."),
    make_option("--address IP", "The address to listen on.", default="127.0.0.1"),
    make_option("--port N", "0 takes a free one.", click.IntRange(0, 65_535), 8765),
    make_option(
        "--accounts FILE", "JSON: the SHA-256 of each token, and the hosts that it may see."
    ),
    make_option(
        "--token-file FILE",
        "One token that may see every host (default: AATOOLKIT_TOKEN, else a new one, which is "
        "printed).",
    ),
)
def serve(args: Args) -> int:
    """Serve the API from a folder of observations (Parquet files) until Ctrl-C."""
    from aatoolkit import service

    if args.describe:
        write_data(service.SCHEMA.encode())
        return 0
    if args.dir is None:
        raise ArgumentError("say which store to serve: aatoolkit serve DIR")
    try:
        if args.synth:
            service.write_synthetic_store(args.dir, **pick_options(args, "seed", "answers", "icc"))
        accounts, token_origin = _load_accounts(args)
        store = service.Store.open(args.dir)
    except (service.StoreError, ValueError) as error:
        raise ArgumentError(str(error)) from None
    start_message = f"serving {', '.join(store.hosts)} at {{}} for {token_origin}; Ctrl-C stops it"
    try:
        service.run_server(
            service.Service(store, accounts),
            args.address,
            args.port,
            on_ready=lambda base_url: print_note(start_message.format(base_url)),
        )
    except OSError as error:
        raise ArgumentError(
            f"nothing can be served at {args.address}, port {args.port}: {error.strerror}; "
            "choose others with --address and --port"
        ) from None
    return 0


def _load_accounts(args: Args) -> tuple[Accounts, str]:
    """Return the accounts (tokens) that the service accepts, and says where they are from."""
    import secrets

    from aatoolkit.service import Accounts

    if args.accounts is not None:
        try:
            return Accounts.load(args.accounts), "the accounts of that file"
        except OSError:
            raise ArgumentError(
                "the file that --accounts names cannot be read; check its path and permissions"
            ) from None
    if file_token := read_token(args):
        return Accounts.single(file_token.reveal()), "the token in that file"
    if token := os.environ.get("AATOOLKIT_TOKEN", "").strip():
        return Accounts.single(token), "the token in AATOOLKIT_TOKEN"
    token = secrets.token_urlsafe(24)
    return Accounts.single(token), f"the new token {token}"


_REPLAY_OPTION = make_option("--replay", "Normalise the responses again, and compare the tables.")
_DIR_OPTION = make_option(
    "--dir DIR", "The archive's folder, or s3://BUCKET/FOLDER.", click.STRING, required=True
)


# -- studies -----------------------------------------------------------------------------------


@command(
    study_commands,
    "record HOST DIR",
    make_option("--title TEXT", "What a new study is about, in a line."),
    make_option("--description TEXT", "The same, at length."),
    make_option("--creator NAME ...", "Who makes a new study; may be repeated."),
    SECTIONS_OPTION,
    *READING_OPTIONS,
    DIR=OutputPath(is_folder=True),
)
def record(args: Args) -> int:
    """Record the responses of a host in a study: its sections, and the values of filters.

    Then the study is sealed: checksums of its files are written, so that it can be verified.
    """
    from aatoolkit.study.files import STUDY_FILE

    study_folder = args.dir
    study_fields = {"title": args.title, "description": args.description, "creators": args.creator}
    error_text_by_section = {}
    with make_project(args) as project:
        if not (study_folder / STUDY_FILE).exists():
            study = aa.Study.create(study_folder, **study_fields)
        elif any(study_fields.values()):
            raise ArgumentError(
                f"there is a study in {study_folder}, and --title, --description and --creator are "
                "of a new one; leave them out to go on with it, or name another folder"
            )
        else:
            study = aa.Study.resume(study_folder)
        with study:
            recording_project = study.record(project)
            try:
                recording_project.scope_options()
            except AAToolkitError as error:
                error_text_by_section["scope options"] = str(error)
                print_note(f"aatoolkit: scope options failed: {error}")
            sections = choose_sections(args, project.client)
            dataset = recording_project.read_all(sections, make_scope(args))
            error_text_by_section |= _print_errors(dataset)
    payloads = (tables.payload for tables in dataset.values())
    if cached_count := sum(payload is not None and payload.from_cache for payload in payloads):
        print_note(
            f"{counted(cached_count, 'response')} came from the cache; "
            "--no-cache asks the service anew"
        )
    json_output = _study_as_json(study)
    print_output(args, {"digest": study.digest, **json_output}, _list_records(json_output))
    print_note(f"the study is in {study_folder}; cite it by its digest, {study.digest}")
    return 1 if error_text_by_section else 0


@command(study_commands, "verify STUDY", _REPLAY_OPTION, JSON_OPTION)
def verify_study(args: Args) -> int:
    """List the responses and results in a study, or the changes since it was sealed.

    Exits with 1 if a file of the study was altered, removed or added.
    """
    study = _open_study(args.study)
    verification = study.verify(replay=args.replay)
    json_output: dict[str, Any] = {}
    with suppress(AAToolkitError):  # a damaged list of responses is one of the problems
        json_output = _study_as_json(study)
    problem_rows = [*map(vars, verification.problems)]
    lines = (
        [*_list_records(json_output), str(verification.digest)]
        if verification.ok
        else map(str, verification.problems)
    )
    print_output(
        args,
        {
            "ok": verification.ok,
            "digest": verification.digest,
            "problems": problem_rows,
            **json_output,
        },
        lines,
    )
    if verification.ok:
        print_note(
            f"{counted(verification.files, 'file')}, {counted(verification.records, 'record')}: "
            "all as sealed"
        )
    return 0 if verification.ok else 1


@command(study_commands, "diff STUDY OTHER", JSON_OPTION)
def diff(args: Args) -> int:
    """Show what changed between two studies.

    Exits with 0 if nothing changed, and with 1 if something changed or a study was altered.
    """
    comparison = _open_study(args.study).diff(_open_study(args.other))
    change_rows = json.loads(comparison.changes.to_json(orient="records"))
    lines = () if comparison.is_same else [str(comparison)]
    print_output(args, {"same": comparison.same, "changes": change_rows}, lines)
    if comparison.is_same:
        print_note(_first_line(comparison))
    return 0 if comparison.is_same else 1


@command(
    study_commands,
    "rerun NOTEBOOK STUDY",
    make_option("-o --out FILE", "The notebook with its outputs.", OutputPath()),
    make_option("--timeout SECONDS", "What all cells together may take.", click.FloatRange(1), 600),
    JSON_OPTION,
)
def rerun(args: Args) -> int:
    """Run a notebook again, offline, with the responses in a study.

    Exits with 0 if each sealed result is the same, 1 if one differs, 2 if it cannot be run.
    """
    try:
        rerun_result = _open_study(args.study).rerun(
            args.notebook, out=args.out, timeout=args.timeout
        )
    except (StudyError, NotWritten) as error:
        print_note(f"aatoolkit: {error}")
        return 2
    print_output(args, rerun_result.to_dict(), rerun_result.lines())
    if args.out is not None:
        print_note(f"written: {args.out}")
    return 0 if rerun_result.ok else 1


@command(
    study_commands,
    "publish STUDY OUT",
    make_option(
        "--redact COLUMN ...",
        "Leave out a column, a TABLE.COLUMN, or texts: all columns of words; a warning names the "
        "columns that still hold its values. May be repeated.",
    ),
    make_option("--excel", "Write a workbook too."),
    make_option("--csv", "Write CSV too."),
    make_option("--responses", "Ship the responses too, to explain any number."),
    make_option("--licence SPDX", "Such as CC-BY-4.0."),
    make_option("--overwrite", "Replace an earlier publication in that folder."),
    JSON_OPTION,
    OUT=OutputPath(is_folder=True),
)
def publish(args: Args) -> int:
    """Write the tables of a study to a folder that others can read without this package."""
    study = _open_study(args.study)
    publish_options = pick_options(
        args, "redact", "excel", "csv", "responses", "licence", "overwrite"
    )
    publication = study.publish(args.out, **publish_options)
    written_paths = sorted(
        str(published_path) for published_path in publication.rglob("*") if published_path.is_file()
    )
    print_output(args, written_paths, written_paths)
    print_note(
        f"the publication is in {publication}; it cites the study by its digest, {study.digest}"
    )
    return 0


def _open_study(path: Path) -> aa.Study:
    """Open the study at ``path``, or raise `ArgumentError`."""
    if not path.exists():
        raise ArgumentError(f"there is no study at {path}; check the path")
    return aa.Study(path)


def _list_records(study_json: dict[str, Any]) -> Iterable[str]:
    """Yield the lines of a text table of the responses in a study.

    ``study_json`` is the dict that `_study_as_json` returned.
    """
    record_rows = [
        record_row | {"sha256": record_row["sha256"][:12]} for record_row in study_json["records"]
    ]
    return (
        format_grid(record_rows[0], (record_row.values() for record_row in record_rows))
        if record_rows
        else ()
    )


def _study_as_json(study: aa.Study) -> dict[str, Any]:
    """Return a dict of JSON values on a study: its responses, and the hashes of its results."""
    response_rows = [
        {
            "request": record.name,
            "status": record.status,
            "fetched": f"{record.fetched_at:%Y-%m-%d %H:%M:%SZ}",
            "size": record.size,
            "sha256": record.sha256,
        }
        for record in study.records
    ]
    return {"records": response_rows, "results": study.results.hashes}


# -- archives ----------------------------------------------------------------------------------


@command(
    archive_commands,
    "add [HOST]...",
    _DIR_OPTION,
    make_option("--hosts FILE", "A file, one host a line."),
    make_option("--refresh", "Ask the service also for what has a response of today."),
    WORKERS_OPTION,
    SECTIONS_OPTION,
    *READING_OPTIONS,
)
def add(args: Args) -> int:
    """Fetch today's responses of hosts into an archive; exits with 1 if any request failed."""
    scope = make_scope(args)
    hosts = args.host
    if args.hosts is not None:
        lines = args.hosts.read_text("utf-8", errors="replace").splitlines()
        hosts = [*hosts, *filter(None, (line.partition("#")[0].strip() for line in lines))]
    if not hosts:
        raise ArgumentError("name hosts, or give a file of them with --hosts")
    with make_client(args) as client:
        sections = choose_sections(args, client)
        add_report = aa.Archive(args.dir).add(client, hosts, scope, sections, refresh=args.refresh)
    failure_rows = to_json_rows(add_report.failures.replace("", None))
    report_fields = {
        field_name: getattr(add_report, field_name)
        for field_name in ("run", "responses", "resumed", "skipped")
    }
    print_output(args, {**report_fields, "failures": failure_rows})
    for failure_row in failure_rows:
        request_text = " ".join(
            filter(None, (failure_row["host"], failure_row["section"], failure_row["scope"]))
        )
        print_note(f"aatoolkit: {visible(request_text)} failed: {failure_row['message']}")
    print_note(_first_line(add_report))
    return 0 if add_report else 1


def _open_archive(folder: str, profile: Path | None = None) -> aa.Archive:
    """Open the archive in a local folder, which must exist, or at an address such as s3://…."""
    if "://" not in folder and not Path(folder).is_dir():
        raise ArgumentError(f"there is no archive at {folder}; check the path")
    return aa.Archive(folder, profile=profile)


def _first_line(report: object) -> str:
    """Return the first line of an object's ``repr``, without angle brackets and type name."""
    return repr(report).splitlines()[0].strip("<>").partition(": ")[2]


@command(
    archive_commands,
    "sql [QUERY]",
    _DIR_OPTION,
    CSV_OPTION,
    JSON_OPTION,
)
def sql(args: Args) -> int:
    """Run one SELECT over the tables of an archive; without a QUERY, list the tables."""
    format_name = choose_format(args)
    archive = _open_archive(args.dir)
    frame = archive.tables if args.query is None else archive._sql_frame(args.query)
    if format_name == "csv":
        write_table(frame, "query", format_name, None)
    else:
        show_frame(args, frame)
    if args.query is None:
        print_note(repr(archive).strip("<>"))
    return 0


@command(
    archive_commands,
    "verify",
    _DIR_OPTION,
    _REPLAY_OPTION,
    PROFILE_OPTION,
    JSON_OPTION,
)
def verify_archive(args: Args) -> int:
    """Check the files, responses and tables of an archive; exits with 1 if anything is wrong."""
    archive = _open_archive(args.dir, args.profile)
    verification = archive.verify(replay=args.replay)
    problem_rows = [
        {"table": table_name, "problem": problem} for table_name, problem in verification.problems
    ]
    lines = (visible(f"{table_name}: {problem}") for table_name, problem in verification.problems)
    print_output(
        args,
        {"ok": verification.ok, "responses": verification.responses, "problems": problem_rows},
        lines,
    )
    print_note(_first_line(verification))
    return 0 if verification else 1


@command(
    archive_commands,
    "tidy",
    _DIR_OPTION,
    make_option(
        "--keep-hours N",
        "How long replaced files are kept for readers.",
        click.FloatRange(0),
        RETENTION_HOURS,
    ),
    make_option("--forget HOST ...", "Remove it; may be repeated."),
    make_option("--before DAY", "Remove what was fetched before this day."),
    JSON_OPTION,
)
def tidy(args: Args) -> int:
    """Join the small files of an archive; on request, remove hosts or old responses.

    Exits with 1 if another process was using a part of the archive.
    """
    archive = _open_archive(args.dir)
    if args.forget or args.before:
        tidy_report = archive.forget([*args.forget] or None, before=args.before)
    else:
        tidy_report = archive.compact(keep_hours=args.keep_hours)
    json_output = {
        "files": tidy_report.files,
        "bytes": tidy_report.bytes,
        "rows_removed": tidy_report.rows,
        "hosts": tidy_report.hosts,
        "busy": tidy_report.busy,
    }
    print_output(args, json_output, [_first_line(tidy_report)])
    return 1 if tidy_report.busy else 0


# -- explanations ------------------------------------------------------------------------------


@command(
    app,
    "explain STORE TABLE",
    make_option("--column NAME", "The column of the number.", required=True),
    make_option(
        "--where NAME=VALUE ...",
        "What identifies the row, such as engine=chatgpt; may be repeated.",
    ),
    make_option(
        "--row N",
        "The row by its number, from 0; by default the first without a value.",
        click.IntRange(0),
    ),
    make_option("--host HOST", "The project, where there are several."),
    make_option(
        "--scope QUERY", "The filters, where there are several, such as 'days=30&engine=claude'."
    ),
    make_option("-o --out FILE", "Write a page of HTML with folds.", OutputPath(".html", ".htm")),
    JSON_OPTION,
)
def explain(args: Args) -> int:
    """Explain how a number was computed, from the bytes of its response on.

    STORE is a study (a folder or a packed file), a publication that has its responses, or an
    archive. TABLE is one of its tables, such as overview.overview_kpis. Exits with 1 if the number
    cannot be traced to the bytes of a response.
    """
    from aatoolkit.study.files import PACKED_STUDY_FILE

    value_by_column = {}
    for condition_text in args.where:
        column, equals_sign, value_by_column[column] = condition_text.partition("=")
        if not (column and equals_sign):
            raise ArgumentError(f"{condition_text!r} is not NAME=VALUE")
    row_selector = value_by_column or args.row
    scope = None if args.scope is None else Scope._from_query(args.scope)
    store_path = args.store
    packed_study_path = args.store / PACKED_STUDY_FILE
    is_archive = (store_path / "responses" / "_delta_log").is_dir()
    store = (
        aa.Archive(store_path)
        if is_archive
        else _open_study(packed_study_path if packed_study_path.is_file() else store_path)
    )
    explanation = store.explain(args.table, row_selector, args.column, host=args.host, scope=scope)
    if args.out is not None:
        write_bytes(args.out, _EXPLANATION_PAGE_TEMPLATE.format(explanation._repr_html_()).encode())
        print_note(f"written: {args.out}")
    else:
        print_output(args, explanation.to_dict(), [str(explanation)])
    for end_reason in explanation.ends:
        print_note(f"the trail ends early: {end_reason}")
    return 0 if explanation.is_complete else 1


_EXPLANATION_PAGE_TEMPLATE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>How a number is known</title>
<style>:root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;
margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}}summary{{cursor:pointer;font-weight:600}}
ul{{padding-left:1.2rem}}</style></head>
<body><h1>How a number is known</h1>{}</body></html>
"""
