"""The report page in a browser: nothing runs, nothing is requested, it prints, by day and night."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pages
import pytest
from PIL import Image
from serving import shared_dataset


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a whole scope of the reference service."""
    return shared_dataset().report(tmp_path_factory.mktemp("report") / "acme.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an answer in which every word is hostile."""
    return pages.hostile().report(tmp_path_factory.mktemp("hostile") / "page.html", rows=50)


def test_it_opens_offline_without_a_complaint(page: Any, report: Path) -> None:
    page.goto(report.as_uri())
    assert page.title() == "acme.example: how AI answer engines treat the brand"
    heads = page.locator("h2").all_inner_texts()
    assert heads[:3] == ["Summary", "Overview", "Brands and share of voice"]
    assert heads[-1] == "Technical state of the site"
    assert page.locator("figure img").count() >= 4
    assert page.evaluate("document.scripts.length") == 0


WIDER = """(which) => [...document.querySelectorAll(which)]
    .filter((frame) => frame.scrollWidth > frame.clientWidth + 1).length"""
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.mark.parametrize("folds", ["as they are", "open"])
def test_it_fits_a_phone(page: Any, report: Path, folds: str, shots: Path | None) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(report.as_uri())
    if folds == "open":
        page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
    assert not page.evaluate(TOO_WIDE)
    if shots:
        page.screenshot(path=shots / f"report-phone-{folds}.png", full_page=True)
    if folds == "open":
        return
    assert page.evaluate(WIDER, "section > .wide") == 0, "nothing scrolls sideways"
    page.evaluate(OPEN_TABLES)
    # The names of the rows stay when a table in a fold is moved.
    table = page.locator("details .wide.many").first
    name = table.locator("tbody th").first
    before = name.bounding_box()["x"]
    table.evaluate("(frame) => { frame.scrollLeft = 200 }")
    assert name.bounding_box()["x"] == before


OPEN_TABLES = "document.querySelectorAll('details.table').forEach((fold) => fold.open = true)"


def test_a_number_leads_to_its_evidence_and_back(page: Any, report: Path) -> None:
    page.goto(report.as_uri())
    page.evaluate(OPEN_TABLES)
    number = page.locator("td.number a").nth(3)
    number.scroll_into_view_if_needed()
    assert page.locator("details.why[open]").count() == 0
    target = page.locator(str(number.get_attribute("href")))
    assert not target.is_visible()
    number.press("Enter")
    assert target.is_visible(), "its fold opens"
    assert 0 <= target.bounding_box()["y"] < 900
    assert "at “" in target.inner_text()
    row = page.locator("details.why li", has=target)
    assert 0 <= row.locator("p").bounding_box()["y"] < 900, "the name of its row stays in sight"
    row.locator("p a").first.press("Enter")
    assert 0 <= number.bounding_box()["y"] < 900
    page.locator("#changed ~ dl a").first.press("Enter")
    assert page.locator(":target").is_visible()


def test_every_picture_is_announced_by_what_it_shows(page: Any, report: Path) -> None:
    page.goto(report.as_uri())
    pictures = page.get_by_role("img")
    assert pictures.count() == page.locator("figure img").count()
    named = page.get_by_role("img", name="Mention rate by prompt")
    assert named.count() == 1


def test_a_link_leads_to_its_section_by_keyboard(page: Any, report: Path) -> None:
    page.goto(report.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.get_by_role("link", name="Brands and share of voice").focus()
    page.keyboard.press("Enter")
    place = page.locator("h2", has_text="Brands and share of voice").bounding_box()
    assert -1 < place["y"] < 900
    page.locator("details.more > summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details.more").first.get_attribute("open") is not None


def test_nothing_in_an_answer_runs(page: Any, hostile: Path) -> None:
    page.goto(hostile.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.scripts.length") == 0
    assert (
        page.locator("iframe, img:not([src^='data:image/svg']), object, embed, form, base").count()
        == 0
    )
    links = page.eval_on_selector_all("a", "all => all.map(a => a.getAttribute('href'))")
    assert all(link.startswith("#") for link in links)
    assert page.url == hostile.as_uri()
    visible = page.locator("body").inner_text()
    for words in pages.HOSTILE[:12]:
        assert words in visible


def test_the_policy_would_stop_what_got_through(page: Any, hostile: Path, seen: Any) -> None:
    text = hostile.read_text(encoding="utf-8")
    planted = text.replace("</header>", "</header><script>window.hacked=1</script><img src=x:y>")
    assert planted != text
    hostile.with_name("planted.html").write_text(planted, encoding="utf-8")
    page.goto(hostile.with_name("planted.html").as_uri())
    assert page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in error for error in seen.errors)
    seen.errors.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_light(page: Any, report: Path, scheme: str, shots: Path | None) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(report.as_uri())
    style = "getComputedStyle(document.body)"
    paper, ink = page.evaluate(f"[{style}.backgroundColor, {style}.color]")
    # The pictures follow too: their corner is paper.
    corner = page.locator("figure img").first.screenshot()
    assert Image.open(io.BytesIO(corner)).convert("RGB").getpixel((2, 2)) == (
        (255, 255, 255) if scheme == "light" else (13, 17, 23)
    )
    light = {"rgb(255, 255, 255)": "rgb(31, 35, 40)"}
    dark = {"rgb(13, 17, 23)": "rgb(230, 237, 243)"}
    assert {paper: ink} == (light if scheme == "light" else dark)
    if shots:
        page.screenshot(path=shots / f"report-{scheme}.png", full_page=True)


def test_it_prints(page: Any, report: Path, hostile: Path) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(report.as_uri())
    printed = page.pdf(prefer_css_page_size=True)
    assert printed.startswith(b"%PDF")
    assert 6 <= len(re.findall(rb"/Type /Page\b(?!s)", printed)) <= 12
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    corner = page.locator("figure img").first.screenshot()
    assert Image.open(io.BytesIO(corner)).convert("RGB").getpixel((2, 2)) == (255, 255, 255)
    assert not page.locator("nav").is_visible()
    assert not page.locator("details.why").first.is_visible(), "what is folded is not printed"
    assert not page.locator("details.more table").first.is_visible()
    # On A4 no short word is broken, and pictures stand as far left as what is written.
    page.set_viewport_size({"width": 703, "height": 995})
    lines = """(cell) => { const range = document.createRange(); range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size; }"""
    broken = f"""() => [...document.querySelectorAll("section > .table td.word")].filter((cell) =>
        /^\\S{{1,10}}$/.test(cell.textContent) && ({lines})(cell) > 1).length"""
    assert page.evaluate(broken) == 0
    inset = """(image) => image.getBoundingClientRect().left + image.width * 9 / 260
        - image.closest("section").getBoundingClientRect().left"""
    assert abs(page.locator("figure img").first.evaluate(inset)) < 2
    # A line says what is folded, and headings and heads of tables stay with what they head.
    assert page.get_by_text("Not on paper").is_visible()
    stays = "(node) => getComputedStyle(node).breakAfter"
    for kind in ("h2", "caption", "section > .note"):
        assert page.locator(kind).first.evaluate(stays) == "avoid"
    cut = """() => [...document.querySelectorAll("section > .wide, figure, p, li")]
        .filter((node) => node.getClientRects().length)
        .filter((node) => getComputedStyle(node).breakInside !== "avoid").length"""
    assert page.evaluate(cut) == 0
    inside = stays.replace("After", "Inside")
    assert page.locator("section > .table > .wide").first.evaluate(inside) == "auto"
    page.set_viewport_size({"width": 703, "height": 1000})
    assert page.evaluate(WIDER, ".table > .wide") == 0, "no number is cut at the edge of its column"
    page.goto(hostile.as_uri())
    assert page.evaluate(WIDER, ".sections .wide") == 0, "no table leaves its half of the page"
