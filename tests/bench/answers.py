"""Synthetic chats answers of any size, seeded, regular and irregular.

All text, hosts and figures are made up; hosts end in ``.example``.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

WORDS = re.findall(
    r"\S+",
    "for a small team the plans differ in price support and limits while reviews of this year "
    "praise the café mode über-fast search and “fair” pricing – a naïve first choice 12 to 24 "
    "months on is seldom cheapest and **most** buyers compare at least three of them",
)
ENGINES = ("chatgpt", "gemini", "perplexity", "google-ai-overview", "copilot")
BRANDS = ("Acme CRM", "Globex", "Initech", "Umbrella Sales", "Hooli One")
TONES = ("positive", "neutral", "negative")
TYPES = ("editorial", "owned", "competitor", "community", "other")


def answer(size: int, kind: str = "regular", seed: int = 20261120) -> bytes:
    """A chats answer of at least ``size`` bytes, of the kind ``regular`` or ``irregular``."""
    draw = random.Random(seed)
    bend = _bend if kind == "irregular" else _keep
    chats = b",".join(_until(size, (bend(draw, _chat(draw, n)) for n in range(10**9))))
    envelope = {
        "section": "chats",
        "domain": "acme.example",
        "window": {"start": "2026-10-22", "end": "2026-11-20", "days": 30, "timezone": "UTC"},
        "filters": {"engine": None, "topic": None, "category": None, "brand": None},
        "generatedAt": "2026-11-20T23:30:00Z",
        "availability": {
            "status": "available",
            "reason": None,
            "sampleCount": 800,
            "asOf": "2026-11-20T23:30:00Z",
        },
        "sampling": {"returned": 800, "matched": 800, "method": "most_recent"},
        "chats": [],
    }
    head, tail = json.dumps(envelope, separators=(",", ":")).rsplit("[]", 1)
    return b"%b[%b]%b" % (head.encode(), chats, tail.encode())


def _until(size: int, chats: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    written = 0
    while written < size:
        text = json.dumps(next(chats), ensure_ascii=False, separators=(",", ":")).encode()
        written += len(text) + 1
        yield text


def _chat(draw: random.Random, n: int) -> dict[str, Any]:
    return {
        "chatId": f"ch_{n}",
        "promptId": f"pr_{draw.randrange(400)}",
        "prompt": _words(draw, 8),
        "engine": draw.choice(ENGINES),
        "model": draw.choice(("model-5", "model-5-mini", None)),
        "country": "US",
        "ranAt": f"2026-11-{draw.randrange(1, 21):02}T05:{draw.randrange(60):02}:00Z",
        "outcome": "answered",
        "answer": {
            "format": "markdown",
            "text": _words(draw, 110),
            "characters": draw.randrange(400, 2000),
            "truncated": draw.random() < 0.2,
        },
        "mentions": [_mention(draw, place) for place in range(1, draw.randrange(1, 6))],
        "citations": [_citation(draw, place) for place in range(1, draw.randrange(5, 16))],
        "fanouts": [_words(draw, 5) for _ in range(draw.randrange(4))],
        "features": draw.sample(("web_search", "shopping", "images"), draw.randrange(3)),
    }


def _mention(draw: random.Random, place: int) -> dict[str, Any]:
    brand = draw.choice(BRANDS)
    return {
        "brand": brand,
        "own": brand == BRANDS[0],
        "position": place,
        "sentiment": draw.choice(TONES),
        "sentimentScore": draw.choice((None, round(draw.uniform(0, 100), 1))),
        "excerpt": _words(draw, 9),
    }


def _citation(draw: random.Random, place: int) -> dict[str, Any]:
    host = f"site{draw.randrange(900)}.example"
    return {
        "n": place,
        "url": f"https://{host}/{'-'.join(draw.sample(WORDS[:12], 3))}-{draw.randrange(10**6)}",
        "domain": host,
        "title": draw.choice((None, _words(draw, 6))),
        "domainType": draw.choice(TYPES),
        "cited": draw.random() < 0.7,
    }


def _words(draw: random.Random, count: int) -> str:
    return " ".join(draw.choices(WORDS, k=count))


def _keep(_: random.Random, chat: dict[str, Any]) -> dict[str, Any]:
    return chat


def _bend(draw: random.Random, chat: dict[str, Any]) -> dict[str, Any]:
    """One answer in which 5 % of the fields are missing, null or of another type.

    Which other type depends on the field, as where two versions of a service answer.
    """
    for record in (chat, chat["answer"], *chat["mentions"], *chat["citations"]):
        for name in [name for name in record if draw.random() < 0.05]:
            what = draw.randrange(3)
            if what == 0:
                del record[name]
            else:
                other = _OTHERS[len(name) % len(_OTHERS)]
                record[name] = None if what == 1 else other(draw, record[name])
    return chat


_OTHERS: tuple[Callable[[random.Random, Any], Any], ...] = (
    lambda draw, value: str(value),
    lambda draw, value: {"value": value, "basis": draw.choice(WORDS)},
    lambda draw, value: [value],
    lambda draw, value: draw.randrange(2**53, 2**62),
    lambda draw, value: draw.choice(([], {})),
    lambda draw, value: {f"2026-11-{day:02}": draw.random() for day in range(1, 5)},
    lambda draw, value: draw.random() < 0.5,
)
