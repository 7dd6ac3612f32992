"""The kinds of JSON scalars, and the Arrow type that holds each exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

INTEGER, BIG, NUMBER, STRING, BOOLEAN = "integer", "big", "number", "string", "boolean"
ARROW = {
    INTEGER: pa.int64(),
    BIG: pa.string(),
    NUMBER: pa.float64(),
    STRING: pa.string(),
    BOOLEAN: pa.bool_(),
}
"""The Arrow type of each kind; integers beyond 64 bits are decimal text."""

KIND_OF = {int: INTEGER, float: NUMBER, str: STRING, bool: BOOLEAN}
"""The kind of a Python scalar, by its type; an integer may turn out to be `BIG`."""

POOL = pa.system_memory_pool()
"""Arrays are built with room to spare, which Arrow's own pool would not give back."""


def scalar_array(values: Sequence[Any] | None, kind: str) -> pa.Array:
    """Build an Arrow array of scalars of one kind, and null."""
    return pa.array(values, ARROW[kind], memory_pool=POOL)
