"""Overlap of engines: the measures of the literature, intervals that cover, and a ceiling."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
import pytest
from effort import effort, examples
from hypothesis import given, settings
from hypothesis import strategies as st

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError, ItemNotFound


def listed(answers: Sequence[tuple[object, object, Sequence[object]]]) -> pd.DataFrame:
    """A row an entry of the answers, each of which is a prompt, an engine and a list."""
    rows = [
        (prompt, engine, at, site, place)
        for at, (prompt, engine, sites) in enumerate(answers)
        for place, site in enumerate(sites, 1)
    ]
    return pd.DataFrame(rows, columns=["prompt_id", "engine", "chat_id", "site", "n"])


def rank_biased(one: Sequence[object], two: Sequence[object], p: float, depth: int) -> float:
    """Equation 32 of Webber, Moffat & Zobel (2010), as it is printed."""
    short, long = sorted((one[:depth], two[:depth]), key=len)
    s, l = len(short), len(long)  # noqa: E741

    def common(d: int) -> int:
        return len({*short[:d]} & {*long[:d]})

    total = sum(common(d) / d * p**d for d in range(1, l + 1))
    total += sum(common(s) * (d - s) / (s * d) * p**d for d in range(s + 1, l + 1))
    return (1 - p) / p * total + ((common(l) - common(s)) / l + common(s) / s) * p**l


LISTS = st.lists(st.integers(0, 7), min_size=1, max_size=6, unique=True)


@given(
    st.lists(st.tuples(st.sampled_from("xy"), LISTS), min_size=2, max_size=8),
    st.sampled_from([0.5, 0.9, 0.98]),
    st.integers(1, 7),
)
@settings(max_examples=examples(200, 25))
def test_one_prompt_has_the_means_over_pairs_of_answers(
    answers: list[tuple[str, list[int]]], p: float, depth: int
) -> None:
    frame = listed([("pr", *answer) for answer in answers])
    found = frame.sample(frac=1, random_state=1).aa.overlap("site", order="n", p=p, depth=depth)
    x, y = ([sites for engine, sites in answers if engine == name] for name in "xy")
    if not x or not y:
        assert not len(found)
        return
    (row,) = found.to_dict("records")
    pairs = [*product(x, y)]
    jaccard = [len({*a} & {*b}) / len({*a} | {*b}) for a, b in pairs]
    assert row["jaccard"] == pytest.approx(np.mean(jaccard), abs=1e-12)
    biased = [rank_biased(a, b, p, depth) for a, b in pairs]
    assert row["rbo"] == pytest.approx(np.mean(biased), abs=1e-12)
    assert row["n"] == len(answers)
    assert row["verdict"] == "cannot say"


def test_intervals_and_gaps_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(4)
    answers = [
        (prompt, engine, [*rng.permutation(12)[: rng.integers(2, 6)]])
        for prompt, engine in product(range(9), "xxyy")
    ]
    row = listed(answers).aa.overlap("site").iloc[0]
    between, own = [], []
    for prompt in range(9):
        x, y = ([{*s} for at, who, s in answers if (at, who) == (prompt, name)] for name in "xy")
        between.append(np.mean([len(a & b) / len(a | b) for a, b in product(x, y)]))
        own.append(np.mean([len(a & b) / len(a | b) for a, b in (x, y)]))
    low, high = stats.t.interval(0.95, 8, np.mean(between), stats.sem(between))
    assert row["jaccard_low"] == pytest.approx(max(low, 0), abs=1e-9)
    assert row["jaccard_high"] == pytest.approx(high, abs=1e-9)
    test = stats.ttest_rel(between, own)
    assert row["p"] == pytest.approx(test.pvalue, abs=1e-9)
    assert row["gap_low"] == pytest.approx(test.confidence_interval().low, abs=1e-9)


def engines(rng: np.random.Generator, k: int, shared: float) -> pd.DataFrame:
    """Two engines that draw sources of a prompt's own pool, or of one of their own."""
    answers = []
    for prompt in range(k):
        pool, own = rng.integers(0, 200, 8), {name: rng.integers(0, 200, 8) for name in "xy"}
        for name in "xxxyyy":
            drawn = pool if rng.random() < shared else own[name]
            answers.append((prompt, name, [*dict.fromkeys(rng.choice(drawn, 5))]))
    return listed(answers)


