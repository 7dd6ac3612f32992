"""Cell hashes: those of a frame and of its Arrow table are the same."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from effort import one_in
from hypothesis import given
from hypothesis import strategies as st

from aatoolkit.metadata.fingerprint import fingerprint_of
from aatoolkit.normalizer.to_pandas import to_frame

KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "text": (pa.string(), st.text(max_size=3)),
    "count": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "rate": (pa.float64(), st.floats(allow_nan=False)),
    "own": (pa.bool_(), st.booleans()),
    "day": (pa.date32(), st.dates()),
    "ran_at": (pa.timestamp("us", tz="UTC"), st.datetimes()),
    "tone": (pa.dictionary(pa.int32(), pa.string()), st.sampled_from(["good", "bad", ""])),
    "words": (pa.list_(pa.string()), st.lists(st.none() | st.text(max_size=2), max_size=2)),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Tables of all kinds of columns, in pieces of any length."""
    sizes = draw(st.lists(st.integers(0, 4), max_size=3))
    return pa.table(
        {
            name: pa.chunked_array(
                [
                    pa.array(draw(st.lists(st.none() | values, min_size=n, max_size=n)), kind)
                    for n in sizes
                ],
                kind,
            )
            for name, (kind, values) in KINDS.items()
        }
    )


@pytest.mark.parametrize("backend", one_in(2, ["numpy_nullable", "pyarrow"]))
@given(tables(), st.sampled_from([(), ("text",), ("count", "day"), ("gone",)]), st.booleans())
def test_a_frame_and_its_table_have_the_same_fingerprint(
    backend: str, table: pa.Table, key: tuple[str, ...], sample: bool
) -> None:
    names = [name for name in KINDS if name != "rate"]
    of_frame = fingerprint_of(to_frame(table, backend), names, key, sample=sample)
    of_table = fingerprint_of(table, names, key, sample=sample)
    for name in ("rows", "index", "span", "beside", "is_sample"):
        assert getattr(of_table, name) == getattr(of_frame, name), name
    for name in ("labels", "keys"):
        assert [*getattr(of_table, name)] == [*getattr(of_frame, name)], name
    assert repr(of_table.cells) == repr(of_frame.cells)
