"""The manifest of a study: one line per record, each with the SHA-256 of the line before."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from aatoolkit._util.files import write_whole
from aatoolkit.errors import AAToolkitError, NotWritten, StudyError
from aatoolkit.study.files import MANIFEST, SEAL, TABLES, body_file, sha256_of
from aatoolkit.study.record import Record

MAX_LINE = 1 << 20
MAX_RECORDS = 100_000


def parse_lines(data: bytes, previous: str | None = None, first: int = 1) -> list[Record]:
    """Parse the lines of a manifest, or of a part of it.

    Parameters
    ----------
    data
        Its lines.
    previous
        The SHA-256 of the line before the first of them.
    first
        The number of the first of them, for error messages.

    Raises
    ------
    StudyError
        If a line is damaged, missing, out of order, unfinished or there twice.
    """
    if not data:
        return []
    if not data.endswith(b"\n"):
        raise _broken("its last line is unfinished")
    lines = data[:-1].split(b"\n")
    if len(lines) > MAX_RECORDS:
        raise _broken(f"it has more than {MAX_RECORDS} lines")
    records = []
    for number, line in enumerate(lines, first):
        if len(line) > MAX_LINE:
            raise _broken(f"line {number} is too long")
        try:
            record = Record.loads(line)
        except StudyError:
            raise _broken(f"line {number} is damaged") from None
        if record.previous != previous:
            raise _broken(f"line {number} does not follow the line before")
        records.append(record)
        previous = sha256_of(line)
    if len({record.identity for record in records}) < len(records):
        raise _broken("it holds a response twice")
    return records


class Writer:
    """Append to the manifest of one folder; safe across threads and processes.

    Parameters
    ----------
    folder
        The folder of the study.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._read = 0
        self._previous: str | None = None
        self._known: set[tuple[Any, ...]] = set()

    def append(self, record: Record, body: bytes) -> bool:
        """Store a response: its bytes first, then its line; False if it is stored already.

        Raises
        ------
        StudyError
            If the manifest is damaged.
        NotWritten
            If it cannot be written: the disk is full, or a permission is missing.
        """
        with self._locked() as manifest:
            if record.identity in self._known:
                return False
            unseal(self.folder)
            file = self.folder / body_file(record.sha256)
            if not (file.is_file() and file.stat().st_size == len(body)):
                write_whole(file, body)
            line = replace(record, previous=self._previous).dumps()
            _append(manifest, line + b"\n", self.folder)
            self._remember(line, record)
        return True

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock; the unfinished line of a writer that was killed is dropped."""
        with self._locked():
            yield

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Lock the manifest against other writers, read what they added, and yield its handle."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with reporting(self.folder), self._lock:
            manifest = os.open(self.folder / MANIFEST, flags, 0o666)
            try:
                _lock(manifest)
                self._catch_up(manifest)
                yield manifest
            finally:
                with suppress(OSError):
                    _unlock(manifest)
                os.close(manifest)

    def _catch_up(self, manifest: int) -> None:
        """Read what other writers added; drop the unfinished line of one that was killed."""
        if os.fstat(manifest).st_size < self._read:
            raise _broken("it was cut while it was written to")
        os.lseek(manifest, self._read, os.SEEK_SET)
        with open(manifest, "rb", closefd=False) as file:
            data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(manifest, self._read + whole)
        for record in parse_lines(data[:whole], self._previous, len(self._known) + 1):
            self._remember(record.dumps(), record)

    def _remember(self, line: bytes, record: Record) -> None:
        self._previous = sha256_of(line)
        self._read += len(line) + 1
        self._known.add(record.identity)


def unseal(folder: Path) -> None:
    """Remove the seal and the hashes of tables, which no longer fit what is written next."""
    for name in (SEAL, TABLES):
        (folder / name).unlink(missing_ok=True)


@contextmanager
def reporting(folder: Path) -> Iterator[None]:
    """Convert the errors of the system to `NotWritten`."""
    reason: OSError | None = None
    try:
        yield
    except AAToolkitError:
        raise
    except OSError as error:
        reason = error
    if reason is not None:
        raise NotWritten(
            f"the study in {folder} cannot be written to: {reason.strerror or reason}",
            path=str(folder),
            errno=reason.errno,
        )


if sys.platform == "win32":
    import msvcrt

    # Windows locks bytes: one far beyond the end, so that readers are not kept out.
    _FAR = 1 << 30

    def _lock(handle: int) -> None:
        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)

    def _unlock(handle: int) -> None:
        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


def _append(handle: int, line: bytes, folder: Path) -> None:
    """Append a line durably, or leave the manifest as it was."""
    end = os.lseek(handle, 0, os.SEEK_END)
    try:
        while line:
            line = line[os.write(handle, line) :]
        os.fsync(handle)
    except BaseException:
        os.ftruncate(handle, end)
        raise


def _broken(problem: str) -> StudyError:
    return StudyError(f"the manifest is damaged: {problem}", problems=(f"{MANIFEST}: {problem}",))
