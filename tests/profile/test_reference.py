"""The reference service drafted as if nobody had described it, beside its own declarations."""

from __future__ import annotations

import re
from collections import Counter

import pytest

import aatoolkit as aa

# Of 194 numbers: how many units and rules are found and are the declared ones, at least.
UNITS, RULES = 140, 125

# Ways to say the same: a draft cannot know the narrower of the two.
SAME = {
    "count": (
        "distinct",
        "searches",
        "HTTP requests",
        "checks",
        "characters",
        "answers",
        "reviews",
    ),
    "position": ("rank",),
    "currency": ("price_currency", "`currency`"),
    "score": ("fraction", "0..rating_max"),
    "fraction": ("probability", "citations per retrieval"),
}


def agrees(proposed: str, declared: str | None) -> bool:
    """Whether two units are of one kind: what one of them adds up, the other does."""
    if declared is None or proposed == declared:
        return declared is not None or proposed == "score"
    others = next((words for kind, words in SAME.items() if proposed.startswith(kind)), ())
    is_change = "change" in proposed and (
        "change" in declared or declared.startswith(("abs", "frac"))
    )
    return is_change or declared.startswith(("per ", *others))


@pytest.mark.thorough
def test_nothing_is_applied_that_its_own_declarations_contradict():
    draft = aa.profile.draft(aa.demo(), progress=False)
    assert not draft.errors
    assert len(draft.requests) <= 60
    score: Counter[str] = Counter()
    wrong = []
    for name, section in draft.items():
        declared = {
            re.sub(r"\{[^}]*\}", "{}", column.pattern): (table, column)
            for table in reversed(aa.sections.get(name).tables)
            for column in table.columns
        }
        for proposal in section.columns():
            table, column = declared.get(re.sub(r"\{[^}]*\}", "{}", proposal.path), (None, None))
            if column is None or column.is_label or column.dtype not in ("Int64", "Float64"):
                continue
            if column.name in table.key or proposal.is_key:
                continue
            score["numbers"] += 1
            if proposal.unit.value is not None:
                score["units"] += proposal.unit.value == column.unit
                if proposal.scale_factor != 1.0 or not agrees(proposal.unit.value, column.unit):
                    wrong.append((name, proposal.path, proposal.unit.value, column.unit))
            got, wanted = proposal.aggregate, column.aggregate
            score["rules"] += got.rule == wanted.rule
            # A sum over engines alone says nothing of the rows that overlap.
            is_narrow = got.rule == "sum" and set(got.across) <= {"engine"} and got.across
            is_ratio = got.rule == "ratio" and wanted.rule == "none"
            # What the declaration repeats in every row is one row of its own in a draft.
            is_whole = got.rule == "sum" and str(wanted).endswith("in every row)")
            allowed = is_narrow or is_ratio or (is_whole and proposal.path.startswith("totals."))
            if got.rule not in ("none", wanted.rule) and not allowed:
                wrong.append((name, proposal.path, str(got), str(wanted)))
    assert wrong == []
    assert score["units"] >= UNITS, score
    assert score["rules"] >= RULES, score
