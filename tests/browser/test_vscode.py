"""VS Code's widgets: its renderer from a package, with a kernel that runs, in both themes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anywidget
import pytest
from browser.contrast import assert_picker_can_be_read, assert_words_can_be_read
from browser.lab import Notebook, serving, write_notebook

SETTING = "AATOOLKIT_VSCODE"
"""A folder in which npm installed ``@vscode/jupyter-ipywidgets8`` and ``requirejs``."""

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(240)]

# What its webview has of a theme, as far as outputs see it, and the white behind every widget, in
# dark themes as well.
FRAME = """<!doctype html><html><head><meta charset="utf-8"><style>
  :root { --vscode-editor-background: PAPER; --vscode-editor-foreground: INK;
          --vscode-foreground: INK; color-scheme: KIND; }
  body { background: PAPER; color: INK; font: 13px sans-serif; }
  .cell-output-ipywidget-background { background: white !important; }
</style></head><body class="vscode-KIND" data-vscode-theme-kind="vscode-KIND">
<div id="html"></div><div id="widget" class="cell-output-ipywidget-background"></div>"""

THEMES = {"light": ("#ffffff", "#3b3b3b"), "dark": ("#1f1f1f", "#cccccc")}

# As its renderer does: requirejs, the widgets, and a manager on the kernel of the page around it.
START = """async ([html, amd, bundle, anywidget, code]) => {
  const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const frame = document.createElement("iframe");
  frame.id = "vscode";
  frame.style = "position: fixed; inset: 0; width: 1200px; height: 880px; z-index: 9; border: 0";
  frame.srcdoc = html;
  document.body.append(frame);
  await new Promise((done) => frame.addEventListener("load", done));
  const view = frame.contentWindow;
  const script = (text, type) => new Promise((done) => {
    const element = view.document.createElement("script");
    view.loaded = done;
    if (type) element.type = type;
    element.textContent = text;
    view.document.head.append(element);
    if (!type) done();
  });
  await script(amd);
  const url = view.URL.createObjectURL(new Blob([bundle], { type: "text/javascript" }));
  await script(`const it = await import("${url}"); it.activate(); loaded()`, "module");
  view.vscIPyWidgets8.load();
  const module = view.URL.createObjectURL(new Blob([anywidget], { type: "text/javascript" }));
  const loader = {
    widgetsRegisteredInRequireJs: new Set(),
    loadWidgetScript: async (name) => view.requirejs.config({ paths: { [name]: module } }),
    errorHandler: (...what) => (view.failed ??= []).push(String(what)),
    successHandler: () => {},
  };
  const place = view.document.getElementById("widget");
  view.manager = new view.vscIPyWidgets.WidgetManager(kernel, place, loader, () => {});
  view.show = async (code) => {
    const run = kernel.requestExecute({ code });
    const texts = [];
    run.onIOPub = async (message) => {
      const { data, text, traceback } = message.content;
      if (traceback) texts.push(traceback.join());
      if (text) texts.push(text);
      const found = data?.["application/vnd.jupyter.widget-view+json"];
      if (found) {
        const model = await view.manager.get_model(found.model_id);
        await view.manager.display_view(undefined, await view.manager.create_view(model), {
          node: place,
        });
      } else if (data?.["text/html"]) {
        view.document.getElementById("html").innerHTML = data["text/html"];
      }
    };
    await run.done;
    return texts.join("");
  };
}"""


def folder() -> Path | None:
    named = os.environ.get(SETTING)
    return Path(named) / "node_modules" if named else None


@pytest.fixture(scope="module")
def lab(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A kernel that a page can speak with."""
    if folder() is None:
        pytest.skip(f"needs VS Code's renderer: npm installs it, and {SETTING} names the folder")
    if find_spec("jupyterlab") is None:
        pytest.skip("needs jupyterlab")
    root = tmp_path_factory.mktemp("vscode")
    write_notebook(root / "kernel.ipynb", "")
    with serving(root) as url:
        yield url


@pytest.mark.parametrize("theme", THEMES)
def test_a_picker_works_and_what_is_shown_can_be_read(
    lab: str, page: Any, theme: str, shots: Path | None
) -> None:
    view = started(lab, page, theme)
    text = show(page, "import aatoolkit as aa; picker = aa.ScopePicker(aa.demo()); picker")
    assert text == ""
    picker = view.locator(".aa-picker")
    picker.wait_for()
    picker.get_by_text("90 days").click()
    picker.get_by_role("option").filter(has_text="Gemini").click()
    line = "aa.Scope(days=90, engine=('gemini',))"
    assert picker.get_by_role("group", name="The choice in Python").inner_text() == line
    page.wait_for_timeout(300)
    assert show(page, "print(picker.scope)").strip() == f"{line}".removeprefix("aa.")
    show(page, "picker.scope = aa.Scope(7)")
    picker.get_by_text("aa.Scope(days=7)").wait_for()
    # The theme's kind and that of the system need not be the same.
    for system in ("light", "dark"):
        page.emulate_media(color_scheme=system)
        assert_picker_can_be_read(view)

    read = "tables = aa.demo().read('domains', days=7); main = tables.main; "
    for shown in ("tables", "main", "main.aa", "main.aa.explain(0, 'citation_share')"):
        assert show(page, read + shown) == "", shown
        assert_words_can_be_read(view, "#html")
    if shots:
        page.screenshot(path=shots / f"vscode-{theme}.png")


def started(lab: str, page: Any, theme: str) -> Any:
    """An output of VS Code's in a theme, on a kernel."""
    installed = folder()
    assert installed
    Notebook(page, lab, "kernel.ipynb")
    paper, ink = THEMES[theme]
    html = FRAME.replace("PAPER", paper).replace("INK", ink).replace("KIND", theme)
    bundle = installed / "@vscode" / "jupyter-ipywidgets8" / "dist" / "ipywidgets.js"
    scripts = (installed / "requirejs" / "require.js", bundle, anywidget_module())
    page.evaluate(START, [html, *(each.read_text(encoding="utf-8") for each in scripts)])
    return page.frame_locator("#vscode")


def anywidget_module() -> Path:
    """The script of anywidget that front ends without JupyterLab's extensions load."""
    return Path(anywidget.__file__).parent / "nbextension" / "index.js"


def show(page: Any, code: str) -> str:
    """Run code in the kernel and show its result; what it prints."""
    text: str = page.evaluate(
        "(code) => document.getElementById('vscode').contentWindow.show(code)", code
    )
    return text
