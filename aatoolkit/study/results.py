"""Named results: frames kept under the seal, which a rerun of a notebook is compared with."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from aatoolkit._util.files import write_whole
from aatoolkit._util.text import visible
from aatoolkit.errors import StudyError, did_you_mean, near_matches
from aatoolkit.frame.parquet import read_parquet, write_parquet
from aatoolkit.metadata.arrow_schema import logical_hash
from aatoolkit.study.files import (
    RESULTS,
    SHA256,
    UNREADABLE,
    canonical,
    parsed,
    result_file,
    unseal,
    versions,
)
from aatoolkit.study.recording import RERUN_RESULTS, rerun_place

if TYPE_CHECKING:
    from aatoolkit.study.study import Study

_FORMAT = {"format": "aatoolkit-results", "version": 1}
_LONGEST = 100


class Results(MutableMapping[str, pd.DataFrame]):
    """The named results of a study, frames by name.

    ``study.results["by type"] = frame`` stores one while the study is recorded; in a rerun it is
    compared with the one that was sealed. A name is given once: delete a result first to give its
    name to another.

    Parameters
    ----------
    study : Study
        The study.
    """

    def __init__(self, study: Study) -> None:
        self._study = study

    @property
    def hashes(self) -> dict[str, str]:
        """The logical hash of each, as `aatoolkit.logical_hash` gives it."""
        files = self._study._files
        if not files.has(RESULTS):
            return {}
        results = parse_results(self._study._read(RESULTS))
        if results is None:
            raise self._study._unusable(f"{RESULTS} does not hold results")
        return {name: facts["hash"] for name, facts in results.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self.hashes)

    def __len__(self) -> int:
        return len(self.hashes)

    def __contains__(self, name: object) -> bool:
        return name in self.hashes

    def __getitem__(self, name: str) -> pd.DataFrame:
        hashes = self.hashes
        if name not in hashes:
            there = ", ".join(hashes) or "none"
            hint = did_you_mean(near_matches(name, hashes), f"there are {there}")
            raise StudyError(f"no result is named {visible(str(name))!r}; {hint}")
        file = result_file(hashes[name])
        frame = frame_of(self._study._files.read(file))
        if frame is None or logical_hash(frame) != hashes[name]:
            raise self._study._unusable(f"{file} is not what was sealed")
        return frame

    def __setitem__(self, name: str, frame: pd.DataFrame | pd.Series) -> None:
        frame = _framed(name, frame)
        collected = rerun_place(RERUN_RESULTS)
        if self._study._writer is None and collected is not None:
            _add(collected, name, frame)
            return
        with self._study._recording().held():
            if self.hashes.get(name) != logical_hash(frame):
                unseal(self._study.path)
                _add(self._study.path, name, frame)

    def __delitem__(self, name: str) -> None:
        with self._study._recording().held():
            if name not in self:
                raise StudyError(f"no result is named {visible(str(name))!r}")
            unseal(self._study.path)
            _change(self._study.path, name, None)

    def __repr__(self) -> str:
        lines = (f"  {visible(name)}: {digest[:12]}" for name, digest in self.hashes.items())
        return "\n".join([f"<Results of {self._study._title!r}>", *lines])


def _framed(name: str, frame: pd.DataFrame | pd.Series) -> pd.DataFrame:
    """Return a result as a frame; raise StudyError if it is none, or cannot have such a name."""
    if not isinstance(name, str) or not 0 < len(name.strip()) <= _LONGEST or not name.isprintable():
        raise StudyError(f"a result is named by a text of 1 to {_LONGEST} characters that print")
    if isinstance(frame, pd.Series):
        return frame.to_frame("value" if frame.name is None else str(frame.name))
    if not isinstance(frame, pd.DataFrame):
        raise StudyError(f"a result is a DataFrame or a Series, not a {type(frame).__name__}")
    return frame


def _change(folder: Path, name: str, facts: dict[str, Any] | None) -> None:
    """Enter a result into the list of a folder, or take it out."""
    file = folder / RESULTS
    results = (parse_results(file.read_bytes()) or {}) if file.is_file() else {}
    before = results.pop(name, None)
    if facts is not None:
        if before is not None and before["hash"] != facts["hash"]:
            raise StudyError(
                f"another result is named {name!r}; choose another name, or delete that one first: "
                f"del study.results[{name!r}]"
            )
        results[name] = facts
    rows = [{"name": name, **facts} for name, facts in results.items()]
    write_whole(file, canonical({**_FORMAT, "results": rows}) + b"\n")


def _add(folder: Path, name: str, frame: pd.DataFrame) -> None:
    """Write a result to a folder: its content, then its entry."""
    digest = logical_hash(frame)
    content = folder / result_file(digest)
    if not content.is_file():
        write_parquet(frame, content)
    facts = {"hash": digest, "rows": len(frame), "computed_with": dict(versions())}
    _change(folder, name, facts)


def parse_results(text: bytes) -> dict[str, dict[str, Any]] | None:
    """Parse the facts of named results from ``results.json``; None if they are damaged."""

    def read(body: Any) -> dict[str, dict[str, Any]] | None:
        results = {str(row.pop("name")): row for row in map(dict, body["results"])}
        is_ours = {name: body[name] for name in _FORMAT} == _FORMAT
        is_whole = is_ours and all(SHA256.fullmatch(row["hash"]) for row in results.values())
        return results if is_whole and len(results) == len(body["results"]) else None

    return parsed(text, read)


def frame_of(content: bytes) -> pd.DataFrame | None:
    """Parse a frame from the bytes of its file; None if they are damaged."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "result.parquet")
        file.write_bytes(content)
        try:
            return read_parquet(file)
        except (*UNREADABLE, pa.ArrowException, OSError):
            return None
