"""Verbs that change the form of a frame: `to_long`, `with_context`."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from aatoolkit.frame import reshape


class Reshape:
    """Methods that lay out the same cells in another form."""

    _frame: pd.DataFrame

    def to_long(self, columns: str | Iterable[str] | None = None) -> pd.DataFrame:
        """Reshape to one row per cell: its value, availability and unit.

        Parameters
        ----------
        columns : str or list of str, optional
            The numbers to lay out; by default all that are no key. The other columns identify
            the rows; one that is named like what is added gets an underscore after its name.

        Returns
        -------
        pandas.DataFrame
            Those columns, then ``variable``, ``value``, ``unit``, ``availability``,
            ``availability_cause`` and ``availability_reason``. Values are Int64 if all the
            numbers are whole by dtype, and Float64 otherwise.

        Raises
        ------
        ColumnNotFound
            If there is no such column.
        AvailabilityError
            If one holds no numbers.
        NotWritten
            If a whole number is too large to stand beside fractions exactly.

        Examples
        --------
        >>> frame = pd.DataFrame({"engine": ["chatgpt"], "n": [3], "m": [4]})
        >>> frame.aa.to_long()[["engine", "variable", "value", "availability"]]
            engine variable  value availability
        0  chatgpt        n      3      unknown
        1  chatgpt        m      4      unknown
        """
        return reshape.to_long(self._frame, columns)

    def with_context(self) -> pd.DataFrame:
        """Insert columns for the host, window and filters that the rows were read with.

        Returns
        -------
        pandas.DataFrame
            The frame with ``host``, ``days``, ``window_start`` and ``window_end`` (missing
            where the answer does not give them), ``filter_engine``, ``filter_topic``,
            ``filter_category``, ``filter_brand`` (missing where nothing was filtered) and
            ``fetched_at`` before its columns.

        Raises
        ------
        AvailabilityError
            If the frame was not read from exactly one answer, or has such a column.
        """
        return reshape.with_context(self._frame)
