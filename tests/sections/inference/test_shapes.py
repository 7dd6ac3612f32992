"""Shapes: the tables of answers in many styles."""

from __future__ import annotations

from typing import Any

import pytest

from aatoolkit.sections.inference.shapes import find_relations
from aatoolkit.sections.inference.vocabulary import Vocabulary

VOCABULARY = Vocabulary({"engine": ["chatgpt", "gemini", "grok"], "brand": ["Acme", "O'Brien"]})
DAYS = ["2026-11-01", "2026-11-02", "2026-11-03"]


def _only(document: Any, name: str):
    found = {one.name: one for one in find_relations([document], "s", VOCABULARY)}
    assert name in found, list(found)
    return found[name]


@pytest.mark.parametrize(
    ("document", "name", "code", "columns"),
    [
        ({"data": {"items": [{"a": 1}, {"a": 2}]}}, "s", "records('data.items')", ["a"]),
        ([{"a": 1}, {"a": 2}], "s", "records('')", ["a"]),
        ({"hits": {"chatgpt": 1, "gemini": 2}}, "s_hits", "keyed('hits', key='engine')",
         ["engine", "hits"]),
        ({"daily": {day: {"hits": 1} for day in DAYS}}, "s_daily", "keyed('daily', key='date')",
         ["date", "hits"]),
        ({"t": {"columns": ["host", "hits"], "rows": [["a", 1], ["b", 2]]}}, "s_t",
         "grid('t.rows', header='t.columns')", ["host", "hits"]),
        ({"meta": {"cols": [{"name": "host"}, {"name": "n"}]}, "rows": [["a", 1], ["b", 2]]}, "s",
         "grid('rows', header='meta.cols[].name')", ["host", "n"]),
        ({"c": {"labels": DAYS, "series": [{"name": "Acme", "data": [1, 2, 3]},
                                           {"name": "O'Brien", "data": [4, 5, 6]}]}}, "s_c",
         "records('c.series[].data')", ["date", "c"]),
        ({"c": {"dates": DAYS, "byEngine": {"chatgpt": [1, 2, 3], "gemini": [4, 5, 6]}}}, "s_c",
         "records('c.byEngine{}', key='engine')",
         ["engine", "date", "c"]),
        ({"trend": {"dates": DAYS, "hits": [1, 2, 3], "errors": [0, 1, 0]}}, "s_trend",
         "records('trend.dates')", ["date", "hits", "errors"]),
        ({"p": {"edges": [{"node": {"id": "a", "n": 1}}, {"node": {"id": "b", "n": 2}}]}}, "s_p",
         "records('p.edges')", ["id", "n"]),
    ],
)  # fmt: skip
def test_rows_are_found_in_every_shape(document, name, code, columns):
    found = _only(document, name)
    assert str(found.rows) == code
    assert [column.name for column in found.columns] == columns


def test_measures_side_by_side_are_columns_and_not_rows():
    found = _only({"rows": [{"before": {"n": 1}, "after": {"n": 2}, "delta": {"n": 1}}]}, "s")
    assert [column.name for column in found.columns] == ["before_n", "after_n", "delta_n"]


def test_a_map_of_engines_in_rows_is_a_table_below_them():
    document = {"rows": [{"host": "a", "byEngine": {"chatgpt": 3}},
                         {"host": "b", "byEngine": {"gemini": 1, "grok": None}}]}  # fmt: skip
    found = _only(document, "s_by_engine")
    assert found["engine"].values == ["chatgpt", "gemini", "grok"]
    assert found.above.tolist() == [0, 1, 1]


def test_nothing_raises_whatever_the_document():
    odd = [None, [], {}, "x", 3, [[]], [[1], [2, 3]], {"a": [None, [None]]}, {"": {"": [{}]}},
           {"a": [[1, "b"], [2, "c"]]}, {"labels": [], "series": []}, [[[{"a": 1}]]]]  # fmt: skip
    for document in odd:
        assert isinstance(find_relations([document, {"a": 1}], "s", VOCABULARY), list)
