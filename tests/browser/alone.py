"""A picker's module alone on a page: a stand-in for the kernel holds the picker's own state."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import aatoolkit.display.widgets.picker as home

MODULE, STYLE = (Path(home.__file__).with_name(f"picker.{kind}") for kind in ("js", "css"))

PAGE = """<!doctype html><meta charset="utf-8"><title>A picker</title><style>STYLE</style>
<body style="margin:16px; background: Canvas; color-scheme: light dark"><div id="here"></div>"""

START = """async ([source, state]) => {
  const revive = (value) => {
    if (value && value.bytes !== undefined) {
      const found = Uint8Array.from(atob(value.bytes), (c) => c.charCodeAt(0));
      return new DataView(found.buffer);
    }
    if (value && typeof value === "object")
      for (const key of Object.keys(value)) value[key] = revive(value[key]);
    return value;
  };
  const listeners = {};
  window.saved = [];
  window.model = {
    state: revive(state),
    get: (name) => model.state[name],
    set: (name, value) => {
      model.state[name] = value;
      for (const heard of listeners[`change:${name}`] ?? []) heard();
    },
    save_changes: () => saved.push(model.state._choice),
    on: (event, heard) => (listeners[event] ??= []).push(heard),
    off: (event, heard) => {
      listeners[event] = (listeners[event] ?? []).filter((each) => each !== heard);
    },
    receive: (state) => {
      Object.assign(model.state, revive(state));
      for (const name of Object.keys(state))
        for (const heard of listeners[`change:${name}`] ?? []) heard();
    },
  };
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  const el = document.getElementById("here");
  const from = performance.now();
  window.stop = widget.render({ model, el });
  el.getBoundingClientRect();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - from;
}"""


class Alone:
    """A picker of this process, drawn by its module on a page without Jupyter."""

    def __init__(self, page: Any, picker: home.Picker) -> None:
        self.page, self.picker, self._received = page, picker, 0
        page.set_content(PAGE.replace("STYLE", STYLE.read_text(encoding="utf-8")))
        self.milliseconds: float = page.evaluate(
            START, [MODULE.read_text(encoding="utf-8"), plain(state_of(picker))]
        )

    def receive(self) -> None:
        """Tell the page what the picker holds now, as the kernel does."""
        state = {"_choice": self.picker._choice, "_received": self.picker._received}
        self.page.evaluate("(state) => model.receive(state)", plain(state))

    def hear(self) -> list[int]:
        """Tell the picker what was chosen on the page; how many bytes each message held."""
        sent = self.page.evaluate(
            """(from) => saved.slice(from).map(({ bits, number }) => ({
              number,
              bits: bits.map((view) => Array.from(new Uint8Array(view.buffer))),
            }))""",
            self._received,
        )
        self._received += len(sent)
        for choice in sent:
            bits = [bytes(bitmap) for bitmap in choice["bits"]]
            self.picker.set_state({"_choice": {**choice, "bits": bits}})
        return [sum(map(len, choice["bits"])) for choice in sent]


def state_of(picker: home.Picker) -> dict[str, Any]:
    """The state of a picker that its page has."""
    return {name: getattr(picker, name) for name in ("_groups", "_choice", "_received")}


def plain(state: Any) -> Any:
    """The state as JSON, with bytes in base 64."""
    return json.loads(
        json.dumps(state, default=lambda data: {"bytes": base64.b64encode(data).decode("ascii")})
    )
