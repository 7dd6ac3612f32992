"""Every statistic against SciPy and statsmodels to 1e-9, and what all of their results keep.

That an explained number is recomputed from its parts is in `tests/explain/test_statistics.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from prompts import DAY, RULES, counted, daily, rates_of, runs_of
from scipy import optimize, stats
from serving import shared_dataset
from statsmodels import api
from statsmodels.stats import contingency_tables, multitest, proportion

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError, ItemNotFound

Pairs = Iterator[tuple[Any, Any]]
"""Numbers of ours, each with the one of the other library."""


def drawn(seed: int, k: int = 12) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return counted(rng, rates_of(rng, k, 0.4, 0.3), runs_of(rng, k, 12, uneven=True))


def spelled(frame: pd.DataFrame) -> pd.DataFrame:
    """A row an answer, of counts."""
    rows = frame.loc[frame.index.repeat(frame["runs"])]
    return rows.assign(y=(rows.groupby("prompt_id").cumcount() < rows["hits"]).astype(float))


def clustered(y: Any, columns: Any, groups: Any, weights: Any = None) -> tuple[Any, Any]:
    """Coefficients and cluster-robust errors, with k / (k - 1)."""
    model = api.WLS(y, columns, weights=1.0 if weights is None else weights)
    codes = pd.factorize(groups)[0]
    kinds = {"groups": codes, "use_correction": False}
    fit, k = model.fit(cov_type="cluster", cov_kwds=kinds), codes.max() + 1
    return np.asarray(fit.params), np.asarray(fit.bse) * np.sqrt(k / (k - 1))


def p_of(row: pd.Series, error: float) -> float:
    """The p-value of a change with an error, with the freedom that its interval has with it."""
    ratio = float(row["high"] - row["low"]) / 2 / error
    df = optimize.brentq(lambda df: stats.t.ppf(0.975, df) - ratio, 0.9, 1e9, xtol=1e-12)
    assert f"t of {df:.3g} degrees" in row["method"]
    return float(2 * stats.t.sf(abs(row["change"]) / error, df))


def an_interval() -> Pairs:
    frame = drawn(1)
    row = frame.aa.interval("rate", cluster="prompt_id", rules=RULES).iloc[0]
    rows = spelled(frame)
    (rate,), (error,) = clustered(rows["y"], np.ones(len(rows)), rows["prompt_id"])
    yield row["rate"], rate
    yield row["rate_deff"] * rate * (1 - rate) / len(rows), error**2
    single = pd.DataFrame({"hits": [7.0], "runs": [31.0], "rate": [7 / 31]})
    ends = single.aa.interval("rate", rules=RULES).iloc[0]
    yield list(ends), list(proportion.proportion_confint(7, 31, method="wilson"))


def a_paired_change() -> Pairs:
    before, now = drawn(2), drawn(3)
    row = now.aa.compare(before, "rate", rules=RULES).iloc[0]
    rows = pd.concat([spelled(frame).assign(side=at) for at, frame in enumerate((before, now))])
    (_, change), (_, error) = clustered(
        rows["y"], api.add_constant(rows["side"]), rows["prompt_id"]
    )
    yield row["change"], change
    yield row["p"], p_of(row, error)


def a_change_of_two_samples() -> Pairs:
    before, now = drawn(4), drawn(5)
    row = now.aa.compare(before, "rate", cluster="prompt_id", rules=RULES).iloc[0]
    parts = [clustered(spelled(f)["y"], np.ones(f["runs"].sum()), spelled(f)["prompt_id"])
             for f in (now, before)]  # fmt: skip
    yield row["change"], parts[0][0][0] - parts[1][0][0]
    yield row["p"], p_of(row, float(np.hypot(*(part[1][0] for part in parts))))


def a_change_of_totals() -> Pairs:
    sides = [
        pd.DataFrame({"hits": [h], "runs": [n], "rate": [h / n]}) for h, n in ((45, 100), (30, 90))
    ]
    row = sides[0].aa.compare(sides[1], "rate", rules=RULES).iloc[0]
    low, high = proportion.confint_proportions_2indep(45, 100, 30, 90, method="newcomb")
    yield [row["low"], row["high"]], [low, high]
    yield row["p"], proportion.proportions_ztest([45, 30], [100, 90])[1]


def a_change_of_means() -> Pairs:
    rng = np.random.default_rng(6)
    first, second = rng.normal(2, 1, 40), rng.normal(2.5, 2, 30)
    sides = [pd.DataFrame({"place": values}) for values in (first, second)]
    row = sides[0].aa.compare(sides[1], "place", rules={"place": "mean"}).iloc[0]
    welch = stats.ttest_ind(first, second, equal_var=False)
    yield row["p"], welch.pvalue
    yield row["low"], welch.confidence_interval().low


def adjusted_values() -> Pairs:
    pairs = [drawn(seed).assign(engine=f"e{seed % 7}") for seed in range(14)]
    now, before = pd.concat(pairs[:7]), pd.concat(pairs[7:])
    for correct, method in (("holm", "holm"), ("bh", "fdr_bh")):
        result = now.aa.compare(before, "rate", by="engine", correct=correct, rules=RULES)
        yield result["p_adjusted"].tolist(), multitest.multipletests(result["p"], method=method)[1]


def student_t() -> Pairs:
    for k, t in product((5, 6, 11, 30, 200), (0.3, 2.0, 8.0)):
        values = np.arange(k) - (k - 1) / 2
        values = values / values.std(ddof=1) * np.sqrt(k) / t + 1
        frame = pd.DataFrame({"prompt_id": range(k), "y": values})
        zero = frame.assign(y=0.0)
        row = frame.aa.compare(zero, "y", pair="prompt_id", rules={"y": "mean"}).iloc[0]
        yield row["p"], p_of(row, 1 / t)


def effects() -> Pairs:
    rng = np.random.default_rng(7)
    frame = daily(rng, 16, 0.1)
    result = aa.stats.effect(frame, DAY, [*range(8)], column="rate", rules=RULES)
    days = (frame["date"] - DAY).dt.days.to_numpy()
    prompts = frame["prompt_id"].to_numpy()
    for kind, use, moved, span in (
        ("effect", days > -99, (days >= 0) * 1.0, 1.0),
        ("pre-trend", days < 0, days * 1.0, np.ptp(days) / 2 + 0.5),
    ):
        sides = []
        for rows in (use & (prompts < 8), use & (prompts >= 8)):
            dummies = prompts[rows][:, None] == np.unique(prompts[rows])
            columns = np.column_stack([moved[rows], dummies * 1.0])
            part = frame[rows]
            params, errors = clustered(part["rate"], columns, prompts[rows], part["runs"])
            sides.append((params[0], errors[0]))
        row = result[result["kind"] == kind].iloc[0]
        yield row["change"], span * (sides[0][0] - sides[1][0])
        yield row["p"], p_of(row, span * float(np.hypot(sides[0][1], sides[1][1])))


def overlaps() -> Pairs:
    rng = np.random.default_rng(8)
    lists = {
        key: set(rng.permutation(12)[: rng.integers(2, 6)].tolist())
        for key in product(range(9), "xy", range(2))
    }
    rows = [(*key[:2], str(key), site) for key, sites in lists.items() for site in sites]
    frame = pd.DataFrame(rows, columns=["prompt_id", "engine", "chat_id", "site"])
    row = frame.aa.overlap("site").iloc[0]

    def alike(prompt: int, run: tuple[str, int], other_run: tuple[str, int]) -> float:
        a, b = lists[(prompt, *run)], lists[(prompt, *other_run)]
        return len(a & b) / len(a | b)

    between = [
        np.mean([alike(at, ("x", i), ("y", j)) for i, j in product(range(2), range(2))])
        for at in range(9)
    ]
    own = [np.mean([alike(at, (who, 0), (who, 1)) for who in "xy"]) for at in range(9)]
    low, high = stats.t.interval(0.95, 8, np.mean(between), stats.sem(between))
    yield [row["jaccard_low"], row["jaccard_high"]], [max(low, 0), high]
    yield row["p"], stats.ttest_rel(between, own).pvalue


def concentrations() -> Pairs:
    counts = np.array([1, 3, 8, 40, 100])
    row = pd.DataFrame({"n": counts}).aa.concentration("n", top=2).iloc[0]
    size = counts.sum()
    yield row["hhi"], (counts * (counts - 1)).sum() / (size * (size - 1))
    yield [row["effective"], row["top_share"]], [1 / row["hhi"], 140 / size]


def decompositions() -> Pairs:
    now, before = drawn(10, 14).iloc[2:], drawn(11, 14).iloc[:11]
    parts = now.aa.decompose(before, "rate", rules=RULES).set_index("part")["effect"]
    change = now["hits"].sum() / now["runs"].sum() - before["hits"].sum() / before["runs"].sum()
    yield [parts["total"], parts.drop("total").sum()], [change, change]


def agreements() -> Pairs:
    named = [True, True, False, True, True]
    frame = pd.DataFrame({"prompt_id": [*"aaabb"], "engine": "x", "mentioned": named})
    yield frame.aa.stability()["agreement"].item(), (1 / 3 + 1) / 2
    rows = spelled(counted(np.random.default_rng(1), np.linspace(0.1, 0.9, 9), np.full(9, 6)))
    rows = rows.assign(mentioned=rows["y"] > 0)
    between, within = (
        rows.groupby("prompt_id")["y"].mean().var(ddof=1) * 6,
        rows.groupby("prompt_id")["y"].var(ddof=1).mean(),
    )
    icc = rows.aa.stability(by=["prompt_id"])["icc"].item()
    yield icc, (between - within) / (between + 5 * within)


def associations() -> Pairs:
    chats = aa.demo().read("chats", days=30)
    rows = aa.stats.answers(chats).dropna(subset=["cited"])
    tables = [
        np.array([[(c & m).sum(), (c & ~m).sum()], [(~c & m).sum(), (~c & ~m).sum()]], float)
        for _, part in rows.groupby("prompt_id")
        for c, m in [(part["cited"].astype(bool), part["mentioned"].astype(bool))]
    ]
    expected = contingency_tables.StratifiedTable(tables)
    row = aa.stats.cited_and_mentioned(chats).iloc[0]
    yield row["odds_ratio"], expected.oddsratio_pooled
    yield [row["low"], row["high"]], list(expected.oddsratio_pooled_confint())


@pytest.mark.parametrize(
    "reference",
    [
        an_interval,
        a_paired_change,
        a_change_of_two_samples,
        a_change_of_totals,
        a_change_of_means,
        adjusted_values,
        student_t,
        effects,
        overlaps,
        concentrations,
        decompositions,
        agreements,
        associations,
    ],
)
def test_it_is_what_the_libraries_say(reference: Callable[[], Pairs]) -> None:
    pairs = [*reference()]
    assert pairs
    for ours, theirs in pairs:
        assert np.asarray(ours, float) == pytest.approx(np.asarray(theirs, float), abs=1e-9)


def answers(prompts: int, first: int = 0, runs: int = 6) -> pd.DataFrame:
    """Some answers to each prompt, of two engines, with a source each."""
    rng = np.random.default_rng(prompts)
    at = np.arange(prompts * runs)
    return pd.DataFrame(
        {
            "prompt_id": [f"p{first + number}" for number in at // runs],
            "engine": np.array([*"xy"])[at % 2],
            "chat_id": at,
            "date": DAY + pd.to_timedelta(at % runs - runs // 2, unit="D"),
            "mentioned": pd.array(rng.random(len(at)) < 0.5, dtype="boolean"),
            "site": rng.choice([*"abcde"], len(at)),
            "one": 1,
        }
    )


def silent(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(mentioned=pd.array([pd.NA] * len(frame), dtype="boolean"))


def by_site(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.groupby("site", as_index=False)["one"].sum()


Verb = Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame]
VERBS: dict[str, Verb] = {
    "interval": lambda now, _: now.aa.interval("mentioned", cluster="prompt_id"),
    "compare": lambda now, before: now.aa.compare(before, "mentioned"),
    "decompose": lambda now, before: now.aa.decompose(before, "mentioned"),
    "stability": lambda now, _: now.aa.stability(),
    "changes": lambda now, _: now.aa.changes("mentioned"),
    "rank": lambda now, _: now.aa.rank("one", "site", rules={"one": "sum"}),
    "overlap": lambda now, _: now.aa.overlap("site"),
    "concentration": lambda now, _: by_site(now).aa.concentration("one"),
    "effect": lambda now, _: aa.stats.effect(now, DAY, [*now["prompt_id"].unique()][:3]),
}
FEW, MANY = answers(4), answers(12)
CASES = [
    ("interval", FEW, FEW, "only 4 of the 5 different values of prompt_id"),
    ("compare", FEW, FEW, "only 4 of the 5 values of prompt_id"),
    ("stability", FEW, FEW, "4 prompt_id were asked again|4 prompt_id .* takes 5"),
    ("changes", FEW, FEW, "only 6 of the 20 days with answers"),
    ("rank", FEW, FEW, "only 4 of the 5 values of prompt_id"),
    ("overlap", FEW, FEW, "4 prompt_id have two answers of each engine.* takes 5"),
    ("effect", FEW, FEW, "3 treated prompt_id .* and 1 control .* takes 5"),
    ("concentration", answers(2), FEW, "in all, and it takes at least 20"),
    ("interval", silent(MANY), MANY, "no answers|unknown|not measured"),
    ("compare", silent(MANY), MANY, "now: "),
    ("compare", MANY, silent(MANY), "before: "),
    ("decompose", silent(MANY), MANY, "now: nothing was measured"),
    ("effect", silent(MANY), MANY, "0 treated prompt_id"),
    ("compare", MANY, answers(12, first=4).assign(mentioned=True), "all changed alike|entered"),
]


@pytest.mark.parametrize(("verb", "now", "before", "why"), CASES, ids=lambda case: str(case)[:20])
def test_what_forbids_a_verdict_is_stated_before_any_p_value(
    verb: str, now: pd.DataFrame, before: pd.DataFrame, why: str
) -> None:
    try:
        row = VERBS[verb](now, before).iloc[0]
    except AvailabilityError as error:
        stated = str(error)
    else:
        words = [str(row[name]) for name in row.index if str(name).endswith(("verdict", "why"))]
        stated = " ".join(words)
        if "entered" in stated:
            assert "compared are the" in repr(VERBS[verb](now, before)).replace("\n", " ")
        else:
            assert pd.isna(row.get("p"))
            assert any(word.startswith("cannot say") for word in words), words
    assert pd.Series([stated]).str.contains(why).all(), stated


@pytest.mark.parametrize("verb", VERBS)
def test_a_result_says_what_its_columns_are_and_is_quick(verb: str) -> None:
    frame = answers(1000, runs=100)
    now, before = frame.iloc[:50_000], frame.iloc[50_000:]
    began = time.process_time()
    result = VERBS[verb](now, before)
    assert time.process_time() - began < 3
    own = [name for name in result.columns if name not in frame.columns]
    assert result.aa.codebook.loc[own, "doc"].notna().all()
    assert {"method", "verdict"} <= {str(name).rpartition("_")[2] for name in result.columns}


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda f: f.aa.interval("mentioned", cluster="prompt_id", panel="x"), ValueError, "panel"),
        (lambda f: f.aa.interval("mentioned", by="engine"), ValueError, "need cluster"),
        (lambda f: f.aa.interval("one", cluster="prompt_id"), AvailabilityError, "one"),
        (lambda f: f.aa.compare(f, "mentioned", correct="x"), ValueError, "none of"),
        (lambda f: f.aa.compare(f, "mentioned", level=2), ValueError, "between 0 and 1"),
        (lambda f: f.aa.compare(f, "one", pair="engine", cluster="site"), ValueError, "pair="),
        (lambda f: f.aa.compare(f, "mention"), ItemNotFound, "mentioned"),
        (lambda f: f.aa.overlap("page"), ItemNotFound, "page"),
        (lambda f: f.assign(chat_id=1).aa.overlap("site"), AvailabilityError, "no single answer"),
        (lambda f: f.assign(prompt_id=None).aa.overlap("site"), AvailabilityError, "with a value"),
        (lambda f: f[["engine", "one"]].aa.rank("one", "engine"), ItemNotFound, "split"),
        (lambda f: f.assign(one=0.5).aa.concentration("one"), AvailabilityError, "fractions"),
        (lambda f: f.aa.stability("one"), AvailabilityError, "one"),
        (lambda f: aa.stats.effect(f, "soon", ["p1"]), ValueError, "no day"),
        (lambda f: aa.stats.effect(f, "11/25/2026", ["p1"]), ValueError, "write it as 2026-11-05"),
        (lambda f: aa.stats.effect(f, DAY, ["x"]), ValueError, "names no prompt_id"),
        (lambda f: aa.stats.effect(f, DAY, ["p1"], ["p1"]), ValueError, "both treated and control"),
        (lambda f: aa.stats.effect(f, DAY, {"site": "a"}), ValueError, "in some rows only"),
        (lambda f: aa.stats.samples(0, 0.1), ValueError, "rate"),
        (lambda f: aa.stats.samples(0.3, 0.1, runs=0), ValueError, "runs"),
        (lambda f: aa.stats.samples(0.3), ValueError, "answers"),
        (lambda f: aa.stats.answers({"chats": f}), AvailabilityError, "chats.outcome"),
    ],
)  # fmt: skip
def test_questions_that_make_no_sense_are_refused(
    ask: Callable[[pd.DataFrame], object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ask(MANY)


def test_prompts_that_all_move_alike_cannot_be_judged_and_end_no_other_group() -> None:
    runs = 10 * np.arange(1, 12)
    sides = []
    for shift in (0, 2):
        hits = {"hits": runs * (2 + shift) // 10, "runs": runs}
        alike = pd.DataFrame({"prompt_id": range(11), **hits, "rate": hits["hits"] / runs})
        rates = np.linspace(0.1, 0.5, 25) + shift / 5
        varied = counted(np.random.default_rng(1), rates, np.full(25, 40), group="varied")
        sides.append(pd.concat([alike.assign(group="alike"), varied]))
    before, now = sides
    verdicts = now.aa.compare(before, "rate", by="group", rules=RULES).set_index("group")
    assert verdicts.loc["alike", "verdict"] == "cannot say"
    assert verdicts.loc["varied", "verdict"] == "up"
    back = before.aa.compare(now, "rate", by="group", rules=RULES).set_index("group")
    assert back.loc["varied", "verdict"] == "down"


@pytest.mark.parametrize("size", [1e200, 1.7e308])
def test_numbers_beyond_reckoning_cannot_be_judged_and_end_no_other_group(size: float) -> None:
    number = np.arange(24)
    usual = pd.DataFrame({"prompt_id": number % 8, "x": number % 5 + 1.0, "group": "usual"})
    large = usual.assign(x=np.where(number % 2, size, -size / 3), group="large")
    now = pd.concat([usual.assign(x=usual["x"] + 3 + number % 4), large])
    before = pd.concat([usual, large.assign(x=-large["x"])])
    counts = pd.DataFrame({"n": [size, size, 4e9, 4e9], "group": [*"llsu"]})
    how: dict[str, Any] = {"by": "group", "rules": {"x": "mean"}}
    intervals = now.aa.interval("x", cluster="prompt_id", **how)
    for result in (
        now.aa.compare(before, "x", **how),
        now.aa.compare(before, "x", cluster="prompt_id", **how),
        now.aa.compare(before, "x", by="group", pair="prompt_id", rules={"x": "sum"}),
        intervals.rename(columns={"x_verdict": "verdict"}),
        counts.aa.concentration("n", by="group"),
    ):
        verdicts = result["verdict"].str.startswith("cannot say")
        assert verdicts[result["group"].str[0] == "l"].all()
        assert not verdicts[result["group"].str[0] != "l"].any()
    alike = usual.assign(x=size).aa.compare(usual.assign(x=-size), "x", rules={"x": "mean"})
    assert alike["verdict"].tolist() == ["cannot say"]


def test_a_prompt_that_has_most_answers_says_nothing_of_prompts_like_it() -> None:
    """With Student's t such intervals hold 9 % of rates, and such tests find 9 of 10 changes."""
    runs = np.array([10_000, *[10] * 24])
    rng = np.random.default_rng(1)
    now, before = (counted(rng, rates_of(rng, 25, 0.4, 0.3), runs) for _ in range(2))
    row = now.aa.compare(before, "rate", cluster="prompt_id", rules=RULES).iloc[0]
    assert row["verdict"] == "cannot say"
    assert "has most" in row["why"]
    with pytest.raises(AvailabilityError, match="has most"):
        now.aa.interval("rate", cluster="prompt_id", rules=RULES)
    sites = pd.concat([now.assign(site="a"), before.assign(site="b")])
    ranks = sites.aa.rank("rate", "site", rules=RULES)
    assert ranks["verdict"].str.contains("has most").all()


