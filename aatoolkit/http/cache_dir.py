"""The folder of the cache, and its permissions: nobody else may read or change it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

FILE_NAME = "answers.sqlite"
SIDE_FILES = ("", "-wal", "-shm", "-journal")
"""The suffixes of the database file and of the files that SQLite keeps beside it."""

VERSION = "v1"
"""The version of the format; a change of what is stored, or of the keys, starts a new folder."""


class NotPrivateError(OSError):
    """The cache could be read or changed by somebody else."""


def default_folder() -> Path:
    """Return the default folder of the cache."""
    return user_cache_path("aatoolkit", appauthor=False) / VERSION


def parts_of(folder: Path) -> list[Path]:
    """Return the files of a cache that exist."""
    names = (folder / f"{FILE_NAME}{suffix}" for suffix in SIDE_FILES)
    return [path for path in names if path.is_symlink() or path.exists()]


def make_private(folder: Path) -> None:
    """Create the folder and the file, or restrict them to their owner.

    Permissions of others are removed: from the files always, from the folder if it holds nothing
    but the cache. A folder with other files in it is somebody's working folder and is not changed,
    unless others may write there. A link to a folder is followed, a link to a file is not.

    Raises
    ------
    NotPrivateError
        If it belongs to somebody else, or others may write there.
    OSError
        If it cannot be created.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _own_folder(folder)
    for part in parts_of(folder):
        _own_file(part)
    file = folder / FILE_NAME
    if not file.exists():
        _create(file)


def _own_folder(folder: Path) -> None:
    found = folder.stat()
    if _is_foreign(found):
        raise NotPrivateError(f"{folder} belongs to somebody else")
    if not found.st_mode & 0o077:
        return
    if all(name.startswith(FILE_NAME) for name in os.listdir(folder)):
        folder.chmod(0o700 & found.st_mode)
    elif found.st_mode & 0o022:
        raise NotPrivateError(f"others may put files into {folder}")


def _own_file(file: Path) -> None:
    found = file.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise NotPrivateError(f"{file} is no plain file")
    if _is_foreign(found):
        raise NotPrivateError(f"{file} belongs to somebody else")
    if found.st_mode & 0o077:
        file.chmod(0o700 & found.st_mode)


def _create(file: Path) -> None:
    """Create the file, with permissions that SQLite would not set.

    An existing file is not opened: closing it would release the locks that other connections of
    this process hold on it.
    """
    with suppress(FileExistsError):  # another process may be first
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _is_foreign(found: os.stat_result) -> bool:
    """Whether it belongs to somebody else; False where files have no comparable owners."""
    return hasattr(os, "geteuid") and found.st_uid != os.geteuid()
