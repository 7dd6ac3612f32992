"""Runs: which prompt went to which engine when, and whether an answer came."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from aatoolkit.service.synth.random_columns import (
    Flags,
    Integers,
    Numbers,
    between,
    chance,
    numbered,
    pick,
    stream,
    weighted,
)
from aatoolkit.service.synth.world import ENGINES, TODAY, HostPlan

OUTCOMES = ("answered", "empty", "refused", "error")
_OUTCOME_WEIGHTS = (0.94, 0.03, 0.02, 0.01)
_SHOPPING_RATE = 0.12
_FIRST_SECOND, _LAST_SECOND = 3_600, 80_000


@dataclass(frozen=True)
class Runs:
    """Every run of a project, in the order of time; ``age`` counts days before the end.

    ``icc`` is the intra-class correlation of mentions in the answers to one prompt.
    """

    plan: HostPlan
    seed: int
    icc: float
    age: Integers
    second: Integers
    engine: Integers
    prompt: Integers
    outcome: Integers
    shopping: Flags

    def __len__(self) -> int:
        return len(self.age)

    @cached_property
    def chat_ids(self) -> pa.Array:
        """The ids of the answers."""
        return numbered("ch_", len(self))

    @cached_property
    def answered(self) -> Integers:
        """The runs that brought an answer."""
        return np.flatnonzero(self.outcome == 0)

    def day(self, runs: Integers) -> Integers:
        """The days of some runs."""
        return TODAY - self.age[runs]

    def on(self, fact: str, value: bool | None) -> Flags:
        """For each run, whether a fact about its engine has the value."""
        engines = [ENGINES[engine.engine][fact] is value for engine in self.plan.engines]
        return np.array(engines)[self.engine]

    def about(self, topic: str) -> Flags:
        """For each run, whether its prompt has the topic."""
        return np.array([prompt.topic == topic for prompt in self.plan.prompts])[self.prompt]

    def engines(self, runs: Integers) -> pa.Array:
        """The engine ids of some runs."""
        return pick([engine.engine for engine in self.plan.engines], self.engine[runs])

    def prompt_ids(self, runs: Integers) -> pa.Array:
        """The prompt ids of some runs."""
        ids = [f"pr_{number}" for number in range(1, len(self.plan.prompts) + 1)]
        return pick(ids, self.prompt[runs])

    def chance(self, area: int) -> np.random.Generator:
        """Make the random generator for one part of this project."""
        return stream(self.seed, self.plan.number, area)


def draw_runs(plan: HostPlan, seed: int, count: int, icc: float) -> Runs:
    """Draw so many runs on the days on which each engine is asked."""
    rng = stream(seed, plan.number, 0)
    engines, ages, weights = _slots(plan)
    slot = weighted(rng, weights, count)
    second = between(rng, _FIRST_SECOND, _LAST_SECOND, count)
    order = np.lexsort((second, -ages[slot]))
    age, second, engine = ages[slot][order], second[order], engines[slot][order]
    prompt = weighted(rng, [prompt.weight for prompt in plan.prompts], count)
    retired = np.array([prompt.until for prompt in plan.prompts])[prompt] > age
    prompt = np.where(retired, 0, prompt)
    outcome = weighted(rng, _OUTCOME_WEIGHTS, count)
    shopping = chance(rng, _SHOPPING_RATE, count) & (outcome == 0)
    runs = Runs(plan, seed, icc, age, second, engine, prompt, outcome, shopping)
    return replace(runs, shopping=shopping & runs.on("shopping_checked", True))


def _slots(plan: HostPlan) -> tuple[Integers, Integers, Numbers]:
    """The engine, age in days and weight of each slot in which runs happen."""
    slots = [
        (number, age, engine.weight)
        for number, engine in enumerate(plan.engines)
        if engine.weight
        for age in range(engine.until, plan.days, engine.every)
        if age not in plan.silent
    ]
    engines, ages, weights = (np.array(column) for column in zip(*slots, strict=True))
    return engines.astype(np.int64), ages.astype(np.int64), weights.astype(np.float64)
