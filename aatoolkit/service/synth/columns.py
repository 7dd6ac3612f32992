"""Draw whole columns at random, so that a seed gives the same rows everywhere.

Only uniform numbers are drawn: other distributions go through logarithms, whose last digit
differs between platforms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.service.schema import TABLES

Array: TypeAlias = npt.NDArray[Any]


def stream(seed: int, *path: int) -> np.random.Generator:
    """Make an independent random generator for a part of the store."""
    return np.random.Generator(np.random.PCG64([seed, *path]))


def weighted(rng: np.random.Generator, weights: Sequence[float] | Array, count: int) -> Array:
    """Draw indices by weight."""
    edges = np.cumsum(np.asarray(weights, dtype=np.float64))
    drawn = np.searchsorted(edges, rng.random(count) * edges[-1], side="right")
    places: Array = np.minimum(drawn, len(edges) - 1)
    return places


def between(rng: np.random.Generator, low: int, high: int, count: int) -> Array:
    """Draw integers from ``low`` to ``high``, both included."""
    return rng.integers(low, high, size=count, dtype=np.int64, endpoint=True)


def chance(rng: np.random.Generator, probability: float | Array, count: int) -> Array:
    """Draw booleans that are true with a probability."""
    return np.asarray(rng.random(count) < probability)


def spread(counts: Array) -> tuple[Array, Array]:
    """Number rows by owner: for each row its owner, and its place with that owner from 0."""
    owner = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    starts = np.cumsum(counts) - counts
    return owner, np.arange(len(owner), dtype=np.int64) - starts[owner]


def pick(values: Sequence[Any] | pa.Array, places: Array) -> pa.Array:
    """Take the values at some indices."""
    return (values if isinstance(values, pa.Array) else pa.array(values)).take(pa.array(places))


def unless(unknown: Array, values: Any) -> pa.Array:
    """Set values to null where they are unknown; one text stands for all rows."""
    values = pa.repeat(values, len(unknown)) if isinstance(values, str) else pa.array(values)
    return pc.if_else(pa.array(unknown), pa.scalar(None, values.type), values)


def numbered(prefix: str, count: int) -> pa.Array:
    """Make ids of a prefix and a serial number."""
    return pa.array([f"{prefix}{number:06d}" for number in range(1, count + 1)], pa.string())


def instants(days: Array | int, seconds: Array) -> pa.Array:
    """Convert days since 1970-01-01 and seconds to Arrow instants."""
    return pa.array((days * 86_400 + seconds) * 1_000_000).cast(pa.timestamp("us", tz="UTC"))


def drawn(name: str, host: str, **columns: Any) -> pa.Table:
    """Build a store table from whole columns; columns that are not given are null."""
    size = len(next(iter(columns.values())))
    columns["host"] = pa.repeat(host, size)
    return pa.table(
        [
            pa.array(columns.get(column.name, pa.nulls(size))).cast(column.type)
            for column in TABLES[name].columns
        ],
        schema=TABLES[name].arrow,
    )


_PARSERS = {"instant": datetime.fromisoformat, "day": date.fromisoformat}


def listed(name: str, host: str, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Build a store table from rows of JSON; what a row lacks is null, more is passed over."""
    parsers = {c.name: _PARSERS[c.kind] for c in TABLES[name].columns if c.kind in _PARSERS}
    parsed = [
        {"host": host, **row}
        | {key: parse(row[key]) for key, parse in parsers.items() if row.get(key)}
        for row in rows
    ]
    return pa.Table.from_pylist(parsed, TABLES[name].arrow)
