"""What totals, shares of what is not shown and differences prove, and what they do not."""

from __future__ import annotations

from typing import Any

import pytest

from aatoolkit.sections.inference.analysis import analyse
from aatoolkit.sections.inference.findings import OPEN, PROVED, ColumnFinding
from aatoolkit.sections.inference.vocabulary import Vocabulary

ENGINES = ("alpha", "beta", "gamma")
WORDS = Vocabulary({"engine": ENGINES})
COUNTS = [197, 161, 138, 109, 98, 71, 54, 33, 17, 12]
HOSTS = [f"{name}.example" for name in "abcdefghij"]


def found(answer: Any, parts: dict[tuple[str, ...], Any] | None = None) -> dict[str, ColumnFinding]:
    analysis = analyse("domains", answer, parts or {}, WORDS)
    return {f"{table}.{one.name}": one for table, held in analysis.columns.items() for one in held}


def test_rows_that_sum_to_a_column_of_another_table_by_its_key_add_up():
    split = {h: {"chatgpt": n // 2, "gemini": n - n // 2 - 1, "claude": 1} for h, n in
             zip(HOSTS, COUNTS, strict=True)}  # fmt: skip
    rows = [{"host": h, "citationCount": n} for h, n in zip(HOSTS, COUNTS, strict=True)]
    column = found({"rows": rows, "bySite": split})["domains_by_site.value"]
    assert (column.rule.confidence, column.unit.value) == (PROVED, "count")
    assert column.aggregate.across == ("engine",)
    rows[3]["citationCount"] += 1
    assert found({"rows": rows, "bySite": split})["domains_by_site.value"].unit.value is None


def test_a_share_of_a_total_that_is_not_shown_is_refused_and_says_how_to_divide():
    rows = [
        {"host": h, "mentions": n, "visPct": round(100 * n / 879, 1)}
        for h, n in zip(HOSTS, COUNTS, strict=True)
    ]
    column = found({"rows": rows})["domains.vis_pct"]
    assert column.rule.confidence == PROVED
    assert "ratio of mentions" in str(column.aggregate)
    # Two counts that cannot be distinguished on these rows prove nothing.
    twice = [{**row, "answers": row["mentions"]} for row in rows]
    assert found({"rows": twice})["domains.vis_pct"].rule.confidence == OPEN
    # And one row off is one too many.
    rows[0]["visPct"] += 0.3
    assert found({"rows": rows})["domains.vis_pct"].rule.confidence == OPEN


def test_a_share_of_the_sum_of_rows_proves_that_the_rows_add_up():
    rows = [
        {"host": h, "mentions": n, "share": round(n / sum(COUNTS), 5)}
        for h, n in zip(HOSTS, COUNTS, strict=True)
    ]
    columns = found({"rows": rows})
    assert columns["domains.mentions"].rule.confidence == PROVED
    assert str(columns["domains.mentions"].aggregate) == "sum"
    assert "add mentions" in str(columns["domains.share"].aggregate)


@pytest.mark.parametrize("factor", [1, 100])
def test_a_change_has_the_unit_of_what_it_is_the_difference_of(factor):
    rows = [
        {"id": h, "rateBefore": (50 - n) / 1000, "rateAfter": n * n / 10000,
         "change": round(factor * (n * n / 10000 - (50 - n) / 1000), 4)}
        for n, h in enumerate(HOSTS, 11)
    ]  # fmt: skip
    column = found({"rows": rows})["domains.change"]
    assert (column.unit.confidence, column.unit.value) == (PROVED, "absolute pp as fraction")
    assert column.scale == 1 / factor
    assert "subtract anew" in str(column.aggregate)


def test_whole_numbers_that_add_up_are_no_counts_by_that_alone():
    def rows(share: float) -> list[dict[str, Any]]:
        return [{"host": h, "zz": int(n * 1000 * share), "hits": int(n * share)}
                for h, n in zip(HOSTS, [200, 160, 120, 80, 40, 240, 280, 320, 360, 400],
                                strict=True)]  # fmt: skip

    parts = {(one,): {"rows": rows(share)} for one, share in zip(ENGINES, (0.5, 0.25, 0.25),
                                                                 strict=True)}  # fmt: skip
    held = found({"rows": rows(1)}, parts)
    assert held["domains.zz"].rule.confidence == PROVED
    assert held["domains.zz"].unit.value is None


def test_a_list_that_is_shorter_than_others_was_not_cut():
    def rows(numbers: list[int]) -> dict[str, Any]:
        return {"rows": [{"host": h, "hits": n} for h, n in zip(HOSTS, numbers, strict=False)]}

    whole = rows(COUNTS)
    half = [n // 2 for n in COUNTS]
    rest = [n - n // 2 for n in COUNTS]
    # The third engine cites nothing: its list is empty, and the others are as long as they get.
    parts = {("alpha",): rows(half), ("beta",): rows(rest), ("gamma",): {"rows": []}}
    assert found(whole, parts)["domains.hits"].rule.confidence == PROVED
    # A list as long as the others may lack what was cut from it.
    other = {"rows": [{"host": f"x{h}", "hits": 1} for h in HOSTS]}
    parts[("gamma",)] = other
    assert found(whole, parts)["domains.hits"].rule.confidence == OPEN


def test_an_identifier_that_numbers_the_rows_is_no_key():
    rows = [{"id": str(at), "attributes": {"url": f"https://{h}/", "hits": n}}
            for at, (h, n) in enumerate(zip(HOSTS, COUNTS, strict=True), 1)]  # fmt: skip
    analysis = analyse("urls", {"data": rows}, {}, WORDS)
    assert analysis.relations[0].key == ("url",)


def test_a_total_among_the_rows_counts_in_no_share():
    total = sum(COUNTS)
    rows: list[list[Any]] = [
        [h, n, round(100 * n / total, 1), 300 + n] for h, n in zip(HOSTS, COUNTS, strict=True)
    ]
    rows.append(["All", total, 100.0, 350])
    grid = {"byHost": {"columns": ["host", "hits", "pct", "meanMs"], "rows": rows}}
    analysis = analyse("domains", grid, {}, WORDS)
    (relation,) = [one for one in analysis.relations if one.shape == "grid"]
    assert relation.without == {"host": ("All",)}
    held = {one.name: one for one in analysis.columns[relation.name]}
    assert held["hits"].rule.confidence == PROVED
    assert held["pct"].unit.confidence == PROVED
    assert "ratio of hits" in str(held["pct"].aggregate)
