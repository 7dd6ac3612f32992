"""From answers to rows: their tables, and what they say of themselves, as Arrow.

Answers of one host, scope and run are read together, as `read_all` reads them: what they share is
their envelope.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from aatoolkit import sections
from aatoolkit.archive.answers import StoredAnswer, context_table
from aatoolkit.archive.schema import CONTEXT_FIELDS, StoredTable, bare, stored
from aatoolkit.availability import Status
from aatoolkit.client.read_many import normalized
from aatoolkit.errors import AAToolkitError
from aatoolkit.jsontree.coerce import coerce_values
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata
from aatoolkit.metadata.serialize import dump_state, dump_statements, load_state, load_statements
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload
from aatoolkit.sections import Profile, Section

FRAMES = "frames"
AVAILABILITY = "availability"
DRIFT = "drift"
HINTS = "hints"

_BESIDE: Mapping[str, tuple[tuple[str, pa.DataType], ...]] = {
    FRAMES: (
        ("section", pa.string()),
        ("table", pa.string()),
        ("rows", pa.int64()),
        ("states", pa.string()),
    ),
    AVAILABILITY: (
        ("section", pa.string()),
        ("scope", pa.string()),
        ("target", pa.string()),
        ("rows", pa.string()),
        ("status", pa.string()),
        ("cause", pa.string()),
        ("reason", pa.string()),
        ("sample_size", pa.int64()),
        ("as_of", pa.timestamp("us", tz="UTC")),
        ("evidence", pa.string()),
        ("rule", pa.string()),
        ("raw", pa.string()),
    ),
    DRIFT: (
        ("section", pa.string()),
        ("kind", pa.string()),
        ("path", pa.string()),
        ("count", pa.int64()),
        ("example", pa.string()),
    ),
    HINTS: (
        ("section", pa.string()),
        ("path", pa.string()),
        ("value", pa.string()),
        ("why", pa.string()),
    ),
}

BESIDE = {
    name: pa.schema([*CONTEXT_FIELDS, *(pa.field(*column) for column in columns)])
    for name, columns in _BESIDE.items()
}
"""The tables beside the declared ones: what answers say of themselves, one row a statement."""

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class DerivedAnswer:
    """What one answer gives: its tables, and the rows of the tables beside them.

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
        found = self.declaration
        return sections.get(found) if isinstance(found, str) else found


def derive(
    payloads: Sequence[Payload], profile: Profile | None = None, max_nodes: int = MAX_NODES
) -> list[DerivedAnswer]:
    """The tables of answers of one host, scope and run, in their order."""
    answers = [(str(at), partial(_given, payload)) for at, payload in enumerate(payloads)]
    names = {str(at): str(payload.section) for at, payload in enumerate(payloads)}
    dataset = normalized(answers, profile, max_nodes, names)
    return [
        DerivedAnswer(None, error=dataset.errors[name])
        if name in dataset.errors
        else _derived(dataset[name])
        for name, _ in answers
    ]


def _given(payload: Payload) -> Payload:
    return payload


def _derived(tables: Tables) -> DerivedAnswer:
    parts, declared = tables._parts, tables.declaration
    name = tables.section
    short = declared is not None and sections.all().get(name) is declared
    beside: dict[str, Rows] = {
        FRAMES: [
            (name, table, arrow.num_rows, dump_states(known))
            for table, (arrow, known) in parts.arrows.items()
        ],
        AVAILABILITY: [
            (
                name,
                signal.scope,
                signal.target,
                " and ".join(map(str, signal.rows)) or None,
                str(signal.availability.status),
                signal.availability.cause and str(signal.availability.cause),
                signal.availability.reason,
                signal.sample_size,
                signal.as_of,
                signal.path,
                signal.rule,
                signal.raw,
            )
            for signal in parts.signals
        ],
        DRIFT: [(name, one.kind, one.path, one.count, one.example) for one in parts.drifts],
        HINTS: [(name, one.path, one.value, one.why) for one in parts.hints],
    }
    arrows = {table: arrow for table, (arrow, _) in parts.arrows.items() if arrow.num_rows}
    return DerivedAnswer(name if short else declared, tables._prefix, arrows, beside)


class TableBuffer:
    """Rows of many answers, gathered until they are written."""

    def __init__(self) -> None:
        self._answers: list[StoredAnswer] = []
        self._tables: dict[str, list[tuple[pa.Table, int]]] = {}
        self._beside: dict[str, tuple[Rows, list[int]]] = {}
        self.declared: dict[str, StoredTable] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._answers)

    def add(self, answer: StoredAnswer, derived: DerivedAnswer) -> None:
        """Take the rows of one answer."""
        at = len(self._answers)
        self._answers.append(answer)
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

    def tables(self) -> Iterable[tuple[str, pa.Table]]:
        """The rows of each declared table, with their context."""
        contexts = context_table(self._answers)
        for name, parts in self._tables.items():
            places = pa.array(
                [at for arrow, at in parts for _ in range(arrow.num_rows)], pa.int64()
            )
            whole = _stacked([arrow for arrow, _ in parts])
            context = contexts.take(places)
            columns = {stored(own): whole[own] for own in whole.column_names}
            yield name, pa.table({**{n: context[n] for n in context.column_names}, **columns})

    def beside(self) -> Iterable[tuple[str, pa.Table]]:
        """The rows of the tables beside the declared ones."""
        contexts = context_table(self._answers)
        for name, (rows, places) in self._beside.items():
            if not rows:
                continue
            context = contexts.take(pa.array(places, pa.int64()))
            columns = {
                column: _column([row[at] for row in rows], kind)
                for at, (column, kind) in enumerate(_BESIDE[name])
            }
            table = pa.table({**{n: context[n] for n in context.column_names}, **columns})
            yield name, table.cast(bare(BESIDE[name]))


def _column(values: list[Any], kind: pa.DataType) -> Any:
    if pa.types.is_string(kind):
        return pa.array(values, kind)
    dtype = "Int64" if pa.types.is_integer(kind) else "timestamp"
    return coerce_values(values, dtype)[0]


def _stacked(parts: Sequence[pa.Table]) -> pa.Table:
    """Tables on each other; categories as text, so that each may have levels of its own."""
    plain = [_plain(part) for part in parts]
    if all(part.schema.equals(plain[0].schema) for part in plain):
        return pa.concat_tables(plain)
    return pa.concat_tables(plain, promote_options="default")


def _plain(table: pa.Table) -> pa.Table:
    fields = [
        pa.field(f.name, f.type.value_type) if pa.types.is_dictionary(f.type) else f
        for f in table.schema
    ]
    schema = pa.schema(fields)
    return table if schema.equals(table.schema) else table.cast(schema)


# --- the availability of the columns of one table of one answer --------------------------------


def dump_states(known: FrameMetadata) -> str:
    """The availability of each column as compact JSON: the commonest state names no columns."""
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
    """The availability of columns, by their declared names; not which columns they are."""
    body = json.loads(text)
    states = body["states"]
    usual = load_state(states[0][0] if states else (str(Status.UNKNOWN), None, None))
    others = {name: load_state(state) for state, names in states[1:] for name in names}
    stated = load_statements(body.get("statements", []))
    found = {}
    for name in columns:
        own = others.get(name, usual)
        statements, elsewhere = stated.get(name, ((), own))
        found[name] = ColumnMetadata(None, own, statements, elsewhere)
    return found
