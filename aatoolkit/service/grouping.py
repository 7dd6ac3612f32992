"""Groups of answers that are measured together: a window as a whole, its days, its engines.

Answers and what is in them are counted apart, by the same groups, in queries that hold little but
aggregates; the counts are put together here, in Python. Joining every answer with what is in it
takes many times the rows, and planning one large query longer than running some small ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aatoolkit.service.observations import Observations, shared

Key = tuple[Any, ...]
"""The values of the keys of a grouping; None stands for all values."""


@dataclass(frozen=True)
class Grouping:
    """The groups of one query.

    Parameters
    ----------
    keys
        The columns that tell the groups apart; a null stands for all values of a column.
    sql
        What follows ``FROM`` and ``WHERE``.
    """

    keys: tuple[str, ...]
    sql: str

    @property
    def whole(self) -> Key:
        """The key of the group of all answers."""
        return (None,) * len(self.keys)

    def rows(
        self, o: Observations, aggregates: str, source: str, **values: object
    ) -> dict[Key, dict[str, Any]]:
        """Run aggregates over a table, by group; the rows by their keys."""
        listed = ", ".join((*self.keys, aggregates))
        rows = o.rows(f"SELECT {listed} FROM {source} {self.sql}", **values)
        return {tuple(row.pop(key) for key in self.keys): row for row in rows}

    def by(self, key: str, rows: Mapping[Key, dict[str, Any]]) -> dict[Any, dict[str, Any]]:
        """The rows of the groups of one key, by its value, in order."""
        at = self.keys.index(key)
        return dict(sorted((k[at], row) for k, row in rows.items() if k[at] is not None))


WHOLE = Grouping((), "")
PROMPTS = Grouping(("prompt_id",), "GROUP BY prompt_id")
PROMPT_ENGINES = Grouping(("prompt_id", "engine"), "GROUP BY prompt_id, engine")
DAYS = Grouping(("day", "engine"), "GROUP BY GROUPING SETS ((), (day), (engine))")


@shared
def answer_counts(o: Observations, grouping: Grouping, *, previous: bool) -> dict[Key, int]:
    """The number of answers of each group; that of all answers is there where there are none."""
    rows = grouping.rows(o, "count(*) AS n", f"{window_of(previous)}answers")
    return {key: row["n"] for key, row in rows.items()}


def window_of(previous: bool) -> str:
    """The beginning of the names of a window's tables."""
    return "previous_" if previous else ""
