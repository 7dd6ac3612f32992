"""Proposals: a declaration drawn up from answers, good enough to use unedited."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aatoolkit as aa
from aatoolkit.sections import Section

SAMPLES = sorted((Path(__file__).parents[2] / "data" / "samples").glob("*.json"))


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """Nothing that a test registers stays."""
    before = aa.sections.names()
    yield
    for name in set(aa.sections.names()) - set(before):
        aa.sections.unregister(name)


def made_by(proposal: Any) -> Section:
    """The section that a proposal's code makes and registers."""
    names: dict[str, Any] = {}
    exec(str(proposal), names)
    return names["SECTION"]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_code_makes_the_section_and_reads_its_answer_without_drift(path: Path) -> None:
    body = path.read_bytes()
    proposal = aa.sections.propose(body, f"my_{path.stem}")
    assert made_by(proposal) == proposal.section
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tables = aa.normalize(f"my_{path.stem}", body, strict=True)
    assert set(tables.extra["why"]) <= {"envelope", "missing"}
    for table in proposal.section:
        if table.key:
            assert not tables[table.name].duplicated(list(table.key)).any()


def test_nested_tables_take_over_keys_and_maps_become_rows() -> None:
    answer = {
        "shops": [
            {"shopId": "a", "stock": {"2026-11-01": 3, "2026-11-02": 0, "2026-11-03": None}},
            {"shopId": "b", "stock": {"2026-11-01": 7}, "staff": [{"name": "Ann", "age": 40}]},
        ],
        "grid": [[1, 2], [3, 4]],
        "pairs": [["x", 1], ["y", 2]],
        "owner": {"name": "Acme", "since": "2020-01-01"},
    }
    proposal = aa.sections.propose(answer, "shops")
    aa.sections.register(proposal.section)
    tables = aa.normalize("shops", answer, strict=True)
    stock = tables["shops_stock"]
    assert stock.columns.tolist() == ["shop_id", "stock_key", "stock"] or len(stock.columns) == 3
    assert stock.iloc[:, 0].tolist() == ["a", "a", "a", "b"]
    assert stock.iloc[:, 2].isna().tolist() == [False, False, True, False]
    staff = tables["shops_staff"]
    assert staff[["shop_id", "name", "age"]].values.tolist() == [["b", "Ann", 40]]
    grid = tables["shops_grid"]
    assert grid["grid"].tolist() == [1, 2, 3, 4]
    assert grid[["row", "position"]].values.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert tables["shops_pairs"].values.tolist() == [["x", 1], ["y", 2]]
    assert tables["shops_facts"]["owner_since"].dt.year.tolist() == [2020]


def test_several_answers_show_more_fields_than_one() -> None:
    one, other = {"rows": [{"id": "a", "n": 1}]}, {"rows": [{"id": "b", "m": True}]}
    proposal = aa.sections.propose([one, json.dumps(other)], "rows")
    (table,) = proposal.section.tables
    assert {column.name: column.dtype for column in table.columns} == {
        "id": "string",
        "n": "Int64",
        "m": "boolean",
    }


def test_the_name_comes_from_the_answer() -> None:
    assert aa.sections.propose({"section": "novel", "rows": [{"id": 1}]}).section.name == "novel"


def test_nothing_to_make_a_table_of_is_an_error() -> None:
    with pytest.raises(aa.errors.PayloadError, match="can be made a table"):
        aa.sections.propose({}, "empty")


def test_a_registered_section_is_read_like_any_other_and_can_be_taken_back() -> None:
    shipped = aa.sections.get("domains")
    mine = aa.sections.propose({"hits": [{"site": "a.example", "hits": 3}]}, "domains").section
    aa.sections.register(mine)
    frame = aa.normalize("domains", {"hits": [{"site": "b.example", "hits": 4}]}).main
    assert frame["hits"].tolist() == [4]
    assert frame.aa.codebook.loc["hits", "of"] == "domains_hits.hits"
    aa.sections.unregister("domains")
    assert aa.sections.get("domains") is shipped
    with pytest.raises(aa.errors.ScopeError):
        aa.sections.unregister("domains")


def test_what_cannot_be_registered_is_refused() -> None:
    with pytest.raises(aa.errors.ArgumentError, match="no Section"):
        aa.sections.register("domains")  # type: ignore[arg-type]
    table = aa.sections.get("domains").tables[0]
    with pytest.raises(aa.errors.ArgumentError, match="source_domains"):
        aa.sections.register(Section("other", "Another.", table))


@pytest.mark.parametrize("name", [*aa.sections.names(), "scope_options"])
def test_a_description_names_every_table_and_column(name: str) -> None:
    described = aa.sections.describe(name)
    text, html = str(described), described._repr_html_()
    for table in aa.sections.get(name):
        assert table.name in text
        assert f">{table.name}: " in html
        assert all(f"  {column.name}" in text and column.doc in text for column in table.columns)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.thorough
@given(st.dictionaries(st.text(max_size=6), values, min_size=1, max_size=5))
def test_any_answer_gives_a_declaration_that_reads_it_or_gives_the_reason(answer: dict) -> None:
    try:
        section = aa.sections.propose(answer, "any").section
    except aa.errors.PayloadError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", aa.errors.SchemaDriftWarning)
        tables = aa.normalize(section, answer)
    assert len(tables) == len(section.tables)


def test_amounts_of_several_currencies_do_not_add_up() -> None:
    """A section with prices in text is drafted at all, and its sums stay within one currency."""
    days = [f"2026-11-{day:02}" for day in range(1, 9)]
    prices = [("$" if at % 2 else "€") + f"{at + 1}.50" for at in range(8)]
    answer = {"sales": [{"day": d, "price": p} for d, p in zip(days, prices, strict=True)]}
    proposal = aa.sections.propose(answer, "sales")
    assert "parse='currency'" in str(proposal)
    frame = aa.normalize(proposal.section, answer).main
    assert set(frame["price_currency"]) == {"$", "€"}
    assert frame["price"].tolist() == [at + 1.5 for at in range(8)]
    assert frame.aa.codebook.loc["price", "unit"] == "currency"


def test_the_currency_of_an_amount_tells_rows_apart_and_the_amount_does_not() -> None:
    lines = [
        {"engine": engine, "paid": f"{sign}{number}.00"}
        for number, (engine, sign) in enumerate(
            [("owl", "€"), ("owl", "£"), ("wren", "€"), ("wren", "£")], 1
        )
    ]
    (table, *_) = aa.sections.propose({"lines": lines}, "ads").section.tables
    assert table.key == ("engine", "paid_currency")


def test_series_whose_names_fold_alike_stay_apart() -> None:
    answer = {"days": ["2026-11-01", "2026-11-02"], "a.b": [1, 2], "a b": [3, 4]}
    frame = aa.normalize(aa.sections.propose(answer, "any").section, answer, strict=True).main
    assert frame.iloc[:, 1:].to_numpy().tolist() == [[1, 3], [2, 4]]
    nulls = {"": [None, None, None], ":": [None, None, 0]}
    section = aa.sections.propose(nulls, "any").section
    assert aa.normalize(section, nulls).rebuild() == nulls
