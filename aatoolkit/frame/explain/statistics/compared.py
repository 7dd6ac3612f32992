"""Cells of `df.aa.compare`: a change each row, its p-value adjusted over all, its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.statistics.cells import StatisticsCells
from aatoolkit.frame.explain.statistics.change import Change, sums_of
from aatoolkit.frame.explain.statistics.formula import ABOVE, computed, setting
from aatoolkit.frame.explain.statistics.side import Side
from aatoolkit.stats.sides import names_of, pairing


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


class CompareCells(StatisticsCells):
    """Comparisons of two frames, a measure and group each row."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of a comparison, with its formula."""
        if column == "p_adjusted":
            return self.adjusted(at)
        if column == "verdict" and np.isfinite(self.number(at, "p_adjusted")):
            return self._verdict(at)
        return self.change(at).explained(column)

    @cached_property
    def tests(self) -> dict[int, float]:
        """The p-values, by row."""
        found = {at: self.number(at, "p") for at in range(len(self.flat))}
        return {at: p for at, p in found.items() if np.isfinite(p)}

    @property
    def correct(self) -> str | None:
        """Explain the adjustment of a p-value."""
        given = self.arguments.get("correct", "holm")
        return None if given is None else str(given)

    @property
    def level(self) -> float:
        """The confidence level."""
        return float(self.arguments.get("level", 0.95))

    @property
    def family(self) -> int:
        """Explain the number of tests that `detectable` allows for."""
        return max(len(self.tests), 1) if self.correct else 1

    def adjusted(self, at: int) -> Explanation:
        """The adjusted p-value of a row."""
        return adjusted_p(at, self.tests, self.correct, lambda row: self.change(row).p)

    def _verdict(self, at: int) -> Explanation:
        p = self.adjusted(at)
        sign = "<" if p.value < 1 - self.level else ">="
        threshold = computed("threshold", "1 - level", setting("level", self.level))
        words = f"p_adjusted {sign} threshold = {p.value:.6g} {sign} {threshold.value:.6g}"
        change = Explanation(self.number(at, "change"), "change", operation=ABOVE)
        return Explanation(
            self.text(at, "verdict"), "verdict", formula=words, children=(p, threshold, change)
        )

    def change(self, at: int) -> Change:
        """The change of a row, with all that it is computed from."""
        if at not in self.known_parts:
            self.known_parts[at] = self._change(at)
        found: Change = self.known_parts[at]
        return found

    def _change(self, at: int) -> Change:
        given, keys = self.arguments, names_of(self.arguments.get("by"))
        after, earlier = (self.side(name).frame for name in ("now", "before"))
        pair, cluster = pairing(after, earlier, keys, given.get("pair"), given.get("cluster"))
        measure, rules = self.measure(at), given.get("rules")
        now, before = (
            Side(self.side(name), measure, keys, pair or cluster, rules)
            for name in ("now", "before")
        )
        parts = sums_of(now, before, [self.flat[name].iloc[at] for name in keys], pair)
        is_rate = now.sums.is_proportion and before.sums.is_proportion
        return Change(parts, self.level, self.family, pair, cluster, is_rate=is_rate)
