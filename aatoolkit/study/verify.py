"""Verify a study: every file against the seal, every answer against its hash."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from aatoolkit import sections
from aatoolkit._util.terminal import wrapped_in_ipython
from aatoolkit._util.text import code, markup, visible
from aatoolkit.errors import ScopeError, StudyError
from aatoolkit.study.checksums import (
    Hashes,
    format_checksums,
    parse_checksums,
    parse_tables,
    sha256_of,
)
from aatoolkit.study.manifest import parse_lines
from aatoolkit.study.record import Record
from aatoolkit.study.storage import (
    ANSWERS,
    MANIFEST,
    RESULT_FILES,
    SEAL,
    STUDY,
    TABLES,
    StudyStorage,
    answer_file,
    is_answer_file,
    is_study_file,
)

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
    answers : tuple of str
        The answers concerned.
    tables : tuple of str
        The tables concerned.
    """

    kind: str
    file: str
    message: str
    answers: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    def __str__(self) -> str:
        touched = "".join(
            f"; {name} {', '.join(them[:3])}{f' and {len(them) - 3} more' * (len(them) > 3)}"
            for name, them in (("answers:", self.answers), ("tables:", self.tables))
            if them
        )
        return visible(f"{self.kind}: {self.file}: {self.message}{touched}")


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
        """One row per problem: ``kind``, ``file``, ``message``, ``answers``, ``tables``."""
        import pandas as pd

        columns = ("kind", "file", "message", "answers", "tables")
        return pd.DataFrame(
            {
                name: pd.array([_cell(getattr(one, name)) for one in self.found], dtype="string")
                for name in columns
            }
        )

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        head = f"{self.files} files, {self.records} records"
        if self.ok:
            return f"<Verification: as sealed, {head}, digest {self.digest}>"
        lines = [f"  {problem}" for problem in self.found]
        return "\n".join([f"<Verification: {len(lines)} problems, {head}>", *lines])

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        if self.ok:
            return code(repr(self))
        items = "".join(f"<li>{markup(str(problem))}</li>" for problem in self.found)
        return (
            f'<div class="tex2jax_ignore"><b>{len(self.found)} problems</b> in '
            f"{markup(str(self.path))}<ul>{items}</ul></div>"
        )


def verify(storage: StudyStorage, read: Callable[[Record], Hashes] | None = None) -> Verification:
    """Check every byte of a study.

    Parameters
    ----------
    place
        The files of the study.
    read
        Returns the hashes of a record's tables, to compare them too; None to check bytes only.
    """
    try:
        names = storage.names()
    except (StudyError, OSError) as error:
        problem = Problem("unreadable", "", str(error))
        return Verification(storage.path, None, 0, 0, (problem,))
    inspected = _Inspection(storage, names)
    found = inspected.problems()
    if read is not None and not found:
        found += inspected.replayed(read)
    sealed = SEAL in inspected.bytes and not found
    return Verification(
        storage.path,
        sha256_of(inspected.bytes[SEAL]) if sealed else None,
        len(names),
        len(inspected.records),
        tuple(found),
    )


