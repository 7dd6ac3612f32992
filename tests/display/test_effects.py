"""Pictures of comparisons, and the opening of a report."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aatoolkit as aa

pytest.importorskip("matplotlib").use("agg")
figure = pytest.importorskip("matplotlib.figure")


@pytest.fixture(scope="module")
def halves() -> tuple[pd.DataFrame, pd.DataFrame]:
    answers = aa.stats.answers(aa.demo().read("chats", days=30))
    late = answers["date"] >= pd.Timestamp("2026-11-06")
    return answers[late], answers[~late]


def notes(axes: object) -> str:
    return str(axes.figure.get_supxlabel())  # type: ignore[attr-defined]


def test_a_comparison_is_dots_with_the_interval_it_names(
    halves: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    axes = halves[0].aa.compare(halves[1], "mentioned", by="engine").aa.plot()
    assert axes.kind == "comparison"
    assert "nothing is shown to have changed" in axes.finding
    assert "1 cannot say" in axes.finding
    assert "95% interval" in notes(axes)
    assert "Paired by prompt," in notes(axes)
    colours = {line.get_color() for line in axes.get_lines() if line.get_marker() == "o"}
    assert colours == {"#a9b8c4"}  # grey: none is shown to differ


@pytest.mark.thorough
def test_a_comparison_names_metrics_in_words_and_keeps_other_names() -> None:
    axes = aa.demo().read_all(sections=["overview", "prompts"], progress=False).compare().aa.plot()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert {"mention rate · all prompts", "mention rate · brand · Globex"} <= {*labels}
    hosts = aa.demo().client.collect(aa.demo().hosts[:2], sections=["overview", "prompts"])
    assert "which no column tells apart" not in notes(hosts.compare().aa.plot())


def test_a_result_without_a_picture_of_its_own_is_titled_in_words() -> None:
    axes = aa.stats.cited_and_mentioned(aa.demo().read("chats")).aa.plot()
    assert axes.finding.startswith("Cited and mentioned")


def test_a_certain_change_has_a_colour() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"prompt_id": [*range(15)] * 20})
    before, now = (frame.assign(named=rng.random(300) < rate) for rate in (0.2, 0.6))
    axes = now.aa.compare(before, "named").aa.plot()
    assert "Change in named: named +" in axes.finding
    assert axes.get_lines()[-1].get_color() != "#a9b8c4"


def test_a_decomposition_is_a_waterfall(halves: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    found = halves[0].aa.decompose(halves[1], "mentioned")
    axes = found.aa.plot()
    assert axes.kind == "waterfall"
    bars = [patch for patch in axes.patches if patch.get_width()]
    ends = bars[-1].get_x() + bars[-1].get_width()
    assert ends == pytest.approx(found["effect"].iloc[-1])


def test_bars_name_the_interval_that_they_show() -> None:
    prompts = aa.demo().read("prompts", days=30).main
    found = prompts.aa.interval("mention_rate", by="topic", cluster="prompt_id", panel="fixed")
    assert "strata" in notes(found.aa.plot(x="topic", y="mention_rate"))
    engines = aa.demo().read("overview", days=30)["overview_engines"]
    assert "takes answers for independent" in notes(engines.aa.plot())


def test_whiskers_are_over_prompts_where_they_are_known() -> None:
    prompts = aa.demo().read("prompts", days=30).main
    axes = prompts.aa.plot("bars", x="topic", y="mention_rate")
    shown = " ".join(notes(axes).split())
    assert "Whiskers: 95% interval for prompts like these" in shown
    found = prompts.aa.interval("mention_rate", by="topic", cluster="prompt_id").set_index("topic")
    labels = [text.get_text() for text in axes.get_yticklabels()]
    whiskers = [mark for mark in axes.panel.marks if mark.kind == "spans" and len(mark)]
    assert whiskers
    for mark in whiskers:
        for low, row, high in zip(mark.x, mark.y, mark.to, strict=True):
            ends = found.loc[labels[int(row)], ["mention_rate_low", "mention_rate_high"]]
            assert [low, high] == pytest.approx(ends.to_list())
    alone = prompts.aa.plot("bars", x="prompt_id", y="mention_rate")
    assert "the answers to one prompt" in " ".join(notes(alone).split())
    days = pd.to_datetime(["2026-01-01", "2026-01-02"])
    dated = prompts.assign(date=days[np.arange(len(prompts)) % 2])
    band = dated.aa.plot("line", x="date", y="mention_rate")
    assert "Band: 95% interval for prompts like these" in " ".join(notes(band).split())


def test_brands_over_prompts_have_the_interval_of_their_table_without_being_asked() -> None:
    brands = aa.demo().read("ranking", days=30)["ranking_prompts"]
    axes = brands.aa.plot()
    table = brands.aa.interval("share_of_voice", by="brand", cluster="prompt_id").set_index("brand")
    ends = {
        axes.panel.y.names[int(row)].text: (low, high)
        for mark in axes.panel.marks
        if mark.kind == "spans"
        for low, row, high in zip(mark.x, mark.y, mark.to, strict=True)
    }
    assert len(ends) > 5
    for brand, whisker in ends.items():
        shown = table.loc[brand, ["share_of_voice_low", "share_of_voice_high"]]
        assert whisker == pytest.approx(shown.to_list())
    assert "for prompts like these" in notes(axes)


@pytest.mark.thorough
def test_a_report_opens_with_what_changed(tmp_path: Path) -> None:
    dataset = aa.demo().read_all(sections=["overview", "prompts"], progress=False)
    page = dataset.report(tmp_path / "page.html").read_text("utf-8")
    assert page.index("Nothing is shown to have changed") < page.index("What was measured")
    assert "Nothing is shown to have changed since the window before." in page
    assert "37.6 % to 45.8 %" in page
    assert "points or more would likely have shown" in page
    assert "before 0.375839 of n = 447" in page
    assert "+0.0 points" not in page
    assert not re.search(r"[^.]\.\.[^.]", re.sub(r"<[^>]*>", "", page))
    same = dataset.report(tmp_path / "same.html", before=dataset).read_text("utf-8")
    assert "the windows" in same or "both hold" in same
    alone = aa.demo().read_all(sections=["crawl"], progress=False)
    assert "was not read" in alone.report(tmp_path / "alone.html").read_text("utf-8")


def of_units() -> pd.DataFrame:
    """Changes of two rates, of which one is almost none, and of a position."""
    return pd.DataFrame(
        {
            "measure": ["mention_rate", "share_of_voice", "average_position", "sentiment_score"],
            "change": [0.0003, 0.25, 0.8, np.nan],
            "low": [-0.1, 0.1, 0.5, np.nan],
            "high": [0.1, 0.4, 1.1, np.nan],
            "verdict": ["no evidence", "up", "up", "cannot say"],
            "unit": ["fraction 0-1", "fraction 0-1", "rank", "score 0-100"],
            "method": "paired by prompt_id",
        }
    )


def test_changes_in_several_units_have_panels_and_scales_of_their_own() -> None:
    rates, places = of_units().aa.plot().figure.axes
    assert [panel.panel.heading for panel in (rates, places)] == [
        "Rates",
        "Average position (lower is better)",
    ]
    words = [word for axes in (rates, places) for word in axes.panel.columns[0].words]
    assert words == [
        "+0.03 pp  no evidence",
        "+25.0 pp  up",
        "cannot say",
        "+0.80  up, which is worse",
    ]
    assert rates.get_xlim()[1] < 0.5 < places.get_xlim()[1]
    good, bad = (panel.get_lines()[-1].get_color() for panel in (rates, places))
    assert good != bad
    assert "Paired by prompt." in notes(rates)


def test_given_axes_hold_the_changes_in_one_unit_and_say_so() -> None:
    axes = figure.Figure().add_subplot()
    of_units().aa.plot(ax=axes)
    assert len(axes.spec.panels[0].y.names) == 3
    assert "1 of 4 changes are in other units and not drawn here." in axes.spec.notes
