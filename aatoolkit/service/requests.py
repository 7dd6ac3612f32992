"""Parse and validate query parameters; an error names the allowed values."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from aatoolkit.service.observations import DAYS, FILTERS, Question

MAX_VALUES = 200
"""The most values one filter takes."""

MAX_LISTED = 50
"""The most allowed values an error lists."""

_MAX_GUESSED = 5
_MAX_COMPARED = 100

_LISTED_IN = {
    "engine": ("engines", "id"),
    "topic": ("topics", "topic"),
    "category": ("categories", "category"),
    "brand": ("brands", "name"),
}


class ApiError(Exception):
    """A request is answered with an error.

    Parameters
    ----------
    status
        The HTTP status.
    code
        What went wrong, in one word that does not change.
    message
        The same in a sentence.
    headers
        Headers the answer carries beside the usual ones.
    **details
        ``parameter``, ``unknown``, ``allowed``, ``suggestions``: where they make sense.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        **details: object,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}
        self.body = {"error": {"status": status, "code": code, "message": message, **details}}


def _invalid(message: str, **details: object) -> ApiError:
    return ApiError(400, "invalid_parameter", message, **details)  # type: ignore[arg-type]


def read_analytics(host: str, query: str, sections: Sequence[str]) -> tuple[str | None, Question]:
    """Parse the query string of a request for agent analytics; no section is the combined view.

    Raises
    ------
    ApiError
        Status 400, if a parameter is unknown or its value cannot be parsed.
    """
    given = _parameters(query, ("section", "days", *FILTERS))
    section = given.get("section")
    if section is not None and section not in sections:
        raise _unknown("section", [section], sections)
    days = given.get("days", "30")
    if days not in map(str, DAYS):
        raise _invalid(
            f"The parameter days is one of {', '.join(map(str, DAYS))}; {_quoted([days])} is not.",
            parameter="days",
            unknown=[days],
            allowed=list(DAYS),
        )
    filters = {name: values for name in FILTERS if (values := _values(name, given.get(name, "")))}
    return section, Question(host, int(days), filters)


def read_refresh(query: str) -> bool:
    """Parse ``refresh``: whether the scope options are to be refreshed.

    Raises
    ------
    ApiError
        Status 400, if ``refresh`` is given and is not 1, or another parameter is given.
    """
    refresh = _parameters(query, ("refresh",)).get("refresh")
    if refresh not in (None, "1"):
        raise _unknown("refresh", [refresh], ["1"])
    return refresh == "1"


def check_values(question: Question, options: Mapping[str, Any]) -> None:
    """Validate the values of the filters; "untagged", listed under null, is no value.

    Raises
    ------
    ApiError
        Status 400, if a filter has a value that is not among the scope options.
    """
    for name, values in question.filters.items():
        entries, key = _LISTED_IN[name]
        allowed = [entry[key] for entry in options[entries] if entry[key] is not None]
        known = set(allowed)
        unknown = [value for value in values if value not in known]
        if unknown:
            raise _unknown(name, unknown, allowed)


def _parameters(query: str, supported: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in supported:
            persona = "Persona and country are not supported filters. "
            raise ApiError(
                400,
                "unsupported_parameter",
                f"There is no parameter {_quoted([name])}. "
                f"{persona if name in ('persona', 'country') else ''}"
                f"Supported: {', '.join(supported)}.",
                parameter=name,
                allowed=list(supported),
                suggestions=_near([name], supported),
            )
        if name in given:
            raise _invalid(
                f"The parameter {name} is given twice; several values of a filter are"
                " written in one parameter, separated by commas.",
                parameter=name,
            )
        given[name] = value
    return given


def _values(name: str, given: str) -> tuple[str, ...]:
    # Only spaces are trimmed: another blank, such as a line break, is part of a value.
    items = given.split(",")
    values = {item.strip(" ") for item in items} - {""}
    if any(item and not item.strip() for item in items) or (given and not values):
        raise _invalid(
            f"The parameter {name} has a blank value; without a value, leave the parameter out.",
            parameter=name,
        )
    if len(values) > MAX_VALUES:
        raise _invalid(
            f"The parameter {name} takes at most {MAX_VALUES} values; {len(values)} are given.",
            parameter=name,
        )
    return tuple(sorted(values))


def _unknown(parameter: str, unknown: Sequence[str], allowed: Sequence[str]) -> ApiError:
    message = f"Unknown {parameter}: {_quoted(unknown)}."
    if len(allowed) > MAX_LISTED:
        message += (
            f" The first {MAX_LISTED} of {len(allowed)} allowed values are listed here, all of"
            " them in the scope options."
        )
    return _invalid(
        message,
        parameter=parameter,
        unknown=list(unknown),
        allowed=list(allowed[:MAX_LISTED]),
        suggestions=_near(unknown, allowed),
    )


def _near(wanted: Sequence[str], allowed: Sequence[str]) -> list[str]:
    """Find allowed values near the first few wanted ones; comparing all would be slow."""
    folded = {value.casefold(): value for value in reversed(allowed)}
    matches = (
        folded[match]
        for value in wanted[:_MAX_GUESSED]
        for match in difflib.get_close_matches(value.casefold()[:_MAX_COMPARED], folded)
    )
    return list(dict.fromkeys(matches))


def _quoted(values: Sequence[str]) -> str:
    shown = [f"'{value[:_MAX_COMPARED]}'" for value in values[:_MAX_GUESSED]]
    more = len(values) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
