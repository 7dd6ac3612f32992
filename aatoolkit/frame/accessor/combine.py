"""Verbs that combine or rename like pandas and keep the metadata: `merge`, `rename`, `adopt`."""

from __future__ import annotations

from typing import Any

import pandas as pd

from aatoolkit.frame import merge
from aatoolkit.frame.unmatched import warn_of_unmatched


class Combine:
    """Methods of pandas, with the metadata carried along."""

    _frame: pd.DataFrame

    def merge(
        self,
        right: pd.DataFrame,
        how: str = "inner",
        on: Any = None,
        left_on: Any = None,
        right_on: Any = None,
        left_index: bool = False,
        right_index: bool = False,
        sort: bool = False,
        suffixes: tuple[str | None, str | None] = ("_x", "_y"),
        indicator: bool | str = False,
        validate: str | None = None,
    ) -> pd.DataFrame:
        """`pandas.DataFrame.merge` that keeps the metadata of both frames.

        A column keeps its metadata under its new name, suffixes included. Where rows have no match,
        the columns that they lack are ``partial`` with the cause ``no_row``. A column on which
        both are merged is described by the side that holds all its values, else by the join
        of both. The sources of both are kept. Columns of a frame of your own, such as a CSV
        file, count once for each of its rows, however often the merge repeats them: rows are
        distinguished by what they are merged on, or by the columns that it takes beside.

        Parameters
        ----------
        right : pandas.DataFrame
            The other frame; it need not have metadata.
        how, on, left_on, right_on, left_index, right_index, sort, suffixes, indicator, validate
            As in `pandas.DataFrame.merge`.

        Returns
        -------
        pandas.DataFrame
            A new frame.

        Raises
        ------
        ArgumentError
            If pandas refuses the merge, or no key is named and it would join on measures.
        ColumnNotFound
            If a key is no column of its frame.
        MetadataError
            If a frame's metadata is damaged, or newer than this version can read.

        Warns
        -----
        MergeWarning
            If no value of a key is on both sides, or some differ by case, spaces or accents only;
            beside a frame of your own also if rows of keys without a partner are left out, with
            their number on each side.

        Examples
        --------
        >>> left, right = pd.DataFrame({"k": [1, 2]}), pd.DataFrame({"k": [1], "n": [5]})
        >>> left.aa.merge(right, how="left", on="k")
           k    n
        0  1  5.0
        1  2  NaN
        """
        options = {
            "how": how,
            "on": on,
            "left_on": left_on,
            "right_on": right_on,
            "left_index": left_index,
            "right_index": right_index,
        }
        merged = merge.merge(
            self._frame,
            right,
            **options,
            sort=sort,
            suffixes=suffixes,
            indicator=indicator,
            validate=validate,
        )
        warn_of_unmatched(self._frame, right, options)
        return merged

    def rename(
        self,
        mapper: Any = None,
        *,
        index: Any = None,
        columns: Any = None,
        axis: int | str | None = None,
        level: Any = None,
        errors: str = "ignore",
    ) -> pd.DataFrame:
        """`pandas.DataFrame.rename` with the metadata of each column under its new name.

        Parameters
        ----------
        mapper, index, columns, axis, level, errors
            As in `pandas.DataFrame.rename`.

        Returns
        -------
        pandas.DataFrame
            A new frame.

        Raises
        ------
        KeyError
            If a name is not there and ``errors="raise"``.
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.

        Examples
        --------
        >>> pd.DataFrame({"n": [1]}).aa.rename(columns={"n": "m"}).columns.tolist()
        ['m']
        """
        return merge.rename(
            self._frame, mapper, index=index, columns=columns, axis=axis, level=level, errors=errors
        )

    def adopt(self, *frames: pd.DataFrame) -> pd.DataFrame:
        """Restore, by name, the metadata of columns after steps that lost it.

        A column without metadata takes that of the first frame in which a column of its name
        holds the same, row by row: rows are matched by their key, or by their labels. A column
        that was overwritten or summed takes none. Where rows have no match and the
        column is missing there, it is ``partial`` with the cause ``no_row``.

        Parameters
        ----------
        *frames : pandas.DataFrame
            The frames before those steps.

        Returns
        -------
        pandas.DataFrame
            A new frame with the same data.

        Raises
        ------
        MetadataError
            If a frame's metadata is damaged, or newer than this version can read.

        Examples
        --------
        >>> frame = pd.DataFrame({"n": [1]})
        >>> frame.merge(pd.DataFrame({"n": [1], "m": [2]})).aa.adopt(frame).columns.tolist()
        ['n', 'm']
        """
        return merge.adopt(self._frame, *frames)
