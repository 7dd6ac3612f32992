"""Tables handed on: to Arrow, Polars, DuckDB, Parquet and workbooks; names that are refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from serving import shared_client

import aatoolkit as aa
from aatoolkit.errors import ItemNotFound, NotWritten


@pytest.fixture(scope="module")
def tables() -> aa.Tables:
    return shared_client().project("acme.example").read("domains")


def test_polars_and_duckdb_take_a_table_with_its_metadata(tables: aa.Tables) -> None:
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    for frame in tables.values():
        table = pa.table(frame.aa)
        assert polars.DataFrame(table).height == duckdb.from_arrow(table).shape[0] == len(frame)
        assert polars.DataFrame(frame.aa).columns == [*frame.columns]
    schema = pa.table(tables.main.aa).schema
    assert schema.field("citation_count").metadata[b"aa.unit"] == b"count"


def test_all_tables_are_written_to_a_folder_or_a_workbook(
    tables: aa.Tables, tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    files = tables.to_parquet(tmp_path / "all")
    assert {path.stem for path in files} >= {*tables}
    assert len(aa.read_parquet(files[0])) == len(tables.main)
    book = openpyxl.load_workbook(tables.to_excel(tmp_path / "all.xlsx"))
    assert book.sheetnames[:2] == ["Overview", "Source domains"]
    assert book["Source domains"].max_row == 1 + len(tables.main)


@pytest.mark.parametrize("name", ["d.csv", "d.json", "d.XLSX", "d.feather"])
def test_a_name_of_another_format_is_refused(tables: aa.Tables, tmp_path: Path, name: str) -> None:
    with pytest.raises(NotWritten, match=r"let it end in \.parquet"):
        tables.main.aa.to_parquet(tmp_path / name)
    for write in (tables.to_parquet, aa.Dataset({"domains": tables}).to_parquet):
        for folder in (name, "d.parquet"):
            with pytest.raises(NotWritten, match="is the name of a file"):
                write(tmp_path / folder)
    assert not [*tmp_path.iterdir()]


def test_what_is_not_there_has_near_matches(tables: aa.Tables) -> None:
    with pytest.raises(ItemNotFound, match="did you mean 'source_domains'") as caught:
        tables["source_domain"]
    assert isinstance(caught.value, KeyError)
    assert caught.value.key == "source_domain"
    assert "source_domains" in (caught.value.suggestions or ())
    assert str(caught.value).startswith("domains has no table")
    assert tables.get("nothing") is None
    with pytest.raises(ItemNotFound, match="did you mean 'source_domain_types'"):
        tables["source_domain_type"]
    for key in (None, 3, "", ()):
        with pytest.raises(ItemNotFound, match="has no table"):
            tables[key]  # type: ignore[index]


@pytest.mark.thorough
def test_two_hosts_are_compared() -> None:
    client = shared_client()
    collected = client.collect(["acme.example", "globex.example"], sections=["overview", "prompts"])
    found = collected.compare()
    assert found.equals(collected["acme.example"].compare(collected["globex.example"]))
    whole = found[found["subject"] == "all prompts"].set_index("measure")
    rate = collected["acme.example"]["prompts"].main.aa.aggregate(columns="mention_rate")
    assert whole.loc["mention_rate", "acme.example"] == pytest.approx(rate["mention_rate"].item())
    assert "two samples of prompt_id" in whole.loc["mention_rate", "method"]
    turned = collected.compare("globex.example", "acme.example")
    assert turned["change"].sum() == pytest.approx(-found["change"].sum())
    with pytest.raises(ItemNotFound, match="two have to be named"):
        collected.compare("acme.example")
    with pytest.raises(ItemNotFound, match=r"did you mean 'acme\.example'"):
        collected.compare("acme.exampl", "globex.example")
    with pytest.raises(ItemNotFound, match="did you mean 'prompts'"):
        collected.concat("prompt")
