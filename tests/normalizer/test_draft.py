"""Answers that no declaration fits: read by a draft of their own, and never lost."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import aatoolkit as aa
from aatoolkit import sections
from aatoolkit.errors import ArgumentError, SchemaDriftWarning, ScopeError
from aatoolkit.sections import Profile, Section, count, records, text

FOREIGN = {
    "meta": {"generated": "2026-11-20"},
    "hosts": [
        {"host": "a.example", "cites": 3, "pct": 60.5, "seen": "2026-11-02"},
        {"host": "b.example", "cites": 2, "pct": 39.5, "seen": None},
    ],
}


def test_an_answer_that_the_shipped_declaration_does_not_fit_is_drafted() -> None:
    with pytest.warns(SchemaDriftWarning, match="aa.profile.draft"):
        tables = aa.normalize("domains", FOREIGN)
    assert tables.drafted
    assert repr(tables).startswith("<Tables of domains, drafted from this answer>")
    main = tables.main
    assert main[["host", "cites"]].to_numpy().tolist() == [["a.example", 3], ["b.example", 2]]
    assert [str(dtype) for dtype in main.dtypes] == ["string", "Int64", "Float64", "datetime64[us]"]
    book = main.aa.codebook
    assert book["unit"].isna().all()
    assert set(book["aggregation"]) == {"key", "none"}
    assert book.loc["cites", "doc"].startswith("Drafted from this answer")
    assert not len(tables.extra)
    assert tables.rebuild() == FOREIGN


def test_one_warning_a_process_reports_it() -> None:
    from aatoolkit.normalizer import draft

    draft._warned.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            aa.normalize("domains", FOREIGN)
            aa.normalize("urls", FOREIGN)
    assert [each.category for each in caught] == [SchemaDriftWarning]


@pytest.mark.parametrize("name", sections.names())
def test_an_answer_that_fits_is_not_drafted(name: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        empty = aa.normalize(name, {})
    assert not empty.drafted
    assert [*empty] == [*sections.get(name).names]


def test_an_answer_with_a_reason_why_it_is_empty_is_not_drafted() -> None:
    answer = {
        "availability": {"status": "not_connected", "reason": "no gateway"},
        "hints": [{"step": "connect", "url": "https://x.example"}],
    }
    with warnings.catch_warnings(action="ignore"):
        tables = aa.normalize("crawl", answer)
    assert not tables.drafted
    assert tables._words["crawl_bots"].startswith("unavailable")


def test_strict_is_never_drafted_nor_is_a_declaration_of_ones_own() -> None:
    with pytest.raises(aa.errors.PayloadError, match="differs"):
        aa.normalize("domains", FOREIGN, strict=True)
    mine = Section(
        "domains", "Mine.", aa.Table("mine", "Rows.", records("rows"), "id", (text("id"),))
    )
    with pytest.warns(aa.errors.SchemaDriftWarning):
        assert not aa.normalize(mine, FOREIGN).drafted
    with pytest.warns(aa.errors.SchemaDriftWarning):
        assert not aa.normalize("domains", FOREIGN, profile=Profile("p", mine)).drafted


def test_what_a_profile_lacks_is_drafted_and_nothing_else() -> None:
    answer = {"rows": [{"id": "a", "n": 1}]}
    table = aa.Table("acme_rows", "Rows.", records("rows"), "id", (text("id"), count("n")))
    acme = Profile("acme", Section("urls", "Urls.", table))
    assert [*aa.normalize("urls", answer, profile=acme)] == ["acme_rows"]
    with pytest.warns(SchemaDriftWarning):
        assert [*aa.normalize("domains", answer, profile=acme)] == ["domains"]
    with pytest.raises(ScopeError):
        aa.normalize("nothing", answer)


def test_two_profiles_work_side_by_side() -> None:
    def profile(name: str, unit: str) -> Profile:
        columns = (text("id"), count("n", "How many.", unit=unit))
        table = aa.Table("rows", "Rows.", records("rows"), "id", columns)
        return Profile(name, Section("urls", "Urls.", table))

    answer = {"rows": [{"id": "a", "n": 1}, {"id": "b", "n": 2}]}
    one = aa.normalize("urls", answer, profile=profile("one", "pages")).main
    other = aa.normalize("urls", answer, profile=profile("other", "visits")).main
    assert one.aa.codebook.loc["n", "unit"] == "pages"
    assert other.aa.codebook.loc["n", "unit"] == "visits"
    assert one.aa.aggregate(columns="n")["n"].tolist() == [3]
    assert "rows" not in sections.all()


_keys = st.sampled_from(["rows", "data", "id", "name", "status", "columns", "a b", "", "by", "x.y"])
_json = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(["a", "2026-11-20", "1,204", "—", "available", "not_connected"]),
    ),
    lambda below: st.one_of(st.lists(below, max_size=4), st.dictionaries(_keys, below, max_size=4)),
    max_leaves=25,
)


@example("2026-11-20", "domains")
@example(2026, "domains")
@given(_json, st.sampled_from(["domains", "overview", "chats"]))
def test_no_answer_is_lost_by_drafting(answer: Any, name: str) -> None:
    body = json.dumps(answer).encode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tables = aa.normalize(name, body)
        for table in tables:
            tables[table].aa.codebook  # noqa: B018
    assert not [each for each in caught if "fault of aatoolkit" in str(each.message)]
    assert json.dumps(tables.rebuild(), sort_keys=True) == json.dumps(answer, sort_keys=True)


def test_a_file_describes_its_columns_without_the_profile(tmp_path: Path) -> None:
    from aatoolkit.sections import registry

    columns = (text("id"), count("n", "How many.", unit="pages"))
    table = aa.Table("acme_rows", "Rows.", records("rows"), "id", columns)
    acme = Profile("acme", Section("urls", "Urls.", table))
    answer = {"rows": [{"id": "a", "n": 1}, {"id": "b", "n": 2}]}
    path = tmp_path / "rows.parquet"
    aa.normalize("urls", answer, profile=acme).main.aa.to_parquet(path)
    registry._seen.clear()
    found = aa.read_parquet(path)
    book = found.aa.codebook
    assert book.loc["n", ["unit", "aggregation", "doc"]].tolist() == ["pages", "sum", "How many."]
    assert found.aa.aggregate(columns="n")["n"].tolist() == [3]


def test_a_profile_is_loaded_from_a_file_a_module_or_itself(tmp_path: Path) -> None:
    path = tmp_path / "acme.py"
    path.write_text(
        "from aatoolkit.sections import Profile, Section, Table, records, text\n"
        "ROWS = Table('acme_rows', 'Rows.', records('rows'), 'id', (text('id'),))\n"
        "URLS = Section('urls', 'Urls.', ROWS)\n"
    )
    found = Profile.load(path)
    assert (found.name, found.names) == ("acme", ("urls",))
    assert Profile.load(found) is found
    assert Profile.load(sections.declared).name == "reference"
    path.write_text(path.read_text() + "PROFILE = Profile('other', URLS, baseline={'n': 1})\n")
    assert Profile.load(str(path)).name == "other"
    assert Profile.load(path).baseline == {"n": 1}
    with aa.Client("https://api.example", cache=False, profile=path) as client:
        assert client.profile.name == "other"


@pytest.mark.parametrize("code", ["1 / 0", "x = 1", "import nothing_of_that_name", "a b"])
def test_a_file_that_is_no_profile_is_a_setting_that_cannot_be_used(
    code: str, tmp_path: Path
) -> None:
    path = tmp_path / "acme.py"
    path.write_text(code)
    with pytest.raises(ArgumentError) as caught:
        Profile.load(path)
    assert caught.value.argument == "profile"
    with pytest.raises(ArgumentError, match="no file"):
        Profile.load(tmp_path / "missing.py")


def test_a_grid_a_chart_a_wrapper_and_texts_are_read_as_tables_of_values() -> None:
    answer = {
        "report": {
            "columns": [{"name": "site"}, {"name": "cites"}],
            "rows": [["a.example", "1,204"], ["b.example", "n/a"]],
        },
        "trend": {
            "labels": ["2026-11-01", "2026-11-02"],
            "series": [{"name": "chatgpt", "data": [3, None]}, {"name": "gemini", "data": [1, 2]}],
        },
        "result": {"edges": [{"node": {"price": "$1,204.50", "took": "1m 30s", "day": "Nov 3"}}]},
        "period": {"until": "2026-11-08"},
    }
    with pytest.warns(SchemaDriftWarning):
        tables = aa.normalize("domains", answer)
    read = {name: tables[name] for name in tables}
    grid = next(frame for frame in read.values() if "cites" in frame)
    assert grid["cites"].tolist()[0] == 1204
    assert grid["cites"].isna().tolist() == [False, True]
    trend = next(frame for frame in read.values() if len(frame) == 4)
    assert trend.select_dtypes("number").sum().sum() == 6
    prices = next(frame for frame in read.values() if "price" in frame)
    assert prices.loc[0, ["price", "took", "price_currency"]].tolist() == [1204.5, 90.0, "$"]
    assert str(prices.loc[0, "day"].date()) == "2026-11-03"
    # What it means is not guessed from one answer.
    for frame in read.values():
        assert frame.aa.codebook["unit"].isna().all()
    assert tables.rebuild() == answer
