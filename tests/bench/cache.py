"""What the cache costs and saves, side by side with requests and a stock requests-cache session.

Run by hand, from the repository::

    python tests/bench/cache.py
    python tests/bench/cache.py --answers 102 --latency 0.02 --repeats 3

Three tables, each of ratios within one run:

* a cache hit of 1 MB to DataFrames, against reading the same bytes by a bare ``SELECT`` and
  normalising them;
* warm answers as payloads, against a `requests_cache.CachedSession` as it comes;
* cold answers of a service that takes its time, many workers against one after the other; beside
  it the same with plain requests (nothing kept) and with a stock cached session.

The answers are synthetic, and come from a server in a process of its own on this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import requests
import requests_cache

sys.path.insert(0, str(Path(__file__).parent))
import answers
import figures

import aatoolkit as aa

TOKEN = "token-of-the-bench"
SECTIONS = aa.sections.names()
Question = tuple[str, str]


# -- the service -----------------------------------------------------------------------------


async def serve(latency: float, size: int) -> None:
    """Answer every request after a while, with JSON of about a size."""
    filler = "x" * size

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(latency)
                path = head.split(b" ", 2)[1].decode()
                body = json.dumps({"path": path, "filler": filler}).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


# -- who asks --------------------------------------------------------------------------------


def questions(count: int) -> list[Question]:
    """Hosts and sections: as many different questions as wanted."""
    hosts = (f"host-{n}.example" for n in range(count))
    every = ((host, section) for host in hosts for section in SECTIONS)
    return [question for question, _ in zip(every, range(count), strict=False)]


def ours(base: str, folder: Path, workers: int) -> Callable[[Question], bytes]:
    client = aa.Client(base, TOKEN, cache=folder, workers=workers)
    projects: dict[str, aa.Project] = {}

    def ask(question: Question) -> bytes:
        host, section = question
        project = projects.setdefault(host, client.project(host))
        return project.fetch(section).body

    return ask


def over(session: requests.Session, base: str, workers: int) -> Callable[[Question], bytes]:
    adapter = requests.adapters.HTTPAdapter(pool_maxsize=workers)
    session.mount(base, adapter)
    session.headers["Authorization"] = f"Bearer {TOKEN}"

    def ask(question: Question) -> bytes:
        host, section = question
        url = f"{base}/api/domains/{host}/agent-analytics"
        return session.get(url, params={"section": section, "days": 30}).content

    return ask


def plain(base: str, _: Path, workers: int) -> Callable[[Question], bytes]:
    return over(requests.Session(), base, workers)


def stock(base: str, folder: Path, workers: int) -> Callable[[Question], bytes]:
    return over(requests_cache.CachedSession(str(folder / "stock")), base, workers)


def seconds(ask: Callable[[Question], Any], listed: Iterable[Question], workers: int) -> float:
    """How long all questions take; asked in this thread if there is one worker."""
    began = time.perf_counter()
    if workers == 1:
        for question in listed:
            ask(question)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(ask, listed))
    return time.perf_counter() - began


# -- what is compared ------------------------------------------------------------------------


def hit_to_frames(folder: Path, base: str, repeats: int, found: figures.Figures) -> None:
    """A kept answer of 1 MB, as every DataFrame of its section."""
    from aatoolkit.http import ResponseCache, Secret

    body = answers.answer(10**6)
    client = aa.Client(base, TOKEN, cache=folder / "hit")
    project = client.project("acme.example")
    project.fetch("chats")
    cache = ResponseCache(folder / "hit", Secret(TOKEN))
    (kept,) = cache
    cache.put(replace(kept, body=body))
    cache.close()
    with closing(sqlite3.connect(folder / "raw.sqlite", isolation_level=None)) as raw:
        raw.execute("CREATE TABLE answers (key TEXT PRIMARY KEY, body BLOB)")
        raw.execute("INSERT INTO answers VALUES ('a', ?)", (body,))

        def read() -> bytes:
            (found,) = raw.execute("SELECT body FROM answers WHERE key = 'a'").fetchone()
            return bytes(found)

        def frames(tables: aa.Tables) -> list[Any]:
            return [tables[name] for name in tables]

        contenders: dict[str, Callable[[], Any]] = {
            "raw read": read,
            "raw read + normalise": lambda: frames(aa.normalize("chats", read())),
            "hit to payload": lambda: project.fetch("chats"),
            "hit to frames": lambda: frames(project.read("chats")),
        }
        assert project.fetch("chats").body == body
        taken = in_turns(contenders, repeats)
    floor = taken["raw read + normalise"]
    print(f"a hit of {len(body) / 1e6:.2f} MB: time / (raw read + normalise)")
    for name, spent in taken.items():
        print(f"  {name:24}{spent * 1e3:9.2f} ms{spent / floor:8.2f}")
        found.add("a hit / (raw read + normalise)", spent / floor, "x", contender=name)


def in_turns(contenders: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(repeats + 1):
        for name, contender in contenders.items():
            began = time.perf_counter()
            contender()
            if turn:  # the first is to warm up
                taken[name].append(time.perf_counter() - began)
    return {name: median(spent) for name, spent in taken.items()}


def warm(
    base: str, folder: Path, listed: list[Question], repeats: int, found: figures.Figures
) -> None:
    """Answers that are kept, as payloads."""
    made = {"stock CachedSession": stock, "aatoolkit": ours}
    made_by = {name: make(base, folder / f"warm {name}", 16) for name, make in made.items()}
    for ask in made_by.values():
        seconds(ask, listed, 16)
    contenders = {
        name: lambda ask=ask: seconds(ask, listed, 1)  # type: ignore[misc]
        for name, ask in made_by.items()
    }
    taken = in_turns(contenders, repeats)
    print(f"\n{len(listed)} warm answers, one thread: times as fast as a stock CachedSession")
    for name, spent in taken.items():
        print(f"  {name:24}{spent * 1e3:9.1f} ms{taken['stock CachedSession'] / spent:8.1f}")
        faster = taken["stock CachedSession"] / spent
        found.add("warm: times as fast as stock", faster, "x", contender=name, answers=len(listed))


def cold(
    base: str,
    folder: Path,
    listed: list[Question],
    workers: int,
    repeats: int,
    found: figures.Figures,
) -> None:
    """Answers that have to be fetched: one after the other, and many at once."""
    made = {"plain requests": plain, "stock CachedSession": stock, "aatoolkit": ours}
    share = listed[: max(1, len(listed) // 5)]
    alone = seconds(ours(base, folder / "alone", 1), share, 1) * len(listed) / len(share)
    taken: dict[str, list[float]] = {name: [] for name in made}
    for turn in range(repeats):
        for name, make in made.items():
            ask = make(base, folder / f"cold {turn} {name}", workers)
            taken[name].append(seconds(ask, listed, workers))
    print(
        f"\n{len(listed)} cold answers, {workers} workers: times as fast as aatoolkit one by one\n"
        f"  {'one by one':24}{alone:9.2f} s  (from {len(share)} of them)"
    )
    for name, spent in taken.items():
        print(f"  {name:24}{median(spent):9.2f} s {alone / median(spent):8.1f}")
        which = {"contender": name, "answers": len(listed), "workers": workers}
        found.add("cold: times as fast as one by one", alone / median(spent), "x", **which)


def main() -> None:
    """Start the service, print the three tables, stop it."""
    parser = figures.parser(__doc__)
    add = parser.add_argument
    add("--answers", type=int, default=510, help="how many questions (default: %(default)s)")
    add("--size", type=int, default=10_000, help="bytes of each answer (default: %(default)s)")
    add("--latency", type=float, default=0.05, help="seconds of each (default: %(default)s)")
    add("--workers", type=int, default=16, help="at once (default: %(default)s)")
    add("--repeats", type=int, default=5, help="turns of each contender (default: %(default)s)")
    add("--serve", action="store_true", help=argparse.SUPPRESS)
    this = parser.parse_args()
    if this.serve:
        asyncio.run(serve(this.latency, this.size))
        return
    warnings.simplefilter("ignore", aa.errors.SchemaDriftWarning)
    given = ["--latency", f"{this.latency}", "--size", f"{this.size}"]
    with (
        tempfile.TemporaryDirectory() as place,
        subprocess.Popen(
            [sys.executable, __file__, "--serve", *given], stdout=subprocess.PIPE, text=True
        ) as service,
    ):
        try:
            assert service.stdout is not None
            base = f"http://127.0.0.1:{int(service.stdout.readline())}"
            folder, listed = Path(place), questions(this.answers)
            found = figures.Figures("cache")
            hit_to_frames(folder, base, 3 * this.repeats, found)
            warm(base, folder, listed, this.repeats, found)
            cold(base, folder, listed, this.workers, this.repeats, found)
            found.write(this.json)
        finally:
            service.kill()


if __name__ == "__main__":
    main()
