"""Verbs that check and select by availability: `require`, `measured`."""

from __future__ import annotations

import pandas as pd

from aatoolkit.frame import require


class Select:
    """Methods that select columns and rows by whether they were measured."""

    _frame: pd.DataFrame

    def require(self, *columns: str) -> pd.DataFrame:
        """Return the frame if these columns could be measured, at least in part.

        A column of which nothing is known passes if it holds a value.

        Parameters
        ----------
        *columns : str
            Their names.

        Returns
        -------
        pandas.DataFrame
            The frame itself.

        Raises
        ------
        ColumnNotFound
            If one is not there.
        AvailabilityError
            If one holds no measurement, or was overwritten; ``.columns`` says why.

        Examples
        --------
        >>> pd.DataFrame({"n": [0]}).aa.require("n")
           n
        0  0
        """
        return require.require(self._frame, columns)

    def measured(self, *columns: str, drop: bool = False) -> pd.DataFrame:
        """Select the rows in which these columns were measured, wholly or in part.

        A number counts unless the service says, of its cell, row or column, that there is none:
        a zero that was not measured is left out, and one that was stays.

        Parameters
        ----------
        *columns : str
            Their names; a row stays if all of them were measured. By default all numbers that are
            not part of the key, and a row stays if any of them was measured.
        drop : bool, default False
            Leave out the columns, too, that could not be measured or do not apply; the key stays,
            and so does what is unknown or partly measured.

        Returns
        -------
        pandas.DataFrame
            The rows, in their order and with their index.

        Raises
        ------
        ColumnNotFound
            If there is no such column.

        Examples
        --------
        >>> pd.DataFrame({"n": [0, None, 2]}).aa.measured("n")["n"].tolist()
        [0.0, 2.0]
        """
        frame = require.measured(self._frame, columns)
        return require.drop_unavailable(frame) if drop else frame
