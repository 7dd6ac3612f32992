"""What servers do wrong, and what each must come to: by name, a script and its outcome.

``cases.json`` has one in a line: the ``parts`` that a request is replied with (text as it goes
over the wire, ``times`` for what is repeated, ``flood`` and ``drip`` for what never ends or comes
byte by byte, ``STALL`` and ``RESET``), and how it ends. Those that play with a connection, or are
too long to write down, are here.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hostile.server import Script, Wire, chunked, head, message, one_by_one, replying

from aatoolkit import errors

OK = {"ok": True}
BODY = b'{"ok": true}'
TOKEN = "canary-7f3a9c.TOKEN_~+/=="
DEADLINE = 0.4
MAX_BODY = 1 << 20


@dataclass(frozen=True)
class Case:
    """One misbehaviour.

    Parameters
    ----------
    script
        What each connection does.
    outcome
        The answer's JSON, or the exact kind of error.
    facts
        What the error says of itself.
    asks
        How many requests are made of the server; None leaves it open.
    calls
        How often the question is asked; the outcome is that of the last.
    within
        How long it may take, in seconds.
    pause
        How long after the last one the next question is asked, in seconds.
    memory
        What it may take, in bodies of the largest size: as bytes, and decoded.
    is_slow
        Whether the deadline is to be reached.
    """

    script: Script
    outcome: Any = field(default_factory=lambda: OK)
    facts: dict[str, Any] = field(default_factory=dict)
    asks: int | None = 1
    calls: int = 1
    within: float = 5.0
    pause: float = 0.0
    memory: int = 16
    is_slow: bool = False


def _part(written: Any) -> bytes | Script:
    """A part of a response, as ``cases.json`` writes it."""
    if isinstance(written, str):
        acts = {"STALL": Wire.stall, "RESET": Wire.reset}
        return acts.get(written) or written.encode("latin-1")
    if "base64" in written:
        return base64.b64decode(written["base64"])
    if "text" in written:
        text: str = written["text"]
        return text.encode("latin-1") * written["times"]
    (name, text), *more = written.items()

    def act(wire: Wire) -> None:
        getattr(wire, name)(text.encode("latin-1"), **dict(more))

    return act


def _written() -> Iterator[tuple[str, Case]]:
    """The cases that are written down."""
    for row in json.loads(Path(__file__).with_name("cases.json").read_bytes()):
        name, parts, outcome = row.pop("name"), row.pop("parts"), row.pop("outcome", {"json": OK})
        ends = getattr(errors, outcome) if isinstance(outcome, str) else outcome["json"]
        yield name, Case(replying(*map(_part, parts)), ends, **row)


def _connections() -> Iterator[tuple[str, Case]]:
    """What may leak from one answer into the next."""
    mine, evil = message(b'{"n": 1}'), message(b'{"evil": true}')
    second = message(BODY)

    def later(data: bytes) -> Script:
        def script(wire: Wire) -> None:
            wire.request()
            wire.send(mine)
            wire.wait(0.05)
            wire.send(data)
            if wire.request():
                wire.send(second)

        def first_then_sane(wire: Wire) -> None:
            script(wire) if wire.number == 1 else one_by_one(second)(wire)

        return first_then_sane

    def first(script: Script) -> Script:
        return lambda wire: (script if wire.number == 1 else one_by_one(second))(wire)

    yield (
        "another answer after the answer",
        Case(first(one_by_one(mine + evil, second)), calls=2, asks=2),
    )
    yield (
        "a large answer and another after it",
        Case(first(one_by_one(message(b" " * 300_000 + b"{}") + evil, second)), calls=2, asks=2),
    )
    yield "another answer a little later", Case(later(evil), calls=2, asks=2, pause=0.15)
    yield "half a head a little later", Case(later(b"HTTP/1.1 2"), calls=2, asks=2, pause=0.15)
    yield (
        "another answer after chunks",
        Case(first(one_by_one(chunked(b"{}") + evil, second)), calls=2, asks=2),
    )
    yield (
        "bytes after 204",
        Case(first(one_by_one(head("204 No Content") + evil, second)), calls=2, asks=2),
    )
    yield (
        "an answer after an error",
        Case(first(one_by_one(message(b"{}", "404 Not Found") + evil, second)), errors.NotVisible),
    )
    banner = b"220 mail.example ESMTP\r\n"
    yield (
        "a banner before the request",
        Case(lambda w: (w.send(banner), w.request()), errors.ConnectionFailed),
    )
    yield (
        "an answer before the request",
        Case(
            lambda w: (w.send(message()), w.request(), w.wait(0.1)),
        ),
    )
    yield "hanging up between two requests", Case(one_by_one(second), calls=2, asks=2, pause=0.1)
    yield (
        "hanging up on the second request",
        Case(first(one_by_one(mine, Wire.reset)), calls=2, asks=3),
    )


def _bombs() -> Iterator[tuple[str, Case]]:
    """Bodies that are small on the wire and large when they are unpacked, or decoded."""
    bomb, members = gzip.compress(b" " * 2**26, 1), gzip.compress(b" " * 50_000) * 200
    large = {"limit": MAX_BODY, "status": 200}
    for name, body, status, outcome, facts in (
        ("a bomb", bomb, "200 OK", errors.DecodeError, large),
        ("a bomb of many members", members, "200 OK", errors.DecodeError, large),
        ("a bomb in an error", bomb, "500 Broken", errors.ServerFailed, {"status": 500}),
    ):
        script = replying(message(body, status, "Content-Encoding: gzip"))
        yield name, Case(script, outcome, facts, within=9)
    lists = message(b"[" + b"[]," * 99_999 + b"1]")
    yield "many empty lists", Case(replying(lists), [[]] * 99_999 + [1], memory=18)


CASES = {**dict(_written()), **dict(_connections()), **dict(_bombs())}
