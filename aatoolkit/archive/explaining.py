"""Explain numbers from an archive: its answers, read again, and its frames, made again."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds

from aatoolkit.archive.answers import StoredAnswer
from aatoolkit.archive.frames import source_of
from aatoolkit.archive.index import groups_of
from aatoolkit.archive.schema import among
from aatoolkit.archive.selection import When
from aatoolkit.archive.snapshot import Snapshot
from aatoolkit.archive.store import ArchiveStore, typed
from aatoolkit.client.dataset import Dataset
from aatoolkit.errors import ArchiveError, ScopeError
from aatoolkit.frame.explain import Explainer, Explanation
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.scope import Scope
from aatoolkit.study.explaining import StoredResponse

if TYPE_CHECKING:
    import pandas as pd


class ArchiveExplanations:
    """The methods of an archive that explain numbers; see `aatoolkit.Archive`."""

    _store: ArchiveStore

    def _snapshot(self) -> Snapshot:
        raise NotImplementedError

    @property
    def _store_name(self) -> str:
        return "the archive"

    def _stored_responses(self, source: Source) -> Iterator[StoredResponse]:
        """Yield the archived responses that may be the one of a source."""
        snapshot = self._snapshot()
        runs = snapshot.runs.committed
        condition = among("run", runs) & ds.field("error").is_null()
        for name in ("sha256", "host", "section", "scope"):
            fact = getattr(source, name)
            if fact is not None:
                condition &= ds.field(name) == fact
        how = {
            "profile": getattr(self, "_profile", None),
            "max_nodes": getattr(self, "_max_nodes", MAX_NODES),
        }
        for group in groups_of(snapshot.store, condition, runs):
            for answer in group:
                own = source if source.sha256 else source_of(vars(answer))
                yield StoredResponse(
                    own,
                    answer.sha256,
                    partial(checked_body, answer),
                    partial(_read, answer, how),
                )

    def _archived_frame(self, how: str, options: Mapping[str, Any]) -> pd.DataFrame:
        """Read a frame from the archive again, as it was read before.

        Parameters
        ----------
        how : {"read", "history"}
            The method.
        options : mapping
            Its arguments.
        """
        given = dict(options)
        if given.get("scope") is not None:
            given["scope"] = Scope.from_query(given["scope"])
        reader: Any = self
        frame: pd.DataFrame = reader.history(**given) if how == "history" else reader.read(**given)
        return frame

    @typed
    def explain(
        self,
        table: str,
        row: int | Hashable | Mapping[str, Any] | None = None,
        column: str | None = None,
        *,
        host: str | None = None,
        scope: Scope | None = None,
        since: When | None = None,
        until: When | None = None,
    ) -> Explanation:
        """Explain a number of an archived answer, down to its bytes.

        Parameters
        ----------
        table : str
            The table, as ``section.table``; ``section`` alone is its main table.
        row : int, label or mapping of str to object
            The row, as for ``df.aa.explain``; a mapping may name ``host`` and ``fetched_at`` too.
            Of several answers with the row, the newest counts.
        column : str
            The column.
        host, scope, since, until
            Which answers, as for `read`.

        Returns
        -------
        Explanation
            A tree.

        Raises
        ------
        ArchiveError
            If it is damaged.
        ScopeError
            If it has no such table.
        ColumnNotFound, ItemNotFound
            If the table has no such column or row.
        """
        section, _, name = table.partition(".")
        if not section:
            raise ScopeError(f"{table!r} names no section", parameter="table", unknown=(table,))
        reader: Any = self
        frame = reader.read(
            section, name or None, hosts=host, scope=scope, since=since, until=until
        )
        if isinstance(row, Mapping) and "fetched_at" not in row and len(frame):
            mask = Explainer.rows_with(frame, row)
            newest = frame.loc[mask, "fetched_at"].max()
            frame = frame[frame["fetched_at"] == newest] if mask.any() else frame
        return Explainer(self).explain(frame, row, column)


def checked_body(answer: StoredAnswer) -> bytes | None:
    """The stored bytes of a response, compared with their hash."""
    body = answer.body
    if body is not None and hashlib.sha256(body).hexdigest() != answer.sha256:
        raise ArchiveError(f"the body of {answer.name} is not what was added; verify it")
    return body


def _read(answer: StoredAnswer, how: Mapping[str, Any]) -> Dataset:
    """The tables of a response, normalised again from its stored body."""
    payload = answer.payload()
    section = str(payload.section)
    return Dataset({section: normalize(section, payload, **how)})


def recipe_of(how: str, **options: Any) -> list[Any]:
    """The recipe of a frame that is read from an archive."""
    scope = options.pop("scope", None)
    written = {
        name: value.isoformat() if hasattr(value, "isoformat") else value
        for name, value in options.items()
        if value not in (None, False)
    }
    if scope is not None:
        written["scope"] = scope.to_query()
    return ["archived", how, written]
