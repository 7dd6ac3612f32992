"""What metadata of 200 columns costs an 8-step chain of plain pandas.

Run by hand, from the repository::

    python tests/bench/metadata.py --rounds 41

The chain is run on the same frame without metadata, with ours, and with the same facts as a
plain dict in ``attrs``, in turn, in one process. Printed are the ratios of the medians of the
times to that without. The frame is synthetic.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
import figures

from aatoolkit import Availability, Cause, Status
from aatoolkit.metadata.attrs import ATTRIBUTE, ColumnMetadata, FrameMetadata, Source, attach

COLUMNS, ROWS, ROUNDS = 200, 2_000, 41
LIMIT = 1.3


def plain() -> pd.DataFrame:
    """A frame of 200 columns, one of them the key, one a group."""
    draw = np.random.default_rng(20261121)
    numbers = {f"c{n:03}": draw.integers(0, 1000, ROWS) for n in range(COLUMNS - 2)}
    key = [f"domain-{row}.example" for row in range(ROWS)]
    return pd.DataFrame({"domain": key, "kind": draw.choice([*"abcdefgh"], ROWS), **numbers})


def described() -> pd.DataFrame:
    """The same with an availability for each column, each with words of its own."""
    frame = plain()
    columns = {
        name: ColumnMetadata(
            f"domains.{name}", Availability(Status.PARTIAL, Cause.TRUNCATED, f"Words on {name}.")
        )
        for name in frame.columns
    }
    source = Source("acme.example", "domains", "days=30", sha256="0" * 64)
    return attach(frame, FrameMetadata(columns, ("domain",), (source,)))


def with_dict() -> pd.DataFrame:
    """The same with the same facts as a dict, the way that comes to mind first."""
    frame = described()
    frame.attrs[ATTRIBUTE] = json.loads(frame.attrs[ATTRIBUTE])
    return frame


def chain(frame: pd.DataFrame) -> pd.DataFrame:
    """Eight steps of an ordinary analysis."""
    frame = frame[frame["c000"] > 100]
    frame = frame.assign(ratio=frame["c001"] / frame["c002"].where(frame["c002"] > 0))
    frame = frame.sort_values("ratio")
    frame = frame.drop(columns=["c003", "c004"])
    frame = frame.rename(columns={"c005": "renamed"})
    frame = frame.reset_index(drop=True)
    frame = frame.head(1_000)
    return frame.groupby("kind")[["c006", "c007", "ratio"]].mean()


def seconds(frame: pd.DataFrame) -> float:
    """The time that the chain takes on a frame."""
    start = time.perf_counter()
    chain(frame)
    return time.perf_counter() - start


def ratios(rounds: int = ROUNDS) -> dict[str, float]:
    """How much slower the chain is with metadata, by how the metadata is carried."""
    made: dict[str, Callable[[], pd.DataFrame]] = {
        "none": plain,
        "aatoolkit": described,
        "a dict": with_dict,
    }
    frames = {name: make() for name, make in made.items()}
    times: dict[str, list[float]] = {name: [] for name in frames}
    for _ in range(rounds):
        for name, frame in frames.items():
            times[name].append(seconds(frame))
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    return {name: median / medians["none"] for name, median in medians.items()}


def main() -> None:
    """Print the ratios."""
    parser = figures.parser(__doc__)
    add = parser.add_argument
    add("--rounds", type=int, default=ROUNDS, help="turns of each (default: %(default)s)")
    this = parser.parse_args()
    found = figures.Figures("metadata")
    for name, ratio in ratios(this.rounds).items():
        print(f"{name:<10} {ratio:5.2f} x")
        found.add("chain / chain without metadata", ratio, "x", contender=name, columns=COLUMNS)
    print(f"to be kept by aatoolkit: < {LIMIT} x")
    found.write(this.json)


if __name__ == "__main__":
    main()
