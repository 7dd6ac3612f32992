"""How many different rows columns have, as Python's sets count them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from aatoolkit.normalizer.keys import count_distinct

KINDS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.string(), st.sampled_from(["a", "b", "", None])),
    (pa.int64(), st.integers(-3, 3) | st.sampled_from([2**63 - 1, -(2**63), None])),
    (pa.int64(), st.integers(-1, 1)),
    (pa.dictionary(pa.int32(), pa.string()), st.sampled_from(["a", "b", None])),
]


@given(st.data(), st.lists(st.sampled_from(KINDS), min_size=1, max_size=4), st.integers(0, 12))
def test_rows_are_counted_as_sets_count_them(
    data: st.DataObject, kinds: list[tuple[pa.DataType, st.SearchStrategy[Any]]], size: int
) -> None:
    columns = [data.draw(st.lists(one, min_size=size, max_size=size)) for _, one in kinds]
    arrays = [
        pa.chunked_array([pa.array(column[:5], kind), pa.array(column[5:], kind)], kind)
        for column, (kind, _) in zip(columns, kinds, strict=True)
    ]
    assert count_distinct(arrays) == len({*zip(*columns, strict=True)})
