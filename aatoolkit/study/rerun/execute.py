"""Execute a notebook in a kernel of its own, which is ended whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from aatoolkit._util.extras import needed
from aatoolkit._util.text import clipped
from aatoolkit.client.settings import BASE_URL, TOKEN, TOKEN_FILE
from aatoolkit.errors import ConfigurationError, StudyError
from aatoolkit.study.rerunning import NOWHERE, RESULTS, STUDY

_START = 60
"""The seconds that a kernel may take to start, and to load the package."""

_ENTER = "from aatoolkit.study.rerun.kernel import enter as _enter; _enter(); del _enter"
_REMOVED = "[token removed]"
_MOST_OUTPUT = 1 << 26
"""How many characters of outputs are kept."""

_LEFT_OUT = "[further outputs were left out]\n"
_SHORTEST = 6
"""The fewest characters of a text that is taken for a token."""


@dataclass
class Execution:
    """The outcome of executing a notebook.

    Attributes
    ----------
    notebook : NotebookNode
        It with its outputs, as far as it came.
    started, ended : datetime
        When, in UTC.
    problem : str or None
        Why it did not run to its end.
    cell : int or None
        The code cell that did not end, counted from 1.
    """

    notebook: Any
    started: datetime
    ended: datetime
    problem: str | None = None
    cell: int | None = None


@dataclass
class _Run:
    """The state of a run, shared between its threads."""

    seconds: float
    deadline: float | None = None
    kernel: int | None = None
    cell: int | None = None
    error: BaseException | None = None
    has_ended: bool = False
    refused: str | None = None

    def left(self, _: Any) -> int:
        """The whole seconds left for the cells, counted from the first one."""
        if self.deadline is None:
            self.deadline = time.monotonic() + self.seconds
        return max(1, math.ceil(self.deadline - time.monotonic()))


def read_notebook(path: Path) -> Any:
    """Read a notebook, converted to version 4 of the format.

    Raises
    ------
    ConfigurationError
        If it cannot be read, or is not in Python.
    PackageMissing
        If nbclient or ipykernel is not installed.
    """
    nbformat = _packages()[1]
    problem = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = nbformat.read(path, as_version=4)
            found.cells = [cell for cell in found.cells if cell.source is not None]
    except OSError as error:
        problem = error.strerror or type(error).__name__
    except Exception as error:  # whatever is wrong with its JSON or its format
        problem = f"it is no notebook ({type(error).__name__})"
    if not problem:
        language = found.metadata.get("kernelspec", {}).get("language", "python")
        if language != "python":
            problem = f"it is in {language}, not in Python"
    if problem:
        raise ConfigurationError(
            f"the notebook {clipped(str(path))} cannot be run: {problem}", setting="notebook"
        )
    return found


def execute(notebook: Any, folder: Path, study: Path, results: Path, seconds: float) -> Execution:
    """Execute a notebook offline from a study.

    Parameters
    ----------
    notebook : NotebookNode
        The notebook; it is given its outputs.
    folder : Path
        Where it runs.
    study : Path
        The study that it is answered from.
    results : Path
        The folder in which its results are collected.
    seconds : float
        What all cells together may take.
    """
    run = _Run(seconds)
    secrets = known_tokens()
    with tempfile.TemporaryDirectory() as home:
        client = _client(notebook, folder, run)
        started = datetime.now(UTC)
        thread = threading.Thread(
            target=_work, args=(client, _environment(study, results, home), run), daemon=True
        )
        thread.start()
        try:
            thread.join(_START + seconds + _START)
        finally:
            _end(run.kernel)
            thread.join(_START)
        ended = datetime.now(UTC)
    if run.refused is not None and run.cell is None:
        raise StudyError(f"the rerun did not begin: {run.refused}", path=str(study))
    problem = None if run.error is None else _problem(run.error, seconds, secrets)
    if problem is None and not run.has_ended:
        problem = f"its kernel did not end within {seconds:g} seconds"
    _without(notebook, secrets)
    return Execution(notebook, started, ended, problem, run.cell if problem else None)


def known_tokens() -> tuple[str, ...]:
    """The tokens that this process would send, which no output may hold."""
    found = [os.environ.get(TOKEN, "")]
    with contextlib.suppress(KeyError, OSError, ValueError):
        found.append(Path(os.environ[TOKEN_FILE]).expanduser().read_text("utf-8").strip())
    return tuple(token for token in found if len(token) >= _SHORTEST)


def _packages() -> tuple[Any, Any]:
    with needed("a rerun needs", "notebook"):
        import ipykernel  # noqa: F401
        import nbclient
        import nbformat
    return nbclient, nbformat


def _environment(study: Path, results: Path, home: str) -> Mapping[str, str]:
    """The environment of the kernel: no tokens, no settings of the user, no network."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in (TOKEN, TOKEN_FILE, BASE_URL) and not name.lower().endswith("_proxy")
    }
    proxies = dict.fromkeys(
        ("http_proxy", "https_proxy", "all_proxy"), f"http://{NOWHERE[0]}:{NOWHERE[1]}"
    )
    return {
        **kept,
        **proxies,
        "no_proxy": "localhost,127.0.0.1",
        "IPYTHONDIR": home,
        "JUPYTER_PLATFORM_DIRS": "1",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        STUDY: str(study),
        RESULTS: str(results),
    }