class _Inspection:
    """A single pass over the content of a study that lists its problems."""

    def __init__(self, storage: StudyStorage, names: list[str]) -> None:
        self.names = names
        self.bytes: dict[str, bytes] = {}
        self.digests: dict[str, str] = {}
        self.unreadable: dict[str, str] = {}
        for name in filter(is_study_file, names):
            try:
                data = storage.read(name)
            except StudyError as error:
                self.unreadable[name] = str(error)
                continue
            self.digests[name] = sha256_of(data)
            if not name.startswith((f"{ANSWERS}/", f"{RESULT_FILES}/")):
                self.bytes[name] = data
        self.records, self.broken = _records(self.bytes.get(MANIFEST, b""))
        self._using: dict[str, list[int]] = {}
        for number, record in self.records.items():
            self._using.setdefault(answer_file(record.sha256), []).append(number)
        self.hashes = parse_tables(self.bytes.get(TABLES, b""))

    def problems(self) -> list[Problem]:
        """List the problems; of each file only the first, which is the most specific."""
        checks = (self.files(), self.lines(), self.answers(), self.sealed())
        first: dict[str, Problem] = {}
        for problem in chain.from_iterable(checks):
            first.setdefault(problem.file, problem)
        # A changed file does not match the seal; one problem is enough.
        seal = first.get(SEAL)
        if len(first) > 1 and seal is not None and seal.kind == "altered":
            del first[SEAL]
        return [*first.values()]

    def files(self) -> Iterable[Problem]:
        """Yield files that do not belong to a study, are missing, or cannot be read."""
        for name in self.names:
            if not is_study_file(name):
                yield Problem("added", name, "this file does not belong to a study")
        for name, why in self.unreadable.items():
            yield self._touching("unreadable", name, why)
        for name in (STUDY, MANIFEST):
            if name not in self.names:
                yield self._touching("missing", name, "every study has this file")

    def lines(self) -> Iterable[Problem]:
        """Yield lines of the manifest that are damaged, missing, or out of order."""
        if self.broken is not None:
            yield self._touching("broken chain", MANIFEST, self.broken)

    def answers(self) -> Iterable[Problem]:
        """Yield answers that do not match their hash, are missing, or are in no record."""
        named = {record.sha256 for record in self.records.values()}
        there = {name: _sha256_in(name) for name in self.names if is_answer_file(name)}
        for name, sha256 in there.items():
            if self.digests.get(name, sha256) != sha256:
                yield self._touching("altered", name, "its bytes are not those that were recorded")
            elif sha256 not in named:
                yield self._touching("added", name, "no record refers to this answer")
        for sha256 in sorted(named.difference(there.values())):
            yield self._touching("missing", answer_file(sha256), "this answer was recorded")

    def sealed(self) -> Iterable[Problem]:
        """Yield differences between the files and the seal."""
        if SEAL not in self.names:
            yield Problem(
                "not sealed",
                SEAL,
                "without a seal, files that are missing or added are not detected",
            )
            return
        seal = self.bytes.get(SEAL, b"")
        if seal == format_checksums(self.digests):
            return
        listed = parse_checksums(seal)
        there = {name: found for name, found in self.digests.items() if name != SEAL}
        for name in sorted(listed.keys() - there.keys()):
            yield self._touching("missing", name, "it is in the seal")
        for name in sorted(there.keys() - listed.keys()):
            yield self._touching("added", name, "it is not in the seal")
        for name in sorted(there.keys() & listed.keys()):
            # If an answer matches its name, its line in the seal is what is wrong.
            if there[name] != listed[name] and not is_answer_file(name):
                yield self._touching("altered", name, "it does not match the seal")
        if {*listed} == {*there}:
            yield Problem("altered", SEAL, "it does not match the files")

    def replayed(self, read: Callable[[Record], Hashes]) -> Iterable[Problem]:
        """Yield answers whose table hashes, read by this version, differ from the sealed ones."""
        for number, record in self.records.items():
            now, then = read(record), self._hashes(number)
            differing = sorted(
                f"{section}.{name}"
                for section in now.keys() | then.keys()
                for name in now.get(section, {}).keys() | then.get(section, {}).keys()
                if now.get(section, {}).get(name) != then.get(section, {}).get(name)
            )
            if differing:
                yield Problem(
                    "other tables",
                    TABLES,
                    "this version reads other tables; the answers are unchanged",
                    (record.name,),
                    tuple(differing),
                )

    def _hashes(self, number: int) -> Hashes:
        return self.hashes[number - 1] if number <= len(self.hashes) else {}

    def _touching(self, kind: str, name: str, message: str) -> Problem:
        """Make a problem of a file, with the answers and tables concerned."""
        if name in (STUDY, TABLES):
            return Problem(kind, name, message)
        numbers = self.records if name == MANIFEST else self._using.get(name, ())
        touched = {number: self.records[number] for number in numbers}
        tables = {
            f"{section}.{table}": None
            for number, record in touched.items()
            for section, names in (self._hashes(number) or _declared(record)).items()
            for table in names
        }
        answers = dict.fromkeys(record.name for record in touched.values())
        return Problem(kind, name, message, tuple(answers), tuple(tables))


def _sha256_in(name: str) -> str:
    return name.removeprefix(f"{ANSWERS}/")[:64]


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


def _declared(record: Record) -> dict[str, list[str]]:
    """The declared tables of an answer whose hashes are not known."""
    name = "scope_options" if record.resource == "scope-options" else record.section
    try:
        return {} if name is None else {name: [table.name for table in sections.get(name)]}
    except ScopeError:
        return {}


def _cell(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ", ".join(value)
