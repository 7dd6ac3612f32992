"""Pictures by engine: weeks with intervals, part weeks, and engines that did not run."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import matplotlib.dates as mdates
import numpy as np
import pandas as pd
import pytest
from serving import shared_client, shared_dataset

import aatoolkit as aa


@pytest.fixture(scope="module")
def project() -> aa.Project:
    return shared_client().project("acme.example")


def legend_of(axes: object) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def labels_of(axes: object) -> list[str]:
    return [text.get_text() for text in axes.get_yticklabels()]


@pytest.mark.thorough
def test_weeks_by_engine_have_intervals_and_part_weeks_are_hollow(project: aa.Project) -> None:
    trend = project.read("overview", split="engine")["overview_trend"]
    axes = trend.aa.plot("line", y="mention_rate", color="engine", freq="W")
    assert any(len(path.vertices) for band in axes.collections for path in band.get_paths())
    assert axes.panel.legend[-1][0] == "part of the period"
    assert not {"copilot", "google-ai-overview"} & {*legend_of(axes)}
    assert "Without a number: copilot, google-ai-overview." in axes.figure.get_supxlabel()
    hollow = [line.get_xdata() for line in axes.lines if line.get_markerfacecolor() == "#ffffff"]
    weeks = trend.aa.aggregate([], "mention_rate", freq="W")
    parts = weeks[weeks["mention_rate_availability_reason"].str.contains(" of the 7 days ")]
    assert {day for days in hollow for day in days} == {*mdates.date2num(parts["date"])}
    assert 0 < len(parts) < len(weeks)


@pytest.mark.thorough
def test_engines_that_did_not_run_differ_from_those_with_nothing_to_count(
    project: aa.Project,
) -> None:
    prompts = project.read("prompts", split="engine").main
    axes = prompts.aa.plot("heatmap", x="topic", y="mention_rate", color="engine")
    assert "not measured" in legend_of(axes)
    rows = {labels_of(axes)[round(patch.get_y() + 0.5)] for patch in axes.patches}
    assert rows == {"copilot", "google-ai-overview"}


@pytest.mark.thorough
def test_a_brand_without_a_mention_has_no_place_and_one_unanswered_no_value() -> None:
    data = shared_dataset()
    axes = data["prompts"]["prompt_engines"].aa.plot()
    assert {"not mentioned", "no value given"} <= {*legend_of(axes)}
    handles = axes.get_legend().legend_handles
    looks = {getattr(h, "get_marker", lambda: None)() or h.get_hatch() for h in handles}
    assert len(looks) == len(handles)
    sentiment = data["perception"]["perception_sentiment"]
    words = [text.get_text() for text in sentiment.aa.plot().texts]
    unlabelled = sentiment["labelled_count"].eq(0)
    unmentioned = int((unlabelled & sentiment["mention_count"].eq(0)).sum())
    assert words.count("not mentioned") == unmentioned > 0
    assert words.count("nothing to count") == int(unlabelled.sum()) - unmentioned


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("section", "table"),
    [("ranking", "ranking_matrix"), ("ads", "ad_advertisers")],
)
def test_the_own_brand_is_marked_where_another_table_of_the_answer_names_it(
    section: str, table: str
) -> None:
    frame = shared_dataset()[section][table]
    assert "Acme CRM (own)" in labels_of(frame.aa.plot())
    two = aa.concat([frame, shared_dataset("initech.example")[section][table]])
    of_several = two.drop(columns="host", errors="ignore").head(len(frame))
    assert not any("(own)" in label for label in labels_of(of_several.aa.plot()))


def test_competitors_are_marked_where_another_table_of_the_answer_names_them() -> None:
    labels = labels_of(shared_dataset()["domains"]["source_domain_engines"].aa.plot())
    assert "acme.example (own)" in labels
    assert "globex.example (competitor)" in labels


def test_bars_of_one_length_and_one_colour_each_say_that_a_table_is_better() -> None:
    alike = pd.DataFrame({"brand": ["a", "b", "c"] * 8, "engine": ["x", "y", "z"] * 8})
    assert alike.aa.plot().kind == "table"
    # Whose a row is divides no bar: what was found of it does.
    assert (
        shared_dataset()["urls"]["cited_url_brands"]
        .aa.plot()
        .finding.startswith("Number of cited URL brands by brand and mentioned")
    )


def test_the_line_of_the_own_brand_says_so() -> None:
    axes = shared_dataset()["ranking"]["ranking_history"].aa.plot("line", top=2)
    assert [text.get_text() for text in axes.get_legend().get_texts()][:2] == [
        "Acme CRM (own)",
        "Globex",
    ]


def test_infinite_numbers_were_measured_and_are_not_drawn() -> None:
    days = pd.date_range("2026-01-01", periods=4)
    axes = pd.DataFrame({"day": days, "ratio": [1, np.inf, np.nan, 2]}).aa.plot(y="ratio")
    assert "1 of 4 times not measured" in axes.finding
    assert "Infinite, and therefore not drawn: 1 of the numbers." in axes.figure.get_supxlabel()
    bars = pd.DataFrame({"who": ["a", "b", "c"], "ratio": [1, np.inf, np.nan]}).aa.plot(y="ratio")
    assert "1 infinite, and not drawn" in bars.finding
    cells = pd.DataFrame({"a": ["x"] * 3, "b": [*"rst"], "n": [1, -np.inf, np.nan]})
    assert "1 of 3 cells infinite" in cells.aa.plot("heatmap", x="b", color="a", y="n").finding


def test_two_days_have_no_time_of_day_between_them() -> None:
    axes = shared_dataset()["overview"]["overview_trend"].head(2).aa.plot()
    axes.figure.draw_without_rendering()
    assert [text.get_text() for text in axes.get_xticklabels()] == ["22 Oct", "23 Oct"]


def test_names_of_points_do_not_cover_each_other() -> None:
    frame = pd.DataFrame(
        {
            "who": [f"brand number {at}" for at in range(8)],
            "rate": [0.1, 0.11, 0.12, 0.1, 0.5, 0.51, 0.9, 0.91],
            "n": [5, 5, 5, 6, 20, 20, 3, 4],
        }
    )
    axes = frame.aa.plot(x="n", y="rate")
    axes.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) >= 4
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_a_single_day_among_many_is_marked() -> None:
    days = pd.date_range("2026-01-01", periods=150)
    numbers = pd.array([1.0] * 150, "Float64")
    numbers[40:42] = numbers[43:45] = pd.NA
    axes = pd.DataFrame({"date": days, "n": numbers}).aa.plot()
    (alone,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert list(alone.get_xdata()) == [mdates.date2num(days[42])]


def test_rows_left_over_by_no_filter_are_not_called_unmeasured() -> None:
    trend = shared_dataset()["overview"]["overview_trend"]
    assert "No rows. What was read was measured in part" in trend.head(0).aa.plot().finding


def test_pictures_name_their_rows_metrics_and_units() -> None:
    data = shared_dataset()
    one = data["overview"]["overview_engines"].head(1).aa.plot()
    assert one.finding.startswith("chatgpt: From answer count to mention count")
    kpis = data["overview"]["overview_kpis"].aa.plot("bars")
    assert kpis.finding.startswith("Value by metric: mention rate ")
    assert "4 rows are in other units, and not drawn." in kpis.figure.get_supxlabel()
    insights = data["insights"]["insights"].aa.plot()
    assert ": citation count " in insights.finding
    changes = data["overview"]["overview_top_brands"][["brand", "mention_rate_change"]]
    assert changes.aa.plot().finding.startswith("Mention rate change by brand: ")
    flags = data["urls"]["cited_url_brands"].aa.plot().get_legend().get_texts()
    assert [text.get_text() for text in flags] == ["mentioned", "not mentioned"]


def test_rows_of_one_time_are_not_drawn_as_one_of_them() -> None:
    days = pd.date_range("2026-01-01", periods=3)
    rows = pd.DataFrame({"day": [*days] * 2, "a": [*"xxxyyy"], "b": [*"ijkijk"], "n": range(6)})
    assert rows.aa.plot().kind != "line"


def test_the_context_of_an_archive_is_no_axis_where_it_is_the_same_in_all_rows(
    tmp_path: Path,
) -> None:
    archive = aa.Archive(tmp_path)
    archive.add(shared_client().project("acme.example"), sections=["overview"], progress=False)
    engines = archive.history("overview", "overview_engines").aa.plot()
    assert engines.finding.startswith("Mention rate by engine: ")
