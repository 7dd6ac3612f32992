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


def test_partial_numbers_are_marked_and_say_why() -> None:
    dates = pd.date_range("2026-11-05", periods=40)
    frame = pd.DataFrame({"date": dates, "n": 1.5, "words": "w" * 60})
    found = frame.aa.aggregate(freq="W", rules={"n": "sum"})
    for shown in (repr(found), found._repr_html_()):
        assert [f"{n}*" in shown for n in ("6.0", "10.5", "1.5")] == [True, False, True]
        assert shown.count("* partial") == 2
        flat = " ".join(shown.split())
        assert "* partial (row 0): 4 of the 7 days from 2026-11-02 to 2026-11-08" in flat
    assert max(map(len, repr(found).splitlines())) <= 80
    assert pd.api.types.is_float_dtype(found["n"].dtype)
    first = found.iloc[1:].set_axis([7] * (len(found) - 1))  # labels need not be unique
    assert "* partial (1 row): 1 of the 7 days" in repr(first).replace("\n", " ")
    whole = found.iloc[1:-1]
    assert "*" not in repr(whole) + whole._repr_html_()


def test_long_results_are_marked_where_they_are_in_sight() -> None:
    frame = pd.DataFrame({"date": pd.date_range("2026-01-01", periods=700), "n": 1})
    found = frame.aa.aggregate(freq="W", rules={"n": "sum"})
    shown = repr(found)
    assert "4*" in shown.splitlines()[1]
    assert "[101 rows x" in shown
    assert "* partial (row 0): 4 of the 7 days" in shown


def test_the_column_that_rows_are_sorted_by_is_in_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    frame = days(20).assign(**{f"number_{i}": range(20) for i in range(9)})
    found = WideFrame(frame)
    assert "number_8" in repr(found).partition("not shown")[2]
    for name in ("number_8", "words", "rate_availability"):
        ordered = found.sort_values([name, "date"], ascending=False)
        for shown in (repr(ordered), ordered.head(3)._repr_html_()):
            head, _, rest = shown.partition("not shown: ")
            assert name in head
            assert name not in rest.replace("\n", " ").replace(",", " ").split()
