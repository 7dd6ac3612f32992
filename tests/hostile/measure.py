"""What a call leaves behind, and takes at its peak, as Linux counts it; elsewhere nothing."""

from __future__ import annotations

import ctypes
import gc
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

_SELF = Path("/proc/self")


_LIBC: Any = ctypes.CDLL(None) if hasattr(ctypes.CDLL(None), "mallopt") else None
if _LIBC is not None:
    # One pool for all threads: those that the system would give to each are none of a call's.
    _LIBC.mallopt(-8, 1)


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


def forget_peak() -> int:
    """Begin to look for the peak anew; what is in use now, in bytes."""
    gc.collect()
    if _LIBC is not None:
        _LIBC.malloc_trim(0)
    with suppress(OSError):
        (_SELF / "clear_refs").write_text("5")
    return _status("VmRSS")


def peak() -> int:
    """The most that was in use since, in bytes."""
    return _status("VmHWM")


def _status(name: str) -> int:
    with suppress(OSError):
        for line in (_SELF / "status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) << 10
    return 0
