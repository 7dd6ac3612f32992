"""Shapes, keys and proposals: the tables of answers in many styles, ready to be registered."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import samples

import aatoolkit as aa
from aatoolkit.sections import Table, propose

SAMPLES = sorted(samples.SAMPLES.glob("*.json"))
DAYS = ["2026-11-01", "2026-11-02", "2026-11-03"]


def table(document: Any, name: str) -> Table:
    return propose(document, "s").section[name]


SHAPES = json.loads(Path(__file__).with_name("shapes.json").read_bytes())


@pytest.mark.parametrize("case", SHAPES, ids=lambda case: case.get("about", case["path"]))
def test_rows_are_found_in_every_shape(case):
    """``shapes.json``: a document, a table of its draft, and the path and columns of this table."""
    proposed = table(case["document"], case["table"])
    assert proposed.rows.path == case["path"]
    assert sorted(proposed.names) == sorted(case["columns"])


FRAME = [{"name": "site", "DATA": ["a", "b", ""], "VALIDITY": [1, 1, 0]},
         {"name": "n", "DATA": [3, 0, 1], "VALIDITY": [1, 0, 1]}]  # fmt: skip


@pytest.mark.parametrize(
    ("document", "name", "column", "values"),
    [
        ({"parts": [{"id": "p", "columns": FRAME}, {"id": "q", "columns": FRAME[:1]}]},
         "s_columns_2", "data", ["a", "b", None, "3", None, "1", "a", "b", None]),
        ({"n": [3, 0], "n_isnull": [False, True]}, "s", "n", [3, None]),
        # A flag of rows denies nothing, nor does one that would deny a number.
        ({"rows": [{"id": "a", "n": 3, "valid": True}, {"id": "b", "n": 0, "valid": False}]}, "s",
         "n", [3, 0]),
        ({"n": [3, 7], "n_isnull": [False, True]}, "s", "n", [3, 7]),
    ],
)  # fmt: skip
def test_what_a_mask_denies_is_missing(document, name, column, values):
    tables = aa.normalize(propose(document, "s").section, json.dumps(document))
    cells = tables[name][column]
    assert cells.astype(object).where(cells.notna(), None).tolist() == values
    assert {*tables.extra["why"]} <= {"missing", "known"}
    assert tables.rebuild() == document


@pytest.mark.parametrize(
    "document",
    [None, [], {}, 3, [[]], [[1], [2, 3]], {"a": [None, [None]]}, {"": {"": [{}]}},
     {"a": [[1, "b"], [2, "c"]]}, {"labels": [], "series": []}, [[[{"a": 1}]]],
     {"days": DAYS, "a.b": [1, 2, 3], "a b": [3, 4, 5]}, {"": [None] * 3, ":": [None, None, 0]},
     {"": [None] * 4, ":": ["a", "b", "c", "d"]},
     {"s": [{"u": [{"name": "a"}, None], "p": [[n, 1], [n, 2], [n, 3]]} for n in range(4)]}],
)  # fmt: skip
def test_odd_answers_are_tables_that_give_them_back_or_none_at_all(document):
    try:
        section = propose(document, "any").section
    except aa.errors.PayloadError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", aa.errors.SchemaDriftWarning)
        assert aa.normalize(section, json.dumps(document)).rebuild() == document


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
    tables = aa.normalize(propose(answer, "shops").section, answer, strict=True)
    stock = tables["shops_stock"]
    assert stock.iloc[:, 0].tolist() == ["a", "a", "a", "b"]
    assert stock.iloc[:, 2].isna().tolist() == [False, False, True, False]
    staff = tables["shops_staff"]
    assert staff[["shop_id", "name", "age"]].values.tolist() == [["b", "Ann", 40]]
    grid = tables["shops_grid"]
    assert grid["grid"].tolist() == [1, 2, 3, 4]
    assert grid[["row", "position"]].values.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert tables["shops_pairs"].values.tolist() == [["x", 1], ["y", 2]]
    assert tables["shops_facts"]["owner_since"].dt.year.tolist() == [2020]


# --- keys -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"insight_no": 4100 + 7 * n, "headline": f"H{n}", "hits": n} for n in range(9)],
         ("insight_no",)),
        ([{"code": f"C_{n}", "text": f"Text {n}.", "hits": n % 3} for n in range(9)], ("code",)),
        ([{"place": n + 1, "brand": f"B{n}", "hits": 9 - n} for n in range(9)], ("brand",)),
        ([{"id": str(n + 1), "attributes": {"url": f"https://{n}/", "hits": n}} for n in range(9)],
         ("url",)),
        ([{"brand": f"B{n % 3}", "engine": f"e{n // 3}", "hits": n} for n in range(9)],
         ("brand", "engine")),
        # The place of the row: no measure tells rows apart.
        ([{"hits": n, "share": n / 10, "at": f"2026-11-0{n + 1}T10:00:00Z"} for n in range(9)],
         ("position",)),
    ],
)  # fmt: skip
def test_the_fewest_identifiers_are_the_key(rows, expected):
    assert {*propose({"items": rows}, "insights").section.tables[0].key} == {*expected}


def test_the_keys_of_what_encloses_rows_come_with_them() -> None:
    prompts = [{"promptId": f"p{n}", "engines": [{"engine": e, "hits": n} for e in ("a", "b")]}
               for n in range(6)]  # fmt: skip
    section = propose({"rows": prompts}, "prompts").section
    assert section["prompts"].key == ("prompt_id",)
    assert {*section["prompts_engines"].key} == {"prompt_id", "engine"}


def test_the_main_table_is_the_one_of_most_columns_not_that_of_most_rows() -> None:
    daily = {f"2026-11-{day:02}": {f"bot-{bot}": day * bot for bot in range(7)}
             for day in range(1, 31)}  # fmt: skip
    bots = [{"bot": f"bot-{n}", "operator": f"o{n}", "hits": n, "errors": 0, "paths": n}
            for n in range(7)]  # fmt: skip
    assert propose({"daily": daily, "bots": bots}, "crawl").section.names[0] == "crawl_bots"


# --- proposals --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_code_makes_the_section_and_reads_its_answer_without_drift(path: Path) -> None:
    body = path.read_bytes()
    proposal = propose(body, f"my_{path.stem}")
    names: dict[str, Any] = {}
    exec(str(proposal), names)
    assert names["SECTION"] == proposal.section
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tables = aa.normalize(names["SECTION"], body, strict=True)
    assert {*tables.extra["why"]} <= {"envelope", "missing"}
    for table in proposal.section:
        assert not table.key or not tables[table.name].duplicated(list(table.key)).any()


def test_several_answers_show_more_fields_than_one_and_their_name() -> None:
    first, other = {"rows": [{"id": "a", "n": 1}]}, {"rows": [{"id": "b", "m": True}]}
    (proposed,) = propose([first, json.dumps(other)], "rows").section.tables
    dtypes = {column.name: column.dtype for column in proposed.columns}
    assert dtypes == {"id": "string", "n": "Int64", "m": "boolean"}
    assert propose({"section": "novel", "rows": [{"id": 1}]}).section.name == "novel"


def test_a_column_of_a_grid_that_is_a_table_of_its_own_is_no_drift() -> None:
    rows = [
        [f"site{n}.example", "own" if n % 2 else "blog", n * 7, n / 8, {"chatgpt": n, "gemini": n}]
        for n in range(1, 30)
    ]
    names = ("domain", "kind", "citations", "share", "byEngine")
    answer = {"columns": [{"name": name, "type": "T"} for name in names], "rows": rows}
    body = json.dumps(answer).encode()
    section = aa.sections.propose(body, "novel").section
    assert "novel_by_engine" in section.names
    tables = aa.normalize(section, body, strict=True)
    assert tables.drift.empty
    assert tables.extra.empty
    assert tables.rebuild() == answer
    rows[3].append("more")
    with pytest.warns(aa.errors.SchemaDriftWarning, match="more"):
        longer = aa.normalize(section, json.dumps(answer).encode())
    assert longer.extra["value"].tolist() == ['"more"']


def test_an_entry_that_is_null_is_a_row_without_values_and_mixed_values_are_text() -> None:
    brands = {
        name: {"n": n, "byEngine": {"chatgpt": {"hits": n, "score": 0.5}, "gemini": None}}
        for n, name in enumerate(("Acme", "Rusk", "Other"), 2)
    }
    measured = [
        {"metric": name, "value": value}
        for name, value in [
            ("status", 200),
            ("indexable", True),
            ("canonical", "a.example"),
            ("ttfb", 0.5),
        ]
    ]
    answer = {"brands": brands, "measured": measured, "names": [*brands]}  # fmt: skip
    tables = aa.normalize(propose(answer, "s").section, answer, strict=True)
    assert tables.drift.empty
    assert tables["s_by_engine"]["hits"].isna().tolist() == [False, True] * 3
    assert tables["s_measured"]["value"].tolist() == ["200", "true", "a.example", "0.5"]
    assert tables.rebuild() == answer


@pytest.mark.parametrize("text", ["-01T", "2026-01-01T00:00:00.", "@", "1,"])
def test_keys_and_values_without_end_are_texts_and_names_of_no_kind(text: str) -> None:
    long = text * 50_000
    answer = {"items": [{"name": long, "date": long, "count": n, long: n} for n in (1, 2)]}
    tables = aa.normalize(propose(answer, "s").section, answer, strict=True)
    assert tables.main["date"].dtype == "string"
    assert tables.rebuild() == answer


def test_a_header_of_one_name_is_found_in_several_responses() -> None:
    def report(count: int) -> dict[str, Any]:
        rows = [
            {"dimension_values": [{"value": day}], "metric_values": [{"value": n}, {"value": "7"}]}
            for n, day in enumerate(["20261101", "20261102", "20261103", "20261104"][:count])
        ]
        metrics = [{"name": "visits"}, {"name": "n"}]
        return {"dimension_headers": [{"name": "date"}], "metric_headers": metrics, "rows": rows}

    section = propose([report(4), report(3)], "s").section
    names = [column.name for column in section.tables[0].columns]
    assert names == ["date", "visits", "n"]
    assert len(section.tables) == 1  # lists of names alone are none
    assert aa.normalize(section, report(4)).rebuild() == report(4)
    assert section.tables[0].key == ("date",)


def test_of_parallel_lists_those_that_identify_the_rows_are_the_key() -> None:
    columns = {
        "address": ["https://a.example/1", "https://a.example/2", "https://b.example/1"],
        "kind": ["NEWS", "NEWS", "OWN"],
        "place": ["2.60", "2.57", "2.60"],
        "n": [3, 1, 2],
    }
    proposed = table({"columns": columns}, "s_columns")
    assert proposed.key == ("url",)
    assert [column.dtype for column in proposed.columns] == ["string", "string", "Float64", "Int64"]


def test_a_rank_within_a_topic_is_no_key_where_a_name_is_one():
    rows = [
        {"topic": topic, "rank": rank, "brandName": brand, "mentions": 90 - 7 * rank - len(topic)}
        for topic in ("headphones", "speakers", "radios")
        for rank, brand in enumerate(["Sonaris", "Bluefjord", "Kestrel"], 1)
    ]
    assert table({"ranks": rows}, "s_ranks").key == ("topic", "brand_name")
