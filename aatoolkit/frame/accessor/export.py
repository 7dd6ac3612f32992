"""Verbs that write a frame to a file."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from aatoolkit.frame.parquet import write_parquet


class Export:
    """Files made of a frame."""

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
        ExportError
            If a column cannot be written to Parquet.
        NotWritten
            If the file cannot be written; what was there is untouched.
        """
        return write_parquet(self._frame, path)
