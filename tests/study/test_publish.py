"""Publications: valid for the field's validators, the same bytes again, nothing left out shows."""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from effort import is_thorough, one_in
from folders import contents
from processes import python
from samples import SAMPLES, payload_of, sample, sample_bytes

import aatoolkit as aa
from aatoolkit.errors import AAToolkitWarning, NotWritten, SchemaDriftWarning
from aatoolkit.sections import date, integer, number, records, text
from aatoolkit.study.publishing import PublicationDetails, publish

ABOUT = PublicationDetails(
    'What "engines" cite: a study',
    description="Which sites engines cite.",
    creators=("Ada Example", "Émile: Ünïcode"),
    licence="CC-BY-4.0",
    digest="ab" * 32,
)
FAST = ("ads", "chats", "crawl", "domains", "overview")
MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)


def unguarded(text: str) -> str:
    escapes = r"(?:\\u[0-9a-f]{4})+"
    return re.sub(escapes, lambda match: json.loads(f'"{match[0]}"'), text.removeprefix("'"))


@cache
def response(section: str, host: str = "acme.example", **scope: Any) -> aa.Tables:
    """A sample, as if it had been read from a host; nobody changes it."""
    payload = payload_of(
        sample_bytes(section),
        url=f"https://api.example/api/domains/{host}/agent-analytics?section={section}",
        fetched_at=MOMENT + timedelta(minutes=len(host)),
        section=section,
        scope=aa.Scope(**scope),
        host=host,
    )
    return aa.normalize(section, payload)


def everything() -> list[aa.Tables]:
    """Every section of one host, and some of another, and in another scope.

    A fast run has some of the sections.
    """
    names = sorted(path.stem for path in SAMPLES.glob("*.json"))
    responses = [response(name) for name in names if is_thorough() or name in FAST]
    responses += [
        response("domains", "initech.example"),
        response("chats", days=7, engine="chatgpt"),
    ]
    return responses


def few() -> list[aa.Tables]:
    return [response("domains"), response("chats")]


