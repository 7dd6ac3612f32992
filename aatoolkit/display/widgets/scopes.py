"""`ScopePicker`: choose the window and the filters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import ipywidgets
import pandas as pd
import traitlets

from aatoolkit._util.text import clipped
from aatoolkit.client.project import Project
from aatoolkit.display.widgets.picker import (
    Option,
    OptionFlag,
    OptionGroup,
    Picker,
    python_tuple,
    with_stale,
)
from aatoolkit.errors import AAToolkitWarning, ScopeError
from aatoolkit.scope import DAYS, FILTERS, UNTAGGED, Scope, ScopeOptions

_TITLES = {"engine": "Engines", "topic": "Topics", "category": "Categories", "brand": "Brands"}


class ScopePicker(Picker):
    """Choose a `Scope` from the allowed filter values of a project.

    An empty choice in a list means no filter. Choosing does not fetch anything: the next cell
    does, with ``picker.scope``.

    Parameters
    ----------
    options : ScopeOptions or Project
        The allowed filter values. If a project is given, its scope options are read once, as by
        ``project.scope_options()``.
    scope : Scope, optional
        The initial choice; the last 30 days without filters by default.
    disabled : bool
        Whether nothing can be chosen in the browser.
    layout : dict or ipywidgets.Layout, optional
        Width, height and borders, as of every widget.

    Attributes
    ----------
    scope : Scope
        The choice, also as ``value``. It can be set, and observed:
        ``picker.observe(function, "scope")``.
    options : ScopeOptions
        The allowed filter values. Others can be set; the choice is kept.
    vanished : dict of str to tuple
        Chosen values that are no longer offered, by filter.

    Raises
    ------
    ScopeError
        If a scope is set with a value that is not allowed; ``.suggestions`` has near matches.
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

    _call = "aa.Scope"

    # Of the plainest type, which does not let None past the check below.
    scope: traitlets.TraitType[Any, Any] = traitlets.TraitType(default_value=None)

    def __init__(
        self,
        options: ScopeOptions | Project,
        scope: Scope | None = None,
        *,
        disabled: bool = False,
        layout: ipywidgets.Layout | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(disabled, layout)
        self._offer(options.scope_options() if isinstance(options, Project) else options)
        if scope is not None:
            self.scope = scope

    @property
    def options(self) -> ScopeOptions:
        """The allowed filter values."""
        return self._options

    @options.setter
    def options(self, options: ScopeOptions) -> None:
        before = self.vanished
        self._offer(options)
        fresh = {name: gone for name, gone in self.vanished.items() if gone != before.get(name)}
        if fresh:
            listed = "; ".join(
                f"{name} {python_tuple(list(map(str, values)))}" for name, values in fresh.items()
            )
            warnings.warn(
                f"no longer offered, and still chosen: {listed}", AAToolkitWarning, stacklevel=3
            )

    @property
    def vanished(self) -> dict[str, tuple[Any, ...]]:
        """Chosen values that are no longer offered, by filter."""
        chosen = self._value()
        found = {each.name: each.among(chosen[each.name], OptionFlag.STALE) for each in self._shown}
        return {name: values for name, values in found.items() if values}

    def _offer(self, options: ScopeOptions) -> None:
        scope = self.scope or _first(options)
        self._options, self._title = options, options.host
        self._show(tuple(_groups(options, _chosen(scope))), _chosen(scope))
        self.scope = scope

    @traitlets.validate("scope", "value")
    def _scope_is_known(self, proposal: Any) -> Scope:
        scope = proposal["value"]
        if not isinstance(scope, Scope):
            raise ScopeError(
                f"{clipped(repr(scope))} is not a Scope; write aa.Scope(days=7, engine='chatgpt')",
                parameter="scope",
            )
        shown = {group.name: group.values for group in self._shown}
        # Every listed value may be chosen, also those that are no longer offered.
        unknown = {
            name: tuple(value for value in values if value not in shown[name])
            for name, values in scope._filters.items()
        }
        if any(unknown.values()) or scope.days not in shown["days"]:
            Scope(scope.days, **unknown)._check(self.options)
        if any(unknown.values()):
            # Of a list that is not known any value may be chosen; it is shown from now on.
            self._show(tuple(_groups(self.options, _chosen(scope))), _chosen(scope))
        return scope

    @traitlets.observe("scope")
    def _show_scope(self, _: Any) -> None:
        self._choose(self._value())
        self.value = self.scope

    @traitlets.observe("value")
    def _take_value(self, _: Any) -> None:
        self.scope = self.value

    def _value(self) -> Mapping[str, tuple[Any, ...]]:
        return _chosen(self.scope)

    def _take(self, chosen: Mapping[str, tuple[Any, ...]]) -> None:
        (days,) = chosen["days"] or (self.scope.days,)
        self.scope = Scope(days, **{name: chosen[name] for name in FILTERS})

    def _python(self) -> str:
        filters = (f"{name}={python_tuple(values)}" for name, values in self.scope._filters.items())
        return f"aa.Scope({', '.join([f'days={self.scope.days}', *filters])})"


def _chosen(scope: Scope) -> dict[str, tuple[Any, ...]]:
    return {"days": (scope.days,), **{name: getattr(scope, name) for name in FILTERS}}


def _first(options: ScopeOptions) -> Scope:
    """The last 30 days, or the first window offered, without filters."""
    usual = Scope().days
    offered = [days for days in options.days if days in DAYS]
    return Scope(usual if usual in offered or not offered else offered[0])


def _groups(options: ScopeOptions, chosen: Mapping[str, tuple[Any, ...]]) -> Iterator[OptionGroup]:
    """The windows and the four filters, with chosen values that are no longer offered."""
    days = [
        Option(
            days,
            f"{days} day{'s' * (days != 1)}",
            mark=OptionFlag.PLAIN if days in DAYS else OptionFlag.DISABLED,
        )
        for days in options.days
    ]
    yield OptionGroup("days", "Window", with_stale(days, chosen["days"], "{} days"), one=True)
    for name, frame, listed in (
        ("engine", options.engines, _engines(options.engines)),
        ("topic", options.topics, _tagged(options.topics, "topic", options.untagged)),
        ("category", options.categories, _tagged(options.categories, "category", options.untagged)),
        ("brand", options.brands, _brands(options.brands)),
    ):
        offered = list(_with_disabled(name, list(listed)))
        if name in options.unknown:
            # What is not listed is not known to be gone.
            offered += [Option(value) for value in chosen[name]]
        shown = with_stale(offered, chosen[name])
        empty = _empty(frame, offered)
        if name in options.unknown:
            empty = f"list not known: set .scope = aa.Scope({name}=…)"
        yield OptionGroup(name, _TITLES[name], shown, empty=empty)


def _empty(frame: pd.DataFrame, offered: list[Option]) -> str:
    """The text for no choice, which is read without a filter."""
    if offered:
        return "none chosen: all {}"
    return f"{'not in the response' if _is_absent(frame) else 'none offered'}: no filter"


def _is_absent(frame: pd.DataFrame, *columns: str) -> bool:
    """Whether the answer lacks some columns; by default, all of them."""
    causes = frame.aa.availability["cause"]
    return bool(causes.reindex([*columns] or causes.index).eq("absent").fillna(False).all())


def _engines(frame: pd.DataFrame) -> Iterator[Option]:
    unrecorded = "" if _is_absent(frame, "last_run_day") else "no run recorded"
    for engine, label, configured, ran in _rows(
        frame, "engine", "label", "configured", "last_run_day"
    ):
        off = configured is not None and not configured
        run = f"last run {ran:%Y-%m-%d}" if ran is not None else unrecorded
        note = _notes("not configured" if off else "", run)
        yield Option(engine, label, note=note, mark=OptionFlag.DIMMED if off else OptionFlag.PLAIN)


def _tagged(frame: pd.DataFrame, name: str, untagged: Mapping[str, int | None]) -> Iterator[Option]:
    for value, count in _rows(frame, name, "prompt_count"):
        yield Option(value, note=_prompts(count))
    if name in untagged:
        note = _notes(_prompts(untagged[name]), "no filter")
        yield Option(UNTAGGED, f"no {name}", note=note, mark=OptionFlag.DISABLED)


def _notes(*notes: str) -> str:
    return " · ".join(filter(None, notes))


def _prompts(count: int | None) -> str:
    return "" if count is None else f"{count:,} prompt{'s' * (count != 1)}"


def _brands(frame: pd.DataFrame) -> Iterator[Option]:
    for brand, tracked, own in _rows(frame, "brand", "tracked", "own"):
        notes = ["own"] if own else []
        if tracked is not None:
            notes.append("tracked" if tracked else "not tracked")
        mark = OptionFlag.BOLD if own else OptionFlag.PLAIN
        yield Option(brand, note=_notes(*notes), mark=mark)


def _rows(frame: pd.DataFrame, *names: str) -> Iterator[tuple[Any, ...]]:
    """The rows with a first column, missing values as None."""
    columns = (frame[name].astype(object).where(frame[name].notna(), None) for name in names)
    return (row for row in zip(*columns, strict=True) if row[0] is not None)


def _with_disabled(name: str, options: list[Option]) -> Iterator[Option]:
    """The options, disabled where the API does not accept the value as a filter."""
    if _is_allowed(name, [option.value for option in options]):
        yield from options
        return
    for option in options:
        if _is_allowed(name, option.value):
            yield option
        else:
            why = "has a comma, no filter" if "," in option.value else "no filter"
            yield Option(option.value, option.label, note=why, mark=OptionFlag.DISABLED)


def _is_allowed(name: str, values: Any) -> bool:
    try:
        Scope(**{name: values})
    except ScopeError:
        return False
    return True
