"""Methods of `Tables` that hand all tables on: to Parquet and a workbook."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from aatoolkit._util.files import FileList

if TYPE_CHECKING:
    import pandas as pd


class TablesExport(Mapping[str, "pd.DataFrame"]):
    """Tables as files."""

    section: str

    def to_parquet(self, folder: str | os.PathLike[str]) -> FileList:
        """Write every table to ``folder/SECTION/TABLE.parquet``, as ``Dataset.to_parquet`` does.

        Parameters
        ----------
        folder : str or path
            The folder; it is made where it is missing. Files of the same names are replaced.

        Returns
        -------
        list of Path
            The files; it prints how many there are.

        Raises
        ------
        NotWritten
            If the name is that of a file of another format, or a column cannot be written.
        NotWritten
            If a file cannot be written; an existing file is unchanged.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> aa.demo().read("gaps").to_parquet(tempfile.mkdtemp())[0].name
        'gap_domains.parquet'
        """
        from aatoolkit.frame.parquet import check_folder, write_tables

        check_folder(folder)
        return FileList(write_tables(self, folder))  # type: ignore[arg-type]

    def to_excel(self, path: str | os.PathLike[str]) -> Path:
        """Write every table to a sheet of one workbook, as ``Dataset.to_excel`` does.

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
        >>> import aatoolkit as aa
        >>> aa.demo().read("gaps").to_excel(Path(tempfile.mkdtemp(), "gaps.xlsx")).name
        'gaps.xlsx'
        """
        from aatoolkit.frame.excel import write_sections

        return write_sections({self.section: self}, path)
