"""Pickers: choose filters and sections in a notebook.

A picker only edits a value, `ScopePicker.scope` or `SectionPicker.sections`, and shows the
equivalent Python; data is read by the next cell. Both are one anywidget, drawn by ``picker.js``
from groups of options. It is not one control per option, so that 50,000 options are drawn as fast
as five; it needs no network. In reading order:

- ``scopes``: `ScopePicker`; ``sections``: `SectionPicker`.
- ``picker``: their base class, which syncs groups of options and a choice, one bit per option, with
  the browser.
"""

from __future__ import annotations

from aatoolkit.display.widgets.scopes import ScopePicker
from aatoolkit.display.widgets.sections import SectionPicker

__all__ = ["ScopePicker", "SectionPicker"]
