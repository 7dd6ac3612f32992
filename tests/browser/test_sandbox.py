"""Colab's conventions: each output alone in a sandboxed frame, and a theme as an attribute."""

from __future__ import annotations

from typing import Any

import pytest
from browser.alone import MODULE, START, STYLE, plain, state_of
from browser.contrast import assert_picker_can_be_read, assert_words_can_be_read
from pickers import options_of
from serving import shared_client

import aatoolkit as aa

FRAME = """<!doctype html><html KIND><meta charset="utf-8"><style>PAPERSTYLE</style>
<body>OUTPUT</body></html>"""

PAPERS = {
    "": "",
    'theme="light"': "body { background: #fff; color: #212121 }",
    'theme="dark"': "body { background: #383838; color: #e8e8e8 }",
}


def framed(page: Any, kind: str, output: str, style: str = "") -> Any:
    """An output in a frame of another origin, with nothing of the page around it."""
    document = FRAME.replace("OUTPUT", output).replace("KIND", kind)
    document = document.replace("PAPERSTYLE", PAPERS[kind] + style)
    page.set_content("<!doctype html><title>Outputs</title>")
    page.evaluate(
        """(text) => new Promise((done) => {
          const frame = document.createElement("iframe");
          frame.sandbox = "allow-scripts";
          frame.style = "width: 1150px; height: 850px";
          frame.srcdoc = text;
          frame.addEventListener("load", done);
          document.body.append(frame);
        })""",
        document,
    )
    return page.frames[-1]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", PAPERS)
def test_a_picker_works_alone_in_a_sandboxed_frame(page: Any, kind: str) -> None:
    frame = framed(page, kind, '<div id="here"></div>', STYLE.read_text(encoding="utf-8"))
    picker = aa.ScopePicker(options_of(topics=["CRM", "Sales"]))
    frame.evaluate(START, [MODULE.read_text(encoding="utf-8"), plain(state_of(picker))])
    frame.get_by_role("option").filter(has_text="Sales").click()
    # The clipboard is refused to such frames: the older way is tried, and nothing is thrown.
    frame.get_by_role("button", name="Copy").click()
    assert "topic=('Sales',)" in frame.locator(".aa-python").inner_text()
    for system in ("light", "dark"):
        page.emulate_media(color_scheme=system)
        assert_picker_can_be_read(frame)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ['theme="light"', 'theme="dark"'])
def test_tables_can_be_read_alone(page: Any, kind: str) -> None:
    tables = shared_client().project("acme.example").read("domains")
    for shown in (tables, tables.main.aa, tables.main.aa.explain(0, "citation_share")):
        html = shown._repr_html_()
        assert html
        assert_words_can_be_read(framed(page, kind, html), "body")
