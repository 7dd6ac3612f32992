"""The checksums of the files of an archive, by which `verify` finds damage that Delta does not.

Files of Delta tables never change: data files and the entries of logs are written once. Each run
writes a file of checksums before it is committed, and upkeep one in place of them all. A file of
checksums is named by its own SHA-256, and says of which runs it is: damage to it shows, and so does
its loss.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from pyarrow.fs import FileSelector

from aatoolkit._util.files import mismatches
from aatoolkit._util.text import json_text
from aatoolkit.archive.store import ArchiveStore, read_runs
from aatoolkit.errors import ArchiveError

FOLDER = "checksums"

_BLOCK = 1 << 20


class Checksums:
    """The recorded checksums of an archive.

    Parameters
    ----------
    store
        The archive.
    anew
        Whether to read them again, though they were read before.

    Attributes
    ----------
    files : dict of str to dict of str to str
        The SHA-256 of each file, by table and path.
    runs : set of str
        The runs whose files have checksums.
    damaged : list of str
        The names of files of checksums that are not what was written.
    unchecked : int
        The files met by `problems` that have no checksum.
    """

    def __init__(self, store: ArchiveStore, *, anew: bool = False) -> None:
        self._store = store
        self.damaged: list[str] = []
        self.files: dict[str, dict[str, str]] = {}
        self.runs: set[str] = set()
        self.unchecked = 0
        if anew:
            store.checksums.clear()
        with store.errors(FOLDER):
            infos = store.files.get_file_info(FileSelector(FOLDER, allow_not_found=True))
            self.names = sorted(info.base_name for info in infos if info.is_file)
            parts = {name: self._part(name) for name in self.names if name.endswith(".json")}
        replaced = {old for part in parts.values() for old in part.get("replaces", ())}
        for name, part in parts.items():
            if name not in replaced and part:
                self.runs.update(part["runs"])
                for table, sums in part["files"].items():
                    self.files.setdefault(table, {}).update(sums)

    def _part(self, name: str) -> dict[str, Any]:
        """One file of checksums, which never changes; nothing if it did."""
        parts = self._store.checksums
        if name not in parts:
            with self._store.files.open_input_stream(f"{FOLDER}/{name}") as stream:
                text = stream.read()
            if f"{hashlib.sha256(text).hexdigest()}.json" != name:
                self.damaged.append(name)
                return {}
            parts[name] = json.loads(text)
        return parts[name]

    def problems(self, name: str) -> Iterator[str]:
        """Yield what differs in a table from when it was written."""
        try:
            table = self._store.open(name)
            if table is not None:
                yield from self._differing(name, table)
            elif name in self.files:
                yield "the table is missing"
        except (ArchiveError, OSError) as error:
            yield str(error)

    def _differing(self, name: str, table: Any) -> Iterator[str]:
        recorded, store = self.files.get(name, {}), self._store
        last = max(map(_version, recorded), default=-1)
        if table.version() < last:
            yield f"its last commits are gone: it is at {table.version()}, and was at {last}"
        paths = [*paths_of(store, name, table)]
        there = {
            path: _sha256(store, f"{name}/{path}")
            for path in paths
            # A pipe or a device would be waited for, for ever.
            if store.files.get_file_info(f"{name}/{path}").is_file
        }
        self.unchecked += len({*paths} - {*recorded})
        expected = {path: recorded.get(path, there.get(path, "")) for path in paths}
        for kind, path in mismatches(expected, there):
            state = "missing, or no file" if kind == "missing" else "not what was written"
            yield f"the file {path} is {state}"


def note(store: ArchiveStore, tables: Mapping[str, Any | None], runs: Iterable[str] = ()) -> None:
    """Record the checksums of those files of open tables that have none yet, as of some runs."""
    recorded = Checksums(store).files
    sums = {}
    for name, table in tables.items():
        before = recorded.get(name, {})
        new = {
            path: digest for path, digest in _sums(store, name, table, before) if path not in before
        }
        if new:
            sums[name] = new
    if runs or sums:
        _write(store, {"runs": sorted(runs), "replaces": [], "files": sums})


def note_all(
    store: ArchiveStore, tables: Mapping[str, Any | None], *, anew: Collection[str] = ()
) -> None:
    """Record the checksums of all tables in one file, in place of those that there are.

    Parameters
    ----------
    store
        The archive.
    tables
        All its tables, open.
    anew
        The tables that were just made of others, whatever they were before.
    """
    committed = read_runs(store)[0].committed
    old = Checksums(store)
    sums = {
        name: dict(_sums(store, name, table, {} if name in anew else old.files.get(name, {})))
        for name, table in tables.items()
    }
    runs = sorted(committed | old.runs)
    written = _write(store, {"runs": runs, "replaces": old.names, "files": sums})
    with store.errors(FOLDER):
        for name in {*old.names} - {written}:
            store.files.delete_file(f"{FOLDER}/{name}")


def _sums(
    store: ArchiveStore, name: str, table: Any | None, recorded: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the files of a table, each with the checksum that it was written with."""
    with store.errors(name):
        for path in () if table is None else paths_of(store, name, table):
            yield path, recorded.get(path) or _sha256(store, f"{name}/{path}")


def _write(store: ArchiveStore, content: Mapping[str, Any]) -> str:
    text = json_text(content).encode()
    name = f"{hashlib.sha256(text).hexdigest()}.json"
    with store.errors(FOLDER):
        store.write(f"{FOLDER}/{name}", text)
    return name


def paths_of(store: ArchiveStore, name: str, table: Any) -> Iterator[str]:
    """The files of a table that never change: its data, and the entries of its log."""
    # Not get_add_actions, which converts the statistics of every column.
    for uri in table.file_uris():
        yield unquote("/".join(uri.rsplit("/", 2)[-2 if "/month=" in unquote(uri) else -1 :]))
    log = FileSelector(f"{name}/_delta_log", allow_not_found=True)
    for info in store.files.get_file_info(log):
        if info.is_file and info.base_name[:1].isdigit():
            yield f"_delta_log/{info.base_name}"


def _version(path: str) -> int:
    """The version that a commit made; -1 of another file."""
    folder, _, name = path.partition("/")
    return int(name[:20]) if folder == "_delta_log" and name[20:] == ".json" else -1


def _sha256(store: ArchiveStore, path: str) -> str:
    digest = hashlib.sha256()
    with store.files.open_input_stream(path) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
