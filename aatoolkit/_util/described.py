"""`Described`: the base class of what shows itself as a title and a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aatoolkit._util.terminal import wrap_lines
from aatoolkit._util.text import clipped, listing


class Described:
    """The base class of what shows itself as a title and a list of lines.

    Its ``repr`` may be complete; ``print``, a terminal with IPython and a notebook show the list.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # IPython prefers the ``repr`` of a class to what it inherits.
        cls._repr_pretty_ = Described._repr_pretty_  # type: ignore[method-assign]

    def _described(self) -> tuple[str, Sequence[str]]:
        """The title, and the lines below it."""
        raise NotImplementedError

    def __str__(self) -> str:
        title, lines = self._described()
        return "\n".join([clipped(title), *(f"  {clipped(line)}" for line in lines)])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(wrap_lines(str(self)))

    def _repr_html_(self) -> str:
        return listing(*self._described())
