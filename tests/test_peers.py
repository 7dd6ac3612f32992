"""Answers of services that nobody here has described: no exception, no loss, and not for ever.

All documents are synthetic, made after the manner of service models, compatibility data and logs.
"""

from __future__ import annotations

import json
import random
import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from effort import one_in

import aatoolkit as aa
from aatoolkit.errors import SchemaDriftWarning

# Whatever an answer holds: one that the declaration does not fit is read by a draft of itself.
pytestmark = pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")

ENOUGH = 20.0
"""Seconds of this process's own time: some twenty times what a document takes."""


def service_model(draw: random.Random, size: int = 3000) -> Any:
    """Shapes that name one another, a map of thousands."""

    def shape(n: int) -> dict[str, Any]:
        if n % 3 == 0:
            return {"type": "string", "enum": ["a", "b"], "max": n}
        members = {
            f"Field{draw.randrange(size)}": {"shape": f"Shape{draw.randrange(size)}"}
            for _ in range(draw.randrange(1, 6))
        }
        return {"type": "structure", "required": [*members][:1], "members": members}

    operations = {f"Op{n}": {"name": f"Op{n}", "input": {"shape": f"Shape{n}"}} for n in range(500)}
    shapes = {f"Shape{n}": shape(n) for n in range(size)}
    return {"metadata": {"apiVersion": "2026"}, "operations": operations, "shapes": shapes}


def nested_shapes(draw: random.Random, size: int = 1000) -> Any:
    """Shapes within shapes, each with names of its own."""

    def shape(n: int, depth: int) -> dict[str, Any]:
        if depth == 0:
            return {"leaf": n}
        return {"type": "object", "properties": {f"p{n}_{depth}": shape(n, depth - 1)}}

    return {f"shape{n}": shape(n, draw.randrange(1, 9)) for n in range(size)}


def compatibility(draw: random.Random, size: int = 150) -> Any:
    """Features within features, whose support is an object here and an array there."""

    def support() -> Any:
        known = {"version_added": draw.choice(["1", "2", True, False, None])}
        return [known, {"version_removed": "3"}] if draw.random() < 0.1 else known

    def feature(depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {
            "__compat": {
                "support": {name: support() for name in ("chrome", "firefox", "safari", "edge")},
                "status": {"deprecated": draw.random() < 0.1},
            }
        }
        below = range(draw.randrange(3) if depth else 0)
        return found | {f"sub{draw.randrange(10**6)}": feature(depth - 1) for _ in below}

    return {"api": {f"Api{n}": feature(3) for n in range(size)}, "__meta": {"version": "1.0"}}


def by_date_and_host(draw: random.Random, size: int = 150) -> Any:
    """Objects whose keys are data, at three depths."""
    return {
        f"2026-{1 + n // 28:02}-{1 + n % 28:02}": {
            f"host{host}.example": {
                engine: {"n": draw.randrange(2**62, 2**63), "ranks": [1, 2]}
                for engine in ("chatgpt", "gemini", "google-ai-mode")
            }
            for host in range(10)
        }
        for n in range(size)
    }


def ragged(draw: random.Random, size: int = 60, depth: int = 6) -> Any:
    """Anything within anything."""
    if depth == 0:
        return draw.choice([1, 1.0, 2**70, "x", None, True, 1.5, [], {}])
    if draw.random() < 0.5:
        return [ragged(draw, draw.randrange(3), depth - 1) for _ in range(size)]
    return {f"k{draw.randrange(6)}": ragged(draw, 3, depth - 1) for _ in range(size)}


def wide(draw: random.Random, size: int = 10_000) -> Any:
    """One object with thousands of keys and values of every kind."""
    return {f"key {n}": draw.choice([1, "a", None, [1], {"a": 1}]) for n in range(size)}


def sparse(draw: random.Random, size: int = 3000) -> Any:
    """Records that share no field."""
    return [{f"a{n}_{m}": draw.random() for m in range(10)} for n in range(size)]


def long_text(draw: random.Random, size: int = 1_000_000) -> Any:
    """Text of millions of characters."""
    return {"notes": [{"id": n, "text": draw.choice("xé\n") * size} for n in range(4)]}


def mixed(draw: random.Random, size: int = 100_000) -> Any:
    """A long array of all kinds."""
    return {"items": draw.choices([1, 1.0, "a", None, True, [1], {"a": 1}, {}, [], 2**70], k=size)}


MAKERS: list[Callable[..., Any]] = [
    *(service_model, nested_shapes, compatibility, by_date_and_host, ragged, wide, sparse),
    *(long_text, mixed),
]
each = pytest.mark.parametrize("make", one_in(3, MAKERS), ids=lambda make: make.__name__)


def text(value: Any) -> str:
    """A JSON value as text that tells 1 from 1.0 and true, whatever the order of keys."""
    return json.dumps(value, sort_keys=True)


def read(section: str | aa.Section, body: bytes) -> aa.Tables:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaDriftWarning)
        return aa.normalize(aa.sections.get(section) if isinstance(section, str) else section, body)


@each
def test_any_document_is_shredded_and_put_together_again(make: Callable[..., Any]) -> None:
    document = make(random.Random(20261121))
    body = json.dumps(document).encode()
    began = time.process_time()
    assert text(aa.unshred(aa.shred(body))) == text(document)
    assert time.process_time() - began < ENOUGH


@pytest.mark.thorough
@each
def test_no_section_loses_a_document_that_is_none_of_its_answers(make: Callable[..., Any]) -> None:
    document = make(random.Random(20261121))
    began = time.process_time()
    assert text(read("domains", json.dumps(document).encode()).rebuild()) == text(document)
    assert time.process_time() - began < ENOUGH


@each
def test_a_proposal_can_be_used_unedited(make: Callable[..., Any]) -> None:
    document = make(random.Random(20261121), size=200)
    body = json.dumps(document).encode()
    began = time.process_time()
    tables = read(aa.sections.propose(body, "peer").section, body)
    assert text(tables.rebuild()) == text(document)
    assert time.process_time() - began < ENOUGH


@pytest.mark.parametrize("make", [sparse, mixed, service_model])
def test_four_times_the_document_takes_no_more_than_twelve_times_as_long(
    make: Callable[..., Any],
) -> None:
    def seconds(size: int) -> float:
        body = json.dumps(make(random.Random(1), size=size)).encode()
        taken = []
        for _ in range(3):
            began = time.process_time()
            read("domains", body)
            aa.unshred(aa.shred(body))
            taken.append(time.process_time() - began)
        return min(taken)

    assert seconds(2000) < 3 * 4 * seconds(500)
