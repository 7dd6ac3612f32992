"""Draw whole columns at random, so that a seed gives the same rows everywhere.

Only uniform numbers are drawn: other distributions go through logarithms, whose last digit
differs between platforms.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.service.schema import TABLES, StoreTable

Integers: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Numbers: TypeAlias = npt.NDArray[np.float64]

SECONDS = 86_400


def stream(seed: int, *path: int) -> np.random.Generator:
    """Make an independent random generator for a part of the store."""
    return np.random.Generator(np.random.PCG64([seed, *path]))


def weighted(rng: np.random.Generator, weights: Sequence[float] | Numbers, count: int) -> Integers:
    """Draw indices by weight."""
    edges = np.cumsum(np.asarray(weights, dtype=np.float64))
    drawn = np.searchsorted(edges, rng.random(count) * edges[-1], side="right")
    places: Integers = np.minimum(drawn, len(edges) - 1).astype(np.int64)
    return places


def between(rng: np.random.Generator, low: int, high: int, count: int) -> Integers:
    """Draw integers from ``low`` to ``high``, both included."""
    drawn: Integers = rng.integers(low, high, size=count, dtype=np.int64, endpoint=True)
    return drawn


def chance(rng: np.random.Generator, probability: float | Numbers, count: int) -> Flags:
    """Draw booleans that are true with a probability."""
    return rng.random(count) < probability


def spread(counts: Integers) -> tuple[Integers, Integers]:
    """Number rows by owner: for each row its owner, and its place with that owner from 0."""
    owner = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    starts = np.cumsum(counts) - counts
    return owner, np.arange(len(owner), dtype=np.int64) - starts[owner]


def pick(values: Sequence[Any] | pa.Array, places: Integers) -> pa.Array:
    """Take the values at some indices."""
    return (values if isinstance(values, pa.Array) else pa.array(values)).take(pa.array(places))


def unless(unknown: Flags, values: Any) -> pa.Array:
    """Set values to null where they are unknown."""
    values = pa.array(values)
    return pc.if_else(pa.array(unknown), pa.scalar(None, values.type), values)


def numbered(prefix: str, count: int) -> pa.Array:
    """Make ids of a prefix and a serial number."""
    return pa.array([f"{prefix}{number:06d}" for number in range(1, count + 1)], pa.string())


def day_number(day: date) -> int:
    """Convert a day to days since 1970-01-01."""
    return (day - date(1970, 1, 1)).days


def days(numbers: Integers) -> pa.Array:
    """Convert days since 1970-01-01 to Arrow days."""
    return pa.array(numbers.astype(np.int32)).cast(pa.date32())


def instants(numbers: Integers, seconds: Integers) -> pa.Array:
    """Convert days since 1970-01-01 and seconds to Arrow instants."""
    microseconds = (numbers * SECONDS + seconds) * 1_000_000
    return pa.array(microseconds).cast(pa.timestamp("us", tz="UTC"))


def observed(name: str, host: str, **columns: Any) -> pa.Table:
    """Build a store table from whole columns; columns not given are null."""
    some = next(iter(columns.values()))
    columns["host"] = pa.repeat(host, len(some))
    return pa.table(
        [
            pa.array(columns[column.name]).cast(column.type)
            if column.name in columns
            else pa.nulls(len(some), column.type)
            for column in TABLES[name].columns
        ],
        schema=TABLES[name].arrow,
    )


def listed(name: str, host: str | None, records: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Build a store table from records; keys that a record lacks are null."""
    own = {} if host is None else {"host": host}
    return pa.Table.from_pylist([{**own, **record} for record in records], TABLES[name].arrow)


def fixed(host: str) -> dict[str, pa.Table]:
    """The tables of a host whose rows are not drawn: its connections, examinations and work."""
    return {
        name: listed(name, host or None, [_record(name, row) for row in rows])
        for name, rows in FIXED.get(host, {}).items()
    }


FIXED = json.loads(Path(__file__).with_name("fixed.json").read_text(encoding="utf-8"))


def _record(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {column: _parsed(TABLES[name], column, value) for column, value in row.items()}


def _parsed(table: StoreTable, column: str, value: Any) -> Any:
    kind = table.columns[table.names.index(column)].kind
    if kind == "instant":
        return datetime.fromisoformat(value)
    return date.fromisoformat(value) if kind == "day" else value
