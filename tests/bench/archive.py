"""What an archive costs: adding, bytes, and one host's series among many rows.

Run by hand, from the repository::

    python tests/bench/archive.py add --hosts 100
    python tests/bench/archive.py add --hosts 100 --workers 0
    python tests/bench/archive.py query --rows 1000000

``add`` adds 17 sections of synthetic hosts from responses at hand, normalised by two processes, and
compacts; with ``--workers 0`` by this process alone, which says what a response costs in CPU time.
It says responses a second past the network, the share of the time that commits take, the memory,
and the bytes against the same bodies compressed by zstd. ``query`` writes rows of one dated
table straight into an archive, and times one host's series, and a sum over everything.

Times are those of a machine in one hour; ratios are of one run.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parent))
import figures

import aatoolkit as aa
from aatoolkit.archive import derive, runs, schema
from aatoolkit.archive.responses import RESPONSES, SCHEMA
from aatoolkit.archive.schema import CONTEXT_FIELDS, StoredTable, bare, fitted
from aatoolkit.archive.store import ArchiveStore
from aatoolkit.payload import Payload

FIRST = datetime(2026, 1, 1, 6, tzinfo=UTC)
DAYS = 90
WINDOW = 30


def size_of(folder: Path, suffix: str = "") -> int:
    return sum(path.stat().st_size for path in folder.rglob(f"*{suffix}") if path.is_file())


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed(act: Callable[[], object], repeats: int = 3) -> float:
    """The median time of an act, in seconds."""
    found = []
    for _ in range(repeats):
        begun = time.perf_counter()
        act()
        found.append(time.perf_counter() - begun)
    return median(found)


# -- adding ------------------------------------------------------------------------------------


def responses(hosts: int) -> Iterator[Payload]:
    """The demonstration's 17 sections as if of many hosts, each body another."""
    project = aa.demo()
    base = [project.fetch(name, days=7) for name in aa.sections.names()]
    for number in range(hosts):
        host = f"host{number:05d}.example"
        for payload in base:
            body = payload.body.replace(b"acme.example", host.encode())
            yield replace(payload, body=body, host=host)


def add(hosts: int, found: figures.Figures, workers: int) -> None:
    spent = [0.0]
    append = ArchiveStore.append

    def counted(*arguments: object, **options: object) -> None:
        begun = time.perf_counter()
        append(*arguments, **options)  # type: ignore[arg-type]
        spent[0] += time.perf_counter() - begun

    ArchiveStore.append = counted  # type: ignore[method-assign]
    codec = pa.Codec("zstd", 9)
    packed = sum(len(codec.compress(p.body, asbytes=True)) for p in responses(min(hosts, 5)))
    packed = packed * hosts // min(hosts, 5)
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        pool = None
        if workers:
            pool = stack.enter_context(ProcessPoolExecutor(workers, mp_context=spawn))
            list(pool.map(abs, range(8)))
        place = Path(folder, "history")
        archive = aa.Archive(place)
        archive.add(responses(1), executor=pool, progress=False)
        before, spent[0] = peak(), 0.0
        begun, cpu = time.perf_counter(), time.process_time()
        report = archive.add(responses(hosts), executor=pool, progress=False)
        took, cpu = time.perf_counter() - begun, time.process_time() - cpu
        print(f"{report.responses} responses of {hosts} hosts in {took:.1f} s")
        rows = (
            ("responses a second", report.responses / took, "per s"),
            ("responses a CPU second of this process", report.responses / cpu, "per s"),
            ("commits, of the time", spent[0] / took, "x"),
            ("memory of the coordinator, grown by", peak() - before, "bytes"),
        )
        written = size_of(place)
        archive.compact(keep_hours=0)
        data, whole = size_of(place, ".zstd.parquet"), size_of(place)
        rows += (
            ("bytes before compaction, of zstd bodies", written / packed, "x"),
            ("bytes after compaction, of zstd bodies", whole / packed, "x"),
            ("of them in data files", data / packed, "x"),
        )
        assert archive.verify()
    for what, value, unit in rows:
        print(f"  {what:<42} {value:12,.3f} {unit}")
        found.add(what, value, unit, hosts=hosts)


# -- querying ----------------------------------------------------------------------------------


