"""Pictures: one for every table, nothing unmeasured drawn as a number, nothing hostile run."""

from __future__ import annotations

import io
import itertools
import json
import re
import subprocess
import sys
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from drawn import row_looks, row_words
from effort import one_in
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image
from serving import shared_client, shared_dataset

import aatoolkit as aa
from aatoolkit import Availability, Cause, Status
from aatoolkit.errors import ArgumentError, AvailabilityError, ColumnNotFound, ConfigurationError
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, Source, attach

HOSTS = ("acme.example", "initech.example", "newco.example")
TABLES = [
    (host, section, table.name)
    for section in aa.sections.names()
    for at, table in enumerate(aa.sections.get(section))
    for host in (HOSTS if at == 0 else HOSTS[:1])
]
MAIN = {
    "actions": "bars",
    "ads": "counts",
    "chats": "counts",
    "conversions": "bars",
    "crawl": "bars",
    "crawlability": "figures",
    "domains": "bars",
    "fanouts": "bars",
    "gaps": "bars",
    "impact": "spans",
    "insights": "figures",
    "overview": "figures",
    "perception": "shares",
    "prompts": "bars",
    "ranking": "gap",
    "shopping": "bars",
    "urls": "bars",
}
OTHERS = {
    "overview_trend": "line",
    "overview_engines": "bars",
    "perception_sentiment_trend": "line",
    "crawl_timeseries": "heatmap",
    "ranking_matrix": "heatmap",
    "gap_topics": "gap",
    "conversion_totals": "funnel",
    "shopping_trigger": "funnel",
    "impact_metrics": "figures",
}


@pytest.fixture(scope="module")
def client() -> aa.Client:
    return shared_client()


class ReadOnDemand(dict[str, aa.Dataset]):
    def __missing__(self, host: str) -> aa.Dataset:
        return shared_dataset(host)


@pytest.fixture(scope="module")
def whole() -> dict[str, aa.Dataset]:
    return ReadOnDemand()


@pytest.fixture
def overview(whole: dict[str, aa.Dataset]) -> aa.Tables:
    return whole["acme.example"]["overview"]


