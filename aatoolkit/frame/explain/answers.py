"""Cells of ``aa.stats.answers``: what an answer mentions and cites, of the rows about it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from aatoolkit.frame.explain.cells import TableCells
from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.made import Made, Result
from aatoolkit.frame.explain.text import plain

_NO_ROWS = np.zeros(0, np.intp)


class AnswerCells(Result):
    """One row an answer: what it mentions and cites, of the rows about it."""

    @cached_property
    def _rows_by_chat(self) -> list[dict[Any, Any]]:
        """By input and chat, the rows about it."""
        return [
            {plain(chat): rows for chat, rows in made.frame.groupby("chat_id").indices.items()}
            for made in self.inputs
        ]

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        chat = plain(self.frame["chat_id"].iloc[at])
        whole, mentions, citations = self.inputs
        row = int(self._rows_by_chat[0][chat][0])
        if column in whole.frame.columns:
            return self.passed(whole.explain(row, column), at, column, "of the answer")
        found = self.described(at, column)
        if column == "brand":
            return replace(found, formula="the brand that was asked for, else the own ones")
        if column == "date":
            day = whole.explain(row, "ran_at")
            return replace(found, formula="the day of ran_at", rows=1, children=(day,))
        made, field = (citations, "domain_type") if column == "cited" else (mentions, "brand")
        rows = self._rows_by_chat[2 if column == "cited" else 1].get(chat, _NO_ROWS)
        brand = self.arguments.get("brand")
        if column == "cited":
            words = "whether one of its citations is of an own page: domain_type is owned"
        elif brand is None:
            field, words = "own", "whether one of the brands it mentions is an own one"
        else:
            words = f"whether it mentions {brand}"
        if column == "position" and len(rows):
            own = made.frame["own"].fillna(False).to_numpy(bool)
            named = own if brand is None else made.frame["brand"].eq(brand).to_numpy(bool)
            words = "the smallest position of its mentions"
            if named[rows].any():
                rows, field = rows[named[rows]], "position"
        missing = None
        if found.value is None:
            missing = (
                "nothing says of any citation whose page it is"
                if column == "cited"
                else "it does not mention the brand"
            )
        return replace(
            found,
            formula=f"{words}, of {len(rows)} rows" if missing is None else None,
            missing=missing,
            rows=len(rows),
            children=tuple(made.explain(int(each), field) for each in rows)
            or (_no_rows(whole.explain(row, "chat_id"), made),),
        )


def _no_rows(chat: Explanation, made: Made) -> Explanation:
    """What the answer holds in place of the rows about a chat: an empty list, or none."""
    if chat.place is None or not isinstance(made, TableCells):
        return chat
    place = made.list_in(chat.place.path.rpartition(".")[0])
    name = f"rows of {made.name}"
    return replace(chat, value=0, column=name, meaning=None, operation="rows", place=place)
