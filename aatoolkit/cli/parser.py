"""The commands of the command line and their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from aatoolkit import __version__
from aatoolkit._util.defaults import DAYS, DEADLINE, DEMO_HOST, FILTERS
from aatoolkit.cli.archive_parser import add_archive
from aatoolkit.cli.arguments import Moment, Number, Parser, max_nodes, output, workers
from aatoolkit.cli.examples import examples_text
from aatoolkit.cli.explain import add_explain
from aatoolkit.cli.study_parser import add_study

Command = Callable[[argparse.Namespace], int]

SECTIONS = sorted(
    module.name
    for module in iter_modules([str(Path(__file__).parents[1] / "sections" / "declared")])
    if module.name != "scope_options" and not module.name.startswith("_")
)
"""The names of the sections, without loading what they declare."""

_CONNECTION = """\
The service and the token are taken from --base-url and --token-file, then from the environment
(AATOOLKIT_BASE_URL, AATOOLKIT_TOKEN, AATOOLKIT_TOKEN_FILE), then from the system's key store.
A token is never given on the command line, where others could read it."""

_STREAMS = """\
Data goes to standard output, notes and progress to standard error; progress only to a terminal.

Exit codes:
  0    done
  1    something failed: the service, the network or a file
  2    the command was not understood, or a value is wrong
  130  interrupted by Ctrl-C"""

_DATED = "the folder for the files: DIR/HOST/DAY/SECTION/TABLE.parquet, the day in UTC"
_ANEW = "read and write anew what is there from today"


def build(commands: Mapping[str, Command]) -> argparse.ArgumentParser:
    """Build the parser; each command is run by the function of its name."""
    parser = Parser(
        prog="aatoolkit",
        description="A toolkit for the Agent Analytics API: how AI answer engines treat a brand.",
        epilog=f"aatoolkit COMMAND --help says more of each, with examples.\n\n{_STREAMS}",
    )
    parser.add_argument("--version", action="version", version=f"aatoolkit {__version__}")
    parser.set_defaults(run=parser.name_a_command)
    listed = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(name: str, doc: str, **options: Any) -> argparse.ArgumentParser:
        return _command(listed, name, doc, commands[name], **options)

    demo = command("demo", "read everything from an embedded service on synthetic data")
    output(
        demo,
        "-o",
        "--out",
        is_folder=True,
        default=Path("aatoolkit-demo"),
        metavar="DIR",
        help="the folder for the Parquet files (default: %(default)s)",
    )
    demo.add_argument(
        "--host",
        default=DEMO_HOST,
        help="the synthetic project to read (default: %(default)s)",
    )
    _synthetic(demo)
    _filters(demo)

    scope = command("scope", "list the filter values of a project")
    scope.add_argument("host", metavar="HOST", help="the project's domain")
    scope.add_argument(
        "--refresh", action="store_true", help="have the service refresh the scope options first"
    )
    _connection(scope, profile=False)

    read = command("read", "print one table of a section, or write it to a file")
    read.add_argument("host", metavar="HOST", help="the project's domain")
    read.add_argument("section", metavar="SECTION", help=f"one of {', '.join(SECTIONS)}")
    read.add_argument("--table", metavar="NAME", help="one table of it (default: the main table)")
    read.add_argument("--csv", action="store_true", help="print CSV in UTF-8")
    output(
        read,
        "-o",
        "--out",
        metavar="FILE",
        help="write a file in the format of its suffix: .parquet or .feather (with metadata), "
        ".xlsx, .csv, .json or .ndjson (a row a line); - is standard output",
    )
    _filters(read)
    _connection(read)

    export = command("export", "write every table of a host as Parquet")
    export.add_argument("host", metavar="HOST", help="the project's domain")
    output(export, "out", is_folder=True, metavar="DIR", help=_DATED)
    export.add_argument("--force", action="store_true", help=_ANEW)
    _sections(export)
    _filters(export)
    _connection(export)

    report = command("report", "write one page of HTML with pictures and tables")
    report.add_argument("host", metavar="HOST", help="the project's domain")
    output(report, "-o", "--out", metavar="FILE", required=True, help="the HTML file to write")
    _sections(report)
    _filters(report)
    _connection(report)

    collect = command("collect", "write every table of many hosts as Parquet, host by host")
    collect.add_argument("hosts", metavar="HOST", nargs="+", help="the projects' domains")
    output(collect, "-o", "--out", is_folder=True, required=True, metavar="DIR", help=_DATED)
    collect.add_argument("--force", action="store_true", help=_ANEW)
    _sections(collect)
    workers(collect)
    _filters(collect)
    _connection(collect)

    cache = command("cache", "show the cached answers, or delete them")
    cache.add_argument(
        "action",
        choices=("info", "clear"),
        metavar="{info,clear}",
        help="info: sizes by host; clear: delete answers",
    )
    cache.add_argument(
        "--folder", type=Path, metavar="DIR", help="the folder of the cache (default: the user's)"
    )
    cache.add_argument("--host", metavar="HOST", help="clear the answers of this host only")

    add_study(
        listed,
        commands,
        _command,
        sections=_sections,
        filters=_filters,
        connection=_connection,
    )
    add_explain(listed, commands, _command)
    _profile(listed, commands)
    add_archive(
        listed, commands, _command, sections=_sections, filters=_filters, connection=_connection
    )

    doctor = command("doctor", "check what is installed, configured and reachable")
    doctor.add_argument("host", metavar="HOST", nargs="?", help="a project to connect to")
    _connection(doctor, profile=False, cache=False)

    synth = command("synth", "write a synthetic store of observations, to be served")
    output(synth, "out", is_folder=True, metavar="DIR", help="the folder of the store")
    _synthetic(synth)

    serve = command("serve", "serve a store of observations until Ctrl-C", json=False)
    serve.add_argument("store", type=Path, metavar="DIR", nargs="?", help="the store's folder")
    serve.add_argument(
        "--describe", action="store_true", help="print the tables that a store may hold, and exit"
    )
    serve.add_argument(
        "--address",
        default="127.0.0.1",
        metavar="IP",
        help="the address to listen on (default: %(default)s)",
    )
    serve.add_argument(
        "--port",
        type=Number(0, 65_535),
        default=8765,
        metavar="N",
        help="0 takes a free one (default: %(default)s)",
    )
    serve.add_argument(
        "--accounts",
        type=Path,
        metavar="FILE",
        help="JSON: the SHA-256 of each token, and the hosts that it may see",
    )
    serve.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="one token that may see every host (default: AATOOLKIT_TOKEN, else a"
        " new one, which is printed)",
    )
    serve.add_argument(
        "--as-of",
        type=Moment(or_day=False),
        metavar="INSTANT",
        help="answer as of another moment, such as 2026-11-20T23:00:00Z",
    )
    return parser


def _command(
    listed: Any, name: str, doc: str, run: Command, *, json: bool = True
) -> argparse.ArgumentParser:
    added: argparse.ArgumentParser = listed.add_parser(
        name, help=doc, description=f"{doc[0].upper()}{doc[1:]}."
    )
    added.epilog = examples_text(added.prog)
    added.set_defaults(run=run)
    if json:
        added.add_argument("--json", action="store_true", help="print JSON")
    return added


def _profile(listed: Any, commands: Mapping[str, Command]) -> None:
    """Add the commands that draft, check and show profiles of services."""
    doc = "draft, check and show what is known of a service"
    profile = listed.add_parser("profile", help=doc, description=f"{doc.capitalize()}.")
    profile.set_defaults(run=profile.name_a_command)
    actions = profile.add_subparsers(title="commands", metavar="COMMAND")

    def command(name: str, doc: str, **options: Any) -> argparse.ArgumentParser:
        return _command(actions, name, doc, commands[f"profile {name}"], **options)

    draft = command("draft", "find out what a service's answers mean, and write a profile")
    draft.add_argument("host", metavar="HOST", help="the project's domain")
    output(draft, "-o", "--out", metavar="FILE", required=True, help="the Python file to write")
    draft.add_argument(
        "--report", type=Path, metavar="FILE", help="write a page of HTML to review, too"
    )
    draft.add_argument(
        "--requests",
        type=Number(1),
        default=60,
        metavar="N",
        help="at most so many (default: %(default)s)",
    )
    draft.add_argument(
        "--seconds",
        type=Number(1, whole=False),
        default=120,
        metavar="S",
        help="no longer than this (default: %(default)s)",
    )
    draft.add_argument(
        "--beside", action="append", default=[], metavar="HOST",
        help="another project, to see what differs there; may be repeated",
    )  # fmt: skip
    draft.add_argument(
        "--own-names", action="store_true", help="keep the service's names where there are others"
    )
    _connection(draft, profile=False)
    check = command("check", "say where a service answers otherwise; exits with 1 if it does")
    check.add_argument("host", metavar="HOST", help="the project's domain")
    _connection(check)
    show = command("show", "print what a profile declares")
    types = command(
        "types", "print or write its tables and columns as a typed module for editors", json=False
    )
    output(types, "-o", "--out", metavar="FILE", help="the Python file to write")
    for each in (show, types):
        each.add_argument("file", type=Path, metavar="FILE", help="the profile's file")


def _sections(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--section",
        action="append",
        metavar="NAME",
        dest="sections",
        help="this section only; may be repeated (default: all)",
    )


def _filters(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("filters")
    group.add_argument(
        "--days",
        type=int,
        default=30,
        choices=DAYS,
        help="the window up to now (default: %(default)s)",
    )
    for name in FILTERS:
        group.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="VALUE",
            help=f"include this {name}; may be repeated",
        )


def _synthetic(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("synthetic data")
    group.add_argument(
        "--seed",
        type=Number(0),
        default=0,
        metavar="N",
        help="same seed, same data (default: %(default)s)",
    )
    group.add_argument(
        "--answers",
        type=Number(1),
        default=5000,
        metavar="N",
        help="answers in all (default: %(default)s)",
    )
    group.add_argument(
        "--icc",
        type=Number(0, below=1, whole=False),
        default=0.3,
        metavar="X",
        help="how much answers to one prompt resemble each other, their intra-class correlation, "
        "from 0 to below 1 (default: %(default)s)",
    )


def _connection(
    parser: argparse.ArgumentParser, *, profile: bool = True, cache: bool = True
) -> None:
    group = parser.add_argument_group("connection", _CONNECTION)
    group.add_argument("--base-url", metavar="URL", help="the address of the service")
    group.add_argument(
        "--token-file", type=Path, metavar="FILE", help="a file that holds the token"
    )
    group.add_argument(
        "--deadline",
        type=Number(1, whole=False),
        metavar="SECONDS",
        help=f"how long a request may take, all attempts together (default: {DEADLINE:g})",
    )
    if cache:
        group.add_argument("--no-cache", action="store_true", help="cache no answers")
        group.add_argument("--offline", action="store_true", help="use cached answers only")
    parser.set_defaults(profile=None)
    if profile:
        group.add_argument(
            "--profile",
            type=Path,
            metavar="FILE",
            help="what is known of the service: the Python file of its profile, which is run",
        )
        max_nodes(group)
