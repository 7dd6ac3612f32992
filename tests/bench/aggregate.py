"""What `df.aa.aggregate` costs on 100,000 rows, beside `groupby` and beside another version.

Run by hand, from the repository::

    python tests/bench/aggregate.py
    python tests/bench/aggregate.py --against ../older --rows 100000 --json aggregate.json

Each version runs in processes of its own, which take turns; a figure is the least processor time
of a case in any of them. Printed are these as ratios to a plain `groupby(…).sum()` of the same
frame, and to the other version. The answer is synthetic, read by each version itself.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from figures import Figures, parser

HERE = Path(__file__).parents[2]
LIMIT = 1.5
CASES = {
    "12 columns by a category": ("source_domains", "domain_type"),
    "12 columns, all rows": ("source_domains", None),
    "12 columns by the key": ("source_domains", "source_domain"),
    "a count by engine": ("source_domain_engines", "engine"),
    "a count by a domain": ("source_domain_engines", "source_domain"),
    "12 columns, filtered, by a category": ("filtered", "domain_type"),
}


def answer(rows: int) -> dict[str, Any]:
    """An answer with that many cited domains, each cited by one of five engines, some missing."""
    import numpy as np

    draw = np.random.default_rng(20261121)
    kinds = ["owned", "competitor", "editorial", "ugc", "reference", "other"]
    cited, read = draw.integers(0, 500, rows).tolist(), draw.integers(400, 900, rows).tolist()
    domains = [
        {
            "rank": row + 1,
            "domain": f"site-{row}.example",
            "domainType": kinds[row % 6],
            "citationCount": cited[row],
            "citationShare": cited[row] / 1e8,
            "retrievalCount": None if row % 97 == 0 else read[row],
            "citationRate": None if row % 97 == 0 else cited[row] / read[row],
            "answerCount": cited[row],
            "retrievedAnswerShare": 0.5,
            "uniqueUrls": 3,
            "brandsMentioned": ["Acme"],
            "rankChange": 0,
            "byEngine": {f"engine-{row % 5}": cited[row]},
        }
        for row in range(rows)
    ]
    return {
        "section": "domains",
        "domain": "acme.example",
        "window": {"start": "2026-10-22", "end": "2026-11-20", "days": 30, "timezone": "UTC"},
        "filters": {"engine": None, "topic": None, "category": None, "brand": None},
        "generatedAt": "2026-11-20T23:30:00Z",
        "availability": {
            "status": "partial",
            "reason": "engine-4 has not run since 2026-11-18.",
            "sampleCount": rows,
            "asOf": "2026-11-20T06:10:00Z",
        },
        "totals": {"citationCount": sum(cited), "uniqueDomains": rows},
        "domains": domains,
        "typeBreakdown": [],
    }


def measure(rows: int, repeats: int) -> dict[str, list[float]]:
    """Seconds of processor time of each case, and of a plain sum of the same frame."""
    import aatoolkit as aa

    tables = aa.normalize("domains", answer(rows))
    domains = tables["source_domains"]
    frames = {
        "source_domains": domains,
        "source_domain_engines": tables["source_domain_engines"],
        "filtered": domains[domains["citation_count"] > 100],
    }
    taken: dict[str, list[float]] = {}
    for name, (table, by) in CASES.items():
        frame = frames[table]
        plain = frame[[*frame.select_dtypes("number")]].assign(by=frame[by] if by else 1)
        taken[name] = [
            seconds(partial(frame.aa.aggregate, by), repeats),
            seconds(partial(plain_sum, plain), repeats),
        ]
    return taken


def plain_sum(frame: Any) -> Any:
    return frame.groupby("by", observed=True).sum()


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The least processor time of some calls."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work()
        taken.append(time.process_time() - start)
    return min(taken)


def measured_in(tree: Path, rows: int, repeats: int) -> dict[str, list[float]]:
    """The same in a process that imports the package of a source tree."""
    command = [sys.executable, __file__, "--work", "--rows", str(rows), "--repeats", str(repeats)]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(tree)},
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def least(runs: list[dict[str, list[float]]]) -> dict[str, list[float]]:
    return {
        name: [min(pair) for pair in zip(*(run[name] for run in runs), strict=True)]
        for name in CASES
    }


def compare(this: argparse.Namespace) -> dict[str, dict[str, float]]:
    """The ratios of each case."""
    trees = {"this": HERE} | ({"other": this.against.resolve()} if this.against else {})
    runs: dict[str, list[dict[str, list[float]]]] = {name: [] for name in trees}
    for _ in range(this.rounds):
        for name, tree in trees.items():
            runs[name].append(measured_in(tree, this.rows, this.repeats))
    found = {name: least(of) for name, of in runs.items()}
    return {
        case: {"groupby": ours / sums}
        | ({"the other version": ours / found["other"][case][0]} if this.against else {})
        for case, (ours, sums) in found["this"].items()
    }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--repeats", type=int, default=5, help="in each process")
    options.add_argument("--rounds", type=int, default=2, help="processes of each version")
    options.add_argument("--against", type=Path, help="the source tree of another version")
    options.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    this = options.parse_args()
    if this.work:
        sys.stdout.write(json.dumps(measure(this.rows, this.repeats)))
        return
    figures = Figures("aggregate")
    for case, ratios in compare(this).items():
        for other, ratio in ratios.items():
            figures.add(f"aggregate / {other}", ratio, "x", case=case, rows=this.rows)
        shown = "".join(f"  to {name} {ratio:6.2f} x" for name, ratio in ratios.items())
        sys.stdout.write(f"{case:<36}{shown}\n")
    if this.against:
        sys.stdout.write(f"to be kept to the other version: <= {LIMIT} x\n")
    figures.write(this.json)


if __name__ == "__main__":
    main()
