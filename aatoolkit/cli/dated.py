"""Dated folders, ``DIR/HOST/DAY/SECTION/TABLE.parquet``: no day replaces another, nor itself."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from aatoolkit._util.files import writing_folder
from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import counted
from aatoolkit.cli.output import grid, note, print_json
from aatoolkit.client.client import Client
from aatoolkit.client.reading import known_sections
from aatoolkit.errors import MetadataError, NotWritten
from aatoolkit.frame.parquet import read_metadata, write_section
from aatoolkit.normalizer.tables import Tables
from aatoolkit.scope import Scope


def write_dated(client: Client, scope: Scope, given: SimpleNamespace) -> int:
    """Write today's tables of hosts; what is there already is not read again.

    Returns 1 if a request failed.
    """
    hosts, sections = given.host, given.section or None
    folders = DatedFolders(given.out, scope, force=given.force)
    names = known_sections(sections, client.profile)
    left = [host for host in hosts if folders.lacking(host, names)]
    rows: list[dict[str, Any]] = []
    for host, _, dataset in client._datasets(left, sections, scope) if left else ():
        counts = [folders.write(host, tables) for tables in dataset.values()]
        rows.append(
            {
                "host": host,
                "folder": str(folders.place(host)),
                "sections": len(dataset),
                "rows": sum(rows for tables in dataset.values() for rows in tables.rows.values()),
                "files": sum(counts),
                "kept": counts.count(0),
                "errors": {name: str(error) for name, error in dataset.errors.items()},
            }
        )
        for name, error in rows[-1]["errors"].items():
            note(f"aatoolkit: {host} {name} failed: {error}")
    kept = len(hosts) - len(left)
    if given.json:
        print_json({"hosts": rows, "hosts_kept": kept})
    else:
        heads = ("host", "folder", "sections", "rows", "files", "kept", "failed")
        grid(heads, ({**row, "errors": len(row["errors"])}.values() for row in rows))
    for count, what in ((kept, "host"), (sum(row["kept"] for row in rows), "section")):
        if count:
            verb = "is" if count == 1 else "are"
            there = f"{counted(count, what)} {verb} there"
            note(f"{there} from today and kept; --force reads and writes anew")
    files = sum(row["files"] for row in rows)
    note(f"{counted(files, 'Parquet file')} {'was' if files == 1 else 'were'} written")
    return 1 if any(row["errors"] for row in rows) else 0


class DatedFolders:
    """The folders of one day, in UTC, for the answers to one scope.

    A section that is there is kept; it appears whole or not at all, so that a run that was
    interrupted is continued by running again.

    Parameters
    ----------
    folder : Path
        The folder of all hosts and days.
    scope : Scope
        The filters.
    force : bool
        Whether sections that are there are written anew.
    """

    def __init__(self, folder: Path, scope: Scope, *, force: bool) -> None:
        self._folder, self._scope, self._force = folder, scope, force
        self._day = f"{datetime.now(UTC):%Y-%m-%d}"

    def place(self, host: str) -> Path:
        """The folder of a host for the day."""
        return self._folder / canonical_host(host) / self._day

    def lacking(self, host: str, sections: Iterable[str]) -> list[str]:
        """The sections that are not written yet; all of them under ``--force``."""
        return [name for name in sections if self._force or not self._is_kept(host, name)]

    def write(self, host: str, tables: Tables) -> int:
        """Write the tables of a section; returns how many files, 0 if they are there already.

        Raises
        ------
        NotWritten
            If the answer for other filters is there.
        """
        place = self.place(host)
        if not self._force and self._is_kept(host, tables.section):
            return 0
        place.mkdir(parents=True, exist_ok=True)
        with writing_folder(place / tables.section, overwrite=self._force) as temporary:
            return len([*write_section(tables, temporary)])

    def _is_kept(self, host: str, section: str) -> bool:
        folder = self.place(host) / section
        if not folder.is_dir():
            return False
        there = _scopes_in(folder)
        if there - {self._scope._to_query()}:
            raise NotWritten(
                f"{folder} holds what was read with other filters ({', '.join(sorted(there))}); "
                "give another folder, or --force to replace it",
                path=str(folder),
            )
        return True


def _scopes_in(folder: Path) -> set[str]:
    """The scopes of the answers that a section's tables were read from."""
    tables = sorted(path for path in folder.glob("*.parquet") if not path.name.startswith("_"))
    try:
        sources = read_metadata(tables[0]).sources if tables else ()
    except (OSError, ValueError, MetadataError):
        sources = ()
    return {source.scope or "unknown" for source in sources} or {"unknown"}
