"""One page of HTML about a scope: what was measured, then each section.

Whatever comes from an answer is text and stays text: it is escaped, and what it might do to
the direction of a line or to a screen is taken out. There is no script, no link, no address
that a browser would ask for, and the page's own policy forbids them.
"""

from __future__ import annotations

from aatoolkit.display.report.page import page

__all__ = ["page"]
