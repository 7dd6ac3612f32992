"""The pickers in JupyterLab: choose, copy the line, paste it in the next cell, read the frame."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from browser.lab import Notebook, serving, write_notebook

# Looked for and not imported, which takes a second.
pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(find_spec("jupyterlab") is None, reason="needs jupyterlab"),
]

CELLS = (
    "import aatoolkit as aa\nproject = aa.demo()\npicker = aa.ScopePicker(project)\npicker",
    "",
    "main = project.read('domains', scope).main\n"
    "print(scope, len(main), main.aa.sources['scope'].tolist())",
    "picker.scope = aa.Scope(7, engine='claude')\nprint(picker.scope)",
)

RESTART = "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"


@pytest.fixture(scope="module", params=["JupyterLab Light", "JupyterLab Dark"])
def lab(
    request: pytest.FixtureRequest, browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A JupyterLab with a notebook, in a theme."""
    folder = tmp_path_factory.mktemp("lab")
    write_notebook(folder / "picker.ipynb", *CELLS)
    with serving(folder, request.param) as url:
        yield url


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
        page.screenshot(path=shots / f"{'dark' if is_dark(page) else 'light'}.png")
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
    found = re.search(r"Scope\(days=90,.*?\) (\d+) \['(.*)'\]", output)
    assert found is not None, output
    assert int(found[1]) > 0
    assert found[2] == "days=90&engine=gemini%2Cperplexity&topic=Sales+automation"

    # What the kernel sets is shown.
    assert "Scope(days=7" in notebook.run(3).inner_text()
    picker.get_by_text("aa.Scope(days=7, engine=('claude',))").wait_for()
    assert picker.get_by_label("7 days").is_checked()

    # After a restart of the kernel nothing listens, and the picker says so.
    page.evaluate(RESTART)
    picker.get_by_text("30 days").click()
    picker.get_by_text("after a restart of the kernel nothing listens").wait_for()


def test_it_has_the_colours_of_the_theme(lab: str, page: Any) -> None:
    notebook = Notebook(page, lab, "picker.ipynb")
    notebook.run(0)
    page.locator(".aa-picker").wait_for()
    ink = page.evaluate("getComputedStyle(document.querySelector('.aa-label')).color")
    paper = page.evaluate("getComputedStyle(document.querySelector('.aa-list')).backgroundColor")
    assert (lightness(ink) > lightness(paper)) == is_dark(page)
    assert abs(lightness(ink) - lightness(paper)) > 120


def is_dark(page: Any) -> bool:
    return bool(page.evaluate("document.body.dataset.jpThemeLight") == "false")


def lightness(colour: str) -> float:
    """Of a colour, 0 to 255, on black or white as it would be seen."""
    red, green, blue, *rest = (float(each) for each in re.findall(r"[\d.]+", colour))
    grey = (red + green + blue) / 3
    return grey * rest[0] + (255 if grey > 128 else 0) * (1 - rest[0]) if rest else grey