def drawn(axes: object) -> bytes:
    """The picture's bytes, drawn with every warning an error."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes.figure.savefig(buffer, format="png", dpi=72)
    return buffer.getvalue()


def words_of(axes: object) -> str:
    return "\n".join(text.get_text() for text in axes.figure.findobj(mpl.text.Text))


@pytest.mark.parametrize(("host", "section", "table"), one_in(14, TABLES))
def test_every_table_has_a_picture(
    whole: dict[str, aa.Dataset], host: str, section: str, table: str
) -> None:
    frame = whole[host][section][table]
    before = frame.copy(deep=True)
    axes = frame.aa.plot()
    image = np.asarray(Image.open(io.BytesIO(drawn(axes))).convert("L"))
    assert (image < 128).mean() > 0.002, "the picture is not blank"
    assert axes.finding
    assert host in words_of(axes)
    pd.testing.assert_frame_equal(frame, before)
    assert frame.attrs == before.attrs


@pytest.mark.parametrize(("section", "kind"), MAIN.items())
def test_the_picture_of_a_main_table_is_of_the_kind_that_suits_it(
    whole: dict[str, aa.Dataset], section: str, kind: str
) -> None:
    assert whole["acme.example"][section].main.aa.plot().kind == kind


@pytest.mark.parametrize(("table", "kind"), OTHERS.items())
def test_the_picture_of_another_table(whole: dict[str, aa.Dataset], table: str, kind: str) -> None:
    tables = next(each for each in whole["acme.example"].values() if table in each)
    assert tables[table].aa.plot().kind == kind


@pytest.mark.thorough
def test_nothing_inside_text_touches_the_edge(whole: dict[str, aa.Dataset]) -> None:
    for section, tables in whole["acme.example"].items():
        image = np.asarray(Image.open(io.BytesIO(drawn(tables.main.aa.plot()))).convert("L"))
        edge = np.concatenate([image[:2].ravel(), image[-2:].ravel(), image[:, :2].ravel()])
        assert (edge == 255).all(), section
        assert (image[:, -2:] == 255).all(), section


def test_a_line_breaks_where_nothing_was_measured(overview: aa.Tables) -> None:
    trend = overview["overview_trend"]
    axes = trend.aa.plot()
    (line,) = [each for each in axes.lines if len(each.get_xdata()) == len(trend)]
    shown = np.asarray(line.get_ydata(), float)
    quiet = trend["mention_rate"].isna().to_numpy()
    assert quiet.any()
    assert np.isnan(shown[quiet]).all()
    assert (shown[~quiet] == trend["mention_rate"].dropna().to_numpy(float)).all()
    spans = [patch for patch in axes.patches if patch.get_hatch() == "////"]
    assert spans
    assert "not measured" in words_of(axes)


def test_days_without_a_row_are_hatched_too(overview: aa.Tables) -> None:
    trend = overview["overview_trend"]
    (usual,) = trend.head(8).aa.plot().lines
    fewer = trend.head(8).drop(index=[3, 4]).aa.plot()
    (line,) = fewer.lines
    assert len(line.get_xdata()) == len(usual.get_xdata()) == 8
    assert np.isnan(np.asarray(line.get_ydata(), float)[[3, 4]]).all()
    assert [patch for patch in fewer.patches if patch.get_hatch() == "////"]


def test_the_band_is_the_interval_of_the_rate(overview: aa.Tables) -> None:
    trend = overview["overview_trend"]
    axes = trend.aa.plot()
    (band,) = axes.collections
    (low, high) = band.get_datalim(axes.transData).intervaly
    expected = trend.aa.interval("mention_rate")
    assert low == pytest.approx(float(expected["mention_rate_low"].min()))
    assert high == pytest.approx(float(expected["mention_rate_high"].max()))
    assert "95% interval" in words_of(axes)
    counts = trend["answer_count"][trend["answer_count"] > 0]
    assert f"{counts.min()}–{counts.max()} each, {counts.sum()} in all" in words_of(axes)


def test_a_rate_of_nothing_is_not_called_unmeasured(client: aa.Client) -> None:
    visits = client.project("acme.example").read("conversions", days=30)["conversion_engines"]
    rates = visits[visits["conversion_rate"].isna()].set_index("engine")["rated_sessions"]
    axes = visits.aa.plot(y="conversion_rate")
    words = row_words(axes)
    assert {engine: words[engine] for engine in rates.index} == {
        "claude": "nothing to count",
        "google-ai-overview": "does not apply",
    }
    assert "1 with nothing to count; 1 to which it does not apply" in axes.finding
    assert rates["claude"] == 0


def test_an_unmeasured_bar_is_hatched_and_never_zero(overview: aa.Tables) -> None:
    engines = overview["overview_engines"]
    axes = engines.aa.plot()
    lacking = engines.loc[engines["mention_rate"].isna(), "engine"].tolist()
    assert lacking
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels[-len(lacking) :] == lacking
    words = [*row_words(axes).values()]
    assert words[-len(lacking) :] == ["not measured"] * len(lacking)
    measured = engines.dropna(subset="mention_rate").set_index("engine")
    for label, word in zip(labels, words[: len(measured)], strict=False):
        assert f"(n={measured.loc[label, 'answer_count']:,})" in word


def test_a_measured_zero_is_a_zero() -> None:
    frame = pd.DataFrame({"brand": ["a", "b", "c"], "n": pd.array([3, 0, None], "Int64")})
    assert [*row_words(frame.aa.plot()).values()] == ["3", "0", "no value given"]


def test_the_own_brand_is_marked_in_words_and_weight(overview: aa.Tables) -> None:
    axes = overview["overview_top_brands"].aa.plot()
    bold = [text for text in axes.get_yticklabels() if text.get_fontweight() == "bold"]
    assert [text.get_text() for text in bold] == ["Acme CRM (own)"]


def test_rows_that_share_a_mark_are_aggregated_by_their_rules(
    whole: dict[str, aa.Dataset],
) -> None:
    domains = whole["acme.example"]["domains"].main
    axes = domains.aa.plot(x="domain_type", y="citation_count")
    expected = domains.aa.aggregate("domain_type", "citation_count")["citation_count"]
    shown = sorted(bar.get_width() for bar in axes.patches if not bar.get_hatch())
    assert [width for width in shown if width] == sorted(expected.dropna().astype(float))
    prompts = whole["acme.example"]["prompts"].main
    rates = prompts.aa.aggregate("topic", "mention_rate", skip_missing=True)
    rates = rates.dropna(subset="mention_rate")
    axes = prompts.aa.plot(x="topic", y="mention_rate")
    widths = sorted(bar.get_width() for bar in axes.patches if not bar.get_hatch())
    assert [width for width in widths if width] == pytest.approx(
        sorted(rates["mention_rate"].astype(float))
    )
    with pytest.raises(AvailabilityError, match=r"do not combine.*overlap"):
        domains.aa.plot(x="domain_type", y="answer_count")


def test_an_empty_frame_shows_why(client: aa.Client) -> None:
    crawl = client.project("initech.example").read("crawl").main
    assert not len(crawl)
    axes = crawl.aa.plot()
    assert axes.patches[0].get_hatch() == "////"
    assert "CNAME gateway is not connected." in words_of(axes).replace("\n", " ")
    assert "not connected" in axes.finding
    nothing = attach(
        pd.DataFrame({"n": []}),
        FrameMetadata({"n": ColumnMetadata(None, Availability(Status.AVAILABLE))}),
    )
    for frame, words, hatch in (
        (nothing, "with no rows", ""),
        (pd.DataFrame({"n": []}), "reason is not known", "...."),
    ):
        axes = frame.aa.plot()
        assert words in axes.finding
        assert (axes.patches[0].get_hatch() or "") == hatch


def test_a_wholly_unmeasured_frame_is_hatched_throughout() -> None:
    lacking = Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED, "No analytics is connected.")
    known = FrameMetadata({"n": ColumnMetadata(None, lacking)}, ("engine",), (Source("a.example"),))
    frame = pd.DataFrame({"engine": ["x", "y"], "n": pd.array([None, None], "Int64")})
    axes = attach(frame, known).aa.plot(y="n")
    assert [text.get_text() for text in axes.texts] == ["not measured"] * 2
    assert "No analytics is connected." in words_of(axes)
    assert "none of them was measured" in axes.finding
    days = pd.DataFrame({"day": pd.date_range("2026-01-01", periods=4), "n": [None] * 4})
    drawn(days.astype({"n": "Float64"}).aa.plot())


PLAIN = {
    "words and numbers": (pd.DataFrame({"who": ["a", "b"], "n": [1, 2]}), "bars"),
    "times and numbers": (
        pd.DataFrame({"at": pd.date_range("2026-01-01", periods=5), "n": [1.0, 2, None, 4, 5]}),
        "line",
    ),
    "an index with a name": (
        pd.DataFrame({"n": [1, 2]}, index=pd.Index(["a", "b"], name="who")),
        "bars",
    ),
    "one row": (pd.DataFrame({"n": [1], "m": [2.5]}), "figures"),
    "flags": (pd.DataFrame({"ok": [True, False, True], "id": [1, 2, 3]}), "counts"),
    "numbered columns": (pd.DataFrame({0: ["a", "b"], 1: [1, 2]}), "bars"),
    "infinite": (pd.DataFrame({"who": ["a", "b"], "n": [np.inf, -1.0]}), "bars"),
    "numpy zones": (
        pd.DataFrame({"at": pd.date_range("2026-01-01", periods=3, tz="UTC"), "n": [1, 2, 3]}),
        "line",
    ),
}


@pytest.mark.parametrize(("frame", "kind"), PLAIN.values(), ids=PLAIN)
def test_a_frame_without_metadata_still_plots_and_shows_that_nothing_is_known(
    frame: pd.DataFrame, kind: str
) -> None:
    axes = frame.aa.plot()
    drawn(axes)
    assert axes.kind == kind
    assert "unknown, as the frame has no metadata" in words_of(axes)
    assert "Source unknown" in words_of(axes)


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame(), pd.DataFrame(index=[1, 2]), pd.DataFrame({"l": [["a"], ["b"]]})],
    ids=["nothing", "no columns", "lists"],
)
def test_what_cannot_be_drawn_is_a_picture_with_the_reason(frame: pd.DataFrame) -> None:
    axes = frame.aa.plot()
    drawn(axes)
    assert axes.finding


def test_the_pyarrow_backend_draws_the_same(client: aa.Client, overview: aa.Tables) -> None:
    project = client.project("acme.example")
    other = project.read("overview", dtype_backend="pyarrow")
    for name in overview:
        assert other[name].aa.plot().finding == overview[name].aa.plot().finding


HOSTILE = {
    "mathematics": "$\\frac{1}{0}$ costs $5",
    "unbalanced": "$x_{",
    "long": "x" * 5000,
    "lines": "a\nb\r\nc\td",
    "right to left": "\u202eevil\u202c שלום مرحبا",
    "emoji": "🚀 rocket 🇩🇪",
    "control": "\x00\x1b[31m\x07",
    "markup": "<script>alert(1)</script>&amp;",
    "percent": "100%{x} \\LaTeX #_^&~",
    "underscore": "_nolegend_",
    "empty": "",
}


@pytest.mark.thorough
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_words_are_shown_and_do_nothing(text: str) -> None:
    brands = [text, "Acme"]
    known = FrameMetadata(
        {"n": ColumnMetadata(None, Availability(Status.PARTIAL, None, text))},
        ("brand",),
        (Source(text, text, f"engine={text}", fetched_at=text),),
    )
    frame = pd.DataFrame({"brand": brands, text or "empty": [text, "b"], "n": [1, 2]})
    drawn(attach(frame, known).aa.plot())
    drawn(attach(frame, known).aa.plot("bars", color="brand"))
    drawn(attach(frame, known).aa.plot("counts", x="brand", color=text or "empty"))
    drawn(pd.DataFrame({text or "empty": [1], "m": [2]}).aa.plot())
    grid = pd.DataFrame(list(itertools.product(brands, brands)), columns=["brand", "to"])
    drawn(grid.assign(n=range(4)).aa.plot("heatmap", x="to", color="brand", y="n"))
    days = pd.date_range("2026-01-01", periods=4)
    line = pd.DataFrame({"day": [*days, *days], "brand": sorted(brands * 4), "n": range(8)})
    drawn(line.aa.plot("line", x="day", y="n", color="brand"))


@pytest.mark.thorough
def test_users_style_settings_do_no_harm(overview: aa.Tables) -> None:
    with mpl.rc_context({"text.parse_math": True, "axes.grid": True, "figure.autolayout": True}):
        drawn(overview["overview_trend"].aa.plot())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "barz"}, ConfigurationError, "'bars'"),
        ({"palette": "no such"}, ConfigurationError, "is no colour.*color= draws a series"),
        ({"palette": ["#fff", 3]}, ConfigurationError, "is no colour"),
        ({"palette": []}, ConfigurationError, "is no colour"),
        ({"theme": "night"}, ConfigurationError, "auto, light and dark"),
        ({"facet": "engin"}, ColumnNotFound, "no such column"),
        ({"facet": "date", "x": "date"}, ConfigurationError, "already"),
        ({"facet": "date", "ax": Figure().subplots()}, ConfigurationError, "one"),
        ({"theme": "dark", "ax": Figure().subplots()}, ConfigurationError, "figure of ax="),
        ({"kind": "zzz"}, ConfigurationError, "heatmap"),
        ({"top": 0}, ConfigurationError, "from 1"),
        ({"top": 2.5}, ConfigurationError, "from 1"),
        ({"top": True}, ConfigurationError, "from 1"),
        ({"ax": "axes"}, ConfigurationError, "no matplotlib Axes"),
        ({"y": "mention_rat"}, ColumnNotFound, "'mention_rate'"),
        ({"x": "dates"}, ColumnNotFound, "'date'"),
        ({"by": "nowhere"}, ColumnNotFound, "no such column"),
        ({"y": "date"}, ArgumentError, "no numbers"),
        ({"kind": "funnel"}, AvailabilityError, "do not fit a picture"),
        ({"kind": "line", "x": "mention_rate"}, AvailabilityError, "do not fit a picture"),
    ],
)
def test_what_cannot_be_requested_is_refused(
    overview: aa.Tables, options: dict, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        overview["overview_trend"].aa.plot(**options)


def test_top_bounds_what_is_drawn_and_shows_what_is_left(whole: dict[str, aa.Dataset]) -> None:
    domains = whole["acme.example"]["domains"].main
    axes = domains.aa.plot(top=4)
    assert len(axes.get_yticklabels()) == 4
    assert f"first 4 of {len(domains)}" in words_of(axes)
    best = domains.nlargest(4, "citation_count")["source_domain"].tolist()
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert [label.partition(" (")[0] for label in labels] == best
    kinds = domains.set_index("source_domain")["domain_type"]
    marks = {"owned": "own", "competitor": "competitor"}
    for label, site in zip(labels, best, strict=True):
        assert label.partition(" (")[2].rstrip(")") == marks.get(kinds[site], ""), label


def test_it_draws_on_the_axes_given_and_touches_no_other_state(overview: aa.Tables) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    before = dict(mpl.rcParams)
    assert overview["overview_trend"].aa.plot(ax=left) is left
    assert left.get_title(loc="left") == "Mention rate by day"
    assert any("acme.example" in text.get_text() for text in left.texts)
    assert not right.lines
    drawn(left)
    assert dict(mpl.rcParams) == before


@pytest.mark.thorough
def test_pyplot_is_neither_needed_nor_loaded_and_importing_loads_no_matplotlib() -> None:
    code = (
        "import sys, aatoolkit, pandas as pd\n"
        "assert 'matplotlib' not in sys.modules\n"
        "ax = pd.DataFrame({'a': ['x'], 'n': [1]}).aa.plot()\n"
        "data, known = ax._repr_mimebundle_()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert known['image/png']['alt'] == ax.finding\n"
        "print(data['image/png'][:8], data['text/plain'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("iVBORw0K <Picture: ")


def luminance(colour: str) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot(parts, [0.2126, 0.7152, 0.0722]))


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def series() -> list:
    """Lines of six series, each of which has a style of its own."""
    days = pd.date_range("2026-01-01", periods=3).repeat(6)
    frame = pd.DataFrame({"day": days, "engine": [*"abcdef"] * 3, "n": range(18)})
    panel = frame.aa.plot("line", x="day", y="n", color="engine").panel
    return [mark for mark in panel.marks if mark.kind == "line"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_and_words_contrast_with_paper(theme: str) -> None:
    colours = counted([1, 2]).aa.plot(theme=theme).palette
    paper = colours["paper"]
    for mark in series():
        assert contrast(colours[mark.style.colour], paper) >= 3, mark.style
    assert contrast(colours["ink"], paper) >= 7
    assert contrast(colours["muted"], paper) >= 4.5, "also the edge of every bar"
    assert contrast(colours["hatch"], colours["lack"]) >= 2.9
    assert contrast(colours["grid"], paper) < 1.6, "lines stand back"


DEUTERANOPIA = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
PROTANOPIA = np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]])


def test_no_two_series_differ_by_colour_alone() -> None:
    colours = counted([1, 2]).aa.plot().palette
    for one, other in itertools.combinations([mark.style for mark in series()], 2):
        assert one.symbol != other.symbol
        assert one.dash != other.dash
        for sight in (np.eye(3), DEUTERANOPIA, PROTANOPIA):
            seen = [sight @ np.array(to_rgb(colours[mark.colour])) for mark in (one, other)]
            assert np.linalg.norm(seen[0] - seen[1]) > 0.15, (one, other)


def stacked(levels: list[str]) -> dict[str, object]:
    """The style of each level in bars of counts."""
    frame = pd.DataFrame({"engine": "a", "state": levels})
    return {
        words: mark.style
        for words, mark in frame.aa.plot("counts", x="engine", color="state").panel.legend
    }


def test_states_have_the_colour_of_what_they_mean_and_never_share_a_look() -> None:
    toned = stacked(["negative", "neutral", "positive"])
    others = stacked(["failed", "warning", "passed"])
    assert toned["positive"] == others["passed"]
    assert toned["negative"] == others["failed"]
    for levels in (["a", "b", "c"], ["improved", "allowed", "failed", "error", "x"]):
        looks = stacked(levels)
        assert len({*looks.values()}) == len(levels)


def test_hatched_is_what_was_not_measured_and_nothing_else(whole: dict[str, aa.Dataset]) -> None:
    words = {"not measured", "no number", "no value given"}
    for name in ("chats", "conversions", "crawlability", "perception", "impact"):
        for frame in whole["acme.example"][name].values():
            axes = frame.aa.plot()
            hatched = [patch for patch in axes.patches if patch.get_hatch()]
            assert not hatched or words & {*words_of(axes).split("\n")}, axes.finding


def test_the_kinds_are_those_of_the_documentation() -> None:
    doc = pd.DataFrame.aa.plot.__doc__
    with pytest.raises(ConfigurationError, match="there are ") as caught:
        counted([1, 2]).aa.plot("zzzzzzzz")
    kinds = str(caught.value).partition("there are ")[2].split(", ")
    assert len(kinds) > 20
    assert all(f"``{kind}``" in doc for kind in kinds)


def test_a_day_is_never_without_its_month(overview: aa.Tables) -> None:
    axes = overview["overview_trend"].aa.plot()
    assert drawn(axes)
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert len(labels) > 2
    assert all(re.fullmatch(r"[0-9]{2} [A-Z][a-z]{2}", label) for label in labels), labels
    assert "2026" in words_of(axes).split("\n")


# --- titles, ticks and room -----------------------------------------------------------------


def counted(numbers: list[float | None]) -> pd.DataFrame:
    words = [f"site {at:02}" for at in range(len(numbers))]
    return pd.DataFrame({"site": words, "n": pd.array(numbers, dtype="Float64")})


def test_the_first_bars_are_the_top_of_what_was_measured() -> None:
    frame = counted([*map(float, range(25)), None, None, None, None])
    axes = frame.aa.plot(kind="bars", y="n")
    shown = [text.get_text() for text in axes.get_yticklabels()]
    assert shown[:15] == [f"site {at:02}" for at in range(24, 9, -1)]
    assert shown[15:] == ["site 25", "site 26", "site 27"]
    assert "the first 15 of 25" in axes.finding
    assert "4 not measured" in axes.finding


@pytest.mark.parametrize("kind", ["bars", "counts", "line"])
def test_ticks_of_small_counts_are_whole_numbers(kind: str) -> None:
    frame = counted([1, 2, 1])
    if kind == "line":
        frame = frame.assign(day=pd.date_range("2026-01-01", periods=3)).drop(columns="site")
    elif kind == "counts":
        frame = pd.DataFrame({"chat": [1, 2, 3], "engine": ["a", "a", "b"]})
    axes = frame.aa.plot(kind=kind, x="engine" if kind == "counts" else None)
    axes.figure.draw_without_rendering()
    ticks = axes.get_yticks() if kind == "line" else axes.get_xticks()
    assert len(ticks) > 1
    assert all(float(tick).is_integer() for tick in ticks)


def test_on_other_axes_the_legend_leaves_the_title_free() -> None:
    days = pd.date_range("2026-01-01", periods=4).repeat(2)
    frame = pd.DataFrame({"day": days, "engine": ["a", "b"] * 4, "n": range(8)})
    figure = Figure(figsize=(5, 3))
    axes = figure.subplots()
    frame.aa.plot(kind="line", x="day", y="n", color="engine", ax=axes)
    figure.draw_without_rendering()
    legend, title = axes.get_legend(), axes.get_title(loc="left")
    assert title
    box = axes._left_title.get_window_extent()
    assert not box.overlaps(legend.get_window_extent())


def test_markers_at_the_edges_are_drawn_whole() -> None:
    frame = pd.DataFrame({"day": pd.date_range("2026-01-01", periods=3), "n": [0, 1, 0]})
    (line,) = frame.aa.plot(kind="line").get_lines()
    assert not line.get_clip_on()


def test_a_title_and_a_size_can_be_given() -> None:
    axes = counted([1, 2]).aa.plot(title="Mine <b>\u202e", figsize=(4, 2.5))
    assert axes.figure.get_suptitle() == "Mine <b>\\u202e"
    assert tuple(axes.figure.get_size_inches()) == (4, 2.5)
    for size in [(0, 1), (1,), "large", (float("nan"), 1), (1, 1000)]:
        with pytest.raises(ConfigurationError, match="figsize"):
            counted([1, 2]).aa.plot(figsize=size)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="ax="):
        counted([1, 2]).aa.plot(figsize=(4, 3), ax=Figure().subplots())


# --- panels, themes, points, verdicts -------------------------------------------------------


def test_panels_are_labelled_and_have_one_scale() -> None:
    days = pd.date_range("2026-01-01", periods=4)
    frame = pd.DataFrame({"day": [*days, *days], "engine": ["a"] * 4 + ["b"] * 4, "n": range(8)})
    axes = frame.aa.plot("line", x="day", y="n", facet="engine")
    panels = axes.figure.axes
    assert [panel.panel.heading for panel in panels] == ["engine: a", "engine: b"]
    assert len({panel.get_ylim() for panel in panels}) == 1
    assert axes.finding.startswith("N by day and engine: a: ")
    assert drawn(axes)


@pytest.mark.thorough
def test_hosts_of_one_frame_are_never_added_up(client: aa.Client) -> None:
    collected = client.collect(HOSTS[:2], sections=["domains"], progress=False)
    both = collected.concat("domains")
    domains = [both[both["host"] == host] for host in HOSTS[:2]]
    for axes in (both.aa.plot(top=3), both.aa.plot(x="domain_type", y="citation_count")):
        titles = [panel.panel.heading for panel in axes.figure.axes]
        assert titles == [*HOSTS[:2]]
    most = [float(frame["citation_count"].max()) for frame in domains]
    widths = [max(bar.get_width() for bar in p.patches) for p in both.aa.plot(top=3).figure.axes]
    assert widths == most
    untold = aa.concat([frame.drop(columns="host") for frame in domains])
    with pytest.raises(AvailabilityError, match=r"tells the hosts apart; add df\.aa\.with_context"):
        untold.aa.plot(top=3)


def test_rows_left_over_by_a_filter_are_those_that_were_read(whole: dict[str, aa.Dataset]) -> None:
    prompts = whole["acme.example"]["prompts"].main
    some = prompts[prompts["intent"] == "commercial"]
    axes = some.aa.plot(x="topic", y="mention_rate")
    rates = some.aa.aggregate("topic", "mention_rate", skip_missing=True)["mention_rate"]
    widths = sorted(bar.get_width() for bar in axes.patches if not bar.get_hatch())
    assert [w for w in widths if w] == pytest.approx(sorted(rates[rates > 0].astype(float)))


def test_a_dark_picture_is_dark_and_legible(overview: aa.Tables) -> None:
    engines = overview["overview_engines"]
    for axes in (engines.aa.plot(theme="dark"), overview["overview_trend"].aa.plot(theme="dark")):
        paper = mpl.colors.to_hex(axes.figure.get_facecolor())
        assert luminance(paper) < 0.05
        for text in [*axes.get_yticklabels(), *axes.get_xticklabels(), axes.figure._suptitle]:
            assert contrast(mpl.colors.to_hex(text.get_color()), paper) >= 4.5, text
        for patch in axes.patches:
            face = mpl.colors.to_hex(patch.get_facecolor())
            assert patch.get_hatch() or not patch.get_width() or contrast(face, paper) >= 3
    with mpl.rc_context({"figure.facecolor": "black"}):
        assert luminance(mpl.colors.to_hex(engines.aa.plot().figure.get_facecolor())) < 0.05


def test_a_theme_is_set_once_for_a_dark_notebook(overview: aa.Tables) -> None:
    aa.set_theme("dark")
    try:
        axes = overview.main.aa.plot()
        assert luminance(mpl.colors.to_hex(axes.figure.get_facecolor())) < 0.05
        light = overview.main.aa.plot(theme="light")
        assert luminance(mpl.colors.to_hex(light.figure.get_facecolor())) > 0.9
    finally:
        aa.set_theme("auto")
    with pytest.raises(ConfigurationError, match="auto, light, dark"):
        aa.set_theme("night")


def test_each_host_has_its_own_mark_in_its_own_panel(client: aa.Client) -> None:
    hosts = (*HOSTS[:2], "globex.example")
    collected = client.collect(hosts, sections=["domains"], progress=False)
    panels = collected.concat("domains").aa.plot(top=5).spec.panels
    assert [panel.heading for panel in panels] == [*hosts]
    own = [[name.text for name in panel.y.names if name.of == "own"] for panel in panels]
    assert all(names in ([], [host]) for names, host in zip(own, hosts, strict=True)), own
    assert any(own)


def test_leaders_are_ranked_by_the_number_that_the_title_names(
    whole: dict[str, aa.Dataset],
) -> None:
    board = whole["acme.example"]["ranking"].main
    axes = board.aa.plot()
    assert axes.finding.startswith("Share of voice and previous share of voice by brand")
    shares = axes.data["share_of_voice"].dropna()
    assert shares.is_monotonic_decreasing


def test_colours_are_those_given(overview: aa.Tables) -> None:
    axes = overview["overview_top_brands"].aa.plot(palette="#7d4f8e")
    faces = [mpl.colors.to_hex(bar.get_facecolor()) for bar in axes.patches]
    assert faces.count("#7d4f8e") == 1
    trend = overview["overview_trend"]
    lines = trend.aa.plot(y=["mention_rate", "share_of_voice"], palette=["red", "green"]).lines
    assert [to_rgb(line.get_color()) for line in lines] == [to_rgb("red"), to_rgb("green")]


def test_a_scatter_has_the_rows_with_both_numbers_and_counts_the_others() -> None:
    frame = pd.DataFrame({"who": list("abc"), "n": [1, 2, 3], "m": [4.0, None, 6.0]})
    axes = frame.aa.plot(kind="scatter", x="n", y="m")
    points = [tuple(map(float, p)) for line in axes.lines for p in line.get_xydata()]
    assert points[:2] == [(3.0, 6.0), (1.0, 4.0)]
    assert "1 rows lack one of the two" in axes.finding
    assert frame.aa.plot(x="n", y="m").kind == "scatter"


def test_a_few_rows_of_words_are_verdicts_and_text_is_left_to_a_table(
    whole: dict[str, aa.Dataset],
) -> None:
    tables = whole["acme.example"]
    files = tables["crawlability"]["crawlability_files"]
    axes = files.aa.plot()
    assert axes.kind == "verdicts"
    assert f"{files['file'].iloc[0]}: present " in axes.finding
    steps = tables["actions"]["action_steps"]
    assert steps.aa.plot().kind == "table"
    assert steps["text"].iloc[0] in words_of(steps.aa.plot())


def test_absent_rows_and_unmeasured_cells_look_different() -> None:
    frame = pd.DataFrame(
        {"who": ["a", "a", "b"], "to": ["x", "y", "x"], "n": pd.array([1, None, 3], "Int64")}
    )
    axes = frame.aa.plot("heatmap", x="to", color="who", y="n")
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["no value given", "not listed"]
    (hatched,) = [p for p in axes.patches if p.get_hatch() == "...."]
    assert (hatched.get_x(), hatched.get_y()) == (0.5, 0.5)
    (marks,) = axes.lines
    assert marks.get_xydata().tolist() == [[1.0, 0.0]]


def test_zeros_beyond_a_few_are_counted_not_drawn() -> None:
    axes = counted([5, 3, *[0] * 20]).aa.plot(kind="bars", y="n")
    assert len(axes.get_yticklabels()) == 5
    assert "17 others are 0" in axes.finding
    assert len(counted([5, 3, *[0] * 5]).aa.plot(kind="bars", y="n").get_yticklabels()) == 7


def test_time_with_by_is_lines_and_days_are_named_by_their_step() -> None:
    days = pd.date_range("2026-01-05", periods=3, freq="7D")
    rows = [(day, engine, n) for day in days for n, engine in enumerate("abcde")]
    frame = pd.DataFrame(rows, columns=["bucket_start", "engine", "n"])
    axes = frame.aa.plot(x="bucket_start", y="n", color="engine")
    assert axes.kind == "line"
    assert len(axes.get_legend().get_texts()) == 5
    assert axes.finding.startswith("N by week and engine")


def test_letters_that_no_font_has_cost_one_warning() -> None:
    frame = pd.DataFrame({"who": ["\U00012000 x", "\U00012001 y"], "n": [1, 2]})
    with pytest.warns(aa.errors.AAToolkitWarning, match="no installed font") as caught:
        frame.aa.plot()
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_hatches_tell_not_measured_from_no_value_and_from_nothing_to_place() -> None:
    places = pd.DataFrame(
        {
            "brand": ["a", "b", "c"],
            "mention_count": pd.array([4, 0, 2], "Int64"),
            "average_position": pd.array([1.5, None, None], "Float64"),
        }
    )
    known = FrameMetadata(
        columns={
            name: ColumnMetadata(f"overview_top_brands.{name}", Availability(Status.AVAILABLE))
            for name in places
        },
        key=("brand",),
    )
    axes = attach(places, known).aa.plot("bars", y="average_position")
    words, looks = row_words(axes), row_looks(axes)
    assert (words["b"], looks["b"]) == ("not mentioned", "empty")
    assert (words["c"], looks["c"]) == ("no value given", "dotted")
    assert "...." in {patch.get_hatch() for patch in axes.patches}


def test_rows_are_named_by_their_title_and_metrics_are_figures_on_any_service() -> None:
    body = {
        "prompts": [{"id": f"p{n}", "prompt": f"best crm {n}", "seen": n} for n in range(1, 5)],
    }
    section = aa.sections.propose(body, "mine").section
    axes = aa.normalize(section, json.dumps(body)).main.aa.plot("bars", y="seen")
    assert "best crm 4 4, down to best crm 1 1" in axes.finding
    assert "#" not in axes.finding
    metrics = pd.DataFrame({"metric": ["mentionRate", "answers"], "value": [0.5, 12.0]})
    assert metrics.aa.plot("figures").kind == "figures"


def test_equal_numbers_of_a_pair_are_both_seen_and_have_no_sign() -> None:
    frame = pd.DataFrame({"brand": ["a", "b"], "rate": [0.5, 0.0], "previous_rate": [0.5, 0.0]})
    axes = frame.aa.plot("gap", x="brand", y=["previous_rate", "rate"])
    assert {line.get_marker() for line in axes.lines[-1:]} == {"o"}
    assert axes.get_xlim()[0] < 0
