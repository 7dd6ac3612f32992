"""What holds of every kind of picture: finding, rows, tips, both renderers, room for its words."""

from __future__ import annotations

import base64
import functools
import io
import json
import re
import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from carried import described
from foreign import proposed
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from PIL import Image
from prompts import RULES
from serving import shared_client, shared_dataset

import aatoolkit as aa
from aatoolkit.errors import ArgumentError

Draw = Callable[..., Any]


def table(section: str, name: str = "", **options: Any) -> Draw:
    """The picture of a table of the service."""

    def draw(**more: Any) -> Any:
        tables = shared_dataset()[section]
        return (tables[name] if name else tables.main).aa.plot(**options, **more)

    return draw


def result(verb: Callable[[], pd.DataFrame]) -> Draw:
    """The picture of a result of statistics."""
    computed = functools.cache(verb)
    return lambda **options: computed().aa.plot(**options)


@functools.cache
def answers() -> pd.DataFrame:
    return aa.stats.answers(shared_client().project("acme.example").read("chats", days=30))


def halves(verb: str, **options: Any) -> pd.DataFrame:
    late = answers()["date"] >= pd.Timestamp("2026-11-06")
    return getattr(answers()[late].aa, verb)(answers()[~late], "mentioned", **options)


def cited() -> pd.DataFrame:
    chats = shared_client().project("acme.example").read("chats", days=30)
    rows = chats["chat_citations"].query("cited")
    return rows.aa.merge(chats["chats"][["chat_id", "prompt_id", "engine"]], on="chat_id")


def daily() -> pd.DataFrame:
    days = pd.date_range("2026-01-01", periods=60)
    hits = np.random.default_rng(1).binomial(20, [0.2] * 30 + [0.6] * 30)
    frame = pd.DataFrame({"date": days, "hits": hits, "runs": 20, "rate": hits / 20})
    return frame.aa.changes("rate", rules=RULES)


def effect() -> pd.DataFrame:
    return aa.stats.effect(answers(), "2026-11-05", [*answers()["prompt_id"].unique()[:10]])


def ranks() -> pd.DataFrame:
    return cited().assign(one=1).aa.rank("one", "source_domain", rules={"one": "sum"})


KINDS: dict[str, Draw] = {
    "bars": table("overview", "overview_engines"),
    "gap": table("ranking"),
    "figures": table("overview"),
    "shares": table("perception"),
    "counts": table("chats"),
    "verdicts": table("crawlability", "crawlability_bot_access"),
    "table": table("actions", "action_steps"),
    "empty": lambda **options: shared_dataset("initech.example")["crawl"].main.aa.plot(**options),
    "line": table("conversions", "conversion_daily", kind="line", y="sessions"),
    "heatmap": table("ranking", "ranking_history"),
    "comparison": result(lambda: halves("compare", by="engine")),
    "decomposition": result(lambda: halves("decompose")),
    "ranks": result(ranks),
    "overlap": result(lambda: cited().aa.overlap("source_domain")),
    "effect": result(effect),
    "concentration": result(
        lambda: shared_dataset()["domains"]["source_domain_engines"].aa.concentration(
            "citation_count", by="engine"
        )
    ),
    "samples": result(lambda: aa.stats.samples(rate=0.3, margin=0.05, icc=0.3)),
    "changes": result(daily),
}
FINDINGS = {
    "gap": "Share of voice and previous share of voice by brand: Acme CRM: share of voice ",
    "line": "chatgpt: 2026-10-22 sessions ",
    "heatmap": "Acme CRM: 2026-10-22 rank ",
    "comparison": "Nothing is shown to have changed",
    "effect": "effect of 2026-11-05: ",
    "samples": "1: 326 in 326 prompts",
    "changes": "When the rate changed: 2026-01-3",
    "empty": "Not measured. ",
    "table": "Action Get listed on reviews.example, Text ",
}
"""What pictures say, of those of which no other test does."""


