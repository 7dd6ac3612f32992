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
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Any

from aatoolkit._util.defaults import needed
from aatoolkit._util.files import write_whole
from aatoolkit._util.text import clipped
from aatoolkit.client.settings import BASE_URL, TOKEN, TOKEN_FILE, stand_in
from aatoolkit.errors import ArgumentError, StudyError
from aatoolkit.study.comparing import Rerun, compare_results
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


def rerun(
    study: Study,
    notebook: Path,
    *,
    out: str | os.PathLike[str] | None,
    crate: str | os.PathLike[str] | None,
    timeout: float,
) -> Rerun:
    """Run a notebook again from a study; see `Study.rerun`."""
    if not isinstance(timeout, int | float) or not 0 < timeout <= _DAY:
        raise ArgumentError(
            f"timeout={timeout!r} is no number of seconds above 0, of a day at most",
            argument="timeout",
        )
    if rerun_place() is not None:
        raise StudyError("a notebook that is rerun does not rerun others", path=str(study.path))
    study._check("rerun")
    sealed = dict(study.results)
    if not sealed:
        raise StudyError(
            f"no result was sealed in the study at {study.path}, so there is nothing to compare; "
            "name results by study.results[name] = frame, and seal the study",
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
    compared = [
        compare_results(name, sealed.get(name), frames.get(name))
        for name in dict.fromkeys((*sealed, *frames))
        if name in sealed or frames[name] is not None
    ]
    after = study.verify()
    if after.digest != digest:
        why = after.found[0] if after.found else "it was sealed anew"
        problem, cell = f"the study is not as it was before it: {why}", None
    problem = None if problem is None else clipped(_masked(problem, tokens))
    report = Rerun(notebook, study.path, digest, started, ended, tuple(compared), problem, cell)
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
    try:
        content = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = nbformat.reads(content.decode(), as_version=4)  # type: ignore[no-untyped-call]
        language = book.metadata.get("kernelspec", {}).get("language", "python")
        if language == "python" and all(isinstance(cell.source, str) for cell in book.cells):
            return content, book
        problem = f"it is in {language}, not in Python"
    except OSError as error:
        problem = error.strerror or type(error).__name__
    except Exception as error:  # whatever is wrong with its JSON or its format
        problem = f"it is no notebook ({type(error).__name__})"
    raise ArgumentError(
        f"the notebook {clipped(str(path))} cannot be run: {problem}", argument="notebook"
    )


def _execute(
    book: Any, folder: Path, study: Path, results: str, seconds: float
) -> tuple[str | None, int | None]:
    """Execute a notebook in a kernel of its own; return why it did not end, and in which cell."""
    import nbclient
    import nbformat

    kept = {name: v for name, v in os.environ.items() if name not in (TOKEN, TOKEN_FILE, BASE_URL)}
    environment = {
        **kept,
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        RERUN_STUDY: str(study),
        RERUN_RESULTS: results,
    }
    ends: list[float] = []
    state: dict[str, int] = {}

    def left(cell: Any) -> int:
        if cell is entering:
            return _START
        ends[:] = ends or [time.monotonic() + seconds]
        return int(max(1, math.ceil(ends[0] - time.monotonic())))

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
    client.on_cell_start = lambda cell_index, **_: state.update(
        at=cell_index, kernel=client.km.provisioner.pid
    )

    def work() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # libraries of notebooks warn of their own deprecations
            asyncio.run(client.async_execute(env=environment, stdout=DEVNULL, stderr=DEVNULL))

    problem: str | None = None
    entering = nbformat.v4.new_code_cell(_ENTER)  # type: ignore[no-untyped-call]
    book.cells.insert(0, entering)
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
            if "kernel" in state and hasattr(os, "killpg"):
                with contextlib.suppress(OSError):  # what the kernel started is of its group
                    os.killpg(state["kernel"], signal.SIGKILL)
    del book.cells[0]
    if problem is not None and not state.get("at"):
        raise StudyError(f"the rerun did not begin: {clipped(problem)}", path=str(study))
    codes = [cell.cell_type == "code" for cell in book.cells[: state.get("at", 0)]]
    return problem, sum(codes) if problem else None


def _enter() -> None:
    """Make this process the kernel of a rerun: every client replays the study."""
    from aatoolkit.study.study import Study

    study = Study(os.environ[RERUN_STUDY])
    services = {record.base_url for record in study._current}

    def replaying(base_url: str | None) -> Client:
        named = (base_url or "").rstrip("/")
        return replaying_client(study, named if named in services else None)

    stand_in(replaying)


def _collected(folder: Path) -> dict[str, bytes]:
    """The files of the results that a rerun gave, by name; whatever it says of their content."""
    listed = folder / RESULTS
    results = (parse_results(listed.read_bytes()) or {}) if listed.is_file() else {}
    files = {name: folder / result_file(facts["hash"]) for name, facts in results.items()}
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
    hint = f" (it names {clipped(', '.join(names))})" if names else ""
    raise StudyError(
        f"the notebook {clipped(str(notebook))} names no study that is there{hint}; name it: "
        "aatoolkit study rerun NOTEBOOK STUDY",
        path=str(notebook),
    )


_NAMED = re.compile(r"""\bStudy(?:\.create|\.resume)?\(\s*(?:Path\(\s*)?(["'])(.+?)\1""")
