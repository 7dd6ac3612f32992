"""How long it takes to make tables of a response, side by side, as ratios to `orjson.loads`.

Run by hand, from the repository::

    python tests/bench/normalise.py
    python tests/bench/normalise.py --sizes 100kB 10MB --repeats 9 --only shred json_normalize

Every contender makes the same three tables of a synthetic chats response: answers, mentions and
citations. (``shred`` makes all tables there are; ``no frames yet`` is ``normalize`` before anybody
asks for a DataFrame.) They take turns within one run; a figure is the median of the contender's
processor time over that of `orjson.loads` of the same bytes, which makes no tables at all. What
cannot read a response says why.

Memory is how far the peak of a process that does nothing else rises above what it holds before
the call, the body included, as a multiple of the body.
"""

from __future__ import annotations

import argparse
import gc
import io
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import answers
import figures
import orjson
import pandas as pd

import aatoolkit as aa

UNITS = {"kB": 10**3, "MB": 10**6}
CHILDREN = ("mentions", "citations")
FLOOR = "orjson.loads"


def json_normalize(body: bytes) -> Any:
    chats = orjson.loads(body)["chats"]
    return [
        pd.json_normalize([{k: v for k, v in chat.items() if k not in CHILDREN} for chat in chats]),
        *(pd.json_normalize(chats, name, ["chatId"], record_prefix="_") for name in CHILDREN),
    ]


def plain_loop(body: bytes) -> Any:
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


CONTENDERS: dict[str, Callable[[bytes], Any]] = {
    FLOOR: orjson.loads,
    "shred": aa.shred,
    "normalize": lambda body: [*aa.normalize("chats", body).items()],
    "no frames yet": lambda body: aa.normalize("chats", body),
    "plain_loop": plain_loop,
    "json_normalize": json_normalize,
    "polars": polars,
    "duckdb": duckdb,
}


def able(names: list[str], body: bytes) -> dict[str, Callable[[], Any]]:
    """The contenders that can read a body; those that cannot say why."""
    contenders = {}
    for name in names:
        try:
            CONTENDERS[name](body)
        except Exception as error:
            print(f"  {name} failed: {type(error).__name__}: {str(error).splitlines()[:1]}")
        else:
            contenders[name] = partial(CONTENDERS[name], body)
    return contenders


def memory(name: str, kind: str, size: int) -> float:
    """How far this process rises above the body that it holds, as a multiple of the body."""
    CONTENDERS[name](answers.answer(10_000, kind))
    body = answers.answer(size, kind)
    gc.collect()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # what was the peak so far counts no more
    kept = CONTENDERS[name](body)
    peak = (_status("VmHWM") - before) / len(body)
    del kept
    return peak


def _status(name: str) -> int:
    """A figure of this process's memory, in bytes, as Linux keeps them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _bytes(text: str) -> int:
    number, unit = text[:-2], text[-2:]
    return int(float(number) * UNITS[unit]) if unit in UNITS else int(text)


def main() -> None:
    """Compare, or measure the memory of one contender."""
    parser = figures.parser(__doc__)
    add = parser.add_argument
    sizes, kinds = [10**5, 10**6, 10**7, 10**8], ["regular", "irregular"]
    add("--sizes", nargs="+", type=_bytes, default=sizes, metavar="SIZE", help="as 100kB or 10MB")
    add("--repeats", type=int, default=5, help="turns of each contender")
    add("--only", nargs="+", choices=CONTENDERS, default=[*CONTENDERS], help="these alone")
    add("--kinds", nargs="+", choices=kinds, default=kinds, help="kinds of responses")
    add("--no-memory", action="store_true", help="take the time only")
    add("--rise", choices=CONTENDERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.rise:
        print(memory(options.rise, options.kinds[0], options.sizes[0]))
        return
    result = figures.Figures("normalise")
    names = [name for name in CONTENDERS if name in {FLOOR, *options.only}]
    for kind in options.kinds:
        for size in options.sizes:
            which = {"kind": kind, "bytes": size}
            contenders = able(names, answers.answer(size, kind))
            result.ratios("time", figures.turns(contenders, options.repeats), FLOOR, **which)
            for name in [] if options.no_memory else contenders:
                command = [sys.executable, __file__, "--rise", name, "--kinds", kind, "--sizes"]
                process = subprocess.run([*command, f"{size}"], capture_output=True, check=True)
                print(f"  {name:32}{float(process.stdout):10.1f} x the body, at its peak")
                result.add("peak / body", float(process.stdout), "x", contender=name, **which)
    result.write(options.json)


if __name__ == "__main__":
    main()
