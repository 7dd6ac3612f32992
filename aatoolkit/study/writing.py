"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: bytes) -> Path:
    """Write beside the file, make it durable, and put it in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".tmp-{secrets.token_hex(8)}"
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
