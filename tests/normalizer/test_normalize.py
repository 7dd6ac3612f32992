"""Answers to tables: the samples against golden files, one schema whatever comes, nothing lost.

The golden files show every table of a sample answer: dtypes, availability, rows and what no
column took. With ``AATOOLKIT_UPDATE_GOLDEN=1`` in the environment they are written anew; read the
difference before keeping it.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from effort import one_in
from samples import payload_of, sample

import aatoolkit as aa
from aatoolkit import sections
from aatoolkit.errors import (
    DecodeError,
    PayloadError,
    SchemaDriftWarning,
    ScopeError,
)
from aatoolkit.sections import (
    COUNT,
    category,
    computed,
    date,
    integer,
    keyed,
    number,
    records,
    ref,
    text,
)

HERE = Path(__file__).parent
SECTIONS = sections.all()
CASES = json.loads((HERE / "things.json").read_bytes())

each_section = pytest.mark.parametrize("name", SECTIONS)
some_sections = pytest.mark.parametrize("name", one_in(4, SECTIONS))


def read(section: str | aa.Section, answer: Any, **options: Any) -> aa.Tables:
    """The tables of an answer that may drift."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaDriftWarning)
        return aa.normalize(section, answer, **options)


def drifts(tables: aa.Tables) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in tables.drift.fillna("").itertuples(index=False)]


def extra(tables: aa.Tables) -> dict[str, tuple[str, str]]:
    return {row.path: (row.value, row.why) for row in tables.extra.itertuples()}


# --- the samples ----------------------------------------------------------------------------


def lines(tables: aa.Tables) -> list[str]:
    report = [f"# {tables.section}, made by tests/test_normalize.py"]
    for name, frame in tables.items():
        report += ["", f"== {name}: {len(frame)} rows, {tables._availability_texts[name]}"]
        states = frame.aa.availability
        for column, dtype in frame.dtypes.items():
            levels = getattr(dtype, "categories", None)
            kind = f"category {list(levels)}" if levels is not None else str(dtype)
            state = [str(part) for part in states.loc[column] if not pd.isna(part)]
            report.append(f"{column}: {kind} | {': '.join(state)}")
        report += rows(frame)
    report += ["", "== extra"]
    report += [f"{path} = {value} ({why})" for path, (value, why) in extra(tables).items()]
    report += ["", "== drift", *rows(tables.drift), "", "== availability"]
    return [*report, *rows(tables.availability)]


def rows(frame: pd.DataFrame) -> list[str]:
    return [
        json.dumps([plain(value) for value in row], ensure_ascii=False)
        for row in frame.itertuples(index=False)
    ]


def plain(value: Any) -> Any:
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    if isinstance(value, list | np.ndarray):
        return [plain(item) for item in list(value)]
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


@each_section
def test_the_sample_gives_the_golden_tables(name: str) -> None:
    golden = HERE / "golden" / f"{name}.txt"
    report = "\n".join(lines(aa.normalize(name, sample(name), strict=True))) + "\n"
    if os.environ.get("AATOOLKIT_UPDATE_GOLDEN") == "1":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(report, encoding="utf-8")
    assert report == golden.read_text(encoding="utf-8")


def test_every_golden_file_has_its_section() -> None:
    assert {path.stem for path in (HERE / "golden").iterdir()} == {*SECTIONS}


@some_sections
def test_bytes_text_object_and_payload_give_the_same(name: str) -> None:
    document = sample(name)
    body = json.dumps(document).encode()
    payload = payload_of(body, section=name, scope=aa.Scope(7))
    expected = aa.normalize(name, document)
    for form in (body, body.decode(), payload):
        tables = aa.normalize(name, form)
        for table in expected:
            pd.testing.assert_frame_equal(tables[table], expected[table], check_flags=False)
        pd.testing.assert_frame_equal(tables.extra, expected.extra)
    (source,) = tables.main.aa.sources.to_dict("records")
    assert (source["host"], source["section"]) == ("acme.example", name)
    assert (source["scope"], source["sha256"]) == ("days=7", payload.sha256)
    assert source["fetched_at"] == pd.Timestamp("2026-11-20T07:00:00Z")
    assert tables.payload is payload


# --- same section, same schema --------------------------------------------------------------


def first_only(value: Any) -> Any:
    """The same answer with one element in every array."""
    if isinstance(value, dict):
        return {key: first_only(item) for key, item in value.items()}
    return [first_only(item) for item in value[:1]] if isinstance(value, list) else value


