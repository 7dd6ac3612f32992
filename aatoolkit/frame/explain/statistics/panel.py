"""The change of one group of prompts: its mean within prompts, its trend, their variances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.statistics.change import FREEDOM
from aatoolkit.frame.explain.statistics.formula import above, computed, renamed
from aatoolkit.frame.explain.statistics.side import Side


@dataclass(frozen=True)
class Entry:
    """The counts of a prompt on a day."""

    prompt: Any
    day: float
    side: Side
    pair: int
    by: str


class PromptGroup:
    """The change of one group of prompts: its mean within prompts, and its variance."""

    def __init__(self, word: str, entries: list[Entry], at: float) -> None:
        self.word = word
        prompts: dict[Any, dict[bool, list[Entry]]] = {}
        for entry in entries:
            prompts.setdefault(entry.prompt, {}).setdefault(entry.day >= at, []).append(entry)
        self._prompts = {name: each for name, each in prompts.items() if len(each) == 2}

    @cached_property
    def _sums(self) -> list[dict[str, Explanation]]:
        """By prompt, its sums after (1) and before (0)."""
        found = []
        for name, ends in self._prompts.items():
            row = {ends[True][0].by: name}
            parts = {}
            for is_late, entries in ends.items():
                for which in "yn":
                    label = f"{which}{int(is_late)}"
                    each = [getattr(e.side, which)("part", e.pair) for e in entries]
                    parts[label] = computed(label, "sum(part)", *each, row=row)
            found.append(parts)
        return found

    @cached_property
    def _weighted(self) -> list[tuple[Explanation, Explanation, Explanation]]:
        """By prompt, its weight, and its weighted rates before and after."""
        found = []
        for parts in self._sums:
            row = parts["y1"].row
            n1, n0 = parts["n1"], parts["n0"]
            weight = computed("weight", "n1 * n0 / (n1 + n0)", n1, n0, row=row)
            early, late = (
                computed(
                    name,
                    f"weight * y{end} / n{end}",
                    above(weight),
                    parts[f"y{end}"],
                    above(parts[f"n{end}"]),
                    row=row,
                )
                for name, end in (("early", 0), ("late", 1))
            )
            found.append((weight, early, late))
        return found

    @cached_property
    def before(self) -> Explanation:
        """The mean before, with the weights of the change."""
        weights = [each[0] for each in self._weighted]
        early = [each[1] for each in self._weighted]
        return computed(f"{self.word}_before", "sum(early) / sum(weight)", *early, *weights)

    @cached_property
    def after(self) -> Explanation:
        """The mean after."""
        weights = [each[0] for each in self._weighted]
        late = [each[2] for each in self._weighted]
        return computed(f"{self.word}_after", "sum(late) / sum(weight)", *late, *weights)

    @cached_property
    def sizes(self) -> list[Explanation]:
        """The answers of each prompt."""
        return [
            computed("n", "n1 + n0", parts["n1"], parts["n0"], row=parts["n1"].row)
            for parts in self._sums
        ]

    @cached_property
    def scores(self) -> list[Explanation]:
        """Of each prompt, its weighted difference from the mean change."""
        ends = (above(self.after), above(self.before))
        one, two = (each.column for each in ends)
        total = above(self.whole)
        return [
            computed(
                "z",
                f"(late - early - weight * ({one} - {two})) / whole",
                above(late),
                above(early),
                above(weight),
                *ends,
                total,
                row=weight.row,
            )
            for weight, early, late in self._weighted
        ]

    @cached_property
    def whole(self) -> Explanation:
        """The weight of all prompts together."""
        return computed("whole", "sum(weight)", *(above(each[0]) for each in self._weighted))

    @cached_property
    def carriers(self) -> list[Explanation]:
        """Return the weights by which prompts enter the estimate."""
        return [computed("m", "weight", above(each[0]), row=each[0].row) for each in self._weighted]

    @cached_property
    def variance(self) -> Explanation:
        """The variance of the change."""
        whole = "len(z) / (len(z) - 1) * sum(z ** 2)"
        return computed(f"v_{self.word}", whole, *self.scores, self.whole)

    @cached_property
    def df(self) -> Explanation:
        """The degrees of freedom of the variance."""
        refs = [above(each) for each in self.scores]
        return computed(f"df_{self.word}", FREEDOM.format(z="z"), *self.carriers, *refs)


class PromptTrends(PromptGroup):
    """The linear trend within the prompts of a group, over a number of days."""

    def __init__(self, word: str, entries: list[Entry], span: Explanation) -> None:
        super().__init__(word, entries, 0.0)
        self._span = span
        self._by_prompt: dict[Any, list[Entry]] = {}
        for entry in entries:
            self._by_prompt.setdefault(entry.prompt, []).append(entry)

    @cached_property
    def _cells(self) -> dict[Any, list[tuple[Explanation, Explanation, Explanation]]]:
        """By prompt, of each day: the day, what was counted, and of how many."""
        found = {}
        for prompt, entries in self._by_prompt.items():
            listed = []
            for e in entries:
                row = {e.by: prompt, "day": e.day}
                y, n = (replace(p, row=row) for p in (e.side.y("y", e.pair), e.side.n("n", e.pair)))
                listed.append((Explanation(e.day, "day", row, operation="setting"), y, n))
            found[prompt] = listed
        return found

    @cached_property
    def _prompt_sums(self) -> list[dict[str, Explanation]]:
        """By prompt that has several days: Σn·off², Σoff·y, and what residuals take."""
        found = []
        for prompt, cells in self._cells.items():
            row = {next(iter(self._by_prompt[prompt])).by: prompt}
            days = [
                computed("weighted", "n * day", above(n), day, row=n.row) for day, _, n in cells
            ]
            size = computed("size", "sum(n)", *(n for _, _, n in cells), row=row)
            total = computed("total", "sum(y)", *(y for _, y, _ in cells), row=row)
            middle = computed("middle", "sum(weighted) / size", *days, above(size), row=row)
            spread = [
                computed("off", "n * (day - middle) ** 2", above(n), day, above(middle), row=n.row)
                for day, _, n in cells
            ]
            moved = [
                computed("moved", "(day - middle) * y", day, above(middle), above(y), row=y.row)
                for day, y, _ in cells
            ]
            found.append(
                {
                    "size": size,
                    "total": total,
                    "middle": middle,
                    "m": computed("m", "sum(off)", *spread, row=row),
                    "moved": computed("moved", "sum(moved)", *moved, row=row),
                }
            )
        return found

    @cached_property
    def before(self) -> Explanation:
        """The rate over all days."""
        totals = [each["total"] for each in self._prompt_sums]
        sizes = [each["size"] for each in self._prompt_sums]
        return computed(f"{self.word}_before", "sum(total) / sum(size)", *totals, *sizes)

    @cached_property
    def slope(self) -> Explanation:
        """The trend of one day."""
        used = [each for each in self._prompt_sums if each["m"].value > 0]
        moved, spread = [each["moved"] for each in used], [each["m"] for each in used]
        middles = [each["middle"] for each in used]
        return computed("slope", "sum(moved) / sum(m)", *moved, *spread, *middles)

    @cached_property
    def after(self) -> Explanation:
        """Explain the value that the trend leads to."""
        name = f"{self.word}_before"
        whole = f"{name} + slope * span"
        return computed(f"{self.word}_after", whole, self.before, self.slope, self._span)

    @cached_property
    def sizes(self) -> list[Explanation]:
        """The answers of each prompt."""
        return [renamed(each["size"], "n") for each in self._prompt_sums]

    @cached_property
    def _used(self) -> list[dict[str, Explanation]]:
        return [each for each in self._prompt_sums if each["m"].value > 0]

    @cached_property
    def scores(self) -> list[Explanation]:
        """Of each prompt, the residuals of its trend."""
        found = []
        for each in self._used:
            refs = [above(each[name]) for name in ("moved", "m")]
            found.append(
                computed(
                    "z",
                    "(moved - slope * m) / whole * span",
                    *refs,
                    above(self.slope),
                    above(self.whole),
                    self._span,
                    row=each["m"].row,
                )
            )
        return found

    @cached_property
    def whole(self) -> Explanation:
        """The weight of all prompts together."""
        return computed("whole", "sum(m)", *(above(each["m"]) for each in self._used))

    @cached_property
    def carriers(self) -> list[Explanation]:
        """Return the weights by which prompts enter the estimate."""
        return [above(each["m"]) for each in self._used]
