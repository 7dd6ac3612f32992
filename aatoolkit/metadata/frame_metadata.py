"""`FrameMetadata`: what is known of a frame and its columns, and its JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from aatoolkit._util.text import visible
from aatoolkit.availability import Status
from aatoolkit.errors import MetadataError
from aatoolkit.metadata.column import NOTHING, ColumnMetadata, Source
from aatoolkit.metadata.fingerprint import MOVED, OVERWRITTEN, Fingerprint
from aatoolkit.metadata.recipe import Recipe, dump_recipe, load_recipe, read_from
from aatoolkit.metadata.serialize import (
    dump_fingerprint,
    dump_lacking,
    dump_state,
    dump_statements,
    load_fingerprint,
    load_lacking,
    load_state,
    load_statements,
    source_fields,
    unpack,
)

VERSION = "1.0"
"""The version of the carrier; a newer major version is refused."""


@dataclass(frozen=True)
class FrameMetadata:
    """The metadata of a frame: its columns, its key, and the answers it was read from.

    The fingerprint shows whether the frame still holds what was read, and the recipe how it was
    made: see `aatoolkit.metadata.recipe`.
    """

    columns: Mapping[str, ColumnMetadata] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    grains: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    repeated: tuple[str, ...] = field(default=(), compare=False)
    fingerprint: Fingerprint | None = field(default=None, compare=False, repr=False)
    recipe: Recipe | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        key = f", key {', '.join(map(visible, self.key))}" if self.key else ""
        answers = f"{len(self.sources):,} answer{'s' * (len(self.sources) != 1)}"
        return f"<FrameMetadata of {len(self.columns):,} columns{key}, from {answers}>"

    def grain(self, table: str, key: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The columns of the frame that identify a row of a declared table.

        Parameters
        ----------
        table : str
            The declared table.
        key : tuple of str, optional
            Its declared key.
        """
        if table in self.grains:
            return self.grains[table]
        names = {column.of: name for name, column in self.columns.items()}
        return tuple(names.get(f"{table}.{name}", name) for name in key) if key else None

    def holds(self, name: str) -> bool:
        """Whether a column has metadata, and still holds what was read."""
        column = self.columns.get(name, NOTHING)
        return bool(column.of) or column.availability.status != Status.UNKNOWN

    def is_lost(self, name: str) -> bool:
        """Whether a column was read, and nothing is known of the values that it holds now."""
        return self.columns.get(name, NOTHING).availability.reason in (MOVED, OVERWRITTEN)

    def dumps(self) -> str:
        """Serialize to canonical JSON: equal metadata gives equal text.

        Examples
        --------
        >>> FrameMetadata.loads(FrameMetadata(key=("brand",)).dumps()).key
        ('brand',)
        """
        states = sorted(
            {dump_state(column.availability) for column in self.columns.values()}, key=repr
        )
        body: dict[str, Any] = {
            "version": VERSION,
            "key": list(self.key),
            "states": [list(state) for state in states],
            "columns": {
                name: [column.of, states.index(dump_state(column.availability))]
                for name, column in self.columns.items()
            },
            "sources": [
                {k: v for k, v in vars(source).items() if v not in (None, False)}
                for source in self.sources
            ],
        }
        if self.grains:
            body["grains"] = {table: list(grain) for table, grain in self.grains.items()}
        if self.repeated:
            body["repeated"] = sorted(self.repeated)
        stated = dump_statements(self.columns)
        if stated:
            body["statements"] = stated
        cautions = {name: each.caution for name, each in self.columns.items() if each.caution}
        if cautions:
            body["cautions"] = cautions
        lacking = dump_lacking(self.columns)
        if lacking:
            body["lacking"] = lacking
        if self.recipe is not None:
            whole = [read_from(0, table) for table in tables_of(self)]
            body["recipe"] = 0 if [self.recipe] == whole else dump_recipe(self.recipe)
        if self.fingerprint is not None:
            body["fingerprint"] = dump_fingerprint(self.fingerprint)
        return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def loads(text: str) -> FrameMetadata:
        """Parse the JSON text.

        Raises
        ------
        MetadataError
            If it is damaged, or of a newer major version.
        """
        if not isinstance(text, str):
            raise _damaged()
        return _loads(text)


def tables_of(known: FrameMetadata) -> list[str]:
    """The declared tables that the columns of a frame are of."""
    named = (column.table for column in known.columns.values())
    return [*dict.fromkeys(filter(None, named))]


@lru_cache(maxsize=256)
def _loads(text: str) -> FrameMetadata:
    try:
        body = json.loads(unpack(text))
        version = str(body["version"])
        major = int(version.split(".")[0])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _damaged() from None
    if major != int(VERSION.split(".")[0]):
        raise MetadataError(
            f"this metadata has version {version}, newer than {VERSION}; update aatoolkit",
            version=version,
        )
    try:
        states = [load_state(state) for state in body["states"]]
        stated = load_statements(body.get("statements", []))
        stated |= load_lacking(body.get("lacking", []))
        cautions = body.get("cautions", {})
        return FrameMetadata(
            {
                name: replace(
                    ColumnMetadata(of, states[state], *stated.get(name, ())),
                    caution=cautions.get(name),
                )
                for name, (of, state) in body["columns"].items()
            },
            tuple(body["key"]),
            tuple(Source(**source_fields(source)) for source in body["sources"]),
            {table: tuple(grain) for table, grain in body.get("grains", {}).items()},
            tuple(body.get("repeated", ())),
            load_fingerprint(body.get("fingerprint")),
            load_recipe(_recipe_of(body)),
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise _damaged(version) from None


def _recipe_of(body: Mapping[str, Any]) -> Any:
    """The recipe in a frame's metadata; 0 is short for one table, read from the first answer."""
    if body.get("recipe") != 0:
        return body.get("recipe")
    named = [of for of, _ in body["columns"].values() if of]
    return read_from(0, named[0].partition(".")[0])


def _damaged(version: str | None = None) -> MetadataError:
    return MetadataError(
        "the frame's aatoolkit metadata is damaged; drop it with df.attrs.pop('aatoolkit')",
        version=version,
    )
