"""Odd names of tables, columns and hosts, and folders that cannot be read or written."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from samples import payload_of

import aatoolkit as aa
from aatoolkit.errors import ArchiveError, ScopeError
from aatoolkit.payload import Payload
from aatoolkit.sections import SUM, Column, Profile, Section, Table, records

INTERNAL = (
    "known",
    "place",
    "nth",
    "packed",
    "covered",
    "first_seen",
    "revisions",
    "host",
    "host_",
)
NAMES = ("frames", "cost/day", "..", "t" * 300)


def column(name: str) -> Column:
    return Column(name, "Int64", unit="count", aggregate=SUM, source="n")


PROFILE = Profile(
    "odd",
    Section(
        "daily",
        "Days.",
        *(
            Table(
                name,
                "One row per day.",
                records("rows"),
                "date",
                (Column("date", "date"), *map(column, INTERNAL if at == 0 else INTERNAL[:1])),
            )
            for at, name in enumerate(NAMES)
        ),
    ),
)


def response(day: int, n: int, host: str = "acme.example") -> Payload:
    body = {"rows": [{"date": "2026-10-03", "n": n}], "availability": {"status": "available"}}
    moment = datetime(2026, 10, day, 6, tzinfo=UTC)
    return payload_of(body, fetched_at=moment, section="daily", scope=aa.Scope(days=7), host=host)


@pytest.mark.thorough
def test_names_of_the_archive_itself_and_names_of_no_folder(place: Path) -> None:
    archive = aa.Archive(place, profile=PROFILE)
    assert archive.add([response(5, 3), response(6, 4)], progress=False)
    day = archive.history("daily", NAMES[0]).iloc[0]
    stored = [f"{n}_" if n in ("first_seen", "revisions", "host", "host_") else n for n in INTERNAL]
    assert day[stored].tolist() == [4] * len(INTERNAL)
    assert (day["host"], day["revisions"]) == ("acme.example", 1)
    assert (day["first_seen"].day, day["last_changed"].day) == (5, 6)
    assert {path.name for path in (place / "tables").iterdir()} == {"daily"}
    assert len([*(place / "tables" / "daily").iterdir()]) == len(NAMES)
    for name in NAMES[1:2]:
        assert archive.history("daily", name)["known"].tolist() == [4]
    assert archive.tables["table"].tolist() == [*NAMES]
    assert archive.verify(replay=True)


def test_a_host_is_one_however_it_is_spelt(place: Path) -> None:
    archive = aa.Archive(place, profile=PROFILE)
    assert archive.add([response(5, 3, "MÜNCHEN.example."), response(6, 4, "münchen.example")])
    same = archive.add([response(5, 3, "xn--mnchen-3ya.example")], hosts="München.Example")
    assert (same.responses, same.run) == (0, None)
    days = archive.history("daily", NAMES[1], hosts="München.example")
    assert days["host"].tolist() == ["xn--mnchen-3ya.example"]
    assert days["revisions"].tolist() == [1]
    with pytest.raises(ScopeError, match="not a project's domain"):
        archive.add([response(5, 3, "no host/../at all")])


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_responses_whose_tables_are_inferred_are_kept_and_wait_for_a_profile(place: Path) -> None:
    archive = aa.Archive(place)
    report = archive.add([replace(response(5, 3), section="gaps")], progress=False)
    assert (report.responses, bool(report)) == (1, False)
    assert "draft a profile" in repr(report)
    assert archive.sql("SELECT count(body) FROM responses").fetchall() == [(1,)]
    assert archive.verify(replay=True)
    drafted = Profile("ours", Section("gaps", "Days.", *PROFILE["daily"]))
    assert archive.rebuild(profile=drafted, progress=False)
    assert archive.read("gaps", "frames")["known"].tolist() == [3]


def test_errors_of_file_systems_are_typed_and_say_what_to_do(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import deltalake

    place.mkdir()
    nowhere = aa.Archive(place / ("x" * 300), profile=PROFILE)
    with pytest.raises(ArchiveError, match="File name too long"):
        _ = nowhere.tables

    def full(*_: object, **__: object) -> None:
        raise OSError("cannot copy \x1b[31m↳\x1b[0m No space left on device (os error 28)")

    archive = aa.Archive(place, profile=PROFILE)
    with monkeypatch.context() as patched:
        patched.setattr(deltalake, "write_deltalake", full)
        with pytest.raises(ArchiveError, match="what was committed before is whole") as refused:
            archive.add([response(5, 3)], progress=False)
    assert "cannot copy ↳ No space left" in str(refused.value)
    assert archive.add([response(5, 3)], progress=False).responses == 1
