"""An archive: what is added comes back, whole, once, and as it was known."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import deltalake
import pandas as pd
import pyarrow as pa
import pytest
from archive_files import files_of
from samples import payload_of

import aatoolkit as aa
from aatoolkit.archive.store import ArchiveStore
from aatoolkit.errors import (
    ArchiveError,
    AvailabilityError,
    SchemaDriftWarning,
    ScopeError,
    StudyError,
)
from aatoolkit.payload import Payload
from aatoolkit.sections import (
    Column,
    Profile,
    Section,
    Table,
    category,
    count,
    number,
    records,
    text,
)

HOSTS = ("acme.example", "globex.example")
SECTIONS = ("domains", "ranking")
FIRST = date(2026, 9, 28)
Days = Any


def response(body: dict[str, Any], day: int = 1, section: str = "overview", **more: Any) -> Payload:
    moment = datetime(2026, 10, day, 6, tzinfo=UTC)
    return payload_of(body, fetched_at=moment, section=section, scope=aa.Scope(days=7), **more)


DAILY = Profile(
    "daily",
    Section(
        "daily",
        "Mentions by day.",
        Table(
            "daily_trend",
            "One row per day.",
            records("trend"),
            "date",
            (Column("date", "date"), count("mention_count")),
        ),
    ),
)


def trend(day: int, values: dict[str, int | None]) -> Payload:
    """A response about the seven days before a day, with mentions by day."""
    end = date(2026, 10, day)
    rows = [{"date": label, "mentionCount": n} for label, n in values.items()]
    window = {"start": f"{end - timedelta(days=6)}", "end": f"{end}", "days": 7}
    availability = {"status": "available"}
    body = {"domain": "acme.example", "window": window, "availability": availability, "trend": rows}
    return response(body, day, "daily")


# --- what is added comes back -----------------------------------------------------------------


@pytest.mark.thorough
def test_a_frame_of_the_archive_is_the_frame_of_its_response(
    filled: aa.Archive, base: list[Payload]
) -> None:
    for payload in base[: len(SECTIONS)]:
        tables = aa.normalize(str(payload.section), payload)
        for name in tables:
            stored = filled.read(
                str(payload.section), name, hosts=payload.host, since=FIRST, until=FIRST
            )
            live = tables[name]
            assert len(stored) == len(live), name
            assert stored[live.columns].dtypes.astype(str).tolist() == [
                str(kind) for kind in live.dtypes
            ]
            key = [*(aa.sections.table(name).key or live.columns[:1])]
            expected = live.sort_values(key).reset_index(drop=True)
            actual = stored[live.columns].sort_values(key).reset_index(drop=True)
            pd.testing.assert_frame_equal(expected, actual, check_categorical=False)
            stated = live.aa.availability
            assert stored.aa.availability.loc[stated.index].equals(stated), name


def test_units_keys_and_rules_come_back(filled: aa.Archive) -> None:
    stored = filled.read("domains")
    live = aa.demo().read("domains", days=7).main
    facts = ["dtype", "unit", "aggregation", "doc", "of"]
    assert stored.aa.codebook.loc[live.columns, facts].equals(live.aa.codebook[facts])
    assert {*stored["host"]} == {*HOSTS}
    columns = filled.sql("FROM columns").df()
    declared = [table for name in SECTIONS for table in aa.sections.get(name)]
    assert len(columns) == sum(len(table.columns) for table in declared)
    assert columns["aggregation"].notna().all()


def test_windows_that_overlap_are_never_added(filled: aa.Archive) -> None:
    both = filled.read("domains", hosts="acme.example")
    same = both.aa.aggregate("source_domain", columns=["citation_count"])
    assert same["citation_count"].sum() == both["citation_count"].sum() / 6
    part = both.drop(columns="source_domain")
    with pytest.raises(AvailabilityError, match="'fetched_at' of an archive"):
        part.aa.aggregate("domain_type", columns=["citation_count"])
    assert len(part.aa.aggregate("fetched_at", columns=["citation_count"])) == 6
    day = filled.read("domains", hosts="acme.example", since=FIRST, until=FIRST)
    live = aa.demo().read("domains", days=7).main
    assert day["citation_count"].sum() == live["citation_count"].sum()


def test_the_engines_of_others_read_the_same_sums(filled: aa.Archive) -> None:
    import duckdb
    import polars
    import pyarrow.dataset as ds

    wanted = int(filled.read("domains")["citation_count"].sum())
    paths = files_of(filled, "domains/source_domains")
    (row,) = duckdb.sql(f"SELECT sum(citation_count) FROM read_parquet({paths})").fetchall()
    assert row == (wanted,)
    assert polars.read_parquet(paths)["citation_count"].sum() == wanted
    scanned = ds.dataset(paths).to_table(columns=["citation_count"])
    assert int(scanned["citation_count"].to_pandas().sum()) == wanted
    ((total,),) = filled.sql("SELECT sum(citation_count) FROM source_domains").fetchall()
    assert total == wanted


def test_a_body_that_did_not_change_is_stored_once(filled: aa.Archive) -> None:
    ((rows, bodies),) = filled.sql("SELECT count(*), count(body) FROM responses").fetchall()
    assert (rows, bodies) == (6 * len(HOSTS) * len(SECTIONS), len(HOSTS) * len(SECTIONS))
    assert filled.verify()


def test_what_there_is(filled: aa.Archive) -> None:
    tables = filled.tables.set_index("table")
    assert tables.loc["ranking_history", "hosts"] == 2
    assert tables.loc["ranking_history", "first_day"] == pd.Timestamp(FIRST)
    assert tables.loc["ranking_history", "last_day"] == pd.Timestamp(FIRST + timedelta(days=5))
    live = filled.read("ranking", "ranking_history", since=FIRST, until=FIRST)
    assert tables.loc["ranking_history", "rows"] == 6 * len(live)
    assert "2 runs, 24 responses" in repr(filled)
    assert {*filled.declaration_changes["change"]} == {"new table"}


# --- history ----------------------------------------------------------------------------------


def test_a_day_that_was_seen_often_is_one_row(place: Path) -> None:
    archive = aa.Archive(place, profile=DAILY)
    archive.add([trend(5, {"2026-10-03": 3, "2026-10-04": 4})])
    archive.add([trend(6, {"2026-10-03": 3, "2026-10-04": 5})])
    archive.add([trend(7, {"2026-10-03": 3, "2026-10-04": 5, "2026-10-05": 0})])
    days = archive.history("daily").set_index("date")
    assert days["mention_count"].tolist() == [3, 5, 0]
    assert days["revisions"].tolist() == [0, 1, 0]
    assert days["first_seen"].dt.day.tolist() == [5, 5, 7]
    assert days["last_changed"].dt.day.tolist() == [5, 6, 7]
    assert days["last_seen"].dt.day.tolist() == [7, 7, 7]
    before = archive.history("daily", as_of="2026-10-05")
    assert before["mention_count"].tolist() == [3, 4]
    assert archive.as_of("2026-10-05").history("daily").equals(before)
    total = archive.history("daily").aa.aggregate(by="host")
    assert total["mention_count"].tolist() == [8]


def test_days_never_measured_stay_missing_and_what_became_missing_keeps_its_value(
    place: Path,
) -> None:
    archive = aa.Archive(place, profile=DAILY)
    archive.add([trend(5, {"2026-10-03": 3})])
    archive.add([trend(6, {"2026-10-03": None, "2026-10-04": None})])
    days = archive.history("daily").set_index("date")
    assert days.loc["2026-10-03", "mention_count"] == 3
    assert days.loc["2026-10-04", "mention_count"] is pd.NA


def test_a_row_that_the_newest_response_no_longer_has_is_withdrawn(place: Path) -> None:
    archive = aa.Archive(place, profile=DAILY)
    archive.add([trend(5, {"2026-10-03": 3, "2026-10-04": 4})])
    archive.add([trend(6, {"2026-10-03": 3})])
    assert archive.history("daily")["mention_count"].tolist() == [3]
    assert archive.history("daily", as_of="2026-10-05")["mention_count"].tolist() == [3, 4]


# --- adding -----------------------------------------------------------------------------------


def test_what_is_there_is_not_requested_again(place: Path) -> None:
    archive, client = aa.Archive(place), aa.demo().client
    first = archive.add(client, HOSTS, aa.Scope(days=7), ["domains"])
    assert (first.responses, first.skipped, bool(first)) == (2, 0, True)
    again = archive.add(client, HOSTS, aa.Scope(days=7), ["domains", "urls"])
    assert (again.responses, again.skipped) == (2, 2)
    assert archive.add(client, HOSTS, aa.Scope(days=7), ["domains", "urls"]).run is None
    assert archive.verify()


def test_the_same_responses_are_added_once(place: Path, days: Days) -> None:
    archive = aa.Archive(place)
    assert archive.add([*days(2), *days(1)]).responses == 8
    assert archive.verify()
    report = aa.Archive(place).add(days(3))  # by somebody else, while this one is open
    assert report.responses == 4
    before = sorted(place.rglob("*"))
    assert archive.add(days(3)).run is None
    assert sorted(place.rglob("*")) == before
    rows = archive.read("ranking", "ranking_history", hosts=HOSTS[0])
    assert rows["fetched_at"].value_counts().nunique() == 1
    assert rows["fetched_at"].nunique() == 3


def test_what_fails_is_reported_and_known(place: Path, scripted: Any, reply: Any) -> None:
    good = {"domains": [], "typeBreakdown": [], "availability": {"status": "available"}}
    scripted.script = lambda request: (
        reply(good) if "acme" in request.path else reply({"error": "no"}, 403)
    )
    with aa.Client(scripted.url, token="a-token-of-the-test", cache=False) as client:
        archive = aa.Archive(place)
        report = archive.add(client, ["acme.example", "other.example"], sections=["domains"])
    assert not report
    assert report.responses == 1
    ((host, section, _),) = report.failed
    assert (host, section) == ("other.example", "domains")
    assert "NotVisible" in report.failures["error"].tolist()
    ((error,),) = archive.sql("SELECT error FROM responses WHERE error IS NOT NULL").fetchall()
    assert json.loads(error)["kind"] == "NotVisible"
    assert archive.verify()
    for path in place.rglob("*"):
        assert path.is_dir() or b"a-token-of-the-test" not in path.read_bytes()


@pytest.mark.thorough
def test_an_unfinished_run_is_not_seen_and_is_continued(
    place: Path, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aatoolkit.archive.writing import RunWriter

    archive, client = aa.Archive(place), aa.demo().client
    archive.add(days(1))
    before = archive.read("domains")

    def dies(self: RunWriter) -> None:
        self.flush()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RunWriter, "commit", dies)
        with pytest.raises(KeyboardInterrupt):
            archive.add(client, HOSTS, aa.Scope(days=7), ["domains", "urls"])
    assert archive.read("domains").equals(before)
    assert archive.verify()
    report = archive.add(client, HOSTS, aa.Scope(days=7), ["domains", "urls"])
    assert (report.responses, report.resumed) == (4, 4)
    assert archive.verify(replay=True)
    assert len(archive.read("domains")) == 2 * len(before)
    assert archive.compact(keep_hours=0)
    assert archive.verify(replay=True)


@pytest.mark.thorough
def test_two_runs_with_the_same_responses_leave_them_there_once(place: Path, days: Days) -> None:
    from aatoolkit.archive.adding import add_outcome_groups, make_outcome_groups
    from aatoolkit.archive.responses import ResponseIndex

    archive = aa.Archive(place)
    archive.add(days(1))
    store = ArchiveStore(place)
    stale = ResponseIndex(store)
    payloads = days(3)

    def overtaken() -> Any:
        groups = [*make_outcome_groups(payloads)]
        yield from groups[:-1]
        # Another process commits nearly all of it before this run does.
        archive.add(payloads[:-2])
        yield groups[-1]

    import aatoolkit.archive.adding as adding

    before, adding.MAX_BATCH_RESPONSES = adding.MAX_BATCH_RESPONSES, 1
    try:
        report = add_outcome_groups(
            store, archive._options, overtaken(), stale, shows_progress=False
        )
    finally:
        adding.MAX_BATCH_RESPONSES = before
    assert report.responses == 2
    assert archive.verify(replay=True)
    rows = archive.read("ranking", "ranking_history", hosts=HOSTS[0])
    assert rows["fetched_at"].value_counts().nunique() == 1
    assert rows["fetched_at"].nunique() == 3


def mine(*columns: Column) -> Profile:
    """A profile of one table, whose first column is the key."""
    table = Table("mine_rows", "Rows.", records("rows"), columns[0].name, columns)
    return Profile("ours", Section("mine", "Mine.", table))


def test_a_service_with_a_profile_of_its_own(place: Path) -> None:
    profile = mine(text("host"), count("n"), category("kind", levels=("a", "b")))
    archive = aa.Archive(place, profile=profile)
    rows = [{"host": "x.example", "n": 1, "kind": "c"}, {"host": "y.example", "n": 2, "kind": "a"}]
    with pytest.warns(SchemaDriftWarning, match="new level"):
        archive.add([response({"rows": rows}, n, "mine") for n in (1, 2)])
    again = aa.Archive(place).read("mine")
    assert again["host"].unique().tolist() == ["acme.example"]
    assert again["host_"].tolist() == ["x.example", "y.example"] * 2
    assert again["kind"].cat.categories.tolist() == ["a", "b", "c"]
    assert again.aa.codebook.loc["n", "unit"] == "count"
    with pytest.warns(SchemaDriftWarning, match="new level"):
        assert archive.verify(replay=True)


def test_declarations_grow_and_change(place: Path) -> None:
    name, n, m = text("id"), count("n"), number("m", unit="fraction", optional=True)
    body = {"rows": [{"id": "x", "n": 1, "m": 50}]}
    with pytest.warns(SchemaDriftWarning):
        aa.Archive(place, profile=mine(name, n)).add([response(body, section="mine")])
    grown = aa.Archive(place, profile=mine(name, n, m))
    assert grown.add([response(body, 2, "mine")])
    assert grown.read("mine")["m"].tolist() == [pd.NA, 50.0]
    assert grown.sql("SELECT count(m), count(*) FROM mine_rows").fetchall() == [(1, 2)]
    assert "new column" in grown.declaration_changes["change"].tolist()
    percent = replace(m, scale=0.01, unit="percent")
    changed = aa.Archive(place, profile=mine(name, n, percent))
    report = changed.add([response(body, 3, "mine")])
    assert not report
    assert "rebuild" in str(next(iter(report.problems.values())))
    assert changed.rebuild()
    assert changed.read("mine")["m"].tolist() == [0.5, 0.5, 0.5]
    assert changed.verify(replay=True)
    changes = changed.declaration_changes.set_index("change")
    assert changes.loc["changed unit", ["before", "after"]].tolist() == ["fraction", "percent"]


def test_an_archive_from_before_a_column_or_a_filter_was_stored(place: Path, days: Days) -> None:
    archive = aa.Archive(place)
    archive.add(days(1))
    before = archive.read("ranking")
    for log in place.rglob("_delta_log"):
        table = deltalake.DeltaTable(log.parent)
        late = ["stale", "note", "before", "filter_brand", "sample_size"]
        rows = pa.table(table.to_pyarrow_table())
        rows = rows.drop_columns([name for name in late if name in rows.column_names])
        deltalake.write_deltalake(table, rows, mode="overwrite", schema_mode="overwrite")
    assert aa.Archive(place).read("ranking").equals(before)
    assert aa.Archive(place).sql("SELECT count(stale) FROM responses").fetchall() == [(0,)]
    assert aa.Archive(place).compact(keep_hours=0)  # which records the files as they are
    archive = aa.Archive(place)
    assert archive.add(days(2)).responses == len(before["host"].unique()) * len(SECTIONS)
    assert archive.verify(replay=True)
    counts = archive.sql("SELECT count(stale), count(*) FROM responses").fetchall()
    assert counts == [(4, 8)]
    assert len(archive.history("ranking", "ranking_history"))
    assert archive.forget(before=FIRST + timedelta(days=1)).rows
    assert len(archive.read("ranking")) == len(before)


# --- keeping ----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_compacting_changes_nothing_but_the_files(place: Path, days: Days) -> None:
    archive = aa.Archive(place)
    for day in range(3):
        archive.add(days(1, FIRST + timedelta(days=day)))
    before = {name: archive.read(*name) for name in (("domains", None), ("ranking", None))}
    report = archive.compact(keep_hours=0)
    assert report.files[1] < report.files[0]
    assert all(archive.read(*name).equals(frame) for name, frame in before.items())
    assert archive.verify(replay=True)
    assert archive.add(days(1, FIRST + timedelta(days=3)))


@pytest.mark.thorough
def test_forgetting_removes_and_says_what_is_left(place: Path, days: Days) -> None:
    archive = aa.Archive(place)
    archive.add(days(5))
    report = archive.forget(before=FIRST + timedelta(days=2))
    assert report.rows > 0
    assert archive.verify(replay=True)
    assert archive.read("domains")["fetched_at"].dt.date.nunique() == 3
    assert repr(archive.forget("globe.example")).startswith("<UpkeepReport: 0 rows removed")
    assert archive.forget("globex.example").hosts == 1
    assert archive.verify(replay=True)
    assert {*archive.read("domains")["host"]} == {"acme.example"}
    for path in place.rglob("*"):
        assert path.is_dir() or b"globex" not in path.read_bytes(), path
    with pytest.raises(ArchiveError, match="what to forget"):
        archive.forget()


def test_a_study_is_cut_and_added(place: Path, filled: aa.Archive, tmp_path: Path) -> None:
    study = filled.study(tmp_path / "cut", hosts="acme.example", since=FIRST, until=FIRST)
    assert study.digest is not None
    assert study._hosts == ("acme.example",)
    assert len(study.records) == len(SECTIONS)
    archive = aa.Archive(place)
    assert archive.add(study).responses == len(SECTIONS)
    assert archive.verify()
    with pytest.raises(StudyError):
        filled.study(tmp_path / "cut")


# --- errors -----------------------------------------------------------------------------------


def test_errors_are_typed_and_say_what_to_do(filled: aa.Archive, place: Path) -> None:
    with pytest.raises(ArchiveError, match="no archive at"):
        aa.Archive(place).read("domains")
    with pytest.raises(ScopeError, match="no archived section 'domain'"):
        filled.read("domain")
    with pytest.raises(ScopeError, match="no archived ranking table 'ranking_histories'"):
        filled.read("ranking", "ranking_histories")
    odd: Any
    for name, read, *odd in (
        ("since", filled.read, "domains"),
        ("as_of", filled.history, "ranking"),
        ("before", filled.forget),
        ("when", filled.as_of),
    ):
        with pytest.raises(ScopeError, match=f"^{name}='yesterday' is no day and no moment"):
            read(*odd, **{name: "yesterday"})
    with pytest.raises(ScopeError, match="time zone"):
        filled.read("domains", since=datetime(2026, 10, 1, 5))
    with pytest.raises(ScopeError, match="after until"):
        filled.read("domains", since="2026-10-02", until="2026-10-01")
    for odd in ({"hosts": 5}, {"since": "9999-12-31T23:59:59-12:00"}, {"section": None}):
        with pytest.raises(ScopeError, match=r"domain|no moment|no archived section 'None'"):
            filled.read(**{"section": "domains"} | odd)
    for absent, says in (
        ({"hosts": ["acme.example", "acne.example"]}, "host of domains 'acne.*mean 'acme.example"),
        ({"scope": aa.Scope()}, "scope of domains 'days=30'; did you mean 'days=7'"),
        ({"until": "2026-09-01"}, "the first response of domains is of 2026-09-28 06:00"),
    ):
        with pytest.raises(ScopeError, match=says):
            filled.read("domains", **absent)
    with pytest.raises(ScopeError, match="the first response"):
        filled.history("ranking", as_of="2026-09-01")
    for source in (None, [1]):
        with pytest.raises(ScopeError, match="is no response"):
            filled.add(source, progress=False)  # type: ignore[arg-type]
    with pytest.raises(ArchiveError, match="as of a moment"):
        filled.as_of("2026-10-01").compact()
    place.mkdir()
    (place / "file").write_text("something else")
    with pytest.raises(ArchiveError, match="holds other files"):
        aa.Archive(place).add([trend(5, {})])
