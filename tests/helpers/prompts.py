"""Answers to prompts that differ: beta-binomial counts, as frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.sections.aggregation import ratio

RULES = {"rate": ratio("hits", "runs")}


def rates_of(rng: np.random.Generator, k: int, rate: float, icc: float) -> Any:
    """The rates of so many prompts, with an intra-class correlation."""
    if icc == 0:
        return np.full(k, rate)
    weight = (1 - icc) / icc
    return rng.beta(rate * weight, (1 - rate) * weight, k)


def runs_of(rng: np.random.Generator, k: int, mean: float, *, uneven: bool = False) -> Any:
    """How often each prompt is asked: nearly as often as the others, or not at all so."""
    if uneven:
        return np.ceil(rng.lognormal(np.log(mean), 1.0, k)).astype(int)
    return rng.poisson(mean, k) + 1


def counted(rng: np.random.Generator, rates: Any, runs: Any, **more: Any) -> pd.DataFrame:
    """A row a prompt: how often it was asked, and how often it was a hit."""
    hits = rng.binomial(runs, rates)
    names = [f"p{number}" for number in range(len(hits))]
    frame = pd.DataFrame({"prompt_id": names, "hits": hits, "runs": runs, "rate": hits / runs})
    return frame.assign(**more)
