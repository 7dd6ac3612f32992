"""The files of a study, in a folder or one zip file, and their checksums.

Links are listed and never followed. Of a zip file nothing is unpacked: its members are the files
that ``SHA256SUMS`` lists, and every byte that is used is compared with it.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from aatoolkit._util.files import write_whole
from aatoolkit._util.text import visible
from aatoolkit.errors import AAToolkitError, StudyError
from aatoolkit.jsontree import decode

T = TypeVar("T")

STUDY = "study.json"
MANIFEST = "manifest.jsonl"
TABLES = "tables.json"
SEAL = "SHA256SUMS"
PROFILES = "profiles.json"
RESPONSES = "responses"
RESULTS = "results.json"
RESULT_FILES = "results"

PACKED = "study.zip"
"""The packed study in a publication that ships its responses."""

SHA256 = re.compile(r"[0-9a-f]{64}")

MAX_FILE = 1 << 28
"""The largest file of a study that is read, in bytes."""

UNREADABLE = (
    AAToolkitError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    RecursionError,
)
"""What a file of a study that somebody made up may lead to while it is parsed."""

_OURS = re.compile(
    rf"{STUDY}|{MANIFEST}|{TABLES}|{PROFILES}|{SEAL}|{RESULTS}"
    rf"|{RESPONSES}/[0-9a-f]{{64}}\.json|{RESULT_FILES}/[0-9a-f]{{64}}\.parquet"
)
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def body_file(sha256: str) -> str:
    """The name of the file of a body."""
    return f"{RESPONSES}/{sha256}.json"


def result_file(digest: str) -> str:
    """The name of the file of a named result, from its logical hash."""
    return f"{RESULT_FILES}/{digest}.parquet"


def is_study_file(name: str, folder: str = "") -> bool:
    """Whether a study may hold a file of this name, in this folder.

    Examples
    --------
    >>> is_study_file("study.json"), is_study_file("../study.json")
    (True, False)
    """
    return name.startswith(f"{folder}/" if folder else "") and _OURS.fullmatch(name) is not None


def parsed(text: bytes, read: Callable[[Any], T]) -> T | None:
    """What a file of JSON holds; None if it is not what was written, whatever it is."""
    try:
        return read(decode.decode(text))
    except UNREADABLE:
        return None


def open_files(path: str | os.PathLike[str]) -> StudyFiles:
    """Open the folder or zip file at a path.

    Raises
    ------
    StudyError
        If there is neither, or it cannot be read.
    """
    place = Path(path).expanduser()
    try:
        if any((place / name).exists() for name in (STUDY, MANIFEST)):
            return FolderFiles(place)
        if place.is_file():
            return ZipFiles(place)
    except OSError as error:
        raise unusable(place, f"it cannot be read ({error.strerror or error})") from None
    raise StudyError(f"there is no study at {visible(str(place))}; check the path", path=str(place))


class FolderFiles:
    """A study in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self) -> list[str]:
        """The names of all files, sorted; the names of folders end in a slash."""
        try:
            return sorted(_walk(self.path, ""))
        except OSError as error:
            problem = f"it cannot be listed ({error.strerror or error})"
            raise unusable(self.path, problem) from None

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return os.path.lexists(self.path / name)

    def read(self, name: str) -> bytes:
        """Read one file of a study."""
        file = self.path / name
        # Opened so that a link or a pipe that replaced it meanwhile is neither followed nor
        # waited for.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            if file.parent != self.path and not stat.S_ISDIR(os.lstat(file.parent).st_mode):
                problem = "is behind a link"
            elif not (is_study_file(name) and stat.S_ISREG(os.lstat(file).st_mode)):
                problem = "is not a regular file of a study"
            else:
                handle = os.open(file, flags | getattr(os, "O_BINARY", 0))
                with open(handle, "rb") as opened:
                    data = opened.read(MAX_FILE + 1)
                if len(data) <= MAX_FILE:
                    return data
                problem = "is too large"
        except FileNotFoundError:
            problem = "is missing"
        except OSError as error:
            problem = f"cannot be read ({error.strerror})"
        raise unusable(self.path, f"{name} {problem}")


class ZipFiles:
    """A study in one zip file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
            members = self._zip.infolist()
            self._names = {member.filename for member in members}
            problem = next(_odd(members), "")
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
            problem = f"it is not a readable zip file ({error})"
        if problem:
            raise unusable(path, problem)

    def names(self) -> list[str]:
        """The names of all files, sorted."""
        return sorted(self._names)

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return name in self._names

    def read(self, name: str) -> bytes:
        """Read one file of a study."""
        problem = "is missing"
        if name in self._names:
            try:
                return self._zip.read(name)
            except Exception as error:  # a damaged, encrypted or oddly compressed member
                problem = f"cannot be read ({error})"
        raise unusable(self.path, f"{name} {problem}")


StudyFiles = FolderFiles | ZipFiles
"""Read access to the files of a study, by name."""


def _odd(members: list[zipfile.ZipInfo]) -> Iterator[str]:
    """Yield what a packed study does not hold."""
    for member in members:
        name = member.filename
        if not is_study_file(name):
            yield f"{name!r} does not belong to a study"
        if member.file_size > MAX_FILE or member.file_size > 1000 * max(1, member.compress_size):
            yield f"{name!r} is too large when unpacked"


def pack(files: StudyFiles, path: Path) -> Path:
    """Write the files of a study into one zip file, atomically.

    They are stored without compression: the output of a compressor differs between its versions.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
        for name in files.names():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            file.writestr(entry, files.read(name))
    return write_whole(path, packed.getvalue())


def sha256_of(data: bytes) -> str:
    """Compute the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def format_seal(digests: Mapping[str, str]) -> bytes:
    """Format ``SHA256SUMS``, as ``sha256sum`` prints it, sorted by file name."""
    lines = (f"{digests[name]}  {name}\n" for name in sorted(digests) if name != SEAL)
    return "".join(lines).encode()


def parse_seal(text: bytes) -> dict[str, str]:
    """Parse ``SHA256SUMS`` to hashes by file name; damaged lines are left out."""
    lines = map(_LINE.fullmatch, text.decode("utf-8", "replace").split("\n"))
    return {line[2]: line[1] for line in lines if line}


def unusable(path: Path, problem: str) -> StudyError:
    """Make the error of a study that cannot be used."""
    return StudyError(
        visible(f"the study at {path} cannot be used: {problem}"),
        path=str(path),
        problems=(problem,),
    )


def _walk(folder: Path, before: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = before + entry.name
            if not entry.is_dir(follow_symlinks=False):
                yield name
            else:
                if name not in (RESPONSES, RESULT_FILES):
                    yield f"{name}/"
                yield from _walk(folder / entry.name, f"{name}/")
