"""The command line, ``aatoolkit``.

Data goes to standard output; notes, warnings and the progress bar to standard error. The exit code
is 0 for success, 1 if something failed, 2 if the command was not understood, 130 after Ctrl-C. In
reading order:

- ``parser``, ``archive_parser``, ``study_parser``: the commands and their options; ``arguments``:
  how they are parsed and refused.
- this module: one function per command, named in `COMMANDS`; it loads what it needs when it runs,
  so that ``--help`` loads no pandas.
- ``examples``: those that the help of each command shows.
- ``report``: what the commands print and write, on ``streams``, in a ``grid`` or as
  ``table_files``; ``dated``: a day's tables in folders of their own.
- ``explain``, ``study``, ``archive``, ``profile``, ``doctor``, ``serving``: the commands of these
  names.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit._util.defaults import FILTERS
from aatoolkit.cli import parser, streams
from aatoolkit.cli.arguments import check_output, client_arguments, read_token
from aatoolkit.cli.streams import note
from aatoolkit.errors import AAToolkitError, BadRequest, ConfigurationError, ScopeError

if TYPE_CHECKING:
    from aatoolkit.client.client import Client
    from aatoolkit.client.project import Project
    from aatoolkit.scope import Scope


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What was typed after the command's name; by default that of this process.

    Returns
    -------
    int
        0 when all went well, 1 when something failed, 2 when the command was not understood, 130
        when it was interrupted.

    Examples
    --------
    >>> main(["--version"])
    aatoolkit ...
    0
    """
    streams.prepare()
    try:
        args = parser.build(COMMANDS).parse_args(arguments)
        check_output(args)
        with _warnings_as_notes():
            status = int(args.run(args))
        sys.stdout.flush()
    except SystemExit as done:
        return int(done.code or 0)
    except BrokenPipeError:
        # Whoever read our output has read enough.
        streams.discard(sys.stdout)
        return 0
    except KeyboardInterrupt:
        return _interrupted()
    except RuntimeError as error:
        if str(error) == _QUERY_INTERRUPTED:
            return _interrupted()
        raise
    except (ScopeError, ConfigurationError, BadRequest) as error:
        note(f"aatoolkit: {error}")
        return 2
    except (AAToolkitError, ImportError) as error:
        note(f"aatoolkit: {error}")
        return 1
    except OSError as error:
        note(f"aatoolkit: {error.filename or 'output'}: {error.strerror or error}")
        return 1
    return status


_QUERY_INTERRUPTED = "Query interrupted"
"""How DuckDB says that Ctrl-C ended a query."""


