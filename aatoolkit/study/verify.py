"""Verify a study: every file against the seal, every body against its hash."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aatoolkit._util.text import visible, wrapped_in_ipython
from aatoolkit.errors import StudyError
from aatoolkit.study.files import (
    MANIFEST,
    RESPONSES,
    SEAL,
    STUDY,
    TABLES,
    StudyFiles,
    body_file,
    format_seal,
    is_study_file,
    parse_seal,
    sha256_of,
)
from aatoolkit.study.reading import parse_tables
from aatoolkit.study.record import Record, parse_lines

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Problem:
    """One problem of a study.

    Attributes
    ----------
    kind : str
        ``altered``, ``missing``, ``added``, ``unreadable``, ``broken chain``, ``not sealed``,
        ``other tables``.
    file : str
        The file concerned.
    message : str
        What is wrong.
    responses : tuple of str
        The responses concerned.
    tables : tuple of str
        The tables concerned.
    """

    kind: str
    file: str
    message: str
    responses: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{self.kind}: {self.file}: {self.message}"]
        for name, touched in (("responses", self.responses), ("tables", self.tables)):
            more = f" and {len(touched) - 3} more" if len(touched) > 3 else ""
            parts += [f"{name}: {', '.join(touched[:3])}{more}"] if touched else []
        return visible("; ".join(parts))


@dataclass(frozen=True, repr=False)
class Verification:
    """The result of verifying a study; true if it is as it was sealed.

    Attributes
    ----------
    path : Path
        The study.
    digest : str or None
        The SHA-256 of its seal; None if there is a problem.
    files, records : int
        The number of files and records checked.
    found : tuple of Problem
        The problems.
    """

    path: Path
    digest: str | None
    files: int
    records: int
    found: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether the study is as it was sealed."""
        return not self.found

    @property
    def problems(self) -> pd.DataFrame:
        """One row per problem: ``kind``, ``file``, ``message``, ``responses``, ``tables``."""
        import pandas as pd

        columns = ["kind", "file", "message", "responses", "tables"]
        rows = [
            (one.kind, one.file, one.message, ", ".join(one.responses), ", ".join(one.tables))
            for one in self.found
        ]
        return pd.DataFrame(rows, columns=columns, dtype="string")

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        head = f"{self.files} files, {self.records} records"
        if self.ok:
            return f"<Verification: as sealed, {head}, digest {self.digest}>"
        lines = [f"  {problem}" for problem in self.found]
        return "\n".join([f"<Verification: {len(lines)} problems, {head}>", *lines])

    _repr_pretty_ = wrapped_in_ipython


def verify(
    files: StudyFiles, read: Callable[[Record], dict[str, tuple[int, str]]] | None = None
) -> Verification:
    """Check every byte of a study.

    Parameters
    ----------
    files
        The files of the study.
    read
        Returns the hashes of a record's tables, to compare them too; None to check bytes only.
    """
    try:
        names = files.names()
    except StudyError as error:
        return Verification(files.path, None, 0, 0, (Problem("unreadable", "", str(error)),))
    inspection = _Inspection(files, names)
    # Of each file only the first problem, which is the most specific.
    first: dict[str, Problem] = {}
    for problem in inspection.problems():
        first.setdefault(problem.file, problem)
    if len(first) > 1 and SEAL in first and first[SEAL].kind == "altered":
        del first[SEAL]  # a changed file does not match the seal; one problem is enough
    problems = [*first.values()]
    if read is not None and not problems:
        problems += inspection.replayed(read)
    seal = None if problems else inspection.contents.get(SEAL)
    digest = None if seal is None else sha256_of(seal)
    return Verification(files.path, digest, len(names), len(inspection.records), tuple(problems))


