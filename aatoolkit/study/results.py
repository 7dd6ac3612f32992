"""Named results: sealed frames that a rerun of a study's notebook is compared with."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from aatoolkit._util.files import write_whole
from aatoolkit._util.text import visible
from aatoolkit.errors import AAToolkitError, StudyError, did_you_mean, near_matches
from aatoolkit.frame.parquet import read_parquet, write_parquet
from aatoolkit.jsontree import decode
from aatoolkit.metadata.table_hash import logical_hash
from aatoolkit.study.projects import StudyProjects
from aatoolkit.study.record import SHA256, canonical
from aatoolkit.study.recorder import versions
from aatoolkit.study.rerunning import rerun_results
from aatoolkit.study.storage import RESULTS, SEAL, TABLES, result_file

if TYPE_CHECKING:
    import os

    from aatoolkit.study.rerun import Rerun

FORMAT = "aatoolkit-results"
_LONGEST = 100


@dataclass(frozen=True, repr=False)
class SealedResult:
    """A named result.

    Attributes
    ----------
    name : str
        Its name.
    hash : str
        The logical hash of its content, as `aatoolkit.logical_hash` gives it.
    rows : int
        How many rows it has.
    columns : tuple of str
        Its columns, named levels of the index first.
    versions : mapping of str to str
        The software that computed it.
    """

    name: str
    hash: str
    rows: int
    columns: tuple[str, ...]
    versions: Mapping[str, str]

    def __repr__(self) -> str:
        size = f"{self.rows:,} rows, {len(self.columns):,} columns"
        return f"<SealedResult {visible(self.name)!r}: {size}, {self.hash[:12]}>"


class StudyResults(StudyProjects):
    """The methods of a study for named results and reruns."""

    @property
    def results(self) -> Mapping[str, SealedResult]:
        """The named results, by name, in the order in which they were given.

        Raises
        ------
        StudyError
            If ``results.json`` is damaged, or does not match the seal.
        """
        if not self._storage.has(RESULTS):
            return MappingProxyType({})
        found = parse_results(self._read(RESULTS))
        if found is None:
            raise self._unusable(f"{RESULTS} does not hold results")
        return MappingProxyType(found)

    def result(self, name: str) -> pd.DataFrame:
        """Return a named result as it was sealed.

        Raises
        ------
        StudyError
            If there is none of this name, or it is not what was sealed.
        """
        held = self.results
        if name not in held:
            hint = did_you_mean(near_matches(name, held), f"there are {', '.join(held) or 'none'}")
            raise StudyError(f"no result is named {visible(name)!r}; {hint}", path=str(self.path))
        file = result_file(held[name].hash)
        frame = frame_of(self._storage.read(file))
        if frame is None or logical_hash(frame) != held[name].hash:
            raise self._unusable(f"{file} is not what was sealed")
        return frame

    def seal_result(
        self, name: str, frame: pd.DataFrame | pd.Series, *, replace: bool = False
    ) -> str:
        """Store a result of the analysis by name, for reruns to compare with.

        Its content and its logical hash are stored in the study, and sealed with it: call `seal`
        after the last one, or leave the ``with`` block. In a rerun nothing is stored: the frame is
        compared with the one that was sealed.

        Parameters
        ----------
        name : str
            Its name, of at most 100 characters.
        frame : pandas.DataFrame or pandas.Series
            The result. Rows, columns, values and their kinds count, in their order; an index
            counts if it has a name.
        replace : bool
            Whether it may replace another result of this name. The same content may always be
            given again.

        Returns
        -------
        str
            The logical hash of its content.

        Raises
        ------
        StudyError
            If the study was opened for replay, or the name is taken by another content.
        NotWritten
            If a column holds what has no hash.
        NotWritten
            If the study cannot be written to.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> with aa.Study.create(f"{tempfile.mkdtemp()}/mine") as study:
        ...     tables = study.record(aa.demo()).read("domains", days=7)
        ...     digest = study.seal_result("most cited", tables.main.head(5))
        >>> study.results["most cited"].rows
        5
        >>> study.results["most cited"].hash == digest == aa.logical_hash(tables.main.head(5))
        True
        """
        collected = rerun_results()
        if self._writer is None and collected is not None:
            return add_result(collected, name, frame, replace).hash
        writer = self._recording()
        with writer.held():
            held = self.results
            found = described(name, frame)
            if name in held and held[name].hash == found.hash:
                return found.hash
            for stale in (SEAL, TABLES):
                (self.path / stale).unlink(missing_ok=True)
            return add_result(self.path, name, frame, replace).hash

    def rerun(
        self,
        notebook: str | os.PathLike[str],
        *,
        out: str | os.PathLike[str] | None = None,
        crate: str | os.PathLike[str] | None = None,
        timeout: float = 600.0,
    ) -> Rerun:
        """Run a notebook offline from this study, and compare its results with those sealed.

        The notebook runs in a kernel of its own, in its folder. There every client answers from
        this study, whatever service it names, ``aa.demo()`` too; ``Study.create`` and
        ``Study.resume`` open this study, and so does ``Study`` where its path is missing; tokens
        are taken away, and sockets of Python reach this machine only. ``study.seal_result``
        collects what is compared.

        Parameters
        ----------
        notebook : str or path
            The notebook; it is not changed.
        out : str or path, optional
            Where to write the notebook with its outputs; without tokens that this process knows.
        crate : str or path, optional
            A new or empty folder for a Workflow Run RO-Crate: the notebook, the notebook with its
            outputs, the results, and what was made from what.
        timeout : float
            The seconds that all cells together may take; the kernel is ended then.

        Returns
        -------
        Rerun
            True if the notebook ran to its end and each sealed result is the same. It says which
            results differ, and where.

        Raises
        ------
        StudyError
            If the study is not as it was sealed, or no result was sealed in it.
        ConfigurationError
            If the notebook cannot be read, or the timeout is no positive number.
        NotWritten
            If ``out`` or ``crate`` cannot be written.
        PackageMissing
            If nbclient or ipykernel is not installed; it says what to install.
        """
        from aatoolkit.study.rerun import rerun

        return rerun(self, Path(notebook), out=out, crate=crate, timeout=timeout)


def described(name: str, frame: pd.DataFrame | pd.Series) -> SealedResult:
    """Describe a result: name, hash, rows, columns and software versions.

    Raises
    ------
    StudyError
        If the name cannot be used, or the result is no frame.
    NotWritten
        If a column holds what has no hash.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST:
        raise StudyError(f"a result is named by a text of 1 to {_LONGEST} characters")
    if not name.isprintable():
        raise StudyError(f"the name {visible(name)!r} of a result has signs that do not print")
    table = _table(frame)
    levels = [str(level) for level in table.index.names if level is not None]
    columns = (*levels, *map(str, table.columns))
    return SealedResult(name, logical_hash(table), len(table), columns, versions())