def emptied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: emptied(item) for key, item in value.items()}
    return [] if isinstance(value, list) else value


def unmeasured(value: Mapping[str, Any]) -> Any:
    nulls = {key: None for key in value if key not in ("section", "domain", "availability")}
    state = {"status": "not_connected", "reason": "Synthetic."}
    return {**value, **nulls, "availability": state}


def schema(tables: aa.Tables) -> dict[str, dict[str, Any]]:
    return {
        name: {column: dtype for column, dtype in frame.dtypes.items() if column != "_row"}
        for name, frame in tables.items()
    }


@some_sections
@pytest.mark.parametrize("backend", one_in(2, ["numpy_nullable", "pyarrow"]))
def test_columns_and_dtypes_do_not_depend_on_the_answer(name: str, backend: str) -> None:
    original = sample(name)
    expected = schema(aa.normalize(name, original, dtype_backend=backend))
    assert {table.name: [*table.names] for table in SECTIONS[name]} == {
        table: [*columns] for table, columns in expected.items()
    }
    for answer in (
        first_only(original),
        emptied(original),
        unmeasured(original),
        {},
        [],
        "null",
        '"x"',
    ):
        assert schema(read(name, answer, dtype_backend=backend)) == expected


@each_section
def test_an_answer_whose_arrays_are_empty_is_no_drift(name: str) -> None:
    body = emptied(sample(name))
    assert drifts(aa.normalize(name, body, strict=True)) == []


@pytest.mark.parametrize("name", sections.names())
def test_a_section_that_could_not_be_measured_is_unavailable_in_every_column(name: str) -> None:
    tables = read(name, unmeasured(sample(name)))
    for frame in tables.values():
        states = frame.aa.availability
        measured = [column for column in frame if frame[column].notna().any()]
        others = states.drop(index=measured)
        assert {*others["status"]} <= {"unavailable"}
        assert {*others["cause"]} <= {"not_connected"}
    assert {"unavailable (not connected): Synthetic."} == {
        *tables._availability_texts.values()
    } or name in (
        # One row holds the project's domain, which is known.
        {"conversions", "crawl", "crawlability", "prompts", "shopping"}
    )


# --- drift ----------------------------------------------------------------------------------

THINGS = aa.Section(
    "things",
    "Synthetic.",
    aa.Table(
        "things",
        "One row per thing.",
        records("things"),
        key="name",
        columns=(
            text("name"),
            integer("seen_count", unit=COUNT),
            number("score"),
            category("kind", levels=("a", "b")),
            category("grade", levels=("low", "high"), ordered=True),
            text("note", source="detail.note", optional=True),
        ),
    ),
    aa.Table(
        "thing_days",
        "One row per thing and day.",
        keyed("things[].byDay", key="day"),
        key=("name", "day"),
        columns=(
            ref("name"),
            date("day"),
            integer("n", source="."),
        ),
    ),
    kept=("known",),
)
DAYS: dict[str, int] = {"2026-11-20": 0}


def thing(name: Any = "x", **fields: Any) -> dict[str, Any]:
    usual = {"seenCount": 1, "score": 0.5, "kind": "a", "grade": "low", "byDay": DAYS}
    return {"name": name, **usual, **fields}


def things(*rows: Any, **envelope: Any) -> dict[str, Any]:
    return {"things": [*rows], **envelope}


