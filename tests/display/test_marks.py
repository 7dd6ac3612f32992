"""From a mark of a picture to the bytes behind it."""

from __future__ import annotations

from pathlib import Path

import matplotlib.dates as mdates
import pandas as pd
import pytest
from matplotlib.figure import Figure

import aatoolkit as aa
from aatoolkit.errors import ArgumentError, ItemNotFound

STUDY = Path(__file__).parents[2] / "data" / "demo-study"


@pytest.fixture(scope="module")
def data() -> aa.Dataset:
    sections = ["overview", "prompts", "crawl", "ranking", "fanouts"]
    study = aa.Study(STUDY)
    return study.project("acme.example").read_all(scope=aa.Scope(days=30), sections=sections)


def test_a_bar_is_explained_by_its_name_and_where_it_is(data: aa.Dataset) -> None:
    engines = data["overview"]["overview_engines"]
    axes = engines.aa.plot()
    found = axes.explain("chatgpt")
    assert found.is_complete
    assert found.value == engines.set_index("engine").loc["chatgpt", "mention_rate"]
    row = axes.data["engine"].tolist().index("chatgpt")
    for mark in ((0.1, row + 0.3), row, {"engine": "chatgpt"}):
        assert axes.explain(mark).to_dict() == found.to_dict()
    high = axes.explain("chatgpt", "mention_rate_high")
    assert high.children[0].formula == "hits / trials = 37 / 69"
    assert axes.explain().missing == axes.explain("google-ai-overview").missing
    with pytest.raises(ItemNotFound, match="no mark is named 'nobody'; there are"):
        axes.explain("nobody")
    with pytest.raises(ArgumentError, match="name it by engine"):
        axes.explain((0.1, 99.0))


def test_a_point_of_a_line_and_a_cell(data: aa.Dataset) -> None:
    trend = data["overview"]["overview_trend"]
    axes = trend.aa.plot()
    at = mdates.date2num(pd.Timestamp("2026-11-15 03:00"))
    assert axes.explain((at, 0.9)).to_dict() == axes.explain("2026-11-15").to_dict()
    assert axes.explain(pd.Timestamp("2026-11-15")).place is not None
    low = axes.explain("2026-11-15", "mention_rate_low")
    assert low.is_complete
    crawl = data["crawl"]["crawl_timeseries"].aa.plot()
    assert crawl.kind == "heatmap"
    cell = crawl.explain((len(crawl.data["bucket_start"].unique()) - 1, 0))
    assert cell.is_complete
    assert cell.column == "requests"


@pytest.mark.thorough
def test_marks_of_many_rows_name_these(data: aa.Dataset) -> None:
    prompts = data["prompts"].main
    axes = prompts.aa.plot("bars", x="topic", y="mention_rate")
    topic = axes.data["topic"].iloc[0]
    found = axes.explain(topic)
    assert found.rows == int((prompts["topic"] == topic)[prompts["answer_count"] > 0].sum())
    assert found.is_complete
    high = axes.explain(topic, "mention_rate_high")
    assert high.is_complete
    assert high.formula is not None
    assert "answers" in high.formula
    counts = prompts.aa.plot("counts", x="intent")
    many = counts.explain((0.5, 0))
    assert many.value == prompts["intent"].value_counts().max() == len(many.children)
    with pytest.raises(ArgumentError, match="name it by intent"):
        counts.explain(0)


def test_statistics_and_empty_pictures(data: aa.Dataset) -> None:
    ranks = data["prompts"].main.aa.rank("mention_count", by="topic")
    axes = ranks.aa.plot()
    found = axes.explain(0, "rank_low")
    assert found.formula is not None
    assert data["crawl"].main.head(0).aa.plot().explain(column="requests").missing


def test_a_panel_is_explained_by_its_marks_and_by_the_value_it_stands_for(
    data: aa.Dataset,
) -> None:
    prompts = data["prompts"].main
    first = prompts.aa.plot("bars", x="topic", y="mention_rate", facet="category")
    panels = first.get_figure().axes
    level = panels[0].panel.heading.partition(": ")[2]
    topic = panels[0].data["topic"].iloc[0]
    found = panels[0].explain(topic)
    rows = prompts[(prompts["category"] == level) & (prompts["topic"] == topic)]
    assert len(rows) > 1
    assert found.is_complete, found.ends
    assert found.value == rows["mention_count"].sum() / rows["answer_count"].sum()
    assert found.row == {"category": level, "topic": topic}
    assert panels[1].explain().row["category"] != level
    named = {"category": level, "topic": topic}
    assert panels[1].explain(named).to_dict() == found.to_dict()
    with pytest.raises(ItemNotFound, match="no panel is of 'none'; there are"):
        first.explain({"category": "none", "topic": topic})


def test_a_picture_on_axes_of_ones_own_explains_itself(data: aa.Dataset) -> None:
    engines = data["overview"]["overview_engines"]
    axes = engines.aa.plot(ax=Figure().add_subplot())
    assert axes.explain("chatgpt").to_dict() == engines.aa.plot().explain("chatgpt").to_dict()
    assert axes.explain((0.1, 0)).is_complete
