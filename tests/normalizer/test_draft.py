"""Answers that no declaration fits: read by a draft of their own, and never lost."""

from __future__ import annotations

import warnings

import pytest

import aatoolkit as aa
from aatoolkit import sections
from aatoolkit.errors import SchemaDriftWarning, ScopeError
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
    assert repr(tables).startswith("<Tables of domains, drafted from this response>")
    main = tables.main
    assert main[["host", "cites"]].to_numpy().tolist() == [["a.example", 3], ["b.example", 2]]
    assert [str(dtype) for dtype in main.dtypes] == ["string", "Int64", "Float64", "datetime64[us]"]
    book = main.aa.codebook
    assert book["unit"].isna().all()
    assert set(book["aggregation"]) == {"key", "none"}
    assert book.loc["cites", "doc"].startswith("Drafted from this response")
    assert not len(tables.extra)
    assert tables.rebuild() == FOREIGN


def test_one_warning_a_process_reports_it() -> None:
    from aatoolkit.normalizer import normalize

    normalize._warning_registry.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            aa.normalize("domains", FOREIGN)
            aa.normalize("urls", FOREIGN)
    shown = [(warning.category, warning.filename) for warning in caught]
    assert shown == [(SchemaDriftWarning, __file__)]


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
    assert tables._availability_texts["crawl_bots"].startswith("unavailable")


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
    first = aa.normalize("urls", answer, profile=profile("one", "pages")).main
    other = aa.normalize("urls", answer, profile=profile("other", "visits")).main
    assert first.aa.codebook.loc["n", "unit"] == "pages"
    assert other.aa.codebook.loc["n", "unit"] == "visits"
    assert first.aa.aggregate(columns="n")["n"].tolist() == [3]
    assert "rows" not in sections.all()
