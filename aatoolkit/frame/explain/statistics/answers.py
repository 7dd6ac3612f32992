"""Cells of ``aa.stats.answers`` and ``aa.stats.cited_and_mentioned``."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.made import Result
from aatoolkit.frame.explain.statistics.cells import StatisticsCells
from aatoolkit.frame.explain.statistics.formula import above, computed, setting
from aatoolkit.frame.explain.text import plain

_ENDS = {"low": "-", "high": "+"}
_KINDS = {"both": (1, 1), "mentioned_only": (0, 1), "cited_only": (1, 0), "neither": (0, 0)}
"""Whether an answer cites and mentions, by the name of its kind."""

_RATES = {
    "mentioned_if_cited": ("both", "cited_only"),
    "mentioned_if_not": ("mentioned_only", "neither"),
    "cited_if_mentioned": ("both", "mentioned_only"),
    "cited_if_not": ("cited_only", "neither"),
}


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
            rows = rows[named[rows]]
            field, words = "position", "the smallest position of its mentions"
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
            children=tuple(made.explain(int(each), field) for each in rows),
        )


class AssociationCells(StatisticsCells):
    """Whether answers that cite own pages mention the brand more often."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of the association, with its formula."""
        del at  # there is one row
        if column in _KINDS:
            return self._count(column)
        if column == "n":
            parts = [self._count(kind) for kind in _KINDS]
            return computed("n", " + ".join(_KINDS), *parts)
        if column in _RATES:
            hits, others = _RATES[column]
            parts = [self._count(hits), self._count(others)]
            return computed(column, f"{hits} / ({hits} + {others})", *parts)
        if column == "odds_ratio":
            return self._ratio
        if column == "clusters":
            counted = [each["n"] for each in self._prompts if _tells(each)]
            return computed("clusters", "len(n)", *counted) if counted else None
        if column in _ENDS:
            z = computed("z", "normal_quantile((1 + level) / 2)", self._level)
            whole = f"odds_ratio * exp({'-' if column == 'low' else ''}z * error)"
            return computed(column, whole, self._ratio, z, self._error)
        if column == "p":
            infinite = setting("df", float("inf"))
            whole = "two_sided(log(odds_ratio) / error, df)"
            return computed("p", whole, self._ratio, self._error, infinite)
        return None

    @property
    def _level(self) -> Explanation:
        return setting("level", self.arguments.get("level", 0.95))

    @cached_property
    def _rows(self) -> pd.DataFrame:
        frame = self.inputs[0].frame
        flags = frame[["cited", "mentioned", "prompt_id"]].assign(at=range(len(frame)))
        return flags.dropna(subset=["cited", "prompt_id"])

    def _answers(self, kind: str, prompt: Any = None) -> list[Explanation]:
        """The answers of a kind, each with whether it cites and mentions."""
        cited, mentioned = _KINDS[kind]
        rows = self._rows
        mask = rows["cited"].eq(bool(cited)) & rows["mentioned"].eq(bool(mentioned))
        if prompt is not None:
            mask &= rows["prompt_id"].eq(prompt)
        found = []
        for at in rows.loc[mask.to_numpy(bool), "at"].tolist():
            parts = tuple(self.inputs[0].explain(at, name) for name in ("cited", "mentioned"))
            words = " and ".join(f"{each.column} is {each.value}" for each in parts)
            row = parts[0].row
            found.append(
                Explanation(1, kind, row, operation="count", formula=words, children=parts)
            )
        return found

    def _count(self, kind: str, prompt: Any = None) -> Explanation:
        """Explain a number of answers of one kind."""
        parts = self._answers(kind, prompt)
        row = {} if prompt is None else {"prompt_id": plain(prompt)}
        if not parts:
            words = "no answer is of this kind"
            return Explanation(0, kind, row, operation="count", formula=words)
        return computed(kind, f"sum({kind})", *parts, row=row)

    @cached_property
    def _prompts(self) -> list[dict[str, Explanation]]:
        """By prompt, its answers of each kind, and all."""
        found = []
        for prompt in dict.fromkeys(self._rows["prompt_id"]):
            each = {kind: self._count(kind, prompt) for kind in _KINDS}
            row = {"prompt_id": plain(prompt)}
            each["n"] = computed("n", " + ".join(_KINDS), *each.values(), row=row)
            found.append(each)
        return found

    @cached_property
    def _products(self) -> list[tuple[Explanation, Explanation]]:
        """By prompt, what counts for and against a connection."""
        found = []
        for each in self._prompts:
            row, refs = each["n"].row, {kind: above(one) for kind, one in each.items()}
            found.append(
                (
                    computed(
                        "r", "both * neither / n", each["n"], refs["both"], refs["neither"], row=row
                    ),
                    computed(
                        "s",
                        "cited_only * mentioned_only / n",
                        refs["n"],
                        refs["cited_only"],
                        refs["mentioned_only"],
                        row=row,
                    ),
                )
            )
        return found

    @cached_property
    def _ratio(self) -> Explanation:
        parts = [one for pair in self._products for one in pair]
        return computed("odds_ratio", "sum(r) / sum(s)", *parts)

    @cached_property
    def _error(self) -> Explanation:
        """The standard error of the logarithm, by Robins, Breslow and Greenland."""
        terms: dict[str, list[Explanation]] = {"pr": [], "psqr": [], "qs": []}
        for each, (r, s) in zip(self._prompts, self._products, strict=True):
            row, refs = r.row, {kind: above(one) for kind, one in each.items()}
            p = computed("p", "(both + neither) / n", *(refs[k] for k in ("both", "neither", "n")))
            q = computed(
                "q",
                "(cited_only + mentioned_only) / n",
                *(refs[k] for k in ("cited_only", "mentioned_only", "n")),
            )
            given = (p, q, above(r), above(s))
            for name, whole in (("pr", "p * r"), ("psqr", "p * s + q * r"), ("qs", "q * s")):
                terms[name].append(computed(name, whole, *given, row=row))
        totals = [
            computed("sum_r", "sum(r)", *(above(r) for r, _ in self._products)),
            computed("sum_s", "sum(s)", *(above(s) for _, s in self._products)),
        ]
        whole = (
            "sqrt(sum(pr) / (2 * sum_r ** 2) + sum(psqr) / (2 * sum_r * sum_s) "
            "+ sum(qs) / (2 * sum_s ** 2))"
        )
        parts = [one for listed in terms.values() for one in listed]
        return computed("error", whole, *parts, *totals)


def _tells(each: dict[str, Explanation]) -> bool:
    """Whether a prompt has answers of both kinds."""
    a, b, c, d = (each[kind].value for kind in ("both", "cited_only", "mentioned_only", "neither"))
    return bool(a + b and c + d and a + c and b + d)