def fill(place: Path, rows: int, *, daily: bool = False) -> int:
    """Write fetches of many hosts straight into an archive; returns the number of hosts."""
    store = ArchiveStore(place)
    section = aa.sections.get("overview")
    wanted = StoredTable("overview", next(t for t in section if t.name == "overview_trend"))
    hosts = max(1, rows // (DAYS * WINDOW))
    run = runs.new_run()
    runs.log(store, run, "begun")
    schema.prepare(store, [wanted])
    delta = schema.ensure(store, wanted)
    columns = pa.schema(delta.schema().to_arrow())
    for name, kind in ((RESPONSES, SCHEMA), *derive.BESIDE.items()):
        store.create(name, kind)
    chance = np.random.default_rng(0)
    names = np.array([f"host{number:06d}.example" for number in range(hosts)])
    moments = [FIRST + timedelta(days=day) for day in range(DAYS)]
    by_month: dict[str, list[datetime]] = {}
    for moment in moments:
        by_month.setdefault(f"{moment:%Y-%m}{moment.day if daily else ''}", []).append(moment)
    for fetched in by_month.values():
        part = max(1, 2_000_000 // (len(fetched) * WINDOW))
        for start in range(0, hosts, part):
            some = names[start : start + part]
            table = _rows(some, fetched, run, chance)
            store.append(delta, fitted(table, columns))
            context = _context(some, fetched, run, 1)
            frames = {
                **context,
                "section": ["overview"] * len(context["host"]),
                "table": ["overview_trend"] * len(context["host"]),
                "rows": [WINDOW] * len(context["host"]),
                "states": ['{"states":[[["available",null,null],null]]}'] * len(context["host"]),
            }
            store.append(
                store.open(derive.FRAMES),
                pa.table(frames)
                .select(derive.BESIDE[derive.FRAMES].names)
                .cast(bare(derive.BESIDE[derive.FRAMES])),
            )
    runs.log(store, run, "committed", responses=hosts * DAYS, failed=0)
    return hosts


def _context(hosts: np.ndarray, fetched: list[datetime], run: str, each: int) -> dict[str, object]:
    count = len(hosts) * len(fetched) * each
    moments = np.tile(
        np.repeat(np.array([m.replace(tzinfo=None) for m in fetched], "datetime64[us]"), each),
        len(hosts),
    )
    ends = moments.astype("datetime64[D]")
    context: dict[str, object] = {
        "month": pa.array(moments.astype("datetime64[M]").astype(str)),
        "host": pa.array(np.repeat(hosts, len(fetched) * each)),
        "days": pa.array(np.full(count, 30)),
        "window_start": pa.array(ends - np.timedelta64(WINDOW - 1, "D")),
        "window_end": pa.array(ends),
        "fetched_at": pa.array(moments, pa.timestamp("us")).cast(pa.timestamp("us", tz="UTC")),
        "run": pa.array([run] * count),
        "sha256": pa.array(["0" * 64] * count),
    }
    for field in CONTEXT_FIELDS:
        context.setdefault(field.name, pa.nulls(count, field.type))
    return {field.name: context[field.name] for field in CONTEXT_FIELDS}


def _rows(
    hosts: np.ndarray, fetched: list[datetime], run: str, chance: np.random.Generator
) -> pa.Table:
    context = _context(hosts, fetched, run, WINDOW)
    ends = np.asarray(context["window_end"])
    count = len(ends)
    back = np.tile(np.arange(WINDOW - 1, -1, -1), len(hosts) * len(fetched))
    times = chance.integers(10, 60, count)
    return pa.table(
        {
            **context,
            "date": pa.array(ends.astype("datetime64[D]") - back.astype("timedelta64[D]")),
            "answer_count": pa.array(times),
            "mention_count": pa.array(chance.binomial(times, 0.4)),
        }
    )


def query(rows: int, found: figures.Figures, folder: Path | None) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as made:
        place = Path(made, "history")
        begun = time.perf_counter()
        hosts = fill(place, rows)
        archive = aa.Archive(place)
        total = hosts * DAYS * WINDOW
        print(f"{total:,} rows of {hosts:,} hosts written in {time.perf_counter() - begun:.0f} s")
        host = f"host{hosts // 2:06d}.example"
        sql = (
            "SELECT date, max_by(mention_count, fetched_at) FROM overview_trend "
            f"WHERE host = '{host}' GROUP BY date ORDER BY date"
        )
        whole = (
            "SELECT host, sum(mention_count), sum(answer_count) FROM overview_trend GROUP BY host"
        )

        def history() -> None:
            frame = archive.history("overview", "overview_trend", hosts=host)
            assert len(frame) == DAYS + WINDOW - 1

        def series() -> None:
            assert len(archive.sql(sql).fetchall()) == DAYS + WINDOW - 1

        def scan() -> None:
            assert len(archive.sql(whole).fetchall()) == hosts

        for what, act in (
            ("one host's series, in SQL", series),
            ("one host's history, as a frame", history),
            ("a sum over everything", scan),
        ):
            took = timed(act)
            print(f"  {what:<36} {took:8.3f} s")
            found.add(what, took, "s", rows=total)
        size = size_of(place / "tables")
        print(f"  {'bytes a row':<36} {size / total:8.2f}")
        found.add("bytes a row", size / total, "bytes", rows=total)


def compaction(rows: int, found: figures.Figures) -> None:
    """One host's series before and after compaction, of an archive written day by day."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(made, "history")
        hosts = fill(place, rows, daily=True)
        archive = aa.Archive(place)
        host = f"host{hosts // 2:06d}.example"
        sql = f"SELECT date, mention_count FROM overview_trend WHERE host = '{host}'"
        before = timed(lambda: archive.sql(sql).fetchall())
        archive.compact(keep_hours=0)
        after = timed(lambda: archive.sql(sql).fetchall())
        print(f"one host's series, compacted / uncompacted: {after / before:.2f}")
        found.add("compacted, of uncompacted", after / before, "x", rows=rows)


def main() -> None:
    parser = figures.parser(__doc__)
    parser.add_argument("what", choices=("add", "query"))
    parser.add_argument("--hosts", type=int, default=100, help="for add (default: 100)")
    parser.add_argument("--workers", type=int, default=2, help="for add (default: 2)")
    parser.add_argument("--rows", type=int, default=10**6, help="for query (default: 1,000,000)")
    parser.add_argument("--folder", type=Path, help="where query writes (default: a temporary one)")
    args = parser.parse_args()
    found = figures.Figures("archive")
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    if args.what == "add":
        add(args.hosts, found, args.workers)
    else:
        query(args.rows, found, args.folder)
        if args.rows <= 10**6:
            compaction(args.rows, found)
    found.write(args.json)


if __name__ == "__main__":
    main()
