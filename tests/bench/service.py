"""What the reference service costs: by size of the store, with one client.

Run by hand, from the repository::

    python tests/bench/service.py
    python tests/bench/service.py --answers 5000 --turns 2

It writes one synthetic store of each size and serves each by ``aatoolkit serve`` in a process of
its own. Three tables:

* start and memory: until the address is printed and the first request is answered;
* requests that need no store, such as an address that does not exist, on a kept connection;
* each section at each size, the servers in turns; a turn asks of a scope that was not asked of
  before (all engines but some), so that nothing of the answer is there yet. The ratio is that to
  the smallest store.

Times are of the wall and so of what else the machine does; ``cpu`` is the processor time of the
server alone. Ratios between columns are of turns taken side by side.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parent))
import figures

TOKEN = "token-of-the-bench"
HOST = "acme.example"
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Accept-Encoding": "gzip"}
API = f"/api/domains/{HOST}"
MB = 1 << 20


class Server:
    """A served store: its process, and a connection that is kept."""

    def __init__(self, folder: Path) -> None:
        began = time.perf_counter()
        environment = {**os.environ, "AATOOLKIT_TOKEN": TOKEN}
        command = [sys.executable, "-m", "aatoolkit", "serve", str(folder), "--port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if found is None:
            raise SystemExit(f"the service did not start: {line}")
        self.port = int(found[1])
        self.started = time.perf_counter() - began
        self.connection = self.connect()
        self.used = time.monotonic()
        self.get("/nothing")
        self.start_cpu = self.cpu()
        self.start_memory = self.memory()

    def connect(self) -> http.client.HTTPConnection:
        """A new connection; one is for one thread."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)

    def get(self, path: str, connection: http.client.HTTPConnection | None = None) -> bytes:
        """The body at a path; an error of the service ends the run."""
        if connection is None:
            # The service closes a connection that is idle for five seconds.
            if time.monotonic() - self.used > 3:
                self.connection.close()
            connection = self.connection
        connection.request("GET", path, headers=HEADERS)
        answer = connection.getresponse()
        body = answer.read()
        self.used = time.monotonic()
        if answer.status not in (200, 404):
            raise SystemExit(f"{path}: {answer.status} {body[:300]!r}")
        return body

    def cpu(self) -> float:
        """Processor seconds of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, peak: bool = False) -> float:
        """Resident bytes of the process: now, or at their peak."""
        name = "VmHWM" if peak else "VmRSS"
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024.0 for line in lines if line.startswith(name))

    def close(self) -> None:
        """End the process."""
        self.connection.close()
        self.process.terminate()
        self.process.wait(20)
        assert self.process.stderr is not None
        self.process.stderr.close()


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        yield server
    finally:
        server.close()


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def path_of(section: str, days: int = 30, engines: tuple[str, ...] = ()) -> str:
    query = f"section={section}&days={days}"
    return f"{API}/agent-analytics?{query}" + (
        f"&engine={quote(','.join(engines))}" if engines else ""
    )


def scopes(server: Server) -> list[tuple[str, ...]]:
    """Subsets of the engines, the large ones first."""
    options = json.loads(_plain(server.get(f"{API}/scope-options")))
    engines = [entry["id"] for entry in options["engines"]]
    return [
        chosen
        for size in range(len(engines) - 1, 0, -1)
        for chosen in itertools.combinations(engines, size)
    ]


def _plain(body: bytes) -> bytes:
    import gzip

    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


# -- the tables ------------------------------------------------------------------------------


def starts(folders: dict[int, Path], turns: int, found: figures.Figures) -> None:
    taken: dict[int, list[Server]] = {answers: [] for answers in folders}
    for _ in range(turns):
        for answers, folder in folders.items():
            with served(folder) as server:
                taken[answers].append(server)
    print("start: until the first request is answered; memory after it")
    for answers, servers in taken.items():
        wall = median(server.started for server in servers)
        cpu = median(server.start_cpu for server in servers)
        held = median(server.start_memory for server in servers)
        print(f"  {answers:>9,} answers{wall:9.2f} s {cpu:9.2f} s cpu{held / MB:9.0f} MB")
        found.add("start", wall, "s", answers=answers)
        found.add("start, processor time", cpu, "s", answers=answers)
        found.add("memory after the start", held, "bytes", answers=answers)


def requests_alone(server: Server, repeats: int, found: figures.Figures) -> None:
    server.get(path_of("actions"))
    print("\none request on a kept connection: median, and the server's processor time")
    for name, path in (("an empty request", "/nothing"), ("an answer kept", path_of("actions"))):
        before = server.cpu()
        times = [seconds(lambda path=path: server.get(path)) for _ in range(repeats)]
        cpu = (server.cpu() - before) / repeats
        print(f"  {name:20}{median(times) * 1e3:9.2f} ms{cpu * 1e3:9.2f} ms cpu")
        found.add(name, median(times), "s")
        found.add(f"{name}, processor time", cpu, "s")


def sections(servers: dict[int, Server], turns: int, found: figures.Figures) -> None:
    chosen = scopes(next(iter(servers.values())))[:turns]
    names = json.loads(_plain(next(iter(servers.values())).get(f"{API}/agent-analytics?days=7")))
    taken: dict[tuple[str, int], list[float]] = {}
    for engines in chosen:
        order = list(names["sections"])
        random.Random(repr(engines)).shuffle(order)
        for name, (answers, server) in itertools.product(order, servers.items()):
            path = path_of(name, 30, engines)
            taken.setdefault((name, answers), []).append(seconds(lambda s=server, p=path: s.get(p)))
    first = min(servers)
    print("\na section of a new scope: median milliseconds, and the ratio to the smallest store")
    print(f"{'':16}" + "".join(f"{answers:>18,}" for answers in servers))
    for name in names["sections"]:
        cells = ""
        for answers in servers:
            spent = median(taken[name, answers])
            ratio = spent / median(taken[name, first])
            cells += f"{spent * 1e3:10.1f} {ratio:6.2f}x"
            found.add("a section", spent, "s", section=name, answers=answers)
            found.add("a section / that of the smallest", ratio, "x", section=name, answers=answers)
        print(f"{name:16}{cells}")
    for answers, server in servers.items():
        found.add("memory after all sections", server.memory(), "bytes", answers=answers)
        found.add("peak memory", server.memory(peak=True), "bytes", answers=answers)
        print(
            f"  memory at {answers:,} answers: {server.memory() / MB:.0f} MB,"
            f" at its peak {server.memory(peak=True) / MB:.0f} MB"
        )


def main() -> None:
    """Write the stores, serve them, print the tables."""
    parser = figures.parser(__doc__)
    add = parser.add_argument
    add("--answers", type=int, nargs="+", default=[5000, 200_000], metavar="N", help="store sizes")
    add("--turns", type=int, default=5, help="turns of each section (default: %(default)s)")
    add("--only", nargs="+", choices=("start", "requests", "sections"))
    this = parser.parse_args()
    wanted = this.only or ["start", "requests", "sections"]
    found = figures.Figures("service")
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        folders = {answers: _written(Path(place), answers) for answers in sorted(this.answers)}
        if "start" in wanted:
            starts(folders, max(1, this.turns // 2), found)
        if {"requests", "sections"} & {*wanted}:
            servers = {n: stack.enter_context(served(folder)) for n, folder in folders.items()}
            if "requests" in wanted:
                requests_alone(servers[min(servers)], 300, found)
            if "sections" in wanted:
                sections(servers, this.turns, found)
    found.write(this.json)


def _written(place: Path, answers: int) -> Path:
    from aatoolkit.service import write_synthetic_store

    write_synthetic_store(place / str(answers), answers=answers)
    return place / str(answers)


if __name__ == "__main__":
    main()
