"""The report: one page that holds all it needs, runs nothing, and shows what was measured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from serving import client_of

import aatoolkit as aa
from aatoolkit.cli import main
from aatoolkit.display.report import page
from aatoolkit.errors import ConfigurationError, NotWritten, ServerFailed
from aatoolkit.service import Store, synthesize

SECTIONS = ("crawl", "domains", "overview", "ranking")
HOSTILE = (
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</svg><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "javascript:alert(1)",
    "]]><!-- --!><script>alert(1)</script>",
    "a{}*{background:url(https://evil.example/x)}",
    "\u202eevil",
    "$\\frac{1}{0}$",
    "x" * 3000,
    "&lt;b&gt;",
)


class Page(HTMLParser):
    """The elements of a page, each with its attributes and the text in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, "elements nest"

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in tags]


@pytest.fixture(scope="module")
def client() -> Iterator[aa.Client]:
    with client_of(Store.of(synthesize(seed=7, answers=1500))) as client:
        yield client


@pytest.fixture(scope="module")
def dataset(client: aa.Client) -> aa.Dataset:
    return client.project("acme.example").read_all(sections=SECTIONS, progress=False)


@pytest.fixture(scope="module")
def written(dataset: aa.Dataset) -> str:
    return page(dataset, 12)


def hostile() -> aa.Dataset:
    """An answer in which every word is hostile, drawn up as its own declaration."""
    body = {
        "items": [
            {"brand": text, "own": at == 0, "mentionCount": 100 - at, "note": text}
            for at, text in enumerate(HOSTILE)
        ],
        "series": [{"brand": text, "engine": e, "n": 1} for text in HOSTILE for e in HOSTILE[:3]],
    }
    drawn = aa.sections.propose(body, "hostile").section
    payload = aa.Payload(
        __import__("json").dumps(body).encode(),
        fetched_at=pd.Timestamp("2026-11-20", tz="UTC").to_pydatetime(),
        host=HOSTILE[0],
        section="hostile",
        scope=aa.Scope(engine=HOSTILE[0]),
    )
    failure = ServerFailed(HOSTILE[1], section=HOSTILE[2])
    return aa.Dataset({HOSTILE[1]: aa.normalize(drawn, payload)}, {HOSTILE[2]: failure})


def check_harmless(text: str) -> Page:
    """No element or attribute that runs, styles from outside, links or asks for anything."""
    read = Page(text)
    known = {"html", "head", "meta", "title", "style", "body", "main", "header", "nav", "section"}
    known |= {"footer", "h1", "h2", "p", "b", "ul", "li", "a", "div", "table", "caption", "thead"}
    known |= {"tbody", "tr", "th", "td", "small", "code", "bdi", "span", "details", "summary"}
    known |= {"figure", "figcaption", "svg", "g", "path", "defs", "use", "text", "tspan"}
    known |= {"clippath", "rect", "pattern", "image"}
    assert {tag for tag, _ in read.elements} <= known
    assert len(read.all("style")) == 1
    for tag, attributes in read.elements:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "src"):
                assert (value or "").startswith(("#", "data:image/png;base64,"))
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
    assert not re.search(r"@import|src:|url\(\s*['\"]?(?!#)", written)


def test_hostile_words_stay_words() -> None:
    text = page(hostile(), 20)
    read = check_harmless(text)
    shown = "".join(read.text)
    for words in HOSTILE[:7]:
        assert words in shown
    assert "\u202e" not in text
    assert "x" * 1000 not in text
    assert "&amp;lt;b&amp;gt;" in text


def test_what_was_measured_comes_first_and_no_table_is_left_out(
    dataset: aa.Dataset, written: str
) -> None:
    read = Page(written)
    heads = [attributes.get("id") for attributes in read.all("h2")]
    assert heads[:2] == ["changed", "measured"]
    assert [head.partition("-")[2] for head in heads[2:-1] if head] == list(dataset)
    measured = written[: written.index('id="sections"')]
    for tables in dataset.values():
        for name in tables:
            assert f"<code>{name}</code> {tables.rows[name]:,}" in measured
            assert f"<code>{name}</code>" in written[len(measured) :] or not tables.rows[name]


