"""Effects of prompts: how much more or less each one brings up each brand than average."""

from __future__ import annotations

import numpy as np

from aatoolkit.service.synth.random_columns import Numbers
from aatoolkit.service.synth.runs import Runs

_DRAWS = 1000
"""Balls put into each urn: the more, the closer its fraction comes to a beta variable."""


def odds_factors(runs: Runs, rates: Numbers) -> Numbers:
    """Draw the factors of the odds of a mention: a row per prompt, a column per brand.

    Answers to one prompt resemble each other: with an intra-class correlation ρ the rates of
    the prompts have the variance ρ·r(1-r) around the brand's rate r, as in a beta-binomial
    distribution. The factor is the odds of such a rate over those of r, so that a change of r
    with time, engine or topic moves every prompt, and none beyond 0 or 1.

    A beta variable is drawn as the limit of Pólya's urn, which needs uniform numbers only.
    """
    factors = np.ones((len(runs.plan.prompts), len(rates)))
    if runs.icc == 0:
        return factors
    rng, weight = runs.chance(7), (1 - runs.icc) / runs.icc
    named = rates > 0
    hits = np.zeros((len(factors), int(named.sum())))
    for drawn in range(_DRAWS):
        likely = (weight * rates[named] + hits) / (weight + drawn)
        hits += rng.random(hits.shape) < likely
    own = (weight * rates[named] + hits) / (weight + _DRAWS)
    factors[:, named] = own / (1 - own) * (1 - rates[named]) / rates[named]
    return factors


def multiply_odds(likely: Numbers, factors: Numbers) -> Numbers:
    """Multiply the odds of probabilities by a factor each."""
    likely = np.clip(likely, 0.0, 1.0)
    moved: Numbers = likely * factors / (1 - likely + likely * factors)
    return moved
