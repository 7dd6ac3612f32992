"""Rerun a notebook on the recorded responses of a study, and compare its results.

The results are compared with those stored in the study. There is no sandbox: the notebook runs with
the user's rights.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Any

from aatoolkit._util.defaults import require_package
from aatoolkit._util.files import FilePath, write_bytes
from aatoolkit._util.text import clipped, print_wrapped, visible
from aatoolkit.client.client import BASE_URL_ENV, TOKEN_ENV, TOKEN_FILE_ENV, replace_client_factory
from aatoolkit.errors import ArgumentError, StudyError
from aatoolkit.study.comparing import ResultComparison, compare_results, read_rerun_frames
from aatoolkit.study.recording import (
    RERUN_RESULTS_ENV,
    RERUN_STUDY_ENV,
    make_replaying_client,
    read_rerun_path,
)

if TYPE_CHECKING:
    from aatoolkit.study.study import Study

_MAX_START_SECONDS = 60
"""The number of seconds that a kernel may take to start and to import the package."""

_FIRST_CELL_CODE = "from aatoolkit.study.rerun import _replay_all_clients; _replay_all_clients()"


@dataclass(frozen=True, repr=False)
class Rerun:
    """The result of running a notebook again and comparing its results with the stored ones.

    ``bool(rerun)`` is True if the notebook ran to its end and all stored results are the same.

    Attributes
    ----------
    notebook, study : str
        The paths of the notebook and of the study that it read.
    digest : str
        The SHA-256 that identifies the study.
    seconds : float
        How long the run took.
    compared : tuple of ResultComparison
        The comparisons of all results, also of new ones.
    problem : str or None
        Why the notebook did not run to its end, or how it changed the study.
    cell : int or None
        The number of the code cell that failed, counted from 1.
    """

    notebook: str
    study: str
    digest: str
    seconds: float
    compared: tuple[ResultComparison, ...]
    problem: str | None = None
    cell: int | None = None

    @property
    def ok(self) -> bool:
        """Whether the notebook ran to its end, and no stored result is missing or different."""
        return self.problem is None and all(
            comparison.status in ("same", "new") for comparison in self.compared
        )

    def __bool__(self) -> bool:
        return self.ok

    def to_dict(self) -> dict[str, Any]:
        """Convert this result of a notebook's rerun to a dict of JSON values."""
        value_by_attribute = asdict(self)
        return {"ok": self.ok, **value_by_attribute, "results": value_by_attribute.pop("compared")}

    def lines(self) -> Iterator[str]:
        """Yield lines of text that describe this result of a notebook's rerun."""
        if self.problem is not None:
            prefix = f"the notebook did not run to its end in code cell {self.cell}: "
            yield f"{prefix if self.cell else ''}{visible(self.problem)}"
        for comparison in self.compared:
            yield clipped(f"{comparison.status}: {comparison.name}")
            yield from (f"  {clipped(difference)}" for difference in comparison.differences)

    def __repr__(self) -> str:
        count_by_status = Counter(comparison.status for comparison in self.compared)
        counts_text = (
            ", ".join(f"{count} {status}" for status, count in count_by_status.items())
            or "no result"
        )
        header_line = f"<Rerun: {counts_text}, in {self.seconds:.0f} s>"
        return "\n".join([header_line, *(f"  {line}" for line in self.lines())])

    _repr_pretty_ = print_wrapped


def rerun(study: Study, notebook_path: Path, *, out: FilePath | None, timeout: float) -> Rerun:
    """Run a notebook on the recorded responses of a study; see `Study.rerun`."""
    if read_rerun_path():
        raise StudyError("a notebook that is rerun does not rerun others", path=study.path)
    study._require_verified("rerun")
    sealed_frame_by_name = dict(study.results)
    if not sealed_frame_by_name:
        raise StudyError(
            f"no result was sealed in the study at {study.path}, so there is nothing to compare; "
            "name results by study.results[name] = frame, and seal the study",
            path=study.path,
        )
    digest = str(study.digest)
    notebook_path = notebook_path.expanduser().resolve()
    if out is not None and Path(out).expanduser().resolve() == notebook_path:
        raise ArgumentError("out= is the notebook itself; name another file", argument="out")
    notebook_node = _read_notebook(notebook_path)
    start_time = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        problem, cell_number = _execute_notebook(
            notebook_node, notebook_path.parent, study.path.resolve(), folder, timeout
        )
        rerun_frame_by_name = read_rerun_frames(Path(folder))
    seconds = time.monotonic() - start_time
    result_comparisons = [
        compare_results(
            result_name, sealed_frame_by_name.get(result_name), rerun_frame_by_name.get(result_name)
        )
        for result_name in dict.fromkeys((*sealed_frame_by_name, *rerun_frame_by_name))
    ]
    verification = study.verify()
    if verification.digest != digest:
        problem_text = verification.problems[0] if verification.problems else "it was sealed anew"
        change_text = f"the study is not as it was before the rerun: {problem_text}"
        problem = f"{problem}; {change_text}" if problem else change_text
    problem = None if problem is None else clipped(_mask_tokens(problem))
    if out is not None:
        executed_json = _mask_tokens(json.dumps(notebook_node, ensure_ascii=False, indent=1) + "\n")
        write_bytes(Path(out).expanduser(), executed_json.encode("utf-8", "backslashreplace"))
    return Rerun(
        str(notebook_path),
        str(study.path),
        digest,
        seconds,
        tuple(result_comparisons),
        problem,
        cell_number,
    )