def test_a_section_that_failed_or_was_not_measured_shows_it(client: aa.Client) -> None:
    crawl = client.project("initech.example").read_all(sections=["crawl"], progress=False)
    failed = aa.Dataset(dict(crawl), {"domains": ServerFailed("the service failed, 502")})
    shown = "".join(Page(page(failed, 5)).text)
    assert "domains failed: the service failed, 502" in shown
    assert shown.count("CNAME gateway is not connected.") >= 2
    assert "0 measured" not in shown
    nothing = "".join(Page(page(aa.Dataset({}), 5)).text)
    assert "Of 0 tables: none." in nothing


def test_every_picture_describes_what_it_shows(written: str) -> None:
    read = Page(written)
    labels = {attributes["id"] for attributes in read.all("figcaption")}
    pictures = read.all("svg")
    assert len(pictures) >= 6
    for picture in pictures:
        assert picture["role"] == "img"
        assert picture["aria-labelledby"] in labels
    identities = [a["id"] for _, a in read.elements if a.get("id")]
    assert len(identities) == len({*identities}), "an id stands for one thing"
    for reference in re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", written):
        assert "".join(reference) in identities


def test_tables_have_captions_heads_and_show_how_many_rows_are_shown(
    dataset: aa.Dataset, written: str
) -> None:
    read = Page(written)
    assert len(read.all("caption")) == len(read.all("table"))
    assert all(head.get("scope") for head in read.all("th"))
    assert f"first 12 of {len(dataset['domains'].main):,} rows" in "".join(read.text)
    assert "all rows" in "".join(read.text)
    few = Page(page(aa.Dataset({"domains": dataset["domains"]}), 3))
    assert f"first 3 of {len(dataset['domains'].main):,} rows" in "".join(few.text)


def test_a_missing_value_is_a_dash_and_a_zero_is_a_zero(dataset: aa.Dataset) -> None:
    trend = dataset["overview"]["overview_trend"]
    quiet = trend[trend["answer_count"] == 0]
    assert len(quiet)
    text = page(aa.Dataset({"overview": dataset["overview"]}), 100)
    (row,) = re.findall(rf"<tr>(<td[^>]*>{quiet['date'].iloc[0]:%Y-%m-%d}</td>.*?)</tr>", text)
    assert re.findall(r"<td[^>]*>(.*?)</td>", row)[1] == "0"
    assert row.count('aria-label="missing"') == len(trend.columns) - 2


@pytest.mark.thorough
def test_the_same_data_gives_the_same_bytes(dataset: aa.Dataset, tmp_path: Path) -> None:
    some = aa.Dataset({name: dataset[name] for name in ("crawl", "overview")})
    first, second = (some.report(tmp_path / name) for name in ("a.html", "new/b.html"))
    assert first.read_bytes() == second.read_bytes()
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.html"]
    assert first.stat().st_size < 400_000


def test_it_can_be_read_by_day_by_night_and_on_paper(written: str) -> None:
    assert "prefers-color-scheme: dark" in written
    assert "@media print" in written
    body = written[written.index("<body>") :]
    assert not re.search(r"#(1f2328|ffffff|57606a|d8dee4)\b", body), "the page's own colours"
    assert "var(--ink)" in body


@pytest.mark.parametrize("rows", [0, -1, 2.5, True, "many"])
def test_rows_that_cannot_be_are_refused(dataset: aa.Dataset, tmp_path: Path, rows: object) -> None:
    with pytest.raises(ConfigurationError, match="from 1"):
        dataset.report(tmp_path / "a.html", rows=rows)
    assert not [*tmp_path.iterdir()]


def test_a_file_that_cannot_be_written_is_an_error(dataset: aa.Dataset, tmp_path: Path) -> None:
    with pytest.raises(NotWritten):
        aa.Dataset({"ranking": dataset["ranking"]}).report(tmp_path)


@pytest.mark.thorough
def test_the_command_writes_it(
    client: aa.Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = tmp_path / "token"
    token.write_text("test-token-of-one-account")
    out = tmp_path / "page.html"
    connection = ["--base-url", client.base_url, "--token-file", str(token), "--no-cache"]
    command = ["report", "acme.example", "-o", str(out), "--section", "ranking", "--days", "7"]
    assert main([*command, *connection]) == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == str(out)
    assert "last 7 days" in out.read_text(encoding="utf-8")
    assert main([*command, *connection, "--json"]) == 0
    assert '"ranking"' in capsys.readouterr().out
    assert main(["report", "acme.example", *connection]) == 2
