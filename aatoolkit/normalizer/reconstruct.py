"""Rebuild an answer from the declared tables that were made of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.paths import KEY_SIGN, Field, Position, parse_path
from aatoolkit.jsontree.rebuild import restore
from aatoolkit.normalizer.formats import format_values

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CellSource:
    """The column that holds a value, and how the value was written."""

    table: str
    column: str
    value_format: str

    def dumps(self) -> str:
        """Serialize to text, which stands for the kind in provenance tables."""
        return json.dumps(astuple(self), ensure_ascii=False)


def rebuild(
    tables: Mapping[str, pd.DataFrame], extra: pd.DataFrame, provenance: Mapping[str, pa.Table]
) -> Any:
    """Rebuild the answer, as a JSON value, from the tables that `normalize` made.

    Values are taken from the columns and from ``extra`` as they are now; the provenance records
    where each belongs, and how it was written. Keys of objects may come in another order.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        The tables of the section, all rows in their order; also those read back from Parquet.
    extra : pandas.DataFrame
        What no column took: ``path`` and ``value``.
    placement : mapping of str to pyarrow.Table
        Where every value was.

    Raises
    ------
    PayloadError
        If a table or column is missing, or has other rows than the answer gave it.
    MetadataError
        If the placement is not one.
    """
    answer = [restore(provenance, partial(_cells, tables))]
    for path, value in zip(extra["path"], extra["value"], strict=True):
        if not path.endswith(KEY_SIGN):
            _put(answer, [0, *_steps(path)], json.loads(value))
    return answer[0]


def _cells(tables: Mapping[str, pd.DataFrame], text: str) -> list[Any]:
    """The cells of a column as JSON values, by the text of their `CellSource`."""
    source = CellSource(*json.loads(text))
    try:
        cells = tables[source.table][source.column]
    except KeyError:
        problem = f"the column {source.column} of the table {source.table} is missing"
    else:
        return format_values(pa.array(cells, from_pandas=True), source.value_format)
    raise PayloadError(problem, problems=[problem])


def _steps(path: str) -> Iterator[str | int]:
    """Yield the keys and positions that a concrete path goes through."""
    for step in parse_path(path):
        if isinstance(step, Position):
            yield step.number
        elif isinstance(step, Field):
            yield step.name
        else:
            raise PayloadError(f"{path} in extra is no path of one value", problems=[path])


def _put(answer: Any, steps: list[Any], value: Any) -> None:
    """Put a value in its place; objects and arrays on the way are made where there is none.

    Values may come in any order: elements before the one that is put are null until theirs comes.
    """
    for step, further in pairwise([*steps, None]):
        if isinstance(answer, list):
            answer.extend([None] * (step + 1 - len(answer)))
        below = answer.get(step) if isinstance(answer, dict) else answer[step]
        if further is None:
            below = answer[step] = value
        elif not isinstance(below, list if isinstance(further, int) else dict):
            below = answer[step] = [] if isinstance(further, int) else {}
        answer = below
