"""Cells of ``Dataset.compare``: the headline measures, of two datasets or of one and before."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.made import Made
from aatoolkit.frame.explain.statistics.cells import PickedRows
from aatoolkit.frame.explain.statistics.change import Change, DesignNumbers, sums_of
from aatoolkit.frame.explain.statistics.compared import CompareCells
from aatoolkit.frame.explain.statistics.formula import above, computed, renamed
from aatoolkit.frame.explain.statistics.side import Side
from aatoolkit.frame.explain.text import plain
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.stats.headline import RATE, Contrast, Part, measure_name, questions
from aatoolkit.stats.sides import previous_names, previous_window


class HeadlineCells(CompareCells):
    """Comparisons of headline measures, a measure and subject each row."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of a comparison, with its formula."""
        if self._question(at) is None:
            return self._figure(at, column)
        return super().formula(at, column)

    def measure(self, at: int) -> str:
        """The column that a row is about."""
        return str(self.flat["measure"].iloc[at])

    @cached_property
    def tests(self) -> dict[int, float]:
        """The p-values of the family, by row."""
        return {at: p for at, p in super().tests.items() if not self._is_planned(at)}

    def adjusted(self, at: int) -> Explanation:
        """The adjusted p-value of a row; that of the planned comparison stands alone."""
        if self._is_planned(at):
            return computed("p_adjusted", "p", self.change(at).p)
        return super().adjusted(at)

    def _is_planned(self, at: int) -> bool:
        return (self.text(at, "family") or "").startswith("planned")

    @cached_property
    def _questions(self) -> dict[tuple[str, str], Contrast]:
        frames = [each.frame for each in self.inputs]
        tables = dict(zip(self.arguments["names"], frames, strict=True))
        asked = questions(tables, bool(self.arguments["is_two"]))
        return {(each.subject, each.measure): each for each in asked if isinstance(each, Contrast)}

    def _question(self, at: int) -> Contrast | None:
        return self._questions.get((str(self.flat["subject"].iloc[at]), self.measure(at)))

    def _table(self, role: str) -> Made:
        names: list[str] = self.arguments["names"]
        return self.inputs[names.index(role)]

    def _made(self, part: Part) -> Made:
        made = self._table(part.role)
        if part.rows is not None:
            made = PickedRows(made, part.rows.tolist())
        return PreviousWindow(made, [*part.measures]) if part.measures else made

    def _change(self, at: int) -> Change:
        question = self._question(at)
        if question is None:
            raise LookupError(at)
        name = plain(self.flat["name"].iloc[at])
        tests = 1 if question.is_planned else self.family
        return self._asked(question, name, tests)

    def _asked(self, question: Contrast, name: Any, tests: int) -> Change:
        pair, cluster, by = question.pair, question.cluster, [*question.by]
        column = question.column or question.measure
        now, before = (
            Side(self._made(part), column, by, pair or cluster, question.rules)
            for part in question.parts
        )
        parts = sums_of(now, before, [name] if by else [], pair)
        is_rate = now.sums.is_proportion and before.sums.is_proportion
        design = self._design if question.is_total else None
        return Change(parts, self.level, tests, pair, cluster, is_rate=is_rate, design=design)

    @cached_property
    def _design(self) -> DesignNumbers:
        """The design effect of the change over prompts, and its degrees of freedom."""
        whole = self._asked(self._questions["all prompts", RATE], None, 1)
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

    def _figure(self, at: int, column: str) -> Explanation | None:
        """A key figure of which the answer gives no counts."""
        is_two = bool(self.arguments["is_two"])
        made = {"after": self._table("now.figures")}
        made["before"] = self._table("before.figures") if is_two else made["after"]
        sources = {"after": "value", "before": "value"}
        if not is_two:
            names = previous_names(made["before"].frame)
            sources["before"] = next(name for name, of in names.items() if of == "value")
        ends = {}
        for end, each in made.items():
            metrics = [measure_name(str(metric)) for metric in each.frame["metric"]]
            row = metrics.index(self.measure(at))
            ends[end] = renamed(each.explain(row, sources[end]), end)
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
        names = {measure: name for name, measure in previous_names(self._base.frame).items()}
        return self._base.explain(at, names.get(column, column))
