"""How hard the tests try: a fast run by default, a thorough one in continuous integration.

``pytest --hypothesis-profile=thorough -m "thorough or hypothesis"`` is the thorough run.
"""

from __future__ import annotations

from hypothesis import settings

FAST = 40
"""How many examples a law is tried on in a fast run."""


def is_thorough() -> bool:
    """Whether the tests run with the profile ``thorough`` or ``explore``."""
    return settings.get_current_profile_name() in ("thorough", "explore")


def effort(thorough: int, fast: int | None = None) -> int:
    """The number of examples, kills or changes that a test tries in this run."""
    return thorough if is_thorough() else min(thorough, FAST if fast is None else fast)
