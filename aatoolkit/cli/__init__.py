"""The command line, ``aatoolkit``.

Data goes to standard output; notes, warnings and the progress bar to standard error. The exit code
is 0 for success, 1 if something failed, 2 if the command was not understood. In reading order:

- ``parser``, ``archive_parser``: the commands and their options; ``arguments``: how they are parsed
  and refused.
- this module: one function per command, named in `COMMANDS`; it loads what it needs when it runs,
  so that ``--help`` loads no pandas.
- ``report``: what the commands print and write.
- ``study``, ``archive``, ``profile``, ``doctor``, ``serving``: the commands of these names.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit.cli import parser
from aatoolkit.cli.arguments import missing_folder
from aatoolkit.errors import AAToolkitError, ConfigurationError, ScopeError
from aatoolkit.scope import FILTERS, Scope

if TYPE_CHECKING:
    from aatoolkit.client.client import Client
    from aatoolkit.client.project import Project


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What was typed after the command's name; by default that of this process.

    Returns
    -------
    int
        0 when all went well, 1 when something failed, 2 when the command was not understood.

    Examples
    --------
    >>> main(["--version"])
    aatoolkit ...
    0
    """
    try:
        asked = parser.build(COMMANDS).parse_args(arguments)
    except SystemExit as done:
        return int(done.code or 0)
    try:
        folder = missing_folder(asked)
        if folder is not None:
            raise ConfigurationError(
                f"there is no folder {folder}; make it, or give --parents", setting="parents"
            )
        with _warnings_as_notes():
            status = asked.run(asked)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has read enough; the interpreter must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        note("interrupted")
        return 130
    except (ScopeError, ConfigurationError) as error:
        note(f"aatoolkit: {error}")
        return 2
    except (AAToolkitError, ImportError, OSError) as error:
        note(f"aatoolkit: {error}")
        return 1
    return int(status)


def note(text: str) -> None:
    """Print a note to standard error."""
    print(text, file=sys.stderr, flush=True)


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


def _scope_of(asked: argparse.Namespace) -> Scope:
    return Scope(days=asked.days, **{name: tuple(getattr(asked, name)) for name in FILTERS})


def _client(asked: argparse.Namespace, **more: Any) -> Client:
    from aatoolkit.client.client import Client

    token = _token(asked.token_file)
    more = {"cache": not asked.no_cache, "offline": asked.offline, **more}
    return Client(asked.base_url, token, profile=asked.profile, **more)


def _project(asked: argparse.Namespace) -> Project:
    return _client(asked).project(asked.host)


def _token(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):  # not text, or no path
        pass
    # Its name is not repeated: it may be the token itself, given by mistake.
    raise ConfigurationError(
        "the file that --token-file names cannot be read; check its path and permissions",
        setting="token_file",
    )


def _demo(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import report
    from aatoolkit.client.connect import demo

    scope = _scope_of(asked)
    note("starting the embedded service on synthetic data")
    with demo(asked.host, seed=asked.seed, answers=asked.answers, icc=asked.icc) as project:
        note(f"serving at {project.client.base_url}, for as long as this command runs")
        note(repr(scope.check(project.scope_options()) and project.scope_options()))
        dataset = project.read_all(scope)
        return report.export(dataset, asked.out, asked.json)


def _scope(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import report

    with _project(asked) as project:
        report.scope_options(project.scope_options(refresh=asked.refresh), asked.json)
    return 0


def _read(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import report

    form = report.table_format(asked.out, json=asked.json, csv=asked.csv)
    with _project(asked) as project:
        tables = project.read(asked.section, _scope_of(asked))
    report.table(tables, asked.table, form, asked.out)
    return 0


def _export(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import report

    scope = _scope_of(asked)
    with _project(asked) as project:
        dataset = project.read_all(scope, sections=asked.sections)
    return report.export(dataset, asked.out, asked.json)


def _report(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import report

    report.check_suffix(asked.out, ".html", ".htm")
    scope = _scope_of(asked)
    with _project(asked) as project:
        dataset = project.read_all(scope, sections=asked.sections)
    return report.page(dataset, asked.out, asked.json)


def _collect(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import report

    scope = _scope_of(asked)
    with _client(asked, workers=asked.workers) as client:
        datasets = client.datasets(asked.hosts, scope, asked.sections)
        return report.collected(datasets, asked.out, asked.json)


def _archive_add(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import archive

    scope, hosts = _scope_of(asked), archive.hosts_of(asked)
    with _client(asked, workers=asked.workers) as client:
        return archive.add(asked, client, scope, hosts, note)


def _archive(action: str) -> parser.Command:
    """One of the other commands of archives."""

    def run(asked: argparse.Namespace) -> int:
        from aatoolkit.cli import archive

        if action in ("sql", "compact", "forget"):
            return int(getattr(archive, action)(asked))
        return int(getattr(archive, action)(asked, note))

    return run


def _cache(asked: argparse.Namespace) -> int:
    from aatoolkit._util.hosts import canonical_host
    from aatoolkit.cli import report
    from aatoolkit.http import cache_info, clear_cache

    if asked.action == "info":
        if asked.host is not None:
            raise ConfigurationError("--host goes with clear, info lists all hosts", setting="host")
        report.cache(cache_info(asked.folder), asked.json)
        return 0
    host = None if asked.host is None else canonical_host(asked.host)
    report.cleared(clear_cache(asked.folder, host), cache_info(asked.folder), asked.json)
    return 0


def _study_record(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import study

    scope = _scope_of(asked)
    with _project(asked) as project:
        return study.record(asked, project, scope, note)


def _study_show(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import study

    return study.show(asked)


def _study_verify(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import study

    return study.verify(asked, note)


def _study_diff(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import study

    return study.diff(asked, note)


def _study_pack(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import study

    return study.pack(asked, note)


def _study_publish(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import study

    return study.publish(asked, note)


def _profile_draft(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import profile

    with _project(asked) as project:
        return profile.draft(asked, project, note)


def _profile_check(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import profile

    with _project(asked) as project:
        return profile.check(asked, project, note)


def _profile_show(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import profile

    return profile.show(asked)


def _doctor(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import doctor, report

    findings = doctor.examine(asked.base_url, _token(asked.token_file), asked.host)
    report.findings(findings, asked.json)
    return 0 if all(finding.good is not False for finding in findings) else 1


def _synth(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import report, serving

    report.files(serving.synthesize(asked.out, asked.seed, asked.answers, asked.icc), asked.json)
    note(f"a synthetic store is in {asked.out}; aatoolkit serve {asked.out} serves it")
    return 0


def _serve(asked: argparse.Namespace) -> int:
    from aatoolkit.cli import serving

    if asked.describe:
        print(serving.description())
    else:
        serving.serve(asked, note)
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
    "study verify": _study_verify,
    "study diff": _study_diff,
    "study pack": _study_pack,
    "study publish": _study_publish,
    "archive add": _archive_add,
    **{
        f"archive {action}": _archive(action)
        for action in ("info", "sql", "compact", "verify", "rebuild", "export", "forget")
    },
    "profile draft": _profile_draft,
    "profile check": _profile_check,
    "profile show": _profile_show,
    "doctor": _doctor,
    "synth": _synth,
    "serve": _serve,
}
