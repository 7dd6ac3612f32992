"""One misbehaviour tried; as a program, all of them, as a table.

``python tests/hostile/trial.py [WORD]`` prints what each came to, how long it took against its
deadline, and what it took of memory; of those whose name holds the word, if one is given.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile.cases import CASES, DEADLINE, MAX_BODY, TOKEN, Case
from hostile.measure import open_sockets, traced_peak
from hostile.server import SLACK, HostileServer

from aatoolkit import errors
from aatoolkit.http import Fetcher
from aatoolkit.payload import Request


@dataclass(frozen=True)
class Trial:
    """What a misbehaviour came to, and what it took and left: seconds, bytes and counts."""

    found: Any
    asks: int
    seconds: float
    deadline: float
    memory: int
    threads: tuple[str, ...]
    all_let_go: bool
    sockets: int


def tried(case: Case, folder: Path) -> Trial:
    """Ask a server that misbehaves in this way."""
    deadline = DEADLINE if case.is_slow else 10.0
    threads = set(threading.enumerate())
    with HostileServer(case.script) as server:
        fetcher = Fetcher(
            server.url,
            TOKEN,
            cache=folder,
            deadline=deadline,
            max_body=MAX_BODY,
            sleep=lambda _: None,
        )
        began = time.monotonic()
        with traced_peak() as peaks:
            found = _outcome(fetcher, case)
        seconds = time.monotonic() - began
        begun = set(threading.enumerate()) - threads
        for thread in begun:
            if thread.name.startswith("aatoolkit"):
                thread.join(SLACK)
        running = {each.name for each in begun if each.is_alive()}
        fetcher.close()
        all_let_go = server.gone()
    return Trial(
        found,
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
    found: Any = None
    for turn in range(case.calls):
        if turn:
            time.sleep(case.pause)
        params = {"section": "urls", "topic": str(turn)}
        try:
            found = fetcher.get(
                Request("agent-analytics", "acme.example", "urls", params=params)
            ).json
        except errors.FetchError as error:
            found = error
    return found


def _words_of(found: Any) -> str:
    if not isinstance(found, errors.FetchError):
        return "an answer"
    word = getattr(found, "problem", None) or found.status or ""
    return f"{type(found).__name__} {word}".strip()


def main(word: str = "") -> None:
    """Print the table."""
    print(f"{'misbehaviour':44} {'outcome':28} {'asks':>4} {'s':>6} {'of':>5} {'MiB':>5}")
    tries = []
    for name, case in CASES.items():
        if word not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            trial = tried(case, Path(folder))
        tries.append(trial)
        print(
            f"{ascii(name)[1:-1]:44.44} {_words_of(trial.found):28.28} {trial.asks:4} "
            f"{trial.seconds:6.2f} {trial.deadline:5.1f} {trial.memory / 2**20:5.1f}"
        )
    slow = [trial.seconds - trial.deadline for trial in tries if trial.deadline == DEADLINE]
    print(
        f"{len(tries)} misbehaviours; of the {len(slow)} that reach their deadline, the last "
        f"ended {max(slow, default=0):.3f} s after it"
    )


if __name__ == "__main__":
    main(*sys.argv[1:2])
