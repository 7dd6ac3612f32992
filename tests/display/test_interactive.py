"""The interactive form: the marks of the drawn picture, each with what is known of it."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from serving import shared_dataset

import aatoolkit as aa
from aatoolkit.errors import ArgumentError


@pytest.fixture
def overview() -> aa.Tables:
    return shared_dataset()["overview"]


def texts(figure: object) -> str:
    return "\n".join(each.text for each in figure.layout.annotations)


def test_a_line_has_each_time_with_number_interval_counts_and_availability(
    overview: aa.Tables,
) -> None:
    trend = overview["overview_trend"]
    figure = trend.aa.plot(interactive=True)
    (line,) = [t for t in figure.data if t.type == "scatter" and t.mode == "lines+markers"]
    shown = np.array(line.y, float)
    rates = trend["mention_rate"].astype("float64").to_numpy()
    np.testing.assert_array_equal(shown, rates)
    ends = trend.aa.interval("mention_rate")
    at = int(np.flatnonzero(~np.isnan(rates))[0])
    tip = line.customdata[at]
    assert f"mention rate: {rates[at]:.0%}" in tip
    assert f"interval: {ends.iloc[at, 0]:.0%} to {ends.iloc[at, 1]:.0%}" in tip
    assert f"answer count: {trend['answer_count'].iloc[at]}" in tip
    assert "partial" in tip, "an engine has not run yet"
    assert "no number" in line.customdata[int(np.flatnonzero(np.isnan(rates))[0])]
    assert line.connectgaps is False
    assert {"/"} == {t.marker.pattern.shape for t in figure.data if t.type == "bar"}
    assert "Band: Wilson" in texts(figure)
    assert "2026" in texts(figure).splitlines(), "the year of the days"
    assert "acme.example" in texts(figure)
    assert figure.layout.meta["finding"] == trend.aa.plot().finding


def test_bars_have_the_numbers_of_the_picture_and_hatches_where_there_are_none(
    overview: aa.Tables,
) -> None:
    engines = overview["overview_engines"]
    figure = engines.aa.plot(interactive=True)
    bars = [t for t in figure.data if t.type == "bar"]
    (measured,) = [t for t in bars if not t.marker.pattern.shape]
    (lacking,) = [t for t in bars if t.marker.pattern.shape == "/"]
    expected = engines["mention_rate"].dropna().astype(float).sort_values(ascending=False)
    assert list(measured.x) == pytest.approx(expected.tolist())
    assert all("interval: " in tip and "mention count: " in tip for tip in measured.customdata)
    assert all("This engine has not run yet" in tip for tip in lacking.customdata)


@pytest.mark.thorough
@pytest.mark.parametrize("section", aa.sections.names())
def test_every_main_picture_has_an_interactive_form(section: str) -> None:
    for table in shared_dataset()[section].values():
        figure = table.aa.plot(interactive=True, theme="dark")
        assert figure.data or figure.layout.meta["kind"] in ("figures", "table", "empty")
        assert figure.layout.meta["kind"]
        json.loads(figure.to_json())


@pytest.mark.thorough
def test_cells_without_a_row_differ_from_those_not_measured() -> None:
    history = shared_dataset()["ranking"]["ranking_history"]
    figure = history.aa.plot(interactive=True)
    (mesh,) = [t for t in figure.data if t.type == "heatmap"]
    cells = np.array([[np.nan if v is None else v for v in row] for row in mesh.z], float)
    assert np.nanmax(cells) == -1
    assert int((~np.isnan(cells)).sum()) == int(history["rank"].notna().sum())
    places = dict(zip(mesh.colorbar.ticktext, mesh.colorbar.tickvals, strict=True))
    assert places["1"] == max(places.values()), "the best rank is on top, as drawn"
    assert "rank (1 is best)" in texts(figure), "the scale says what it measures"
    words = "\n".join(tip for t in figure.data if t.type != "heatmap" for tip in t.customdata)
    assert "not measured" in words
    assert "not listed" in words
    assert "not measured" in texts(figure)


def test_nothing_in_a_name_is_markup_or_a_formula() -> None:
    name = "<b>$x_{1}$</b> & <script>"
    figure = pd.DataFrame({"who": [name, "b"], "n": [2, 1]}).aa.plot(interactive=True)
    shown = figure.layout.yaxis.ticktext[0]
    assert "<" not in shown
    assert "$" not in shown
    assert "&lt;b&gt;" in figure.data[0].customdata[0]


@pytest.mark.thorough
def test_facets_and_options_are_those_of_the_picture() -> None:
    prompts = shared_dataset()["prompts"].main
    options = {"x": "topic", "y": "mention_rate", "facet": "intent"}
    figure = prompts.aa.plot(**options, interactive=True)
    assert len({t.xaxis for t in figure.data}) == prompts["intent"].nunique(dropna=False)
    assert "intent: commercial" in texts(figure)


def test_it_refuses_axes(overview: aa.Tables) -> None:
    with pytest.raises(ArgumentError, match="leave out ax="):
        overview.main.aa.plot(interactive=True, ax=Figure().subplots())


@pytest.mark.thorough
def test_where_nothing_shows_it_the_drawn_picture_and_its_words_do(overview: aa.Tables) -> None:
    figure = overview.main.aa.plot(interactive=True)
    data, metadata = figure._repr_mimebundle_()
    assert set(data) == {"application/vnd.plotly.v1+json", "image/png", "text/plain"}
    assert metadata["image/png"]["alt"] == figure.layout.meta["finding"]
    assert data["text/plain"].startswith("<InteractivePicture: ")
    assert pickle.loads(pickle.dumps(figure)).layout.meta == figure.layout.meta
