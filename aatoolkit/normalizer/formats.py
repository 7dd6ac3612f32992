"""Formats of values, such as ``5`` or ``5.0``, to write values back as they were."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.jsontree.chunks import concat_rows, to_column, without_nulls
from aatoolkit.jsontree.grouping import RowIndex
from aatoolkit.jsontree.kinds import INTEGER, NUMBER, STRING
from aatoolkit.jsontree.nodes import Node

_PARTS = (
    r"\A[0-9-]{10}(?P<between>[T ])[0-9]{2}:[0-9]{2}"
    r"(?P<seconds>:[0-9]{2})?(?P<fraction>[.][0-9]+)?(?P<zone>.*)\z"
)
_FULL = "T|3|7|Z"


def value_formats(
    node: Node | None, dtype: str, size: int
) -> Iterator[tuple[str, RowIndex | None]]:
    """Yield the formats in which values of a dtype are written, with the rows of each.

    Rows are None where all values are written in the one way there is.
    """
    if node is None:
        return
    if dtype in ("Int64", "Float64"):
        kinds = [kind for kind in (INTEGER, NUMBER) if kind in node.scalars]
        for kind in kinds:
            rows = [without_nulls(chunk)[1] for chunk in node.scalars[kind]]
            yield kind, concat_rows(rows) if len(kinds) > 1 else None
    elif dtype == "timestamp" and STRING in node.scalars:
        styles = _styles(to_column(node.scalars[STRING], pa.string(), size))
        known = pc.unique(styles).drop_null().to_pylist()
        for style in known:
            rows = pc.indices_nonzero(pc.equal(styles, style)).to_numpy()
            yield style, rows if len(known) > 1 else None
    else:
        yield "", None


def format_values(values: pa.Array, value_format: str) -> list[Any]:
    """Format the values of a column as JSON values, as they were written in the answer.

    Examples
    --------
    >>> noon = pa.array(["2026-11-20T12:00:00Z"]).cast(pa.timestamp("us", tz="UTC"))
    >>> format_values(noon, " |3|4|+01:30")
    ['2026-11-20 13:30:00.000+01:30']
    >>> format_values(pa.array([5.0, 0.5, None]), "integer")
    [5, 0.5, None]
    """
    kind = values.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return _moments(values, value_format)
    if pa.types.is_timestamp(kind):
        values = values.cast(pa.date32())
    if not pa.types.is_list(kind) and not pa.types.is_primitive(kind):
        values = values.cast(pa.string())
    if pa.types.is_date(values.type):
        values = values.cast(pa.string())
    found: list[Any] = values.to_pylist()
    if value_format == INTEGER and pa.types.is_floating(kind):
        return [int(v) if v is not None and v.is_integer() else v for v in found]
    if value_format == NUMBER and pa.types.is_integer(kind):
        return [v if v is None else float(v) for v in found]
    return found


def _styles(text: pa.Array) -> pa.Array:
    """The formats of instants: the separator, the length of the rest, and the zone."""
    parts = pc.extract_regex(text, _PARTS)
    between, seconds, fraction, zone = (
        pc.struct_field(parts, name) for name in ("between", "seconds", "fraction", "zone")
    )
    lengths = (pc.utf8_length(part).cast(pa.string()) for part in (seconds, fraction))
    return pc.binary_join_element_wise(between, *lengths, zone, "|")


def _moments(values: pa.Array, style: str) -> list[Any]:
    instants = values.cast(pa.timestamp("us", tz="UTC"))
    texts = _format_moments(instants, style)
    exact = pc.fill_null(pc.equal(texts.cast(instants.type), instants), True)
    if not pc.all(exact).as_py():
        # Changed since: the way it was written has no room for what it is now.
        texts = pc.if_else(exact, texts, _format_moments(instants, _FULL))
    found: list[Any] = texts.to_pylist()
    return found


def _format_moments(instants: pa.Array, style: str) -> pa.Array:
    between, seconds, fraction, zone = style.split("|")
    offset = timedelta()
    if zone not in ("", "Z"):
        minutes = int(zone[1:3]) * 60 + int(zone[-2:])
        offset = timedelta(minutes=-minutes if zone[0] == "-" else minutes)
    local = pc.add(instants.cast(pa.timestamp("us")), pa.scalar(offset, pa.duration("us")))
    text = local.cast(pa.string())
    part = pc.utf8_slice_codeunits
    return pc.binary_join_element_wise(
        part(text, 0, 10),
        between,
        part(text, 11, 16),
        part(text, 16, 16 + int(seconds)),
        part(text, 19, 19 + int(fraction)),
        zone,
        "",
    )