def _client(notebook: Any, folder: Path, run: _Run) -> Any:
    """Make the client that executes a notebook; output beyond a limit is dropped."""
    nbclient, nbformat = _packages()

    class BoundedClient(nbclient.NotebookClient):  # type: ignore[misc, name-defined]
        size = 0

        def output(self, outs: Any, msg: Any, display_id: Any, cell_index: Any) -> Any:
            if self.size > _MOST_OUTPUT:
                return None
            self.size += len(str(msg["content"]))
            if self.size > _MOST_OUTPUT:
                outs.append(nbformat.v4.new_output("stream", name="stderr", text=_LEFT_OUT))
                return None
            return super().output(outs, msg, display_id, cell_index)

    client = BoundedClient(
        notebook,
        kernel_name="python3",
        startup_timeout=_START,
        timeout_func=run.left,
        shutdown_kernel="immediate",
        store_widget_state=False,
        record_timing=False,
        extra_arguments=["--HistoryManager.enabled=False"],
        resources={"metadata": {"path": str(folder)}},
    )
    client.on_notebook_start = _entering(client, run)
    client.on_cell_start = _following(notebook, run)
    return client


def _work(client: Any, environment: Mapping[str, str], run: _Run) -> None:
    try:
        with warnings.catch_warnings():
            # Libraries of notebooks warn of their own deprecations.
            warnings.simplefilter("ignore")
            # What the kernel itself prints is no output of the notebook.
            asyncio.run(client.async_execute(env=environment, stdout=DEVNULL, stderr=DEVNULL))
        run.has_ended = True
    except BaseException as error:
        run.error = error


def _entering(client: Any, run: _Run) -> Any:
    """Make the hook before the first cell: no network, and every client replays."""

    async def enter(**_: Any) -> None:
        run.kernel = getattr(client.km.provisioner, "pid", None)
        request = client.kc.execute(_ENTER, store_history=False, allow_stdin=False)
        until = time.monotonic() + _START
        content: Mapping[str, Any] = {"status": "no reply"}
        with contextlib.suppress(Exception):  # a queue that stays empty, a kernel that died
            while time.monotonic() < until:
                message = await client.kc.get_shell_msg(timeout=_START)
                if message["parent_header"].get("msg_id") == request:
                    content = message["content"]
                    break
        if content["status"] != "ok":
            run.refused = clipped(str(content.get("evalue", "its kernel does not answer")))
            raise RuntimeError(run.refused)

    return enter


def _following(notebook: Any, run: _Run) -> Any:
    """Make the hook at each cell, which keeps its number among the cells of code."""
    codes = [at for at, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    numbers = {place: number for number, place in enumerate(codes, 1)}

    def follow(cell_index: int, **_: Any) -> None:
        run.cell = numbers.get(cell_index, run.cell)

    return follow


def _problem(error: BaseException, seconds: float, secrets: tuple[str, ...]) -> str:
    name = type(error).__name__
    if name == "CellTimeoutError":
        return f"it did not end within {seconds:g} seconds"
    if name == "DeadKernelError":
        return "its kernel died"
    kind, words = getattr(error, "ename", name), getattr(error, "evalue", str(error))
    return clipped(_clean(f"{kind}: {words}", secrets))


def _end(kernel: int | None) -> None:
    """End the kernel with all that it started, which has a group of its own."""
    if kernel is not None and hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(kernel, signal.SIGKILL)


def _without(notebook: Any, secrets: tuple[str, ...]) -> None:
    """Mask tokens in the outputs of a notebook."""
    for cell in notebook.cells if secrets else ():
        if cell.cell_type == "code":
            cell.outputs = _clean(cell.outputs, secrets)


def _clean(found: Any, secrets: tuple[str, ...]) -> Any:
    """Mask tokens in a JSON-like value."""
    if isinstance(found, str):
        for secret in secrets:
            found = found.replace(secret, _REMOVED)
        return found
    if isinstance(found, list):
        return [_clean(each, secrets) for each in found]
    if isinstance(found, dict):
        return type(found)({key: _clean(each, secrets) for key, each in found.items()})
    return found
