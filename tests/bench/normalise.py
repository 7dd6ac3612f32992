"""How long it takes to make tables of an answer, side by side, as ratios to `orjson.loads`.

Run by hand, from the repository::

    python tests/bench/normalise.py
    python tests/bench/normalise.py --sizes 100kB 10MB --repeats 9 --only shred json_normalize

Every contender makes the same three tables of a synthetic chats answer: answers, mentions and
citations, the latter two with their answer's id. (``shred`` makes all tables there are; ``no
frames yet`` is ``normalize`` before anybody asks for a DataFrame.) The
contenders take turns within one run, so that what else the machine does hits all of them; a
figure is the median of the contender's time over the median of the floor's, and the floor is
`orjson.loads` of the same bytes, which makes no tables at all.

Memory is how far the peak of a process that does nothing else rises above what it holds before
the call, the body included, as a multiple of the body.

Contenders that are not installed are left out, and so is what cannot read an answer; the last
lines say why. polars and dlt are in no extra: install them beside the package to see them.
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).parent))
import answers
import figures

UNITS = {"kB": 10**3, "MB": 10**6}
CHILDREN = ("mentions", "citations")


def floor(body: bytes) -> Any:
    return orjson.loads(body)


def shred(body: bytes) -> Any:
    from aatoolkit.jsontree.shred import shred

    return shred(body)


def normalize(body: bytes) -> Any:
    import aatoolkit as aa

    tables = aa.normalize("chats", body)
    return [tables[name] for name in tables]


def no_frames(body: bytes) -> Any:
    import aatoolkit as aa

    return aa.normalize("chats", body)


def json_normalize(body: bytes) -> Any:
    import pandas as pd

    chats = orjson.loads(body)["chats"]
    return [
        pd.json_normalize([{k: v for k, v in chat.items() if k not in CHILDREN} for chat in chats]),
        *(pd.json_normalize(chats, name, ["chatId"], record_prefix="_") for name in CHILDREN),
    ]


def plain_loop(body: bytes) -> Any:
    import pandas as pd

    chats: list[dict[str, Any]] = []
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in CHILDREN}
    for chat in orjson.loads(body)["chats"]:
        flat = {key: value for key, value in chat.items() if key not in (*CHILDREN, "answer")}
        flat.update((f"answer.{key}", value) for key, value in chat["answer"].items())
        chats.append(flat)
        for name in CHILDREN:
            rows[name] += [{"chatId": chat["chatId"], **row} for row in chat[name]]
    return [pd.DataFrame(chats), *map(pd.DataFrame, rows.values())]


def polars(body: bytes) -> Any:
    import polars as pl

    chats = pl.read_json(io.BytesIO(body)).select(pl.col("chats").explode()).unnest("chats")
    return [
        chats.drop(CHILDREN).unnest("answer"),
        *(
            chats.select("chatId", name).explode(name).unnest(name, separator=".")
            for name in CHILDREN
        ),
    ]


def duckdb(body: bytes) -> Any:
    import duckdb

    with tempfile.NamedTemporaryFile(suffix=".json") as file, duckdb.connect() as connection:
        file.write(body)
        file.flush()
        connection.execute(
            "CREATE TABLE chats AS SELECT unnest(chats, max_depth := 2)"
            " FROM read_json_auto(?, maximum_object_size := 1_000_000_000)",
            [file.name],
        )
        queries = ["SELECT * EXCLUDE (mentions, citations, answer), unnest(answer) FROM chats"]
        queries += [
            f"SELECT chatId, unnest({name}, max_depth := 2) FROM chats" for name in CHILDREN
        ]
        return [connection.execute(query).to_arrow_table() for query in queries]


def dlt(body: bytes) -> Any:
    os.environ.update(RUNTIME__DLTHUB_TELEMETRY="false", RUNTIME__LOG_LEVEL="CRITICAL")
    import dlt
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        pipeline = dlt.pipeline(
            "bench",
            pipelines_dir=folder,
            destination=dlt.destinations.filesystem(folder),
            dataset_name="bench",
        )
        pipeline.extract(
            orjson.loads(body)["chats"], table_name="chats", loader_file_format="parquet"
        )
        pipeline.normalize()
        return [pq.ParquetFile(path).read() for path in Path(folder).rglob("*.parquet")]


CONTENDERS: dict[str, Callable[[bytes], Any]] = {
    "orjson.loads": floor,
    "shred": shred,
    "normalize": normalize,
    "no frames yet": no_frames,
    "plain_loop": plain_loop,
    "json_normalize": json_normalize,
    "polars": polars,
    "duckdb": duckdb,
    "dlt": dlt,
}


def times(
    body: bytes, names: Iterable[str], repeats: int, excuses: dict[str, str]
) -> dict[str, float]:
    """The median seconds of each contender; those that fail give their reason instead."""
    taken: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repeats + 1):
        for name in [name for name in taken if name not in excuses]:
            gc.collect()
            start = time.perf_counter()
            try:
                CONTENDERS[name](body)
            except Exception as error:
                excuses[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[:1]}"
            if turn:  # the first is to warm up
                taken[name].append(time.perf_counter() - start)
    return {name: median(seconds) for name, seconds in taken.items() if name not in excuses}


def memory(name: str, kind: str, size: int) -> str:
    """How far a process of its own rises above its body, as a multiple of the body."""
    command = [sys.executable, __file__, "--rise", name, "--kinds", kind, "--sizes", f"{size}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"{float(done.stdout):.1f}" if done.returncode == 0 else "–"


def rise(name: str, kind: str, size: int) -> float:
    """The same, of this process."""
    CONTENDERS[name](answers.answer(10_000, kind))
    body = answers.answer(size, kind)
    gc.collect()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # what was the peak so far counts no more
    kept = CONTENDERS[name](body)
    risen = (_status("VmHWM") - before) / len(body)
    del kept
    return risen


def _status(name: str) -> int:
    """A figure of this process's memory, in bytes, as Linux keeps them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def compare(
    kind: str,
    sizes: list[int],
    names: list[str],
    repeats: int,
    weigh: bool,
    found: figures.Figures,
) -> None:
    """Print one table of ratios, and why some are not in it."""
    excuses: dict[str, str] = {}
    print(f"{kind} answers: time / orjson.loads" + (", peak / body" if weigh else ""))
    print(f"{'':16}" + "".join(f"{_size(size):>16}" for size in sizes))
    columns = []
    for size in sizes:
        failed: dict[str, str] = {}
        taken = times(answers.answer(size, kind), names, repeats, failed)
        ratios = {name: f"{seconds / taken['orjson.loads']:.2f}" for name, seconds in taken.items()}
        for name, seconds in taken.items():
            which = {"contender": name, "kind": kind, "bytes": size}
            found.add("time / orjson.loads", seconds / taken["orjson.loads"], "x", **which)
            found.add("time", seconds, "s", **which)
        peaks = {name: memory(name, kind, size) for name in taken} if weigh else {}
        for name, peak in peaks.items():
            if peak != "–":
                found.add("peak / body", float(peak), "x", contender=name, kind=kind, bytes=size)
        columns.append({name: f"{ratios[name]} {peaks.get(name, ''):>6}" for name in taken})
        excuses.update(failed)
    for name in names:
        print(f"{name:16}" + "".join(f"{column.get(name, '–'):>16}" for column in columns))
    for name, excuse in excuses.items():
        print(f"  {name} failed: {excuse}")