@pytest.fixture(scope="module")
def publication(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A publication of everything."""
    out = tmp_path_factory.mktemp("published") / "out"
    return publish(everything(), out, ABOUT)


# --- valid ----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_frictionless_finds_every_table_as_it_is_described(publication: Path) -> None:
    import frictionless  # it takes a second of each run that only collects

    package = frictionless.Package(publication / "datapackage.json")
    report = package.validate()
    assert report.valid, report.flatten(["name", "message"])[:5]
    assert report.stats["tasks"] == len([*(publication / "data").iterdir()])
    assert package.get_resource("source_domains").schema.primary_key == [
        "response",
        "source_domain",
    ]
    assert package.licenses == [{"name": "CC-BY-4.0"}]
    assert [person["title"] for person in package.contributors] == [*ABOUT.creators]


@pytest.mark.parametrize(
    "title", one_in(3, ["x\u2028y\x85\ufeffz", "a: b # c", "'\"\\", "- 1", "ñ 🙂", "\x7f"])
)
def test_any_title_can_be_cited(title: str, tmp_path: Path) -> None:
    out = publish([response("gaps")], tmp_path / "out", PublicationDetails(title))
    cited = yaml.safe_load((out / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["title"] == title
    assert len(cited["authors"]) == 1
    assert "license" not in cited
    assert json.loads((out / "datapackage.json").read_bytes())["title"] == title


def test_the_checksums_are_those_of_every_file(publication: Path) -> None:
    lines = (publication / "SHA256SUMS").read_text().splitlines()
    checksums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    there = contents(publication)
    del there["SHA256SUMS"]
    assert checksums == {name: hashlib.sha256(body).hexdigest() for name, body in there.items()}


def test_the_codebook_explains_every_column(publication: Path) -> None:
    book = pd.read_csv(publication / "codebook.csv", dtype="string").map(
        lambda cell: unguarded(cell) if isinstance(cell, str) else cell
    )
    columns = {
        (path.stem, name)
        for path in (publication / "data").glob("*.parquet")
        for name in pq.read_schema(path).names
    }
    assert {*zip(book["table"], book["column"], strict=True)} == columns
    assert book["doc"].notna().all()
    row = book.set_index(["table", "column"]).loc[("source_domains", "citation_count")]
    assert (row["unit"], row["aggregation"], row["dtype"]) == ("count", "sum", "Int64")
    assert row["availability"] == "available"


# --- one table over all hosts and scopes ----------------------------------------------------


def test_rows_of_all_hosts_and_scopes_are_in_one_table_with_where_they_are_from(
    publication: Path,
) -> None:
    domains = aa.read_parquet(publication / "data" / "source_domains.parquet")
    expected = response("domains").main
    assert domains["host"].tolist() == ["acme.example"] * len(expected) + ["initech.example"] * len(
        expected
    )
    assert domains[[*expected.columns]].iloc[: len(expected)].equals(expected)
    chats = aa.read_parquet(publication / "data" / "chats.parquet")
    assert {*chats["filter_engine"].dropna()} == {"chatgpt"}
    assert {*chats["days"]} == {7, 30}
    responses = aa.read_parquet(publication / "data" / "responses.parquet").set_index("response")
    assert len(responses) == len(everything())
    for table in ("source_domains", "chats"):
        rows = aa.read_parquet(publication / "data" / f"{table}.parquet")
        facts = responses.loc[rows["response"]]
        for name in ("host", "days", "window_start", "filter_engine", "fetched_at"):
            left, right = rows[name], facts[name].reset_index(drop=True)
            pd.testing.assert_series_equal(left, right, check_names=False)
    assert domains.aa.sources["sha256"].nunique() == 1
    assert len(domains.aa.sources) == 2


def test_what_could_be_measured_is_reported_of_the_whole_and_of_each_response(
    tmp_path: Path,
) -> None:
    measured = response("crawl")
    body = {"section": "crawl", "availability": {"status": "not_connected"}, "bots": None}
    payload = replace(measured.payload, body=json.dumps(body).encode(), host="initech.example")
    with pytest.warns(SchemaDriftWarning):
        lacking = aa.normalize("crawl", payload)
    out = publish([lacking, measured], tmp_path / "out", ABOUT)
    crawls = aa.read_parquet(out / "data" / "crawl_bots.parquet")
    assert crawls.aa.availability.loc["requests", "status"] == "partial"
    availability = aa.read_parquet(out / "data" / "availability.parquet").merge(
        aa.read_parquet(out / "data" / "responses.parquet")[["response", "host"]], on="response"
    )
    requests = availability.query("table == 'crawl_bots' and column == 'requests'")
    assert requests.set_index("host")[["status", "cause"]].fillna("").T.to_dict("list") == {
        "acme.example": ["available", ""],
        "initech.example": ["unavailable", "not_connected"],
    }
    assert {*crawls["host"]} == {"acme.example"}


@pytest.mark.thorough
def test_the_crate_holds_every_file_with_its_checksum_and_where_it_is_from(
    publication: Path,
) -> None:
    from rocrate.rocrate import ROCrate  # it takes a second of each run that only collects

    crate, held = ROCrate(publication), contents(publication)
    assert crate.root_dataset["name"] == ABOUT.title
    assert [person["name"] for person in crate.root_dataset["author"]] == [*ABOUT.creators]
    described = {entity.id: entity for entity in crate.data_entities}
    assert {*described} == {*held} - {"ro-crate-metadata.json", "SHA256SUMS"}
    for name, entity in described.items():
        assert entity["sha256"] == hashlib.sha256(held[name]).hexdigest()
        assert entity["contentSize"] == str(len(held[name]))
    (action,) = crate.get_by_type("CreateAction")
    sources = {source["sha256"] for source in action["object"]}
    assert hashlib.sha256(sample_bytes("domains")).hexdigest() in sources


@pytest.mark.thorough
def test_responses_that_could_not_be_used_are_listed(tmp_path: Path) -> None:
    payload = replace(response("domains").payload, status=502, body=b"{}", host="hooli.example")
    failure = (payload, "the service failed")
    out = publish(few(), tmp_path / "out", ABOUT, failed_payloads=[failure])
    silent = publish(few(), tmp_path / "silent", ABOUT, failed_payloads=[failure], redact="texts")
    assert traces(silent, "the service failed") == []
    responses = pd.read_parquet(out / "data" / "responses.parquet")
    assert responses["error"].tolist() == [pd.NA, pd.NA, "the service failed"]
    assert responses["status"].tolist() == [200, 200, 502]
    assert "2 usable, 1 with errors" in (out / "README.md").read_text()


# --- the same bytes -------------------------------------------------------------------------

AGAIN = """
    import sys
    sys.path[:0] = ["tests/study", "tests/helpers", "tests"]
    import random
    from pathlib import Path
    import test_publish as tests
    responses = [*tests.few(), tests.response("domains", "initech.example")]
    random.shuffle(responses)
    tests.publish(responses, Path(sys.argv[1]) / "deep" / "out", tests.ABOUT, csv=True, excel=True)
"""


@pytest.mark.thorough
def test_the_same_responses_give_the_same_bytes_wherever_and_in_whatever_order(
    tmp_path: Path,
) -> None:
    published = []
    for at, (zone, seed, locale) in enumerate(
        [("UTC", "0", "C"), ("Asia/Kathmandu", "1", "C.UTF-8"), ("America/St_Johns", "7", "C")]
    ):
        place = tmp_path / str(at)
        place.mkdir()
        code, settings = textwrap.dedent(AGAIN), {"PYTHONHASHSEED": seed, "LC_ALL": locale}
        done = python("-c", code, place, TZ=zone, **settings)
        assert done.returncode == 0, done.stderr
        published.append(contents(place / "deep" / "out"))
    assert published[0].keys() == published[1].keys() == published[2].keys()
    for name, body in published[0].items():
        assert body == published[1][name] == published[2][name], name
    assert "tables.xlsx" in published[0]


# --- what is left out -----------------------------------------------------------------------


def planted(canary: str) -> aa.Tables:
    """A response that says one thing wherever it can."""
    body = sample("chats")
    chat = body["chats"][0]
    chat["answer"] |= {"text": canary, "format": canary}
    chat |= {"prompt": canary, "new": {"quoted": canary}}
    chat |= {"features": [canary], "ranAt": {"odd": canary}}
    body["sampling"] = canary
    body["availability"] = {
        "status": "partial",
        "reason": canary,
        "fields": {"chats[].answer.text": {"status": "partial", "reason": canary}},
    }
    payload = replace(response("chats").payload, body=json.dumps(body).encode())
    with pytest.warns(SchemaDriftWarning):
        return aa.normalize("chats", payload)


def traces(folder: Path, word: str) -> list[str]:
    """The files in which a word stands, in whatever way they are packed."""
    names = []
    for name, body in contents(folder).items():
        parts = [body]
        if name.endswith(".parquet"):
            table = pq.read_table(folder / name)
            parts += [repr(table.schema.metadata).encode(), table.to_pandas().to_csv().encode()]
            parts += [repr(pq.read_metadata(folder / name).to_dict()).encode()]
            parts += [repr(field.metadata).encode() for field in table.schema]
        if name.endswith(".xlsx"):
            sheets = pd.read_excel(folder / name, sheet_name=None)
            parts += [sheet.to_csv().encode() for sheet in sheets.values()]
        if any(word.encode() in part for part in parts):
            names.append(name)
    return names


@pytest.mark.thorough
def test_what_is_left_out_is_nowhere(tmp_path: Path) -> None:
    import frictionless

    canary = "CANARY7c1f"
    redact = ["texts", "features", "answer_format"]
    everywhere = publish([planted(canary)], tmp_path / "all", ABOUT, csv=True, excel=True)
    leaks = traces(everywhere, canary)
    assert {"data/chats.parquet", "data/availability.parquet", "codebook.csv"} < {*leaks}
    assert {"tables.xlsx", "csv/chats.csv"} < {*leaks}
    out = publish([planted(canary)], tmp_path / "out", ABOUT, csv=True, excel=True, redact=redact)
    assert traces(out, canary) == []
    columns = pq.read_schema(out / "data" / "chats.parquet").names
    assert "answer_text" not in columns
    assert "answer_characters" in columns
    assert "answer\\_format, features, texts" in (out / "README.md").read_text().replace(
        "answer_format", "answer\\_format"
    )
    assert frictionless.Package(out / "datapackage.json").validate().valid
    availability = pd.read_parquet(out / "data" / "availability.parquet")
    assert availability["status"].notna().all()
    assert availability["reason"].isna().all()


def test_a_host_and_a_filter_are_left_out_of_the_sources_too(tmp_path: Path) -> None:
    payload = response("domains", "secret-host.example", topic="Secret topic").payload
    body = payload.body.replace(b"acme.example", b"other.example")
    tables = aa.normalize("domains", replace(payload, body=body))
    out = publish([tables], tmp_path / "out", ABOUT, redact=["host", "topic"])
    for word in ("secret-host", "Secret topic", "Secret+topic", "Secret%20topic"):
        assert traces(out, word) == []
    sources = aa.read_parquet(out / "data" / "source_domains.parquet").aa.sources
    assert sources["sha256"].notna().all()
    assert sources[["host", "scope", "url"]].isna().all(axis=None)


def test_a_copy_of_what_is_left_out_is_pointed_to(tmp_path: Path) -> None:
    redact = ["source_domains.source_domain"]
    with pytest.warns(AAToolkitWarning, match=r"in 6 columns: (\S+, ){5}\S+;"):
        publish([response("domains")], tmp_path / "out", ABOUT, redact=redact)


def test_a_copy_without_words_is_pointed_to(tmp_path: Path) -> None:
    columns = (aa.Column("hidden", "string"), aa.Column("shown", "string"))
    table = aa.Table("t", "Synthetic.", aa.sections.records("rows"), (), columns)
    payload = replace(
        response("chats").payload,
        body=json.dumps({"rows": [{"hidden": "👍", "shown": "👍"}]}).encode(),
    )
    tables = aa.normalize(aa.Section("mine", "Synthetic.", table), payload)
    with pytest.warns(AAToolkitWarning, match=r"also in 1 column: t\.shown;"):
        publish([tables], tmp_path / "out", ABOUT, redact=["t.hidden"])


@pytest.mark.parametrize(
    "copy",
    one_in(1, ["Of «{}?», I'd say:", "https://s.example/{}/", "https://s.example/?q={}"]),
)
def test_a_copy_inside_a_longer_text_is_pointed_to(copy: str, tmp_path: Path) -> None:
    body = sample("chats")
    prompt = body["chats"][0]["prompt"]
    quoted = prompt if " " in copy else quote(prompt.lower().strip("?"))
    body["chats"][0]["answer"]["text"] = copy.format(quoted)
    payload = replace(response("chats").payload, body=json.dumps(body).encode())
    with pytest.warns(AAToolkitWarning, match=r"is also in .*chats\.answer_text.*leave that out"):
        publish([aa.normalize("chats", payload)], tmp_path / "out", ABOUT, redact=["prompt"])


@pytest.mark.parametrize(
    "slip", one_in(3, ["answer_txt", "chats.answer", "response", "fetched_at", "", "x.y"])
)
def test_a_slip_publishes_nothing(slip: str, tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match=repr(slip)):
        publish(few(), tmp_path / "out", ABOUT, redact=[slip])
    assert [*tmp_path.iterdir()] == []


# --- spreadsheets ---------------------------------------------------------------------------

EVIL = [
    *("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1+1", "＋1", "－1", "＠x"),
    *("'quoted", "''", "", "12345678901234567", "0001", '=HYPERLINK("http://x","y")', '","=1'),
    *("http://x.example", "_x0041_", "a\x0bb", "x\ufffe", "🙂" * 20_000, "é" * 40_000, "plain"),
]


def evil() -> aa.Tables:
    rows = [
        {"id": str(at), "word": word, "count": 10**17 + at, "share": 0.5, "on": "2026-11-20"}
        for at, word in enumerate(EVIL)
    ]
    columns = (
        text("id"),
        text("word", "=HYPERLINK(1)"),
        integer("count"),
        number("share"),
        date("on"),
    )
    table = aa.Table("words", '=HYPERLINK("http://x.example")', records("words"), "id", columns)
    payload = replace(response("gaps").payload, body=json.dumps({"words": rows}).encode())
    return aa.normalize(aa.Section("words", "Words.", table), payload)


def test_csv_is_safe_to_open_and_gives_every_text_back(tmp_path: Path) -> None:
    out = publish([evil()], tmp_path / "out", ABOUT, csv=True)
    raw = pd.read_csv(out / "csv" / "words.csv", dtype=str, keep_default_na=False)
    dangerous = tuple("=+-@\t\r\n ＝＋－＠")
    assert not raw["word"].str.startswith(dangerous).any()
    assert [unguarded(word) for word in raw["word"]] == EVIL
    assert [int(unguarded(word)) for word in raw["count"]] == [10**17 + n for n in range(len(EVIL))]
    assert not raw["count"].str.fullmatch(r"\d+").any()
    assert {*raw["on"]} == {"2026-11-20"}
    assert {*raw["fetched_at"]} == {"2026-11-20T12:12:00Z"}


# --- whole or not there ---------------------------------------------------------------------


def test_an_earlier_publication_is_replaced_on_request_only(tmp_path: Path) -> None:
    out = publish([response("fanouts")], tmp_path / "out", ABOUT)
    before = contents(out)
    with pytest.raises(NotWritten, match="overwrite=True"):
        publish([response("gaps")], out, PublicationDetails("Another"))
    assert contents(out) == before
    publish([response("gaps")], out, PublicationDetails("Another"), overwrite=True)
    assert "data/fanouts.parquet" not in contents(out)
    assert [*tmp_path.iterdir()] == [out]
    with pytest.raises(NotWritten, match="too long"):
        publish([response("gaps")], tmp_path / ("x" * 5000), ABOUT)


def test_a_folder_with_anything_else_in_it_is_never_replaced(tmp_path: Path) -> None:
    tables = [response("gaps")]
    out = publish(tables, tmp_path / "out", ABOUT)
    for theirs in ("notes.txt", "data/mine.parquet"):
        (out / theirs).write_text("mine")
        with pytest.raises(NotWritten, match=theirs):
            publish(tables, out, ABOUT, overwrite=True)
        assert (out / theirs).read_text() == "mine"
        (out / theirs).unlink()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "work.txt").write_text("mine")
    with pytest.raises(NotWritten, match=r"work\.txt"):
        publish(tables, tmp_path / "other", ABOUT, overwrite=True)