class _Inspection:
    """A single pass over the content of a study that lists its problems."""

    def __init__(self, files: StudyFiles, names: list[str]) -> None:
        self.names = names
        self.contents: dict[str, bytes] = {}
        self.digests: dict[str, str] = {}
        self.unreadable: dict[str, str] = {}
        for name in filter(is_study_file, names):
            try:
                data = files.read(name)
            except StudyError as error:
                self.unreadable[name] = str(error)
                continue
            self.digests[name] = sha256_of(data)
            if "/" not in name:
                self.contents[name] = data
        self.records, self.broken = _records(self.contents.get(MANIFEST, b""))
        self.hashes = parse_tables(self.contents.get(TABLES, b""))

    def problems(self) -> Iterator[Problem]:
        """Yield the problems: of files, of the manifest, of bodies, of the seal."""
        for name in self.names:
            if not is_study_file(name):
                yield Problem("added", name, "it does not belong to a study")
        for name, why in self.unreadable.items():
            yield self._touching("unreadable", name, why)
        for name in (STUDY, MANIFEST):
            if name not in self.names:
                yield self._touching("missing", name, "every study has this file")
        if self.broken is not None:
            yield self._touching("broken chain", MANIFEST, self.broken)
        recorded = {body_file(record.sha256) for record in self.records.values()}
        bodies = {name for name in self.names if is_study_file(name, RESPONSES)}
        for name in sorted(bodies):
            if name in self.digests and body_file(self.digests[name]) != name:
                yield self._touching("altered", name, "its bytes are not those that were recorded")
            elif name not in recorded:
                yield self._touching("added", name, "no record refers to it")
        for name in sorted(recorded - bodies):
            yield self._touching("missing", name, "it was recorded")
        yield from self._sealed()

    def _sealed(self) -> Iterator[Problem]:
        """Yield differences between the files and the seal."""
        if SEAL not in self.names:
            why = "without a seal, files that are missing or added are not detected"
            yield Problem("not sealed", SEAL, why)
            return
        seal = self.contents.get(SEAL, b"")
        if seal == format_seal(self.digests):
            return
        sealed = parse_seal(seal)
        there = {name: digest for name, digest in self.digests.items() if name != SEAL}
        for name in sorted({*sealed, *there}):
            if name not in there:
                yield self._touching("missing", name, "it is in the seal")
            elif name not in sealed:
                yield self._touching("added", name, "it is not in the seal")
            # If a body matches its name, its line in the seal is what is wrong.
            elif there[name] != sealed[name] and not is_study_file(name, RESPONSES):
                yield self._touching("altered", name, "it does not match the seal")
        if {*sealed} == {*there}:
            yield Problem("altered", SEAL, "it does not match the files")

    def replayed(self, read: Callable[[Record], dict[str, tuple[int, str]]]) -> Iterator[Problem]:
        """Yield records whose table hashes, read by this version, differ from the sealed ones."""
        for number, record in self.records.items():
            now, then = read(record), self._hashes(number)
            differing = sorted(n for n in now.keys() | then.keys() if now.get(n) != then.get(n))
            if differing:
                why = "this version reads other tables; the responses are unchanged"
                yield Problem("other tables", TABLES, why, (record.name,), tuple(differing))

    def _hashes(self, number: int) -> dict[str, tuple[int, str]]:
        return self.hashes[number - 1] if number <= len(self.hashes) else {}

    def _touching(self, kind: str, name: str, message: str) -> Problem:
        """Make a problem of a file, with the responses and tables concerned."""
        touched = {
            number: record
            for number, record in self.records.items()
            if name in (MANIFEST, body_file(record.sha256))
        }
        tables = dict.fromkeys(table for number in touched for table in self._hashes(number))
        responses = dict.fromkeys(record.name for record in touched.values())
        return Problem(kind, name, message, tuple(responses), tuple(tables))


def _records(manifest: bytes) -> tuple[dict[int, Record], str | None]:
    """Parse the records by line number; return also the problem of lines that fail."""
    try:
        return dict(enumerate(parse_lines(manifest), 1)), None
    except StudyError as error:
        problem = (error.problems or ("",))[0].removeprefix(f"{MANIFEST}: ")
    legible = {}
    for number, line in enumerate(manifest.split(b"\n"), 1):
        with contextlib.suppress(StudyError):
            legible[number] = Record.loads(line)
    return legible, problem
