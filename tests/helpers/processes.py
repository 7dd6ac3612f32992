"""A Python interpreter of its own, which holds nothing of the process of the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python(
    *arguments: object, folder: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the interpreter of this checkout with arguments, and with warnings as errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
