"""Cells of ``aa.stats.effect``: the changes within prompts of both groups, and checks before."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.statistics.cells import StatisticsCells
from aatoolkit.frame.explain.statistics.compared import adjusted_p
from aatoolkit.frame.explain.statistics.formula import above, computed, setting
from aatoolkit.frame.explain.statistics.panel import Entry, PromptGroup, PromptTrends
from aatoolkit.frame.explain.statistics.side import Side
from aatoolkit.frame.explain.text import plain
from aatoolkit.frame.groupby import flattened
from aatoolkit.stats.compare import POWER
from aatoolkit.stats.effect_days import dated_by, day_of
from aatoolkit.stats.treatment import groups_of

_WORDS = ("treated", "control")
_ENDS = {"low": "-", "high": "+"}


class EffectCells(StatisticsCells):
    """An effect and its checks, one each row."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of an estimate, with its formula."""
        found = self._estimate(at)
        if column == "p_adjusted":
            tests = {row: self.number(row, "p") for row in range(1, len(self.flat))}
            tests = {row: p for row, p in tests.items() if np.isfinite(p)}
            return adjusted_p(at, tests, "holm", lambda row: self._estimate(row).p)
        if column == "detectable":
            checks = [self.number(row, "p") for row in range(1, len(self.flat))]
            checked = max(int(np.isfinite(checks).sum()), 1) if at else 1
            return found.detectable(checked)
        names = ["change", "low", "high", "p", "n", "clusters"]
        names += [f"{word}_{end}" for word in _WORDS for end in ("before", "after")]
        given: Explanation | None = getattr(found, column) if column in names else None
        return given

    def _estimate(self, at: int) -> _Estimate:
        if at not in self.known_parts:
            self.known_parts[at] = self._made(at)
        found: _Estimate = self.known_parts[at]
        return found

    def _made(self, at: int) -> _Estimate:
        kind = str(self.flat["kind"].iloc[at])
        level = float(self.arguments.get("level", 0.95))
        entries, make = self._entries, PromptGroup
        if kind == "effect":
            return _Estimate([make(word, each, 0.0) for word, each in entries.items()], level)
        early = {word: [e for e in each if e.day < 0] for word, each in entries.items()}
        if kind == "placebo":
            moved = (pd.Timestamp(self.flat["on"].iloc[at]) - self._on).days
            return _Estimate([make(word, each, moved) for word, each in early.items()], level)
        late = sorted({e.day for each in entries.values() for e in each if e.day >= 0})
        there = sorted({e.day for each in early.values() for e in each})
        span = setting("span", sum(late) / len(late) - sum(there) / len(there))
        return _Estimate([PromptTrends(word, each, span) for word, each in early.items()], level)

    @cached_property
    def _on(self) -> pd.Timestamp:
        return day_of(self.arguments["on"])

    @cached_property
    def _entries(self) -> dict[str, list[Entry]]:
        """By group, what was counted of each prompt on each day."""
        given = self.arguments
        by, date = str(given.get("by", "prompt_id")), str(given.get("date", "date"))
        flat = flattened(self.inputs[0].frame)
        groups = groups_of(flat, by, given["treated"], given.get("control"))
        column = str(given.get("column", "mentioned"))
        frame = dated_by(flat, date)
        side = Side(self.inputs[0], column, date, by, given.get("rules"), frame)
        sums = side.sums
        days = (pd.to_datetime(sums.groups.keys[date]) - self._on).dt.days
        found: dict[str, list[Entry]] = {}
        for word, members in zip(_WORDS, groups, strict=True):
            there = np.isin(sums.cluster, sums.labels.get_indexer(pd.Index([*members])))
            found[word] = [
                Entry(
                    plain(sums.labels[sums.cluster[pair]]),
                    float(days.iloc[sums.group[pair]]),
                    side,
                    int(pair),
                    by,
                )
                for pair in np.flatnonzero(there)
            ]
        return found


class _Estimate:
    """A difference in differences: what both groups give."""

    def __init__(self, groups: list[PromptGroup], level: float) -> None:
        self._groups, self._level = groups, setting("level", level)

    def __getattr__(self, name: str) -> Explanation:
        word, _, end = name.rpartition("_")
        if word in _WORDS and end in ("before", "after"):
            found: Explanation = getattr(self._groups[_WORDS.index(word)], end)
            return found
        raise AttributeError(name)

    @cached_property
    def change(self) -> Explanation:
        """The change of the treated less that of the control."""
        ends = [getattr(group, end) for group in self._groups for end in ("after", "before")]
        a, b, c, d = (each.column for each in ends)
        return computed("change", f"({a} - {b}) - ({c} - {d})", *ends)

    @cached_property
    def error(self) -> Explanation:
        """The standard error of the change."""
        parts = [group.variance for group in self._groups]
        return computed("error", "sqrt(v_treated + v_control)", *parts)

    @cached_property
    def df(self) -> Explanation:
        """Welch's degrees of freedom."""
        parts = [above(group.variance) for group in self._groups]
        parts += [group.df for group in self._groups]
        spread = "v_treated ** 2 / df_treated + v_control ** 2 / df_control"
        return computed("df", f"max(1, (v_treated + v_control) ** 2 / ({spread}))", *parts)

    @property
    def low(self) -> Explanation:
        """The lower end of the interval."""
        return self._end("low")

    @property
    def high(self) -> Explanation:
        """The upper end of the interval."""
        return self._end("high")

    def _end(self, name: str) -> Explanation:
        whole = f"change {_ENDS[name]} t_quantile((1 + level) / 2, df) * error"
        return computed(name, whole, self.change, self.error, self.df, self._level)

    @property
    def p(self) -> Explanation:
        """The p-value."""
        return computed("p", "two_sided(change / error, df)", self.change, self.error, self.df)

    def detectable(self, tests: int) -> Explanation:
        """Explain the change that 80 % of such samples would show."""
        parts = (self._level, setting("tests", tests), setting("power", POWER))
        whole = "(t_quantile(1 - (1 - level) / tests / 2, df) + t_quantile(power, df)) * error"
        return computed("detectable", whole, *parts, self.df, self.error, self.change)

    @property
    def n(self) -> Explanation:
        """The answers that it uses."""
        return computed("n", "sum(n)", *(each for group in self._groups for each in group.sizes))

    @property
    def clusters(self) -> Explanation:
        """The prompts of the smaller group."""
        counts = [
            computed(f"{group.word}", "len(m)", *group.carriers, *group.sizes)
            for group in self._groups
        ]
        return computed("clusters", "min(treated, control)", *counts, self.change)