def test_no_change_beyond_the_scale_is_promised() -> None:
    rates = np.array([0.05, 0.1, 0.4, 0.9, 0.95])
    now, before = (
        pd.DataFrame({"prompt_id": range(5), "hits": np.round(20 * (rates + step)), "runs": 20})
        .assign(rate=lambda rows: rows["hits"] / rows["runs"])
        for step in (0.05 * np.array([1, -1, 1, -1, 0]), 0)
    )  # fmt: skip
    row = now.aa.compare(before, "rate", rules=RULES).iloc[0]
    assert row["verdict"] == "no evidence"
    assert "no change of any size is found by 4 of 5" in row["why"]
    before, now = (
        frame.assign(hits=hits, runs=1, rate=hits)
        for frame, hits in ((before, [0, 0, 0, 1, 1.0]), (now, [1, 1, 1, 0, 1.0]))
    )
    assert now.aa.compare(before, "rate", rules=RULES)["high"].item() == 1  # 100 points at most
    naive = now.drop(columns="prompt_id").aa.compare(before, "rate", rules=RULES)
    assert "independent" in naive["why"].item()
    assert "independent" in naive.aa.plot().spec.reading_note


def test_a_sample_of_the_size_that_is_told_has_the_margin() -> None:
    table = aa.stats.samples(0.3, 0.05, icc=0.4)
    assert table["prompts"].is_monotonic_decreasing
    assert table["margin"].le(0.05).all()
    assert aa.stats.samples(0.3, answers=326, runs=1).equals(table[:1])
    for row in table.to_dict("records"):
        single = np.sqrt(0.3 * 0.7 * (1 + (row["runs"] - 1) * 0.4) / row["runs"])
        k = row["prompts"]
        assert row["margin"] == pytest.approx(stats.t.ppf(0.975, k - 1) * single / np.sqrt(k))
        assert stats.t.ppf(0.975, k - 2) * single / np.sqrt(k - 1) > 0.05


def test_days_of_changes_are_those_of_moments_in_utc() -> None:
    crawls = shared_dataset()["crawl"]["crawl_timeseries"]
    result = crawls[crawls["bot"] == "GPTBot"].aa.changes("requests", date="bucket_start")
    assert result["from_day"].iloc[0] == crawls["bucket_start"].min().tz_localize(None)
