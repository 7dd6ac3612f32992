"""Pictures in a page: interactive ones without a network, and what an exported notebook shows."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from browser.conftest import INSTALL
from serving import shared_client, shared_dataset

import aatoolkit as aa

TIP = ".hoverlayer .hovertext"


def tip_over(page: Any, mark: Any, words: str) -> str:
    """What is shown while the mouse is on a mark, once it has some words."""
    box = mark.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    tip = page.locator(TIP, has_text=words).first
    tip.wait_for()
    return str(tip.text_content())


@pytest.fixture
def engines() -> Any:
    return shared_dataset()["overview"]["overview_engines"]


def test_an_interactive_picture_is_one_file_that_says_what_each_mark_is(
    page: Any, engines: Any, tmp_path: Path
) -> None:
    engines.aa.plot(interactive=True).write_html(tmp_path / "engines.html")
    page.goto((tmp_path / "engines.html").as_uri())
    bars = page.locator(".barlayer .trace")
    bars.first.wait_for()
    measured = engines.dropna(subset="mention_rate").nlargest(1, "mention_rate").iloc[0]
    words = tip_over(page, bars.nth(0).locator(".point").first, measured["engine"])
    assert f"mention rate: {measured['mention_rate']:.0%}" in words
    assert "interval: " in words
    hatched = page.locator('.barlayer .point:has(path[style*="fill: url("])').first
    tip_over(page, hatched, "This engine has not run yet")
    assert page.get_by_text(re.compile(r"acme\.example · .*measured in part")).is_visible()


@pytest.mark.thorough
@pytest.mark.skipif(
    find_spec("nbconvert") is None,
    reason=f"there is no nbconvert to make a page of a notebook: {INSTALL}",
)
def test_an_exported_notebook_shows_what_needs_no_kernel(
    page: Any, engines: Any, tmp_path: Path
) -> None:
    from nbconvert import HTMLExporter
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    picker = aa.ScopePicker(shared_client().project("acme.example"))
    picker.scope = aa.Scope(days=7)
    notebook = new_notebook()
    for thing in (engines.aa.plot(), picker, engines.aa.plot(interactive=True)):
        bundle = thing._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        output = new_output("display_data", data=data, metadata=metadata)
        notebook.cells.append(new_code_cell("…", outputs=[output]))
    # Of its templates the classic one has the alternative text of images.
    exporter = HTMLExporter(template_name="classic")
    body, _ = exporter.from_notebook_node(notebook)
    # The page's own scripts come from other machines; what is shown needs none of them.
    still = re.sub(r"<script.*?</script>", "", body, flags=re.DOTALL)
    (tmp_path / "exported.html").write_text(still, encoding="utf-8")
    page.goto((tmp_path / "exported.html").as_uri())
    assert re.search("Mention rate by engine: ", page.locator("img").first.get_attribute("alt"))
    assert page.get_by_text("aa.Scope(days=7)").is_visible()
    assert page.locator("img").count() == 2, "of an interactive picture, the drawn one"
