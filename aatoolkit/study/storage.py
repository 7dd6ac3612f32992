"""The files of a study, in a folder or one zip file, read without following links."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from aatoolkit._util.text import visible
from aatoolkit.errors import StudyError
from aatoolkit.study.zip_reader import DEFLATED, STORED, Member, ZipReader

STUDY = "study.json"
MANIFEST = "manifest.jsonl"
TABLES = "tables.json"
SEAL = "SHA256SUMS"
PROFILES = "profiles.json"
ANSWERS = "answers"
RESULTS = "results.json"
RESULT_FILES = "results"

MAX_FILE = 1 << 28
"""The largest file of a study that is read, in bytes."""

_MAX_FILES = 200_000
_MAX_STUDY = 1 << 34
_MAX_RATIO = 1000
_ANSWER = rf"{ANSWERS}/[0-9a-f]{{64}}\.json"
_RESULT = rf"{RESULT_FILES}/[0-9a-f]{{64}}\.parquet"
_OURS = re.compile(rf"{STUDY}|{MANIFEST}|{TABLES}|{PROFILES}|{SEAL}|{RESULTS}|{_ANSWER}|{_RESULT}")

_MAY_BE_EMPTY = (MANIFEST, f"{ANSWERS}/{hashlib.sha256().hexdigest()}.json")


def answer_file(sha256: str) -> str:
    """The file name of an answer."""
    return f"{ANSWERS}/{sha256}.json"


def is_answer_file(name: str) -> bool:
    """Whether a file name is that of an answer."""
    return name.startswith(f"{ANSWERS}/") and is_study_file(name)


def result_file(digest: str) -> str:
    """The file name of a named result, from its logical hash."""
    return f"{RESULT_FILES}/{digest}.parquet"


def is_result_file(name: str) -> bool:
    """Whether a file name is that of a named result."""
    return name.startswith(f"{RESULT_FILES}/") and is_study_file(name)


def is_study_file(name: str) -> bool:
    """Whether a study may hold a file of this name.

    Examples
    --------
    >>> is_study_file("study.json"), is_study_file("../study.json"), is_study_file("answers/x.json")
    (True, False, False)
    """
    return _OURS.fullmatch(name) is not None


class StudyStorage(Protocol):
    """Read access to the files of a study, by name."""

    path: Path

    def names(self) -> list[str]:
        """The names of all files, sorted; the names of folders end in a slash."""

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""

    def read(self, name: str) -> bytes:
        """Read one file of a study.

        Raises
        ------
        StudyError
            If it is missing, is not a regular file, or is too large.
        """


def open_storage(path: str | os.PathLike[str]) -> StudyStorage:
    """Open the folder or zip file at a path.

    Raises
    ------
    StudyError
        If there is neither, it cannot be read, or the zip file holds files that do not belong to
        a study.
    """
    found = Path(path).expanduser()
    problem = ""
    try:
        if any((found / name).exists() for name in (STUDY, MANIFEST)):
            return FolderStorage(found)
        if found.is_file():
            return ZipStorage(found)
    except OSError as error:
        problem = f"it cannot be read ({error.strerror or error})"
    if problem:
        raise _unusable(found, problem)
    raise StudyError(f"there is no study at {found}; check the path", path=str(found))


class FolderStorage:
    """A study in a folder; links and special files are listed, and never followed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self) -> list[str]:
        """The names of all files, sorted; the names of folders end in a slash."""
        found: list[str] = []
        problem = ""
        try:
            found += itertools.islice(_walk(self.path, ""), _MAX_FILES + 1)
        except OSError as error:
            problem = f"it cannot be listed ({error.strerror or error})"
        if len(found) > _MAX_FILES:
            problem = f"it holds more than {_MAX_FILES} files"
        if problem:
            raise _unusable(self.path, problem)
        return sorted(found)

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return os.path.lexists(self.path / name)

    def read(self, name: str) -> bytes:
        """Read one file of a study."""
        if not is_study_file(name):
            raise _unusable(self.path, f"{name!r} does not belong to a study")
        file = self.path / name
        problem = ""
        try:
            if file.parent != self.path and not stat.S_ISDIR(os.lstat(file.parent).st_mode):
                problem = "is behind a link"
            elif not stat.S_ISREG(os.lstat(file).st_mode):
                problem = "is not a regular file"
            else:
                return _read_plain(file)
        except FileNotFoundError:
            problem = "is missing"
        except OSError as error:
            problem = f"cannot be read ({error.strerror})"
        except ValueError as error:
            problem = str(error)
        raise _unusable(self.path, f"{name} {problem}")


class ZipStorage:
    """A study in one zip file; nothing is unpacked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._members: dict[str, Member] = {}
        problem = ""
        try:
            self._file = ZipReader(path)
            if self._file.count > _MAX_FILES:
                problem = f"it holds more than {_MAX_FILES} files"
            else:
                for member in self._file.members():
                    self._admit(member)
        except (OSError, ValueError) as error:
            problem = f"it is not a readable zip file ({error})"
        if sum(member.size for member in self._members.values()) > _MAX_STUDY:
            problem = "it is too large when unpacked"
        if problem:
            raise _unusable(path, problem)

    def _admit(self, member: Member) -> None:
        """Add a member, or raise if a study cannot hold it."""
        name = member.name.decode("latin-1")
        problem = next(
            (
                text
                for text, is_so in (
                    ("does not belong to a study", not is_study_file(name)),
                    ("is there twice", name in self._members),
                    ("is not a regular file", stat.S_IFMT(member.mode) not in (0, stat.S_IFREG)),
                    ("is encrypted", member.is_encrypted),
                    ("is compressed in an unusual way", member.method not in (STORED, DEFLATED)),
                    ("is too large", member.size > MAX_FILE),
                    ("is a bomb", member.size > _MAX_RATIO * max(1, member.packed)),
                    ("is empty and should not be", not member.size and name not in _MAY_BE_EMPTY),
                )
                if is_so
            ),
            None,
        )
        if problem:
            raise _unusable(self.path, f"{name!r} {problem}")
        self._members[name] = member

    def names(self) -> list[str]:
        """The names of all files, sorted."""
        return sorted(self._members)

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return name in self._members

    def read(self, name: str) -> bytes:
        """Read one file of a study."""
        if name not in self._members:
            raise _unusable(self.path, f"{name} is missing")
        try:
            return self._file.read(self._members[name])
        except (OSError, ValueError) as error:
            problem = f"{name} cannot be read ({error})"
        raise _unusable(self.path, problem)


def _walk(folder: Path, before: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = before + entry.name
            if not entry.is_dir(follow_symlinks=False):
                yield name
            else:
                if name not in (ANSWERS, RESULT_FILES):
                    yield f"{name}/"
                yield from _walk(folder / entry.name, f"{name}/")


def _read_plain(file: Path) -> bytes:
    # Opened so that a link or a pipe that replaced it meanwhile is neither followed nor
    # waited for.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(file, flags | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as opened:
        if os.fstat(handle).st_size > MAX_FILE:
            raise ValueError("is too large")
        data = opened.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise ValueError("is too large")
    return data


def _unusable(path: Path, problem: str) -> StudyError:
    return StudyError(
        visible(f"the study at {path} cannot be used: {problem}"),
        path=str(path),
        problems=(problem,),
    )
