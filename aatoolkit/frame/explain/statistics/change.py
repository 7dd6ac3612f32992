"""A change between two sides: each number of it, from the sums of both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.statistics.formula import (
    above,
    computed,
    setting,
    wilson_end,
)
from aatoolkit.frame.explain.statistics.side import Side
from aatoolkit.stats.difference import POWER

FREEDOM = "max(1, min(sum(m) ** 2 / sum(m ** 2) - 1, sum({z} ** 2) ** 2 / sum({z} ** 4)))"
"""The degrees of freedom of a variance over clusters of sizes m; see ``stats.difference``."""

_ENDS = {"low": "-", "high": "+"}


@dataclass(frozen=True)
class DesignNumbers:
    """The design effect that a comparison of totals is made with, and its degrees of freedom."""

    deff: Explanation
    df: Explanation | None


def sums_of(
    now: Side, before: Side, key: Sequence[Any], pair: str | None
) -> dict[str, list[Explanation]]:
    """The sums of both sides of a group: y1 and n1 now, y0 and n0 before, one each cluster."""
    sides = {1: now, 0: before}
    groups = {end: side.group(key) for end, side in sides.items()}
    pairs = {
        end: {} if groups[end] is None else side.pairs(groups[end] or 0)
        for end, side in sides.items()
    }
    if pair:
        common = [name for name in pairs[1] if name in pairs[0]]
        pairs = {end: {name: each[name] for name in common} for end, each in pairs.items()}
    return {
        f"{which}{end}": [getattr(side, which)(f"{which}{end}", at) for at in pairs[end].values()]
        for end, side in sides.items()
        for which in "yn"
    }


class Change:
    """A change of one group: each number of its row from the sums of both sides.

    Parameters
    ----------
    parts : mapping of str to list of Explanation
        The sums of both sides: ``y1`` and ``n1`` now, ``y0`` and ``n0`` before.
    level : float
        The confidence level.
    tests : int
        How many tests are adjusted for.
    pair, cluster : str, optional
        What rows are paired by, or are clusters of.
    is_rate : bool
        Whether each counts some of a number.
    design : DesignNumbers, optional
        Of totals, how much more they vary than independent answers.
    """

    def __init__(
        self,
        parts: Mapping[str, list[Explanation]],
        level: float,
        tests: int,
        pair: str | None = None,
        cluster: str | None = None,
        *,
        is_rate: bool = True,
        design: DesignNumbers | None = None,
    ) -> None:
        self._parts, self._is_rate = parts, is_rate
        self._pair, self._cluster = pair, cluster
        self._level, self._tests, self._design = level, tests, design

    def explained(self, column: str) -> Explanation | None:
        """The number of a column; None if this does not say how it is computed."""
        names = {
            "before": "before",
            "after": "after",
            "change": "change",
            "low": "low",
            "high": "high",
            "p": "p",
            "n": "size_after",
            "n_before": "size_before",
            "clusters": "clusters",
            "detectable": "detectable",
        }
        found: Explanation | None = getattr(self, names[column]) if column in names else None
        return found

    @cached_property
    def size_after(self) -> Explanation:
        """Explain the denominator of the value after."""
        return computed("size_after", "sum(n1)", *self._parts["n1"])

    @cached_property
    def size_before(self) -> Explanation:
        """Explain the denominator of the value before."""
        return computed("size_before", "sum(n0)", *self._parts["n0"])

    @cached_property
    def after(self) -> Explanation:
        """The value after."""
        return computed("after", "sum(y1) / sum(n1)", *self._parts["y1"], *self._parts["n1"])

    @cached_property
    def before(self) -> Explanation:
        """The value before."""
        return computed("before", "sum(y0) / sum(n0)", *self._parts["y0"], *self._parts["n0"])

    @cached_property
    def change(self) -> Explanation:
        """After less before."""
        return computed("change", "after - before", self.after, self.before)

    @cached_property
    def clusters(self) -> Explanation:
        """Explain the number of clusters that are compared."""
        if self._pair:
            return computed("clusters", "len(n1)", *self._parts["n1"])
        return computed("clusters", "len(n1) + len(n0)", *self._parts["n1"], *self._parts["n0"])

    def _residuals(self) -> list[Explanation]:
        """Of each pair, how far it is from what the whole would have."""
        found = []
        sizes = [
            Explanation(self.size_after.value, "size_after", operation="above"),
            Explanation(self.size_before.value, "size_before", operation="above"),
        ]
        whole = [above(self.after), above(self.before), *sizes]
        lists = [self._parts[name] for name in ("y1", "n1", "y0", "n0")]
        for each in zip(*lists, strict=True):
            found.append(
                computed(
                    "z",
                    "(y1 - after * n1) / size_after - (y0 - before * n0) / size_before",
                    *map(above, each),
                    *whole,
                    row=each[0].row,
                )
            )
        return found

    @cached_property
    def error(self) -> Explanation:
        """The standard error of the change."""
        if self._pair:
            squares = self._residuals()
            expression = "sqrt(len(z) / (len(z) - 1) * sum(z ** 2))"
            return computed("error", expression, *squares)
        variances = (above(self._variance(1)), above(self._variance(0)))
        return computed("error", "sqrt(variance1 + variance0)", *variances)

    def _variance(self, end: int) -> Explanation:
        return self._variances[end][0]

    @cached_property
    def _variances(self) -> dict[int, tuple[Explanation, Explanation]]:
        """Of two samples, the variance of each side and its degrees of freedom."""
        return {end: self._of_sample(end) for end in (1, 0)}

    def _of_sample(self, end: int) -> tuple[Explanation, Explanation]:
        value = above(self.after if end else self.before)
        size = above(self.size_after if end else self.size_before)
        y, n = (self._parts[f"{which}{end}"] for which in "yn")
        name = f"z{end}"
        if not self._cluster:
            squares = [computed("square", f"y{end} ** 2", above(one)) for one in y]
            mean, count = value.column, f"len(n{end})"
            variance = computed(
                f"variance{end}",
                f"(sum(square) - {count} * {mean} ** 2) / ({count} - 1) / {count}",
                *squares,
                *map(above, n),
                value,
            )
            return variance, computed(f"df{end}", f"{count} - 1", *map(above, n))
        each = [
            computed(
                name,
                f"(y{end} - {value.column} * n{end}) / {size.column}",
                above(one),
                above(many),
                value,
                size,
                row=one.row,
            )
            for one, many in zip(y, n, strict=True)
        ]
        variance = computed(
            f"variance{end}", f"len({name}) / (len({name}) - 1) * sum({name} ** 2)", *each
        )
        sizes = [computed("m", f"n{end}", above(many), row=many.row) for many in n]
        return variance, computed(f"df{end}", FREEDOM.format(z=name), *sizes, *map(above, each))

    @cached_property
    def df(self) -> Explanation:
        """The degrees of freedom."""
        if self._pair:
            sizes = [
                computed("m", "n1 + n0", above(one), above(two), row=one.row)
                for one, two in zip(self._parts["n1"], self._parts["n0"], strict=True)
            ]
            return computed("df", FREEDOM.format(z="z"), *sizes, *map(above, self.error.children))
        (v1, f1), (v0, f0) = self._variances[1], self._variances[0]
        whole = (
            "max(1, (variance1 + variance0) ** 2 / (variance1 ** 2 / df1 + variance0 ** 2 / df0))"
        )
        return computed("df", whole, v1, f1, v0, f0)

    @cached_property
    def low(self) -> Explanation:
        """The lower end of the interval."""
        return self._end("low")

    @cached_property
    def high(self) -> Explanation:
        """The upper end of the interval."""
        return self._end("high")

    @property
    def _is_newcombe(self) -> bool:
        return not self._pair and not self._cluster and self._is_rate

    def _end(self, name: str) -> Explanation:
        if self._is_newcombe:
            return self._newcombe(name)
        whole = f"change {_ENDS[name]} t_quantile((1 + level) / 2, df) * error"
        sizes = (self.size_after, self.size_before)
        return computed(name, whole, self.change, self.error, self.df, self._setting, *sizes)

    @property
    def _setting(self) -> Explanation:
        return setting("level", self._level)

    @cached_property
    def _effective(self) -> tuple[Explanation, Explanation]:
        """The sizes of both sides, divided by the design effect where there is one."""
        sizes = (above(self.size_after), above(self.size_before))
        if self._design is None:
            return (
                computed("answers1", "size_after", sizes[0]),
                computed("answers0", "size_before", sizes[1]),
            )
        deff = self._design.deff
        return (
            computed("answers1", "size_after / deff", sizes[0], deff),
            computed("answers0", "size_before / deff", sizes[1], above(deff)),
        )

    @cached_property
    def _quantile(self) -> Explanation:
        df = None if self._design is None else self._design.df
        if df is None:
            return computed("q", "normal_quantile((1 + level) / 2)", self._setting)
        return computed("q", "t_quantile((1 + level) / 2, df)", self._setting, df)

    def _newcombe(self, name: str) -> Explanation:
        """Newcombe's interval, of the Wilson intervals of both sides."""
        n1, n0 = self._effective
        ends = [
            wilson_end(f"{side.column}_{end}", above(side), above(size), above(self._quantile))
            for side, size, end in (
                (self.after, n1, "low" if name == "low" else "high"),
                (self.before, n0, "high" if name == "low" else "low"),
            )
        ]
        one, two = (each.column for each in ends)
        whole = f"change {_ENDS[name]} sqrt((after - {one}) ** 2 + (before - {two}) ** 2)"
        sides = (above(self.after), above(self.before))
        given = (self.size_after, self.size_before, n1, n0, self._quantile)
        return computed(name, whole, self.change, *sides, *ends, *given)

    @cached_property
    def p(self) -> Explanation:
        """The p-value of no change."""
        if not self._is_newcombe:
            parts = (self.change, self.error, self.df, self.size_after, self.size_before)
            return computed("p", "two_sided(change / error, df)", *parts)
        test = self._test_error
        if not test.value > 0:
            return computed("p", "1", self.change)
        df = None if self._design is None else self._design.df
        freedom = df or setting("df", math.inf)
        whole = "two_sided(change / pooled_error, df)"
        sizes = (self.size_after, self.size_before, *self._effective)
        return computed("p", whole, self.change, test, freedom, *sizes)

    @cached_property
    def _test_error(self) -> Explanation:
        """The standard error of two proportions, pooled."""
        n1, n0 = map(above, self._effective)
        rates = (above(self.after), above(self.before))
        both = "(after * answers1 + before * answers0) / (answers1 + answers0)"
        pooled = computed("pooled", both, *rates, n1, n0)
        whole = "sqrt(pooled * (1 - pooled) * (1 / answers1 + 1 / answers0))"
        return computed("pooled_error", whole, pooled, n1, n0)

    @cached_property
    def detectable(self) -> Explanation:
        """The smallest change that would have shown in four of five samples."""
        parts = [
            self._setting,
            setting("power", POWER),
            computed("tests", "tests", setting("tests", self._tests)),
        ]
        tail = "1 - (1 - level) / tests / 2"
        if self._is_newcombe:
            df = None if self._design is None else self._design.df
            freedom = df or setting("df", math.inf)
            error = computed(
                "error",
                "max(pooled_error, (high - low) / (2 * q))",
                self._test_error,
                self.high,
                self.low,
                above(self._quantile),
            )
        else:
            freedom, error = self.df, self.error
        whole = f"(t_quantile({tail}, df) + t_quantile(power, df)) * error"
        sides = (self.after, self.before, self.size_after, self.size_before)
        given = () if self._is_newcombe else sides
        return computed("detectable", whole, *parts, freedom, error, *given)