def _interrupted() -> int:
    note("aatoolkit: interrupted")
    return 130


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print warnings as notes, each once, without the line of code that they came from."""
    seen: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            note(f"aatoolkit: warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _scope_of(args: argparse.Namespace) -> Scope:
    from aatoolkit.scope import Scope

    return Scope(days=args.days, **{name: tuple(getattr(args, name)) for name in FILTERS})


def _client(args: argparse.Namespace, **more: Any) -> Client:
    from aatoolkit.client.client import Client

    token = _token(args.token_file)
    more = {"cache": not args.no_cache, "offline": args.offline, **client_arguments(args), **more}
    return Client(args.base_url, token, profile=args.profile, **more)


def _project(args: argparse.Namespace) -> Project:
    return _client(args).project(args.host)


def _token(file: Path | None) -> str | None:
    return None if file is None else read_token(file)


def _demo(args: argparse.Namespace) -> int:
    from aatoolkit.cli import report
    from aatoolkit.client.connect import demo

    scope = _scope_of(args)
    note("starting the embedded service on synthetic data")
    with demo(args.host, seed=args.seed, answers=args.answers, icc=args.icc) as project:
        note(f"serving at {project.client.base_url}, for as long as this command runs")
        note(repr(scope.check(project.scope_options()) and project.scope_options()))
        dataset = project.read_all(scope=scope)
        return report.export(dataset, args.out, args.json)


def _scope(args: argparse.Namespace) -> int:
    from aatoolkit.cli import report

    with _project(args) as project:
        report.scope_options(project.scope_options(refresh=args.refresh), args.json)
    return 0


def _read(args: argparse.Namespace) -> int:
    from aatoolkit.cli import report
    from aatoolkit.cli.table_files import table_format

    form = table_format(args.out, json=args.json, csv=args.csv)
    with _project(args) as project:
        tables = project.read(args.section, _scope_of(args))
    report.table(tables, args.table, form, args.out)
    return 0


def _export(args: argparse.Namespace) -> int:
    from aatoolkit.cli.dated import write_dated

    with _client(args) as client:
        return write_dated(args, client, _scope_of(args), [args.host])


def _report(args: argparse.Namespace) -> int:
    from aatoolkit.cli import report
    from aatoolkit.cli.table_files import check_suffix

    check_suffix(args.out, ".html", ".htm")
    scope = _scope_of(args)
    with _project(args) as project:
        dataset = project.read_all(args.sections, scope)
    return report.page(dataset, args.out, args.json)


def _collect(args: argparse.Namespace) -> int:
    from aatoolkit.cli.dated import write_dated

    with _client(args, workers=args.workers) as client:
        return write_dated(args, client, _scope_of(args), args.hosts)


def _archive_add(args: argparse.Namespace) -> int:
    from aatoolkit.cli import archive

    scope, hosts = _scope_of(args), archive.hosts_of(args)
    with _client(args, workers=args.workers) as client:
        return archive.add(args, client, scope, hosts, note)


def _archive(action: str) -> parser.Command:
    """One of the other commands of archives."""

    def run(args: argparse.Namespace) -> int:
        from aatoolkit.cli import archive

        if action in ("sql", "compact", "forget"):
            return int(getattr(archive, action)(args))
        return int(getattr(archive, action)(args, note))

    return run


def _cache(args: argparse.Namespace) -> int:
    from aatoolkit._util.hosts import canonical_host
    from aatoolkit.cli import report
    from aatoolkit.http import cache_info, clear_cache

    if args.action == "info":
        if args.host is not None:
            raise ConfigurationError("--host goes with clear, info lists all hosts", setting="host")
        report.cache(cache_info(args.folder), args.json)
        return 0
    host = None if args.host is None else canonical_host(args.host)
    report.cleared(clear_cache(args.folder, host), cache_info(args.folder), args.json)
    return 0


def _study_record(args: argparse.Namespace) -> int:
    from aatoolkit.cli import study

    scope = _scope_of(args)
    with _project(args) as project:
        return study.record(args, project, scope, note)


def _study_show(args: argparse.Namespace) -> int:
    from aatoolkit.cli import study

    return study.show(args)


def _study(action: str) -> parser.Command:
    def run(args: argparse.Namespace) -> int:
        from aatoolkit.cli import study

        done: int = getattr(study, action)(args, note)
        return done

    return run


def _explain(args: argparse.Namespace) -> int:
    from aatoolkit.cli import explain

    return explain.explain(args, note)


def _profile_draft(args: argparse.Namespace) -> int:
    from aatoolkit.cli import profile

    with _project(args) as project:
        return profile.draft(args, project, note)


def _profile_check(args: argparse.Namespace) -> int:
    from aatoolkit.cli import profile

    with _project(args) as project:
        return profile.check(args, project, note)


def _profile_show(args: argparse.Namespace) -> int:
    from aatoolkit.cli import profile

    return profile.show(args)


def _profile_types(args: argparse.Namespace) -> int:
    from aatoolkit.cli import profile

    return profile.types(args, note)


def _doctor(args: argparse.Namespace) -> int:
    from aatoolkit.cli import doctor, report

    found = _token(args.token_file)
    findings = doctor.examine(args.base_url, found, args.host, **client_arguments(args))
    report.findings(findings, args.json)
    return 0 if all(finding.good is not False for finding in findings) else 1


def _synth(args: argparse.Namespace) -> int:
    from aatoolkit.cli import report, serving

    report.files(serving.synthesize(args.out, args.seed, args.answers, args.icc), args.json)
    note(f"a synthetic store is in {args.out}; aatoolkit serve {args.out} serves it")
    return 0


def _serve(args: argparse.Namespace) -> int:
    from aatoolkit.cli import serving

    if args.describe:
        streams.write_data(f"{serving.description()}\n".encode())
    else:
        serving.serve(args, note)
    return 0


COMMANDS: dict[str, parser.Command] = {
    "demo": _demo,
    "scope": _scope,
    "read": _read,
    "export": _export,
    "report": _report,
    "collect": _collect,
    "cache": _cache,
    "study record": _study_record,
    "study show": _study_show,
    **{
        f"study {action}": _study(action)
        for action in ("verify", "diff", "pack", "rerun", "publish")
    },
    "explain": _explain,
    "archive add": _archive_add,
    **{
        f"archive {action}": _archive(action)
        for action in ("info", "sql", "compact", "verify", "rebuild", "export", "forget")
    },
    "profile draft": _profile_draft,
    "profile check": _profile_check,
    "profile show": _profile_show,
    "profile types": _profile_types,
    "doctor": _doctor,
    "synth": _synth,
    "serve": _serve,
}
