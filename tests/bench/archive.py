"""What an archive costs: adding, bytes, and one host's series among those of many.

Run by hand, from the repository::

    python tests/bench/archive.py --hosts 100 --days 3

It adds 17 sections of synthetic hosts on several days from responses at hand, compacts, and
reads. Printed are responses a second
past the network, the memory, the bytes as a multiple of the same bodies compressed by zstd, and
the time of one host's series and of a sum over everything, before and after compaction.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import figures
import pyarrow as pa

import aatoolkit as aa
from aatoolkit.payload import Payload

ONE_HOST = """SELECT date, max_by(mention_count, fetched_at) FROM overview_trend
    WHERE host = 'host00000.example' GROUP BY date ORDER BY date"""
ALL_HOSTS = "SELECT host, sum(mention_count), sum(answer_count) FROM overview_trend GROUP BY host"


def responses(hosts: int, days: int) -> Iterator[Payload]:
    """The demonstration's 17 sections as if of many hosts and days, each body another."""
    project = aa.demo()
    base = [project.fetch(name, days=7) for name in aa.sections.names()]
    for day in range(days):
        for number in range(hosts):
            host = f"host{number:05d}.example"
            for payload in base:
                moment = payload.fetched_at + timedelta(days=day)
                body = payload.body.replace(b"acme.example", host.encode())
                yield replace(payload, body=body, host=host, fetched_at=moment)


def reading(archive: aa.Archive) -> dict[str, float]:
    """The seconds of two questions in SQL, and of a history as a frame."""
    contenders = {
        "one host's series": lambda: archive.sql(ONE_HOST).fetchall(),
        "a sum over everything": lambda: archive.sql(ALL_HOSTS).fetchall(),
        "one host's history": lambda: archive.history(
            "overview", "overview_trend", hosts="host00000.example"
        ),
    }
    return figures.turns(contenders, 5, time.perf_counter)


def main() -> None:
    """Add, read, compact, and read again."""
    parser = figures.parser(__doc__)
    add = parser.add_argument
    add("--hosts", type=int, default=100, help="hosts (default: %(default)s)")
    add("--days", type=int, default=3, help="days (default: %(default)s)")
    options = parser.parse_args()
    result = figures.Figures("archive")

    def show(what: str, value: float, unit: str) -> None:
        print(f"  {what:<42} {value:14,.3f} {unit}")
        result.add(what, value, unit, hosts=options.hosts, days=options.days)

    codec = pa.Codec("zstd", 9)
    packed = sum(len(codec.compress(p.body, asbytes=True)) for p in responses(options.hosts, 1))
    packed *= options.days
    with tempfile.TemporaryDirectory() as folder:
        archive = aa.Archive(Path(folder, "history"))
        archive.add(responses(1, 1), progress=False)
        wall, cpu = time.perf_counter(), time.process_time()
        report = archive.add(responses(options.hosts, options.days), progress=False)
        show("seconds a response", (time.perf_counter() - wall) / report.responses, "s")
        show("seconds of this process", (time.process_time() - cpu) / report.responses, "s")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        show("memory of the coordinator, at its peak", peak, "bytes")
        before = reading(archive)
        archive.compact(keep_hours=0)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        show("bytes after compaction, of zstd bodies", size / packed, "x")
        for what, seconds in reading(archive).items():
            show(what, seconds, "s")
            show(f"{what}, compacted / uncompacted", seconds / before[what], "x")
        assert archive.verify()
    result.write(options.json)


if __name__ == "__main__":
    main()
