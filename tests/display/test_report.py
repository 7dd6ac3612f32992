"""The report: one page that holds all it needs, runs nothing, and shows what was measured."""

from __future__ import annotations

import gc
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from foreign import proposed
from pages import HOSTILE, Page, hostile
from serving import shared_client

import aatoolkit as aa
from aatoolkit.errors import ArgumentError, NotWritten

SECTIONS = ("crawl", "domains", "ranking", "overview")


def page(dataset: aa.Dataset, rows: int, title: str | None = None) -> str:
    """The report of a dataset."""
    with TemporaryDirectory() as folder:
        return dataset.report(Path(folder, "page.html"), rows=rows, title=title).read_text("utf-8")


@pytest.fixture(scope="module")
def client() -> aa.Client:
    return shared_client(1500)


@pytest.fixture(scope="module")
def dataset(client: aa.Client) -> aa.Dataset:
    return client.project("acme.example").read_all(sections=SECTIONS, progress=False)


@pytest.fixture(scope="module")
def written(dataset: aa.Dataset) -> str:
    return page(dataset, 12)


def check_harmless(text: str) -> Page:
    """No element or attribute that runs, styles from outside, links or asks for anything."""
    read = Page(text)
    allowed = {"html", "head", "meta", "title", "style", "body", "main", "header", "nav", "section"}
    allowed |= {"footer", "h1", "h2", "p", "b", "ul", "li", "a", "div", "table", "caption", "thead"}
    allowed |= {"tbody", "tr", "th", "td", "small", "code", "bdi", "span", "details", "summary"}
    allowed |= {"figure", "svg", "path", "img", "dl", "dt", "dd", "wbr"}
    assert {tag for tag, _ in read.elements} <= allowed
    assert len(read.all("style")) == 1
    for tag, attributes in read.elements:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "src"):
                assert (value or "").startswith(("#", "data:image/svg+xml,"))
            if name == "style":
                assert "url(" not in (value or "").replace("url(#", "")
                assert "expression" not in (value or "")
    return read


def test_it_requests_nothing_and_runs_nothing(written: str) -> None:
    read = check_harmless(written)
    (policy,) = [m["content"] for m in read.all("meta") if "http-equiv" in m]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "script" not in policy
    assert not re.search(r"@import|src:|url\(\s*['\"]?(?!#|%23)", written)


def test_hostile_words_stay_words() -> None:
    text = page(hostile(), 20)
    read = check_harmless(text)
    page_text = "".join(read.text)
    for words in HOSTILE[:7]:
        assert words in page_text
    assert "\u202e" not in text
    assert "x" * 1000 not in text
    assert "&amp;lt;b&amp;gt;" in text


def test_it_opens_with_a_summary_and_goes_on_in_reading_order(
    dataset: aa.Dataset, written: str
) -> None:
    heads = re.findall(r"<h2 id=[^>]*>(.*?)</h2>", written)
    assert heads[0] == "Summary"
    assert heads[1:4] == ["Overview", "Brands and share of voice", "Cited domains"]
    assert heads[4:] == ["Visits of AI crawlers"]
    summary = written[: written.index('id="sections"')]
    figure = (
        r"<dt>{}</dt><dd><a href=\"#e[^>]*>{}</a><small>[+−][^<]*: (may|cannot)[^<]*</small><svg"
    )
    assert re.search(figure.format("Mention rate", "[0-9]+%"), summary)
    assert re.search(figure.format(r"Average position \(1 is best\)", r"[0-9.]+"), summary)
    assert re.search(r'<td class="number">[−+][0-9.]+ to [−+][0-9.]+ points</td>', summary)
    assert ".;" not in re.sub(r"<[^>]+>", "", summary)
    assert "is shown to have changed since the window before: what is seen may be" in summary
    assert "cannot be tested" in summary


def test_every_number_of_every_table_leads_to_its_evidence_and_back(written: str) -> None:
    sections = written[written.index('id="sections"') :]
    cells = re.findall(r'<td class="number">(.*?)</td>', sections)
    assert len(cells) > 300
    anchors = [re.match(r'<a href="#(e\d+-\d+-\d+-\d+)"', cell) for cell in cells]
    assert None not in anchors, "a number without evidence"
    there = {match[1] for match in anchors if match}
    identities = {*re.findall(r' id="([^"]+)"', written)}
    assert there <= identities
    rows = re.findall(r'<li><p><a href="#(r\d+-\d+-\d+)">', written)
    assert {*rows} <= identities
    assert {anchor.rpartition("-")[0] for anchor in there} <= {f"e{row[1:]}" for row in rows}
    summary = written[: written.index('id="sections"')]
    links = {*re.findall(r'href="#([ce]\d[^"]*)"', summary)}
    assert links
    assert links <= identities


