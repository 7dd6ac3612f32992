"""A listing is a DataFrame that shows each of its cells whole."""

from __future__ import annotations

import pickle
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aatoolkit._util.listing import FileList, Listing

SENTENCE = "Answers of Google AI Overviews were not examined for advertisements in this window."
WORDS = st.text("abc -.", max_size=120)


def words_of(text: str) -> str:
    return "".join(text.split())


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_no_letter_is_lost_and_no_line_is_longer_than_the_terminal(
    rows: list[tuple[str, str]],
) -> None:
    listing = Listing(rows, columns=["table", "reason"])
    lines = repr(listing).split("\n")
    assert max(map(len, lines)) <= 80
    for at in range(2):
        shown = [row[at] for row in rows]
        letters = sorted(words_of("".join(shown)))
        assert not _missing(letters, sorted(words_of(repr(listing))))


def _missing(wanted: list[str], there: list[str]) -> list[str]:
    left = list(there)
    return [letter for letter in wanted if letter not in left or left.remove(letter)]


def test_many_columns_stand_in_blocks_that_repeat_the_index() -> None:
    listing = Listing({f"c{at}": [SENTENCE] for at in range(12)}, index=pd.Index(["x"], name="n"))
    shown = repr(listing)
    assert max(map(len, shown.split("\n"))) <= 80
    blocks = shown.split("\n\n")
    assert len(blocks) > 1
    assert all(block.startswith("n  ") for block in blocks)
    assert sum(block.count("examined") for block in blocks) == 12


def test_it_is_a_frame_through_every_step() -> None:
    listing = Listing({"section": ["a", "b"], "rows": pd.array([1, None], "Int64")})
    assert "<NA>" in repr(listing)
    part = listing[listing["section"] == "b"]
    assert isinstance(part, Listing)
    assert repr(part).endswith("1  b\nno value in: rows")
    assert "no value in: rows" in part._repr_html_()
    assert repr(part[["rows"]]).endswith("1  <NA>"), "where nothing is held, all is shown"
    assert pickle.loads(pickle.dumps(listing)).equals(listing)
    pd.testing.assert_frame_equal(pd.DataFrame(listing), listing, check_frame_type=False)
    assert repr(listing.iloc[:0]) == repr(pd.DataFrame(listing).iloc[:0])


def test_html_shows_text_as_text_and_folds_by_a_column() -> None:
    listing = Listing({"section": ["a", "a", "b"], "reason": ["<b>x", SENTENCE, SENTENCE]})
    plain = listing._repr_html_()
    assert "&lt;b&gt;x" in plain
    assert plain.count(SENTENCE) == 2
    folded = listing.fold_by("section")
    html = folded._repr_html_()
    assert html.count("<details open>") == 2
    many = pd.concat([listing] * 7).fold_by("section")._repr_html_()
    assert many.count("<details>") == 2
    assert "2 rows" in html
    assert listing.folded_by is None
    assert folded.head(2)._repr_html_().count("<details open>") == 1
    assert folded[["reason"]]._repr_html_().count("<details") == 0


def test_many_rows_fold_in_a_terminal_too() -> None:
    status = ["partial (not run): no engine", "partial", "available"]
    listing = Listing({"section": ["a", "a", "b"] * 30, "rows": 1, "availability": status * 30})
    assert repr(listing).count("\n") == 90
    folded = listing.fold_by("section", "table", "availability")
    assert repr(folded) == (
        "a  60 tables: 60 partial\nb  30 tables: 30 available\n"
        "90 tables; those of one: .query(\"section == 'a'\")"
    )
    assert "<code>a</code> 60 tables: 60 partial</summary>" in folded._repr_html_()
    one = folded.query("section == 'b'")
    assert repr(one).count("available") == 30
    assert "<details" not in pd.concat([folded, folded], axis=1)._repr_html_()
    indexed = listing.set_index("section").fold_by("section")
    assert repr(indexed).startswith("a  60 rows\n")
    assert indexed._repr_html_().count("<details>") == 2
    assert "section" not in indexed._repr_html_()


def test_numbers_are_on_the_right_and_a_page_can_be_read_out() -> None:
    index = pd.Index(["x"], name="column")
    page = Listing(
        {"rows": [1], "reason": SENTENCE, "of": "a." + "b" * 30}, index=index
    )._repr_html_()
    assert page.count("text-align:right") == 2
    assert '<th scope="row" style="text-align:left;vertical-align:top">x</th>' in page
    assert page.count('<th scope="col"') == 4
    assert page.count("min-width") == 2
    assert "a.<wbr>bbb" in page


@pytest.mark.parametrize("rows", [200, 201])
def test_a_long_one_says_how_many_rows_follow(rows: int) -> None:
    listing = Listing({"n": range(rows)})
    assert ("1 more rows" in repr(listing)) == (rows > 200)


def test_what_steers_a_terminal_is_escaped() -> None:
    assert "\x1b" not in repr(Listing({"reason": ["\x1b[31mred"]}))


def test_many_files_print_as_their_number_and_place() -> None:
    files = FileList([Path("acme/gaps/a.parquet"), Path("acme/gaps/_placement/$.parquet")])
    assert repr(files) == "<2 files in acme/gaps>"
    assert files == [*files]
    assert files[0].name == "a.parquet"
    assert [repr(FileList(part)) for part in ([], [Path("a.parquet")])] == [
        "<no files>",
        "<1 file in .>",
    ]
