"""Index of the answers in an archive: to resume a run, and to store each body once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from aatoolkit.archive.answers import (
    ANSWERS,
    SCHEMA,
    Identity,
    Question,
    StoredAnswer,
    from_arrow,
    unpacked,
)
from aatoolkit.archive.runs import RunLog
from aatoolkit.archive.schema import among
from aatoolkit.archive.store import ArchiveStore

_COLUMNS = ["run", "host", "section", "scope", "fetched_at", "sha256", "error", "has_body"]


class AnswerIndex:
    """The answers of an archive month by month, each loaded when it is first needed.

    Parameters
    ----------
    store
        The archive.
    runs
        Its runs, read before.
    hosts
        The hosts that matter; all if None.
    """

    def __init__(
        self, store: ArchiveStore, runs: RunLog, hosts: Collection[str] | None = None
    ) -> None:
        self._store, self.runs = store, runs
        self._hosts = None if hosts is None else sorted(hosts)
        self._months: set[str] = set()
        self._seen: set[Identity] = set()
        self._bodies: set[tuple[str, ...]] = set()
        self._answered: dict[tuple[Question, date], bool] = {}

    def load(self, months: Iterable[str]) -> None:
        """Load the index of some months, and of the month before each."""
        wanted = {each for month in months for each in (month, _before(month))} - self._months
        if not wanted:
            return
        self._months |= wanted
        table = self._store.open(ANSWERS)
        if table is None:
            return
        condition = among("month", wanted)
        if self._hosts is not None:
            condition &= among("host", self._hosts)
        with self._store.errors(ANSWERS):
            rows = self._store.dataset(ANSWERS, table).to_table(columns=_COLUMNS, filter=condition)
        committed = self.runs.committed
        for row in rows.to_pylist():
            if row["run"] not in committed:
                continue
            question = (row["host"], row["section"], row["scope"])
            if row["error"] is None:
                moment = row["fetched_at"].astimezone(UTC)
                self._seen.add((*question, moment, row["sha256"]))
                self._answered[question, moment.date()] = True
                if row["has_body"]:
                    self._bodies.add((*question, row["sha256"]))

    def has(self, answer: StoredAnswer) -> bool:
        """Whether this answer is in the archive already."""
        self.load([answer.month])
        return answer.error is None and answer.identity in self._seen

    def is_answered(self, question: Question, day: date) -> bool:
        """Whether a question has an answer of a day."""
        self.load([f"{day:%Y-%m}"])
        return (question, day) in self._answered

    def has_body(self, answer: StoredAnswer) -> bool:
        """Whether the body of an answer is stored with an earlier answer to its question."""
        self.load([answer.month])
        return (*answer.question, answer.sha256 or "") in self._bodies

    def add(self, answer: StoredAnswer) -> None:
        """Enter an answer that was stored into the index."""
        if answer.error is None:
            self._seen.add(answer.identity)
            if answer.body is not None:
                self._bodies.add((*answer.question, answer.sha256 or ""))


def _before(month: str) -> str:
    """The month before a month.

    Examples
    --------
    >>> _before("2026-01"), _before("2026-11")
    ('2025-12', '2026-10')
    """
    year, number = map(int, month.split("-"))
    return f"{year - 1}-12" if number == 1 else f"{year}-{number - 1:02d}"


def groups_of(
    store: ArchiveStore, condition: ds.Expression, runs: Collection[str], *, most: int = 2000
) -> Iterator[list[StoredAnswer]]:
    """Answers that match a condition, those of one run, host and scope together.

    Parameters
    ----------
    store
        The archive.
    condition
        What the rows match.
    runs
        The runs in whose rows bodies are looked for.
    most : int
        How many answers are loaded at a time, unless a host has more in a month.

    Yields
    ------
    list of StoredAnswer
        The answers of one run, host and scope, with their bodies.
    """
    table = store.open(ANSWERS)
    if table is None:
        return
    dataset = store.dataset(ANSWERS, table)
    with store.errors(ANSWERS):
        places = dataset.to_table(columns=["month", "host"], filter=condition)
    counts = Counter(zip(places["month"].to_pylist(), places["host"].to_pylist(), strict=True))
    columns = [name for name in SCHEMA.names if name != "has_body"]
    for month, hosts in _chunks(counts, most):
        wanted = condition & (ds.field("month") == month) & among("host", hosts)
        with store.errors(ANSWERS):
            rows = dataset.to_table(columns=columns, filter=wanted)
        answers = with_bodies(store, from_arrow(rows), runs)
        answers.sort(key=lambda a: (a.run, a.host, a.scope, a.section, a.fetched_at))
        for _, group in groupby(answers, key=lambda a: (a.run, a.host, a.scope)):
            yield [*group]


def _chunks(counts: Counter[tuple[str, str]], most: int) -> Iterator[tuple[str, list[str]]]:
    """Hosts of one month, as many as have about so many answers."""
    hosts: list[str] = []
    before, size = "", 0
    for (month, host), count in sorted(counts.items()):
        if hosts and (month != before or size + count > most):
            yield before, hosts
            hosts, size = [], 0
        before, size = month, size + count
        hosts.append(host)
    if hosts:
        yield before, hosts


def bodies_of(store: ArchiveStore, wanted: Collection[str], runs: Collection[str]) -> Any:
    """The stored bodies of some hashes, as a table of ``sha256``, ``size`` and ``body``."""
    table = store.open(ANSWERS)
    columns = ["sha256", "size", "body"]
    if table is None or not wanted:
        return pa.table({name: [] for name in columns})
    condition = ds.field("has_body") & among("sha256", wanted) & among("run", runs)
    with store.errors(ANSWERS):
        return store.dataset(ANSWERS, table).to_table(columns=columns, filter=condition)


def with_bodies(
    store: ArchiveStore, answers: list[StoredAnswer], runs: Collection[str]
) -> list[StoredAnswer]:
    """Answers with their bodies, which may stand in the rows of earlier answers.

    An answer whose body is nowhere keeps None.
    """
    lacking = {a.sha256 for a in answers if a.body is None and a.sha256 is not None}
    if not lacking:
        return answers
    found: dict[str, bytes] = {}
    for row in bodies_of(store, lacking, runs).to_pylist():
        if row["sha256"] not in found:
            found[row["sha256"]] = unpacked(row["body"], row["size"])
    return [
        replace(answer, body=found[answer.sha256])
        if answer.body is None and answer.sha256 in found
        else answer
        for answer in answers
    ]


def usable(runs: Collection[str]) -> ds.Expression:
    """The condition that a row is a usable response of some runs."""
    return among("run", runs) & ds.field("error").is_null()
