"""The files of a table of an archive, as other engines find them: by its Delta log alone."""

from __future__ import annotations

from urllib.parse import unquote

import aatoolkit as aa


def files_of(archive: aa.Archive, table: str) -> list[str]:
    import deltalake  # it does not survive a fork

    return [
        *map(unquote, deltalake.DeltaTable(f"{archive._store.root}/tables/{table}").file_uris())
    ]
