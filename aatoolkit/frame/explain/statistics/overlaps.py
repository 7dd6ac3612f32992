"""Cells of `df.aa.overlap`: the overlap of each prompt, and the answers that it is the mean of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.statistics.cells import StatisticsCells
from aatoolkit.frame.explain.statistics.formula import above, computed, setting
from aatoolkit.frame.explain.text import plain
from aatoolkit.frame.groupby import flattened
from aatoolkit.stats.difference import POWER
from aatoolkit.stats.similarity import AnswerLists, answer_lists, mean_overlaps

_INTERVAL = "{0} {1} t_quantile((1 + level) / 2, len({2}) - 1) * std({2}) / sqrt(len({2}))"
_MEANS = {"jaccard": "j", "rbo": "r", "ceiling": "own", "rbo_ceiling": "own", "gap": "g"}
_MOST_ROWS = 1500


def adjusted_p(
    at: int,
    tests: Mapping[int, float],
    correct: str | None,
    explained: Callable[[int], Explanation],
) -> Explanation:
    """A p-value adjusted over all rows.

    Parameters
    ----------
    at : int
        The row.
    tests : mapping of int to float
        The p-values, by row.
    correct : {"holm", "bh", None}
        How they are adjusted.
    explained : callable
        Explains the p-value of a row.
    """
    if correct is None:
        return computed("p_adjusted", "p", explained(at))
    order = sorted(tests, key=lambda row: tests[row])
    place, many = order.index(at), len(order)
    factors = [many - rank if correct == "holm" else many / (rank + 1) for rank in range(many)]
    among = range(place + 1) if correct == "holm" else range(place, many)
    choose = max if correct == "holm" else min
    best = choose(among, key=lambda rank: factors[rank] * tests[order[rank]])
    ranked = (setting("tests", many), setting("rank", best + 1))
    whole = "tests - rank + 1" if correct == "holm" else "tests / rank"
    decisive = explained(order[best])
    found = computed(
        "p_adjusted", "min(1, factor * p)", computed("factor", whole, *ranked), decisive
    )
    side = "a smaller" if correct == "holm" else "a larger"
    notes = () if order[best] == at else (f"{side} p-value decides, that of row {order[best]}",)
    return found.with_notes(f"p is number {place + 1} of {many}, from the smallest", *notes)


class OverlapCells(StatisticsCells):
    """Explanations of ``df.aa.overlap``, one row a pair of members."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of an overlap, with its formula."""
        if column == "p_adjusted":
            tests = {row: self.number(row, "p") for row in range(len(self.flat))}
            tests = {row: p for row, p in tests.items() if np.isfinite(p)}
            return adjusted_p(at, tests, "holm", self._p)
        if column == "p":
            return self._p(at)
        if column == "detectable":
            return self._detectable(at)
        if column == "clusters":
            return computed("clusters", "len(j)", *self._by_prompt(at, "jaccard"))
        if column == "n":
            return self._answers(at)
        name, _, end = column.rpartition("_")
        if end in ("low", "high") and name in ("jaccard", "rbo", "gap"):
            return self._end(at, name, end)
        if column in _MEANS:
            return self._mean(at, column)
        return None

    def _mean(self, at: int, name: str) -> Explanation:
        part = _MEANS[name]
        return computed(name, f"mean({part})", *self._by_prompt(at, name))

    def _end(self, at: int, name: str, end: str) -> Explanation:
        part, level = _MEANS[name], setting("level", self.arguments["level"])
        whole = _INTERVAL.format(name, "-" if end == "low" else "+", part)
        if name != "gap":
            whole = f"max({whole}, 0)" if end == "low" else f"min({whole}, 1)"
        mean = self._mean(at, name)
        return computed(f"{name}_{end}", whole, mean, level, *map(above, mean.children))

    def _p(self, at: int) -> Explanation:
        gap = self._mean(at, "gap")
        whole = "two_sided(gap / (std(g) / sqrt(len(g))), len(g) - 1)"
        return computed("p", whole, gap, *map(above, gap.children))

    def _detectable(self, at: int) -> Explanation:
        tests = sum(np.isfinite(self.number(row, "p")) for row in range(len(self.flat)))
        gap = self._mean(at, "gap")
        settings = (
            setting("level", self.arguments["level"]),
            setting("tests", max(int(tests), 1)),
            setting("power", POWER),
        )
        quantiles = (
            "t_quantile(1 - (1 - level) / tests / 2, len(g) - 1) + t_quantile(power, len(g) - 1)"
        )
        whole = f"({quantiles}) * std(g) / sqrt(len(g))"
        return computed("detectable", whole, *settings, gap, *map(above, gap.children))

    @cached_property
    def _lists(self) -> AnswerLists:
        given = self.arguments
        names = ("column", "between", "by", "repeat")
        column, between, by, repeat = (str(given[name]) for name in names)
        return answer_lists(self._flat, column, between, by, repeat, given.get("order"))

    @cached_property
    def _flat(self) -> pd.DataFrame:
        return flattened(self.inputs[0].frame)

    @cached_property
    def _means(self) -> tuple[Any, Any, Any]:
        given, lists = self.arguments, self._lists
        ordered = given.get("order") is not None
        return mean_overlaps(
            lists, len(lists.members), float(given["p"]), int(given["depth"]), ordered
        )

    @cached_property
    def _prompts(self) -> list[Any]:
        """The prompts in the order of their codes."""
        by = str(self.arguments["by"])
        there = self._flat[str(self.arguments["column"])].notna().to_numpy()
        return [*pd.factorize(self._flat[by][there])[1]]

    def _pair(self, at: int) -> tuple[int, int]:
        between = str(self.arguments["between"])
        names = (self.flat[name].iloc[at] for name in (between, f"other_{between}"))
        one, two = (self._lists.members.index(str(name)) for name in names)
        return one, two

    def _by_prompt(self, at: int, name: str) -> list[Explanation]:
        """The overlap of each prompt that has one."""
        a, b = self._pair(at)
        jaccard, biased, _ = self._means
        matrix = biased if name.startswith("rbo") else jaccard
        found = []
        for prompt, label in enumerate(self._prompts):
            between, own = matrix[prompt, a, b], (matrix[prompt, a, a] + matrix[prompt, b, b]) / 2
            is_there = np.isfinite(jaccard[prompt, a, b])
            row = {str(self.arguments["by"]): plain(label)}
            word = "rank-biased overlap" if name.startswith("rbo") else "Jaccard index"
            if name in ("jaccard", "rbo"):
                if np.isfinite(between):
                    found.append(
                        self._overlap(
                            "j" if name == "jaccard" else "r", between, word, prompt, row, (a, b)
                        )
                    )
            elif is_there and np.isfinite(own):
                repeats = self._overlap("own", own, f"{word} of repeats", prompt, row, (a, b))
                if name != "gap":
                    found.append(repeats)
                elif np.isfinite(between):
                    other = self._overlap("between", between, word, prompt, row, (a, b), rows=False)
                    found.append(computed("g", "between - own", other, repeats, row=row))
        return found

    def _overlap(
        self,
        name: str,
        value: float,
        word: str,
        prompt: int,
        row: dict[str, Any],
        pair: tuple[int, int],
        *,
        rows: bool = True,
    ) -> Explanation:
        """The mean overlap of the answers to one prompt, with the rows of these answers."""
        places = self._places(prompt, pair)
        column = str(self.arguments["column"])
        cells = tuple(self.inputs[0].explain(at, column) for at in places) if rows else ()
        words = f"mean {word} of pairs of answers, of {len(places)} rows of {column}"
        return Explanation(
            float(value),
            name,
            row,
            operation="drawn",
            formula=words,
            rows=len(places),
            children=cells,
        )

    def _places(self, prompt: int, pair: tuple[int, int]) -> list[int]:
        """The rows of the answers of both members to a prompt."""
        given, flat = self.arguments, self._flat
        mask = flat[str(given["by"])].eq(self._prompts[prompt]).fillna(False).to_numpy(bool)
        members = [self._lists.members[each] for each in pair]
        mask = mask & flat[str(given["between"])].astype(str).isin(members).to_numpy(bool)
        mask = mask & flat[str(given["column"])].notna().to_numpy(bool)
        found: list[int] = np.flatnonzero(mask).tolist()
        return found

    def _answers(self, at: int) -> Explanation:
        """Explain the number of answers of both members to the prompts that both answer."""
        a, b = self._pair(at)
        jaccard, _, answers = self._means
        parts = []
        for prompt, label in enumerate(self._prompts):
            if np.isfinite(jaccard[prompt, a, b]):
                count = int(answers[prompt][[a, b]].sum())
                row = {str(self.arguments["by"]): plain(label)}
                words = f"different values of {self.arguments['repeat']}"
                column = str(self.arguments["column"])
                cells = tuple(
                    self.inputs[0].explain(at, column) for at in self._places(prompt, (a, b))
                )
                parts.append(
                    Explanation(
                        count, "answers", row, operation="count", formula=words, children=cells
                    )
                )
        return computed("n", "sum(answers)", *parts)
