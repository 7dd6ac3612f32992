"""Reports: one page of HTML about a dataset: availability, then each section.

A `Dataset` comes in, HTML goes out. Text from an answer is always escaped, with control and
bidirectional characters made visible. There is no script, no link and no external resource,
and the page's content security policy forbids them. In reading order:

- ``page``: the page as a whole; ``changes``: what is shown to have changed, in sentences;
  ``grid``: frames as HTML tables; ``picture``: pictures as SVG.
- ``markup``: escaping and elements; ``style``: the style sheet.
"""

from __future__ import annotations

from aatoolkit.display.report.page import page

__all__ = ["page"]
