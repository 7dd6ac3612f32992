"""Run a notebook again from a study, and compare its results with those that were sealed.

It checks that an analysis can be reproduced, and is no sandbox: the notebook is a program, which
runs with the rights of who reruns it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import re
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Any

import pandas as pd

from aatoolkit._util.extras import needed
from aatoolkit._util.files import write_whole
from aatoolkit._util.text import clipped, markup, visible, wrapped_in_ipython
from aatoolkit.client.settings import BASE_URL, TOKEN, TOKEN_FILE, stand_in
from aatoolkit.errors import ArgumentError, StudyError
from aatoolkit.study.comparison import (
    DIFFERS,
    MISSING,
    NEW,
    SAME,
    ResultComparison,
    compare_results,
)
from aatoolkit.study.files import MANIFEST, RESULTS, STUDY, result_file
from aatoolkit.study.recording import (
    RERUN_RESULTS,
    RERUN_STUDY,
    replaying_client,
    rerun_place,
)
from aatoolkit.study.results import frame_of, parse_results
from aatoolkit.study.run_crate import write_crate

if TYPE_CHECKING:
    from aatoolkit.client.client import Client
    from aatoolkit.study.study import Study

_START = 60
"""The seconds that a kernel may take to start, and to load the package."""

_DAY = 86_400
_SHORTEST = 6
"""The fewest characters of a text that is taken for a token."""

_ENTER = "from aatoolkit.study.rerun import _enter; _enter()"


@dataclass(frozen=True, repr=False)
class Rerun:
    """The result of a rerun; true if the notebook ended and each sealed result is the same.

    Attributes
    ----------
    notebook, study : Path
        The notebook that was run, and the study that answered.
    digest : str
        The digest of the study.
    started, ended : datetime
        When, in UTC.
    compared : tuple of ResultComparison
        The named results: those that were sealed, and those that are new.
    problem : str or None
        Why the notebook did not run to its end, or what it did to the study.
    cell : int or None
        The code cell that did not end, counted from 1.
    """

    notebook: Path
    study: Path
    digest: str
    started: datetime
    ended: datetime
    compared: tuple[ResultComparison, ...]
    problem: str | None = None
    cell: int | None = None

    @property
    def ok(self) -> bool:
        """Whether the notebook ran to its end and each sealed result is the same."""
        return self.problem is None and all(one.status in (SAME, NEW) for one in self.compared)

    def __bool__(self) -> bool:
        return self.ok

    @property
    def results(self) -> pd.DataFrame:
        """The compared results, one row each.

        Columns: ``name``, ``status``, ``sealed_rows``, ``rerun_rows``, ``rows_gone``,
        ``rows_new``, ``cells`` (that differ), ``largest`` (relative difference of numbers),
        ``notes``.
        """
        counts = ("sealed_rows", "rerun_rows", "rows_gone", "rows_new", "cells")
        dtypes: dict[str, Any] = dict.fromkeys(("name", "status"), "string")
        dtypes |= {**dict.fromkeys(counts, "Int64"), "largest": "Float64", "notes": "string"}
        rows = [one.to_dict() | {"notes": "; ".join(one.notes)} for one in self.compared]
        return pd.DataFrame(rows, columns=[*dtypes]).astype(dtypes)

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values."""
        return {
            "ok": self.ok,
            "notebook": str(self.notebook),
            "study": str(self.study),
            "digest": self.digest,
            "started": self.started.isoformat(),
            "ended": self.ended.isoformat(),
            "problem": self.problem,
            "cell": self.cell,
            "results": [one.to_dict() for one in self.compared],
        }

    def lines(self) -> Iterator[str]:
        """Yield the result in words, line by line."""
        if self.problem is not None:
            where = "" if self.cell is None else f" in code cell {self.cell}"
            yield f"the notebook did not run to its end{where}: {visible(self.problem)}"
        for one in self.compared:
            yield from one.lines()

    def __repr__(self) -> str:
        return "\n".join([f"<Rerun: {self._head()}>", *(f"  {line}" for line in self.lines())])

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{markup(line)}</li>" for line in self.lines())
        return f'<div class="tex2jax_ignore"><b>{markup(self._head())}</b><ul>{items}</ul></div>'

    def _head(self) -> str:
        counts = Counter(one.status for one in self.compared)
        statuses = (DIFFERS, MISSING, NEW, SAME)
        parts = ", ".join(f"{counts[status]} {status}" for status in statuses if counts[status])
        return f"{parts or 'no result'}, in {(self.ended - self.started).total_seconds():.0f} s"


