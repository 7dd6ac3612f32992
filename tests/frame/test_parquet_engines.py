"""One file, many engines: what each finds in it, and what is left when it writes the file anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from carried import ATTRIBUTE, MEASURED, ColumnMetadata, FrameMetadata, Source, attach, metadata_of

import aatoolkit as aa
from aatoolkit import Availability, Cause, Status

PARTIAL = Availability(Status.PARTIAL, Cause.TRUNCATED, "2 of 800 – “most recent”.")
LACKING = Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED, "No analytics source.")
KNOWN = FrameMetadata(
    {
        "source_domain": ColumnMetadata("source_domains.source_domain", MEASURED),
        "domain_type": ColumnMetadata("source_domains.domain_type", MEASURED),
        "citation_count": ColumnMetadata("source_domains.citation_count", PARTIAL),
        "revenue": ColumnMetadata("t.revenue", LACKING),
    },
    ("source_domain",),
    (Source("acme.example", "domains", "days=30", "https://api.example/domains", sha256="ab12"),),
)
COUNT = {"status": "partial", "cause": "truncated", "reason": "2 of 800 – “most recent”."}


def frame() -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "source_domain": pd.array(["a.example", "b.example", "c.example"], "string"),
            "domain_type": pd.Categorical(["owned", None, "editorial"], ["owned", "editorial"]),
            "citation_count": pd.array([3, 0, None], "Int64"),
            "revenue": pd.array([None] * 3, "Float64"),
            "seen": pd.to_datetime(["2026-11-01"] * 3).as_unit("us"),
            "at": pd.to_datetime(["2026-11-01T10:00:00Z"] * 3).as_unit("us"),
            "own": pd.array([True, False, None], "boolean"),
            "tags": pd.array([["x"], [], None], pd.ArrowDtype(pa.list_(pa.string()))),
            "mine": [1, 2, 3],
        }
    )
    return attach(table, KNOWN)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return frame().aa.to_parquet(tmp_path / "domains.parquet")


def state(document: dict[str, Any], column: str) -> dict[str, str]:
    """What the key of a file states of a column."""
    return dict(document["states"][document["columns"][column].get("state", 0)])


def claims(metadata: FrameMetadata) -> dict[str, ColumnMetadata]:
    return {name: column for name, column in metadata.columns.items() if column != ColumnMetadata()}


def test_it_is_read_back_by_us_and_by_pandas_alone(path: Path) -> None:
    for again in (aa.read_parquet(path), pd.read_parquet(path)):
        assert metadata_of(again) == metadata_of(frame())
        assert claims(metadata_of(again)) == KNOWN.columns
    pd.testing.assert_frame_equal(aa.read_parquet(path), frame(), check_flags=False)


def test_duckdb_finds_data_and_metadata(path: Path) -> None:
    keys = dict(
        duckdb.sql(
            f"SELECT decode(key), decode(value) FROM parquet_kv_metadata('{path}')"
        ).fetchall()
    )
    document = json.loads(keys[ATTRIBUTE])
    assert state(document, "revenue")["reason"] == "No analytics source."
    assert document["columns"]["citation_count"]["unit"] == "count"
    rows = duckdb.sql(f"SELECT source_domain, citation_count, revenue, tags FROM '{path}'")
    assert rows.fetchall() == [
        ("a.example", 3, None, ["x"]),
        ("b.example", 0, None, []),
        ("c.example", None, None, None),
    ]


def test_pyarrow_finds_data_and_metadata(path: Path) -> None:
    for table in (pq.read_table(path), pq.ParquetFile(path).read()):
        assert table.column("citation_count").to_pylist() == [3, 0, None]
        document = json.loads(table.schema.metadata[ATTRIBUTE.encode()])
        assert state(document, "citation_count") == COUNT
        assert state(document, "tags") == {"status": "unknown"}
        assert document["columns"]["citation_count"]["aggregation"] == "sum"
    assert (
        pq.read_schema(path).metadata[ATTRIBUTE.encode()]
        == table.schema.metadata[ATTRIBUTE.encode()]
    )


def by_duckdb(path: Path, out: Path) -> None:
    duckdb.sql(f"COPY (FROM '{path}') TO '{out}' (FORMAT parquet)")


def by_polars(path: Path, out: Path) -> None:
    pl.read_parquet(path).write_parquet(out)


@pytest.mark.parametrize("rewritten", [by_duckdb, by_polars])
def test_a_file_that_another_engine_wrote_anew_is_unknown_until_it_adopts(
    rewritten: Any, path: Path, tmp_path: Path
) -> None:
    rewritten(path, tmp_path / "again.parquet")
    again = aa.read_parquet(tmp_path / "again.parquet")
    assert {*again.aa.availability["status"]} == {"unknown"}
    assert claims(metadata_of(again)) == {}
    adopted = again.aa.adopt(aa.read_parquet(path))
    assert claims(metadata_of(adopted)) == KNOWN.columns
    assert metadata_of(adopted).sources == KNOWN.sources


def test_a_file_that_pyarrow_wrote_anew_with_other_values_is_not_believed(
    path: Path, tmp_path: Path
) -> None:
    table = pq.read_table(path)
    zeros = pa.array([0, 0, 0], pa.int64())
    place = table.schema.get_field_index("citation_count")
    table = table.set_column(place, table.schema.field(place), zeros)
    pq.write_table(table.drop_columns(["source_domain"]), tmp_path / "again.parquet")
    metadata = metadata_of(aa.read_parquet(tmp_path / "again.parquet"))
    assert metadata.columns["citation_count"].declared_name is None
    assert metadata.columns["domain_type"].declared_name == "source_domains.domain_type"
    assert "source_domain" not in metadata.columns
    assert metadata.key == ()