def _read_notebook(notebook_path: Path) -> Any:
    """Read a notebook, and convert it to version 4 of the format."""
    with require_package("a rerun needs", "notebook"):
        import ipykernel  # noqa: F401
        import nbclient  # noqa: F401
        import nbformat
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return nbformat.reads(notebook_path.read_text("utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    except OSError as error:
        problem_text = error.strerror or type(error).__name__
    except Exception as error:  # whatever is wrong with its JSON or its format
        problem_text = f"it is no notebook ({type(error).__name__})"
    raise ArgumentError(
        f"the notebook {clipped(str(notebook_path))} cannot be run: {problem_text}",
        argument="notebook",
    )


def _execute_notebook(
    notebook_node: Any, folder: Path, study_path: Path, results_folder: str, max_seconds: float
) -> tuple[str | None, int | None]:
    """Execute a notebook in a new kernel; return the error and the number of the failed cell.

    All code cells together may take ``max_seconds``. Clients in the notebook read from the study at
    ``study_path``. The notebook runs in ``folder``, and its results are written to
    ``results_folder``.
    """
    # Code cells are counted from 1; both are None if the notebook ran to its end.
    import nbclient
    import nbformat

    environment_variables = {
        **{
            name: value
            for name, value in os.environ.items()
            if name not in (TOKEN_ENV, TOKEN_FILE_ENV, BASE_URL_ENV)
        },
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        RERUN_STUDY_ENV: str(study_path),
        RERUN_RESULTS_ENV: results_folder,
    }
    deadlines: list[float] = []
    kernel_state: dict[str, int] = {}

    def seconds_left(cell: Any) -> int:
        if cell is first_cell:
            return _MAX_START_SECONDS
        deadlines[:] = deadlines or [time.monotonic() + max_seconds]
        return int(max(1, math.ceil(deadlines[0] - time.monotonic())))

    notebook_client: Any = nbclient.NotebookClient(
        notebook_node,
        kernel_name="python3",
        startup_timeout=_MAX_START_SECONDS,
        timeout_func=seconds_left,
        shutdown_kernel="immediate",
        store_widget_state=False,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    notebook_client.on_cell_start = lambda cell_index, **_: kernel_state.update(
        at=cell_index, kernel=notebook_client.km.provisioner.pid
    )

    def execute_cells() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # libraries of notebooks warn of their own deprecations
            asyncio.run(
                notebook_client.async_execute(
                    env=environment_variables, stdout=DEVNULL, stderr=DEVNULL
                )
            )

    problem_text: str | None = None
    first_cell = nbformat.v4.new_code_cell(_FIRST_CELL_CODE)  # type: ignore[no-untyped-call]
    notebook_node.cells.insert(0, first_cell)
    # In a thread of its own: in a notebook there is a loop already.
    with ThreadPoolExecutor(1) as thread_pool:
        try:
            thread_pool.submit(execute_cells).result()
        except Exception as error:
            error_name = type(error).__name__
            error_text = f"{getattr(error, 'ename', error_name)}: {getattr(error, 'evalue', error)}"
            problem_text = {
                "CellTimeoutError": f"it did not end within {max_seconds:g} seconds",
                "DeadKernelError": "its kernel died",
            }.get(error_name, error_text)
        finally:
            if "kernel" in kernel_state and hasattr(os, "killpg"):
                with contextlib.suppress(OSError):  # processes of the kernel are in its group
                    os.killpg(kernel_state["kernel"], signal.SIGKILL)
    del notebook_node.cells[0]
    if problem_text is not None and not kernel_state.get("at"):
        raise StudyError(f"the rerun did not begin: {clipped(problem_text)}", path=study_path)
    are_code_cells = [
        cell.cell_type == "code" for cell in notebook_node.cells[: kernel_state.get("at", 0)]
    ]
    return problem_text, sum(are_code_cells) if problem_text else None


def _replay_all_clients() -> None:
    """Make all clients in this process read from a study instead of the network, until it ends.

    The environment variable ``RERUN_STUDY_ENV`` names the study.
    """
    from aatoolkit.study.study import Study

    study = Study(os.environ[RERUN_STUDY_ENV])
    base_urls = {record.base_url for record in study._current_records}
    # Another base URL is that of the study.
    replace_client_factory(
        lambda base_url: make_replaying_client(
            study, url if (url := (base_url or "").rstrip("/")) in base_urls else None
        )
    )


def _mask_tokens(text: str) -> str:
    """Mask access tokens in a text: that of the environment, and that of the token file."""
    tokens = [os.environ.get(TOKEN_ENV, "")]
    with contextlib.suppress(KeyError, OSError, ValueError):
        tokens.append(Path(os.environ[TOKEN_FILE_ENV]).expanduser().read_text("utf-8").strip())
    for token in tokens:
        text = text.replace(token, "[token removed]") if len(token) > 5 else text
    return text
