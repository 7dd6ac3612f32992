"""Tables handed on: to Arrow, Polars, DuckDB, Parquet and workbooks; names that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from serving import shared_client

import aatoolkit as aa


@pytest.fixture(scope="module")
def tables() -> aa.Tables:
    return shared_client().project("acme.example").read("domains")


def test_all_tables_are_written_to_a_folder_or_a_workbook(
    tables: aa.Tables, tmp_path: Path
) -> None:
    import openpyxl

    files = tables.to_parquet(tmp_path / "all")
    assert {path.stem for path in files} >= {*tables}
    assert len(aa.read_parquet(files[0])) == len(tables.main)
    book = openpyxl.load_workbook(tables.to_excel(tmp_path / "all.xlsx"))
    assert book.sheetnames[:2] == ["Overview", "Source domains"]
    assert book["Source domains"].max_row == 1 + len(tables.main)
