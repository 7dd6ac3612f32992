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

from pyarrow.fs import FileSelector, FileType

from aatoolkit._util.text import json_text
from aatoolkit.archive.runs import read_runs
from aatoolkit.archive.store import ArchiveStore
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
        self.names: list[str] = []
        self.damaged: list[str] = []
        self.files: dict[str, dict[str, str]] = {}
        self.runs: set[str] = set()
        self.unchecked = 0
        if anew:
            store.checksums.clear()
        with store.errors(FOLDER):
            parts = {name: self._part(name) for name in self._listed()}
        replaced = {old for part in parts.values() for old in part.get("replaces", ())}
        for name, part in parts.items():
            if name not in replaced and part:
                self.runs.update(part["runs"])
                for table, sums in part["files"].items():
                    self.files.setdefault(table, {}).update(sums)

    def _listed(self) -> list[str]:
        infos = self._store.files.get_file_info(FileSelector(FOLDER, allow_not_found=True))
        self.names = sorted(info.base_name for info in infos if info.is_file)
        return [name for name in self.names if name.endswith(".json")]

    def _part(self, name: str) -> dict[str, Any]:
        """One file of checksums, which never changes; nothing if it did."""
        read = self._store.checksums
        if name not in read:
            with self._store.files.open_input_stream(f"{FOLDER}/{name}") as stream:
                text = stream.read()
            if f"{hashlib.sha256(text).hexdigest()}.json" != name:
                self.damaged.append(name)
                return {}
            read[name] = json.loads(text)
        return read[name]

    def problems(self, name: str) -> Iterator[str]:
        """Yield what differs in a table from when it was written."""
        problem = ""
        try:
            table = self._store.open(name)
            if table is None:
                problem = "the table is missing" if name in self.files else ""
            else:
                yield from self._differing(name, table)
        except (ArchiveError, OSError) as error:
            problem = str(error)
        if problem:
            yield problem

    def _differing(self, name: str, table: Any) -> Iterator[str]:
        sums, files = self.files.get(name, {}), self._store.files
        last = max((_version(path) for path in sums), default=-1)
        if table.version() < last:
            yield f"its last commits are gone: it is at {table.version()}, and was at {last}"
        for path in paths_of(self._store, name, table):
            recorded = sums.get(path)
            self.unchecked += recorded is None
            kind = files.get_file_info(f"{name}/{path}").type
            if kind != FileType.File:
                yield f"the file {path} is {'missing' if kind == FileType.NotFound else 'no file'}"
            elif recorded is not None and _sha256(self._store, f"{name}/{path}") != recorded:
                yield f"the file {path} is not what was written"


def note(store: ArchiveStore, tables: Mapping[str, Any | None], runs: Iterable[str] = ()) -> None:
    """Record the checksums of those files of open tables that have none yet, as of some runs."""
    recorded = Checksums(store).files
    _write(store, _sums(store, tables, recorded, is_whole=False), runs)


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
    recorded = {name: sums for name, sums in old.files.items() if name not in anew}
    sums = _sums(store, tables, recorded, is_whole=True)
    name = _write(store, sums, committed | old.runs, old.names)
    with store.errors(FOLDER):
        for path in old.names:
            if path != name:
                store.files.delete_file(f"{FOLDER}/{path}")


def _sums(
    store: ArchiveStore,
    tables: Mapping[str, Any | None],
    recorded: Mapping[str, Mapping[str, str]],
    *,
    is_whole: bool,
) -> dict[str, dict[str, str]]:
    """The checksums of the files of tables: of all, or of those that have none yet."""
    sums: dict[str, dict[str, str]] = {}
    for name, table in tables.items():
        known = recorded.get(name, {})
        with store.errors(name):
            for path in () if table is None else paths_of(store, name, table):
                if is_whole or path not in known:
                    sums.setdefault(name, {})[path] = known.get(path) or _sha256(
                        store, f"{name}/{path}"
                    )
    return sums


def _write(
    store: ArchiveStore,
    sums: Mapping[str, Any],
    runs: Iterable[str],
    replaces: Iterable[str] = (),
) -> str:
    content = {"runs": sorted(runs), "replaces": sorted(replaces), "files": sums}
    if not content["runs"] and not sums:
        return ""
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
