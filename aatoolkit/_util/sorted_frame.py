"""`SortedFrame`: a DataFrame that remembers which columns its rows were sorted by."""

from __future__ import annotations

from typing import Any

import pandas as pd


class SortedFrame(pd.DataFrame):
    """A DataFrame whose columns that its rows were last sorted by can be kept in sight.

    Examples
    --------
    >>> SortedFrame({"n": [2, 1], "m": [1, 2]}).sort_values("n").head(1)._sorted_by
    ('n',)
    """

    _metadata = ["_sorted_by"]  # noqa: RUF012 -- pandas asks for a list
    _sorted_by: tuple[str, ...] = ()

    @property
    def _constructor(self) -> type[SortedFrame]:
        return SortedFrame

    def sort_values(self, by: Any, **options: Any) -> Any:
        """Sort the rows; see `pandas.DataFrame.sort_values`."""
        result = super().sort_values(by, **options)
        names = tuple(map(str, by if isinstance(by, list | tuple) else [by]))
        (self if result is None else result)._sorted_by = names
        return result

    def sort_index(self, **options: Any) -> Any:
        """Sort the rows by their labels; see `pandas.DataFrame.sort_index`."""
        result = super().sort_index(**options)
        (self if result is None else result)._sorted_by = ()
        return result
