"""``df.aa``: the accessor that every DataFrame gets, one file per family of verbs.

- ``describe``: ``availability``, ``codebook``, ``sources``
- ``combine``: ``merge``, ``rename``, ``adopt``
- ``measures``: ``aggregate``, ``complete``
- ``statistics``: ``interval``, ``compare``, ``decompose``
- ``listings``: ``rank``, ``concentration``, ``overlap``
- ``repeats``: ``stability``, ``changes``
- ``select``: ``require``, ``measured``
- ``reshape``: ``to_long``, ``with_context``
- ``explain``: ``explain``
- ``plot``: ``plot``
- ``export``: ``to_parquet``, ``to_excel``
- ``overview``: the verbs by purpose, as ``df.aa`` prints them

Each holds signatures and documentation only; the work is done by the modules of `aatoolkit.frame`.
A new verb goes into the family it belongs to, a new family into a file and into `Accessor`.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pandas as pd

from aatoolkit._util.attributes import NamesNear
from aatoolkit.frame.accessor.combine import Combine
from aatoolkit.frame.accessor.describe import Describe
from aatoolkit.frame.accessor.explain import Explain
from aatoolkit.frame.accessor.export import Export
from aatoolkit.frame.accessor.listings import Listings
from aatoolkit.frame.accessor.measures import Measures
from aatoolkit.frame.accessor.overview import as_text
from aatoolkit.frame.accessor.plot import Plot
from aatoolkit.frame.accessor.repeats import Repeats
from aatoolkit.frame.accessor.reshape import Reshape
from aatoolkit.frame.accessor.select import Select
from aatoolkit.frame.accessor.statistics import Statistics


class Accessor(
    Describe,
    Combine,
    Measures,
    Statistics,
    Repeats,
    Listings,
    Select,
    Reshape,
    Explain,
    Plot,
    Export,
    NamesNear,
):
    """What can be done with a frame that was read: ``print(df.aa)`` lists it, a line a verb.

    All work on any frame, never change it, and need no network. ``help(df.aa.merge)`` has the
    arguments and examples of one.

    Examples
    --------
    >>> frame = pd.DataFrame({"n": [1]})
    >>> frame.aa.availability["status"].tolist()
    ['unknown']
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def _item_named(self, name: str) -> str:
        if name in self._frame.columns:
            return f"it is a column: write df[{name!r}]"
        return f"pandas has it: write df.{name}" if hasattr(pd.DataFrame, name) else ""


class _Help:
    """The docstring of the class, and of an accessor the verbs by what they are for."""

    def __init__(self, doc: str) -> None:
        self._doc = doc

    def __get__(self, accessor: object, kind: type) -> str:
        return self._doc if accessor is None else as_text(kind, f"{self._doc}\n")


if not TYPE_CHECKING:
    # One class without bases: its help begins with what it can do, not with eleven families.
    _members: dict[str, object] = {}
    for _family in reversed(Accessor.__mro__[:-1]):
        _members |= {
            name: member
            for name, member in vars(_family).items()
            if name not in ("__dict__", "__weakref__")
        }
    _members["__doc__"] = _Help(inspect.getdoc(Accessor))
    Accessor = type("Accessor", (), _members)
