"""Writers of an archive that are killed, or meet each other, each in a process of its own.

Run as ``python archive_crashing.py SCENARIO FOLDER …``; prints what happened as JSON. Processes are
forked before anything of an archive is loaded: its engine does not work after a fork.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from crashing import child

import aatoolkit as aa
from aatoolkit.payload import Payload
from aatoolkit.sections import SUM, Column, Profile, Section, Table, records

HOSTS = ("a.example", "b.example", "c.example")
ROWS = 40

PROFILE = Profile(
    "crash",
    *(
        Section(
            name,
            "Mentions.",
            Table(
                f"{name}_rows",
                "One row per brand.",
                records("rows"),
                "brand",
                (Column("brand", "string"), Column("n", "Int64", unit="count", aggregate=SUM)),
            ),
        )
        for name in ("one", "two")
    ),
)


def responses(number: int) -> list[Payload]:
    """The responses of one day: every third one is like that of the day before."""
    day = datetime(2026, 1, 1, 6, tzinfo=UTC) + timedelta(days=number)
    results = []
    for host in HOSTS:
        for name in PROFILE:
            value = number - number % 3 if host == "a.example" else number
            rows = [{"brand": f"brand {row}", "n": value + row} for row in range(ROWS)]
            body = json.dumps({"rows": rows, "availability": {"status": "available"}}).encode()
            results.append(
                Payload(
                    body,
                    url=f"https://api.example/{host}",
                    fetched_at=day,
                    section=name,
                    scope=aa.Scope(days=7),
                    host=host,
                )
            )
    return results


def add_on(place: Path, first: int, say: Any, *, compacting: bool) -> None:
    """Add day after day; every few days compact."""
    archive = aa.Archive(place, profile=PROFILE)
    say("ready")
    for number in range(first, first + 1000):
        archive.add(responses(number), progress=False)
        say(str(number))
        if compacting and number % 4 == 3:
            archive.compact(keep_hours=1)


def look(place: Path, say: Any) -> None:
    """What is in the archive, and what is wrong with it."""
    archive = aa.Archive(place, profile=PROFILE)
    check = archive.verify()
    days: dict[str, Any] = {}
    if "one" in {*archive.tables["section"]}:
        rows = archive.sql(
            "SELECT CAST(fetched_at AS DATE) AS day, count(*), count(DISTINCT (host, brand)), "
            "sum(n) FROM one_rows GROUP BY day"
        ).fetchall()
        days = {f"{row[0]}": [int(value) for value in row[1:]] for row in rows}
    say(json.dumps({"problems": [problem for _, problem in check.problems], "days": days}))


def seen(place: Path) -> dict[str, Any]:
    with child(lambda say: look(place, say)) as (_, pipe):
        line = pipe.readline()
    return dict(json.loads(line))


def expected(number: int) -> list[int]:
    base = (number - number % 3) + 2 * number
    return [ROWS * 3, ROWS * 3, ROWS * base + 3 * sum(range(ROWS))]


def day_of(number: int) -> str:
    return f"{date(2026, 1, 1) + timedelta(days=number)}"


def kill(place: Path, kills: int, seed: int = 0) -> dict[str, Any]:
    """Kill a writer at random moments after its first commit; see what is left each time.

    How long it may go on is a random share of how long its first day took, so that as many die
    while they commit or compact on a busy machine as on an idle one.
    """
    chance, counts, problems = random.Random(seed), Counter[str](), []
    done: set[int] = set()
    first = 0
    for _ in range(kills):
        with child(lambda say, first=first: add_on(place, first, say, compacting=True)) as (
            pid,
            pipe,
        ):
            lines = [pipe.readline()]
            begun = time.monotonic()
            lines.append(pipe.readline())
            time.sleep(chance.uniform(0, 3) * (time.monotonic() - begun))
            os.kill(pid, signal.SIGKILL)
            lines += pipe.readlines()
        words = [line.decode().strip() for line in lines]
        problems += [word for word in words if not word.isdigit() and word != "ready"]
        done |= {int(word) for word in words if word.isdigit()}
        now = seen(place)
        problems += now["problems"]
        there = {number for number in range(first + 40) if day_of(number) in now["days"]}
        for number in done - there:
            problems.append(f"day {number} was committed and is lost")
        for number in there:
            if now["days"][day_of(number)] != expected(number):
                problems.append(f"day {number}: {now['days'][day_of(number)]}")
        counts["unacknowledged"] += len(there - done)
        done |= there
        first = max(done, default=-1) + 1
        if problems:
            break
    return {"problems": problems, "kills": kills, "days": len(done), **counts}


def writers(place: Path, count: int, runs: int) -> dict[str, Any]:
    """Add from several processes: days of their own, and days that all of them add."""
    problems: list[str] = []
    counts: Counter[str] = Counter()
    mine: list[int] = []

    def work(say: Any, at: int) -> None:
        archive = aa.Archive(place, profile=PROFILE)
        for number in range(runs):
            for day in (1000 + at * runs + number, number):
                try:
                    archive.add(responses(day), progress=False)
                    say(f"done {day}")
                except aa.errors.ArchiveError as error:
                    say(f"refused {day} {type(error).__name__}")

    import contextlib

    with contextlib.ExitStack() as stack:
        children = [
            stack.enter_context(child(lambda say, at=at: work(say, at))) for at in range(count)
        ]
        for _, pipe in children:
            for line in pipe.read().decode().splitlines():
                word, _, rest = line.partition(" ")
                counts[word] += 1
                if word == "done":
                    mine.append(int(rest))
                elif word != "refused":
                    problems.append(line)
    now = seen(place)
    problems += now["problems"]
    for number in {*mine}:
        if now["days"].get(day_of(number)) != expected(number):
            problems.append(f"day {number}: {now['days'].get(day_of(number))}")
    if len(now["days"]) != len({*mine}):
        problems.append(f"{len(now['days'])} days are there, {len({*mine})} were added")
    return {"problems": problems, **counts}


if __name__ == "__main__":
    scenario, folder, *numbers = sys.argv[1:]
    sys.stdout.write(json.dumps(globals()[scenario](Path(folder), *map(int, numbers))))
