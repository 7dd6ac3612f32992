"""What ratios, totals, shares and experiments prove, and what only seems to."""

from __future__ import annotations

import random
from typing import Any

import pytest
from foreign import columns_of, draft_of

ENGINES = ("alpha", "beta", "gamma")
OPTIONS = {"engines": [{"id": name, "lastRunDay": "2026-11-01"} for name in ENGINES]}
COUNTS = [197, 161, 138, 109, 98, 71, 54, 33, 17, 12]
HOSTS = [f"{name}.example" for name in "abcdefghij"]


def drafted(answer: Any, *parts: Any) -> dict[str, Any]:
    narrowed = {(name,): part for name, part in zip(ENGINES, parts, strict=False)}
    draft = draft_of({"domains": answer}, {"domains": narrowed}, OPTIONS, standard_names=False)
    return columns_of(draft, "domains")


def rows(**columns: list[Any]) -> dict[str, Any]:
    named = {"host": HOSTS, **columns}
    return {"rows": [dict(zip(named, row, strict=True))
                     for row in zip(*named.values(), strict=False)]}  # fmt: skip


# --- ratios -----------------------------------------------------------------------------------


def pairs(count: int, seed: int = 7) -> tuple[list[int], list[int]]:
    rng = random.Random(seed)
    below = [rng.randrange(20, 900) for _ in range(count)]
    return [int(n * rng.uniform(0.1, 0.9)) for n in below], below


def test_a_rounded_rate_is_the_ratio_of_its_counts_until_one_row_does_not_fit():
    above, below = pairs(10)
    rate = [round(100 * a / b, 1) for a, b in zip(above, below, strict=True)]
    column = drafted(rows(hits=above, answers=below, rate=rate))["domains.rate"]
    assert str(column.aggregate) == "ratio Σhits/Σanswers"
    assert (column.scale_factor, column.unit.confidence) == (0.01, "proved")
    rate[3] += 0.3
    column = drafted(rows(hits=above, answers=below, rate=rate))["domains.rate"]
    assert "hits" not in str(column.aggregate)


@pytest.mark.parametrize("twice", [True, False])
def test_few_rows_and_rivals_prove_no_ratio(twice):
    above, below = pairs(10 if twice else 4)
    rate = [round(a / b, 3) for a, b in zip(above, below, strict=True)]
    more = {"runs": below} if twice else {}
    column = drafted(rows(cit=above, ans=below, rate=rate, **more))["domains.rate"]
    assert column.aggregation.confidence == "open"
    assert column.aggregation.reason.startswith("one of" if twice else "too few rows")


