"""Find the relations of chart blocks and of parallel arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.sections.inference.charts import Block
from aatoolkit.sections.inference.relations import (
    Located,
    Measure,
    Places,
    Relation,
    RowsCall,
    fresh,
    places_of,
)
from aatoolkit.sections.inference.vocabulary import singular, snake

if TYPE_CHECKING:
    from aatoolkit.sections.inference.shapes import Finder

_CHART_WORDS = frozenset({"chart", "data", "trend", "trends", "series", "graph", "plot"})


def find_block(
    finder: Finder,
    rows: Located,
    relation: Relation,
    vector: Vector,
    steps: tuple[Step, ...],
    block: Block,
) -> Iterable[str]:
    """Add the relation of a chart block; return the fields that it takes."""
    axis = vector.field(block.axis)
    texts = [one for each in axis.values if type(each) is list for one in each]
    name = finder.vocabulary.dimension(map(str, texts)) or singular(snake(block.axis))
    if block.shape == "columnar":
        _columnar(finder, rows, relation, vector, steps, block, name)
    else:
        _series(finder, rows, relation, vector, steps, block, name)
    return block.fields


def _columnar(
    finder: Finder,
    rows: Located,
    relation: Relation,
    vector: Vector,
    steps: tuple[Step, ...],
    block: Block,
    name: str,
) -> None:
    first = vector.field(block.axis).each()
    at = places_of(first)
    below = Located(first, (*steps, Field(block.axis), Each()), (), relation, at, rows.answer[at])
    table = finder.relation(below, "columnar", "")
    finder.taken.discard(table.name)
    table.name = finder.title(steps, "") if steps else f"{finder.section}_{name}"
    finder.taken.add(table.name)
    table.rows = RowsCall(
        "columnar", (format_path(steps),), {"axis": format_path((Field(block.axis),))}
    )
    where = format_path((*steps, Field(block.axis)))
    table.columns.append(Measure(name, ".", f"{where}[]", first.values, label=True))
    for field in block.fields:
        if field != block.axis:
            cells = vector.field(field).each().values
            path = format_path((*steps, Field(field)))
            named = fresh(snake(field), {column.name for column in table.columns})
            source = f"&{format_path((Field(field),))}"
            table.columns.append(Measure(named, source, f"{path}[]", cells))


def _series(
    finder: Finder,
    rows: Located,
    relation: Relation,
    vector: Vector,
    steps: tuple[Step, ...],
    block: Block,
    name: str,
) -> None:
    holder = vector.field(block.series)
    path = format_path((*steps, Field(block.axis)))
    if block.shape == "parallel":
        inner = holder.entries()
        key = finder.vocabulary.dimension(map(str, inner.labels or ())) or "series"
        series_steps: tuple[Step, ...] = (*steps, Field(block.series), Entries())
        points, data_steps = inner.each(), (*series_steps, Each())
    else:
        inner, key = holder.each(), ""
        series_steps = (*steps, Field(block.series), Each())
        points = inner.field(block.data).each()
        data_steps = (*series_steps, Field(block.data), Each())
    of_series = places_of(points)
    of_row = places_of(inner)[of_series] if len(of_series) else of_series
    below = Located(points, data_steps, (), relation, of_row, rows.answer[of_row])
    table = finder.relation(below, block.shape, "")
    finder.taken.discard(table.name)
    table.name = finder.title(steps or series_steps, "")
    axes = [one if type(one) is list else [] for one in vector.field(block.axis).values]
    labels = [axes[r][p] for r, p in zip(of_row.tolist(), points.labels or (), strict=True)]
    if block.shape == "parallel":
        given = {"axis": path, "key": key, "name": name}
        table.rows = RowsCall("parallel", (format_path(series_steps[:-1]),), given)
        held = [(inner.labels or [])[at] for at in of_series.tolist()]
        table.columns.append(Measure(key, "@0", f"{format_path(series_steps)}~", held, True))
    else:
        table.rows = RowsCall(
            "chart", (format_path(data_steps[:-1]),), {"axis": path, "name": name}
        )
        _series_fields(finder, table, inner, series_steps, of_series, block)
    number = f"@{int(block.shape == 'parallel')}"
    table.columns.append(Measure(name, number, f"{path}[]", labels, label=True))
    title = next((s.name for s in reversed(steps) if isinstance(s, Field)), "value")
    taken = {column.name for column in table.columns}
    title = fresh(snake(title) if snake(title) not in _CHART_WORDS else "value", taken)
    table.columns.append(Measure(title, ".", format_path(data_steps), points.values))


def _series_fields(
    finder: Finder,
    table: Relation,
    inner: Vector,
    steps: tuple[Step, ...],
    of_series: Places,
    block: Block,
) -> None:
    """Add the plain fields of each series, such as its name, as columns beside its points."""
    for field in inner.fields():
        values = inner.field(field).values
        if field == block.data or any(type(one) in (dict, list) for one in values):
            continue
        held = [values[at] for at in of_series.tolist()]
        texts = {one for one in values if isinstance(one, str)}
        name = finder.vocabulary.dimension(texts) if len(texts) > 1 else None
        name = name if name in finder.vocabulary.members else snake(field)
        source = f"^{format_path((Field(field),))}"
        path = format_path((*steps, Field(field)))
        named = fresh(name or snake(field), {column.name for column in table.columns})
        table.columns.append(Measure(named, source, path, held))
