"""Stores whose tables stay on disk: the same answers and errors as with tables in memory."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import one_in

from aatoolkit.service import Store, StoreError, files, write_store
from aatoolkit.service.answer import SECTIONS, wire
from aatoolkit.service.question import Question
from aatoolkit.service.schema import TABLES
from aatoolkit.service.scope import ScopePool, ScopeTables
from aatoolkit.service.synth import synthesize

from .test_store import WRONG, tables

HOST = "acme.example"
WRITABLE = sorted(WRONG.keys() - {"unknown table", "several types", "column twice"})

IN_SCHEMA = (
    "no projects",
    "no number",
    "value outside",
    "word outside",
    "null among words",
    "key twice",
    "no such engine",
    "no such answer",
    "empty answer cites",
)
"""What can be wrong in a file that has the schema of the store to the letter."""


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    write_store(folder, synthesize(seed=3, answers=2500))
    return folder


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave every table on disk."""
    monkeypatch.setattr(files, "ROWS_IN_MEMORY", -1)


def write_unchecked(folder: Path, given: dict[str, Any]) -> None:
    """Parquet files of tables, valid or not."""
    for name, table in given.items():
        arrow = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table)
        pq.write_table(arrow, folder / f"{name}.parquet")


def typed(name: str, frame: Any) -> pa.Table:
    """A frame in the schema of the store; absent columns are null."""
    given = pa.Table.from_pandas(frame, preserve_index=False)
    schema = TABLES[name].arrow
    columns = [
        given[field.name].cast(field.type)
        if field.name in given.column_names
        else pa.nulls(len(given), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def problems(folder: Path) -> list[str]:
    with pytest.raises(StoreError) as caught:
        Store.open(folder)
    return caught.value.problems


def answers_of(store: Store) -> list[Any]:
    questions = [
        Question(HOST, 30),
        Question(HOST, 7, {"engine": ("chatgpt",), "topic": ("Sales automation",)}),
        Question(HOST, 90, {"brand": ("Globex", "Initech")}),
        Question("globex.example", 30, {"category": ("commercial",)}),
    ]
    found = []
    for question in questions:
        for section in SECTIONS.values():
            with store.observe(question) as o:
                answer = section.ask(o)
            found.append((section.name, wire(answer.body), answer.availability))
    return found


@pytest.mark.thorough
@pytest.mark.usefixtures("on_disk")
def test_tables_on_disk_give_the_same_answers(synthetic: Path) -> None:
    on_disk = Store.open(synthetic)
    in_memory = Store.of(synthesize(seed=3, answers=2500))
    for left, right in zip(answers_of(on_disk), answers_of(in_memory), strict=True):
        assert left == right
    assert on_disk.scope_options(HOST) == in_memory.scope_options(HOST)
    on_disk.close()


@pytest.mark.parametrize("name", one_in(3, WRITABLE))
def test_an_invalid_file_on_disk_is_refused_with_the_same_words(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_unchecked(tmp_path, WRONG[name][0])
    in_memory = problems(tmp_path)
    monkeypatch.setattr(files, "ROWS_IN_MEMORY", -1)
    assert problems(tmp_path) == in_memory


@pytest.mark.parametrize("name", one_in(3, IN_SCHEMA))
def test_a_file_in_the_schema_of_the_store_is_checked_all_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_unchecked(tmp_path, {table: typed(table, f) for table, f in WRONG[name][0].items()})
    in_memory = problems(tmp_path)
    monkeypatch.setattr(files, "ROWS_IN_MEMORY", -1)
    assert problems(tmp_path) == in_memory


@pytest.mark.usefixtures("on_disk")
def test_files_of_other_types_are_converted(tmp_path: Path) -> None:
    given: dict[str, Any] = dict(tables())
    table = pa.Table.from_pandas(given["answers"], preserve_index=False)
    at = table.column_names.index("engine")
    given["answers"] = table.set_column(at, "engine", table["engine"].dictionary_encode())
    write_unchecked(tmp_path, given)
    store = Store.open(tmp_path)
    rows = store.connection.execute("SELECT DISTINCT engine FROM store.answers").fetchall()
    assert rows == [("chatgpt",)]


@pytest.mark.thorough
@pytest.mark.usefixtures("on_disk")
def test_what_is_served_does_not_change_when_files_are_overwritten(tmp_path: Path) -> None:
    write_store(tmp_path, synthesize(seed=3, answers=300))
    store = Store.open(tmp_path)
    for path in tmp_path.glob("*.parquet"):
        path.write_bytes(b"something else")
    with store.observe(Question(HOST, 90)) as o:
        assert o.value("SELECT count(*) FROM answers") > 50


@pytest.mark.thorough
@pytest.mark.usefixtures("on_disk")
def test_copies_are_removed_with_the_store(
    synthetic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = Store.open(synthetic)
    assert list(tmp_path.glob("*/answers.parquet"))
    store.close()
    assert not list(tmp_path.iterdir())
    store = Store.open(synthetic)
    del store
    assert not list(tmp_path.iterdir())
    (synthetic / "stranger.txt").touch()
    problems(synthetic)
    (synthetic / "stranger.txt").unlink()
    assert not list(tmp_path.iterdir())


def test_scopes_not_used_for_longest_are_dropped(
    synthetic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aatoolkit.service.store.ScopePool", partial(ScopePool, most=16))
    store = Store.open(synthetic)
    hosts = ("acme.example", "globex.example", "initech.example")
    engines = ((), ("chatgpt",), ("gemini",))
    questions = [
        (Question(host, days, {"engine": engine}), count)
        for host in hosts
        for days in (7, 30, 90)
        for engine in engines
        for count in ("SELECT count(*) FROM runs", "SELECT count(*) FROM answers")
    ]
    counts = {}
    for question, count in questions:
        with store.observe(question) as o:
            counts[question.key, count] = o.value(count)
    # A view is never kept longer than the tables that it reads.
    for question, count in questions[::-1]:
        with store.observe(question) as o:
            assert o.value(count) == counts[question.key, count] >= 0
    found = store.connection.execute(
        "SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE 'scope_%'"
    ).fetchall()
    assert found == [(16,)]
    with store.observe(Question(hosts[0], 7)) as o:
        assert o.value("SELECT count(*) FROM answers") > 0


def test_questions_that_differ_in_filters_share_what_was_read(synthetic: Path) -> None:
    store = Store.open(synthetic)
    counts = {}
    for engine in ((), ("chatgpt",), ("gemini", "chatgpt")):
        with store.observe(Question(HOST, 30, {"engine": engine})) as o:
            counts[engine] = o.value("SELECT count(*) FROM citations")
            found = {*o.column("SELECT engine FROM answers")}
            assert found == {*engine} if engine else len(found) > 2
            store.connection.execute("DROP VIEW IF EXISTS raw.answers")
    assert 0 < counts["chatgpt",] < counts["gemini", "chatgpt"] < counts[()]


def test_sections_that_need_the_same_at_once_have_it_computed_once() -> None:
    project = {"as_of": datetime(2026, 11, 20)}
    scope = ScopeTables("scope", Question(HOST, 7), project)
    begun, ready, calls = threading.Event(), threading.Event(), list[int]()

    def compute() -> str:
        calls.append(len(calls))
        begun.set()
        assert ready.wait(10)
        if len(calls) == 1:
            raise ValueError("the first attempt fails")
        return "computed"

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(scope.once, "shared", compute)
        assert begun.wait(10)
        others = [pool.submit(scope.once, "shared", compute) for _ in range(3)]
        assert not wait(others, 0.05).done
        assert scope.once("other", lambda: "another result does not wait")
        assert len(calls) == 1
        ready.set()
        assert isinstance(first.exception(), ValueError)
        assert [other.result() for other in others] == ["computed"] * 3
    assert len(calls) == 2
