"""Answers to prompts that differ: beta-binomial counts, as frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.sections import ratio

RULES = {"rate": ratio("hits", "runs")}
DAY = pd.Timestamp("2026-11-01")
"""The day on which something is done."""

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
    hits = np.concatenate([part for part, _, _ in drawn])
    runs = np.concatenate([part for _, part, _ in drawn])
    sizes = [len(part) for part, _, _ in drawn]
    names = [f"p{number}" for number in range(max(sizes))]
    frame = pd.DataFrame(
        {
            "prompt_id": [name for size in sizes for name in names[:size]],
            "hits": hits,
            "runs": runs,
            "rate": hits / runs,
        }
    )
    more = {name: [part[name] for _, _, part in drawn] for name in drawn[0][2]}
    return frame.assign(**{name: np.repeat(of, sizes) for name, of in more.items()})


def without_attrs(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without what is known of it, which pandas copies with each column that is read."""
    frame.attrs = {}
    return frame


def daily(
    rng: np.random.Generator, k: int, effect: float = 0.0, drift: float = 0.0
) -> pd.DataFrame:
    """A row a prompt and day: the first half of the prompts moves from the day on, or steadily."""
    rates = np.clip(rates_of(rng, k, 0.4, 0.3), 0.1, 0.8)
    runs = rng.poisson(2.0, (k, 60))
    at, treated = np.arange(60), np.arange(k) < k // 2
    shift = np.outer(treated, effect * (at >= 30) + drift * (at - 30) / 60)
    hits = rng.binomial(runs, np.clip(rates[:, None] + shift, 0.01, 0.99))
    prompt, day = np.nonzero(runs)
    frame = pd.DataFrame({"prompt_id": prompt, "date": DAY + pd.to_timedelta(day - 30, unit="D")})
    frame = frame.assign(hits=hits[prompt, day], runs=runs[prompt, day])
    return frame.assign(rate=frame["hits"] / frame["runs"])