def rerun(
    study: Study,
    notebook: Path,
    *,
    out: str | os.PathLike[str] | None,
    crate: str | os.PathLike[str] | None,
    timeout: float,
) -> Rerun:
    """Run a notebook again from a study; see `Study.rerun`."""
    if not isinstance(timeout, int | float) or not 0 < timeout <= _DAY or math.isnan(timeout):
        raise ArgumentError(
            f"timeout={timeout!r} is no number of seconds above 0, of a day at most",
            argument="timeout",
        )
    if rerun_place() is not None:
        raise StudyError("a notebook that is rerun does not rerun others", path=str(study.path))
    study._check("rerun")
    sealed = {name: study.result(name) for name in study.results}
    if not sealed:
        raise StudyError(
            f"no result was sealed in the study at {study.path}, so there is nothing to compare; "
            "name results with study.seal_result(name, frame), and seal the study",
            path=str(study.path),
        )
    digest = str(study.digest)
    notebook = notebook.expanduser().resolve()
    if out is not None and Path(out).expanduser().resolve() == notebook:
        raise ArgumentError("out= is the notebook itself; name another file", argument="out")
    original, book = _read(notebook)
    tokens = _tokens()
    if (out or crate) and any(token.encode() in original for token in tokens):
        raise StudyError("the notebook holds the token; take it out, and have it replaced")
    started = datetime.now(UTC)
    with tempfile.TemporaryDirectory() as folder:
        problem, cell = _execute(book, notebook.parent, study.path.resolve(), folder, timeout)
        ended = datetime.now(UTC)
        files = _collected(Path(folder))
    frames = {name: frame_of(content) for name, content in files.items()}
    compared = [compare_results(name, frame, frames.get(name)) for name, frame in sealed.items()]
    compared += [
        compare_results(name, None, frame)
        for name, frame in frames.items()
        if name not in sealed and frame is not None
    ]
    after = study.verify()
    if after.digest != digest:
        why = after.found[0] if after.found else "it was sealed anew"
        problem, cell = f"the study is not as it was before it: {why}", None
    report = Rerun(
        notebook,
        study.path,
        digest,
        started,
        ended,
        tuple(compared),
        None if problem is None else clipped(_masked(problem, tokens)),
        cell,
    )
    executed = _masked(json.dumps(book, ensure_ascii=False, indent=1) + "\n", tokens)
    content = executed.encode("utf-8", "backslashreplace")
    if out is not None:
        write_whole(Path(out).expanduser(), content)
    if crate is not None:
        write_crate(report, study, Path(crate).expanduser(), original, content, files)
    return report


def _read(path: Path) -> tuple[bytes, Any]:
    """Read a notebook: its bytes, and version 4 of the format."""
    with needed("a rerun needs", "notebook"):
        import ipykernel  # noqa: F401
        import nbclient  # noqa: F401
        import nbformat
    problem = ""
    try:
        content = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = nbformat.reads(content.decode(), as_version=4)  # type: ignore[no-untyped-call]
            language = book.metadata.get("kernelspec", {}).get("language", "python")
            codes = [cell.source for cell in book.cells]
        if language != "python":
            problem = f"it is in {language}, not in Python"
    except OSError as error:
        problem = error.strerror or type(error).__name__
    except Exception as error:  # whatever is wrong with its JSON or its format
        problem = f"it is no notebook ({type(error).__name__})"
    if problem:
        raise ArgumentError(
            f"the notebook {clipped(str(path))} cannot be run: {problem}", argument="notebook"
        )
    assert len(codes) == len(book.cells)
    return content, book


