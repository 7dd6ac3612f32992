"""The sample of a response of each section, in the shape of the reference."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aatoolkit import Payload, sections

SAMPLES = Path(__file__).parents[2] / "data" / "samples"


def sample(name: str) -> Any:
    """The sample of a section, or of the scope options, parsed."""
    return json.loads(sample_bytes(name))


def sample_bytes(name: str) -> bytes:
    """The same as a service would send it."""
    return (SAMPLES / f"{name}.json").read_bytes()


def answer_to(request: Any) -> Any:
    """The sample that answers a request to a scripted server."""
    if "scope-options" in request.path:
        return sample("scope_options")
    if "section" in request.params:
        return sample(request.params["section"])
    return {"domain": "acme.example", "sections": {name: sample(name) for name in sections.names()}}


def payload_of(answer: Any, **facts: Any) -> Payload:
    """A response with an answer, or the bytes of one, of a morning; ``facts`` are as given.

    A sample repeats the filters of the scope.
    """
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    filters = facts["scope"]._filters if "scope" in facts else {}
    if filters and b'"filters"' in body:
        document = json.loads(body)
        document["filters"] |= {name: [*values] for name, values in filters.items()}
        body = json.dumps(document).encode()
    usual = {
        "host": "acme.example",
        "url": "https://api.example/agent",
        "fetched_at": datetime(2026, 11, 20, 7, tzinfo=UTC),
    }
    return Payload(body, **{**usual, **facts})
