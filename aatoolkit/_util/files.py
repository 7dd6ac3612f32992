"""Write files and folders atomically: if a write fails or is killed, the old version stays.

A file is first written under a temporary name. Then it is renamed, which replaces the old file in
one step.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> with write_atomically(folder / "a.txt") as unfinished:
...     _ = unfinished.write_text("whole")
>>> [path.name for path in folder.iterdir()]
['a.txt']
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from aatoolkit._util.text import counted, visible
from aatoolkit.errors import NotWritten

try:
    import fcntl
except ImportError:  # Windows, where an unfinished file is recognised by its age alone
    fcntl = None  # type: ignore[assignment]

FilePath = str | os.PathLike[str]
"""A path as text, or as an object such as `pathlib.Path`."""

_TEMPORARY_NAME_PATTERN = re.compile(r"\.tmp-[0-9a-f]{16}")
_OLD_NAME_PATTERN = re.compile(r"\.old-[0-9a-f]{16}-(?P<name>.+)", re.DOTALL)
_ABANDONED_AGE_SECONDS = 86_400.0
"""The age in seconds from which an unfinished file is abandoned, on systems without locks."""

_FSYNC_ERRNOS = (errno.EINVAL, errno.ENOTSUP)
"""The error numbers of file systems that cannot sync."""


@contextlib.contextmanager
def write_atomically(path: FilePath) -> Iterator[Path]:
    """Write a file atomically, in a ``with`` block that writes a temporary file.

    The path of the temporary file is yielded. At the end of the block, the temporary file replaces
    the file at ``path``. If the file cannot be written, raise `NotWritten`.
    """
    target_path = _resolve(path)
    with _convert_os_errors(target_path):
        permission_bits = _read_permission_bits(target_path)
        with _make_temporary_path(target_path.parent, is_folder=False) as temporary_path:
            yield temporary_path
            if permission_bits not in (None, stat.S_IMODE(temporary_path.stat().st_mode)):
                temporary_path.chmod(permission_bits)
            _fsync(temporary_path)
            _replace(temporary_path, target_path)
    with _convert_os_errors(target_path, "is in place, but may not survive a loss of power"):
        _fsync(target_path.parent)


def write_bytes(path: FilePath, content: bytes) -> Path:
    """Write bytes to a file atomically, and return the path of the file."""
    with write_atomically(path) as temporary_path:
        temporary_path.write_bytes(content)
    return Path(path)


@contextlib.contextmanager
def write_folder_atomically(path: FilePath, *, overwrite: bool = False) -> Iterator[Path]:
    """Write a folder atomically, in a ``with`` block that writes files to a temporary folder.

    The path of the temporary folder is yielded. At the end of the block, the temporary folder is
    renamed to ``path``. An existing folder with files is replaced only with ``overwrite``.
    """
    target_path = _resolve(path)
    with _convert_os_errors(target_path):
        if _is_nonempty_folder(target_path) and not overwrite:
            problem_text = (
                "the folder is not empty; pass overwrite=True to replace it, or name another"
            )
            raise FileExistsError(errno.EEXIST, problem_text)
        with _make_temporary_path(target_path.parent, is_folder=True) as temporary_path:
            yield temporary_path
            for written_path in (*temporary_path.rglob("*"), temporary_path):
                _fsync(written_path)
            if overwrite and _is_nonempty_folder(target_path):
                _exchange_folders(temporary_path, target_path)
            else:
                _replace(temporary_path, target_path)
    with _convert_os_errors(target_path, "is in place, but may not survive a loss of power"):
        _fsync(target_path.parent)


def remove_abandoned_files(folder: FilePath) -> list[Path]:
    """Remove the temporary files that killed processes left in a folder; return their paths."""
    removed_paths = []
    for path in [*Path(folder).glob(".*")]:
        old_name_match = _OLD_NAME_PATTERN.fullmatch(path.name)
        if not old_name_match and not _TEMPORARY_NAME_PATTERN.fullmatch(path.name):
            continue
        with contextlib.suppress(OSError), contextlib.ExitStack() as exit_stack:
            if fcntl is None:
                is_abandoned = time.time() - path.stat().st_mtime > _ABANDONED_AGE_SECONDS
            else:
                is_abandoned = _lock(path, exit_stack) is True
            if not is_abandoned:
                continue
            # Killed before the new folder was in place: the old one gets its name back.
            if old_name_match and not path.with_name(old_name_match["name"]).exists():
                path.rename(path.with_name(old_name_match["name"]))
            else:
                _remove(path)
            removed_paths.append(path)
    return removed_paths


_remove_abandoned_files_once = lru_cache(maxsize=1024)(remove_abandoned_files)
"""Does the same as `remove_abandoned_files`, but only once per process and folder."""


def _resolve(path: FilePath) -> Path:
    """Return the absolute path without symbolic links; raise `NotWritten` if it is not valid."""
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:  # a null byte, or what no file system can spell
        path_text = visible(os.fspath(path))
        raise NotWritten(f"{path_text} was not written: {error}", path=path_text) from error


@contextlib.contextmanager
def _convert_os_errors(target_path: Path, problem_text: str = "was not written") -> Iterator[None]:
    """Convert an `OSError` in a ``with`` block to `NotWritten`.

    The message of `NotWritten` is ``target_path``, ``problem_text`` and the text of the `OSError`.
    """
    try:
        yield
    except NotWritten:
        raise
    except OSError as error:
        error_text = error.strerror or error
        raise NotWritten(
            f"{target_path} {problem_text}: {error_text}", path=str(target_path), errno=error.errno
        ) from error


@contextlib.contextmanager
def _make_temporary_path(folder: Path, *, is_folder: bool) -> Iterator[Path]:
    """Create and lock a temporary file or folder, yield its path, and remove it at the end."""
    _make_folder(folder)
    _remove_abandoned_files_once(folder)
    while True:
        temporary_path = folder / f".tmp-{secrets.token_hex(8)}"
        with contextlib.ExitStack() as exit_stack:
            exit_stack.callback(_remove, temporary_path)
            if is_folder:
                temporary_path.mkdir()
            else:
                temporary_path.touch(exist_ok=False)
            # Another process may have swept the folder before the lock; then try another name.
            if _lock(temporary_path, exit_stack) is not False and temporary_path.exists():
                yield temporary_path
                return


def _lock(path: Path, exit_stack: contextlib.ExitStack) -> bool | None:
    """Lock a file or folder until ``exit_stack`` closes; return whether this succeeded.

    The result is None if the operating system has no file locks.
    """
    if fcntl is None:
        return None
    file_descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    exit_stack.callback(os.close, file_descriptor)
    try:
        fcntl.flock(file_descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _read_permission_bits(path: Path) -> int | None:
    """Return the permission bits of a file, or None if there is no file.

    Raise OSError if it is no regular file, or is write-protected.
    """
    try:
        file_stat = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(file_stat.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "it is write-protected")
    return stat.S_IMODE(file_stat.st_mode)


def _is_nonempty_folder(path: Path) -> bool:
    """Return whether there is a folder with files at a path."""
    return path.exists() and any(path.iterdir())


def _make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, and sync them to disk."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _fsync(folder.parent)


def _remove(path: Path) -> None:
    """Remove a file or folder, and ignore errors."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _replace(path: Path, target_path: Path) -> None:
    """Move a file or folder to ``target_path``, also over a file or empty folder."""
    if os.name == "nt" and target_path.is_dir():
        target_path.rmdir()
    os.replace(path, target_path)


