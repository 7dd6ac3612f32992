"""The figures of a benchmark: printed as tables by each, and written as JSON to compare runs.

Every benchmark takes ``--json FILE``. The file holds one object: ``bench`` its name, ``machine``
what it ran on, and ``figures`` a list of objects ``{"what", "unit", "value", ...}``, whose further
keys say which of several it is (a size, a contender). A unit of ``x`` is a ratio of times taken in
one run; figures in other units differ between machines and hours.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("pandas", "pyarrow", "numpy", "orjson", "requests", "requests-cache", "duckdb")


class Figures:
    """Collects figures and writes them to a file, if one is asked for.

    Parameters
    ----------
    bench
        The name of the benchmark.
    """

    def __init__(self, bench: str) -> None:
        self._bench = bench
        self._figures: list[dict[str, Any]] = []

    def add(self, what: str, value: float, unit: str, **which: object) -> None:
        """Keep one figure; ``which`` distinguishes it from others of the same ``what``."""
        self._figures.append({"what": what, **which, "unit": unit, "value": value})

    def write(self, file: Path | None) -> None:
        """Write the figures, unless the file is None."""
        if file is None:
            return
        found = {"bench": self._bench, "machine": _machine(), "figures": self._figures}
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def parser(doc: str | None) -> argparse.ArgumentParser:
    """A command line with the options of every benchmark, described by the docstring of one."""
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    return made


def _machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": f"{sys.platform} {platform.machine()}",
        "processors": os.cpu_count(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
