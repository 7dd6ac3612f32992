"""Rerun a notebook offline from a study, and compare its results with those that were sealed.

A study and a notebook come in; out come a `Rerun`, the notebook with its outputs, and an RO-Crate.
In reading order:

- ``execute``: run a notebook in a kernel of its own, which is ended whatever happens.
- ``kernel``: what that kernel does before the first cell: no network, and every client replays.
- ``comparison``: which rows, columns and cells of two results differ; ``report``: `Rerun`.
- ``crate``: the run as a Workflow Run RO-Crate.
- ``named``: which study a notebook names.
"""

from __future__ import annotations

import math
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit._util.files import write_whole
from aatoolkit._util.text import clipped
from aatoolkit.errors import ConfigurationError, StudyError
from aatoolkit.study.rerun.comparison import (
    DIFFERS,
    MISSING,
    NEW,
    SAME,
    ResultComparison,
    compare_frames,
)
from aatoolkit.study.rerun.crate import write_crate
from aatoolkit.study.rerun.execute import execute, known_tokens, read_notebook
from aatoolkit.study.rerun.report import Rerun
from aatoolkit.study.rerunning import rerun_study
from aatoolkit.study.results import SealedResult, frame_of, parse_results
from aatoolkit.study.storage import RESULTS, result_file

if TYPE_CHECKING:
    from aatoolkit.study.results import StudyResults

__all__ = ["Rerun", "ResultComparison", "rerun"]

_DAY = 86_400


def rerun(
    study: StudyResults,
    notebook: Path,
    *,
    out: str | os.PathLike[str] | None = None,
    crate: str | os.PathLike[str] | None = None,
    timeout: float = 600.0,
) -> Rerun:
    """Run a notebook offline from a study; see `Study.rerun`."""
    if not isinstance(timeout, int | float) or not 0 < timeout <= _DAY or math.isnan(timeout):
        raise ConfigurationError(
            f"timeout={timeout!r} is no number of seconds above 0, of a day at most",
            setting="timeout",
        )
    if rerun_study() is not None:
        raise StudyError("a notebook that is rerun does not rerun others", path=str(study.path))
    sealed = _checked(study)
    notebook = notebook.expanduser().resolve()
    if out is not None and Path(out).expanduser().resolve() == notebook:
        raise ConfigurationError("out= is the notebook itself; name another file", setting="out")
    found = read_notebook(notebook)
    if out is not None or crate is not None:
        _refuse_tokens(found)
    original = notebook.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        collected = Path(folder)
        run = execute(found, notebook.parent, study.path.resolve(), collected, float(timeout))
        given = _collected(collected)
        compared = [_compared(study, name, sealed, given, collected) for name in sealed]
        compared += [
            ResultComparison(name, NEW, None, one.hash, None, one.rows)
            for name, one in given.items()
            if name not in sealed
        ]
        report = Rerun(
            notebook,
            study.path,
            str(study.digest),
            run.started,
            run.ended,
            tuple(compared),
            run.problem,
            run.cell,
        )
        executed = _dumped(run.notebook)
        if out is not None:
            write_whole(Path(out).expanduser(), executed)
        if crate is not None:
            files = {
                name: (collected / result_file(one.hash)).read_bytes()
                for name, one in given.items()
            }
            target = Path(crate).expanduser()
            write_crate(report, study, target, original, executed, files)
    return report


def _checked(study: StudyResults) -> dict[str, SealedResult]:
    """Return the sealed results of a study, after checking it against its seal."""
    found = study.verify()
    if not found:
        raise StudyError(
            clipped(f"the study at {study.path} cannot be rerun: {found.found[0]}"),
            path=str(study.path),
            problems=tuple(map(str, found.found)),
        )
    sealed = dict(study.results)
    if not sealed:
        raise StudyError(
            f"no result was sealed in the study at {study.path}, so there is nothing to compare; "
            "name results with study.seal_result(name, frame), and seal the study",
            path=str(study.path),
        )
    return sealed


def _refuse_tokens(notebook: Any) -> None:
    """Raise if a cell of the notebook holds the token."""
    for number, cell in enumerate(notebook.cells, 1):
        if any(token in cell.source for token in known_tokens()):
            raise StudyError(
                f"cell {number} of the notebook holds the token; take it out, and have it replaced"
            )


def _collected(folder: Path) -> dict[str, SealedResult]:
    file = folder / RESULTS
    return (parse_results(file.read_bytes()) or {}) if file.is_file() else {}


def _compared(
    study: StudyResults,
    name: str,
    sealed: dict[str, SealedResult],
    given: dict[str, SealedResult],
    folder: Path,
) -> ResultComparison:
    before, after = sealed[name], given.get(name)
    if after is None:
        return ResultComparison(name, MISSING, before.hash, None, before.rows)
    if after.hash == before.hash:
        return ResultComparison(name, SAME, before.hash, after.hash, before.rows, after.rows)
    now = frame_of((folder / result_file(after.hash)).read_bytes())
    if now is None:
        note = ("what the rerun collected cannot be read",)
        return ResultComparison(
            name, DIFFERS, before.hash, after.hash, before.rows, after.rows, note
        )
    return compare_frames(before, after, study.result(name), now)


def _dumped(notebook: Any) -> bytes:
    import nbformat

    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    return f"{text}\n".encode("utf-8", "backslashreplace")
