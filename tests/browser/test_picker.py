"""The pickers' module in a real browser: by mouse, by keyboard alone, and with 50,000 options."""

from __future__ import annotations

from typing import Any

import pytest
from browser.alone import Alone
from pickers import options_of

import aatoolkit as aa


def listbox(page: Any, name: str) -> Any:
    return page.get_by_role("listbox", name=name, exact=True)


def option(page: Any, group: str, name: str) -> Any:
    return listbox(page, group).get_by_role("option").filter(has_text=name)


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def line(page: Any) -> str:
    text: str = page.get_by_role("group", name="The choice in Python").inner_text()
    return text


@pytest.fixture
def alone(page: Any) -> Alone:
    topics = ["CRM", "Sales", *(f"topic {at}" for at in range(40))]
    return Alone(page, aa.ScopePicker(options_of(topics=topics)))


# --- choosing -------------------------------------------------------------------------------


def test_by_mouse(page: Any, alone: Alone) -> None:
    page.get_by_text("90 days").click()
    option(page, "Topics", "CRM").click()
    option(page, "Topics", "topic 3").click(modifiers=["Shift"])
    option(page, "Topics", "Sales").click()
    page.get_by_role("button", name="All: Brands").click()
    alone.hear()
    chosen = aa.Scope(
        90, topic=("CRM", "topic 0", "topic 1", "topic 2", "topic 3"), brand=("Acme", "Zenith")
    )
    assert alone.picker.scope == chosen
    assert eval(line(page), {"aa": aa}) == chosen
    page.get_by_role("button", name="Invert: Brands").click()
    page.get_by_role("button", name="None: Topics").click()
    alone.hear()
    assert alone.picker.scope == aa.Scope(90)


def test_by_keyboard_alone(page: Any, alone: Alone) -> None:
    press(page, "Tab", "ArrowRight")  # the windows
    press(page, "Tab", "ArrowDown", "Space")  # the engines
    press(page, "Tab", "Tab", "Tab", "Tab")  # three buttons, and the search of the topics
    assert page.evaluate("document.activeElement.ariaLabel") == "Search Topics"
    page.keyboard.type("TOPIC 1")
    press(page, "ArrowDown", "End", "Space", "Home", "Enter")
    press(page, "Escape")
    alone.hear()
    assert alone.picker.scope == aa.Scope(90, engine="gemini", topic=("topic 1", "topic 31"))
    press(page, "Tab", "Tab", "Tab", "Tab", "Space")  # three buttons, and the categories
    for _ in range(7):
        press(page, "Tab")  # buttons, the brands, buttons
    press(page, "Tab")
    assert page.evaluate("document.activeElement.ariaLabel") == "The choice in Python"
    alone.hear()
    assert alone.picker.scope.category == ("discovery",)


def test_a_search_looks_at_ids_and_words_without_case_and_accents(page: Any) -> None:
    engines = [f"engine-{at}" for at in range(9)]
    alone = Alone(page, aa.ScopePicker(options_of(["Crème brûlée", *"abcdefgh"], engines=engines)))
    page.get_by_role("searchbox", name="Search Topics").fill("BRULEE creme")
    assert listbox(page, "Topics").get_by_role("option").count() == 1
    page.get_by_role("searchbox", name="Search Engines").fill("engine-7")
    option(page, "Engines", "Engine-7").click()
    alone.hear()
    assert alone.picker.scope.engine == ("engine-7",)


# --- what the kernel says -------------------------------------------------------------------


def test_the_line_can_be_copied_also_where_the_clipboard_is_closed(page: Any, seen: Any) -> None:
    alone = Alone(page, aa.ScopePicker(options_of(topics=[f"topic {at}" for at in range(200)])))
    page.get_by_role("button", name="All: Topics").click()
    assert "… 197 more" in line(page)
    page.evaluate("document.addEventListener('copy', () => { window.copied = getSelection() + ''})")
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied", exact=True).wait_for()
    alone.hear()
    page.set_content("<textarea aria-label='Paste'></textarea>")
    page.get_by_label("Paste").press("Control+v")
    pasted = page.get_by_label("Paste").input_value()
    assert eval(pasted, {"aa": aa}) == alone.picker.scope
    assert len(alone.picker.scope.topic) == 200


