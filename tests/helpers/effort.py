"""How hard the tests try: a fast run by default, a thorough one in continuous integration.

``pytest --hypothesis-profile=thorough -m "thorough or hypothesis"`` is the thorough run.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any, TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")

FAST = 20
"""How many examples a law is tried on in a fast run."""

LEAST = 30
"""The fewest examples of a law in a thorough run, if it has as many."""


def is_thorough() -> bool:
    """Whether the tests run with the profile ``thorough`` or ``explore``."""
    return settings.get_current_profile_name() in ("thorough", "explore")


def effort(thorough: int, fast: int | None = None) -> int:
    """The number of examples, kills or changes that a test tries in this run."""
    return thorough if is_thorough() else min(thorough, FAST if fast is None else fast)


def examples(most: int, fast: int | None = None) -> int:
    """The number of examples of a law: all when exploring, a quarter in a thorough run.

    Examples are the same each time, so that more of them find new faults only once.
    """
    return most if explores() else effort(max(most // 4, min(most, LEAST)), fast)


def explores() -> bool:
    """Whether the tests run with the profile ``explore``, which takes as long as it takes."""
    return settings.get_current_profile_name() == "explore"


def one_in(many: int, cases: Iterable[Any]) -> list[Any]:
    """Cases for ``parametrize``: one in so many runs always, the others in a thorough run."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=pytest.mark.thorough if at % many else (),
        )
        for at, case in enumerate(cases)
    ]


def cells(*axes: Iterable[T], of: int) -> list[tuple[T, ...]]:
    """The cells of a grid of simulations: all of them when exploring, else ``of``, spread evenly.

    >>> cells([1, 2, 3], "ab", of=2)
    [(1, 'a'), (3, 'a')]
    """
    rows = list(product(*axes))
    return rows if explores() else rows[:: max(1, len(rows) // of + (of > 1))][:of]
