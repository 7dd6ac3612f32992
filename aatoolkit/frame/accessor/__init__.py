"""``df.aa``: what is known of a frame's columns, and how to keep it."""

from __future__ import annotations

import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pandas as pd

from aatoolkit.availability import Status
from aatoolkit.frame import merge
from aatoolkit.frame.accessor.measures import Measured
from aatoolkit.frame.accessor.plot import Pictured
from aatoolkit.frame.parquet import write_parquet
from aatoolkit.jsontree.coerce import typed
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import Source, metadata_of


class Accessor(Measured, Pictured):
    """What is known of a DataFrame: works on any frame, changes none, needs no network.

    Examples
    --------
    >>> frame = pd.DataFrame({"n": [1]})
    >>> frame.aa.availability["status"].tolist()
    ['unknown']
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    @property
    def availability(self) -> pd.DataFrame:
        """Whether each column could be measured: ``status``, ``cause``, ``reason``.

        One row a column, by name. It says what the service could give, not what later steps
        kept. A column of which nothing is known is ``unknown``.

        Raises
        ------
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        states = [
            (name, column.availability) for name, column in metadata_of(self._frame).columns.items()
        ]
        return pd.DataFrame(
            {
                "status": pd.Categorical(
                    [str(state.status) for _, state in states], [str(each) for each in Status]
                ),
                "cause": _words(state.cause and str(state.cause) for _, state in states),
                "reason": _words(state.reason for _, state in states),
            },
            index=_index(name for name, _ in states),
        )

    @property
    def codebook(self) -> pd.DataFrame:
        """What each column is, one row a column, by name.

        Columns: ``dtype``, ``unit``, ``aggregation``, ``doc``, ``of``, ``availability``. ``of``
        is the declared column, as ``table.column``; a column that is no declared one has no
        unit, rule or meaning here.

        Raises
        ------
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        known = metadata_of(self._frame).columns
        what = {name: declared(column) for name, column in known.items()}
        dtypes = {str(name): str(dtype) for name, dtype in self._frame.dtypes.items()}
        return pd.DataFrame(
            {
                "dtype": _words(dtypes.values()),
                "unit": _words(column and column.unit for column in what.values()),
                "aggregation": _words(column and str(column.aggregate) for column in what.values()),
                "doc": _words((column and column.doc) or None for column in what.values()),
                "of": _words(column.of for column in known.values()),
                "availability": _words(str(column.availability) for column in known.values()),
            },
            index=_index(known),
        )

    @property
    def sources(self) -> pd.DataFrame:
        """The answers the frame was read from, one row each.

        Columns: ``host``, ``section``, ``scope``, ``url``, ``fetched_at`` (UTC), ``sha256`` (of
        the body), ``stale``, ``window_start`` and ``window_end`` (the days that the answer says
        it covers).

        Raises
        ------
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        found = [asdict(source) for source in metadata_of(self._frame).sources]
        table = pd.DataFrame(
            {
                field.name: pd.array(
                    [source[field.name] for source in found],
                    dtype="boolean" if field.name == "stale" else "string",
                )
                for field in fields(Source)
            }
        )
        moments, _ = typed([source["fetched_at"] for source in found], "timestamp")
        table["fetched_at"] = moments.to_pandas()
        return table

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
        """`pandas.DataFrame.merge` that keeps what is known of both frames.

        A column keeps its claim under its new name, suffixes included. Where rows have no match,
        the columns that they lack are ``partial`` with the cause ``no_row``. A column on which
        both are merged is described by the side that holds all its values, else by the join
        of both. The sources of both are kept.

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
        MetadataError
            If a frame's metadata is damaged, or newer than this version can read.

        Examples
        --------
        >>> left, right = pd.DataFrame({"k": [1, 2]}), pd.DataFrame({"k": [1], "n": [5]})
        >>> left.aa.merge(right, on="k")
           k  n
        0  1  5
        """
        return merge.merge(
            self._frame,
            right,
            how=how,
            on=on,
            left_on=left_on,
            right_on=right_on,
            left_index=left_index,
            right_index=right_index,
            sort=sort,
            suffixes=suffixes,
            indicator=indicator,
            validate=validate,
        )

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
        """`pandas.DataFrame.rename` with the claim of each column under its new name.

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
        """Take back, by name, what is known of columns after steps that lost it.

        A column of which nothing is known takes the claim of the first frame in which a column
        of its name holds the same, row by row: rows are found by their key, or by their labels.
        A column that was written over or summed takes none. Where rows have no match and the
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

    def to_parquet(self, path: str | os.PathLike[str]) -> Path:
        """Write the frame with its metadata; the file appears whole or not at all.

        Parameters
        ----------
        path : str or path
            The file; its folder is made where it is missing.

        Returns
        -------
        Path
            The file. ``aatoolkit.read_parquet`` and ``pandas.read_parquet`` read it back.

        Raises
        ------
        ExportError
            If a column cannot be written to Parquet.
        NotWritten
            If the file cannot be written; what was there is untouched.
        """
        return write_parquet(self._frame, path)

    def __repr__(self) -> str:
        counts = self.availability["status"].value_counts()
        said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        return f"<df.aa of {self._frame.shape[1]} columns: {said or 'none'}>"

    def _repr_html_(self) -> str:
        return f'<div class="tex2jax_ignore">{self.availability.to_html()}</div>'


def _words(values: object) -> pd.api.extensions.ExtensionArray:
    return pd.array(list(values), dtype="string")  # type: ignore[call-overload]


def _index(names: object) -> pd.Index:
    return pd.Index(list(names), dtype="string", name="column")  # type: ignore[call-overload]
