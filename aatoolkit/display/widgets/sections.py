"""`SectionPicker`: choose sections of the API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import ipywidgets
import traitlets

from aatoolkit import sections as declared
from aatoolkit._util.text import clipped
from aatoolkit.client.dataset import Dataset
from aatoolkit.display.widgets.picker import (
    Option,
    OptionFlag,
    OptionGroup,
    Picker,
    python_tuple,
    with_stale,
)
from aatoolkit.errors import ScopeError, did_you_mean, near_matches
from aatoolkit.normalizer.tables import Tables

_ABSENT = ("unavailable", "not applicable")


class SectionPicker(Picker):
    """Choose sections, each with its description.

    Parameters
    ----------
    dataset : Dataset, optional
        A dataset that was read: each section is then shown with the availability and the number
        of rows of its main table, or with its error.
    chosen : str or iterable of str, optional
        The initial choice; all sections by default.
    disabled : bool
        Whether nothing can be chosen in the browser.
    layout : dict or ipywidgets.Layout, optional
        Width, height and borders, as of every widget.

    Attributes
    ----------
    sections : tuple of str
        The choice, in alphabetical order, also as ``value``. It can be set, and observed:
        ``picker.observe(function, "sections")``.
    dataset : Dataset or None
        The dataset; another can be set.

    Raises
    ------
    ScopeError
        If there is no such section; ``.suggestions`` has near matches.

    Examples
    --------
    >>> picker = SectionPicker(chosen=["urls", "domains"])
    >>> picker.sections
    ('domains', 'urls')
    """

    # Of the plainest type, which does not let None past the check below.
    sections: traitlets.TraitType[Any, Any] = traitlets.TraitType(default_value=())

    def __init__(
        self,
        dataset: Dataset | None = None,
        chosen: str | Iterable[str] | None = None,
        *,
        disabled: bool = False,
        layout: ipywidgets.Layout | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(disabled, layout)
        self._offer(dataset)
        self.sections = declared.names() if chosen is None else chosen

    @property
    def dataset(self) -> Dataset | None:
        """The dataset."""
        return self._dataset

    @dataset.setter
    def dataset(self, dataset: Dataset | None) -> None:
        self._offer(dataset)

    def _offer(self, dataset: Dataset | None) -> None:
        self._dataset = dataset
        options = [
            Option(name, detail=declared.get(name).doc, **_read(dataset, name))
            for name in declared.names()
        ]
        group = OptionGroup(
            "sections",
            "Sections",
            with_stale(options, self.sections),
            empty="none of {}",
            rows=len(options),
        )
        self._show([group], self._value())

    @traitlets.validate("sections", "value")
    def _sections_are_known(self, proposal: Any) -> tuple[str, ...]:
        given = proposal["value"]
        several = isinstance(given, Iterable) and not isinstance(given, str)
        chosen = list(given) if several else [given]
        (group,) = self._shown
        unknown = tuple(
            str(name) for name in chosen if not isinstance(name, str) or name not in group.places
        )
        if unknown:
            near = near_matches(unknown, declared.names())
            hint = did_you_mean(near, "see aa.sections.names()")
            named = ", ".join(clipped(repr(name)) for name in unknown)
            raise ScopeError(
                f"no section is called {named}; {hint}",
                parameter="section",
                unknown=unknown,
                suggestions=near,
            )
        return tuple(sorted({*chosen}))

    @traitlets.observe("sections")
    def _show_sections(self, _: Any) -> None:
        self._choose(self._value())
        self.value = self.sections

    @traitlets.observe("value")
    def _take_value(self, _: Any) -> None:
        self.sections = self.value

    def _value(self) -> Mapping[str, tuple[Any, ...]]:
        return {"sections": self.sections}

    def _take(self, chosen: Mapping[str, tuple[Any, ...]]) -> None:
        self.sections = chosen["sections"]

    def _python(self) -> str:
        return python_tuple(self.sections)


def _read(dataset: Dataset | None, name: str) -> dict[str, Any]:
    """The note and the flag of a section of a dataset."""
    if dataset is None:
        return {}
    if name in dataset.errors:
        return {"note": f"failed: {type(dataset.errors[name]).__name__}", "mark": OptionFlag.DIMMED}
    if name not in dataset:
        return {"note": "not read"}
    return _measured(dataset[name])


def _measured(tables: Tables) -> dict[str, Any]:
    main = next(iter(tables))
    rows = tables.rows[main]
    counted = f" · {rows:,} row{'s' * (rows != 1)}" if rows else ""
    absent = tables._words[main].startswith(_ABSENT)
    status, _, _ = tables._shown(main).partition(":")
    return {
        "note": f"{status}{counted}",
        "mark": OptionFlag.DIMMED if absent else OptionFlag.PLAIN,
    }
