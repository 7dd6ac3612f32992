"""How a column is settled is tried on the values of the draft's answers."""

from __future__ import annotations

from typing import Any

import pytest
from foreign import draft_of

import aatoolkit as aa
from aatoolkit.errors import ArgumentError

ANSWER: dict[str, Any] = {
    "rivit": [
        {"moottori": "a", "summa": "1.234,50 kr", "pvm": "24.12.2026", "kk": "03/04/2026", "n": 3},
        {"moottori": "b", "summa": "12,00 kr", "pvm": "3.11.2026", "kk": "05/06/2026", "n": 4},
        {"moottori": "c", "summa": "ei", "pvm": None, "kk": "07/06/2026", "n": 4},
    ]
}


@pytest.fixture
def section() -> aa.profile.SectionDraft:
    return draft_of({"conversions": ANSWER})["conversions"]


def test_text_is_proved_to_be_text_only_if_nothing_else_can_be_read(section):
    review = section.review.droplevel("table")
    assert review.loc["kk", "confidence"] == "open"
    assert review.loc["kk", "evidence"] == "text; may be days, day or month first"
    assert review.loc["summa", "confidence"] == "open"
    assert "some may be numbers, such as '1.234,50 kr'" in review.loc["summa", "evidence"]
    assert review.loc["moottori", "confidence"] == "proved"


@pytest.mark.parametrize(
    ("facts", "match"),
    [
        (
            {"column": "summa", "parse": "number"},
            '0 of 3 values.*"1.234,50 kr"',
        ),
        ({"column": "summa", "parse": "money", "dtype": "Float64"}, '2 of 3 .*and not "ei"; say'),
        ({"column": "pvm", "parse": "MM/DD/YYYY", "dtype": "date"}, '"24.12.2026"'),
        ({"column": "n", "dtype": "string"}, "dtype='string' reads 0 of 3 values, and not 3, 4"),
    ],
)
def test_a_reading_that_loses_values_is_refused(section, facts, match):
    before = section.section
    with pytest.raises(ArgumentError, match=match):
        section.set(**facts)
    assert section.section == before


def test_a_reading_that_loses_none_is_set(section):
    section.set("summa", parse="money", dtype="Float64", missing=("ei",), unit="SEK")
    section.set("kk", parse="DD/MM/YYYY")
    frame = aa.normalize(section.section, ANSWER).main
    assert frame["summa"].tolist()[:2] == [1234.5, 12.0]
    assert frame["summa"].isna().tolist() == [False, False, True]
    assert frame["kk"].dt.month.tolist() == [4, 6, 6]


def test_a_draft_says_that_no_list_of_engines_was_recognised():
    for options, is_said in (
        ({"moottorit": [{"tunnus": "a"}]}, True),
        ({"engines": ["a", "b"]}, False),
    ):
        draft = draft_of({"ads": ANSWER}, options=options)
        assert ("no engine was asked for alone" in repr(draft)) == is_said
