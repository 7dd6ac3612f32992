"""The logical hash: equal for equal content, different for other content."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples, one_in
from hypothesis import given, settings, strategies as st
from samples import sample_bytes

import aatoolkit as aa
from aatoolkit import errors, sections


def test_it_is_what_its_docstring_describes() -> None:
    frame = pd.DataFrame(
        {
            "brand": pd.array(["Äcme", None], "string"),
            "n": pd.array([-3, None], "Int64"),
            "rate": pd.array([0.5, None], "Float64"),
            "own": pd.array([None, True], "boolean"),
            "terms": pd.Series([["a", None], []], dtype=pd.ArrowDtype(pa.list_(pa.string()))),
        }
    )
    kinds = ["text", "integer", "float", "boolean", "list<text>"]
    head = {"columns": [[*pair] for pair in zip(frame.columns, kinds, strict=True)], "rows": 2}
    written = b"".join(
        (
            b"aatoolkit logical hash 1\n",
            json.dumps(head, separators=(",", ":")).encode() + b"\n",
            b"\x01\x00" + struct.pack("<qq", 5, 0) + "Äcme".encode(),
            b"\x01\x00" + struct.pack("<qq", -3, 0),
            b"\x01\x00" + struct.pack("<dd", 0.5, 0),
            b"\x00\x01" + b"\x00\x01",
            b"\x01\x01" + struct.pack("<qq", 2, 0),
            b"\x01\x00" + struct.pack("<qq", 1, 0) + b"a",
        )
    )
    assert aa.logical_hash(frame) == hashlib.sha256(written).hexdigest()


@pytest.mark.parametrize("section", one_in(3, sections.names()))
@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_it_is_the_same_for_both_backends_and_every_layout(section: str, tmp_path: Path) -> None:
    body = sample_bytes(section)
    nullable = aa.normalize(section, body)
    arrow = aa.normalize(section, body, dtype_backend="pyarrow")
    for name, frame in nullable.items():
        expected = aa.logical_hash(frame)
        assert aa.logical_hash(arrow[name]) == expected
        table = pa.Table.from_pandas(arrow[name], preserve_index=False)
        for rows, dictionary in ((1, False), (3, True), (10_000, False)):
            pq.write_table(
                table, tmp_path / "t.parquet", row_group_size=rows, use_dictionary=dictionary
            )
            assert aa.logical_hash(pq.read_table(tmp_path / "t.parquet")) == expected
        assert aa.logical_hash(pa.concat_tables([table.slice(0, 2), table.slice(2)])) == expected
        frame.aa.to_parquet(tmp_path / "t.parquet")
        assert aa.logical_hash(aa.read_parquet(tmp_path / "t.parquet")) == expected


@pytest.mark.parametrize("value", [{"a": 1}, 1 + 2j, object()])
def test_what_has_no_kind_is_refused(value: Any) -> None:
    with pytest.raises(errors.NotWritten, match=r"odd.* no logical hash|no logical hash.*odd"):
        aa.logical_hash(pd.DataFrame({"odd": pd.Series([value], dtype=object)}))


cells = st.one_of(st.none(), st.text(max_size=4))


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.tuples(cells, st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))), max_size=6),
    st.lists(st.tuples(cells, st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))), max_size=6),
)
def test_equal_tables_and_only_those_hash_alike(values: list[Any], other_values: list[Any]) -> None:
    def frame(rows: list[Any]) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "a": pd.array([row[0] for row in rows], "string"),
                "n": pd.array([row[1] for row in rows], "Int64"),
            }
        )

    assert (aa.logical_hash(frame(values)) == aa.logical_hash(frame(other_values))) == (
        values == other_values
    )
    assert aa.logical_hash(frame(values)) == aa.logical_hash(frame([*values]))