def drawn(axes: Any) -> bytes:
    """The picture's bytes, drawn with every warning an error."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes.figure.savefig(buffer, format="png", dpi=72)
    return buffer.getvalue()


def written(figure: Figure) -> list[tuple[str, Any]]:
    """The texts that are seen, and their places; none is over another."""
    figure.draw_without_rendering()
    boxes = [(t.get_text(), t.get_window_extent()) for t in figure.findobj(mpl.text.Text)
             if t.get_text().strip() and t.get_visible()]  # fmt: skip
    for (text, a), (other_text, b) in combinations(boxes, 2):
        across, up = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert across < 2 or up < 0.34 * min(a.height, b.height), (text, other_text)
    return boxes


def luminance(colour: str) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot(parts, [0.2126, 0.7152, 0.0722]))


def contrast(colour: str, other: str) -> float:
    dark, light = sorted((luminance(colour), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_says_what_it_shows_and_where_it_is_from(kind: str) -> None:
    axes = KINDS[kind]()
    assert axes.kind == kind
    assert FINDINGS.get(kind, "") in axes.finding
    title = axes.figure.get_suptitle().replace("\n", " ")
    assert title in (axes.spec.headline, axes.spec.title_with_extent)
    assert "\n" not in axes.figure.get_supxlabel(), "the caption is one line"
    assert all(axes.spec.caption)
    assert str(axes) == f"<Picture: {axes.finding}>"
    data, metadata = axes._repr_mimebundle_()
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).convert("L"))
    assert (image < 128).mean() > 0.002, "the picture is not blank"
    assert metadata["image/png"]["alt"] == axes.finding


@pytest.mark.parametrize("kind", KINDS)
def test_marks_have_tips_and_explanations(kind: str) -> None:
    axes = KINDS[kind]()
    for mark in axes.spec.marks:
        assert len(mark.tooltips) in (0, len(mark))
    told = [mark for mark in axes.spec.marks if mark.tooltips]
    assert told or kind in ("table", "empty", "verdicts", "figures")
    tips = [tip for mark in told for tip in mark.tooltips]
    assert all(tips)
    assert not [tip for tip in tips if "nothing to count" in tip and "0%" in tip]
    if kind not in ("table", "empty", "counts", "stages"):
        assert axes.explain().column == axes.spec.columns[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_interactive_form_has_the_same_marks_and_words(kind: str) -> None:
    axes, figure = KINDS[kind](), KINDS[kind](interactive=True)
    assert figure.layout.meta == {"kind": kind, "finding": axes.finding}
    notes = " ".join(note.text.replace("<br>", " ") for note in figure.layout.annotations)
    assert (axes.spec.headline or axes.spec.title) in notes.replace("&gt;", ">")
    boxes = sum(len(mark) for mark in axes.spec.marks if mark.kind == "boxes")
    assert sum(len(trace.x) for trace in figure.data if trace.type == "bar") == boxes
    for trace in figure.data:
        assert trace.hoverinfo == ("text" if len(trace.hovertext) else "skip")
    json.loads(figure.to_json())
    assert figure.layout.xaxis.unifiedhovertitle.text == (axes.spec.x.label or " ")
    highest = max(note.y for note in figure.layout.annotations if note.yref == "paper")
    assert (1 - highest) * figure.layout.height >= 30, "the tool bar covers nothing"


SIZES = {"usual": None, "small": (3, 2), "narrow": (3.3, 5), "wide": (16, 9)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_words_neither_meet_nor_are_cut(kind: str, size: str) -> None:
    axes = KINDS[kind](**({"figsize": SIZES[size]} if SIZES[size] else {}))
    edges, texts = axes.figure.bbox, written(axes.figure)
    assert axes.spec.extent_text in " ".join(words for words, _ in texts).replace("\n", " ")
    assert min(text.get_fontsize() for text in axes.figure.findobj(mpl.text.Text)) >= 6.5
    for words, box in texts:
        assert box.x0 >= edges.x0 - 1, words
        assert box.x1 <= edges.x1 + 1, words
        assert box.y0 >= edges.y0 - 1, words
        assert box.y1 <= edges.y1 + 1, words


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_on_axes_of_ones_own_a_picture_keeps_to_its_cell(style: str) -> None:
    import matplotlib.pyplot as plt

    before, numbers = dict(plt.rcParams), plt.get_fignums()
    for kinds in (("figures", "counts", "line"), ("bars", "heatmap", "gap")):
        with plt.style.context(style):
            figure = Figure(figsize=(15, 4), layout="constrained")
            for axes, kind in zip(figure.subplots(1, 3), kinds, strict=True):
                assert KINDS[kind](ax=axes) is axes
                assert axes.finding
            assert written(figure)
    assert (dict(plt.rcParams), plt.get_fignums()) == (before, numbers)


@pytest.mark.parametrize("kind", ["bars", "line", "heatmap", "gap"])
def test_axes_can_be_titled(kind: str) -> None:
    axes = KINDS[kind]()
    axes.set_xlabel("Share")
    axes.set_ylabel("Topic")
    written(axes.figure)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_and_words_contrast_with_their_paper(theme: str) -> None:
    with aa.set_theme(theme):
        pictures = [KINDS[kind]() for kind in ("bars", "counts", "line", "verdicts", "gap")]
        pictures.append(table("crawlability", "crawlability_page_assistants")())
    assert (luminance(to_hex(KINDS["bars"]().figure.get_facecolor())) < 0.05) is False
    palette = pictures[0].palette
    zero, nothing = (np.array(to_rgb(palette[name])) for name in ("ramp/0", "lack"))
    assert np.linalg.norm(zero - nothing) > 0.2, "a zero is not what is not listed"
    for axes in pictures:
        paper = to_hex(axes.figure.get_facecolor())
        assert (luminance(paper) < 0.05) == (theme == "dark")
        for text in [*axes.get_yticklabels(), *axes.get_xticklabels(), axes.figure._suptitle]:
            assert contrast(to_hex(text.get_color()), paper) >= 4.5, text
        for mark in axes.spec.marks:
            if mark.style.fill not in ("hatched", "dotted", "empty") and mark.tooltips:
                assert contrast(axes.palette[mark.style.colour_key], paper) >= 3, mark.style
    with pytest.raises(ArgumentError, match="no theme 'night'; did you mean"):
        aa.set_theme("night")


DEUTERANOPIA = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
PROTANOPIA = np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]])


def test_series_differ_by_more_than_colour_and_engines_keep_theirs() -> None:
    days = pd.date_range("2026-01-01", periods=3).repeat(6)
    names = ["chatgpt", "claude", "gemini", "copilot", "perplexity", "google-ai-overview"]
    frame = pd.DataFrame({"day": days, "engine": names * 3, "n": range(18)})

    def styles(rows: pd.DataFrame) -> dict[str, Any]:
        panel = rows.aa.plot("line", x="day", y="n", color="engine").spec
        return {name: style for _, name, style in panel.line_labels}

    every = styles(frame)
    assert styles(frame[frame["engine"].isin(["gemini", "claude"])]).items() <= every.items()
    bars = frame.tail(6).aa.plot("bars", x="engine", y="n").spec
    assert {mark.style.colour for mark in bars.marks if mark.tooltips} == {
        style.colour for style in every.values()
    }
    colours = frame.aa.plot("line", x="day", y="n", color="engine").palette
    for first, second in combinations(every.values(), 2):
        assert first.symbol != second.symbol
        assert first.dash != second.dash
        for sight in (np.eye(3), DEUTERANOPIA, PROTANOPIA):
            seen = [sight @ np.array(to_rgb(colours[style.colour])) for style in (first, second)]
            assert np.linalg.norm(seen[0] - seen[1]) > 0.15, (first, second)


def test_an_engine_that_no_list_names_has_a_colour_of_its_own_in_every_picture() -> None:
    frame = pd.DataFrame({"engine": ["chatgpt", "google-ai-mode", "grok-web"], "n": [3, 2, 1]})

    def colours(rows: pd.DataFrame) -> dict[str, str]:
        spec = rows.aa.plot("bars", x="engine", y="n").spec
        boxes = [mark for mark in spec.marks if mark.kind == "boxes"]
        return {
            spec.y.category_names[int(y)].text: mark.style.colour for mark in boxes for y in mark.y
        }

    every = colours(frame)
    assert len({*every.values(), "rest"}) == 4
    assert all(colours(frame.iloc[[at]]).items() <= every.items() for at in range(3))
    days = frame.tail(1).assign(day=pd.Timestamp("2026-01-01"))
    (line,) = days.aa.plot("line", x="day", y="n", color="engine").spec.marks
    assert line.style.colour == every["grok-web"]


HOSTILE = {
    "mathematics": "$\\frac{1}{0}$ costs $5, $x_{",
    "long": "x" * 5000,
    "lines": "a\nb\r\nc\td",
    "clauses": "a, " * 2000,
    "right to left": "\u202eevil\u202c שלום مرحبا",
    "emoji": "🚀 rocket 🇩🇪",
    "markup": "<script>alert(1)</script>&amp;\x00\x1b[31m\x07",
    "percent": "100%{x} \\LaTeX #_^&~",
    "underscore": "_nolegend_",
    "empty": "",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_words_are_shown_and_do_nothing(text: str) -> None:
    days = pd.date_range("2026-01-01", periods=4).repeat(2)
    frame = pd.DataFrame({"day": days, "brand": [text, "Acme"] * 4, "to": [*"abcd"] * 2})
    frame = frame.assign(n=range(8), m=range(8, 0, -1))
    frame[text or "other"] = text
    first = frame.head(2)
    for rows, arguments in (
        (first, {"kind": "bars", "x": "brand", "y": "n"}),
        (first, {"kind": "gap", "x": "brand", "y": ["n", "m"]}),
        (frame, {"kind": "counts", "x": "brand", "color": "to"}),
        (frame, {"kind": "line", "x": "day", "y": "n", "color": "brand"}),
        (frame, {"kind": "heatmap", "x": "to", "color": "brand", "y": "n"}),
        (frame[["brand", text or "other"]], {}),
    ):
        rows = rows if arguments.get("kind") != "heatmap" else rows.drop_duplicates(["brand", "to"])
        drawn(rows.aa.plot(**arguments))
        figure = rows.aa.plot(**arguments, interactive=True)
        words = [note.text for note in figure.layout.annotations]
        words += [tip for trace in figure.data for tip in np.ravel(trace.hovertext or [])]
        assert not [word for word in words if "<script" in word or "$" in word]


def test_intervals_are_on_the_scale_and_codes_are_no_measures() -> None:
    spec = shared_dataset()["overview"]["overview_engines"].aa.plot().spec
    assert spec.x.high == pytest.approx(1.02 * spec.interval_frame["mention_rate_high"].max())
    assert [m.style.colour for m in spec.marks if m.kind == "line"] == ["paper", "ink"] * 4
    pages = pd.DataFrame(
        {"page": ["a", "b"], "prompt_id": [12001, 12002], "cap": 9, "hits": [3, 4]}
    )
    assert [*pages.aa.plot().spec.columns] == ["hits"]


def test_codes_have_no_separators() -> None:
    pages = pd.DataFrame({"page": [*"ab"], "status_code": [2000.0, None], "note": [*"cd"]})
    assert "Status code 2000" in pages.aa.plot().finding


def test_a_finding_has_the_rows_in_the_order_of_the_picture() -> None:
    spec = shared_dataset()["overview"]["overview_top_brands"].aa.plot().spec
    names = [name.full_text for name in spec.y.category_names]
    places = [spec.finding.index(f"{name}: mention count") for name in names]
    assert places == sorted(places)
    assert any(name.is_own for name in spec.y.category_names[:-1])
    gap = shared_dataset()["ranking"]["ranking_leaderboard"].aa.plot()
    assert re.search(r"Globex: share of voice [0-9.]+%, previous share of voice", gap.finding)


def test_counts_that_do_not_add_up_have_a_bar_for_each_pair() -> None:
    rows = [
        {"url": f"https://s{page}.example/a", "prompt": f"which tool {(5 * page + n) % 24}?",
         "citation_count": page + n}
        for page in range(24) for n in range(2)
    ]  # fmt: skip
    spec = proposed({"rows": rows}, "found")["found"].main.aa.plot().spec
    assert (spec.kind, spec.title) == ("bars", "Citation count by URL and prompt")
    assert spec.y.category_names[0].text == "s23.example/a · which tool 20?"


def test_foreign_pages_are_grey_and_those_below_the_host_are_own() -> None:
    pages = shared_dataset()["urls"]["cited_urls"][["url", "citation_count"]]
    foreign = pages[~pages["url"].str.contains("acme.example")].aa.plot().spec
    assert {mark.style.colour for mark in foreign.marks if mark.kind == "boxes"} == {"rest"}
    sites = shared_dataset()["domains"].main[["source_domain", "citation_count"]]
    spec = sites.assign(brand=None).aa.plot(top=99).spec
    own = {name.text for name in spec.y.category_names if name.is_own}
    assert own == {"acme.example", "help.acme.example"}
    brands = pd.DataFrame({"brand": ["A", "B & Co."], "own": [True, False], "n": [1, 2]})
    names = brands.aa.plot(x="brand", y="n").spec.y.category_names
    assert [(name.text, name.is_own) for name in names] == [("B & Co.", False), ("A", True)]


def test_a_word_that_several_identifiers_share_is_no_title() -> None:
    rows = pd.DataFrame({"engine_id": ["chatgpt", "gemini"], "engine": "rows", "n": [2, 1]})
    assert [name.text for name in rows.aa.plot(x="engine_id", y="n").spec.y.category_names] == [
        "chatgpt", "gemini",
    ]  # fmt: skip


def test_whiskers_and_bands_are_explained_also_where_room_is_short() -> None:
    small = shared_dataset()["prompts"]["prompt_engines"].aa.plot(figsize=(3, 2))
    assert "Lines: 95% interval" in " ".join(text.text for text in small.layout.texts)
    days = pd.date_range("2026-10-05", periods=4, freq="7D").repeat(2)
    frame = pd.DataFrame({"date": days, "engine": ["gemini", "claude"] * 4, "mention_count": 8,
                          "answer_count": 20, "mention_rate": 0.4})  # fmt: skip
    rates = described(frame, "overview_trend", key=("date", "engine"))
    spec = rates.aa.plot("line", x="date", y="mention_rate", color="engine").spec
    assert not [mark for mark in spec.marks if mark.kind == "band"]
    assert spec.reading_note.startswith("Up to ±")


def test_headings_of_many_columns_have_several_lines() -> None:
    metrics = {
        "httpStatus": "code", "wordCount": "words", "scriptOnlyTextPct": "%", "ttfbMs": "ms",
        "htmlBytes": "bytes", "innerLinks": "count", "outerLinks": "count", "images": "count",
        "hasStructuredData": "bool",
    }  # fmt: skip
    rows = [
        {"page": f"/p{page}", "metric": name, "value": "true" if unit == "bool" else "12",
         "unit": unit}
        for page in range(3) for name, unit in metrics.items()
    ]  # fmt: skip
    axes = proposed({"rows": rows}, "found")["found"].main.aa.plot()
    headings = [text.text for text in axes.layout.texts]
    assert "HTTP\nstatus" in headings
    headings = [heading.replace("\n", " ") for heading in headings]
    assert {column.heading for column in axes.spec.text_columns} < {*headings}
    assert axes.spec.text_columns[-1].texts[0] == "yes"


def test_pictures_of_drafts_show_what_tells_rows_apart() -> None:
    prompts = [
        {"prompt": f"which {page}?", "engine": engine, "runs": 30, "share": (7 * page + n) / 90}
        for page in range(9) for n, engine in enumerate(("gemini", "claude"))
    ]  # fmt: skip
    spec = proposed({"rows": prompts}, "found")["found"].main.aa.plot().spec
    assert (spec.kind, spec.title) == ("heatmap", "Share by prompt and engine")
    equal = pd.DataFrame({"page": [*"abc"], "hits": 7})
    assert equal.aa.plot().kind == "table"
    pages = pd.DataFrame(
        {"tone": ["TONE_GOOD", "TONE_BAD", "TONE_BAD"], "has_ads": [True, False, True],
         "prompt_ids": [1001, 1002, 1003]}
    )  # fmt: skip
    finding = pages.aa.plot(x="tone", color="has_ads").finding
    assert "2 with ads, 1 without ads; BAD: with ads 1" in finding
    assert "1001" in pages[["prompt_ids"]].aa.plot().finding
