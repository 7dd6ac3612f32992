"""JupyterLab and Notebook 7: pickers by mouse and keyboard, and interactive pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from browser.conftest import INSTALL
from browser.lab import Notebook, serving, write_notebook

pytestmark = pytest.mark.timeout(240)

CELLS = (
    "import aatoolkit as aa\nproject = aa.demo()\npicker = aa.ScopePicker(project)\npicker",
    "",
    "main = project.read('domains', scope).main\n"
    "print(scope, len(main), main.aa.sources['scope'].tolist())",
    "picker.scope = aa.Scope(7, engine='claude')\nprint(picker.scope)",
    "project.read('overview', days=7)['overview_engines'].aa.plot(interactive=True)",
)

RESTART = "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"


THEME = """(theme) => new Promise((done) => {
  const observer = new MutationObserver(() => done());
  observer.observe(document.body, { attributeFilter: ["data-jp-theme-name"] });
  if (document.body.dataset.jpThemeName === theme) done();
  else jupyterapp.commands.execute("apputils:change-theme", { theme });
})"""


@pytest.fixture(
    scope="module", params=["jupyterlab", pytest.param("notebook", marks=pytest.mark.thorough)]
)
def lab(
    request: pytest.FixtureRequest, browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A front end with a notebook."""
    # Looked for and not imported, which takes a second.
    if find_spec(request.param) is None:
        pytest.skip(f"there is no {request.param} to try pickers in: {INSTALL}")
    folder = tmp_path_factory.mktemp("lab")
    write_notebook(folder / "picker.ipynb", *CELLS)
    with serving(folder, request.param) as url:
        yield url


@pytest.fixture(autouse=True)
def _errors_of_its_own(page: Any, seen: Any) -> Iterator[None]:
    """Notebook 7.6 fails to read a setting of its own while it starts."""
    yield
    seen.errors[:] = [error for error in seen.errors if "(reading 'schema')" not in error]


def test_choose_copy_paste_and_read(lab: str, page: Any, shots: Path | None) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    notebook = Notebook(page, lab, "picker.ipynb")
    notebook.run(0)
    picker = page.locator(".aa-picker")
    picker.wait_for()

    # By mouse.
    picker.get_by_text("90 days").click()
    picker.get_by_role("option").filter(has_text="Gemini").click()

    # By keyboard alone; keys that are commands of the notebook stay with the picker.
    picker.get_by_role("listbox", name="Engines").focus()
    for key in ("End", "Space", "a", "b", "d", "d", "x", "Enter", "Enter"):
        page.keyboard.press(key)
    for key in ("Tab", "Tab", "Tab", "Tab", "ArrowDown", "Space"):
        page.keyboard.press(key)
    if shots:
        page.screenshot(path=shots / f"{'lab' if '/lab/' in lab else 'notebook'}.png")
    line = "aa.Scope(days=90, engine=('gemini', 'perplexity'), topic=('Sales automation',))"
    assert picker.get_by_role("group", name="The choice in Python").inner_text() == line
    assert page.locator(".jp-CodeCell").count() == len(CELLS)

    # Copied by keyboard, pasted into the next cell, and run.
    picker.get_by_role("button", name="Copy").focus()
    page.keyboard.press("Enter")
    picker.get_by_text("Copied", exact=True).wait_for()
    notebook.cell(1).locator(".cm-content").click()
    page.keyboard.type("scope = ")
    page.keyboard.press("Control+v")
    page.keyboard.type("\nassert scope == picker.scope")
    notebook.run(1)
    output = notebook.run(2).inner_text()
    match = re.search(r"Scope\(days=90,.*?\) (\d+) \['(.*)'\]", output)
    assert match is not None, output
    assert int(match[1]) > 0
    assert match[2] == "days=90&engine=gemini%2Cperplexity&topic=Sales+automation"

    # What the kernel sets is shown.
    assert "Scope(days=7" in notebook.run(3).inner_text()
    picker.get_by_text("aa.Scope(days=7, engine=('claude',))").wait_for()
    assert picker.get_by_label("7 days").is_checked()

    # After a restart of the kernel nothing listens, and the picker says so.
    page.evaluate(RESTART)
    picker.get_by_text("30 days").click()
    picker.get_by_text("after a restart of the kernel nothing listens").wait_for()


@pytest.mark.thorough
def test_it_has_the_colours_of_the_theme_and_an_interactive_picture_says_what_a_bar_is(
    lab: str, page: Any
) -> None:
    notebook = Notebook(page, lab, "picker.ipynb")
    notebook.run(0)
    page.locator(".aa-picker").wait_for()
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        page.evaluate(THEME, theme)
        assert is_dark(page) == theme.endswith("Dark")
        assert_legible(page)

    # The drawn picture becomes the interactive one once the mouse is on it.
    output = notebook.run(4)
    move_to(page, output.locator("img.plot-img"))
    bar = output.locator(".barlayer .point").first
    bar.wait_for()
    move_to(page, bar)
    tip = page.locator(".hoverlayer .hovertext").first
    tip.wait_for()
    assert "mention rate: " in tip.text_content()


def move_to(page: Any, mark: Any) -> None:
    """Move the mouse onto a mark, which may be replaced by another one at that."""
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)


def assert_legible(page: Any) -> None:
    """Words of the picker contrast with their background, as they do in the theme."""
    ink = page.evaluate("getComputedStyle(document.querySelector('.aa-label')).color")
    paper = page.evaluate("getComputedStyle(document.querySelector('.aa-list')).backgroundColor")
    assert (lightness(ink) > lightness(paper)) == is_dark(page)
    assert abs(lightness(ink) - lightness(paper)) > 120


def is_dark(page: Any) -> bool:
    return bool(page.evaluate("document.body.dataset.jpThemeLight") == "false")


def lightness(colour: str) -> float:
    """Of a colour, 0 to 255, on black or white as it would be seen."""
    red, green, blue, *rest = (float(channel) for channel in re.findall(r"[\d.]+", colour))
    grey = (red + green + blue) / 3
    return grey * rest[0] + (255 if grey > 128 else 0) * (1 - rest[0]) if rest else grey
