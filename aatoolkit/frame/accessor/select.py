"""Verbs that check and select columns by availability: `require`, `drop_unavailable`."""

from __future__ import annotations

import pandas as pd

from aatoolkit.frame import require


class Select:
    """Columns chosen by whether they were measured."""

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
        AvailabilityError
            If one is not there, holds no measurement, or was overwritten; ``.columns`` says why.

        Examples
        --------
        >>> pd.DataFrame({"n": [0]}).aa.require("n")
           n
        0  0
        """
        return require.require(self._frame, columns)

    def drop_unavailable(self) -> pd.DataFrame:
        """Leave out the columns that could not be measured or do not apply; the key stays.

        Returns
        -------
        pandas.DataFrame
            A new frame. What is unknown or partly measured stays in it.

        Examples
        --------
        >>> pd.DataFrame({"n": [0]}).aa.drop_unavailable().columns.tolist()
        ['n']
        """
        return require.drop_unavailable(self._frame)