def facts_of(frame: pd.DataFrame, name: str) -> dict[str, Any]:
    """What is read of a column, and what is known of it."""
    dtype = frame[name].dtype
    return {
        "values": [plain(value) for value in frame[name]],
        "state": [plain(part) for part in frame.aa.availability.loc[name]],
        "levels": [*getattr(dtype, "categories", ())],
        "ordered": getattr(dtype, "ordered", None),
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_an_answer_that_is_not_as_declared_is_read_as_far_as_it_goes(case: dict[str, Any]) -> None:
    """``things.json``: answers of THINGS, their drift and extra, and facts of some columns."""
    tables = read(THINGS, case["answer"])
    assert [[*row] for row in drifts(tables)] == case.get("drift", [])
    assert {path: [*what] for path, what in extra(tables).items()} == case.get("extra", {})
    for name, expected in case.get("columns", {}).items():
        table, _, column = name.partition(".")
        facts = facts_of(tables[table], column)
        assert {fact: facts[fact] for fact in expected} == expected


def test_a_key_that_repeats_keeps_all_its_rows_and_numbers_them() -> None:
    answer = things(thing("x"), thing("y"), thing("x", seenCount=2))
    with pytest.warns(SchemaDriftWarning, match=r"@ things\(name\): the key is too short; add"):
        tables = aa.normalize(THINGS, answer)
    assert drifts(tables)[0] == ("duplicate key", "things(name)", 1, "")
    assert tables.main["seen_count"].tolist() == [1, 1, 2]
    assert tables.main["_row"].tolist() == [0, 1, 2]
    assert str(tables.main["_row"].dtype) == "Int64"
    assert tables.main.aa.explain(2, "seen_count").value == 2
    assert "_row" not in aa.normalize(THINGS, things(thing("x")))["things"]


def test_one_warning_a_read_that_names_the_first_problems() -> None:
    answer = things(thing(a=1, b=2, c=3, d=4), thing(None))
    with pytest.warns(SchemaDriftWarning) as warned:
        aa.normalize(THINGS, answer)
    (only,) = warned
    message = str(only.message)
    assert message.startswith(
        "the response of things is not as declared: null key @ things(name); null key @ "
    )
    assert message.endswith("and 3 more; all are in .drift and .extra of its tables")
    assert only.filename == __file__


def test_strict_lists_every_problem() -> None:
    answer = things(thing(a=1), thing(None, seenCount="1"), thing("y", byDay=5))
    with pytest.raises(PayloadError) as raised:
        aa.normalize(THINGS, answer, strict=True)
    problems = raised.value.problems or []
    assert sorted(problems) == [
        "new, such as 1 @ $.things[].a",
        "null key @ thing_days(name, day)",
        "null key @ things(name)",
        'wrong type, such as "1" @ $.things[].seenCount',
        "wrong type, such as 5 @ $.things[].byDay",
    ]
    assert raised.value.section == "things"
    assert all(problem in str(raised.value) for problem in problems)


# --- rows that a function makes ---------------------------------------------------------------


def table(rows: Any, *columns: aa.Column, key: str | tuple[str, ...]) -> aa.Section:
    return aa.Section("odd", "Synthetic.", aa.Table("odd", "One row.", rows, key, columns))


def bands(text: str) -> list[dict[str, Any]]:
    """The rows of a table in text, as ``top=3|rest=``."""
    pairs = (part.partition("=") for part in text.split("|"))
    return [{"band": band, "n": int(n) if n else None} for band, _, n in pairs]


BANDS = table(
    computed("items[].bands", bands),
    ref("item", source="^id"),
    text("band"),
    integer("n"),
    integer("place", source="#1"),
    key=("item", "band"),
)


def test_rows_that_a_function_makes_where_no_shape_fits() -> None:
    items = [{"id": "a", "bands": "top=3|rest="}, {"id": "b", "bands": None}, {"id": "c"}]
    answer = {"items": [*items, {"id": "d", "bands": "top=7"}]}
    tables = aa.normalize(BANDS, answer, strict=True)
    assert tables.main.to_numpy(dtype=object, na_value=None).tolist() == [
        ["a", "top", 3, 1],
        ["a", "rest", None, 2],
        ["d", "top", 7, 1],
    ]
    assert extra(tables)["$.items[0].bands"] == ('"top=3|rest="', "known")
    assert "$.items[1].id" in extra(tables)
    assert tables.rebuild() == answer


@pytest.mark.parametrize("odd", [lambda text: 1 / 0, lambda text: [5], lambda text: [{"a": {1}}]])
def test_a_function_that_makes_no_rows_is_refused(odd: Any) -> None:
    section = table(computed("x", odd), text("a"), key="a")
    with pytest.raises(PayloadError, match="the rows of odd could not be made"):
        read(section, {"x": "y"})


# --- availability ---------------------------------------------------------------------------


def test_the_statements_of_an_answer_are_a_table() -> None:
    tables = read(
        THINGS,
        things(
            thing(),
            availability={
                "status": "available",
                "sampleCount": 2**70,
                "asOf": "2026-11-20T06:10:00Z",
                "engines": {"x": {"status": "not_run", "sampleCount": 0, "asOf": "2026-11-20"}},
            },
        ),
    )
    section, engine = tables.availability.to_dict("records")
    assert (section["scope"], section["status"]) == ("section", "available")
    assert section["as_of"] == pd.Timestamp("2026-11-20T06:10:00Z")
    assert pd.isna(section["sample_size"])
    assert (engine["target"], engine["cause"], engine["sample_size"]) == ("x", "not_run", 0)
    assert engine["as_of"] is pd.NaT


# --- misuse ---------------------------------------------------------------------------------


def test_an_unknown_section_is_refused() -> None:
    with pytest.raises(ScopeError, match="did you mean 'domains'"):
        aa.normalize("domain", {})


@pytest.mark.parametrize("body", [b"", b"{", b"<html>", b'{"a": NaN}', '"\ud800"'])
def test_what_is_no_json_document_is_refused(body: Any) -> None:
    with pytest.raises(DecodeError):
        aa.normalize("domains", body)


@pytest.mark.parametrize("odd", [None, 5, {1, 2}, object()])
def test_what_is_no_answer_is_refused(odd: Any) -> None:
    with pytest.raises(PayloadError, match="give a Payload, bytes, text, dict or list"):
        aa.normalize("domains", odd)


@pytest.mark.parametrize(
    ("odd", "refusal"),
    [
        (object(), PayloadError),
        ({1}, PayloadError),
        (float("nan"), DecodeError),
        (float("inf"), DecodeError),
        ("\ud800", DecodeError),
    ],
)
def test_an_object_that_is_no_json_is_refused(odd: Any, refusal: type[Exception]) -> None:
    with pytest.raises(refusal):
        aa.normalize("domains", {"domains": [{"domain": odd}]})


def test_any_mapping_is_read_and_none_is_changed() -> None:
    answer = things(thing())
    before = json.dumps(answer)
    tables = aa.normalize(THINGS, MappingProxyType(answer))
    answer["things"][0]["name"] = "changed"
    assert tables.main["name"].tolist() == ["x"]
    tables.main.loc[0, "name"] = "mine"
    answer["things"][0]["name"] = "x"
    assert json.dumps(answer) == before


def test_null_instead_of_rows_is_unknown_and_not_none_measured() -> None:
    tables = aa.normalize(
        "domains",
        {
            "domain": "acme.example",
            "availability": {"status": "available"},
            "domains": None,
            "typeBreakdown": [],
        },
    )
    assert tables.drift.empty
    assert len(tables.main) == 0
    for name in ("source_domains", "source_domain_engines"):
        assert set(tables[name].aa.availability["status"]) == {"unknown"}
    assert set(tables["source_domain_types"].aa.availability["status"]) == {"available"}


@pytest.mark.parametrize(
    "answer", [{}, {"domain": "a.example"}, {"データ": {"訪問": 0}, "domain": "a.example"}]
)
def test_a_single_row_is_not_made_of_an_answer_that_lacks_it(answer: dict[str, object]) -> None:
    with pytest.warns(SchemaDriftWarning):
        assert len(aa.normalize("crawl", answer)["crawl_gateway"]) == 0
    with pytest.warns(SchemaDriftWarning):
        pending = aa.normalize("crawl", {**answer, "gateway": {"cname": {"state": "pending"}}})
    assert pending["crawl_gateway"]["cname_state"].tolist() == ["pending"]


@pytest.mark.parametrize(
    ("answer", "is_ignored"),
    [
        ({"filters": {"engine": None, "topic": None}}, True),
        ({"meta": {"query": {"engines": [], "days": 30}}}, True),
        ({"filters": {"engine": ["chatgpt"]}}, False),
        ({"filters": {"topic": None}}, False),
        ({"status": "partial", "reason": "It has no engine.", "filters": {"engine": None}}, False),
    ],
)
def test_a_filter_that_the_answer_repeats_as_null_may_have_been_ignored(
    answer: Any, is_ignored: bool
) -> None:
    columns = (aa.Column("brand", "string"), aa.Column("n", "Int64"))
    table = aa.Table("mine", "Synthetic.", aa.sections.records("rows"), "brand", columns)
    payload = payload_of({"rows": [{"brand": "a", "n": 3}], **answer})
    payload = replace(payload, scope=aa.Scope(engine="chatgtp"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        aa.normalize(aa.Section("mine", "Synthetic.", table), payload)
    assert any("may have ignored engine='chatgtp'" in str(w.message) for w in caught) == is_ignored
