"""What the cache costs and saves, beside requests and a stock requests-cache session.

Run by hand, from the repository::

    python tests/bench/cache.py
    python tests/bench/cache.py --responses 102 --latency 0.02 --repeats 3

Three tables of ratios within one run: a hit of 1 MB to DataFrames beside normalising the same
bytes; cached responses, one thread; responses of a service that takes its time, many workers
beside one after the other. The responses are synthetic and come from a process of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import answers
import figures
import requests
import requests_cache

import aatoolkit as aa

TOKEN = "token-of-the-bench"
LONG = "long.example"
Question = tuple[str, str]
Ask = Callable[[Question], object]


async def serve(latency: float, size: int) -> None:
    """Answer every request after a while: 1 MB of chats for one host, else about a size."""
    long, short = answers.answer(10**6), json.dumps({"filler": "x" * size}).encode()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(latency)
                body = long if LONG.encode() in head.split(b" ", 2)[1] else short
                head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                writer.write(head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


def ours(base: str, folder: Path, workers: int) -> Ask:
    client = aa.Client(base, TOKEN, cache=folder, workers=workers)
    return lambda question: client.project(question[0]).fetch(question[1])


def over(session: requests.Session, base: str, workers: int) -> Ask:
    session.mount(base, requests.adapters.HTTPAdapter(pool_maxsize=workers))
    session.headers["Authorization"] = f"Bearer {TOKEN}"

    def ask(question: Question) -> bytes:
        url = f"{base}/api/domains/{question[0]}/agent-analytics"
        return session.get(url, params={"section": question[1], "days": 30}).content

    return ask


MAKERS: dict[str, Callable[[str, Path, int], Ask]] = {
    "plain requests": lambda base, _, workers: over(requests.Session(), base, workers),
    "stock CachedSession": lambda base, folder, workers: over(
        requests_cache.CachedSession(str(folder / "stock")), base, workers
    ),
    "aatoolkit": ours,
}


def run(ask: Ask, questions: list[Question], workers: int = 1) -> None:
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(ask, questions))


def hits(base: str, folder: Path, repeats: int, result: figures.Figures) -> None:
    """A cached response of 1 MB, as every DataFrame of its section."""
    project = aa.Client(base, TOKEN, cache=folder / "hit").project(LONG)
    body = project.fetch("chats").body
    contenders = {
        "normalize": lambda: [*aa.normalize("chats", body).items()],
        "hit to payload": lambda: project.fetch("chats"),
        "hit to frames": lambda: [*project.read("chats").items()],
    }
    result.ratios("a hit of 1 MB", figures.turns(contenders, repeats), "normalize")


def main() -> None:
    """Start the service, print the three tables, stop it."""
    parser = figures.parser(__doc__)
    add = parser.add_argument
    add("--responses", type=int, default=510, help="how many questions (default: %(default)s)")
    add("--size", type=int, default=10_000, help="bytes of a response (default: %(default)s)")
    add("--latency", type=float, default=0.05, help="seconds of a response (default: %(default)s)")
    add("--workers", type=int, default=16, help="at once (default: %(default)s)")
    add("--repeats", type=int, default=5, help="turns of each contender (default: %(default)s)")
    add("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.latency, options.size))
        return
    warnings.simplefilter("ignore", aa.errors.SchemaDriftWarning)
    sections = aa.sections.names()
    questions = [(f"host-{n // 17}.example", sections[n % 17]) for n in range(options.responses)]
    result = figures.Figures("cache")
    arguments = ["--serve", "--latency", f"{options.latency}", "--size", f"{options.size}"]
    command = [sys.executable, __file__, *arguments]
    with (
        tempfile.TemporaryDirectory() as place,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service,
    ):
        try:
            assert service.stdout is not None
            base, folder = f"http://127.0.0.1:{int(service.stdout.readline())}", Path(place)
            hits(base, folder, 3 * options.repeats, result)

            cached = {name: MAKERS[name](base, folder / name, 16) for name in [*MAKERS][1:]}
            for ask in cached.values():
                run(ask, questions, 16)
            contenders = {name: partial(run, cached[name], questions) for name in cached}
            seconds = figures.turns(contenders, options.repeats, time.perf_counter)
            result.ratios(f"{len(questions)} cached", seconds, "stock CachedSession")

            def fetch(name: str, workers: int) -> None:
                with tempfile.TemporaryDirectory(dir=folder) as empty:
                    run(MAKERS[name](base, Path(empty), workers), questions, workers)

            contenders = {name: partial(fetch, name, options.workers) for name in MAKERS}
            contenders["one by one"] = partial(fetch, "aatoolkit", 1)
            seconds = figures.turns(contenders, 1, time.perf_counter)
            which = {"workers": options.workers}
            result.ratios(f"{len(questions)} fetched", seconds, "one by one", **which)
        finally:
            service.kill()
    result.write(options.json)


if __name__ == "__main__":
    main()