def test_engines_with_one_pool_are_as_alike_as_repeats() -> None:
    rng = np.random.default_rng(1)
    # Of 200 alike ones 5 % are 10, with a standard error of 3.
    near = pd.concat([engines(rng, 12, 1.0).aa.overlap("site") for _ in range(effort(200, 20))])
    unsure = near[near["verdict"] == "no evidence"]
    assert len(unsure) >= 0.9 * len(near)
    assert unsure["why"].str.contains("would have shown in 4 of 5").all()
    apart = engines(rng, 15, 0.3).aa.overlap("site").iloc[0]
    assert apart["verdict"] == "less alike"
    assert apart["gap_high"] < 0
    stated = f"{100 * apart['gap_low']:+.1f} points to {100 * apart['gap_high']:+.1f} points"
    assert apart["why"].endswith(f"95 % interval of the gap, for this row alone: {stated}")


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([(at, "x", [1]) for at in range(6)] + [(9, "y", [1])], "no prompt_id has answers of both"),
        ([(at, who, [1, at]) for at in range(6) for who in "xy"], "0 prompt_id have two answers"),
        ([(at, who, [1]) for at in range(6) for who in "xxyy"], "nothing differs between 6"),
    ],
)
def test_what_is_lacking_is_stated_before_any_number(
    answers: list[tuple[object, object, Sequence[object]]], why: str
) -> None:
    row = listed(answers).aa.overlap("site").iloc[0]
    assert row["verdict"] == "cannot say"
    assert why in row["why"]
    assert pd.isna(row["p"])


def test_refusals() -> None:
    frame = listed([(1, "x", [1]), (1, "y", [1])])
    for wrong in ({"p": 1.0}, {"depth": 0}, {"level": 2.0}):
        with pytest.raises(ValueError, match="is n"):
            frame.aa.overlap("site", **wrong)
    with pytest.raises(ItemNotFound):
        frame.aa.overlap("page")
    for lacking in ("engine", "prompt_id", "chat_id", "n"):
        without = frame.astype({lacking: object}).assign(**{lacking: [None, frame[lacking][1]]})
        with pytest.raises(AvailabilityError, match="1 rows have none"):
            without.aa.overlap("site", order="n" if lacking != "n" else lacking)
    with pytest.raises(AvailabilityError, match="names no single answer"):
        frame.assign(chat_id=1).aa.overlap("site")


def test_the_demo_has_engines_with_metadata() -> None:
    chats = aa.demo().read("chats", days=30)
    cited = chats["chat_citations"].query("cited").aa
    rows = cited.merge(chats["chats"][["chat_id", "prompt_id", "engine"]], on="chat_id")
    found = rows.aa.overlap("source_domain", order="n")
    assert found.aa.codebook.loc["jaccard", "unit"] == "fraction 0-1"
    assert "p = 0.9, depth 10" in found["method"][0]
    assert found["jaccard"].between(0, 1).all()
    assert len(found.aa.sources) == 1
    assert math.comb(rows["engine"].nunique(), 2) == len(found)


@pytest.mark.thorough
def test_a_hundred_thousand_rows_take_a_second_or_two() -> None:
    rng = np.random.default_rng(1)
    at = np.arange(100_000)
    frame = pd.DataFrame(
        {"chat_id": at // 5, "n": at % 5 + 1, "site": rng.integers(0, 300, len(at))}
    )
    frame["prompt_id"] = frame["chat_id"] % 200
    frame["engine"] = np.array([*"abcdef"])[frame["chat_id"] // 200 % 6]
    began = time.process_time()
    frame.aa.overlap("site", order="n")
    assert time.process_time() - began < 3


def test_lists_of_engines_without_answers_are_compared_as_sets() -> None:
    rows = [("x", "a"), ("x", "b"), ("y", "b"), ("y", "c"), ("y", "b"), ("z", None)]
    frame = pd.DataFrame(rows, columns=["engine", "url"])
    found = frame.aa.overlap("url")
    assert found[["engine", "other_engine", "shared", "different"]].to_numpy().tolist() == [
        ["x", "y", 1, 3]
    ]
    assert found["jaccard"].item() == pytest.approx(1 / 3)
    assert found["jaccard_low"].isna().all()
    with pytest.raises(ItemNotFound, match="no engine"):
        frame[["url"]].aa.overlap("url")
