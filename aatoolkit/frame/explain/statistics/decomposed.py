"""Cells of `df.aa.decompose`: what each stratum contributes to each part of a change."""

from __future__ import annotations

from functools import cached_property

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.statistics.cells import StatisticsCells
from aatoolkit.frame.explain.statistics.formula import above, computed, renamed, setting
from aatoolkit.frame.explain.statistics.side import Side

_ENDS = {"low": "-", "high": "+"}


class DecomposeCells(StatisticsCells):
    """The parts of a change: from rates, from the mix, from what entered or left."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of a decomposition, with its formula."""
        part = str(self.flat["part"].iloc[at])
        if column == "effect":
            return self._effects[part]
        if column == "n":
            return computed("n", "size1 + size0", *self._sizes)
        if column == "clusters":
            return computed("clusters", "len(n)", *self._of_part(part))
        if column in _ENDS:
            level = setting("level", self.arguments.get("level", 0.95))
            q = computed("q", "normal_quantile((1 + level) / 2)", level)
            whole = f"effect {_ENDS[column]} q * error"
            return computed(column, whole, self._effects["rate"], q, self._error)
        if column == "p":
            z = computed("z", "effect / error", self._effects["rate"], self._error)
            return computed("p", "two_sided(z, df)", z, setting("df", float("inf")))
        return None

    @cached_property
    def _sides(self) -> dict[int, Side]:
        given = self.arguments
        column, by, rules = str(given["column"]), str(given["by"]), given.get("rules")
        return {
            end: Side(self.side(name), column, None, by, rules)
            for end, name in ((1, "now"), (0, "before"))
        }

    @cached_property
    def _cells(self) -> dict[int, dict[object, tuple[Explanation, Explanation]]]:
        return {
            end: {
                label: (side.y(f"y{end}", pair), side.n(f"n{end}", pair))
                for label, pair in side.pairs(0).items()
            }
            for end, side in self._sides.items()
        }

    @cached_property
    def _sizes(self) -> tuple[Explanation, Explanation]:
        one, two = (
            computed(f"size{end}", f"sum(n{end})", *(n for _, n in self._cells[end].values()))
            for end in (1, 0)
        )
        return one, two

    @cached_property
    def _totals(self) -> tuple[Explanation, Explanation]:
        one, two = (
            computed(
                f"total{end}",
                f"sum(y{end}) / size{end}",
                *(y for y, _ in self._cells[end].values()),
                above(self._sizes[1 - end]),
            )
            for end in (1, 0)
        )
        return one, two

    @cached_property
    def _middle(self) -> Explanation:
        return computed("middle", "(total1 + total0) / 2", *self._totals)

    @cached_property
    def _terms(self) -> dict[str, list[Explanation]]:
        """By part, what each stratum contributes."""
        found: dict[str, list[Explanation]] = {"rate": [], "mix": [], "entered": [], "left": []}
        sizes = (above(self._sizes[0]), above(self._sizes[1]))
        middle = above(self._middle)
        mix = "((y1 / n1 + y0 / n0) / 2 - middle) * (n1 / size1 - n0 / size0)"
        for label in [*self._cells[1], *(x for x in self._cells[0] if x not in self._cells[1])]:
            here = [self._cells[end].get(label) for end in (1, 0)]
            cells = [above(each) for pair in here if pair for each in pair]
            row = cells[0].row
            if here[0] and here[1]:
                rate = "(n1 / size1 + n0 / size0) / 2 * (y1 / n1 - y0 / n0)"
                found["rate"].append(computed("term", rate, *cells, *sizes, row=row))
                found["mix"].append(computed("mix", mix, *cells, *sizes, middle, row=row))
            elif here[0]:
                whole = "n1 / size1 * (y1 / n1 - middle)"
                found["entered"].append(
                    computed("entered", whole, *cells, sizes[0], middle, row=row)
                )
            else:
                whole = "n0 / size0 * (y0 / n0 - middle)"
                found["left"].append(computed("left", whole, *cells, sizes[1], middle, row=row))
        return found

    def _of_part(self, part: str) -> list[Explanation]:
        """The sizes of the strata that a part is about, each of one side."""
        now, before = self._cells[1], self._cells[0]
        given = [
            pair
            for label, pair in now.items()
            if part == "total" or (label in before) == (part != "entered")
        ]
        if part in ("total", "left"):
            given = given if part == "total" else []
            given += [pair for label, pair in before.items() if label not in now]
        return [renamed(n, "n") for _, n in given]

    @cached_property
    def _effects(self) -> dict[str, Explanation]:
        found = {"total": computed("effect", "total1 - total0", *self._totals, *self._sizes)}
        for part, terms in self._terms.items():
            sign = "0 - " if part == "left" else ""
            if not terms:
                nothing = Explanation(
                    0.0, "effect", operation="count", formula="the sum of nothing: 0"
                )
                found[part] = nothing
                continue
            whole = f"{sign}sum({terms[0].column})"
            given = (*terms, self._middle, *self._sizes)
            found[part] = computed("effect", whole, *given)
        return found

    @cached_property
    def _error(self) -> Explanation:
        """The standard error of the part of the rates."""
        squares = []
        sizes = (above(self._sizes[0]), above(self._sizes[1]))
        for term in self._terms["rate"]:
            cells = {each.column: each for each in term.children}
            spreads = []
            for end in (1, 0):
                y, n, total = cells[f"y{end}"], cells[f"n{end}"], above(self._totals[1 - end])
                p = computed(f"p{end}", f"(y{end} + total{end}) / (n{end} + 1)", y, n, total)
                spreads.append(computed(f"v{end}", f"p{end} * (1 - p{end}) / n{end}", p, n))
            whole = "((n1 / size1 + n0 / size0) / 2) ** 2 * (v1 + v0)"
            given = (cells["n1"], cells["n0"], *sizes, *spreads)
            squares.append(computed("square", whole, *given, row=term.row))
        return computed("error", "sqrt(sum(square))", *squares)
