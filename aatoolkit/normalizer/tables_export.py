"""Methods of `Tables` that hand all tables on: to Arrow, Parquet and a workbook."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit._util.listing import FileList

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class TablesExport(Mapping[str, "pd.DataFrame"]):
    """Tables as files, and as Arrow."""

    section: str

    def arrow(self, name: str | None = None) -> pa.Table:
        """Return a table as an Arrow table, with the metadata of its columns in its schema.

        Parameters
        ----------
        name : str, optional
            The table; by default the main one.

        Returns
        -------
        pyarrow.Table
            As ``df.aa.to_arrow`` gives it: each field has its availability, unit, rule and meaning.
            Polars, DuckDB and whatever else reads Arrow take it.

        Raises
        ------
        ItemNotFound
            If there is no such table.
        NotWritten
            If a column holds what Arrow cannot.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> table = aa.demo().read("domains").arrow("source_domain_engines")
        >>> table.schema.field("citation_count").metadata[b"aa.unit"]
        b'count'
        """
        accessor: Any = self[next(iter(self)) if name is None else name].aa
        found: pa.Table = accessor.to_arrow()
        return found

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
        from aatoolkit.frame.file_names import check_folder
        from aatoolkit.frame.parquet import write_tables

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
