"""Serialize, validate and deserialize error answers in the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aatoolkit import errors
from aatoolkit._util.text import visible
from aatoolkit.errors import FetchError

_FACTS = {
    "status": int,
    "code": str,
    "excerpt": str,
    "problem": str,
    "parameter": str,
    "retry_after": float,
}
"""The attributes of an error that are stored, beside its suggestions, and their types."""


def serialize_error(error: FetchError) -> dict[str, Any]:
    """Convert an error's class, message and attributes to JSON values."""
    facts = {name: getattr(error, name, None) for name in (*_FACTS, "suggestions")}
    return {
        "kind": type(error).__name__,
        "message": visible(error.message),
        "facts": {
            name: [*fact] if isinstance(fact, tuple) else fact
            for name, fact in facts.items()
            if fact is not None
        },
    }


def deserialize_error(stored: Mapping[str, Any], url: str, body: bytes) -> FetchError:
    """Rebuild the error, with the bytes of its answer.

    Parameters
    ----------
    stored
        What `serialize_error` returned; it has been validated.
    url
        The address of the request.
    body
        The bytes of the answer.
    """
    kind = getattr(errors, stored["kind"])
    facts = {
        name: tuple(fact) if isinstance(fact, list) else fact
        for name, fact in stored["facts"].items()
    }
    if "body" in kind.facts:
        facts["body"] = body
    found: FetchError = kind(stored["message"], url=url, **facts)
    return found


def validate_error(stored: Any) -> dict[str, Any]:
    """Return a stored error if `serialize_error` could have written it; raise otherwise.

    Raises
    ------
    ValueError, KeyError, TypeError
        If it is not: a manifest may be forged.
    """
    kind = getattr(errors, stored["kind"], None)
    if not (isinstance(kind, type) and issubclass(kind, FetchError)):
        raise ValueError("its error is of no known class")
    facts = stored["facts"]
    if set(stored) != {"kind", "message", "facts"}:
        raise ValueError("its error has other fields")
    _check_texts([stored["message"]])
    for name, fact in facts.items():
        if name not in kind.facts:
            raise ValueError("its error has an unknown attribute")
        if name == "suggestions":
            _check_texts(fact)
        elif type(fact) is not _FACTS[name]:
            raise ValueError("an attribute of its error has the wrong type")
        elif isinstance(fact, str):
            _check_texts([fact])
    return dict(stored)


def _check_texts(found: Any) -> None:
    """Raise for values that are not text, or control a terminal."""
    if not isinstance(found, list) or not all(
        isinstance(text, str) and visible(text) == text for text in found
    ):
        raise ValueError("its error holds unsafe text")
