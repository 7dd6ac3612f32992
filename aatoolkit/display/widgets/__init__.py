"""Pickers: choosing filters and sections in a notebook.

A picker only edits a value, `ScopePicker.scope` or `SectionPicker.sections`, and shows the line of
Python that says the same; what is read is read by the next cell. The two are one widget, drawn by
``picker.js`` from a few `OptionGroup` of options. It is a single anywidget and not one control an
option, so that 50,000 options are drawn as fast as five, and it needs nothing from outside.
"""

from __future__ import annotations

from aatoolkit.display.widgets.scopes import ScopePicker
from aatoolkit.display.widgets.sections import SectionPicker

__all__ = ["ScopePicker", "SectionPicker"]
