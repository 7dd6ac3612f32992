"""Panels: windows of one frame, captions of all panels, rows of hosts that nothing tells apart."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.figure import Figure
from serving import shared_client, shared_dataset

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError


@pytest.fixture(scope="module")
def engines() -> dict[tuple[str, int], pd.DataFrame]:
    wanted = [("acme.example", 30), ("acme.example", 7), ("globex.example", 30)]
    wanted.append(("globex.example", 7))
    client = shared_client()
    return {
        (host, days): client.project(host).read("overview", days=days)["overview_engines"]
        for host, days in wanted
    }


Engines = dict[tuple[str, int], pd.DataFrame]


def test_windows_of_one_frame_have_panels_of_their_own(engines: Engines) -> None:
    frames = [engines["acme.example", days].aa.with_context() for days in (7, 30)]
    panels = aa.concat(frames).aa.plot().figure.axes
    assert [panel.panel.heading for panel in panels] == ["last 7 days", "last 30 days"]
    assert {panel.kind for panel in panels} == {"bars"}


def test_hosts_and_windows_have_a_panel_for_each_of_both(engines: Engines) -> None:
    frame = aa.concat([each.aa.with_context() for each in engines.values()])
    panels = frame.aa.plot().figure.axes
    assert [panel.panel.heading for panel in panels] == [
        "acme.example, last 30 days",
        "acme.example, last 7 days",
        "globex.example, last 30 days",
        "globex.example, last 7 days",
    ]
    assert panels[0].finding.startswith("Mention rate by engine, host and window: ")
    for panel in panels:
        assert "not measured" in {text.get_text() for text in panel.texts}


def test_the_rows_of_all_panels_are_of_one_height(engines: Engines) -> None:
    frame = engines["acme.example", 30].assign(group=["a", "a", "a", "a", "b"])
    panels = frame.aa.plot(facet="group").figure.axes
    pitches = [
        panel.get_position().height / abs(panel.get_ylim()[1] - panel.get_ylim()[0])
        for panel in panels
    ]
    assert pitches[0] == pytest.approx(pitches[1])


def test_the_caption_is_about_all_panels_and_their_hosts(engines: Engines) -> None:
    hosts = ("acme.example", "globex.example")
    axes = aa.concat([engines[host, 30].aa.with_context() for host in hosts]).aa.plot()
    words = axes.figure.get_supxlabel()
    assert "no column tells apart" not in words
    assert "google-ai-overview: This engine has not run yet" in words
    assert "gemini: This engine did not run" in words
    for panel in axes.figure.axes:
        assert "not measured" in {text.get_text() for text in panel.texts}


def test_rows_of_hosts_that_no_column_tells_apart_are_refused(engines: Engines) -> None:
    both = aa.concat([engines[host, 30] for host in ("acme.example", "globex.example")])
    for arguments in ({}, {"x": "engine"}, {"kind": "bars"}):
        with pytest.raises(AvailabilityError, match=r"add df\.aa\.with_context\(\) to each"):
            both.aa.plot(**arguments)
    assert both.aa.aggregate("engine").aa.plot().kind == "bars"


def test_what_was_not_measured_fills_its_row_on_the_scale_of_all_panels() -> None:
    rows = [("a", "p", 3.0), ("a", "q", 5.0), ("b", "p", None), ("b", "q", None)]
    frame = pd.DataFrame(rows, columns=["who", "brand", "n"])
    panel = frame.aa.plot("bars", x="brand", y="n", facet="who").figure.axes[1]
    panel.figure.canvas.draw()
    for patch in panel.patches:
        box = patch.get_window_extent()
        assert box.width == pytest.approx(panel.get_window_extent().width)


def test_the_legend_of_panels_is_above_the_notes() -> None:
    days = pd.date_range("2026-11-01", periods=5)
    rows = [(d, e, None if d == days[2] else 1.0) for e in "ab" for d in days]
    frame = pd.DataFrame(rows, columns=["date", "engine", "n"])
    figure = frame.aa.plot(x="date", y="n", facet="engine").figure
    figure.canvas.draw()
    (legend,), notes = figure.legends, figure._supxlabel
    assert not legend.get_window_extent().overlaps(notes.get_window_extent())
    spans = [p for p in figure.axes[0].patches if p.get_hatch() == "////"]
    assert len(spans) == 1


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_axes_among_others_keep_notes_titles_and_legends_apart(style: str) -> None:
    data = shared_dataset()
    frames = [data["overview"]["overview_kpis"], data["chats"]["chat_mentions"]]
    frames.append(data["overview"]["overview_trend"])
    before, numbers = dict(plt.rcParams), plt.get_fignums()
    with plt.style.context(style):
        figure = Figure(figsize=(13, 4), layout="constrained")
        panels = figure.subplots(1, 3)
        for frame, axes in zip(frames, panels, strict=True):
            frame.aa.plot(ax=axes)
        figure.draw_without_rendering()
    assert (dict(plt.rcParams), plt.get_fignums()) == (before, numbers)
    figures, stacks, _ = panels
    # Key figures have no axis, and their notes all the same.
    assert any("acme.example · overview" in text.get_text() for text in figures.texts)
    legend = stacks.get_legend().get_window_extent()
    title = stacks.title if stacks.title.get_text() else stacks._left_title
    assert not legend.overlaps(title.get_window_extent())
    assert legend.x1 <= figure.bbox.width
    assert legend.y0 >= stacks.get_window_extent().y1 - 1


def test_a_small_figure_has_rows_that_do_not_cover_each_other() -> None:
    axes = shared_dataset()["overview"]["overview_top_brands"].aa.plot(figsize=(4, 2.5))
    axes.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_labels_of_key_figures_are_whole_where_there_is_room() -> None:
    insights = aa.demo().read("insights").main
    assert insights["title"].str.len().max() > 40
    wide, narrow = (
        {label.get_text() for label in insights.aa.plot(figsize=size).get_yticklabels()}
        for size in (None, (4, 3))
    )
    assert {*insights["title"]} <= wide
    assert not {*insights["title"]} <= narrow


def test_rows_without_a_value_are_named_alike_in_labels_and_words() -> None:
    frame = pd.DataFrame({"topic": pd.array(["CRM", None], dtype="string"), "n": [1, 3]})
    axes = frame.aa.plot(x="topic", y="n")
    labels = [*axes.get_xticklabels(), *axes.get_yticklabels()]
    assert "(none)" in [label.get_text() for label in labels]
    assert "(none)" in axes.finding
    assert "missing" not in axes.finding
