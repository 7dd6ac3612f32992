"""Tables in a terminal and a notebook: what matters is in sight, and what is left out is named."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest
from hypothesis import given, strategies as st
from IPython.lib.pretty import pretty

import aatoolkit as aa
from aatoolkit._util.show import DisplayOptions, Frame, show_as
from aatoolkit._util.text import wrap_lines

SENTENCE = "Answers of Google AI Overviews were not examined for advertisements in this window."
WORDS = st.text("abc -.", max_size=120)


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


# -- listings: every cell whole ----------------------------------------------------------------


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_no_letter_is_lost_and_no_line_is_longer_than_the_terminal(
    rows: list[tuple[str, str]],
) -> None:
    text = repr(show_as(rows, columns=["table", "reason"]))
    assert max(map(len, text.split("\n"))) <= 80
    for at in range(2):
        letters = [letter for row in rows for letter in row[at] if not letter.isspace()]
        assert all(text.count(letter) >= letters.count(letter) for letter in {*letters})


def test_many_columns_stand_in_blocks_that_repeat_the_index() -> None:
    listing = show_as({f"c{at}": [SENTENCE] for at in range(12)}, index=pd.Index(["x"], name="n"))
    text = repr(listing)
    assert max(map(len, text.split("\n"))) <= 80
    blocks = text.split("\n\n")
    assert len(blocks) > 1
    assert all(block.startswith("n  ") for block in blocks)
    assert sum(block.count("examined") for block in blocks) == 12


def test_it_is_a_frame_through_every_step() -> None:
    listing = show_as({"section": ["a", "b"], "rows": pd.array([1, None], "Int64")})
    assert "<NA>" in repr(listing)
    part = listing[listing["section"] == "b"]
    assert isinstance(part, Frame)
    assert repr(part).endswith("1  b\nno value in: rows")
    assert "no value in: rows" in str(part._repr_html_())
    assert repr(part[["rows"]]).endswith("1  <NA>"), "where nothing is held, all is shown"
    again = pickle.loads(pickle.dumps(listing))
    assert type(again) is pd.DataFrame
    pd.testing.assert_frame_equal(again, listing, check_frame_type=False)
    assert repr(listing.iloc[:0]) == repr(pd.DataFrame(listing).iloc[:0])


def test_html_shows_text_as_text() -> None:
    listing = show_as({"section": ["a", "a", "b"], "reason": ["<b>x", SENTENCE, SENTENCE]})
    page = str(listing._repr_html_())
    assert "&lt;b&gt;x" in page
    assert page.count(SENTENCE) == 2


def test_numbers_are_on_the_right_and_a_page_can_be_read_out() -> None:
    index = pd.Index(["x"], name="column")
    frame = show_as({"rows": [1], "reason": SENTENCE, "of": "a." + "b" * 30}, index=index)
    page = str(frame._repr_html_())
    assert page.count("text-align:right") == 2
    assert '<th scope="row" style="text-align:left;vertical-align:top">x</th>' in page
    assert page.count('<th scope="col"') == 4
    assert page.count("min-width") == 2
    assert "a.<wbr>bbb" in page


@pytest.mark.parametrize(
    ("rows", "view"), [(200, DisplayOptions()), (60, DisplayOptions(details=()))]
)
def test_a_long_one_says_how_many_rows_follow(rows: int, view: DisplayOptions) -> None:
    for more in (0, 1):
        frame = show_as({"n": range(rows + more), "words": SENTENCE}, view)
        assert ("1 more rows" in repr(frame)) == bool(more)


def test_what_steers_a_terminal_is_escaped() -> None:
    for view in (DisplayOptions(), DisplayOptions(details=())):
        assert "\x1b" not in repr(show_as({"reason": ["\x1b[31mred " * 9]}, view))


# -- results: what matters first ---------------------------------------------------------------


def result(**more: object) -> Frame:
    columns: dict[str, object] = {
        "measure": ["share_of_voice"] * 2,
        "brand": ["Acme", "<b>Globex</b>"],
        "before": pd.array([0.2, None], "Float64"),
        "change": pd.array([0.05, None], "Float64"),
        "low": pd.array([0.001, None], "Float64"),
        "high": pd.array([0.099, None], "Float64"),
        "n": [892, 101],
        "verdict": ["up", "cannot say"],
        "method": ["paired by prompt_id, linearised, t of 10.5 degrees of freedom"] * 2,
        "p": [0.01, float("nan")],
    }
    view = DisplayOptions(("method", "p"), "verdict", ("change",))
    return show_as({**columns, **more}, view)


def test_a_result_shows_key_numbers_and_verdict_in_80_columns() -> None:
    text = repr(result())
    assert max(map(len, text.splitlines())) <= 80
    assert "\nmeasure: share_of_voice\n" in text, "what is the same in all rows, once"
    head = text.splitlines()[0].split()
    assert head == ["brand", "before", "change", "low", "high", "n", "p", "verdict"]
    assert "0  Acme           0.2000" in text
    assert text.endswith("not shown: method")
    wordy = repr(result(verdict=[SENTENCE] * 2, measure=["x" * 30, "y" * 20]))
    assert max(map(len, wordy.splitlines())) <= 80
    assert all(word in wordy for word in SENTENCE.split())


def test_what_fits_is_shown_by_pandas() -> None:
    small = result()[["brand", "before", "verdict"]]
    for frame in (small, result().head(0)):
        assert repr(frame) == repr(pd.DataFrame(frame))
    assert "word " * 12 in repr(show_as({"text": ["word " * 13]})), "no line is broken early"


def test_a_notebook_shows_the_same_and_all_columns_folded() -> None:
    page = str(result(**{f"number_{at}": [1.5] * 2 for at in range(9)})._repr_html_())
    head, _, details = page.partition("<details>")
    assert "<b>Globex" not in page
    assert "&lt;b&gt;Globex" in head
    assert "paired by" not in head
    assert "paired by" in details


@pytest.mark.parametrize("width", [60, 70, 80, 100])
@pytest.mark.parametrize("name", ["change", "p", "high"])
def test_the_column_that_rows_are_sorted_by_is_in_sight(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    wide = result(measure=["x" * 30, "y" * 28], before=[0.123456, 1e6])
    ordered = wide.sort_values([name, "brand"], ascending=False).head(2)
    text = repr(ordered)
    assert max(map(len, text.splitlines())) <= width
    heads = next(line.split() for line in text.splitlines() if "verdict" in line.split())
    assert name in heads
    assert f">{name}</th>" in str(ordered._repr_html_()).partition("<details>")[0]


# -- statistics and aggregates, through their verbs --------------------------------------------


def test_a_comparison_says_why_there_is_no_verdict() -> None:
    dataset = aa.demo().read_all(sections=["overview", "prompts"], progress=False)
    text = repr(dataset.compare())
    assert max(map(len, text.splitlines())) <= 80
    head = next(line.split() for line in text.splitlines() if "verdict" in line.split())
    assert head[-1] == "verdict"
    assert "change" in head
    assert "cannot say (row" in text


def test_partial_numbers_are_marked_and_say_why() -> None:
    dates = pd.date_range("2026-11-05", periods=40)
    frame = pd.DataFrame({"date": dates, "n": 1.5, "words": "w" * 60})
    weeks = frame.aa.aggregate(freq="W", rules={"n": "sum"})
    for text in (repr(weeks), weeks._repr_html_()):
        assert [f"{n}*" in text for n in ("6.00", "10.50", "1.50")] == [True, False, True], text
        assert text.count("* partial") == 2
        flat = " ".join(text.split())
        assert "* partial (row 0): 4 of the 7 days from 2026-11-02 to 2026-11-08" in flat
    assert max(map(len, repr(weeks).splitlines())) <= 80
    assert pd.api.types.is_float_dtype(weeks["n"].dtype)
    first = weeks.iloc[1:].set_axis([7] * (len(weeks) - 1))  # labels need not be unique
    assert "* partial (1 row): 1 of the 7 days" in repr(first).replace("\n", " ")
    complete = weeks.iloc[1:-1]
    assert "*" not in repr(complete) + complete._repr_html_()
    assert type(pickle.loads(pickle.dumps(weeks))) is pd.DataFrame
    assert pickle.loads(pickle.dumps(weeks)).attrs == weeks.attrs


# -- text --------------------------------------------------------------------------------------


def test_a_declaration_prints_as_a_list() -> None:
    section = aa.sections.get("domains")
    for thing in (section, section.tables[0], section.tables[0].columns[0]):
        assert "(" not in str(thing).splitlines()[0]
        assert "steps=" not in str(thing)
        assert pretty(thing) == wrap_lines(str(thing))
    assert str(section).splitlines()[1].startswith("  source_domains: One row")


@pytest.mark.parametrize("width", range(40, 90, 5))
def test_of_an_interval_both_ends_are_shown_or_none(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    ends = {f"share_of_voice_{name}": [0.123456] * 2 for name in ("low", "high")}
    frame = show_as(
        {"brand": ["a brand with a name", "b"], **ends}, DisplayOptions(("method",), "", ())
    )
    head = repr(frame).partition("not shown")[0]
    assert ("voice_low" in head) == ("voice_high" in head)
