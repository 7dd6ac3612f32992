"""From responses to rows: their tables, and what they say of themselves, as Arrow.

Rows of many responses are gathered in a `TableBuffer` until they are written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit import sections
from aatoolkit.archive.responses import ArchivedResponse, context_table
from aatoolkit.archive.schema import CONTEXT, CONTEXT_FIELDS, StoredTable, bare, fitted
from aatoolkit.availability import Status
from aatoolkit.client.reading import to_tables
from aatoolkit.errors import AAToolkitError, ArchiveError
from aatoolkit.jsontree.coerce import coerce_values
from aatoolkit.jsontree.decode import gc_paused
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata
from aatoolkit.metadata.column import dump_state, dump_statements, load_state, load_statements
from aatoolkit.payload import Payload
from aatoolkit.sections import Profile, Section

# -- what responses state ------------------------------------------------------------------------

FRAMES = "frames"
AVAILABILITY = "availability"
DRIFT = "drift"
HINTS = "hints"

_TEXTS = {
    FRAMES: "section table states",
    AVAILABILITY: "section scope target rows status cause reason evidence rule raw",
    DRIFT: "section kind path example",
    HINTS: "section path value why",
}
_OTHERS = {
    FRAMES: {"rows": pa.int64()},
    AVAILABILITY: {"sample_size": pa.int64(), "as_of": pa.timestamp("us", tz="UTC")},
    DRIFT: {"count": pa.int64()},
}

COLUMNS: Mapping[str, Mapping[str, pa.DataType]] = {
    name: {**dict.fromkeys(words.split(), pa.string()), **_OTHERS.get(name, {})}
    for name, words in _TEXTS.items()
}

BESIDE = {
    name: pa.schema([*CONTEXT_FIELDS, *(pa.field(*column) for column in columns.items())])
    for name, columns in COLUMNS.items()
}
"""The tables beside the declared ones: what responses say of themselves, one row a statement."""

Rows = list[tuple[Any, ...]]
"""Rows of such a table, without context."""


def dump_states(known: FrameMetadata) -> str:
    """Serialize the availability of columns to compact JSON; the commonest names no columns."""
    by_state: dict[Any, list[str]] = {}
    for name, column in known.columns.items():
        by_state.setdefault(dump_state(column.elsewhere), []).append(name)
    ordered = sorted(by_state.items(), key=lambda item: -len(item[1]))
    body: dict[str, Any] = {
        "states": [[state, None if at == 0 else names] for at, (state, names) in enumerate(ordered)]
    }
    stated = dump_statements(known.columns)
    if stated:
        body["statements"] = stated
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def load_states(text: str, columns: Iterable[str]) -> dict[str, ColumnMetadata]:
    """Parse the availability of columns, by their declared names."""
    body = json.loads(text)
    states = body["states"]
    usual = load_state(states[0][0] if states else (str(Status.UNKNOWN), None, None))
    others = {name: load_state(state) for state, names in states[1:] for name in names}
    stated = load_statements(body.get("statements", []))
    return {
        name: ColumnMetadata(None, own, *stated.get(name, ((), own)))
        for name, own in ((name, others.get(name, usual)) for name in columns)
    }


# -- responses to rows ---------------------------------------------------------------------------


@dataclass(frozen=True)
class DerivedResponse:
    """The tables derived from one response, and its rows in the statement tables.

    Parameters
    ----------
    declaration : Section or str or None
        How it was read; the name where the default profile has the declaration.
    prefix : str
        What the names of its tables begin with in metadata.
    tables : mapping of str to pyarrow.Table
        Its tables, those without rows left out.
    beside : mapping of str to list of tuple
        The rows of `BESIDE`, without context.
    error : AAToolkitError or None
        Why it gives none.
    """

    declaration: Section | str | None
    prefix: str = ""
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    beside: Mapping[str, Rows] = field(default_factory=dict)
    error: AAToolkitError | None = None

    @property
    def section(self) -> Section | None:
        """The declaration that it was read by."""
        declared = self.declaration
        return sections.get(declared) if isinstance(declared, str) else declared


@gc_paused()
def derive(
    payloads: Sequence[Payload], profile: Profile | None = None, max_nodes: int = MAX_NODES
) -> list[DerivedResponse]:
    """The tables of responses of one host, scope and run."""
    return [_derived(payload, profile=profile, max_nodes=max_nodes) for payload in payloads]


def _derived(payload: Payload, **how: Any) -> DerivedResponse:
    """Derive the tables of one response."""
    try:
        tables = to_tables(str(payload.section), payload, **how)
    except AAToolkitError as error:
        return DerivedResponse(None, error=error)
    if tables.drafted:
        return DerivedResponse(
            None,
            error=ArchiveError(
                f"the tables of {tables.section} were inferred from this response, and another may "
                "give others: draft a profile, and make them by archive.rebuild(profile=…)"
            ),
        )
    parts, declared, name = tables._parts, tables.declaration, tables.section
    short = declared is not None and sections.default_profile().get(name) is declared
    beside: dict[str, Rows] = {
        FRAMES: [
            (name, table, dump_states(built.metadata), built.size)
            for table, built in parts.built.items()
        ],
        AVAILABILITY: [
            (
                *(name, signal.scope, signal.target, " and ".join(map(str, signal.rows)) or None),
                str(signal.availability.status),
                signal.availability.cause and str(signal.availability.cause),
                *(signal.availability.reason, signal.path, signal.rule, signal.raw),
                *(signal.sample_size, signal.as_of),
            )
            for signal in parts.signals
        ],
        DRIFT: [(name, one.kind, one.path, one.example, one.count) for one in parts.drifts],
        HINTS: [(name, one.path, one.value, one.why) for one in parts.hints],
    }
    kept = {table: built.arrow for table, built in parts.built.items() if built.size}
    return DerivedResponse(name if short else declared, tables._prefix, kept, beside)


# -- rows of many responses ----------------------------------------------------------------------


class TableBuffer:
    """Rows of many responses, gathered until they are written."""

    def __init__(self) -> None:
        self._responses: list[ArchivedResponse] = []
        self._tables: dict[str, list[tuple[pa.Table, int]]] = {}
        self._beside: dict[str, tuple[Rows, list[int]]] = {}
        self.declared: dict[str, StoredTable] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._responses)

    def add(self, response: ArchivedResponse, derived: DerivedResponse) -> None:
        """Take the rows of one response."""
        at = len(self._responses)
        self._responses.append(replace(response, body=None))  # bodies are stored by now
        for name, rows in derived.beside.items():
            found, places = self._beside.setdefault(name, ([], []))
            found += rows
            places += [at] * len(rows)
        section = derived.section
        for table in section.tables if section is not None else ():
            kept = StoredTable(section.name, table, derived.prefix)  # type: ignore[union-attr]
            self.declared[kept.name] = kept
            if table.name in derived.tables:
                arrow = derived.tables[table.name]
                self._tables.setdefault(kept.name, []).append((arrow, at))
                self.size += arrow.nbytes

    def rows(self, name: str, schema: pa.Schema) -> pa.Table | None:
        """The rows of a declared table with their context, in the schema that it has.

        Raises
        ------
        ArchiveError
            If the schema cannot hold them.
        """
        parts = self._tables.get(name, [])
        if not parts:
            return None
        own = pa.schema([field for field in schema if field.name not in CONTEXT])
        tables = [part for part, _ in parts]
        stored = self.declared[name].stored
        if all(table.schema.equals(tables[0].schema) for table in tables):
            tables = [pa.concat_tables(tables)]
        fit = [
            fitted(table.rename_columns([*map(stored, table.column_names)]), own)
            for table in tables
        ]
        places = np.repeat([at for _, at in parts], [part.num_rows for part, _ in parts])
        context = context_table(self._responses).take(pa.array(places))
        columns = [*context.columns, *pa.concat_tables(fit).columns]
        return pa.table(columns, schema=pa.schema([*context.schema, *bare(own)])).select(
            schema.names
        )

    def beside(self) -> Iterable[tuple[str, pa.Table]]:
        """The rows of the tables beside the declared ones."""
        contexts = context_table(self._responses)
        for name, (rows, places) in self._beside.items():
            if not rows:
                continue
            context = contexts.take(pa.array(places, pa.int64()))
            columns = {
                column: _column([row[at] for row in rows], kind)
                for at, (column, kind) in enumerate(COLUMNS[name].items())
            }
            table = pa.table({**{n: context[n] for n in context.column_names}, **columns})
            yield name, table.cast(bare(BESIDE[name]))


def _column(values: list[Any], kind: pa.DataType) -> Any:
    if pa.types.is_string(kind):
        return pa.array(values, kind)
    dtype = "Int64" if pa.types.is_integer(kind) else "timestamp"
    return coerce_values(values, dtype)[0]
