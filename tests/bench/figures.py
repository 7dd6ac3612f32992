"""What benchmarks share: contenders that take turns, a printed table, and the figures as JSON.

Every benchmark takes ``--json FILE``. The file holds one object: ``bench`` its name, ``machine``
what it ran on, and ``figures`` a list of objects ``{"what", "unit", "value", ...}``, whose further
keys say which of several it is (a size, a contender). A unit of ``x`` is a ratio of times taken in
one run; figures in other units differ between machines and hours.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

_PACKAGES = ("pandas", "pyarrow", "numpy", "orjson", "requests", "requests-cache", "duckdb")


class Figures:
    """Collects the figures of the benchmark of that name, and writes them if a file is wanted."""

    def __init__(self, bench: str) -> None:
        self._bench = bench
        self._figures: list[dict[str, Any]] = []

    def add(self, what: str, value: float, unit: str, **which: object) -> None:
        """Keep one figure; ``which`` distinguishes it from others of the same ``what``."""
        self._figures.append({"what": what, **which, "unit": unit, "value": value})

    def ratios(self, what: str, seconds: Mapping[str, float], base: str, **which: object) -> None:
        """Print and keep the times of contenders as multiples of that of ``base``."""
        print(f"{what} / {base}" + "".join(f", {name} {value}" for name, value in which.items()))
        for name, value in seconds.items():
            ratio = value / seconds[base]
            print(f"  {name:32}{value * 1e3:10.2f} ms {ratio:8.2f} x")
            self.add(f"{what} / {base}", ratio, "x", contender=name, **which)

    def write(self, file: Path | None) -> None:
        """Write the figures, unless the file is None."""
        if file is not None:
            document = {"bench": self._bench, "machine": _machine(), "figures": self._figures}
            file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def turns(
    contenders: Mapping[str, Callable[[], object]],
    repeats: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """The median seconds of each contender; they take turns, and the first turn warms up."""
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(repeats + 1):
        for name, work in contenders.items():
            gc.collect()
            start = clock()
            work()
            if turn:
                taken[name].append(clock() - start)
    return {name: median(seconds) for name, seconds in taken.items()}


def parser(doc: str | None) -> argparse.ArgumentParser:
    """A command line with the options of every benchmark, described by its docstring."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    return parser


def _machine() -> dict[str, Any]:
    versions = {name: _version(name) for name in _PACKAGES}
    return {
        "python": platform.python_version(),
        "system": f"{sys.platform} {platform.machine()}",
        "processors": os.cpu_count(),
        "packages": {name: number for name, number in versions.items() if number},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
