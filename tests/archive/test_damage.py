"""An archive that is damaged: what is wrong is found and named, and only typed errors come out."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from effort import effort

import aatoolkit as aa
from aatoolkit.errors import AAToolkitError, ArchiveError


@pytest.fixture
def copy(filled: aa.Archive, tmp_path: Path) -> Path:
    return Path(shutil.copytree(filled._store.root, tmp_path / "copy"))


def sampled(folder: Path) -> list[Path]:
    """Some of the files, those of the checksums among them."""
    draw = random.Random(20261123)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    sums = [path for path in files if path.parent.name == "checksums"]
    assert sums
    return list({*draw.sample(files, min(len(files), effort(200, 20))), *sums})


def test_a_flipped_bit_is_found_wherever_it_is(copy: Path) -> None:
    draw = random.Random(20261123)
    for file in sampled(copy):
        content = file.read_bytes()
        at = draw.randrange(len(content))
        file.write_bytes(
            content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]
        )
        check = aa.Archive(copy).verify()
        assert not check, file
        assert {name for name, _ in check.problems} & {
            *file.relative_to(copy).parts,
            "runs",
        } or any(file.is_relative_to(copy / name) for name, _ in check.problems)
        file.write_bytes(content)
    assert aa.Archive(copy).verify()


def test_a_deleted_file_is_found_whichever_it_is(copy: Path) -> None:
    for file in sampled(copy):
        content = file.read_bytes()
        file.unlink()
        check = aa.Archive(copy).verify()
        is_last_sum = check.ok and check.unchecked and file.parent.name == "checksums"
        assert not check or is_last_sum, file
        file.write_bytes(content)
    assert aa.Archive(copy).verify()


def test_a_table_whose_last_commit_is_gone_is_named(copy: Path) -> None:
    logs = sorted(copy.rglob("_delta_log"))
    assert copy / "runs" / "_delta_log" in logs
    for log in logs:
        last = max(log.glob("*.json"))
        content = last.read_bytes()
        last.unlink()
        problems = aa.Archive(copy).verify().problems
        assert [(log.parent.relative_to(copy).as_posix(), True)] == [
            (name, "last commits are gone" in problem) for name, problem in problems
        ]
        last.write_bytes(content)


def test_the_loss_of_the_checksums_is_found_and_a_compaction_records_them_anew(copy: Path) -> None:
    shutil.rmtree(copy / "checksums")
    check = aa.Archive(copy).verify()
    assert check.problems == (
        ("checksums", "those of 2 runs are gone; compact() records files as they are"),
    )
    assert check.unchecked > 20
    assert "have no checksum" in repr(check)
    assert aa.Archive(copy).compact(keep_hours=0)
    assert aa.Archive(copy).verify()
    assert aa.Archive(copy).verify().unchecked == 0
    (file,) = (copy / "checksums").iterdir()
    file.unlink()
    assert not aa.Archive(copy).verify()


ACTS: dict[str, Callable[[aa.Archive], Any]] = {
    "repr": repr,
    "tables": lambda archive: archive.tables,
    "changes": lambda archive: archive.declaration_changes,
    "columns": lambda archive: archive.sql("FROM columns").df(),
    "read": lambda archive: archive.read("domains"),
    "history": lambda archive: archive.history("ranking", "ranking_history"),
    "sql": lambda archive: archive.sql("FROM ranking_history"),
    "explain": lambda archive: archive.explain("domains.source_domains", 0, "citation_count"),
    "verify": lambda archive: archive.verify(replay=True),
    "rebuild": lambda archive: archive.rebuild(progress=False),
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", ["runs", "responses", "frames", "changes", "tables/ranking/ranking_history"]
)
@pytest.mark.parametrize("how", ["null", "other columns", "words"])
def test_a_table_of_another_shape_is_a_typed_error(copy: Path, name: str, how: str) -> None:
    import deltalake

    table = deltalake.DeltaTable(str(copy / name))
    rows = table.to_pyarrow_table()
    facts = table.metadata()
    names = [column for column in rows.column_names if column != "month"]
    if how == "null":
        for column in names:
            at = rows.column_names.index(column)
            nothing = pa.nulls(len(rows), rows.schema.field(column).type)
            rows = rows.set_column(at, column, nothing)
    elif how == "words":
        for column in names:
            at = rows.column_names.index(column)
            rows = rows.set_column(at, column, pa.array(["[ {\0"] * len(rows)))
    else:
        rows = rows.drop_columns(names[len(names) // 2])
    shutil.rmtree(copy / name)
    foreign = deltalake.DeltaTable.create(
        str(copy / name),
        rows.schema,
        partition_by=facts.partition_columns or None,
        configuration=facts.configuration,
        raise_if_key_not_exists=False,
    )
    deltalake.write_deltalake(foreign, rows, mode="append")
    with contextlib.suppress(ArchiveError):
        assert not aa.Archive(copy).verify()
    for act in ACTS.values():  # the last of them repairs it
        with contextlib.suppress(AAToolkitError):
            act(aa.Archive(copy))


@pytest.mark.parametrize("path", ["\ud800", "a\ud800b", "s3://\ud800"])
def test_a_path_that_is_no_text_is_refused(path: str) -> None:
    with pytest.raises(ArchiveError, match="no archive can be at"):
        aa.Archive(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
@pytest.mark.parametrize("table", ["frames", "responses"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(copy: Path, table: str) -> None:
    file = next((copy / "tables" / table).rglob("*.parquet"), None) or next(
        (copy / table).rglob("*.parquet")
    )
    file.unlink()
    os.mkfifo(file)
    archive = aa.Archive(copy)
    assert not archive.verify()
    with pytest.raises(ArchiveError, match="no regular file"):
        archive.sql(f"SELECT * FROM {table}").fetchall()
