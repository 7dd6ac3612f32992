"""Runs (which prompt went to which engine when), and what the answers say of brands."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.service.synth.columns import (
    Array,
    between,
    chance,
    drawn,
    instants,
    numbered,
    pick,
    spread,
    stream,
    unless,
    weighted,
)
from aatoolkit.service.synth.world import TODAY, TURN, HostPlan

SALES = "Sales automation"
MOVED_PROMPTS = (0, 3, 8)
"""Prompts that gain from the work which the improved experiment is about."""

_OUTCOMES = ("answered", "empty", "refused", "error")
_SENTIMENTS = ("positive", "neutral", "negative")
_FEATURES: tuple[list[str] | None, ...] = (None, [], ["web_search"], ["web_search", "shopping"])
_EXCERPTS = (
    "(synthetic) … {} is an easy recommendation …",
    "(synthetic) … {} is also used …",
    "(synthetic) … {} draws complaints …",
)
_ATTRIBUTES = {
    "easy to use": "positive",
    "affordable": "positive",
    "good integrations": "positive",
    "well known": "neutral",
    "steep learning curve": "negative",
    "limited reporting": "negative",
    "popular with agencies": None,
}
_DRAWS = 1000
"""Balls put into each urn: the more, the closer its fraction comes to a beta variable."""


class Runs:
    """Every run of a project, in the order of time; ``age`` counts days before the end.

    ``icc`` is the intra-class correlation of mentions in the answers to one prompt. Mentions are
    one entry each, by run and position: ``run``, ``brand`` and ``place`` in the answer.
    """

    def __init__(self, plan: HostPlan, seed: int, count: int, icc: float) -> None:
        self.plan, self.icc, self._seed = plan, icc, seed
        rng = self.chance(0)
        slots = [
            (number, age, engine["weight"])
            for number, engine in enumerate(plan.rows("engines"))
            if engine.get("weight")
            for age in range(engine.get("until", 0), plan.days, engine.get("every", 1))
            if age not in plan.silent
        ]
        engines, ages, weights = (np.array(column) for column in zip(*slots, strict=True))
        slot = weighted(rng, weights, count)
        second = between(rng, 3_600, 80_000, count)
        order = np.lexsort((second, -ages[slot]))
        self.age, self.second, self.engine = ages[slot][order], second[order], engines[slot][order]
        prompt = weighted(rng, plan.array("prompts", "weight", 1.0), count)
        retired = plan.array("prompts", "until", 0)[prompt] > self.age
        self.prompt = np.where(retired, 0, prompt)
        outcome = weighted(rng, (0.94, 0.03, 0.02, 0.01), count)
        self.outcome = pick(_OUTCOMES, outcome)
        self.answered = outcome == 0
        self.shopping = chance(rng, 0.12, count) & self.answered & self.on("shopping_checked", True)
        self.chat_ids = numbered("ch_", count)
        self.engines = pick(plan.values("engines", "engine"), self.engine)
        self.prompt_ids = pick(plan.values("prompts", "prompt_id"), self.prompt)
        self.ran_at = instants(TODAY - self.age, second[order])
        self._draw_mentions()

    def __len__(self) -> int:
        return len(self.age)

    def chance(self, area: int) -> np.random.Generator:
        """Make the random generator for one part of this project."""
        return stream(self._seed, self.plan.number, area)

    def on(self, fact: str, value: bool | None) -> Array:
        """For each run, whether a fact about its engine has the value."""
        is_so = [given is value for given in self.plan.values("engines", fact)]
        of_runs: Array = np.array(is_so)[self.engine]
        return of_runs

    def _draw_mentions(self) -> None:
        rng = self.chance(1)
        rates = self.plan.array("brands", "rate", 0.0)
        size = (len(self), len(rates))
        named = (rng.random(size) < self._rates(rates)) & self.answered[:, None]
        liking = np.where(named, rng.random(size) + 0.8 * rates, -1.0)
        order = np.argsort(-liking, axis=1, kind="stable")
        self.mention_counts = named.sum(axis=1, dtype=np.int64)
        self.run, self.place = spread(self.mention_counts)
        self.brand = order[self.run, self.place]

    def _rates(self, rates: Array) -> Array:
        """The probability that each run mentions each brand; the own brand gains with time."""
        plan, recent = self.plan, self.age < TURN
        tilt = self.chance(2).random((len(plan.rows("engines")), len(rates))) * 0.1 - 0.05
        likely = rates + tilt[self.engine]
        chatgpt = np.array([name == "chatgpt" for name in plan.values("engines", "engine")])
        sales = np.array([topic == SALES for topic in plan.values("prompts", "topic")])
        own = likely[:, 0] + 0.05 * (1 - self.age / max(plan.days, 1))
        own += np.where(recent & chatgpt[self.engine], 0.12, 0.0)
        own -= np.where(sales[self.prompt], 0.14, 0.0)
        likely[:, 0] = own
        likely = np.clip(likely, 0.0, 1.0)
        odds = self._odds_factors(rates)[self.prompt]
        likely = likely * odds / (1 - likely + likely * odds)
        # The work moves a prompt half of the way to certainty: one that is almost there gains
        # little.
        moved = recent & np.isin(self.prompt, MOVED_PROMPTS)
        likely[:, 0] += np.where(moved, 0.5 * (1 - likely[:, 0]), 0.0)
        branded = plan.array("prompts", "branded", False)[self.prompt].astype(bool)
        likely[:, 0] = np.where(branded, 0.93, likely[:, 0])
        return np.where(rates == 0, 0.0, likely)

    def _odds_factors(self, rates: Array) -> Array:
        """Draw the factors of the odds of a mention: a row per prompt, a column per brand.

        Answers to one prompt resemble each other: with an intra-class correlation ρ the rates of
        the prompts have the variance ρ·r(1-r) around the brand's rate r, as in a beta-binomial
        distribution. The factor is the odds of such a rate over those of r, so that a change of r
        with time, engine or topic moves every prompt, and none beyond 0 or 1.

        A beta variable is drawn as the limit of Pólya's urn, which needs uniform numbers only.
        """
        factors = np.ones((len(self.plan.rows("prompts")), len(rates)))
        if self.icc == 0:
            return factors
        rng, weight = self.chance(7), (1 - self.icc) / self.icc
        named = rates > 0
        hits = np.zeros((len(factors), int(named.sum())))
        for draw in range(_DRAWS):
            likely = (weight * rates[named] + hits) / (weight + draw)
            hits += rng.random(hits.shape) < likely
        own = (weight * rates[named] + hits) / (weight + _DRAWS)
        factors[:, named] = own / (1 - own) * (1 - rates[named]) / rates[named]
        return factors

    @cached_property
    def names_rivals_alone(self) -> Array:
        """For each run, whether its answer names a tracked rival and no own brand."""
        is_own = np.array([own is True for own in self.plan.values("brands", "own")])
        is_rival = self.plan.array("brands", "tracked", None) & ~is_own
        own, rival = (
            np.isin(np.arange(len(self)), self.run[which[self.brand]])
            for which in (is_own, is_rival)
        )
        return ~own & rival


def draw_answers(runs: Runs) -> dict[str, pa.Table]:
    """The answers of a project, and what they say of brands."""
    return {
        "answers": _answers(runs),
        "mentions": _mentions(runs),
        "attributes": _attributes(runs),
        "claim_sightings": _claim_sightings(runs),
    }


def _answers(runs: Runs) -> pa.Table:
    rng, silent = runs.chance(3), ~runs.answered
    text = unless(silent, _texts(runs))
    truncated = chance(rng, 0.3, len(runs))
    search = 1 + chance(rng, 0.7, len(runs)).astype(np.int64)
    untold = runs.on("exposes_retrieval", None)
    engines = runs.plan.values("engines", "engine")
    models = [f"{engine}-synthetic-{n}" for engine in engines for n in (1, 2)]
    return drawn(
        "answers",
        runs.plan.host,
        chat_id=runs.chat_ids,
        prompt_id=runs.prompt_ids,
        engine=runs.engines,
        ran_at=runs.ran_at,
        outcome=runs.outcome,
        model=unless(silent, pick(models, 2 * runs.engine + (runs.age <= 15))),
        answer_text=text,
        answer_format=unless(silent, "markdown"),
        answer_characters=pc.add(pc.utf8_length(text), pa.array(np.where(truncated, 900, 0))),
        answer_truncated=unless(silent, truncated),
        features=pick(_FEATURES, np.where(untold | silent, 0, np.where(runs.shopping, 3, search))),
    )


def _texts(runs: Runs) -> pa.Array:
    """A sentence with the brands in their order; it says that it is synthetic."""
    offsets = np.concatenate([[0], np.cumsum(runs.mention_counts)])
    brands = pick([f"**{brand}**" for brand in runs.plan.values("brands", "brand")], runs.brand)
    names = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), brands), ", ")
    prompts = pick(runs.plan.values("prompts", "prompt"), runs.prompt)
    some = pc.binary_join_element_wise(
        "(synthetic) Asked “", prompts, "”, look at ", names, ".", ""
    )
    none = pc.binary_join_element_wise("(synthetic) For “", prompts, "” nothing stands out.", "")
    return pc.if_else(pa.array(runs.mention_counts > 0), some, none)


def _mentions(runs: Runs) -> pa.Table:
    rng, count, brands = runs.chance(4), len(runs.run), runs.plan.values("brands", "brand")
    tone = runs.plan.array("brands", "tone", 0.5)[runs.brand]
    tone = tone + np.where((runs.brand == 0) & (runs.age[runs.run] < TURN), 0.15, 0.0)
    level = rng.random(count)
    mood = np.where(level < tone, 0, np.where(level > 1 - 0.3 * (1 - tone), 2, 1))
    low, width = np.array([650, 450, 100])[mood], np.array([300, 100, 250])[mood]
    score = (low + np.floor(width * rng.random(count))) / 10
    unscored = ~runs.plan.array("brands", "scored", True)[runs.brand]
    unscored |= chance(rng, 0.13, count)
    unordered = chance(rng, 0.04, len(runs))[runs.run]
    excerpts = [excerpt.format(brand) for brand in brands for excerpt in _EXCERPTS]
    return drawn(
        "mentions",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, runs.run),
        brand=pick(brands, runs.brand),
        position=unless(unordered, runs.place + 1),
        sentiment=unless(unscored, pick(_SENTIMENTS, mood)),
        sentiment_score=unless(unscored, score),
        excerpt=unless(chance(rng, 0.05, count), pick(excerpts, 3 * runs.brand + mood)),
    )


def _attributes(runs: Runs) -> pa.Table:
    rng, count = runs.chance(5), len(runs.run)
    owner, place = spread(weighted(rng, (0.65, 0.25, 0.1), count))
    first = weighted(rng, (5, 3, 3, 2, 2, 1, 1), count)
    attribute = (first[owner] + 3 * place) % len(_ATTRIBUTES)
    return drawn(
        "attributes",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, runs.run[owner]),
        brand=pick(runs.plan.values("brands", "brand"), runs.brand[owner]),
        attribute=pick([*_ATTRIBUTES], attribute),
        polarity=pick([*_ATTRIBUTES.values()], attribute),
    )


def _claim_sightings(runs: Runs) -> pa.Table:
    """Claims about the first two brands; the last one of those listed is never made."""
    rng, count = runs.chance(6), len(runs.run)
    seen = chance(rng, 0.2, count)
    claim = np.where(
        runs.brand == 0, weighted(rng, (5, 1, 2), count), 3 + weighted(rng, (1, 2), count)
    )
    rows = np.flatnonzero(seen & (runs.brand <= 1))
    return drawn(
        "claim_sightings",
        runs.plan.host,
        claim_id=pick(runs.plan.values("claims", "claim_id"), claim[rows]),
        chat_id=pick(runs.chat_ids, runs.run[rows]),
    )