def _size(size: int) -> str:
    unit = "MB" if size >= UNITS["MB"] else "kB"
    return f"{size / UNITS[unit]:g} {unit}"


def _bytes(text: str) -> int:
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return int(float(text.removesuffix(unit)) * factor)
    return int(text)


def arguments() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = figures.parser(__doc__)
    add = parser.add_argument
    sizes, kinds = [10**5, 10**6, 10**7, 10**8], ["regular", "irregular"]
    add("--sizes", nargs="+", type=_bytes, default=sizes, metavar="SIZE", help="as 100kB or 10MB")
    add("--repeats", type=int, default=5, help="turns of each contender")
    add("--only", nargs="+", choices=CONTENDERS, default=CONTENDERS, help="these contenders alone")
    add("--kinds", nargs="+", choices=kinds, default=kinds, help="kinds of answers")
    add("--no-memory", action="store_true", help="take the time only")
    add("--rise", choices=CONTENDERS, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Compare, or measure the memory of one contender."""
    this = arguments()
    warnings.simplefilter("ignore")
    if this.rise:
        print(rise(this.rise, this.kinds[0], this.sizes[0]))
        return
    names = [name for name in CONTENDERS if name in {"orjson.loads", *this.only}]
    missing = {name for name in ("polars", "duckdb", "dlt") if not find_spec(name)} & {*names}
    if missing:
        print(f"not installed, left out: {', '.join(sorted(missing))}")
    names = [name for name in names if name not in missing]
    found = figures.Figures("normalise")
    for kind in this.kinds:
        compare(kind, this.sizes, names, this.repeats, not this.no_memory, found)
    found.write(this.json)


if __name__ == "__main__":
    main()
