"""Cells of ``Dataset.compare``: the headline measures, of two datasets or of one and before."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.made import Made
from aatoolkit.frame.explain.rows import matching
from aatoolkit.frame.explain.statistics.cells import PickedRows
from aatoolkit.frame.explain.statistics.change import Change, DesignNumbers, sums_of
from aatoolkit.frame.explain.statistics.compared import CompareCells
from aatoolkit.frame.explain.statistics.formula import above, computed, renamed
from aatoolkit.frame.explain.statistics.intervals import Estimate
from aatoolkit.frame.explain.statistics.side import Side
from aatoolkit.frame.explain.text import plain
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.stats.headline import MAIN, RATES, own_brands, sides_of, without_previous
from aatoolkit.stats.sides import PREVIOUS, PROMPT, pairing, previous_window

_TABLES = {"engine": "overview_engines", "brand": "overview_top_brands"}
_VOICES = ("share_of_voice", "shareOfVoice")
_SHARE, _RANKING = "share_of_voice", "ranking"
_SIDES = ("now", "before")
_KPIS = ("numerator", "denominator", "previous_numerator", "previous_denominator")
_BRANDS = ("mention_count", "answer_count", "previous_mention_count", "previous_answer_count")
_NAMES = ("y1", "n1", "y0", "n0")


class HeadlineCells(CompareCells):
    """Comparisons of headline measures, a measure and subject each row."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of a comparison, with its formula."""
        subject = str(self.flat["subject"].iloc[at])
        if subject == "key figure" and not self._has_counts(at):
            return self._plain_figure(at, column)
        return super().formula(at, column)

    def _made(self, word: str, section: str, table: str) -> Made:
        names: list[str] = self.arguments["names"]
        return self.inputs[names.index(f"{word}.{section}.{table}")]

    def _key(self, at: int) -> tuple[str, Any]:
        return str(self.flat["subject"].iloc[at]), plain(self.flat["name"].iloc[at])

    def _change(self, at: int) -> Change:
        subject, name = self._key(at)
        if self.measure(at) in _VOICES and "prompt_id" in (self.text(at, "method") or ""):
            return self._of_voice(name)
        if not self.arguments.get("is_two"):
            table, key, names = (
                ("overview_kpis", "metric", _KPIS)
                if subject == "key figure"
                else (_TABLES["brand"], "brand", _BRANDS)
            )
            parts = self._counts(self._made("now", "overview", table), key, name, names)
            return Change(parts, self.level, self.family, design=self._design)
        if subject in _TABLES:
            both = [self._made(word, "overview", _TABLES[subject]) for word in _SIDES]
            now, before = (
                Side(each, self.measure(at), [subject], None, RATES, without_previous(each.frame))
                for each in both
            )
            parts = sums_of(now, before, [name], None)
            return Change(parts, self.level, self.family, design=self._design_of_two)
        return self._of_prompts(self.measure(at), ["topic"] if subject == "topic" else [], name)

    def _of_voice(self, name: Any) -> Change:
        """The share of voice of an own brand, by prompt."""
        frames = [each.frame for each in self.inputs]
        sides = {
            word: PickedRows(made, np.flatnonzero(made.frame.index.isin(own.index)).tolist())
            for word, data in zip(_SIDES, sides_of(frames, self.arguments["names"]), strict=True)
            if _RANKING in data
            for made in [self._made(word, _RANKING, "ranking_prompts")]
            for own in [own_brands(data)]
        }
        if name not in sides["now"].frame["brand"].tolist():  # the key figure is of the one brand
            name = sides["now"].frame["brand"].iloc[0]
        before = sides.get("before") or PreviousWindow(sides["now"], [_SHARE])
        pair, cluster = pairing(sides["now"].frame, before.frame, ["brand"])
        now, earlier = (
            Side(each, _SHARE, ["brand"], pair or cluster, None) for each in (sides["now"], before)
        )
        parts = sums_of(now, earlier, [plain(name)], pair)
        is_rate = now.sums.is_proportion and earlier.sums.is_proportion
        return Change(parts, self.level, self.family, pair, cluster, is_rate=is_rate)

    def measure(self, at: int) -> str:
        """The column that a row is about."""
        return str(self.flat["measure"].iloc[at])

    def _of_prompts(self, measure: str, by: list[str], name: Any) -> Change:
        both = [self._made(word, "prompts", MAIN) for word in _SIDES]
        pair, cluster = pairing(both[0].frame, both[1].frame, [])
        now, before = (Side(each, measure, by, pair or cluster, None) for each in both)
        parts = sums_of(now, before, [name] if by else [], pair)
        is_rate = now.sums.is_proportion and before.sums.is_proportion
        return Change(parts, self.level, self.family, pair, cluster, is_rate=is_rate)

    def _counts(
        self, made: Made, key: str, name: Any, columns: tuple[str, ...]
    ) -> dict[str, list[Explanation]]:
        """The counts of both windows, as one row holds them."""
        at = int(np.flatnonzero(matching(made.frame[key], name))[0])
        found = {}
        for label, column in zip(_NAMES, columns, strict=True):
            cell = made.explain(at, column)
            row = cell.row
            found[label] = [
                Explanation(
                    cell.value, label, row, operation="sum", formula=column, children=(cell,)
                )
            ]
        return found

    @cached_property
    def _design(self) -> DesignNumbers | None:
        """The design effect of the prompts of this window, and its degrees of freedom."""
        if f"now.prompts.{MAIN}" not in self.arguments["names"]:
            return None
        side = Side(self._made("now", "prompts", MAIN), "mention_rate", None, PROMPT, None)
        made = Estimate(side, 0, 0.95)
        deff = computed("deff", "max(1, effect)", renamed(made.deff, "effect"))
        return DesignNumbers(deff, made.df)

    @cached_property
    def _design_of_two(self) -> DesignNumbers | None:
        """The design effect of the change over prompts, and its degrees of freedom."""
        if any(f"{word}.prompts.{MAIN}" not in self.arguments["names"] for word in _SIDES):
            return None
        whole = self._of_prompts("mention_rate", [], None)
        refs = (whole.after, whole.before, whole.size_after, whole.size_before)
        rates = "(before * size_before + after * size_after) / (size_before + size_after)"
        pooled = computed("pooled", rates, *refs)
        simple = computed(
            "simple",
            "pooled * (1 - pooled) * (1 / size_before + 1 / size_after)",
            pooled,
            above(whole.size_before),
            above(whole.size_after),
        )
        deff = computed("deff", "max(error ** 2 / simple, 1)", whole.error, simple)
        return DesignNumbers(deff, whole.df)

    def _has_counts(self, at: int) -> bool:
        return bool(np.isfinite(self.number(at, "n")))

    def _plain_figure(self, at: int, column: str) -> Explanation | None:
        """A key figure of which the answer gives no counts."""
        made = self._made("now", "overview", "overview_kpis")
        row = int(np.flatnonzero(matching(made.frame["metric"], self._key(at)[1]))[0])
        ends = {
            name: renamed(made.explain(row, source), name)
            for name, source in (("after", "value"), ("before", "previous_value"))
        }
        if column in ends:
            return ends[column]
        if column == "change":
            return computed("change", "after - before", ends["after"], ends["before"])
        return None


class PreviousWindow:
    """Rows of a frame as they were in the window before, as far as its answer says.

    Parameters
    ----------
    base : Made
        The frame.
    measures : list of str
        What is compared.
    """

    def __init__(self, base: Made, measures: list[str]) -> None:
        self._base = base
        self.frame = previous_window(base.frame, measures)
        self.known = metadata_of(self.frame)

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        there = f"{PREVIOUS}{column}"
        return self._base.explain(at, there if there in self._base.frame.columns else column)
