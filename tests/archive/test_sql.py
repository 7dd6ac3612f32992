"""SQL over an archive reads its tables, and nothing else; what fails is typed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from archive_files import files_of

import aatoolkit as aa
from aatoolkit.cli import main
from aatoolkit.errors import AAToolkitError, ArgumentError


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A file beside the archive, which no query reads or changes."""
    file = tmp_path / "other.csv"
    file.write_text("secret\n1\n")
    return file


DOORS = [
    "SELECT * FROM enable_profiling(save_location='{other}')",
    "SELECT * FROM enable_logging(storage_path='{other.parent}')",
    "SELECT * FROM enable_profiling(save_location='{own}')",
    "SELECT * FROM '{other}'",
    "SELECT * FROM read_csv('{other}')",
    "SELECT * FROM read_text('{other}')",
    "SELECT * FROM query('FROM read_text(''{other}'')')",
    "SELECT (SELECT count(*) FROM glob('{other.parent}/*'))",
    "SELECT * FROM sniff_csv('{other}')",
    "WITH a AS (FROM read_blob('{other}')) SELECT * FROM source_domains, a",
    "SELECT * FROM duckdb_secrets()",
    "SELECT getenv('HOME')",
    "COPY (SELECT 1) TO '{other}'",
    "COPY (SELECT 1) TO '{own}'",
    "ATTACH '{other.parent}/new.db'",
    "EXPORT DATABASE '{other.parent}/out'",
    "PRAGMA profile_output='{other}'",
    "CALL enable_logging()",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET VARIABLE x = 1",
    "SET threads = 1",
    "RESET lock_configuration",
    "CREATE TABLE t (a int)",
    "SELECT 1; SELECT 2",
]


@pytest.mark.parametrize("door", DOORS)
def test_a_query_reads_no_other_file_and_changes_none(
    filled: aa.Archive, other: Path, door: str
) -> None:
    (own, *_) = files_of(filled, "domains/source_domains")
    folders = (other.parent, Path(filled._store.root))
    before = [{path: path.stat().st_mtime_ns for path in folder.rglob("*")} for folder in folders]
    query = door.format(other=other, own=own.replace("'", "''"))
    with pytest.raises(AAToolkitError):
        filled.sql(query)
    after = [{path: path.stat().st_mtime_ns for path in folder.rglob("*")} for folder in folders]
    assert after == before


def test_a_query_reads_what_it_names_and_what_it_computes(filled: aa.Archive) -> None:
    query = (
        "WITH hosts AS (SELECT DISTINCT host FROM ranking_history) "
        "SELECT count(*), (SELECT count(*) FROM range(3)), (SELECT count(*) FROM columns) > 0 "
        "FROM hosts SEMI JOIN responses USING (host)"
    )
    assert filled.sql(query).fetchall() == [(2, 3, True)]
    ((first,),) = filled.sql("SELECT min(fetched_at) FROM source_domains").fetchall()
    assert first == datetime(2026, 9, 28, 6, tzinfo=UTC)
    early = filled.as_of("2026-09-28").sql("SELECT count(*) FROM responses").fetchall()
    assert early == [(4,)]
    assert filled.sql("SUMMARIZE responses").fetchall()
    (row,) = filled.sql("FROM source_domains LIMIT 1").to_arrow_table().to_pylist()
    assert row["host"] in ("acme.example", "globex.example")


def test_a_query_reads_why_a_number_is_missing(place: Path) -> None:
    archive = aa.Archive(place)
    for host in ("acme.example", "globex.example"):
        archive.add(aa.demo().client, [host], sections=["overview"])
    query = "SELECT host, section, target, status, reason, as_of FROM availability ORDER BY ALL"
    rows = archive.sql(query).fetchall()
    assert rows
    archive.rebuild()
    assert archive.sql(query).fetchall() == rows
    archive.forget("acme.example")
    assert archive.sql(query).fetchall() == [row for row in rows if row[0] != "acme.example"]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (None, "one SELECT"),
        ("SELECT", "query failed"),
        ("SELECT * FROM nothing", "no table 'nothing'"),
        ("SELECT '\ud800'", "surrogates"),
        ("SELECT 9223372036854775807 + 1", "Overflow"),
        ("SELECT CAST(host AS INTEGER) FROM responses", "Could not convert"),
        ("SELECT error('x')", "the query failed"),
        ("SELECT * FROM source_domain", "no table 'source_domain'; did you mean 'source_domains'"),
        ("SELECT * FROM source_domain('x')", "no table 'source_domain'; did you mean"),
    ],
)
def test_what_is_no_query_is_refused(filled: aa.Archive, query: str, why: str) -> None:
    with pytest.raises(ArgumentError, match=why):
        filled.sql(query)


@pytest.mark.parametrize(
    "query", ["SELECT error('x')", "SELECT DATE '5000000-01-01'", "SELECT '\ud800'"]
)
def test_what_fails_on_the_way_is_one_line_of_the_command(
    filled: aa.Archive, query: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["archive", "sql", query, "--dir", filled._store.root]) == 2
    printed = capsys.readouterr().err
    assert "the query failed" in printed
    assert "Traceback" not in printed