def evidence_in(part: str, row: str) -> dict[str, str]:
    """The words of the evidence of a row, by the title of the number."""
    (entry,) = re.findall(rf'<li><p><a href="#r[^"]+">{re.escape(row)}</a>(.*?)</li>', part)
    numbers = re.findall(r'<span id="e[^"]+">(.*?)</span>', entry)
    words = [re.sub(r"<[^>]+>", "", number) for number in numbers]
    return {re.split(r" (?=[\d.]+\b|missing)", evidence)[0]: evidence for evidence in words} | {
        "": entry
    }


def test_the_evidence_names_the_bytes_of_the_answer(dataset: aa.Dataset, written: str) -> None:
    payload = dataset["ranking"].payload
    assert payload is not None
    part = written[written.index('id="s1"') : written.index('id="s2"')]
    (answer,) = re.findall(rf'<p id="(a[^"]+)">[^\n]*?<code>{payload.sha256}</code>', part)
    own = dataset["ranking"].main.query("own").iloc[0]
    tables = re.split(r"<details><summary>", part)
    leaderboard = next(caption for caption in tables if caption.startswith("Ranking leaderboard<"))
    evidence = evidence_in(leaderboard, own["brand"])
    assert f'<a href="#{answer}">the response</a>' in evidence[""]
    for title, column, key in (
        ("Mention count", "mention_count", "mentionCount"),
        ("Average position", "average_position", "averagePosition"),
    ):
        where = re.search(rf"“{key}”, bytes ([\d,]+) to ([\d,]+)", evidence[title])
        assert where is not None
        start, end = (int(number.replace(",", "")) for number in where.groups())
        assert float(payload.body[start:end]) == own[column]
    parts = f"{own['first_position_count']} / {own['position_count']}"
    rate = evidence["First position rate"]
    assert f"= first position count / position count = {parts}" in rate


def test_a_number_that_is_not_wholly_measured_leads_to_what_the_service_says() -> None:
    body = {
        "availability": {"status": "unavailable", "reason": "Claude was not asked."},
        "rows": [{"brand": "Acme", "engine": engine, "hitCount": None} for engine in ("a", "b")],
    }
    columns = (
        aa.Column("brand", "string"),
        aa.Column("engine", "string"),
        aa.Column("hit_count", "Int64"),
    )
    table = aa.Table("hits", "Hits.", aa.sections.records("rows"), ("brand", "engine"), columns)
    tables = aa.normalize(aa.Section("mine", "Mine.", table), json.dumps(body))
    text = page(aa.Dataset({"mine": tables}), 5)
    evidence = evidence_in(text, "b, Acme")
    assert "missing: the response holds null here" in evidence["Hit count"]
    assert "Claude was not asked" in evidence["Hit count"]


def test_no_name_of_code_is_shown(written: str) -> None:
    check_words(written)


def check_words(written: str) -> None:
    text = re.sub(r"<(style|svg).*?</\1>", "", written, flags=re.S)
    # An API's own keys stand in quotes, where a value is in its answer.
    text = re.sub(r"“[^”]*”|https?://\S+", "", re.sub(r"<[^>]+>", " ", text))
    assert re.findall(r"\b[a-z]\w*_\w+\b", text) == []
    assert re.findall(r"\b[a-z]+[a-z0-9]*[A-Z]\w*", text) == []
    assert re.findall(r"\$\.|\w\[\d*\]", text) == []


def test_a_section_that_nobody_described_is_in_plain_words_too() -> None:
    body = {"resultList": [{"brand": "Acme", "hit_count": 3, "sub": {"ratePct": 12.5}}]}
    text = page(proposed(body, "something_new"), 5)
    check_words(text)
    words = "".join(Page(text).text)
    assert "Something new" in words
    assert re.search(r"in the response:.*at “resultList” › entry 1 › “hit_count”, bytes", words)
    assert "From response of something new" in words