def add_result(
    folder: Path, name: str, frame: pd.DataFrame | pd.Series, replace: bool
) -> SealedResult:
    """Write a result to a folder: its content, then its entry.

    Raises
    ------
    StudyError
        If the name is taken by another content.
    """
    found, table = described(name, frame), _table(frame)
    file = folder / RESULTS
    held = (parse_results(file.read_bytes()) or {}) if file.is_file() else {}
    before = held.get(name)
    if before is not None and before.hash == found.hash:
        return before
    if before is not None and not replace:
        raise StudyError(
            f"another result is named {name!r}; choose another name, or pass replace=True"
        )
    content = folder / result_file(found.hash)
    if not content.is_file():
        write_parquet(table, content)
    held[name] = found
    write_whole(file, format_results(held))
    if before is not None and all(one.hash != before.hash for one in held.values()):
        (folder / result_file(before.hash)).unlink(missing_ok=True)
    return found


def _table(frame: pd.DataFrame | pd.Series) -> pd.DataFrame:
    if isinstance(frame, pd.Series):
        return frame.to_frame("value" if frame.name is None else str(frame.name))
    if not isinstance(frame, pd.DataFrame):
        raise StudyError(f"a result is a DataFrame or a Series, not a {type(frame).__name__}")
    return frame


def format_results(results: Mapping[str, SealedResult]) -> bytes:
    """Serialize the content of ``results.json``."""
    listed = [
        {
            "name": one.name,
            "hash": one.hash,
            "rows": one.rows,
            "columns": [*one.columns],
            "computed_with": dict(one.versions),
        }
        for one in results.values()
    ]
    return canonical({"format": FORMAT, "version": 1, "results": listed}) + b"\n"


def parse_results(text: bytes) -> dict[str, SealedResult] | None:
    """Parse named results from ``results.json``; None if they are damaged."""
    try:
        body: Any = decode.decode(text)
        listed = [
            SealedResult(
                str(one["name"]),
                str(one["hash"]),
                int(one["rows"]),
                tuple(map(str, one["columns"])),
                {str(name): str(version) for name, version in one["computed_with"].items()},
            )
            for one in body["results"]
        ]
    except (AAToolkitError, KeyError, TypeError, ValueError, AttributeError):
        return None
    is_ours = body.get("format") == FORMAT and body.get("version") == 1
    names = {one.name for one in listed}
    are_hashes = all(SHA256.fullmatch(one.hash) for one in listed)
    is_sound = is_ours and are_hashes and len(names) == len(listed)
    return {one.name: one for one in listed} if is_sound else None


def frame_of(content: bytes) -> pd.DataFrame | None:
    """Parse a frame from the bytes of its file; None if they are damaged."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "result.parquet")
        file.write_bytes(content)
        try:
            return read_parquet(file)
        except (AAToolkitError, pa.ArrowException, OSError, ValueError):
            return None
