"""Validate the values of a filter, many of them together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from aatoolkit._util.defaults import FILTERS
from aatoolkit._util.text import shown
from aatoolkit.errors import ScopeError, did_you_mean, near_matches

_MANY = 100
"""From this many values of a filter on, they are validated together."""

UNCHECKED = (
    "could not be checked: no list of such values was recognised in the scope options; "
    "aa.profile.draft(project) looks for one, and a profile may name it: sections.scope_options"
)
"""What is written of a filter whose values are not known."""

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def filter_values(name: str, given: str | Iterable[str] | None) -> tuple[str, ...]:
    """Validate, sort and deduplicate the values of a filter."""
    if given is None:
        return ()
    if isinstance(given, Mapping | bytes) or hasattr(given, "columns"):
        raise ScopeError(
            f"{name}={shown(given)} is no filter value; give text, or a list of text",
            parameter=name,
        )
    several = isinstance(given, Iterable) and not isinstance(given, str)
    listed: list[Any] = list(given) if several else [given]
    if len(listed) < _MANY or not _are_plain(listed):
        for value in listed:
            _validate(name, value)
    return tuple(sorted(set(listed)))


def _validate(name: str, value: Any) -> None:
    """Raise for a value that no filter can have."""
    if not isinstance(value, str):
        raise ScopeError(
            f"{name}={shown(value)} is not text; give values as strings", parameter=name
        )
    if not is_text(value):
        raise ScopeError(
            f"{name}={value!r} holds half a surrogate pair, which is no text",
            parameter=name,
            unknown=(value,),
        )
    if not value.strip():
        raise ScopeError(f"a value of {name} is empty; leave it out", parameter=name)
    if "," in value:
        raise ScopeError(
            f"{name} value {value!r} holds a comma, by which the API separates values; "
            "give each value by itself, and select what holds a comma in the table",
            parameter=name,
            unknown=(value,),
        )


def _are_plain(values: list[Any]) -> bool:
    """Whether all are texts that a filter can have, looked at together."""
    if {*map(type, values)} != {str} or not all(map(str.strip, values)):
        return False
    joined = "".join(values)
    return "," not in joined and is_text(joined)


def is_text(value: str) -> bool:
    """Whether a text holds no half of a surrogate pair."""
    return _HALF_A_PAIR.search(value) is None


def unknown_filter(name: str) -> ScopeError:
    """Make the error for a filter that there is not, with near matches."""
    near = near_matches(name, ("days", *FILTERS))
    hint = did_you_mean(near, f"there are days, {', '.join(FILTERS)}")
    return ScopeError(
        f"{name!r} is not a filter; {hint}",
        parameter=name,
        unknown=(name,),
        suggestions=near,
    )
