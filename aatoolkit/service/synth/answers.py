"""Synthetic answers: their text, the brands they mention, and their claims about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.service.synth.prompt_effects import multiply_odds, odds_factors
from aatoolkit.service.synth.random_columns import (
    Flags,
    Integers,
    Numbers,
    chance,
    instants,
    listed,
    observed,
    pick,
    spread,
    unless,
    weighted,
)
from aatoolkit.service.synth.runs import OUTCOMES, Runs
from aatoolkit.service.synth.world import TURN

SALES = "Sales automation"
MOVED_PROMPTS = ("pr_1", "pr_4", "pr_9")
"""Prompts that gain from the work which the improved experiment is about."""

_SENTIMENTS = ("positive", "neutral", "negative")
_FEATURES: tuple[list[str] | None, ...] = (None, [], ["web_search"], ["web_search", "shopping"])
_EXCERPTS = (
    "(synthetic) … {} is an easy recommendation …",
    "(synthetic) … {} is also used …",
    "(synthetic) … {} draws complaints …",
)
_ATTRIBUTES = (
    ("easy to use", "positive"),
    ("affordable", "positive"),
    ("good integrations", "positive"),
    ("well known", "neutral"),
    ("steep learning curve", "negative"),
    ("limited reporting", "negative"),
    ("popular with agencies", None),
)
_CLAIMS = (
    (0, "{} has a free plan.", "accurate"),
    (0, "{} was founded in 1901.", "inaccurate"),
    (0, "{} supports single sign-on.", "unverified"),
    (1, "{} has no mobile app.", "inaccurate"),
    (1, "{} is the market leader.", None),
    (0, "{} is made on the Moon.", "inaccurate"),
)
_NEVER_SEEN = len(_CLAIMS) - 1


@dataclass(frozen=True)
class Mentions:
    """Mentions of brands in runs: one entry per mention, by run and position."""

    run: Integers
    brand: Integers
    place: Integers
    counts: Integers


def draw_answers(runs: Runs) -> dict[str, pa.Table]:
    """The answers of a project, and what they say of brands."""
    mentions = mentions_of(runs)
    return {
        "answers": _answers(runs, mentions),
        "mentions": _mention_rows(runs, mentions),
        "attributes": _attribute_rows(runs, mentions),
        **_claims(runs, mentions),
    }


def mentions_of(runs: Runs) -> Mentions:
    """The brands that each run mentions, in their order."""
    rng = runs.chance(1)
    rates = np.array([brand.rate for brand in runs.plan.brands])
    size = (len(runs), len(rates))
    named = (rng.random(size) < _rates(runs, rates)) & (runs.outcome == 0)[:, None]
    liking = np.where(named, rng.random(size) + 0.8 * rates, -1.0)
    order = np.argsort(-liking, axis=1, kind="stable")
    counts = named.sum(axis=1, dtype=np.int64)
    run, place = spread(counts)
    return Mentions(run, order[run, place], place, counts)


def _rates(runs: Runs, rates: Numbers) -> Numbers:
    """The probability that each run mentions each brand; the own brand gains with time."""
    tilt = runs.chance(2).random((len(runs.plan.engines), len(rates))) * 0.1 - 0.05
    likely = rates + tilt[runs.engine]
    recent = runs.age < TURN
    moved = np.isin(runs.prompt, [int(name.removeprefix("pr_")) - 1 for name in MOVED_PROMPTS])
    chatgpt = np.array([engine.engine == "chatgpt" for engine in runs.plan.engines])[runs.engine]
    own = likely[:, 0] + 0.05 * (1 - runs.age / max(runs.plan.days, 1))
    own += np.where(recent & chatgpt, 0.12, 0.0)
    own -= np.where(runs.about(SALES), 0.14, 0.0)
    likely[:, 0] = own
    likely = multiply_odds(likely, odds_factors(runs, rates)[runs.prompt])
    # The work moves a prompt half of the way to certainty: one that is almost there gains little.
    likely[:, 0] += np.where(recent & moved, 0.5 * (1 - likely[:, 0]), 0.0)
    branded = np.array([prompt.branded is True for prompt in runs.plan.prompts])[runs.prompt]
    likely[:, 0] = np.where(branded, 0.93, likely[:, 0])
    return np.where(rates == 0, 0.0, likely)


def _answers(runs: Runs, mentions: Mentions) -> pa.Table:
    rng, everything = runs.chance(3), np.arange(len(runs), dtype=np.int64)
    silent = runs.outcome != 0
    text = unless(silent, _texts(runs, mentions))
    truncated = chance(rng, 0.3, len(runs))
    length = pc.utf8_length(text)
    whole = pc.add(length, pa.array(np.where(truncated, 900, 0)))
    search = 1 + chance(rng, 0.7, len(runs)).astype(np.int64)
    features = np.where(runs.shopping, 3, search)
    untold = runs.on("exposes_retrieval", None)
    second_model = runs.age <= 15
    models = [f"{engine.engine}-synthetic-{n}" for engine in runs.plan.engines for n in (1, 2)]
    return observed(
        "answers",
        runs.plan.host,
        chat_id=runs.chat_ids,
        prompt_id=runs.prompt_ids(everything),
        engine=runs.engines(everything),
        ran_at=instants(runs.day(everything), runs.second),
        outcome=pick(OUTCOMES, runs.outcome),
        model=unless(silent, pick(models, 2 * runs.engine + second_model)),
        answer_text=text,
        answer_format=unless(silent, pa.repeat("markdown", len(runs))),
        answer_characters=whole,
        answer_truncated=unless(silent, truncated),
        features=pick(_FEATURES, np.where(untold | silent, 0, features)),
    )


def _texts(runs: Runs, mentions: Mentions) -> pa.Array:
    """A sentence with the brands in their order; it says that it is synthetic."""
    offsets = np.concatenate([[0], np.cumsum(mentions.counts)])
    brands = pick([f"**{brand.brand}**" for brand in runs.plan.brands], mentions.brand)
    names = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), brands), ", ")
    prompts = pick([prompt.text for prompt in runs.plan.prompts], runs.prompt)
    some = pc.binary_join_element_wise(
        "(synthetic) Asked “", prompts, "”, look at ", names, ".", ""
    )
    none = pc.binary_join_element_wise("(synthetic) For “", prompts, "” nothing stands out.", "")
    return pc.if_else(pa.array(mentions.counts > 0), some, none)


def _mention_rows(runs: Runs, mentions: Mentions) -> pa.Table:
    rng, count = runs.chance(4), len(mentions.run)
    brands = runs.plan.brands
    tone = np.array([brand.tone for brand in brands])[mentions.brand]
    tone = tone + np.where((mentions.brand == 0) & (runs.age[mentions.run] < TURN), 0.15, 0.0)
    drawn = rng.random(count)
    mood = np.where(drawn < tone, 0, np.where(drawn > 1 - 0.3 * (1 - tone), 2, 1))
    low, width = np.array([650, 450, 100])[mood], np.array([300, 100, 250])[mood]
    score = (low + np.floor(width * rng.random(count))) / 10
    unscored = np.array([not brand.scored for brand in brands])[mentions.brand]
    unscored |= chance(rng, 0.13, count)
    unordered = chance(rng, 0.04, len(runs))[mentions.run]
    excerpts = [excerpt.format(brand.brand) for brand in brands for excerpt in _EXCERPTS]
    return observed(
        "mentions",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, mentions.run),
        brand=pick([brand.brand for brand in brands], mentions.brand),
        position=unless(unordered, mentions.place + 1),
        sentiment=unless(unscored, pick(_SENTIMENTS, mood)),
        sentiment_score=unless(unscored, score),
        excerpt=unless(chance(rng, 0.05, count), pick(excerpts, 3 * mentions.brand + mood)),
    )


def _attribute_rows(runs: Runs, mentions: Mentions) -> pa.Table:
    rng, count = runs.chance(5), len(mentions.run)
    owner, place = spread(weighted(rng, (0.65, 0.25, 0.1), count))
    first = weighted(rng, (5, 3, 3, 2, 2, 1, 1), count)
    attribute = (first[owner] + 3 * place) % len(_ATTRIBUTES)
    return observed(
        "attributes",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, mentions.run[owner]),
        brand=pick([brand.brand for brand in runs.plan.brands], mentions.brand[owner]),
        attribute=pick([name for name, _ in _ATTRIBUTES], attribute),
        polarity=pick([polarity for _, polarity in _ATTRIBUTES], attribute),
    )


def _claims(runs: Runs, mentions: Mentions) -> dict[str, pa.Table]:
    rng, host, brands = runs.chance(6), runs.plan.host, runs.plan.brands
    seen: Flags = chance(rng, 0.2, len(mentions.run))
    claim = np.where(
        mentions.brand == 0,
        weighted(rng, (5, 1, 2), len(mentions.run)),
        3 + weighted(rng, (1, 2), len(mentions.run)),
    )
    rows = np.flatnonzero(seen & (mentions.brand <= 1))
    ids = [f"cl_{number}" for number in range(1, len(_CLAIMS) + 1)]
    return {
        "claims": listed(
            "claims",
            host,
            [
                {
                    "claim_id": claim_id,
                    "brand": brands[brand].brand,
                    "text": f"(synthetic) {text.format(brands[brand].brand)}",
                    "verdict": verdict,
                }
                for claim_id, (brand, text, verdict) in zip(ids, _CLAIMS, strict=True)
            ],
        ),
        "claim_sightings": observed(
            "claim_sightings",
            host,
            claim_id=pick(ids, claim[rows]),
            chat_id=pick(runs.chat_ids, mentions.run[rows]),
        ),
    }
