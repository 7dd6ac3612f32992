"""The width of the terminal, and lines wrapped within it."""

from __future__ import annotations

import pandas as pd
import pytest
from IPython.lib.pretty import pretty

import aatoolkit as aa
from aatoolkit._util.terminal import terminal_width, wrap_cell, wrap_lines
from aatoolkit.frame.wide import WideFrame

LONG = (
    "  source_domains  ◐ partial: google-ai-overview: This engine has not run yet; and more of it"
)


def test_a_width_that_is_set_wins_over_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "132")
    assert terminal_width() == 132
    with pd.option_context("display.width", 100):
        assert terminal_width() == 100
        frame = pd.DataFrame({f"a_column_{at}": [at] for at in range(9)})
        codebook = frame.aa.codebook.assign(doc="some words about it " * 9)
        assert 80 < max(map(len, repr(codebook).splitlines())) <= 100
    with pd.option_context("display.width", None):
        assert terminal_width() == 132


@pytest.mark.parametrize("width", [30, 50, 80])
def test_no_line_is_longer_and_no_word_is_lost(width: int) -> None:
    text = f"<Tables of domains>\n{LONG}\n    {'plain words ' * 20}\n\n"
    wrapped = wrap_lines(text, width)
    assert max(map(len, wrapped.splitlines())) <= width
    assert wrapped.split() == text.split()
    assert wrap_lines(text, 400) == text


def test_a_cell_goes_on_below_its_column() -> None:
    first, second, *_ = wrap_lines(LONG, 60).splitlines()
    assert first.startswith("  source_domains  ◐ partial")
    assert second.index(second.split()[0]) == LONG.index("◐")


def test_long_names_are_broken_where_their_parts_meet() -> None:
    assert wrap_cell("at domains.rank, x", 9) == ["at", "domains.", "rank, x"]
    assert wrap_cell("y" * 9, 4) == ["yyyy", "yyyy", "y"]


def test_a_frame_of_exactly_the_width_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for size in range(1, 40):
        frame = WideFrame({"x" * 12: [1], "y" * 20: [2.0], "z" * 20: [3], "w" * size: [4]})
        assert "..." not in repr(frame)


def test_a_declaration_prints_as_a_list() -> None:
    section = aa.sections.get("domains")
    for thing in (section, section.tables[0], section.tables[0].columns[0]):
        assert "(" not in str(thing).splitlines()[0]
        assert "steps=" not in str(thing)
        assert pretty(thing) == wrap_lines(str(thing))
    assert str(section).splitlines()[1].startswith("  source_domains: One row")