def _exchange_folders(new_folder: Path, target_folder: Path) -> None:
    """Replace a folder by a new folder; if this fails, the old folder stays."""
    # Linux exchanges the names in one step. Elsewhere `remove_abandoned_files` restores the old
    # folder after a kill.
    rename_folders = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    current_folder_descriptor = -100
    exchange_flag = 2
    if (
        rename_folders is not None
        and rename_folders(
            current_folder_descriptor,
            bytes(new_folder),
            current_folder_descriptor,
            bytes(target_folder),
            exchange_flag,
        )
        == 0
    ):
        return
    old_folder = target_folder.with_name(f".old-{secrets.token_hex(8)}-{target_folder.name}")
    _replace(target_folder, old_folder)
    try:
        _replace(new_folder, target_folder)
    except BaseException:
        _replace(old_folder, target_folder)
        raise
    _remove(old_folder)


def _fsync(path: Path) -> None:
    """Sync a file, or the entries of a folder, to disk."""
    is_folder = path.is_dir()
    if is_folder and os.name == "nt":
        return
    try:
        file_descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    except PermissionError:
        if is_folder:  # one may write to a folder that one cannot read
            return
        raise
    try:
        os.fsync(file_descriptor)
    except OSError as error:
        if error.errno not in _FSYNC_ERRNOS:
            raise
    finally:
        os.close(file_descriptor)


def find_hash_mismatches(
    expected_hashes: Mapping[str, str], actual_hashes: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Compare the hashes of files with the expected hashes, and yield each difference.

    Both arguments are dicts from file name to hash. A difference is a tuple of the word "missing",
    "added" or "altered" and the name of the file.

    Examples
    --------
    >>> list(find_hash_mismatches({"a": "1", "b": "2"}, {"b": "3", "c": "4"}))
    [('missing', 'a'), ('altered', 'b'), ('added', 'c')]
    """
    for file_name in sorted({*expected_hashes, *actual_hashes}):
        if file_name not in actual_hashes:
            yield "missing", file_name
        elif file_name not in expected_hashes:
            yield "added", file_name
        elif actual_hashes[file_name] != expected_hashes[file_name]:
            yield "altered", file_name


class FileList(list[Path]):
    """A list of the paths of written files; it prints as their number and their folder.

    Examples
    --------
    >>> FileList([Path("acme/gaps/gap_domains.parquet"), Path("acme/urls/cited_urls.parquet")])
    <2 files in acme>
    """

    def __repr__(self) -> str:
        if not self:
            return "<no files>"
        common_folder = os.path.commonpath([path.parent for path in self])
        return f"<{counted(len(self), 'file')} in {visible(common_folder or '.')}>"
