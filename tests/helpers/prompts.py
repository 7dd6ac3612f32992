"""Answers to prompts that differ: beta-binomial counts, as frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.sections.aggregation import ratio

RULES = {"rate": ratio("hits", "runs")}

Drawn = tuple[Any, Any, dict[str, Any]]
"""Hits and runs of each prompt, and columns that are alike for all of them."""


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
    return framed([(rng.binomial(runs, rates), runs, more)])


def framed(drawn: list[Drawn]) -> pd.DataFrame:
    """Hits and runs of each prompt, drawn several times, as one frame; and what is said of each."""
    hits = np.concatenate([each for each, _, _ in drawn])
    runs = np.concatenate([each for _, each, _ in drawn])
    sizes = [len(each) for each, _, _ in drawn]
    names = [f"p{number}" for number in range(max(sizes))]
    frame = pd.DataFrame(
        {
            "prompt_id": [name for size in sizes for name in names[:size]],
            "hits": hits,
            "runs": runs,
            "rate": hits / runs,
        }
    )
    more = {name: [each[name] for _, _, each in drawn] for name in drawn[0][2]}
    return frame.assign(**{name: np.repeat(of, sizes) for name, of in more.items()})


def without_attrs(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without what is known of it, which pandas copies with each column that is read."""
    frame.attrs = {}
    return frame