def test_a_service_with_names_of_its_own_has_a_page_that_says_what_is_lacking() -> None:
    body = {
        "pages": [{"link": "https://a.example/x", "hits": 3}],
        "prompts": [
            {"id": "p1", "topic": "crm", "text": "best crm", "seen": 4},
            {"id": "p2", "topic": "crm", "text": "cheap crm", "seen": 2},
        ],
    }
    text = page(proposed(body, "overview", "prompts"), 5)
    assert "No key figures; the sections say why, or have the numbers" in text
    assert "cannot be" in text
    assert '<th scope="row">cheap crm</th>' in text
    figures = {"kpis": [{"metric": m, "value": 9, "previous": 4} for m in ("answers", "visits")]}
    lacking = shared_client().project("newco.example").read_all(sections=["overview"])
    assert "No key figures; the sections" in page(lacking, 5)
    figures["period"] = {"from": "2026-10-10", "to": "2026-11-08"}
    text = page(proposed(figures, "overview"), 5)
    assert "9</a><small>+5: cannot be tested" in text
    assert '<p class="note">2026-10-10 to 2026-11-08' in text


def test_every_picture_describes_what_it_shows(written: str) -> None:
    read = Page(written)
    pictures = read.all("img")
    assert len(pictures) == 4
    for picture in pictures:
        assert picture["alt"]
        drawn = unquote((picture["src"] or "").partition(",")[2])
        assert ElementTree.fromstring(drawn).tag.endswith("svg")
        assert "prefers-color-scheme: dark" in drawn
    identities = [a["id"] for _, a in read.elements if a.get("id")]
    assert len(identities) == len({*identities}), "an id stands for one thing"
    assert {*re.findall(r'<a[^>]* href="#([^"]+)"', written)} <= {*identities}


def test_sizes_of_samples_are_in_the_table_and_leave_its_narrow_picture_room() -> None:
    prompts = shared_client().project("acme.example").read("prompts")
    assert "(n=" not in page(aa.Dataset({"mine": prompts}), 5)


def test_tables_have_captions_heads_and_show_how_many_rows_are_shown(
    dataset: aa.Dataset, written: str
) -> None:
    read = Page(written)
    assert len(read.all("caption")) == len(read.all("table"))
    assert all(head.get("scope") for head in read.all("th"))
    assert f"first 12 of {len(dataset['domains'].main):,} rows" in "".join(read.text)
    assert "all rows" in "".join(read.text)
    few = Page(page(aa.Dataset({"domains": dataset["domains"]}), 3, title="For <us>"))
    assert "".join(few.text).split("How AI")[0].endswith("For <us>")
    assert f"first 3 of {len(dataset['domains'].main):,} rows" in "".join(few.text)


def test_a_missing_value_is_a_dash_and_a_zero_is_a_zero(dataset: aa.Dataset) -> None:
    trend = dataset["overview"]["overview_trend"]
    quiet = trend[trend["answer_count"] == 0]
    assert len(quiet)
    text = page(aa.Dataset({"overview": dataset["overview"]}), 100)
    (row,) = re.findall(rf"<tr[^>]*><th[^>]*>{quiet['date'].iloc[0]:%Y-%m-%d}</th>(.*?)</tr>", text)
    assert "0" in re.findall(r"<td[^>]*><a[^>]*>(.*?)</a></td>", row)
    assert row.count('aria-label="missing"') == row.count("<td") - 1 > 3


@pytest.mark.thorough
def test_the_same_data_gives_the_same_bytes(dataset: aa.Dataset, tmp_path: Path) -> None:
    some = aa.Dataset({name: dataset[name] for name in ("crawl", "overview")})
    first, second = (some.report(tmp_path / name) for name in ("a.html", "new/b.html"))
    assert first.read_bytes() == second.read_bytes()
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.html"]
    assert first.stat().st_size < 400_000


def test_what_cannot_be_written_is_refused(dataset: aa.Dataset, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="from 1"):
        dataset.report(tmp_path / "a.html", rows=0)
    with pytest.raises(NotWritten, match=r"end in \.html"):
        dataset.report(tmp_path / "a.pdf")
    assert not [*tmp_path.iterdir()]
    assert gc.isenabled()  # it pauses while a page is made


def test_a_garbage_collector_that_is_off_stays_off(dataset: aa.Dataset, tmp_path: Path) -> None:
    gc.disable()
    try:
        aa.Dataset({"ranking": dataset["ranking"]}).report(tmp_path / "a.html")
        assert not gc.isenabled()
    finally:
        gc.enable()
