"""One misbehaviour tried: what it came to, how long it took and what it left."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hostile.cases import DEADLINE, MAX_BODY, TOKEN, Case
from hostile.measure import open_sockets, traced_peak
from hostile.server import SLACK, HostileServer

from aatoolkit import errors
from aatoolkit.http import Fetcher, transport
from aatoolkit.payload import Request


def ask(fetcher: Fetcher, topic: str = "a") -> Any:
    """The JSON of a section, on a topic."""
    params = {"section": "urls", "topic": topic}
    return fetcher.get(Request("agent-analytics", "acme.example", "urls", params=params)).json


@dataclass(frozen=True)
class Trial:
    """What a misbehaviour came to, and what it took and left.

    ``seconds`` are those of the clock where a deadline is to be reached, else of the processor.
    """

    result: Any
    asks: int
    seconds: float
    deadline: float
    memory: int
    threads: tuple[str, ...]
    all_let_go: bool
    sockets: int


def tried(case: Case, folder: Path) -> Trial:
    """Ask a server that misbehaves in this way."""
    # Where no deadline is to be reached, what counts is the work, however busy the machine is.
    deadline, clock = (DEADLINE, time.monotonic) if case.is_slow else (60.0, time.process_time)
    if case.outcome is errors.RateLimited:
        deadline = 10.0  # what a service asks to wait for is compared with it
    threads = set(threading.enumerate())
    with HostileServer(case.script) as server, patch.object(transport, "MAX_BODY_BYTES", MAX_BODY):
        fetcher = Fetcher(server.url, TOKEN, cache=folder, deadline=deadline, sleep=lambda _: None)
        began = clock()
        with traced_peak() as peaks:
            result = _outcome(fetcher, case)
        seconds = clock() - began
        begun = set(threading.enumerate()) - threads
        for thread in begun:
            if thread.name.startswith("aatoolkit"):
                thread.join(SLACK)
        running = {left.name for left in begun if left.is_alive()}
        fetcher.close()
        all_let_go = server.gone()
    return Trial(
        result,
        len(server.heads),
        seconds,
        deadline,
        *peaks,
        tuple(sorted(name for name in running if name.startswith("aatoolkit"))),
        all_let_go,
        open_sockets(server.port),
    )


def _outcome(fetcher: Fetcher, case: Case) -> Any:
    """The JSON of the last answer, or the error."""
    result: Any = None
    for turn in range(case.calls):
        if turn:
            time.sleep(case.pause)
        try:
            result = ask(fetcher, str(turn))
        except errors.FetchError as error:
            result = error
    return result
