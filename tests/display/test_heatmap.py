"""Heat maps: the top of what was measured, columns that are left out, own columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from serving import shared_dataset

import aatoolkit as aa


@pytest.fixture(scope="module")
def tables() -> aa.Dataset:
    return shared_dataset("acme.example")


def labels(axes: object, along: str = "y") -> list[str]:
    return [text.get_text() for text in getattr(axes, f"get_{along}ticklabels")()]


def test_rows_of_counts_are_the_largest_of_all_not_of_those_listed(tables: aa.Dataset) -> None:
    frame = tables["domains"]["source_domain_engines"]
    total = frame.groupby("source_domain")["citation_count"].sum().sort_values(ascending=False)
    drawn = [label.partition(" (")[0] for label in labels(frame.aa.plot(top=15))]
    assert total[drawn].tolist() == total.head(15).tolist()


def test_columns_that_are_not_drawn_are_counted(tables: aa.Dataset) -> None:
    frame = tables["urls"]["cited_url_prompts"]
    prompts = frame["prompt_id"].nunique()
    words = frame.aa.plot().figure.get_supxlabel()
    assert prompts > 20
    assert f"20 of {prompts} columns (prompt id) are drawn, those with most." in words


def test_cells_have_as_many_decimals_each() -> None:
    rows = [("a", "x", 1.0), ("a", "y", 2.25), ("b", "x", 3.0), ("b", "y", 10 / 3)]
    frame = pd.DataFrame(rows, columns=["who", "to", "n"])
    axes = frame.aa.plot("heatmap", x="to", color="who", y="n")
    assert {text.get_text() for text in axes.texts} == {"1.00", "2.25", "3.00", "3.33"}


def test_the_own_brand_is_marked_among_columns() -> None:
    rows = [
        ("p", "we", True, 1),
        ("p", "you", False, 2),
        ("q", "we", True, 3),
        ("q", "you", False, 4),
    ]
    frame = pd.DataFrame(rows, columns=["engine", "brand", "own", "n"])
    axes = frame.aa.plot("heatmap", x="brand", color="engine", y="n")
    shown = {text.get_text(): text.get_fontweight() for text in axes.get_xticklabels()}
    assert shown == {"we (own)": "bold", "you": "normal"}


def test_tiny_numbers_are_not_zero_and_top_takes_integers_of_numpy() -> None:
    frame = pd.DataFrame({"who": ["a", "b", "c"], "n": [1e-300, 1e-12, 0.0]})
    axes = frame.aa.plot("bars", top=np.int64(2))
    assert [text.get_text() for text in axes.texts] == ["1e−12", "1e−300"]
