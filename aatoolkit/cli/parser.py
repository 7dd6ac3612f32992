"""What may be typed: the commands of the command line and their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from aatoolkit import __version__
from aatoolkit.scope import DAYS, FILTERS

Command = Callable[[argparse.Namespace], int]

_CONNECTION = """\
The service and the token are taken from --base-url and --token-file, then from the environment
(AATOOLKIT_BASE_URL, AATOOLKIT_TOKEN, AATOOLKIT_TOKEN_FILE), then from the system's key store.
A token is never given on the command line, where others could read it."""


def build(commands: Mapping[str, Command]) -> argparse.ArgumentParser:
    """The parser; each command is run by the function of its name."""
    parser = argparse.ArgumentParser(
        prog="aatoolkit",
        description="A toolkit for the Agent Analytics API: how AI answer engines treat a brand.",
        epilog="aatoolkit COMMAND --help says more of each. " + _CONNECTION,
    )
    parser.add_argument("--version", action="version", version=f"aatoolkit {__version__}")
    listed = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, doc: str) -> argparse.ArgumentParser:
        added = listed.add_parser(name, help=doc, description=f"{doc[0].upper()}{doc[1:]}.")
        added.set_defaults(run=commands[name])
        added.add_argument("--json", action="store_true", help="print JSON")
        return added

    demo = command("demo", "read everything from an embedded service")
    demo.add_argument(
        "--out",
        type=Path,
        default=Path("aatoolkit-demo"),
        metavar="DIR",
        help="where the Parquet files go (default: %(default)s)",
    )
    demo.add_argument(
        "--host",
        default="acme.example",
        help="the synthetic project to read (default: %(default)s)",
    )
    _synthetic(demo)
    _filters(demo)

    scope = command("scope", "what may be asked of a project")
    scope.add_argument("host", metavar="HOST", help="the project's domain")
    scope.add_argument(
        "--refresh", action="store_true", help="ask the service to refresh the scope options first"
    )
    _connection(scope)

    read = command("read", "read one section")
    read.add_argument("host", metavar="HOST", help="the project's domain")
    read.add_argument("section", metavar="SECTION", help="one of the 17 sections")
    read.add_argument("--table", metavar="NAME", help="one table of it (default: the main table)")
    read.add_argument("--csv", action="store_true", help="write CSV")
    read.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write Parquet with its metadata instead of printing",
    )
    _filters(read)
    _connection(read)

    export = command("export", "write every table as Parquet")
    export.add_argument("host", metavar="HOST", help="the project's domain")
    export.add_argument("out", type=Path, metavar="DIR", help="where the files go")
    _sections(export)
    _filters(export)
    _connection(export)

    report = command("report", "write one page of HTML with pictures and tables")
    report.add_argument("host", metavar="HOST", help="the project's domain")
    report.add_argument(
        "-o", "--out", type=Path, metavar="FILE", required=True, help="where the page goes"
    )
    _sections(report)
    _filters(report)
    _connection(report)

    doctor = command("doctor", "say what is installed, set and reachable")
    doctor.add_argument("host", metavar="HOST", nargs="?", help="a project to try to reach")
    _connection(doctor)

    synth = command("synth", "write a synthetic store of observations")
    synth.add_argument("out", type=Path, metavar="DIR", help="where the store goes")
    _synthetic(synth)

    serve = command("serve", "serve a store of observations")
    serve.add_argument("store", type=Path, metavar="DIR", nargs="?", help="the store's folder")
    serve.add_argument(
        "--describe", action="store_true", help="print the tables that a store may hold, and stop"
    )
    serve.add_argument(
        "--address", default="127.0.0.1", help="where to listen (default: %(default)s)"
    )
    serve.add_argument(
        "--port", type=int, default=8765, help="0 takes a free one (default: %(default)s)"
    )
    serve.add_argument(
        "--accounts",
        type=Path,
        metavar="FILE",
        help="JSON: the SHA-256 of each token, and the hosts it may see",
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
        metavar="INSTANT",
        help="answer as of another moment, such as 2026-11-20T23:00:00Z",
    )
    serve.add_argument(
        "--fail-scope-options",
        action="store_true",
        help="answer 502 to scope options, to see what a client makes of it",
    )
    return parser


def _sections(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--section",
        action="append",
        metavar="NAME",
        dest="sections",
        help="this section only; may be repeated (default: all 17)",
    )


def _filters(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("filters")
    group.add_argument("--days", type=int, default=30, choices=DAYS, help="default: %(default)s")
    for name in FILTERS:
        group.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="VALUE",
            help=f"narrow to this {name}; may be repeated",
        )


def _synthetic(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("synthetic data")
    group.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="same seed, same data (default: %(default)s)",
    )
    group.add_argument(
        "--answers",
        type=int,
        default=5000,
        metavar="N",
        help="answers in all (default: %(default)s)",
    )


def _connection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("connection", _CONNECTION)
    group.add_argument("--base-url", metavar="URL", help="where the service is")
    group.add_argument(
        "--token-file", type=Path, metavar="FILE", help="a file that holds the token"
    )
    group.add_argument("--no-cache", action="store_true", help="keep no answers")
    group.add_argument("--offline", action="store_true", help="use kept answers only")
