"""What a call leaves behind, as Linux counts it, elsewhere nothing; and its peak of memory."""

from __future__ import annotations

import gc
import os
import re
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_SELF = Path("/proc/self")


def open_sockets(port: int) -> int:
    """How many sockets of this process have this port, on their own side or on the other."""
    if not _SELF.exists():
        return 0
    gc.collect()  # those that only wait for the collector are closed
    ports = re.compile(rf"^ *\d+: (\w+:{port:04X} \w+:\w+|\w+:\w+ \w+:{port:04X}) ")
    lines = [*(_SELF / "net/tcp").read_text().splitlines()]
    if (_SELF / "net/tcp6").exists():
        lines += (_SELF / "net/tcp6").read_text().splitlines()
    those = {f"socket:[{line.split()[9]}]" for line in lines if ports.match(line)}
    count = 0
    for entry in (_SELF / "fd").iterdir():
        with suppress(OSError):
            count += os.readlink(entry) in those
    return count


@contextmanager
def traced_peak() -> Iterator[list[int]]:
    """Append the most bytes that Python's objects took at once, beyond those of before."""
    peaks: list[int] = []
    tracemalloc.start()
    try:
        yield peaks
    finally:
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
