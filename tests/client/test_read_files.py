"""A dataset that was written to files and is read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from effort import is_thorough

import aatoolkit as aa
from aatoolkit import Dataset
from aatoolkit.errors import FileMissing, NotRead, PayloadError

SECTIONS = None if is_thorough() else ["conversions", "crawl", "domains", "overview", "urls"]


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return aa.demo().read_all(sections=SECTIONS, progress=False)


@pytest.fixture(scope="module")
def folder(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("written") / "with a space"
    dataset.to_parquet(place)
    return place


def test_it_has_what_the_first_one_had(dataset: Dataset, folder: Path) -> None:
    again = aa.read_dataset(folder)
    assert not again.errors
    assert {*again} == {*dataset}
    for name, tables in dataset.items():
        assert again[name] == tables, name
        assert again[name]._words == tables._words
        assert again[name].rebuild() == tables.rebuild()
        first, second = (
            read.main.aa.sources.drop(columns="sha256") for read in (tables, again[name])
        )
        assert first.equals(second)
        assert len(first) == 1


def test_one_section_and_changed_values(folder: Path, tmp_path: Path) -> None:
    (only,) = aa.read_dataset(folder / "urls").values()
    only.main["citation_count"] = 7
    only.to_parquet(tmp_path)
    assert aa.read_dataset(tmp_path)["urls"].main["citation_count"].eq(7).all()


def test_what_is_incomplete_or_made_otherwise_is_an_error_of_its_own(
    dataset: Dataset, tmp_path: Path
) -> None:
    kept = Dataset({name: dataset[name] for name in ("domains", "urls")})
    kept.to_parquet(tmp_path)
    next((tmp_path / "urls").glob("[!_]*.parquet")).unlink()
    (tmp_path / "domains" / "more.parquet").write_bytes(
        (tmp_path / "domains" / "source_domains.parquet").read_bytes()
    )
    again = aa.read_dataset(tmp_path)
    assert not len(again)
    assert isinstance(again.errors["urls"], PayloadError)
    with pytest.raises(KeyError, match="another profile"):
        again["domains"]


def test_a_folder_without_tables(folder: Path, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere", "x" * 5000):
        with pytest.raises(FileMissing, match="to_parquet"):
            aa.read_dataset(place)
    with pytest.raises(NotRead, match=r"a folder; aa\.read_dataset"):
        aa.read_parquet(folder)
    with pytest.raises(PayloadError, match=r"all with aa.read_dataset"):
        aa.rebuild(folder)
