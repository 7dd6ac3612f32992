"""Writers that are killed or failed on purpose, each in a process of its own.

Run as ``python crashing.py SCENARIO FOLDER …``; prints what happened as JSON. It is imported
once and then forks, so that hundreds of deaths cost seconds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

import aatoolkit as aa
from aatoolkit._util.files import remove_abandoned_files, write_atomically, write_folder_atomically
from aatoolkit.payload import Payload
from aatoolkit.sections import records
from aatoolkit.study.publishing import PublicationDetails, publish

SIZE = 400_000
"""Bytes of a written file: several writes of the system."""

ROWS = 40_000
"""Rows of a written table."""

TRACED = (
    *("open", "openat", "creat", "close", "read", "write", "pwrite64", "writev", "lseek"),
    *("fsync", "fdatasync", "sync_file_range", "ftruncate", "fallocate", "flock", "fcntl"),
    *("rename", "renameat", "renameat2", "link", "unlink", "unlinkat", "rmdir", "mkdir"),
    *("mkdirat", "chmod", "fchmod", "fchmodat", "access", "faccessat", "faccessat2"),
    *("stat", "fstat", "lstat", "newfstatat", "statx", "readlink", "readlinkat", "getdents64"),
)
"""The system calls at each of which a fault is injected."""


# --- what is written, and what is found of it -----------------------------------------------


def content(version: int) -> bytes:
    return f"{version:08d}".encode() * (SIZE // 8)


def write_file(place: Path, version: int) -> None:
    with write_atomically(place / "file") as temporary, temporary.open("wb") as file:
        data = content(version)
        for at in range(0, SIZE, SIZE // 4):
            file.write(data[at : at + SIZE // 4])
            file.flush()


def read_file(place: Path) -> int:
    data = (place / "file").read_bytes()
    version = int(data[:8])
    assert data == content(version)
    return version


def write_parquet(place: Path, version: int) -> None:
    frame = pd.DataFrame({"version": [version] * ROWS, "row": range(ROWS)})
    frame.aa.to_parquet(place / "table.parquet")


def read_parquet(place: Path) -> int:
    frame = aa.read_parquet(place / "table.parquet")
    assert len(frame) == ROWS
    assert (frame["row"].to_numpy() == np.arange(ROWS)).all()
    (version,) = frame["version"].unique()
    return int(version)


def write_folder(place: Path, version: int) -> None:
    with write_folder_atomically(place / "folder", overwrite=True) as temporary:
        for name in ("a", "b/c", "b/d"):
            path = temporary / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content(version)[: SIZE // 8])


def read_folder(place: Path) -> int:
    """What is in the folder, which stays the one that it was, should another take its place."""
    handle = os.open(place / "folder", os.O_RDONLY)
    try:
        names = {*os.listdir(handle)}
        versions = {_version_in(name, handle) for name in ("a", "b/c", "b/d")}
    finally:
        os.close(handle)
    assert names == {"a", "b"}
    (version,) = versions
    return version


def _version_in(name: str, folder: int) -> int:
    with os.fdopen(os.open(name, os.O_RDONLY, dir_fd=folder), "rb") as file:
        data = file.read()
    version = int(data[:8])
    assert data == content(version)[: SIZE // 8]
    return version


def _responses() -> list[aa.Tables]:
    body = b'{"domains": [{"domain": "a.example", "citations": 1}], "typeBreakdown": []}'
    columns = (aa.Column("domain", "string"), aa.Column("citations", "Int64"))
    table = aa.Table("cited", "One row per domain.", records("domains"), "domain", columns)
    section = aa.Section("cited", "Domains.", table, kept=("typeBreakdown",))
    moment = datetime(2026, 11, 20, tzinfo=UTC)
    return [aa.normalize(section, Payload(body, fetched_at=moment, host="acme.example"))]


def write_publication(place: Path, version: int) -> None:
    publish(
        _responses(), place / "published", PublicationDetails(f"version {version}"), overwrite=True
    )


def read_publication(place: Path) -> int:
    out = place / "published"
    there = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    sums = dict(
        reversed(line.split("  ")) for line in (out / "SHA256SUMS").read_text().splitlines()
    )
    assert there == {*sums, "SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    return int(json.loads((out / "datapackage.json").read_bytes())["title"].split()[1])


WRITERS: dict[str, tuple[Callable[[Path, int], None], Callable[[Path], int]]] = {
    "file": (write_file, read_file),
    "parquet": (write_parquet, read_parquet),
    "folder": (write_folder, read_folder),
    "publication": (write_publication, read_publication),
}


def left(place: Path) -> list[str]:
    return [path.name for path in place.iterdir() if path.name.startswith((".tmp-", ".old-"))]


# --- scenarios ------------------------------------------------------------------------------


def kill(kind: str, place: Path, kills: int) -> dict[str, Any]:
    """Kill a writer that writes version after version; see what of it is left each time."""
    write, read = WRITERS[kind]
    write(place, 0)
    chance = random.Random(kind)
    counts: Counter[str] = Counter()
    problems: list[str] = []
    last = 0
    pace = 0.01
    for _ in range(kills):
        with child(lambda say, first=last + 1: _write_on(write, place, first, say)) as (pid, pipe):
            lines = []
            for _ in range(chance.randrange(3)):
                begun = time.monotonic()
                lines.append(pipe.readline())
                pace = (pace + time.monotonic() - begun) / 2
            time.sleep(chance.uniform(0, pace))
            os.kill(pid, signal.SIGKILL)
            lines += pipe.readlines()
        acknowledged = int(lines[-1]) if lines else last
        try:
            now = read(place)
        except Exception as error:
            problems.append(f"not whole: {error!r}")
            break
        if now not in (acknowledged, acknowledged + 1):
            problems.append(f"acknowledged {acknowledged}, found {now}")
        counts["acknowledged"] += len(lines)
        counts["unfinished"] += len(left(place)) - counts["left"]
        counts["left"] = len(left(place))
        last = now
    counts["swept"] = len(remove_abandoned_files(place))
    return {"problems": problems, **counts, "left": len(left(place)), "kills": kills}


def _write_on(
    write: Callable[[Path, int], None], place: Path, first: int, say: Callable[[str], None]
) -> None:
    for version in range(first, first + 10_000):
        write(place, version)
        say(str(version))


def faults(kind: str, place: Path) -> dict[str, Any]:
    """Let each system call of a write fail or be the last, and see what is left each time."""
    write, read = WRITERS[kind]
    write(place, 0)
    calls = _calls(lambda: write(place, 1), place)
    counts: Counter[str] = Counter(calls=sum(calls.values()))
    problems: list[str] = []
    last = 1
    for name, count in sorted(calls.items()):
        for nth in range(1, count + 1):
            for fault in ("error=EIO", "error=ENOSPC", "signal=KILL"):
                injected = f"inject={name}:{fault}:when={nth}"
                options = ("-o", os.devnull, "-e", f"trace={name}", "-e", injected)
                outcome = _traced(lambda n=last + 1: write(place, n), *options)
                at = f"{name} {nth} {fault}"
                try:
                    now = read(place)
                except Exception as error:
                    problems.append(f"{at}: not whole: {error!r}")
                    return {"problems": problems, **counts}
                if now not in (last, last + 1) or (outcome == "done" and now != last + 1):
                    problems.append(f"{at}: {outcome}, wrote {last + 1} over {last}, found {now}")
                if outcome == "failed" or (outcome == "killed" and "KILL" not in fault):
                    problems.append(f"{at}: {outcome}")
                counts["runs"] += 1
                counts[outcome] += 1
                last = now
                remove_abandoned_files(place)
    return {"problems": problems, **counts, "left": len(left(place))}


def _calls(write: Callable[[], None], place: Path) -> Counter[str]:
    """How often a write makes each system call."""
    log = place.parent / "calls"
    assert _traced(write, "-o", str(log), "-e", f"trace=?{',?'.join(TRACED)}") == "done"
    return Counter(re.findall(r"^(?:\d+ +)?(\w+)\(", log.read_text(), re.M))


ENDS = {0: "done", 3: "refused", 4: "failed", -9: "killed"}


def _traced(write: Callable[[], None], *options: str) -> str:
    """How a writer ends that is forked, and traced from its beginning to its end."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            signal.sigwait({signal.SIGUSR1})
            try:
                write()
                os._exit(0)
            except aa.errors.NotWritten:
                os._exit(3)
        os._exit(4)
    tracer = subprocess.Popen(
        ["strace", "-f", *options, "-p", str(pid)], stderr=subprocess.PIPE, text=True
    )
    assert tracer.stderr is not None
    line = tracer.stderr.readline()
    os.kill(pid, signal.SIGUSR1 if "attached" in line else signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    tracer.wait(timeout=30)
    tracer.stderr.close()
    if "attached" not in line:
        raise SystemExit(f"cannot trace: {line}")
    return ENDS[os.waitstatus_to_exitcode(status)]


def full_disk(kind: str, place: Path) -> dict[str, Any]:
    """Write to a disk with less and less room; the old version or the new, never a part."""
    write, read = WRITERS[kind]
    write(place, 0)
    last, counts = 0, Counter[str]()
    problems: list[str] = []
    ballast = place / "ballast"
    for used in range(100):
        with ballast.open("ab") as file, contextlib.suppress(OSError):
            file.write(bytes(40_000))
            file.flush()
        try:
            write(place, used + 1)
            expected = used + 1
        except aa.errors.NotWritten:
            expected = last
        last = read(place)
        if last != expected:
            problems.append(f"expected {expected}, found {last}")
        counts["written" if expected == used + 1 else "refused"] += 1
    return {"problems": problems, **counts, "left": len(left(place))}


def together(kind: str, place: Path, writers: int, writes: int) -> dict[str, Any]:
    """Write from several processes at once, and read all the while."""
    write, read = WRITERS[kind]
    write(place, 0)
    counts: Counter[str] = Counter()
    problems: list[str] = []

    def write_some(say: Callable[[str], None], first: int) -> None:
        for version in range(first, first + writes):
            write(place, version)
            say(str(version))

    with contextlib.ExitStack() as stack:
        children = [
            stack.enter_context(child(lambda say, at=at: write_some(say, 1 + at * writes)))
            for at in range(writers)
        ]
        for pid, pipe in children:
            while os.waitpid(pid, os.WNOHANG) == (0, 0):
                try:
                    read(place)
                    counts["reads"] += 1
                except FileNotFoundError:  # of a folder that was replaced while it was read
                    counts["missed"] += 1
            lines = pipe.read().decode().split("\n")[:-1]
            counts["writes"] += sum(word.isdigit() for word in lines)
            problems += [word for word in lines if not word.isdigit()]
    return {"problems": problems, **counts, "last": read(place), "left": len(left(place))}


@contextlib.contextmanager
def child(act: Callable[[Callable[[str], None]], object]) -> Iterator[tuple[int, BinaryIO]]:
    """A forked process, and what it says until its end, line by line."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            act(lambda word: os.write(into, f"{word}\n".encode()) and None)
        except BaseException as error:
            os.write(into, f"{error!r}\n".encode())
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        yield pid, pipe
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    scenario, kind, folder, *numbers = sys.argv[1:]
    place = Path(folder)
    place.mkdir(exist_ok=True)
    sys.stdout.write(json.dumps(globals()[scenario](kind, place, *map(int, numbers))))
