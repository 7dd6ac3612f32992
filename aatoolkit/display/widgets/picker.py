"""`Picker`, the base class: syncs groups of options and a choice with the browser."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import anywidget
import ipywidgets
import numpy as np
import traitlets

from aatoolkit._util.attributes import Chaptered
from aatoolkit._util.text import markup, visible

_HERE = Path(__file__).parent

_SHOWN, _LONG = 50, 300
"""The most values of a choice, and characters of each, that are shown."""


class _PickerType(Chaptered, type(anywidget.AnyWidget)):  # type: ignore[misc]
    """The type of pickers: that of widgets, with help that is a chapter."""


class Picker(anywidget.AnyWidget, ipywidgets.ValueWidget, metaclass=_PickerType):  # type: ignore[misc]
    """A widget that chooses among groups of options.

    The options are sent to the browser once. A choice is one bit per option, with the version
    of the options: a choice among options that have changed since is ignored. A choice made in the
    browser is numbered and confirmed, so that the page notices where no kernel listens any more.

    As with every widget that has a ``value``, ``ipywidgets.interact`` and ``interactive_output``
    take a picker as a control.

    Attributes
    ----------
    value : object
        The choice. It can be set, and observed: ``picker.observe(function, "value")``.
    disabled : bool
        Whether nothing can be chosen in the browser; the choice can still be set.
    compact : bool
        Whether the options are in a fold below the line that says what is chosen, so that what the
        picker drives is in sight; ``show`` sets it.
    layout : ipywidgets.Layout
        Width, height and borders, as of every widget.
    """

    disabled = traitlets.Bool(False).tag(sync=True)
    compact = traitlets.Bool(False).tag(sync=True)
    description = ""

    _esm = _HERE / "picker.js"
    _css = _HERE / "picker.css"
    _groups = traitlets.Dict().tag(sync=True)
    _choice = traitlets.Dict().tag(sync=True)
    _received = traitlets.Int(0).tag(sync=True)

    _title = ""
    _call = ""
    _shown: tuple[OptionGroup, ...] = ()
    _sent_choice: Mapping[str, Any] = {}

    def __init__(
        self, disabled: bool, layout: ipywidgets.Layout | Mapping[str, Any] | None
    ) -> None:
        super().__init__(disabled=disabled, **({} if layout is None else {"layout": layout}))

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name.startswith("_") or hasattr(type(self), name)):
            raise AttributeError(
                f"{type(self).__name__} has no attribute {name!r}; set what is chosen as a whole, "
                f"such as picker.value = {self._python()}"
            )
        super().__setattr__(name, value)

    def _show(self, groups: Sequence[OptionGroup], chosen: Mapping[str, Iterable[Any]]) -> None:
        """Replace the options and the choice."""
        self._shown = tuple(groups)
        with self.hold_sync():
            self._groups = {
                "of": self._groups.get("of", 0) + 1,
                "title": self._title,
                "call": self._call,
                "groups": [group.sent() for group in groups],
            }
            self._choose(chosen)

    def _choose(self, chosen: Mapping[str, Iterable[Any]]) -> None:
        bits = [group.bits(chosen[group.name]) for group in self._shown]
        choice = {"of": self._groups["of"], "bits": bits}
        if choice == {name: self._choice.get(name) for name in choice}:
            # What the browser chose is not sent back: it may have chosen anew since.
            choice = self._choice
        self._sent_choice = choice
        self._choice = choice

    @traitlets.observe("_choice")
    def _chosen_in_the_browser(self, change: Any) -> None:
        choice = change["new"]
        if choice == self._sent_choice:
            return
        self._received = choice.get("number", 0)
        if choice["of"] != self._groups["of"]:
            self._choose(self._value())
            return
        each = zip(self._shown, choice["bits"], strict=True)
        self._take({group.name: group.chosen(bytes(bits)) for group, bits in each})

    def show(self, function: Callable[[Any], Any]) -> ipywidgets.VBox:
        """Show the picker, folded, above what a function makes of its choice, now and on changes.

        ``picker.show(lambda scope: project.read("domains", scope).main.aa.plot())`` is a dashboard.

        Parameters
        ----------
        function : callable
            Called with the choice. What it returns is displayed, and so is what it displays or
            prints itself, and the error where it fails (without a notebook, in a script, that
            error is raised).

        Returns
        -------
        ipywidgets.VBox
            The picker and the output.
        """
        from IPython import get_ipython
        from IPython.display import display

        self.compact = True

        def run(value: Any) -> None:
            made = function(value)
            if made is not None:
                display(made)  # type: ignore[no-untyped-call]

        if getattr(get_ipython(), "kernel", None) is not None:
            shown = ipywidgets.interactive_output(run, {"value": self})
        else:
            # There is nothing to clear: interactive_output would print control characters.
            shown = ipywidgets.Output()
            self.observe(lambda change: run(change["new"]), "value")
            run(self.value)
        return ipywidgets.VBox([self, shown])

    def _value(self) -> Mapping[str, tuple[Any, ...]]:
        """The choice, by the name of the group."""
        raise NotImplementedError

    def _take(self, chosen: Mapping[str, tuple[Any, ...]]) -> None:
        """Apply a choice made in the browser."""
        raise NotImplementedError

    def _python(self) -> str:
        """The choice in Python, long values and lists elided."""
        raise NotImplementedError

    def __repr__(self) -> str:
        title = f" of {visible(self._title)}" if self._title else ""
        return f"<{type(self).__name__}{title}: {self._python()}>"

    def _repr_html_(self) -> str:
        """The choice as a table, where no kernel can show the widget."""
        chosen = self._value()
        rows = "".join(self._row(group, chosen[group.name]) for group in self._shown)
        title = f"<caption>{markup(self._title)}</caption>" if self._title else ""
        return (
            f'<div class="tex2jax_ignore"><table>{title}<tbody>{rows}</tbody></table>'
            f"<pre><code>{escape(self._python())}</code></pre></div>"
        )

    def _row(self, group: OptionGroup, values: Sequence[Any]) -> str:
        listed = [f"<bdi>{markup(str(value))}</bdi>" for value in values[:_SHOWN]]
        if len(values) > _SHOWN:
            listed.append(f"… {len(values) - _SHOWN:,} more")
        chosen = ", ".join(listed) or group.empty.format(f"{group.offered:,}")
        return (
            f'<tr><th style="text-align:left">{markup(group.title)}</th>'
            f'<td style="text-align:left">{chosen}</td></tr>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, "text/plain": repr(self), "text/html": self._repr_html_()}, metadata


def python_tuple(values: Sequence[str]) -> str:
    """A tuple of strings in Python, long ones elided."""
    # The ellipsis is outside the quotes: pasted, it is an error and not another value.
    listed = [f"{value[:_LONG]!r}{'…' * (len(value) > _LONG)}" for value in values[:_SHOWN]]
    if len(values) > _SHOWN:
        return f"({', '.join(listed)}, … {len(values) - _SHOWN:,} more)"
    return f"({', '.join(listed)}{',' if len(values) == 1 else ''})"


class OptionFlag(IntFlag):
    """Flags for the state of an option; ``picker.js`` uses the same numbers."""

    PLAIN = 0
    BOLD = 1
    """The own brand: shown in bold."""
    DIMMED = 2
    """Dimmed, such as an engine that is not configured."""
    DISABLED = 4
    """Shown, but cannot be chosen: the API has no such filter value."""
    STALE = 8
    """Chosen earlier, and no longer offered."""


class Option(NamedTuple):
    """One option: value, label, detail, note and flags."""

    value: Any
    label: str | None = None
    detail: str = ""
    note: str = ""
    mark: OptionFlag = OptionFlag.PLAIN


@dataclass(frozen=True)
class OptionGroup:
    """Options of one kind, of which one or several can be chosen.

    Parameters
    ----------
    name
        The name of the choice in Python.
    title
        The title for people.
    options
        The options; of equal values the first is used.
    one
        Whether exactly one is chosen.
    empty
        The text for an empty choice; ``{}`` is replaced by the number of options.
    rows
        The most rows shown without scrolling.
    """

    name: str
    title: str
    options: tuple[Option, ...]
    one: bool = False
    empty: str = "none chosen: all {}"
    rows: int = 8

    def __post_init__(self) -> None:
        first: dict[Any, Option] = {}
        for option in self.options:
            first.setdefault(option.value, option)
        object.__setattr__(self, "options", tuple(first.values()))

    @cached_property
    def places(self) -> dict[Any, int]:
        """The index of each value."""
        return {option.value: at for at, option in enumerate(self.options)}

    @cached_property
    def marks(self) -> np.ndarray:
        """The flags of each option, as numbers."""
        marks = (option.mark for option in self.options)
        return np.fromiter(marks, np.uint8, len(self.options))

    @cached_property
    def values(self) -> frozenset[Any]:
        """The values that can be chosen."""
        can = np.flatnonzero(self.marks & OptionFlag.DISABLED == 0)
        return frozenset(self.options[at].value for at in can.tolist())

    def among(self, chosen: Iterable[Any], mark: OptionFlag) -> tuple[Any, ...]:
        """The values of a choice whose options have a flag."""
        return tuple(value for value in chosen if self.marks[self.places[value]] & mark)

    @property
    def offered(self) -> int:
        """Count the options that can be chosen and are still offered."""
        return int(np.count_nonzero(self.marks & (OptionFlag.DISABLED | OptionFlag.STALE) == 0))

    def bits(self, chosen: Iterable[Any]) -> bytes:
        """Encode a choice, one bit per option, the first in the lowest bit."""
        flags = np.zeros(len(self.options), dtype=np.uint8)
        flags[[self.places[value] for value in chosen]] = 1
        return np.packbits(flags, bitorder="little").tobytes()

    def chosen(self, bits: bytes) -> tuple[Any, ...]:
        """Decode a choice, in the order of the options; disabled ones are ignored."""
        flags = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")
        taken = flags[: len(self.options)] & (self.marks & OptionFlag.DISABLED == 0)
        return tuple(self.options[at].value for at in np.flatnonzero(taken))

    def sent(self) -> dict[str, Any]:
        """Encode the group for ``picker.js``, column by column."""
        values = [option.value for option in self.options]
        labels = [str(option.label or option.value) for option in self.options]
        details = [option.detail for option in self.options]
        return {
            "name": self.name,
            "title": self.title,
            "one": self.one,
            "empty": self.empty,
            "rows": self.rows,
            "values": values,
            "labels": None if labels == values else labels,
            "details": details if any(details) else None,
            "notes": [option.note for option in self.options],
            "marks": self.marks.tobytes(),
        }


def with_stale(
    options: Sequence[Option], chosen: Iterable[Any], words: str = "{}"
) -> tuple[Option, ...]:
    """The options, preceded by chosen values that are not among them."""
    there = {option.value for option in options}
    gone = (
        Option(value, words.format(value), note="no longer offered", mark=OptionFlag.STALE)
        for value in chosen
        if value not in there
    )
    return (*gone, *options)
