"""Insights: a change is found, and the tests behind them are those of the field."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

from aatoolkit.service import SECTIONS, ServiceScope, Store, significance

HOST = "acme.example"

BRANDS = ("Acme", "Globex", "Initech", "Hooli")
ENGINES = ("chatgpt", "gemini", "perplexity")


def drawn(seed: int, rise: float = 0.0, prompts: int = 30, alike: float = 0.3) -> Store:
    """Two windows of answers; only ``rise`` makes the second one another than the first.

    The rate of each prompt is drawn anew in each window, around one that it has of its own.
    """
    draw = np.random.default_rng(seed)
    tables: dict[str, list[dict[str, Any]]] = {"answers": [], "mentions": [], "citations": []}
    weight = (1 - alike) / alike
    own = draw.beta(weight * 0.4, weight * 0.6, (len(BRANDS), prompts))
    rates = np.clip(own[:, :, None] + draw.normal(0, 0.15, (len(BRANDS), prompts, 2)), 0, 1)
    rates[0, :, 1] = np.clip(rates[0, :, 1] + rise, 0, 1)
    for day in range(14):
        for prompt in range(prompts):
            for engine in ENGINES:
                chat = f"{day}-{prompt}-{engine}"
                tables["answers"].append(
                    {
                        "chat_id": chat,
                        "prompt_id": f"p{prompt:02}",
                        "engine": engine,
                        "ran_at": datetime(2026, 11, day + 7, 6, tzinfo=UTC),
                        "outcome": "answered",
                    }
                )
                named = draw.random(len(BRANDS)) < rates[:, prompt, day // 7]
                tables["mentions"] += [
                    {
                        "chat_id": chat,
                        "brand": brand,
                        "position": 1,
                        "sentiment_score": float(draw.normal(60, 10)),
                    }
                    for brand, is_named in zip(BRANDS, named.tolist(), strict=True)
                    if is_named
                ]
                tables["citations"].append(
                    {
                        "chat_id": chat,
                        "n": 1,
                        "url": f"https://{HOST}/{prompt}",
                        "source_domain": HOST,
                        "cited": True,
                    }
                )
    project = {"as_of": datetime(2026, 11, 20, 23, tzinfo=UTC), "observed_from": date(2026, 11, 1)}
    rows = {
        "projects": [project],
        "engines": [{"engine": name, "label": name, "configured": True} for name in ENGINES],
        "brands": [
            {
                "brand": name,
                "tracked": True,
                "own": name == "Acme",
                "domain": f"{name.lower()}.example",
            }
            for name in BRANDS
        ]
        + [{"brand": "Acme CRM", "tracked": False, "own": True, "domain": HOST}],
        "prompts": [
            {"prompt_id": f"p{n:02}", "prompt": f"prompt {n}", "active": True}
            for n in range(prompts)
        ],
        **tables,
    }
    return Store.of(
        {
            name: pd.DataFrame([{"host": HOST, **row} for row in entries])
            for name, entries in rows.items()
        }
    )


def reported(held: Store) -> list[dict[str, Any]]:
    with held.observe(ServiceScope(HOST, 7)) as observations:
        insights: list[dict[str, Any]] = SECTIONS["insights"].compute(observations).body["insights"]
    held.close()
    return insights


def test_a_change_of_all_prompts_is_found() -> None:
    insights = reported(drawn(1, rise=0.3))
    (overall,) = [
        row
        for row in insights
        if row["type"] == "visibility_change" and row["scope"]["engine"] is None
    ]
    assert overall["scope"]["brand"] == "Acme"
    assert (overall["severity"], overall["confidence"]) == ("high", "high")
    assert overall["metric"]["change"] > 0.2


def test_few_prompts_never_show_much() -> None:
    assert significance.p_value_of_change([(0, 30, 30, 30)] * 4) > 0.04
    assert significance.p_value_of_change([(0, 30, 30, 30)] * 25) < 0.001
    assert significance.p_value_of_change([(3, 30, 3, 30)] * 25) == 1.0
    assert significance.p_value_of_change([(3, 30, 0, 0)]) == 1.0
    assert significance.p_value_of_change([]) == 1.0


def test_adjusted_p_values_are_those_of_benjamini_and_hochberg() -> None:
    # The adjusted p-values of R's p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.8), "BH").
    assert significance.adjust_p_values([0.01, 0.04, 0.03, 0.005, 0.8]) == pytest.approx(
        [0.025, 0.05, 0.05, 0.025, 0.8]
    )
    assert significance.adjust_p_values([]) == []


def test_the_interval_over_prompts_is_that_of_the_field() -> None:
    from scipy import stats

    prompts = [(3, 10), (9, 12), (0, 8), (5, 20), (7, 7), (2, 9)]
    hits, sizes = (np.array(column, float) for column in zip(*prompts, strict=True))
    rate = hits.sum() / sizes.sum()
    variance = 6 / 5 * ((hits - rate * sizes) ** 2).sum() / sizes.sum() ** 2
    t, n = stats.t.ppf(0.975, 5), rate * (1 - rate) / variance
    centre = (rate + t**2 / (2 * n)) / (1 + t**2 / n)
    half = t / (1 + t**2 / n) * np.sqrt(rate * (1 - rate) / n + t**2 / (4 * n**2))
    assert significance.clustered_interval(prompts) == pytest.approx(
        (centre - half, centre + half), rel=5e-3
    )
