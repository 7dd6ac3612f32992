"""Scope options: the values of the filters, as the store has them."""

from __future__ import annotations

import pytest

from aatoolkit.service.answer import wire
from aatoolkit.service.store import Store

from .sections_a_store import HOST, SMALL, rows_of, store


@pytest.fixture(scope="module")
def small() -> Store:
    return store(SMALL)


def test_scope_options(small: Store) -> None:
    assert wire(small.scope_options(HOST)) == {
        "engines": rows_of(
            "id label configured lastRunDay",
            ("chatgpt", "ChatGPT", True, "2026-11-20"),
            ("copilot", "Copilot", False, None),
            ("gemini", "Gemini", True, "2026-11-20"),
            ("overviews", "AI Overviews", True, None),
        ),
        "topics": rows_of("topic count", ("Sales", 1), ("Start", 1), (None, 1)),
        "categories": rows_of("category count", ("commercial", 2), ("informational", 1)),
        "brands": [
            {"name": "Acme", "tracked": True, "own": True},
            {"name": "Globex", "tracked": True, "own": False},
            {"name": "Initech", "tracked": True, "own": False},
            {"name": "Hooli", "tracked": False},
        ],
        "ownTerms": ["acme", "acme crm"],
        "days": [7, 30, 90],
    }


def test_scope_options_of_an_unknown_host(small: Store) -> None:
    with pytest.raises(LookupError):
        small.scope_options("nobody.example")