def _execute(
    book: Any, folder: Path, study: Path, results: str, seconds: float
) -> tuple[str | None, int | None]:
    """Execute a notebook in a kernel of its own; return why it did not end, and in which cell."""
    import nbclient

    kept = {name: v for name, v in os.environ.items() if name not in (TOKEN, TOKEN_FILE, BASE_URL)}
    environment = {
        **kept,
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        RERUN_STUDY: str(study),
        RERUN_RESULTS: results,
    }
    state: dict[str, Any] = {"until": None, "at": None, "kernel": None}

    def left(_: Any) -> int:
        state["until"] = state["until"] or time.monotonic() + seconds
        return int(max(1, math.ceil(state["until"] - time.monotonic())))

    async def enter(**_: Any) -> None:
        state["kernel"] = getattr(client.km.provisioner, "pid", None)
        reply = await client.kc.execute_interactive(
            _ENTER, store_history=False, allow_stdin=False, timeout=_START, output_hook=len
        )
        if reply["content"]["status"] != "ok":
            raise RuntimeError(str(reply["content"].get("evalue")))

    client: Any = nbclient.NotebookClient(
        book,
        kernel_name="python3",
        startup_timeout=_START,
        timeout_func=left,
        shutdown_kernel="immediate",
        store_widget_state=False,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    client.on_notebook_start = enter
    client.on_cell_start = lambda cell_index, **_: state.update(at=cell_index)

    def work() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # libraries of notebooks warn of their own deprecations
            asyncio.run(client.async_execute(env=environment, stdout=DEVNULL, stderr=DEVNULL))

    problem: str | None = None
    # In a thread of its own: in a notebook there is a loop already.
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(work).result()
        except Exception as error:
            name = type(error).__name__
            words = f"{getattr(error, 'ename', name)}: {getattr(error, 'evalue', error)}"
            problem = {
                "CellTimeoutError": f"it did not end within {seconds:g} seconds",
                "DeadKernelError": "its kernel died",
            }.get(name, words)
        finally:
            if state["kernel"] is not None and hasattr(os, "killpg"):
                with contextlib.suppress(OSError):  # what the kernel started is of its group
                    os.killpg(state["kernel"], signal.SIGKILL)
    if problem is not None and state["at"] is None:
        raise StudyError(f"the rerun did not begin: {clipped(problem)}", path=str(study))
    codes = [cell.cell_type == "code" for cell in book.cells[: (state["at"] or 0) + 1]]
    return problem, sum(codes) if problem else None


def _enter() -> None:
    """Make this process the kernel of a rerun: every client replays the study."""
    from aatoolkit.study.study import Study

    stand_in(partial(_replaying, Study(os.environ[RERUN_STUDY])))


def _replaying(study: Study, base_url: str | None) -> Client:
    """The client that replays a service: the only one, or the one of this base URL."""
    named = (base_url or "").rstrip("/")
    services = {record.base_url for record in study._current}
    return replaying_client(study, named if named in services else None)


def _collected(folder: Path) -> dict[str, bytes]:
    """The files of the results that a rerun gave, by name; whatever it says of their content."""
    listed = folder / RESULTS
    results = (parse_results(listed.read_bytes()) or {}) if listed.is_file() else {}
    files = {name: folder / result_file(result.hash) for name, result in results.items()}
    return {name: file.read_bytes() if file.is_file() else b"" for name, file in files.items()}


def _tokens() -> list[str]:
    """The tokens that this process would send, which no output may hold."""
    tokens = [os.environ.get(TOKEN, "")]
    with contextlib.suppress(KeyError, OSError, ValueError):
        tokens.append(Path(os.environ[TOKEN_FILE]).expanduser().read_text("utf-8").strip())
    return [token for token in tokens if len(token) >= _SHORTEST]


def _masked(text: str, tokens: list[str]) -> str:
    for token in tokens:
        for spelling in (token, json.dumps(token)[1:-1]):
            text = text.replace(spelling, "[token removed]")
    return text


def study_named_in(notebook: Path) -> Path:
    """Return the study that a notebook opens or creates by a literal path.

    Raises
    ------
    StudyError
        If it names none that is there.
    """
    names: list[str] = []
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        # What is wrong with it is said when it is to be run.
        cells = json.loads(notebook.read_bytes())["cells"]
        source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        names = [name for _, name in _NAMED.findall(source)]
    for name in names:
        place = notebook.parent / Path(name).expanduser()
        if place.is_file() or any((place / file).is_file() for file in (STUDY, MANIFEST)):
            return place
    found = f" (it names {clipped(', '.join(names))})" if names else ""
    raise StudyError(
        f"the notebook {clipped(str(notebook))} names no study that is there{found}; name it: "
        "aatoolkit study rerun NOTEBOOK STUDY",
        path=str(notebook),
    )


_NAMED = re.compile(r"""\bStudy(?:\.create|\.resume)?\(\s*(?:Path\(\s*)?(["'])(.+?)\1""")
