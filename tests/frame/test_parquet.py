"""Frames in Parquet: dtypes and metadata travel, and a file is whole or not there."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from carried import metadata_of
from effort import effort, one_in
from samples import sample_bytes
from serving import demo_dataset

import aatoolkit as aa
from aatoolkit import sections
from aatoolkit.errors import MetadataError, NotRead, NotWritten

SECTIONS = sections.all()


def read(name: str, **options: Any) -> aa.Tables:
    return aa.normalize(name, sample_bytes(name), **options)


def there_and_back(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    return aa.read_parquet(frame.aa.to_parquet(path))


def assert_same(again: pd.DataFrame, frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(again, frame, check_flags=False)
    assert [*again.dtypes] == [*frame.dtypes]
    for column, dtype in frame.dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype):
            assert [*again[column].cat.categories] == [*dtype.categories]
            assert again[column].cat.ordered == dtype.ordered
    assert metadata_of(again) == metadata_of(frame)


@pytest.mark.parametrize(
    ("name", "backend"), one_in(5, [*product(SECTIONS, ("numpy_nullable", "pyarrow"))])
)
def test_every_table_comes_back_as_it_was(name: str, backend: str, tmp_path: Path) -> None:
    for table, frame in read(name, dtype_backend=backend).items():
        if backend == "numpy_nullable":
            assert_same(there_and_back(frame, tmp_path / f"{table}.parquet"), frame)
            empty = there_and_back(frame.iloc[:0], tmp_path / "empty.parquet")
            assert metadata_of(empty) == metadata_of(frame.iloc[:0])
        else:
            again = there_and_back(frame, tmp_path / f"{table}.parquet")
            assert [*again.dtypes] == [*frame.dtypes]
            pd.testing.assert_frame_equal(again, frame, check_flags=False)


def test_metadata_is_small_beside_small_tables(tmp_path: Path) -> None:
    dataset = demo_dataset()
    paths = [
        frame.aa.to_parquet(tmp_path / f"{name}.parquet")
        for tables in dataset.values()
        for name, frame in tables.items()
    ]
    assert len(paths) == 70
    assert sum(path.stat().st_size for path in paths) <= 500_000


def test_a_file_of_anybody_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "theirs.parquet"
    pq.write_table(pa.table({"a": [1, 2], "l": [["x"], []]}), path)
    again = aa.read_parquet(path)
    assert again["a"].tolist() == [1, 2]
    assert again.aa.availability["status"].tolist() == ["unknown", "unknown"]


# --- whole or not there ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [object()]}),
        pd.DataFrame({"a": [1, "x"]}),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame({"a": [1 + 2j]}),
    ],
    ids=["object", "mixed", "twice", "complex"],
)
def test_a_frame_that_cannot_be_written_leaves_what_was_there(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"before")
    with pytest.raises(NotWritten, match=r"a\.parquet cannot be written as Parquet") as refused:
        frame.aa.to_parquet(path)
    assert refused.value.path == str(path)
    assert path.read_bytes() == b"before"
    assert [*tmp_path.iterdir()] == [path]


# --- a whole section ------------------------------------------------------------------------


def test_a_section_is_written_with_all_that_was_read(tmp_path: Path) -> None:
    tables = read("domains")
    written = [path.relative_to(tmp_path).as_posix() for path in tables.to_parquet(tmp_path)]
    assert written == [
        "domains/source_domains.parquet",
        "domains/source_domain_engines.parquet",
        "domains/source_domain_types.parquet",
        "domains/_extra.parquet",
        "domains/_drift.parquet",
        "domains/_availability.parquet",
        *(f"domains/_placement/{name}.parquet" for name in tables._provenance),
    ]
    extra = aa.read_parquet(tmp_path / "domains" / "_extra.parquet")
    pd.testing.assert_frame_equal(extra, tables.extra)
    availability = aa.read_parquet(tmp_path / "domains" / "_availability.parquet")
    pd.testing.assert_frame_equal(availability, tables.availability, check_frame_type=False)


def test_a_flipped_bit_is_an_error_and_no_other_content(tmp_path: Path) -> None:
    domains = read("domains").main
    data = domains.aa.to_parquet(tmp_path / "whole.parquet").read_bytes()
    expected = aa.read_parquet(tmp_path / "whole.parquet")
    path, draw = tmp_path / "flipped.parquet", random.Random(25)
    for bit in draw.sample(range(8 * len(data)), effort(3000)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(flipped)
        with suppress(NotRead, MetadataError):
            stored = aa.read_parquet(path)
            pd.testing.assert_frame_equal(stored, expected)
            assert stored.attrs == expected.attrs


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_ordinary_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.parquet")
    for path in (tmp_path / "pipe.parquet", Path("/dev/zero")):
        with pytest.raises(NotRead, match="no ordinary file"):
            aa.read_parquet(path)


def test_a_damaged_file_of_a_dataset_is_among_its_errors(tmp_path: Path) -> None:
    dataset = demo_dataset()
    aa.Dataset({name: dataset[name] for name in ("gaps", "urls")}).to_parquet(tmp_path)
    path = tmp_path / "gaps" / "gap_topics.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    again = aa.read_dataset(tmp_path)
    assert [*again] == ["urls"]
    assert isinstance(again.errors["gaps"], NotRead)
