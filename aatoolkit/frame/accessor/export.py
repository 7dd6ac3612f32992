"""Verbs that write a frame to a file."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from aatoolkit.frame import plain
from aatoolkit.frame.excel import SheetTable, codebook_sheet, write_workbook
from aatoolkit.frame.parquet import arrow_table, write_parquet
from aatoolkit.metadata.arrow_schema import with_facts
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.normalizer.to_pandas import own_buffers


class Export:
    """Methods that write a frame to a file."""

    _frame: pd.DataFrame

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
        NotWritten
            If the name ends as files of another format do (``.csv``), or a column cannot be
            written to Parquet.
        NotWritten
            If the file cannot be written; what was there is untouched.
        """
        return write_parquet(self._frame, path)

    def to_excel(self, path: str | os.PathLike[str]) -> Path:
        """Write the frame to a workbook, with a second sheet that describes its columns.

        No cell is a formula or a link, and none is rounded: what a spreadsheet cannot hold
        exactly is written as text, and rates are only shown in per cent. Moments are in UTC. A
        missing value is an empty cell. The sheet ``about`` says how to read it and where it is
        from, ``columns`` what was not measured, and why; headers of declared columns are in plain
        words, with the name, unit and meaning in a note.

        Parameters
        ----------
        path : str or path
            The file, ending in ``.xlsx``; its folder is made where it is missing.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        NotWritten
            If the file's name does not end in ``.xlsx``.
        NotWritten
            If the file cannot be written; an existing file is unchanged.
        PackageMissing
            If xlsxwriter is not installed; it says what to install.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "n.xlsx")
        >>> pd.read_excel(pd.DataFrame({"n": [1]}).aa.to_excel(path), sheet_name="data")
           n
        0  1
        """
        book = codebook_sheet(self._frame)
        sheets = [
            SheetTable("data", "The rows.", self._frame, is_plain=True),
            SheetTable("columns", "What each column is, and whether it was measured.", book),
        ]
        return write_workbook(sheets, path, metadata_of(self._frame).sources)

    def plain(self) -> pd.DataFrame:
        """Return the frame with ordinary NumPy dtypes, for seaborn, scikit-learn or ``to_sql``.

        Numbers are ``int64``, or ``float64`` where some are missing; flags are ``bool``; moments
        are ``datetime64`` in UTC without a zone; all else is text, lists as JSON, and None where it
        is missing. (Flags of which some are missing, and whole numbers that a float cannot hold,
        are Python objects with None.) Named levels of the index are columns, rows are numbered
        anew, and the result carries no metadata.

        Examples
        --------
        >>> frame = pd.DataFrame({"k": pd.Categorical(["a", None]), "n": pd.array([1, None])})
        >>> frame.aa.plain().dtypes.astype(str).tolist(), frame.aa.plain()["k"].tolist()
        (['object', 'float64'], ['a', None])
        """
        return plain.plain(self._frame)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the frame as an Arrow stream (the PyCapsule interface), with its metadata.

        What reads Arrow takes the accessor itself: ``pyarrow.table(df.aa)``,
        ``polars.DataFrame(df.aa)``, DuckDB. Every field has its availability (``aa.status``,
        ``aa.cause``, ``aa.reason``), unit, rule and meaning (``aa.unit``, ``aa.aggregation``,
        ``aa.description``); the keys of the schema are those of `to_parquet`.

        Raises
        ------
        NotWritten
            If a column holds what Arrow cannot.

        Examples
        --------
        >>> import pyarrow as pa
        >>> pa.table(pd.DataFrame({"n": [1]}).aa).column("n").to_pylist()
        [1]
        """
        table = own_buffers(arrow_table(self._frame, Path("the frame")))
        whole = table.cast(with_facts(table.schema, metadata_of(self._frame)))
        return whole.__arrow_c_stream__(requested_schema)