# --- names meant to do harm -----------------------------------------------------------------


# --- for every reader -----------------------------------------------------------------------

TREE = """
- 'group "Choice: acme.example"':
  - group:
    - group "Window":
      - radio "7 days"
      - radio "30 days" [checked]
      - radio "90 days"
    - group "Engines":
      - status: "none chosen: all 2"
      - listbox "Engines":
        - option "Chatgpt last run 2026-11-20"
        - option "Gemini not configured · no run recorded"
      - 'button "All: Engines"'
      - 'button "None: Engines"'
      - 'button "Invert: Engines"'
    - group "Topics":
      - searchbox "Search Topics"
      - listbox "Topics"
    - group "Categories":
      - listbox "Categories":
        - option "discovery 1 prompt"
        - option "how, and why has a comma, no filter · 2 prompts" [disabled]
    - group "Brands":
      - listbox "Brands":
        - option "Acme own · tracked" [selected]
        - option "Zenith tracked"
  - group "The choice in Python":
    - code: aa.Scope(days=30, brand=('Acme',))
  - button "Copy"
"""


def test_roles_names_and_states_are_exposed(page: Any, alone: Alone) -> None:
    from playwright.sync_api import expect

    option(page, "Brands", "Acme").click()
    expect(page.locator(".aa-picker")).to_match_aria_snapshot(TREE)
    topics = listbox(page, "Topics")
    assert topics.get_attribute("aria-multiselectable") == "true"
    topics.focus()
    press(page, "End")
    last = topics.get_by_role("option").last
    assert (last.get_attribute("aria-posinset"), last.get_attribute("aria-setsize")) == ("42", "42")
    assert topics.get_attribute("aria-activedescendant") == last.get_attribute("id")


CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const drawn = (...colours) => {
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return Array.from(canvas.getImageData(0, 0, 1, 1).data.slice(0, 3));
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement)
      layers.unshift(getComputedStyle(at).backgroundColor);
    return layers;
  };
  const found = {};
  for (const node of document.querySelectorAll(".aa-picker *")) {
    const text = Array.from(node.childNodes).some((child) => child.nodeType === 3);
    if (!text || !node.innerText?.trim()) continue;
    const back = behind(node);
    const [a, b] = [light(drawn(...back)), light(drawn(...back, getComputedStyle(node).color))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const name = node.className || node.tagName;
    found[name] = Math.min(found[name] ?? 99, ratio);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrasts_in_light_and_dark(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    picker = aa.ScopePicker(options_of(), aa.Scope(topic="CRM", engine=("chatgpt", "gemini")))
    Alone(page, picker)
    ratios = page.evaluate(CONTRAST)
    assert {"aa-label", "aa-note", "aa-count", "aa-title", "CODE", "LEGEND"} <= {*ratios}
    # WCAG 2 AA, for text of this size.
    assert {name: round(ratio, 1) for name, ratio in ratios.items() if ratio < 4.5} == {}


# --- many options ---------------------------------------------------------------------------


# --- sections -------------------------------------------------------------------------------


def test_sections_are_chosen(page: Any) -> None:
    alone = Alone(page, aa.SectionPicker())
    assert page.get_by_text("17 of 17 chosen", exact=True).is_visible()
    page.get_by_role("button", name="None: Sections").click()
    option(page, "Sections", "Source domains that engines cite.").click()
    page.get_by_role("searchbox", name="Search Sections").fill("pages that engines cite")
    listbox(page, "Sections").get_by_role("option").click()
    alone.hear()
    assert alone.picker.sections == ("domains", "urls")
    assert eval(line(page)) == alone.picker.sections
