"""``df.aa``: what is known of a frame, on any frame, changing none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from samples import payload_of, sample_bytes

import aatoolkit as aa
from aatoolkit import Status
from aatoolkit.sections import Section, Table, count, fraction, records

HOSTILE = "<img src=x onerror=alert(1)>"
PAYLOAD = payload_of(
    sample_bytes("domains"),
    section="domains",
    scope=aa.Scope(7, engine="chatgpt"),
)


@pytest.fixture
def frame() -> pd.DataFrame:
    return aa.normalize("domains", PAYLOAD).main


def test_availability_is_one_row_a_column(frame: pd.DataFrame) -> None:
    availability = frame.aa.availability
    assert [*availability.index] == [*frame.columns]
    assert availability.index.name == "column"
    assert [*availability.columns] == ["status", "cause", "reason"]
    held = availability[frame.notna().any().to_numpy()]
    assert {*held["status"]} == {"available"}
    assert [*availability["status"].cat.categories] == [str(status) for status in Status]
    assert availability["cause"].isna().all()


def test_the_codebook_says_what_each_column_is(frame: pd.DataFrame) -> None:
    book = frame.assign(mine=1.5).aa.codebook
    facts = ["dtype", "unit", "aggregation", "doc", "availability", "caution", "of"]
    assert [*book.columns] == facts
    assert [*book.index] == [*frame.columns, "mine"]
    count = book.loc["citation_count"]
    assert count[["dtype", "unit", "aggregation", "of", "availability"]].tolist() == [
        "Int64",
        "count",
        "sum",
        "source_domains.citation_count",
        "available",
    ]
    assert book.loc["source_domain", "aggregation"] == "key"
    assert book["doc"].drop(index="mine").str.endswith(".").fillna(False).all()
    assert book.loc["mine"].tolist() == ["float64", *[pd.NA] * 3, "unknown", pd.NA, pd.NA]


def test_a_ratio_is_over_what_its_counts_add_over() -> None:
    hits, runs = count("hits", "H.", across="engine"), count("runs", "R.")
    columns = (hits, runs, fraction("rate", "R.", over=("hits", "runs")))
    section = Section("mine", "M.", Table("t", "T.", records("rows"), (), columns))
    frame = aa.normalize(section, {"rows": []}).main
    assert frame.aa.codebook.loc["rate", "aggregation"] == "ratio Σhits/Σruns over engine"


def test_sources_are_the_answers_it_was_read_from(frame: pd.DataFrame) -> None:
    (source,) = frame.aa.sources.to_dict("records")
    assert source == {
        "host": "acme.example",
        "section": "domains",
        "scope": "days=7&engine=chatgpt",
        "url": "https://api.example/agent",
        "fetched_at": pd.Timestamp("2026-11-20T07:00:00Z"),
        "sha256": PAYLOAD.sha256,
        "stale": False,
        "window_start": "2026-10-22",
        "window_end": "2026-11-20",
    }


ANY = {
    "empty": pd.DataFrame(),
    "no rows": pd.DataFrame({"a": []}),
    "no columns": pd.DataFrame(index=[1, 2]),
    "numbered": pd.DataFrame(np.eye(2)),
    "named alike": pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"]),
    "1 and '1'": pd.DataFrame([[1, 2]], columns=[1, "1"]),
    "levels": pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
    "hostile": pd.DataFrame({HOSTILE: [1]}),
}


@pytest.mark.parametrize("frame", ANY.values(), ids=ANY)
def test_any_frame_has_it_and_none_is_changed(frame: pd.DataFrame) -> None:
    before = frame.copy(deep=True)
    accessor = frame.aa
    for table in (accessor.availability, accessor.codebook):
        assert {*table.index} == {str(name) for name in frame.columns}
    assert {*accessor.availability["status"]} <= {"unknown"}
    assert len(accessor.sources) == 0
    assert all(line.isprintable() for line in repr(accessor).split("\n"))
    assert "Accessor" not in str(type(accessor).__doc__)
    assert "<img" not in accessor._repr_html_()
    pd.testing.assert_frame_equal(frame, before)
    assert frame.attrs == {}