@pytest.mark.parametrize(
    ("holder", "name", "rate", "factor", "scale", "is_ratio"),
    [
        ("visibility", "hits", "rate", 1, 1.0, True),
        ("visibility", "numerator", "rate", 1, 1.0, True),
        ("visibility", "costCents", "rate", 1, 0.01, False),
        ("quality", "passed", "score", 100, 1.0, False),
    ],
)
def test_a_ratio_of_numbers_is_one_of_columns_of_one_scale(
    holder, name, rate, factor, scale, is_ratio
):
    held = [{name: a // 10, "answers": b, rate: factor * (a // 10) / b}
            for a, b in zip(*pairs(10), strict=True)]  # fmt: skip
    _, above, _, column = drafted(rows(**{holder: held})).values()
    assert above.scale_factor == scale
    assert (column.aggregate.rule == "ratio") == is_ratio


def test_an_object_of_two_parts_is_a_number_as_well():
    held = [{"num": a, "den": b} for a, b in zip(*pairs(10), strict=True)]
    cost = [{"currency": "EUR", "units": str(n), "nanos": 5 * 10**8} for n in COUNTS]
    currencies = ["EUR"] * len(cost)
    columns = drafted(
        rows(ctr=held, cost=cost, order_value=cost, units=COUNTS, currency=currencies)
    )
    assert columns["domains.ctr"].aggregate.over == ("ctr_num", "ctr_den")
    assert columns["domains.cost"].numbers.tolist() == [n + 0.5 for n in COUNTS]
    assert columns["domains.cost"].unit.value == "currency"
    order_columns = [columns[f"domains.order_value{end}"] for end in ("", "_units", "_nanos")]
    assert [column.unit.value for column in order_columns] == ["currency"] * 3
    assert [column.scale_factor for column in order_columns] == [1, 1, 1e-9]
    units = [columns[f"domains.{name}"].unit.value for name in ("ctr", "units")]
    assert units == ["fraction 0-1", "count"]


def test_a_price_in_words_shows_that_a_number_is_in_cents():
    total = [{"amount": 125 * n, "formatted": f"€{1.25 * n:.2f}"} for n in COUNTS]
    column = drafted(rows(total=total))["domains.total_amount"]
    assert (column.unit.value, column.scale_factor) == ("currency", 0.01)


def test_wrong_pairs_do_not_pass_by_chance():
    for seed in range(60):
        above, below = pairs(6, seed)
        x, y = pairs(6, 1000 + seed)
        rate = [round(100 * a / b, 1) for a, b in zip(above, below, strict=True)]
        column = drafted(rows(x=x, y=y, rate=rate))["domains.rate"]
        assert column.aggregation.confidence == "open", column.aggregation


@pytest.mark.parametrize(("decimals", "is_proved"), [(4, True), (2, False)])
def test_a_numerator_that_is_not_shown_is_whole_on_every_row(decimals, is_proved):
    above, below = pairs(10)
    rate = [round(a / b, decimals) for a, b in zip(above, below, strict=True)]
    column = drafted(rows(answers=below, rate=rate))["domains.rate"]
    assert (column.aggregate.by == "answers") == is_proved


def test_columns_that_sum_to_a_hundred_are_shares():
    pos = [31.5, 15.2, 44.1, 22.8, 38.0, 27.7, 19.9, 51.2, 33.3, 40.4]
    neu = [20.1, 33.4, 18.8, 25.2, 12.0, 41.7, 30.3, 9.9, 22.2, 17.6]
    rest = [round(100 - a - b, 1) for a, b in zip(pos, neu, strict=True)]
    columns = drafted(rows(pos=pos, neu=neu, neg=rest, heat=[n / 3 for n in pos]))
    assert {name for name, column in columns.items() if column.unit.value == "fraction 0-1"} == {
        "domains.pos", "domains.neu", "domains.neg",
    }  # fmt: skip


def test_a_share_of_the_sum_of_rows_proves_that_the_rows_add_up():
    share = [round(n / sum(COUNTS), 5) for n in COUNTS]
    columns = drafted(rows(mentions=COUNTS, share=share))
    assert str(columns["domains.mentions"].aggregate) == "sum"
    assert "divide mentions by" in str(columns["domains.share"].aggregate)


# --- sums -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("factor", "is_proved"), [(10, True), (1, False)])
def test_small_sums_meet_by_chance_and_are_no_proof(factor, is_proved):
    counts = [factor * n for n in (4, 11, 9)]
    answer = {**rows(hits=counts), "total": {"hits": sum(counts)}}
    assert (drafted(answer)["domains.hits"].aggregation.confidence == "proved") == is_proved


def test_a_total_among_the_rows_counts_in_no_share():
    total = sum(COUNTS)
    lines = [[h, n, round(100 * n / total, 1)] for h, n in zip(HOSTS, COUNTS, strict=True)]
    grid = {"columns": ["host", "hits", "pct"], "rows": [*lines, ["All", total, 100.0]]}
    draft = draft_of({"domains": {"byHost": grid}})
    columns = {column.name: column for column in draft["domains"].columns()}
    assert draft["domains"].section.tables[0].rows.without == (("[host]", ("All",)),)
    assert columns["hits"].aggregation.confidence == columns["pct"].unit.confidence == "proved"
    assert "divide hits by" in str(columns["pct"].aggregate)


# --- experiments ------------------------------------------------------------------------------

FIRST, SECOND = [30, 50, 90, 20, 60], [10, 20, 40, 60, 30]


@pytest.mark.parametrize(
    ("total", "parts", "rule"),
    [
        ([40, 70, 130, 80, 90], (FIRST, SECOND), "sum"),
        # A row that only one engine has, and a filter that was ignored, prove nothing.
        (FIRST, (FIRST, [0] * 5), "none"),
        (FIRST, (FIRST, FIRST), "none"),
        (FIRST, (FIRST, FIRST, FIRST[:1]), "none"),
        # Distinct things are fewer than the sum of the parts.
        ([40, 70, 95, 80, 65], (FIRST, SECOND), "none (not additive: the rows overlap)"),
        # Rows below a threshold are not zero.
        ([40, 70, 130, 21, 3], (FIRST[:4], SECOND[:3]), "sum over engine"),
        # A list that is shorter than others was not cut; one as long may lack what was cut.
        (COUNTS, ([n // 2 for n in COUNTS], [n - n // 2 for n in COUNTS], []), "sum"),
    ],
)  # fmt: skip
def test_what_adds_up_over_engines_is_proved_and_nothing_else(total, parts, rule):
    column = drafted(rows(hits=total), *(rows(hits=part) for part in parts))["domains.hits"]
    got = str(column.aggregate)
    assert got == rule or (rule == "sum" and got == "sum over engine")


def test_distinct_things_that_add_up_over_rows_do_not_over_engines():
    def answer(counts: list[int]) -> dict[str, Any]:
        return {**rows(hits=counts), "total": {"hits": sum(counts)}}

    columns = drafted(answer([40, 70, 95, 80, 65]), answer(FIRST), answer(SECOND))
    assert columns["domains.hits"].aggregate.across == ("host",)
    assert columns["domains_facts.total_hits"].aggregate.rule == "none"


def test_a_list_as_long_as_the_others_may_lack_what_was_cut_from_it():
    other = {"rows": [{"host": f"x{h}", "hits": 1} for h in HOSTS]}
    parts = [rows(hits=[n // 2 for n in COUNTS]), rows(hits=[n - n // 2 for n in COUNTS]), other]
    assert drafted(rows(hits=COUNTS), *parts)["domains.hits"].aggregation.confidence == "open"


def test_the_weight_by_which_rates_pool_is_found():
    rng = random.Random(3)
    hits, other = ([[rng.randrange(5, 60) for _ in HOSTS] for _ in range(2)] for _ in range(2))
    rate = [[round(rng.uniform(1, 6), 2) for _ in HOSTS] for _ in range(2)]
    total = [sum(pair) for pair in zip(*hits, strict=True)]
    pooled = [round(sum(rate[e][i] * hits[e][i] for e in (0, 1)) / total[i], 2)
              for i in range(len(HOSTS))]  # fmt: skip
    document = rows(
        mentions=total, clicks=[sum(p) for p in zip(*other, strict=True)], avgPlace=pooled
    )
    parts = [rows(mentions=hits[e], clicks=other[e], avgPlace=rate[e]) for e in (0, 1)]
    column = drafted(document, *parts)["domains.avg_place"]
    assert str(column.aggregate) == "mean weighted by mentions"


def test_weights_that_a_plain_mean_could_replace_are_not_proved():
    hits = [[20 + at, 21 + at] for at in range(len(HOSTS))]
    rate = [[3.0, round(3.2 + at / 10, 1)] for at in range(len(HOSTS))]
    pooled = [round(sum(pair) / 2, 1) for pair in rate]
    document = rows(mentions=[sum(pair) for pair in hits], avgPlace=pooled)
    parts = [rows(mentions=[h[e] for h in hits], avgPlace=[r[e] for r in rate]) for e in (0, 1)]
    assert drafted(document, *parts)["domains.avg_place"].aggregation.confidence == "open"


def test_rows_known_by_their_place_alone_are_not_compared_between_answers():
    def placed(numbers: list[int]) -> dict[str, Any]:
        return {"rows": [{"hits": n} for n in numbers]}

    column = drafted(placed([40, 70, 130]), placed([30, 50, 90]), placed([10, 20, 40]))
    assert column["domains.hits"].aggregation.confidence == "open"


def test_whole_numbers_that_add_up_are_no_counts_by_that_alone():
    sizes = [200, 160, 120, 80, 40, 240, 280, 320, 360, 400]
    document, *parts = (rows(zz=[int(n * 1000 * share) for n in sizes],
                          hits=[int(n * share) for n in sizes])
                     for share in (1, 0.5, 0.25, 0.25))  # fmt: skip
    column = drafted(document, *parts)["domains.zz"]
    assert (column.aggregation.confidence, column.unit.value) == ("proved", None)
