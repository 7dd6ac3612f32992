"""What `df.aa.aggregate` costs beside `groupby`, and metadata in a chain of plain pandas.

Run by hand, from the repository::

    python tests/bench/frames.py --rows 100000 --repeats 9

Contenders take turns in one process; a figure is a ratio of medians of processor time. The
response is synthetic. To be kept: a chain of eight steps on 200 columns with metadata below 1.3
times the same without.
"""

from __future__ import annotations

import json
import warnings
from functools import partial
from typing import Any

import figures
import numpy as np
import pandas as pd

import aatoolkit as aa

TYPES = ("owned", "competitor", "editorial", "ugc", "reference", "other")
CASES = {
    "12 columns by a category": ("source_domains", "domain_type"),
    "a count by engine": ("source_domain_engines", "engine"),
}


def response(rows: int) -> dict[str, Any]:
    """A response with that many cited domains, each cited by one of five engines."""
    draw = np.random.default_rng(20261121)
    citations, reads = draw.integers(0, 500, rows).tolist(), draw.integers(400, 900, rows).tolist()
    domains = [
        {
            "rank": row + 1,
            "domain": f"site-{row}.example",
            "domainType": TYPES[row % 6],
            "citationCount": citations[row],
            "citationShare": citations[row] / 1e8,
            "retrievalCount": None if row % 97 == 0 else reads[row],
            "citationRate": None if row % 97 == 0 else citations[row] / reads[row],
            "answerCount": citations[row],
            "retrievedAnswerShare": 0.5,
            "uniqueUrls": 3,
            "brandsMentioned": ["Acme"],
            "rankChange": 0,
            "byEngine": {f"engine-{row % 5}": citations[row]},
        }
        for row in range(rows)
    ]
    return {
        "section": "domains",
        "domain": "acme.example",
        "window": {"start": "2026-10-22", "end": "2026-11-20", "days": 30, "timezone": "UTC"},
        "filters": {"engine": None, "topic": None, "category": None, "brand": None},
        "generatedAt": "2026-11-20T23:30:00Z",
        "availability": {"status": "available", "reason": None, "sampleCount": rows},
        "totals": {"citationCount": sum(citations), "uniqueDomains": rows},
        "domains": domains,
        "typeBreakdown": [],
    }


def aggregates(tables: aa.Tables, repeats: int, result: figures.Figures) -> None:
    for case, (table, by) in CASES.items():
        frame = tables[table]
        plain = frame[[*frame.select_dtypes("number")]].assign(by=frame[by] if by else 1)
        contenders = {
            "groupby": lambda plain=plain: plain.groupby("by", observed=True).sum(),
            "aggregate": partial(frame.aa.aggregate, by),
        }
        result.ratios("sum", figures.turns(contenders, repeats), "groupby", case=case)


def wide(described: pd.DataFrame, columns: int = 200, rows: int = 2_000) -> pd.DataFrame:
    """A frame of that many columns, with the metadata of a described one repeated over them."""
    draw = np.random.default_rng(20261121)
    numbers = {f"c{n:03}": draw.integers(0, 1000, rows) for n in range(columns - 2)}
    key = [f"domain-{row}.example" for row in range(rows)]
    frame = pd.DataFrame({"domain": key, "kind": draw.choice([*"abcdefgh"], rows), **numbers})
    (carrier,) = described.attrs
    metadata = json.loads(described.attrs[carrier])
    entry = metadata["columns"]["citation_count"]
    metadata["columns"] = {str(name): entry for name in frame}
    frame.attrs[carrier] = json.dumps(metadata)
    return frame


def chain(frame: pd.DataFrame) -> pd.DataFrame:
    """Eight steps of an ordinary analysis."""
    frame = frame[frame["c000"] > 100]
    frame = frame.assign(ratio=frame["c001"] / frame["c002"].where(frame["c002"] > 0))
    frame = frame.sort_values("ratio").drop(columns=["c003", "c004"])
    frame = frame.rename(columns={"c005": "renamed"}).reset_index(drop=True).head(1_000)
    return frame.groupby("kind")[["c006", "c007", "ratio"]].mean()


def chains(tables: aa.Tables, repeats: int, result: figures.Figures) -> None:
    frames = {"with metadata": wide(tables["source_domains"])}
    frames["without metadata"] = frames["with metadata"].copy()
    frames["without metadata"].attrs = {}
    seconds = figures.turns({name: partial(chain, frames[name]) for name in frames}, repeats)
    result.ratios("eight steps", seconds, "without metadata", columns=200)


def main() -> None:
    """Print the ratios."""
    parser = figures.parser(__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=9, help="turns (default: %(default)s)")
    options = parser.parse_args()
    warnings.simplefilter("ignore", aa.errors.AAToolkitWarning)
    result = figures.Figures("frames")
    tables = aa.normalize("domains", response(options.rows))
    aggregates(tables, options.repeats, result)
    chains(tables, 5 * options.repeats, result)
    result.write(options.json)


if __name__ == "__main__":
    main()
