"""Pickers: widgets to choose filters and sections in a notebook.

A picker only edits a value, `ScopePicker.scope` or `SectionPicker.sections`, and shows it as Python
code. To read data, use the value in the next cell. ``picker.js`` draws each picker as a single
widget, so 50,000 options are drawn as fast as five. No network is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import anywidget
import ipywidgets
import numpy as np
import pandas as pd
import traitlets

from aatoolkit._util.attributes import ShortHelpMeta
from aatoolkit._util.text import Names, clipped, code, counted, visible
from aatoolkit.client.client import Project
from aatoolkit.client.reading import check_sections, section_names
from aatoolkit.errors import ScopeError
from aatoolkit.scope import ALLOWED_DAYS, FILTERS, Scope, ScopeOptions
from aatoolkit.sections import default_profile
from aatoolkit.sections.declared import PROFILE

_ASSET_FOLDER = Path(__file__).parent

_BOLD_FLAG = 1
_DIMMED_FLAG = 2
_DISABLED_FLAG = 4
"""Bit flags of options, as in ``picker.js``: for an own brand, for an option that gives no data,
and for one that cannot be a filter.
"""

ValuesByGroup = Mapping[str, Sequence[Any]]
"""The values that the user has chosen, by the name of their group of options."""


class _Option(NamedTuple):
    """An option of a picker.

    - ``label``: its text; by default its value.
    - ``note``: a remark beside it, and ``description`` a longer text below it.
    - ``bit_flags``: the sum of its bit flags, such as ``_BOLD_FLAG``.
    """

    value: Any
    label: str | None = None
    note: str = ""
    bit_flags: int = 0
    description: str = ""


class _OptionGroup:
    """A group of options, such as engines, of which the user can choose one or several.

    ``empty_text`` is shown if no option is chosen. With ``is_single``, only one can be chosen.
    ``visible_rows`` is the number of options that are visible at once. The attribute ``message``
    is a dict on the group, which is sent to the browser.
    """

    def __init__(
        self,
        name: str,
        title: str,
        options: Iterable[_Option],
        empty_text: str = "none chosen: all {}",
        is_single: bool = False,
        visible_rows: int = 8,
    ) -> None:
        option_by_value = {option.value: option for option in reversed([*options])}
        distinct_options = [*reversed(option_by_value.values())]
        self.name = name
        self._values = [option.value for option in distinct_options]
        self._bit_flags = np.array([option.bit_flags for option in distinct_options], np.uint8)
        self.message = {
            "name": name,
            "title": title,
            "one": is_single,
            "empty": empty_text,
            "rows": visible_rows,
            "values": self._values,
            "labels": [str(option.label or option.value) for option in distinct_options],
            "details": [option.description for option in distinct_options],
            "notes": [option.note for option in distinct_options],
            "marks": self._bit_flags.tobytes(),
        }

    def to_bits(self, values: Iterable[Any]) -> bytes:
        """Return a bit field with one bit per option, set if its value is in ``values``."""
        chosen_values = {*values}
        is_chosen = np.array([value in chosen_values for value in self._values], bool)
        return np.packbits(is_chosen, bitorder="little").tobytes()

    def from_bits(self, packed_bits: bytes) -> tuple[Any, ...]:
        """Return the values of the options whose bits are set, except disabled options."""
        is_chosen = np.unpackbits(np.frombuffer(packed_bits, np.uint8), bitorder="little")
        is_chosen = is_chosen[: len(self._values)] & (self._bit_flags & _DISABLED_FLAG == 0)
        return tuple(compress(self._values, is_chosen))


class _PickerType(ShortHelpMeta, type(anywidget.AnyWidget)):  # type: ignore[misc]
    """The metaclass of pickers; it shortens the output of ``help()``."""


class Picker(anywidget.AnyWidget, ipywidgets.ValueWidget, metaclass=_PickerType):  # type: ignore[misc]
    """A widget to choose from groups of options.

    Like every widget with a ``value``, a picker can be passed to ``ipywidgets.interact`` and
    ``interactive_output``.

    Attributes
    ----------
    value : object
        The choice. You can set it, and observe it: ``picker.observe(function, "value")``.
    compact : bool
        Whether the options are hidden, so that only one line shows the choice. ``show`` sets it to
        True.
    """

    # The plainest type: other types accept None without the check below.
    value: traitlets.TraitType[Any, Any] = traitlets.TraitType(
        default_value=None, help="The choice."
    )
    compact = traitlets.Bool(False, help="Whether the options are in a fold.").tag(sync=True)
    description = ""

    _esm = _ASSET_FOLDER / "picker.js"
    _css = _ASSET_FOLDER / "picker.css"
    _groups = traitlets.Dict().tag(sync=True)
    _choice = traitlets.Dict().tag(sync=True)
    _received = traitlets.Int(0).tag(sync=True)

    _class_code = ""

    # Each picker defines four methods: `_check_value`, to check a value that is set;
    # `_current_choice`, to give the current choice by the name of the group; `_choice_to_value`, to
    # make a value of a choice in the browser; and `_python_code`, to write it in Python.

    def __init__(self, title: str, groups: Iterable[_OptionGroup], value: Any) -> None:
        super().__init__()
        self._title = title
        self._option_groups = [*groups]
        group_messages = [group.message for group in self._option_groups]
        self._groups = {"title": title, "call": self._class_code, "groups": group_messages}
        self.value = value

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name.startswith("_") or hasattr(type(self), name)):
            raise AttributeError(
                f"{type(self).__name__} has no attribute {name!r}; set what is chosen as a whole, "
                f"such as picker.value = {self._python_code()}"
            )
        super().__setattr__(name, value)

    @traitlets.validate("value")
    def _validate_value(self, proposal: Any) -> Any:
        return self._check_value(proposal["value"])

    @traitlets.observe("value")
    def _send_choice(self, _: Any) -> None:
        choice = self._current_choice()
        packed_bits = [group.to_bits(choice[group.name]) for group in self._option_groups]
        if packed_bits != [*map(bytes, self._choice.get("bits", ()))]:
            # A choice from the browser is not sent back, because it may have changed since.
            self._choice = {"bits": packed_bits}

    @traitlets.observe("_choice")
    def _receive_choice(self, change: Any) -> None:
        choice = change["new"]
        if "number" in choice:  # the choice was made in the browser
            # This confirms it: without a kernel, the page sees no confirmation.
            self._received = choice["number"]
            groups_with_bits = zip(self._option_groups, choice["bits"], strict=True)
            self.value = self._choice_to_value(
                {
                    group.name: group.from_bits(packed_bits)
                    for group, packed_bits in groups_with_bits
                }
            )

    def show(self, function: Callable[[Any], Any]) -> ipywidgets.VBox:
        """Return a widget: the collapsed picker, and below it a function's output for the choice.

        The function is called again whenever the choice changes. For example, this is a dashboard:
        ``picker.show(lambda scope: project.read("domains", scope).main.aa.plot())``.

        Parameters
        ----------
        function : callable
            It is called with the choice. What it returns, displays or prints is shown. An error is
            displayed in a notebook, and raised in a script.

        Returns
        -------
        ipywidgets.VBox
            The picker and the output.
        """
        from IPython.display import display

        self.compact = True

        def show_output(value: Any) -> None:
            returned_value = function(value)
            if returned_value is not None:
                display(returned_value)  # type: ignore[no-untyped-call]

        output_widget = ipywidgets.interactive_output(show_output, {"value": self})
        return ipywidgets.VBox([self, output_widget])

    def __repr__(self) -> str:
        title = f" of {visible(self._title)}" if self._title else ""
        return f"<{type(self).__name__}{title}: {self._python_code()}>"

    def _repr_html_(self) -> str:
        """Return the choice as Python code in HTML, for pages that cannot show the widget."""
        return code(repr(self))

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return {**bundle, "text/plain": repr(self), "text/html": self._repr_html_()}, metadata


# -- scopes ------------------------------------------------------------------------------------


class ScopePicker(Picker):
    """A notebook widget to choose a `Scope`, i.e. the days and filters of a request.

    If you choose nothing in a list, that filter is not used. The widget reads no data; to read
    data, use ``picker.scope`` in the next cell.

    Parameters
    ----------
    options : ScopeOptions or Project
        The allowed filter values. For a project, its ``project.scope_options()`` are read once.
    scope : Scope, optional
        The initial choice; by default the last 30 days without filters.

    Attributes
    ----------
    options : ScopeOptions
        The allowed filter values.

    Raises
    ------
    ScopeError
        If you set a scope with a value that is not allowed. The error's ``.suggestions`` has near
        matches.
    FetchError
        If a project is given and its scope options cannot be read.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> picker = aa.ScopePicker(aa.demo().scope_options())
    >>> picker.scope = aa.Scope(days=7, engine="gemini")
    >>> picker
    <ScopePicker of acme.example: aa.Scope(days=7, engine=('gemini',))>
    """

    _class_code = "aa.Scope"
    options: Any = None

    def __init__(self, options: ScopeOptions | Project, scope: Scope | None = None) -> None:
        if isinstance(options, Project):
            options = options.scope_options()
        self.options = options
        if scope is None:
            default_days = Scope().days
            days = [days for days in options.days if days in ALLOWED_DAYS]
            scope = Scope(default_days if default_days in days else days[0])
        super().__init__(options.host, _make_scope_groups(options), scope)

    @property
    def scope(self) -> Scope:
        """The chosen `Scope` (days and filters), which is also in ``value``; you can set it."""
        return self.value  # type: ignore[no-any-return]

    @scope.setter
    def scope(self, scope: Scope) -> None:
        self.value = scope

    def _check_value(self, value: Any) -> Scope:
        if not isinstance(value, Scope):
            raise ScopeError(
                f"{clipped(repr(value))} is not a Scope; write aa.Scope(days=7, engine='chatgpt')",
                parameter="scope",
            )
        return value._check(self.options)

    def _current_choice(self) -> ValuesByGroup:
        return {"days": (self.scope.days,), **{name: getattr(self.scope, name) for name in FILTERS}}

    def _choice_to_value(self, choice: ValuesByGroup) -> Scope:
        (days,) = choice["days"] or (self.scope.days,)
        filters = {name: choice[name] for name in FILTERS if name not in self.options.unknown}
        return self.scope._replace(days=days, **filters)

    def _python_code(self) -> str:
        return clipped(f"aa.{self.scope!r}")


def _make_scope_groups(options: ScopeOptions) -> Iterator[_OptionGroup]:
    """Yield the groups of options: first the numbers of days, then one group for each filter."""
    day_options = (
        _Option(days, counted(days, "day"), bit_flags=_DISABLED_FLAG * (days not in ALLOWED_DAYS))
        for days in options.days
    )
    yield _OptionGroup("days", "Window", day_options, is_single=True)
    for name, plural in FILTERS.items():
        filter_options = [
            *_make_filter_options(
                getattr(options, plural), name, "no run recorded" * options.has_runs
            )
        ]
        empty_text = "none chosen: all {}" if filter_options else "none offered: no filter"
        if name in options.unknown:
            empty_text = f"list not known: set .scope = aa.Scope({name}=…)"
        yield _OptionGroup(name, plural.capitalize(), filter_options, empty_text)


_NOTE_COLUMNS = ("label", "own", "tracked", "configured", "prompt_count", "last_run_day")


def _make_filter_options(frame: pd.DataFrame, name: str, no_run_note: str) -> Iterator[_Option]:
    """Yield an option for each value of a filter, with a note from its row in ``frame``.

    ``name`` is the filter, and the column of its values. ``no_run_note`` is the note for an engine
    (AI assistant) whose last run is not recorded.
    """
    note_cells = frame.reindex(columns=[name, *_NOTE_COLUMNS]).astype(object).dropna(subset=name)
    rows = note_cells.where(note_cells.notna(), None).itertuples(index=False, name=None)
    for value, label, is_own, is_tracked, is_configured, prompt_count, last_run_day in rows:
        is_not_configured = is_configured is False
        is_unusable = "," in str(value)
        notes = (
            "has a comma, no filter" * is_unusable,
            "own" * bool(is_own),
            {None: "", True: "tracked", False: "not tracked"}[is_tracked],
            "not configured" * is_not_configured,
            "" if prompt_count is None else counted(prompt_count, "prompt"),
            f"last run {last_run_day:%Y-%m-%d}"
            if last_run_day
            else no_run_note * ("last_run_day" in frame),
        )
        note = " · ".join(filter(None, notes))
        bit_flags = (
            _DISABLED_FLAG * is_unusable
            or _BOLD_FLAG * bool(is_own)
            or _DIMMED_FLAG * is_not_configured
        )
        yield _Option(value, label, note, bit_flags)


# -- sections ----------------------------------------------------------------------------------


class SectionPicker(Picker):
    """A notebook widget to choose sections, which are listed with their descriptions.

    Parameters
    ----------
    project : Project, optional
        The project, whose profile says which sections there are. By default the profile that is
        part of aatoolkit.
    chosen : str or iterable of str, optional
        The initial choice; by default the sections that the profile declares.

    Raises
    ------
    ScopeError
        If there is no such section. The error's ``.suggestions`` has near matches.

    Examples
    --------
    >>> picker = SectionPicker(chosen=["urls", "domains"])
    >>> picker.sections
    ('domains', 'urls')
    """

    def __init__(self, project: Project | None = None, chosen: Names | None = None) -> None:
        profile = default_profile() if project is None else project.client.profile
        profile_sections = section_names(profile)
        options = [
            _Option(name, description=(profile.get(name) or PROFILE[name]).doc)
            for name in profile_sections
        ]
        self._profile = profile
        group = _OptionGroup(
            "sections", "Sections", options, "none of {}", visible_rows=len(options)
        )
        super().__init__("", [group], check_sections(chosen, profile))

    @property
    def sections(self) -> tuple[str, ...]:
        """The names of the chosen sections, sorted; the same as ``value``. You can set them."""
        return self.value  # type: ignore[no-any-return]

    @sections.setter
    def sections(self, sections: Names) -> None:
        self.value = sections

    def _check_value(self, value: Any) -> tuple[str, ...]:
        return tuple(sorted(check_sections(value, self._profile)))

    def _current_choice(self) -> ValuesByGroup:
        return {"sections": self.sections}

    def _choice_to_value(self, choice: ValuesByGroup) -> Sequence[str]:
        return choice["sections"]

    def _python_code(self) -> str:
        return clipped(repr(self.sections))
