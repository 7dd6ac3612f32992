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
    assert [*aa.read_dataset(folder / "urls")] == ["urls"]
    for name, tables in dataset.items():
        assert again[name] == tables, name
        assert again[name]._availability_texts == tables._availability_texts
        assert again[name].rebuild() == tables.rebuild()
        for listing in ("extra", "drift", "availability", "hints"):
            assert getattr(again[name], listing).equals(getattr(tables, listing))
        for table, frame in tables.items():
            assert again[name][table].aa.sources.equals(frame.aa.sources)
            assert again[name][table].aa.availability.equals(frame.aa.availability)


def test_values_changed_by_hand_are_not_measured_and_no_bytes_are_made_up(
    dataset: Dataset, tmp_path: Path
) -> None:
    changed = aa.normalize("overview", dataset["overview"].payload)
    frame = changed["overview_engines"]
    frame["mention_rate"] = (frame["mention_rate"] * 100).fillna(0)
    changed.to_parquet(tmp_path)
    again = aa.read_dataset(tmp_path)["overview"]
    frame = again["overview_engines"]
    alone = aa.read_parquet(tmp_path / "overview" / "overview_engines.parquet")
    assert frame.equals(alone)
    assert frame.aa.availability.equals(alone.aa.availability)
    assert frame.aa.availability.loc["mention_rate", "reason"] == "overwritten"
    assert "set by a plain pandas step" in frame.aa.explain(0, "mention_rate").ends[0]
    count = frame.aa.explain(0, "answer_count")
    assert (count.value, count.unit, count.place) == (219, "count", None)
    assert f"SHA-256 {dataset['overview'].payload.sha256[:12]} (not at hand)" in repr(count)
    assert "no longer in memory" in count.ends[0]
    missing = frame.aa.explain({"engine": "google-ai-overview"}, "last_run_day")
    assert "not at hand; it is unavailable: google-ai-overview" in str(missing.missing)
    assert frame.aa.explain(0, "answer_count", within=dataset).place.start
    assert "no longer in memory" in again.explain("$.engines[0]").ends[0]


def test_what_works_with_a_dataset_works_with_one_that_was_read_back(
    dataset: Dataset, folder: Path, tmp_path: Path
) -> None:
    again = aa.read_dataset(folder)
    assert again.compare().equals(dataset.compare())
    assert again.funnel().equals(dataset.funnel())
    page = again.report(tmp_path / "again.html").read_text()
    assert dataset["overview"].payload.sha256 in page
    assert "were checked" not in page
    for path in again.to_parquet(tmp_path):
        assert path.read_bytes() == (folder / path.relative_to(tmp_path)).read_bytes()
    engines = again["overview"]["overview_engines"]
    rate = engines.aa.aggregate([], "mention_rate").aa.explain(0, "mention_rate")
    assert "sum of mention_count / sum of answer_count" in str(rate.formula)
    assert [response.found_in for response in rate.sources] == [None]


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
