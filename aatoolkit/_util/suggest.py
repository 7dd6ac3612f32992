"""Near matches: what somebody who mistyped a name may have meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_LONGEST = 200
"""Longer texts are no names; comparing them takes time in proportion to their length squared."""


def near_matches(
    given: str | Iterable[str], known: Iterable[str], *, cutoff: float = 0.6
) -> tuple[str, ...]:
    """Return the known names that look like the given ones, best first, ignoring case.

    Examples
    --------
    >>> near_matches("Chatgbt", ["chatgpt", "gemini"])
    ('chatgpt',)
    """
    import difflib  # only errors need it

    names = [given] if isinstance(given, str) else list(given)
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(str(name).casefold(), name)
    found = (
        folded[match]
        for name in names
        for match in difflib.get_close_matches(
            str(name).casefold()[:_LONGEST], folded, n=3, cutoff=cutoff
        )
    )
    return tuple(dict.fromkeys(found))


def did_you_mean(near: Sequence[str], otherwise: str = "") -> str:
    """Return the question for an error message, or something else where nothing is near.

    Examples
    --------
    >>> did_you_mean(["chatgpt", "claude"])
    "did you mean 'chatgpt' or 'claude'?"
    >>> did_you_mean([], "there are gemini, claude")
    'there are gemini, claude'
    """
    return f"did you mean {' or '.join(map(repr, near))}?" if near else otherwise
