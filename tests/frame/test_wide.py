"""Results of `aggregate` in a terminal: key and numbers in sight, and what is left out is named."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

from aatoolkit.frame.wide import WideFrame, in_sight

REASON = "1 of the 7 days from 2026-08-17 to 2026-08-23"


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def days(rows: int = 84) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "date": pd.date_range("2026-01-01", periods=rows),
            "engine": "chatgpt",
            "rate_availability_reason": REASON,
            "rate_availability": "partial",
            "words": "some words that take up the room of numbers",
            "rate": 0.5,
        }
    )


def test_an_aggregate_is_one_and_plain_after_a_pickle() -> None:
    frame = days().assign(engine=["chatgpt", "gemini"] * 42)
    found = frame.aa.aggregate("engine", "rate", freq="W", rules={"rate": "sum"})
    assert isinstance(found, WideFrame)
    assert type(pickle.loads(pickle.dumps(found))) is pd.DataFrame
    assert pickle.loads(pickle.dumps(found)).attrs == found.attrs
    assert isinstance(found[found["engine"] == "gemini"].head(), WideFrame)


def test_numbers_come_after_the_key_that_the_metadata_names() -> None:
    frame = days(5).assign(engine=[*"abcde"])
    found = frame.aa.aggregate("engine", "rate", rules={"rate": "sum"})
    wordy = found.assign(words="w" * 50, more="m" * 50)
    shown = in_sight(wordy.loc[:, ["words", "more", "engine", "rate"]])
    assert shown.splitlines()[0].split() == ["engine", "rate", "words"]
    assert shown.endswith("not shown: more")


def test_how_a_number_was_measured_comes_last() -> None:
    shown = in_sight(days())
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.splitlines()[0].split() == ["date", "engine", "rate", "words"]
    assert "[84 rows x 6 columns]" in shown
    assert shown.endswith("not shown: rate_availability_reason, rate_availability")


def test_what_fits_or_has_odd_names_is_printed_by_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    small, odd = days()[["date", "rate"]], days().rename(columns={"rate": 1})
    for frame in (small, odd, days(0), days().set_axis([*"aabcde"], axis=1)):
        assert in_sight(frame) == repr(frame)
    monkeypatch.setenv("COLUMNS", "300")
    with pd.option_context("display.width", 300):
        assert in_sight(days(5)) == repr(days(5))


def test_a_notebook_shows_key_and_numbers_as_well() -> None:
    page = WideFrame(days())._repr_html_()
    assert page is not None
    table, _, note = page.partition("</table>")
    assert [name in table for name in ("date", "rate</th>", REASON)] == [True, True, False]
    assert "84 rows × 6 columns" in note
    assert "not shown: rate_availability_reason" in note
    for frame in (days()[["date", "rate"]], days(5).set_axis([*"aabcde"], axis=1)):
        assert WideFrame(frame)._repr_html_() == frame._repr_html_()  # type: ignore[operator]
