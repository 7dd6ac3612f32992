"""What pictures draw: nothing unmeasured as a number, nothing twice, own rows marked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from carried import MEASURED, ColumnMetadata, FrameMetadata, Source, attach, described
from drawn import row_looks, row_words
from foreign import proposed
from matplotlib.figure import Figure
from processes import python
from samples import sample
from serving import shared_client, shared_dataset

import aatoolkit as aa
from aatoolkit import Availability, Cause, Status
from aatoolkit.errors import ArgumentError, AvailabilityError, ItemNotFound

HOSTS = ("acme.example", "globex.example", "initech.example")
KINDS = {
    "actions": "bars",
    "ads": "counts",
    "chats": "counts",
    "conversions": "bars",
    "conversion_totals": "figures",
    "crawl": "bars",
    "crawl_timeseries": "heatmap",
    "crawlability": "figures",
    "crawlability_files": "verdicts",
    "domains": "bars",
    "gaps": "bars",
    "gap_topics": "gap",
    "action_steps": "table",
    "impact": "verdicts",
    "impact_metrics": "figures",
    "overview": "figures",
    "overview_trend": "line",
    "overview_engines": "bars",
    "perception": "shares",
    "perception_sentiment_trend": "line",
    "prompts": "bars",
    "ranking": "gap",
    "ranking_matrix": "heatmap",
    "shopping": "bars",
    "cited_url_prompts": "heatmap",
}


def read(name: str, host: str = "acme.example") -> pd.DataFrame:
    """A table, or the main table of a section."""
    data = shared_dataset(host)
    if name in data:
        return data[name].main
    return next(tables[name] for tables in data.values() if name in tables)


def words_of(axes: Any) -> str:
    return "\n".join(text.get_text() for text in axes.figure.findobj(mpl.text.Text))


def labels(axes: Any, along: str = "y") -> list[str]:
    return [text.get_text() for text in getattr(axes, f"get_{along}ticklabels")()]


def legend(axes: Any) -> list[str]:
    return [words for words, _, _ in axes.spec.legend]


def colours(axes: Any) -> list[str]:
    return [mark.style.colour for mark in axes.spec.marks if mark.kind == "boxes"]


def notes(axes: Any) -> str:
    """What stands around a picture besides its title."""
    return " · ".join([axes.spec.title, axes.spec.reading_note, *axes.spec.caption])


def hatched(axes: Any) -> list[Any]:
    return [patch for patch in axes.patches if patch.get_hatch() == "////"]


def counted(numbers: list[float | None]) -> pd.DataFrame:
    words = [f"site {at:02}" for at in range(len(numbers))]
    return pd.DataFrame({"site": words, "n": pd.array(numbers, dtype="Float64")})


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_a_table_has_the_picture_that_suits_it_and_stays_as_it_is(name: str, kind: str) -> None:
    frame = read(name)
    before = frame.copy(deep=True)
    axes = frame.aa.plot()
    assert axes.kind == kind
    assert "acme.example" in words_of(axes)
    pd.testing.assert_frame_equal(frame, before)
    assert frame.attrs == before.attrs


# --- what was not measured --------------------------------------------------------------------


def test_a_line_breaks_where_nothing_was_measured_and_its_band_is_the_interval() -> None:
    trend = read("overview_trend")
    axes = trend.aa.plot(x="date", y="mention_rate")
    (line,) = [mark for mark in axes.spec.marks if mark.kind == "line"]
    np.testing.assert_array_equal(line.y, trend["mention_rate"].to_numpy(float, na_value=np.nan))
    gap = int(np.flatnonzero(np.isnan(line.y))[0])
    until = trend.head(gap + 1).aa.plot(x="date", y="mention_rate")
    assert not until.spec.headline
    assert hatched(axes)
    assert "not measured" in legend(axes)
    (band,) = [mark for mark in axes.spec.marks if mark.kind == "band"]
    expected = trend.aa.interval("mention_rate").to_numpy(float, na_value=np.nan)
    np.testing.assert_allclose(np.transpose([band.y, band.ends]), expected)
    counts = trend["answer_count"][trend["answer_count"] > 0]
    assert f"answer count {counts.min()}–{counts.max()}" in axes.figure.get_supxlabel()
    fewer = trend.head(8).drop(index=[3, 4]).aa.plot()
    assert np.isnan(np.asarray(fewer.lines[0].get_ydata(), float)[[3, 4]]).all()
    assert hatched(fewer)


def test_days_of_few_answers_are_weeks_of_which_part_ones_are_hollow() -> None:
    days = pd.date_range("2026-01-01", periods=28)
    frame = pd.DataFrame({"date": days, "labelled_count": 4, "positive_count": 3})
    trend = frame.assign(positive_share=0.75).astype({"positive_share": "Float64"})
    described(trend, "perception_sentiment_trend", ("date",), Source("a.example"))
    axes = trend.aa.plot()
    assert axes.finding.startswith("Positive share by week: ")
    assert axes.data["labelled_count"].tolist() == [16, 28, 28, 28, 12]
    assert "part of the period" in legend(axes)
    axes = trend.drop(index=[*range(2, 25, 3)]).aa.plot()
    assert axes.finding.startswith("Positive share by week: ")
    by_day = trend.aa.plot(x="date", y="positive_share")
    assert by_day.finding.startswith("Positive share by day")


def test_a_week_that_the_window_cuts_is_marked_as_a_part() -> None:
    days = pd.date_range("2026-01-05", periods=3, freq="7D").repeat(2)
    weeks = pd.DataFrame({"week": days, "site": ["a", "b"] * 3, "n": range(6)})
    source = Source("a.example", window_start="2026-01-07", window_end="2026-01-20")
    weeks = attach(weeks, FrameMetadata(sources=(source,)))
    places = [
        {*zip(mark.x, mark.y, strict=True)}
        for kind in ("line", "heatmap")
        for mark in weeks.aa.plot(kind, x="week", color="site", y="n").spec.marks
        if mark.style.fill == "hollow"
    ]
    assert [*map(len, places)] == [2, 2, 4]
    assert {x for x, _ in places[-1]} == {-0.4, 1.6}


def test_values_of_many_metrics_have_a_column_each() -> None:
    metrics = [("ttfbMs", 588, "ms"), ("htmlBytes", 1024, "bytes"), ("title", "Home", "text")]
    rows = [
        {"page": f"/p{page}", "metric": metric, "value": str(value), "unit": unit}
        for page in range(20) for metric, value, unit in metrics[: 2 + (page < 9)]
    ]  # fmt: skip
    spec = proposed({"rows": rows}, "found")["found"].main.aa.plot().spec
    assert (spec.kind, spec.extent_text) == ("metrics", "the first 15 of 20")
    assert [(column.heading, column.texts[0], column.texts[9]) for column in spec.text_columns] == [
        ("TTFB ms", "588 ms", "588 ms"), ("Html bytes", "1,024 bytes", "1,024 bytes"),
        ("Title", "Home", "–"),
    ]  # fmt: skip


def test_texts_are_not_repeated() -> None:
    steps = read("action_steps")
    actions = steps.aa.plot().spec.text_columns[0].texts
    assert len([*filter(None, actions)]) == steps["action_id"].nunique() < len(actions)


def test_rows_without_numbers_are_counted_by_what_comes_again() -> None:
    # Bars of equal length say nothing.
    for power, modulus, kind in ((2, 41, "counts"), (1, 26, "table")):
        queries = [f"q{n**power % modulus}" for n in range(130)]
        rows = pd.DataFrame({"query": queries, "text": [*map(str, range(130))]})
        assert rows.aa.plot().kind == kind


def test_days_beside_their_positions_are_a_line() -> None:
    rows = [{"day": f"2026-10-{day:02}", "sessions": day * 7 % 5} for day in range(1, 31)]
    days = proposed({"rows": rows}, "found")["found"].main.reset_index()
    days = described(days.rename(columns={"index": "position"}), "found", key=("position",))
    assert days.aa.plot().kind == "line"


def test_other_brands_are_grey_and_pages_of_one_site_are_not() -> None:
    brands = pd.DataFrame({"brand": [*"aab"] * 9, "own": [True, True, False] * 9})
    pages = pd.DataFrame({"url": ["a.example/x", "a.example/y"], "n": [2, 1]})
    assert colours(brands.aa.plot(x="brand")) == ["blue", "rest"]
    assert colours(pages.aa.plot(y="n")) == ["blue"]
    assert colours(pages.rename(columns={"url": "domain"}).aa.plot(y="n")) == ["rest"]


def test_a_draft_has_key_figures_whatever_their_columns_are_called_and_no_guessed_sample() -> None:
    rows = [{"site": f"s{n}", "citation_share": n / 20, "answer_count": 9 * n} for n in range(6)]
    figures = [{"name": name, "current": 9, "prev": 4} for name in "ab"]
    tables = proposed({"rows": rows, "kpis": figures}, "found")["found"]
    assert "n=45" not in words_of(tables["found"].aa.plot(y="citation_share"))
    assert "+5" in words_of(tables["found_kpis"].aa.plot())


def test_rows_without_a_number_say_why_and_are_never_zero() -> None:
    engines = read("overview_engines")
    axes = engines.aa.plot()
    lacking = engines.loc[engines["mention_rate"].isna(), "engine"].tolist()
    words = row_words(axes)
    assert lacking
    assert [word for label, word in words.items() if label in lacking] == ["not measured"]
    for label, row in engines.dropna(subset="mention_rate").set_index("engine").iterrows():
        assert f"(n={row['answer_count']:,})" in words[label]
    unasked = read("overview_engines", "newco.example").aa.plot()
    assert {*row_words(unasked).values()} == {"not measured"}
    visits = shared_client().project("acme.example").read("conversions", days=30)
    axes = visits["conversion_engines"].aa.plot(y="conversion_rate")
    assert row_words(axes)["claude"] == "nothing to count"
    assert row_words(axes)["google-ai-overview"] == "does not apply"
    assert "claude: conversion rate nothing to count" in axes.finding
    frame = pd.DataFrame({"brand": ["a", "b", "c"], "n": pd.array([3, 0, None], "Int64")})
    assert [*row_words(frame.aa.plot()).values()] == ["3", "0", "no value given"]


def test_looks_tell_not_measured_from_no_value_and_from_nothing_to_place() -> None:
    places = pd.DataFrame({"brand": ["a", "b", "c"], "mention_count": [4, 0, 2]})
    places["average_position"] = pd.array([1.5, None, None], "Float64")
    described(places, "overview_top_brands", ("brand",))
    axes = places.aa.plot("bars", y="average_position")
    words, looks = row_words(axes), row_looks(axes)
    assert (words["b"], looks["b"]) == ("no value given", "dotted")
    assert (words["c"], looks["c"]) == ("no value given", "dotted")
    for name in ("chats", "conversions", "crawlability", "perception_sentiment", "impact"):
        axes = read(name).aa.plot()
        said = {"not measured", "no number", "no value given"} & {*words_of(axes).split("\n")}
        assert said or not [patch for patch in axes.patches if patch.get_hatch()]


def test_frames_without_rows_or_numbers_show_why() -> None:
    crawl = read("crawl", "initech.example")
    axes = crawl.aa.plot()
    assert hatched(axes)
    assert "CNAME gateway is not connected." in words_of(axes).replace("\n", " ")
    part = read("overview_trend").head(0).aa.plot()
    assert "Measured in part, with no rows." in part.finding
    metadata = FrameMetadata({"n": ColumnMetadata(None, MEASURED)})
    assert "with no rows" in attach(pd.DataFrame({"n": []}), metadata).aa.plot().finding
    assert "Availability unknown" in pd.DataFrame({"n": []}).aa.plot().finding
    gone = Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED, "No analytics is connected.")
    metadata = FrameMetadata({"n": ColumnMetadata(None, gone)}, ("engine",), (Source("a.example"),))
    frame = pd.DataFrame({"engine": ["x", "y"], "n": pd.array([None, None], "Int64")})
    axes = attach(frame, metadata).aa.plot(y="n")
    assert [*row_words(axes).values()] == ["not measured"] * 2
    assert "No analytics is connected" in axes.figure.get_supxlabel()
    assert axes.finding == "N by engine: x: n not measured; y: n not measured"


# --- frames of any kind -----------------------------------------------------------------------

PLAIN = {
    "words": (pd.DataFrame({"who": ["a", "b"], "n": [1, 2]}), "bars"),
    "times": (
        pd.DataFrame({"at": pd.date_range("2026-01-01", periods=5), "n": [1.0, 2, None, 4, 5]}),
        "line",
    ),
    "zones and no numbers": (
        pd.DataFrame({"at": pd.date_range("2026-01-01", periods=3, tz="UTC"), "n": [np.nan] * 3}),
        "line",
    ),
    "index": (pd.DataFrame({"n": [1, 2]}, index=pd.Index(["a", "b"], name="who")), "bars"),
    "one row": (pd.DataFrame({"n": [1], "m": [2.5]}), "figures"),
    "flags": (pd.DataFrame({"ok": [True, False, True], "id": [1, 2, 3]}), "counts"),
    "infinite": (pd.DataFrame({"who": ["a", "b"], "n": [np.inf, -1.0]}), "bars"),
    "alike": (pd.DataFrame({"brand": [*"abc"] * 8, "engine": [*"xyz"] * 8}), "table"),
    "rows of a time": (
        pd.DataFrame({"day": [*pd.date_range("2026-01-01", periods=3)] * 2, "a": [*"xxxyyy"],
                      "b": [*"ijkijk"], "n": range(6)}), "line",
    ),
    "lists": (pd.DataFrame({"l": [["a"], ["b"]]}), "table"),
    "no columns": (pd.DataFrame(index=[1, 2]), "table"),
    "nothing": (pd.DataFrame(), "empty"),
}  # fmt: skip


@pytest.mark.parametrize(("frame", "kind"), PLAIN.values(), ids=PLAIN)
def test_a_frame_without_metadata_plots_and_says_that_nothing_is_known(
    frame: pd.DataFrame, kind: str
) -> None:
    axes = frame.aa.plot()
    assert axes.kind == kind
    assert "Source unknown" in words_of(axes)
    unknown = kind in ("empty", "table") or "the frame has no metadata" in words_of(axes)
    assert unknown


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "barz"}, ArgumentError, "'bars'"),
        ({"color": "nowhere"}, ItemNotFound, "there is no column"),
        ({"theme": "night"}, ArgumentError, "no theme"),
        ({"theme": "dark", "ax": Figure().subplots()}, ArgumentError, "whole figure"),
        ({"figsize": (4, 3), "ax": Figure().subplots()}, ArgumentError, "ax="),
        ({"interactive": True, "ax": Figure().subplots()}, ArgumentError, "leave out ax="),
        ({"top": 0}, ArgumentError, "from 1"),
        ({"y": "mention_rat"}, ItemNotFound, "'mention_rate'"),
        ({"y": "date"}, ArgumentError, "no numbers"),
        ({"kind": "shares"}, AvailabilityError, "do not fit a picture"),
    ],
)
def test_what_cannot_be_requested_is_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read("overview_trend").aa.plot(**options)


def test_a_heat_map_has_no_rows_of_days() -> None:
    with pytest.raises(AvailabilityError, match="do not fit a picture of kind 'heatmap'"):
        read("overview_engines").aa.plot("heatmap", x="engine", color="last_run_day")


def test_titles_sizes_colours_and_kinds_are_those_given() -> None:
    axes = counted([1, 2, 3, 4]).aa.plot(title="Mine <b>\u202e", figsize=(4, 2.5))
    assert axes.figure.get_suptitle() == "Mine <b>\\u202e"
    assert tuple(axes.figure.get_size_inches()) == (4, 2.5)
    assert counted([1]).aa.plot(figsize=(4, 4)).figure.get_figheight() < 2.1
    doc = pd.DataFrame.aa.plot.__doc__
    with pytest.raises(ArgumentError, match="there are ") as caught:
        counted([1, 2]).aa.plot("zzzzzzzz")
    kinds = str(caught.value).partition("there are ")[2].split(", ")
    assert all(f"``{kind}``" in doc for kind in kinds)


@pytest.mark.thorough
def test_pyplot_is_neither_needed_nor_loaded_and_importing_loads_no_matplotlib() -> None:
    code = (
        "import sys, aatoolkit, pandas as pd\n"
        "assert 'matplotlib' not in sys.modules\n"
        "print(pd.DataFrame({'a': ['x'], 'n': [1]}).aa.plot())\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<Picture: ")


# --- rows and their order ---------------------------------------------------------------------


def test_rows_that_share_a_mark_are_aggregated_by_their_rules() -> None:
    domains, prompts = read("domains"), read("prompts")
    some = prompts[prompts["intent"] == "commercial"]
    for frame, x, y in (
        (domains, "domain_type", "citation_count"), (prompts, "topic", "mention_rate"),
        (some, "topic", "mention_rate"),
    ):  # fmt: skip
        expected = frame.aa.aggregate(x, y, skip_missing=True)[y].dropna().astype(float)
        numbers = frame.aa.plot(x=x, y=y).data[y].dropna().astype(float)
        assert sorted(numbers) == pytest.approx(sorted(expected))
    with pytest.raises(AvailabilityError, match="rows overlap"):
        domains.aa.plot(x="domain_type", y="answer_count")
    with pytest.raises(AvailabilityError, match="rules="):
        read("ranking_prompts").aa.plot("bars", x="prompt_id", y="share_of_voice")


def test_whiskers_are_those_of_the_table_over_prompts_where_they_are_known() -> None:
    prompts = aa.demo().read("prompts", days=30).main
    brands = aa.demo().read("ranking", days=30)["ranking_prompts"]
    for axes, frame, x, y in (
        (prompts.aa.plot("bars", x="topic", y="mention_rate"), prompts, "topic", "mention_rate"),
        (brands.aa.plot(), brands, "brand", "share_of_voice"),
    ):
        assert "Lines: 95% interval for prompts like these" in notes(axes)
        table = frame.aa.interval(y, by=x, cluster="prompt_id").set_index(x).dropna()
        ends = axes.spec.interval_frame.set_index(x)[[f"{y}_low", f"{y}_high"]].dropna()
        assert len(ends.index.intersection(table.index)) >= 2
        common = ends.index.intersection(table.index)
        pd.testing.assert_frame_equal(
            ends.loc[common], table.loc[common, ends.columns], check_dtype=False
        )
        assert any(mark.kind == "line" and len(mark) >= 6 for mark in axes.spec.marks)
    assert "the answers to one prompt" in notes(prompts.aa.plot(top=4))
    assert "takes answers for independent" in notes(read("overview_engines").aa.plot())


def test_intervals_alone_are_drawn_on_the_bars_of_their_rate() -> None:
    engines = read("overview_engines")
    axes = engines.aa.interval("mention_rate", level=0.5).dropna().aa.plot()
    assert labels(axes) == labels(engines.aa.plot())[:4]
    assert axes.explain("chatgpt").is_complete
    assert axes.spec.interval_frame is None


def test_the_first_rows_are_those_with_most_and_the_title_counts_the_others() -> None:
    axes = counted([*map(float, range(25)), None, None, None, None]).aa.plot(kind="bars", y="n")
    assert labels(axes) == [f"site {at:02}" for at in range(24, 9, -1)]
    assert "the first 15 of 29" in axes.finding
    frame = pd.DataFrame({"brand": [*"ab"], "labelled_count": [9, 40], "positive_count": [9, 20]})
    frame["positive_share"] = pd.array([1.0, 0.5], "Float64")
    described(frame, "perception_sentiment", ("brand",))
    assert labels(frame.aa.plot("bars", y="positive_share")) == ["b", "a"], "few are last"
    domains = read("domains")
    axes = domains.aa.plot(top=np.int64(4))
    assert f"first 4 of {len(domains)}" in axes.finding
    best = domains.nlargest(4, "citation_count")["source_domain"].tolist()
    assert [label.partition(" (")[0] for label in labels(axes)] == best
    cells = read("cited_url_prompts")
    of = f"the first 12 of {cells['prompt_id'].nunique()} columns"
    assert cells.aa.plot("heatmap").spec.extent_text.endswith(of)
    cells = read("source_domain_engines")
    total = cells.groupby("source_domain")["citation_count"].sum().sort_values(ascending=False)
    names = [label.partition(" (")[0] for label in labels(cells.aa.plot(top=15))]
    assert total[names].tolist() == total.head(15).tolist()
    assert read("chat_mentions").aa.plot(x="brand", y="position").data["position"].notna().all()


def test_what_has_no_room_is_left_out_and_not_cut() -> None:
    gateway = read("crawl_gateway").aa.plot(figsize=(3, 2))
    words = words_of(gateway)
    assert "CNAME state" in words
    assert "connected" in words
    assert "…" not in words
    assert gateway.figure.get_supxlabel() == "acme.example · measured in part · crawl"
    for name in ("actions", "chat_mentions", "prompt_engines"):
        axes = read(name).aa.plot(figsize=(3, 2))
        title = axes.figure.get_suptitle().replace("\n", " ")
        assert title in (axes.spec.headline, axes.spec.title)
        assert " …" not in words_of(axes)
    claims = labels(read("perception_claims").aa.plot(figsize=(5, 4)))
    assert any("\n" in label for label in claims)
    assert "…" not in "".join(claims)
    assert "ChatGPT model update" in words_of(read("impact_annotations").aa.plot(figsize=(3, 2)))
    long = pd.DataFrame({"a": ["much " * 60]})
    assert min(text.get_fontsize() for text in long.aa.plot(figsize=(6, 4)).texts) >= 8
    assert long.aa.plot(figsize=(0.3, 0.3)).kind == "table"


def test_turned_names_and_rows_of_long_texts_have_room() -> None:
    axes = read("cited_url_prompts").aa.plot(figsize=(6, 4))
    apart = 0.57 * axes.layout.marks_width / len(axes.spec.x.category_names)
    lines = max(tick.text.count("\n") + 1 for tick in axes.layout.x_ticks)
    assert axes.layout.has_rotated_labels
    assert lines * 1.1 * axes.layout.font_size <= apart
    row = pd.DataFrame({"a": ["much " * 30], "b": ["word " * 30]})
    assert "…" not in words_of(row.aa.plot(figsize=(6, 4)))


def test_a_title_names_a_leader_only_if_it_leads_by_more_than_chance() -> None:
    rates = pd.DataFrame({"brand": ["a", "b"], "rate": [0.9, 0.5], "answer_count": 5})
    for low, headline in ((0.6, "Highest rate: a, 0.90"), (0.4, "")):
        ends = {"rate_low": [low, 0.2], "rate_high": [1.0, 0.55]}
        assert rates.assign(**ends).aa.plot(y="rate").spec.headline == headline
    for name, headline in (
        ("crawl", "Most requests: GPTBot, 974"),
        ("ranking_positions", ""),
        ("overview_engines", ""),
        ("chat_citations", "Chat citations: 532 cited, 225 not cited"),
        ("ranking", "Acme CRM: share of voice 23%, previous share of voice 17% (+5.3 pp)"),
    ):  # fmt: skip
        assert read(name).aa.plot().spec.headline == headline


def test_the_title_of_cards_with_verdicts_is_what_these_say() -> None:
    assert "Verdict: 2 no detectable change" in words_of(read("impact_metrics").aa.plot())


def test_cards_say_what_their_lines_are() -> None:
    spec = read("overview").aa.plot().spec
    assert "lines: by day" in spec.reading_note.lower()
    position = [name.text for name in spec.y.category_names].index("Average position (1 is best)")
    assert position in [round(mark.y[0]) for mark in spec.marks if mark.kind == "line"]


def test_a_row_of_facts_is_a_list() -> None:
    facts = pd.DataFrame({"source": ["tag"], "since": ["2026-10-16"]}).aa.plot()
    assert [name.text for name in facts.spec.y.category_names] == ["Source", "Since"]
    assert facts.finding == "Source, since: Source: Value tag; Since: Value 2026-10-16"
    facts = pd.DataFrame({"state": ["partial"], "notes": [["Left out.", "b"]], "why": [None]})
    assert facts.aa.plot().finding.endswith("State: Value partial; Notes: Value Left out. · b")
    missing = read("conversion_totals", "initech.example").aa.plot()
    assert "Not measured. No web analytics is connected." in missing.finding


def test_a_picture_of_any_size_has_the_column_and_the_colours_that_say_most() -> None:
    evidence = read("action_evidence").aa.plot(figsize=(3, 2))
    assert "best crm for a small team" in words_of(evidence).replace("\n", " ")
    bars = read("gap_domains").aa.plot(figsize=(3, 2)).spec.marks
    assert "rest" in {mark.style.colour for mark in bars if mark.kind == "boxes"}


def test_rows_are_named_by_what_only_they_have_and_metrics_are_cards() -> None:
    rows = pd.DataFrame({"id": ["i1", "i2"], "type": ["note"] * 2, "theme": ["price", "weight"]})
    rows["n"] = [2, 1]
    assert labels(attach(rows, FrameMetadata(key=("id",))).aa.plot()) == ["price", "weight"]
    for bare, key in ((rows[["id", "type", "n"]], "id"), (rows[["n"]].assign(position=1), "n")):
        spec = attach(bare, FrameMetadata(key=(key,))).aa.plot().spec
        assert (spec.kind, spec.columns[0]) == ("table", key)
    states = pd.DataFrame({"state": pd.Categorical(["in_stock", "soldOut"])}).aa.plot(x="state")
    assert labels(states) == ["in stock", "sold out"]
    kpis = rows.rename(columns={"theme": "metric", "n": "value"}).assign(previous=1)
    assert kpis[["metric", "value", "previous"]].aa.plot().kind == "figures"


def test_own_rows_are_marked_where_any_table_of_the_answer_names_them() -> None:
    axes = read("overview_top_brands").aa.plot()
    bold = [text.get_text() for text in axes.get_yticklabels() if text.get_fontweight() == "bold"]
    assert bold == ["Acme CRM (own)"]
    assert "Acme CRM (own)" in labels(read("ranking_matrix").aa.plot())
    sites = labels(read("source_domain_engines").aa.plot())
    assert "acme.example (own)" in sites
    history = read("ranking_history").aa.plot("line", top=2)
    assert [name for _, name, _ in history.spec.line_labels] == ["Acme CRM (own)", "Globex"]
    assert [style.colour for _, _, style in history.spec.line_labels] == ["blue", "rest"]
    collected = shared_client().collect(HOSTS, sections=["domains"], progress=False)
    spec = collected.concat("domains").aa.plot().spec
    assert (
        {*HOSTS}
        == {name.text for name in spec.x.category_names}
        <= {n.text for n in spec.y.category_names}
    )
    assert not any(name.is_own for name in (*spec.x.category_names, *spec.y.category_names))


def test_rows_are_named_by_what_identifiers_stand_for() -> None:
    steps = read("action_steps").aa.plot()
    titles = {*read("actions")["title"]}
    assert {*steps.spec.text_columns[0].texts} <= {*titles, ""}
    prompts = {*read("prompts")["prompt"]}
    # A dataset names what its sections refer to; a response that was read alone, what it has.
    assert {*read("fanout_query_prompts").aa.plot().spec.text_columns[1].texts} <= prompts
    alone = shared_client().project("acme.example").read("fanouts", days=30)
    bare = {*alone["fanout_query_prompts"].aa.plot().spec.text_columns[1].texts}
    assert bare <= {*read("prompts")["prompt_id"]}
    assert {name.text for name in read("prompts").aa.plot().spec.y.category_names} <= prompts
    evidence = read("action_evidence").aa.plot()
    assert {*evidence.spec.text_columns[1].texts} == {"prompts", "competitors"}
    small = read("action_evidence").aa.plot(figsize=(3, 2))
    assert small.spec.title.startswith("Action evidence")
    assert "IDs" not in small.spec.title
    frame = pd.DataFrame({"topic": pd.array(["CRM", None], dtype="string"), "n": [1, 3]})
    axes = frame.aa.plot(x="topic", y="n")
    assert "(none)" in labels(axes)
    assert "(none)" in axes.finding


def test_an_identifier_beside_its_text_is_named_by_the_text() -> None:
    texts = ["best crm", "what is a crm"]
    for key, title in (
        ("prompt_id", "prompt"), ("brand", "brand_name"), ("brand", "name"), ("accion", "titulo"),
    ):  # fmt: skip
        frame = pd.DataFrame({"object": "row", key: ["AC-7", "brd_8"], title: texts, "n": [2, 1]})
        assert labels(frame.aa.plot(x=key, y="n")) == texts
    answers = pd.DataFrame({"id": [*["ans_1", "ans_2"] * 2], "title": [*"wxyz"]})
    assert [*answers.aa.plot(figsize=(3, 2)).spec.text_columns[0].texts] != [*"wx"]
    pages = pd.DataFrame({"url": ["a.example/b-c"], "title": "Home", "n": 2})
    assert labels(pages.aa.plot(x="url", y="n")) == ["a.example/b-c"]


def test_a_state_looks_alike_in_the_legend_and_in_the_marks() -> None:
    access = read("crawlability_bot_access").aa.plot().spec.text_columns[0]
    assert access.symbol_styles[access.texts.index("blocked")].colour == "orange"
    frame = pd.DataFrame({"engine": [*"aabb"], "state": ["ok", "unknown", "failed", "unknown"]})
    axes = frame.aa.plot("counts", x="engine", color="state")
    looks = {words: style for words, style, _ in axes.spec.legend}
    assert looks["unknown"] in [mark.style for mark in axes.spec.marks]
    signs = [text.get_text() for text in axes.texts]
    assert signs[signs.index("unknown") - 1] == "■"
    assert signs[signs.index("ok") - 1] == "■"


def test_numbers_of_one_picture_have_as_many_decimals_and_tiny_ones_are_not_zero() -> None:
    rows = [("a", "x", 1.0), ("a", "y", 2.25), ("b", "x", 3.0), ("b", "y", 10 / 3)]
    frame = pd.DataFrame(rows, columns=["who", "to", "n"])
    axes = frame.aa.plot("heatmap", x="to", color="who", y="n")
    assert {*axes.spec.marks[-1].texts} == {"1.00", "2.25", "3.00", "3.33"}
    frame = pd.DataFrame({"who": ["a", "b", "c"], "n": [1e-300, 1e-12, 0.0]})
    assert [*row_words(frame.aa.plot("bars", top=2)).values()] == ["1e−12", "1e−300"]
    for kind in ("bars", "line"):
        days = pd.date_range("2026-01-01", periods=3)
        axes = counted([1, 2, 1]).assign(day=days).aa.plot(kind, x="day", y="n")
        ticks = axes.get_yticks() if kind == "line" else axes.get_xticks()
        assert len(ticks) > 1
        assert all(float(tick).is_integer() for tick in ticks)


def test_days_have_their_month_and_steps_their_name() -> None:
    weeks = pd.date_range("2026-08-23", periods=14, freq="W")
    axes = counted([*range(14)]).assign(day=weeks).aa.plot("line", x="day", y="n")
    assert labels(axes, "x") == [f"{week:%d %b}" for week in weeks[::2]]
    axes = read("overview_trend").aa.plot()
    assert len(labels(axes, "x")) > 2
    assert all(re.fullmatch(r"[0-9]{2} [A-Z][a-z]{2}", label) for label in labels(axes, "x"))
    assert "2026, weeks by their last day" in words_of(axes).split("\n")
    two = read("overview_trend").head(2).aa.plot()
    assert labels(two, "x") == ["22 Oct", "23 Oct"]


def test_a_total_is_not_drawn_beside_its_parts() -> None:
    for total, is_drawn in ((5, False), (4, True)):
        frame = pd.DataFrame({"page": [*"ab", "(all pages)"], "hits": [3, 2, total]})
        axes = frame.aa.plot()
        assert ("(all pages)" in labels(axes)) is is_drawn
        assert ("without the total" in notes(axes)) is not is_drawn


def test_a_cell_of_few_answers_has_its_number_and_no_colour() -> None:
    axes = read("ranking_matrix").aa.plot()
    few = read("ranking_matrix").query("0 < sample_count < 10")["value"]
    reasons = ["nothing to count", "without colour: n below 10"]  # in an order of their own
    assert [reason for reason, *_ in axes.spec.legend] == reasons
    assert {f"{few.min():.2f}"} <= {*axes.spec.marks[-1].texts}
    coloured = [
        tip for mark in axes.spec.marks if mark.colour_strength is not None for tip in mark.tooltips
    ]
    assert not [tip for tip in coloured if re.search(r"count: \d$", tip, re.MULTILINE)]


def test_numbers_without_a_name_are_called_by_their_table_and_what_is_counted() -> None:
    rows = [
        {"bot": bot, "perDay": {"2026-10-05": n, "2026-10-06": 2}} for n, bot in enumerate("abc")
    ]
    spec = proposed({"rows": rows}, "hits")["hits"].main.aa.plot().spec
    assert "value by" in spec.title or "count by" in spec.title


def test_pairs_that_cannot_be_added_up_have_a_cell_each_and_rows_alike_no_bars() -> None:
    pairs = pd.DataFrame({"brand": [*"aabb"], "engine": [*"xyxy"], "score": [1.5, 2, 3, 4]})
    assert attach(pairs, FrameMetadata(key=("brand", "engine"))).aa.plot().kind == "heatmap"
    alike = pd.DataFrame({"ad_id": ["AD-1", "AD-2"], "title": "New", "hits": [2, 1]})
    assert attach(alike, FrameMetadata(key=("ad_id",))).aa.plot().kind == "table"
    lacking = pd.DataFrame({"page": [*"ab"], "hits": pd.array([None, None], "Int64")})
    assert lacking.aa.plot().kind == "table"


# --- panels -----------------------------------------------------------------------------------


def test_hosts_and_windows_are_rows_of_their_own_and_never_added_up() -> None:
    client = shared_client()
    frames = [client.project(host).read("overview", days=days)["overview_engines"]
              for host in HOSTS[:2] for days in (7, 30)]  # fmt: skip
    every = aa.concat([frame.aa.with_context() for frame in frames])
    axes = every.aa.plot(top=20)
    assert {name.text for name in axes.spec.y.category_names} == {
        f"{row.host} · last {row.days} days · {row.engine}" for row in every.itertuples()
    }
    both = axes.data.merge(every, on=["host", "days", "engine"])
    assert both["mention_rate_x"].equals(both["mention_rate_y"])
    assert "google-ai-overview: This engine has not run yet" in notes(axes)
    for patch in hatched(axes):
        patch.figure.draw_without_rendering()
        assert patch.get_window_extent().width == pytest.approx(axes.bbox.width)
    both = aa.concat(frames[1::2])
    for arguments in ({}, {"x": "engine"}, {"kind": "bars"}):
        with pytest.raises(AvailabilityError, match=r"add df\.aa\.with_context\(\) to each"):
            both.aa.plot(**arguments)
    assert both.aa.aggregate("engine").aa.plot().kind == "bars"


def test_engines_with_other_names_have_nothing_to_count_only_where_it_is_known() -> None:
    project = shared_client().project("acme.example")
    prompts = project.read("prompts", split="engine").main
    frame = prompts.assign(engine=prompts["engine"].str.upper())
    finding = frame.aa.plot(x="engine", y="mention_rate").finding
    assert "GOOGLE-AI-OVERVIEW: mention rate no value given" in finding
    states = frame.aa.aggregate("engine", "mention_rate", status=True)["mention_rate_availability"]
    assert [*states.isna()] == [True, True, False, True, False, True]
    assert {*states.dropna()} == {"unknown"}
    labels = project.scope_options().engines[["engine", "label"]]
    labelled = prompts.aa.merge(labels, how="left", on="engine")
    for rows in (labelled, labelled.aa.rename(columns={"engine": "assistant"})):
        heatmap = rows.aa.plot("heatmap", x="topic", y="mention_rate", color="label")
        assert "not measured" in heatmap.finding.partition("Google AI")[2]


def test_tables_of_several_hosts_have_the_pictures_of_one() -> None:
    client = shared_client()
    tables = [client.project(host).read("ranking", days=30) for host in HOSTS[:2]]
    for name in ("ranking_matrix", "ranking_history", "ranking_leaderboard"):
        rows = aa.concat([read[name].aa.with_context() for read in tables])
        axes = rows.aa.plot()
        assert axes.kind == tables[0][name].aa.plot().kind
        drawn = {*zip(axes.data["host"], axes.data["brand"], strict=True)}
        labels = {f"{host} · {brand}" for host, brand in drawn}
        assert {row.text for row in axes.spec.y.category_names} <= labels
        assert {host for host, _ in drawn} == {*HOSTS[:2]}
    ties = tables[0]["ranking_history"].aa.plot()
    assert ties.spec.headline == "", "the best of many are no headline"


@pytest.mark.parametrize(
    ("name", "by", "own"),
    [
        ("brand", "owner", "us"),
        ("brand", "is_own", True),
        ("brand", "owned", True),
        ("domain", "kind", "own"),
    ],
)
def test_who_owns_a_row_is_told_in_several_ways(name: str, by: str, own: Any) -> None:
    frame = pd.DataFrame(
        {name: ["A", "B"], by: [own, False if own is True else "them"], "n": [2, 1]}
    )
    for top in (1, 2):
        axes = frame.aa.plot(x=name, y="n", top=top)
        assert [row.text for row in axes.spec.y.category_names if row.is_own] == ["A"]
    mentions = read("chat_mentions").aa.plot().spec
    assert mentions.title == "Number of chat mentions by brand and sentiment"


def test_rows_of_which_nobody_said_what_they_are_are_no_finding() -> None:
    rows = [{"engine": engine, "text": f"Answer {n}"} for n, engine in enumerate("aab" * 9)]
    answers = proposed({"rows": rows}, "found")["found"].main
    spec = answers.aa.plot().spec
    assert (spec.title, spec.headline) == ("Number of found by engine", "")
    assert answers.drop(columns="engine").assign(kind=[*"aab" * 9]).aa.plot().kind == "table"


def test_a_rate_is_drawn_before_counts_also_without_a_rule() -> None:
    section = aa.Section("mine", "Mine.", *aa.sections.default_profile()["domains"].tables)
    with pytest.warns(aa.errors.SchemaDriftWarning):
        sites = aa.normalize(section, sample("domains")).main
    assert sites.aa.plot().spec.columns == ["citation_share"]


def test_only_brands_domains_and_addresses_are_own() -> None:
    words = {"brand": [*"AAB"], "own": [True, True, False], "word": [*"ayy"], "n": [1, 2, 3]}
    spec = pd.DataFrame(words).aa.plot("heatmap", x="brand", color="word", y="n").spec
    assert [name.full_text for name in (*spec.x.category_names, *spec.y.category_names)] == [
        "B",
        "A (own)",
        "y",
        "a",
    ]
    rows = [{"place": f"{site}acme.example/a"} for site in ("https://www.", "b.example/")]
    sites = proposed({"rows": rows}, "found")["found"].main.assign(n=3)
    assert [name.is_own for name in sites.aa.plot(x="place", y="n").spec.y.category_names] == [
        True,
        False,
    ]


def test_a_result_of_one_row_has_its_interval_and_its_verdict() -> None:
    axes = aa.stats.cited_and_mentioned(shared_dataset()["chats"]).aa.plot()
    assert axes.spec.headline == "Mentioned: 47% if cited, 54% if not, no evidence"
    assert axes.spec.marks[0].x[:2] == pytest.approx([0.56, 2.39], abs=0.005)
    shares = shared_dataset()["domains"].main.aa.concentration("citation_count").aa.plot()
    assert shares.figure.get_suptitle().startswith("As concentrated as ")
    totals = shared_dataset()["conversions"]["conversion_totals"].aa.plot()
    assert re.search(r"AI revenue: Value [0-9.,]+ USD", totals.finding)
    assert "USD" in "".join(read("shopping_offers").aa.plot().spec.text_columns[-1].texts)
    level = read("overview_trend").aa.changes("mention_rate").aa.plot()
    assert re.match("The whole window: [0-9]+% to [0-9]+%, no evidence", level.spec.headline)
    days, line = level.spec.marks[1:]
    assert days.y == pytest.approx(
        read("overview_trend")["mention_rate"].to_numpy(float), nan_ok=True
    )
    assert line.y[0] == level.data["before"][0]


def test_what_may_be_chance_is_ranked_last() -> None:
    matrix = read("ranking_matrix").aa.plot().spec
    assert matrix.x.category_names[-1].text == "claude", "its samples are small"


def test_rows_asked_for_are_drawn_as_long_as_they_do_not_overlap() -> None:
    sites = read("domains").aa
    few, many = (sites.plot(top=top, figsize=(3, 2)) for top in (5, 30))
    assert len(few.data) == 5 < len(many.data) < 12
    assert {axes.layout.font_size for axes in (few, many, sites.plot(figsize=(3, 2)))} == {9 * 0.82}


def test_ranks_have_whole_ticks() -> None:
    axes = shared_dataset()["prompts"]["prompt_engines"].aa.rank("mentioned", "engine").aa.plot()
    assert labels(axes, "x") == [*"1234"]


def test_the_groups_without_a_name_are_not_all() -> None:
    labels = [row.text for row in shared_dataset().compare().aa.plot(top=30).spec.y.category_names]
    assert {"mention rate · all prompts", "mention rate · topic · (none)"} <= {*labels}


def test_the_caption_names_the_series_that_were_never_measured() -> None:
    trend = shared_client().project("acme.example").read("overview", split="engine")
    for options in ({"color": "engine", "freq": "W"}, {}):
        axes = trend["overview_trend"].aa.plot(**options)
        assert "copilot, google-ai-overview: not measured" in axes.figure.get_supxlabel()
        assert not axes.spec.extent_text
    only = trend["overview_trend"].query("engine in ['chatgpt', 'copilot']")
    counts = only["answer_count"][only["answer_count"] > 0]
    caption = only.aa.plot(x="date", y="mention_rate", color="engine").figure.get_supxlabel()
    assert f"copilot: not measured · answer count {counts.min()}–{counts.max()}" in caption


PERIODS = {
    "overview_trend bars": "bars: Mention rate by week",
    "overview_trend heatmap": "heatmap: Mention rate by week",
    "perception_sentiment_trend shares": "shares: Shares by week: positive, neutral, negative",
    "conversion_daily heatmap": "heatmap: Sessions by engine and week",
    "chats": "counts: Number of chats by week",
}


@pytest.mark.parametrize(("asked", "shown"), PERIODS.items())
def test_pictures_of_every_kind_have_a_mark_for_each_period(asked: str, shown: str) -> None:
    name, _, kind = asked.partition(" ")
    axes = read(name).aa.plot(kind or None, freq="W")
    assert f"{axes.kind}: {axes.spec.title}" == shown
    days = re.findall("2026[-0-9]+", axes.finding.partition(" by ")[2])
    assert {pd.Timestamp(day).day_name() for day in days} == {"Sunday"}
    assert kind == "heatmap" or days == sorted({*days})


@pytest.mark.parametrize("kind", ["bars", "gap", "shares", "counts"])
def test_of_more_periods_than_have_room_the_last_are_drawn(kind: str) -> None:
    days = pd.date_range("2026-08-01", periods=40)
    frame = pd.DataFrame({"day": days, "a_share": 0.25, "b_share": 0.75})
    options = {} if kind == "counts" else {"y": ["a_share", "b_share"][: 1 + (kind != "bars")]}
    axes = frame.aa.plot(kind, x="day", top=5, **options)
    assert labels(axes) == [f"{day:%Y-%m-%d}" for day in days[-5:]]
    assert axes.spec.extent_text == "the last 5 of 40"
    assert "has the most" not in axes.spec.headline


def test_beside_periods_is_one_column() -> None:
    daily = read("conversion_daily")
    assert daily.aa.plot(x="engine", freq="W").spec.title == "Sessions by week and engine"
    with pytest.raises(ArgumentError, match="leave out x="):
        daily.aa.plot(x="engine", color="sessions", freq="W")


def test_a_headline_counts_the_series_that_it_does_not_name() -> None:
    days = pd.date_range("2026-10-01", periods=3).repeat(4)
    frame = pd.DataFrame({"date": days, "engine": [*"abcd"] * 3, "n": range(12)})
    assert "d 11, c 10, b 9 and 1 more" in frame.aa.plot(x="date", y="n", color="engine").finding


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


def test_changes_in_other_units_are_counted_and_a_lower_position_is_better() -> None:
    rates = of_units().aa.plot()
    places = of_units().query("unit == 'rank'").aa.plot()
    unsaid = of_units().query("unit == 'score 0-100'").aa.plot()
    numbers, verdicts = (
        [word for axes in (rates, places) for word in axes.spec.text_columns[column].texts]
        for column in (0, 1)
    )
    assert numbers == ["+0.03 pp", "+25.0 pp", "+0.80"]
    assert verdicts == ["no evidence", "up", "up"]
    assert row_words(unsaid) == {"sentiment score": "cannot say"}
    good, bad = (
        [m.style.colour for m in p.spec.marks if m.kind == "dots"][-1] for p in (rates, places)
    )
    assert (good, bad) == ("green", "orange")
    assert "Average position: +0.80, up" in places.finding
    assert "not drawn, in other units: 2 changes" in notes(rates)


# --- explanations -----------------------------------------------------------------------------

STUDY = Path(__file__).parents[2] / "data" / "demo-study"


@pytest.fixture(scope="module")
def recorded() -> aa.Dataset:
    sections = ["overview", "prompts", "crawl"]
    study = aa.Study(STUDY)
    return study.project("acme.example").read_all(scope=aa.Scope(days=30), sections=sections)


def test_a_bar_is_explained_by_its_name(recorded: aa.Dataset) -> None:
    engines = recorded["overview"]["overview_engines"]
    axes = engines.aa.plot()
    explanation = axes.explain("chatgpt")
    assert explanation.is_complete
    assert explanation.value == engines.set_index("engine").loc["chatgpt", "mention_rate"]
    row = axes.data["engine"].tolist().index("chatgpt")
    own = engines.aa.plot(ax=Figure().add_subplot())
    for mark in (row, {"engine": "chatgpt"}, "chatgpt"):
        assert axes.explain(mark).to_dict() == own.explain(mark).to_dict() == explanation.to_dict()
    high = axes.explain("chatgpt", "mention_rate_high")
    assert high.children[0].formula == "hits / trials = 37 / 69"
    assert axes.explain().missing == axes.explain("google-ai-overview").missing
    with pytest.raises(ItemNotFound, match="no mark is named 'nobody'; there are"):
        axes.explain("nobody")


def test_points_cells_and_counts_are_explained(recorded: aa.Dataset) -> None:
    axes = recorded["overview"]["overview_trend"].aa.plot(x="date", y="mention_rate")
    assert axes.explain("2026-11-15", "mention_rate_low").is_complete
    crawl = recorded["crawl"]["crawl_timeseries"].aa.plot()
    cell = crawl.explain(len(crawl.data) - 1)
    assert cell.is_complete
    assert cell.column == "requests"
    prompts = recorded["prompts"].main
    counts = prompts.aa.plot("counts", x="intent")
    many = counts.explain({"intent": prompts["intent"].mode()[0]})
    assert many.value == prompts["intent"].value_counts().max() == len(many.children)
    with pytest.raises(ArgumentError, match="name it by intent"):
        counts.explain(0)


def test_an_interactive_mark_says_number_interval_counts_and_availability() -> None:
    trend = read("overview_trend")
    figure = trend.aa.plot(x="date", y="mention_rate", interactive=True)
    (line,) = [t for t in figure.data if t.type == "scatter" and t.mode == "lines+markers"]
    assert line.connectgaps is False
    at = int(np.flatnonzero(trend["mention_rate"].notna())[0])
    low, high = trend.aa.interval("mention_rate").iloc[at]
    rate, count = trend[["mention_rate", "answer_count"]].iloc[at]
    for words in (f"mention rate: {rate:.0%}", f"interval: {low:.0%} to {high:.0%}",
                  f"answer count: {count:.0f}", "measured in part"):  # fmt: skip
        assert words in line.hovertext[at]
    assert {"/"} == {t.marker.pattern.shape for t in figure.data if t.type == "bar"}
    data, metadata = figure._repr_mimebundle_()
    assert {*data} == {"application/vnd.plotly.v1+json", "image/png", "text/plain"}
    assert metadata["image/png"]["alt"] == figure.layout.meta["finding"]
    cells = read("ranking_history").aa.plot(interactive=True)
    boxes = [trace for trace in cells.data if trace.type == "bar"]
    assert np.isin(["not measured", "not listed"], [
        tip.rpartition("<br>")[2] for box in boxes for tip in box.hovertext]).all()  # fmt: skip


def test_the_states_of_a_title_and_the_numbers_of_a_change_stay_in_small_pictures() -> None:
    severities = words_of(read("insights").aa.plot(figsize=(3, 2))).splitlines()
    assert {"Severity", "high"} <= {*severities}
    assert "change" not in severities, "changes are left out first"
    change = read("prompt_engines").aa.compare("previous", "mention_rate", by="engine")
    texts = words_of(change.aa.plot(figsize=(3, 2))).splitlines()
    assert {"+8.7 pp", "cannot say"} <= {*texts}


def test_no_value_has_no_mark_and_high_is_a_warning() -> None:
    access = read("crawlability_bot_access").aa.plot().spec.text_columns
    rules = next(column for column in access if column.heading == "Explicit rule")
    marks = dict(zip(rules.texts, rules.symbol_styles, strict=True))
    assert marks["no value given"] is None
    assert marks["no"] is not None
    severities = read("insights").aa.plot().spec.text_columns[1]
    styles = dict(zip(severities.texts, severities.symbol_styles, strict=True))
    assert styles["high"].colour == "amber"
    assert {style.fill for style in styles.values()} == {"solid"}


def test_earlier_numbers_differ_in_shape_and_a_change_keeps_its_unit() -> None:
    topics = read("gap_topics").aa.plot()
    assert len({style.symbol for _, style, _ in topics.spec.legend}) == 2
    assert "\npp" not in words_of(topics)


def test_bars_that_each_have_one_colour_need_no_second_one() -> None:
    cited = pd.DataFrame({"kind": list("aaabbc"), "place": list("xxxyyz")}, dtype="category")
    bars = [mark for mark in cited.aa.plot(kind="counts").spec.marks if mark.kind == "boxes"]
    assert len({mark.style for mark in bars}) == 1
    mixed = cited.assign(place=pd.Categorical(list("xyxyxz")))
    assert legend(mixed.aa.plot(kind="counts"))


def test_a_cursor_is_no_id_and_quarters_are_named() -> None:
    pages = {"prompts": [{"cursor": f"c-{n}x", "text": f"prompt {n}", "hits": n} for n in range(9)],
             "page": {"end_cursor": "c-8x", "count": 9}}  # fmt: skip
    tables = proposed(pages, "prompts")["prompts"]
    facts = next(table for name, table in tables.items() if name.endswith("_facts"))
    assert "prompt 8" not in words_of(facts.aa.plot())
    quarters = pd.DataFrame({"start": pd.date_range("2024-01-01", periods=6, freq="QS"), "hits": 3})
    assert "by quarter" in words_of(quarters.aa.plot(kind="line", x="start", y="hits"))
