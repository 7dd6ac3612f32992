"""Studies: what is recorded, and that it replays the same, without a network, anywhere."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from folders import contents
from samples import answer_to

import aatoolkit as aa
from aatoolkit import errors

TOKEN = "canary/7f3a9c.token+x~1"
HOST = "acme.example"
AT_ONCE = {"Retry-After": "0"}


@pytest.fixture
def study(scripted: Any, reply: Any, tmp_path: Path) -> aa.Study:
    """A study being recorded; the scripted server answers with the reference shapes."""
    scripted.script = lambda request: reply(answer_to(request))
    return aa.Study.create(tmp_path / "study", title="A study")


@pytest.fixture
def live(study: aa.Study, scripted: Any) -> Iterator[aa.Project]:
    with study.project(HOST, base_url=scripted.url, token=TOKEN, cache=False) as project:
        yield project


def replayed(study: aa.Study) -> aa.Project:
    return aa.Study(study.path).project(HOST)


def everything(study: aa.Study) -> bytes:
    return b"".join(contents(study.path).values())


# -- recording -------------------------------------------------------------------------------


def test_each_response_is_kept_once_with_its_request_and_no_token(
    study: aa.Study, live: aa.Project, scripted: Any
) -> None:
    payloads = [live.fetch("domains", days=7), live.fetch("domains", days=7), live.fetch("urls")]
    records = study.records
    assert [record.sha256 for record in records] == [payload.sha256 for payload in payloads]
    assert len(list((study.path / "responses").iterdir())) == 2
    for record, payload in zip(records, payloads, strict=True):
        assert study._read_body(record) == payload.body
        assert (record.url, record.status) == (payload.url, 200)
        assert record.fetched_at == payload.fetched_at
        assert record.size == len(payload.body)
        assert set(record.versions or {}) == {"aatoolkit", "pandas", "pyarrow", "python"}
    first = records[0]
    assert (first.host, first.section, first.scope) == (HOST, "domains", aa.Scope(days=7))
    assert first.base_url == scripted.url
    assert {"authorization", "set-cookie"}.isdisjoint(first.headers)
    assert TOKEN.encode() not in everything(study)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (404, {"error": {"code": "not_visible", "message": "no"}}, errors.NotVisible),
        (403, b"<html>no</html>", errors.NotVisible),
        (400, {"error": {"parameter": "engine", "allowed": ["x"]}}, errors.BadRequest),
        (406, {"error": "no"}, errors.StatusError),
        (502, {}, errors.ServerFailed),
    ],
)
def test_an_error_about_the_question_is_kept_and_comes_again(
    study: aa.Study, live: aa.Project, scripted: Any, reply: Any, status: int, body: Any, kind: type
) -> None:
    scripted.script = reply(body, status, AT_ONCE)
    with pytest.raises(kind) as first:
        live.fetch("urls", days=7)
    (record,) = study.records
    assert record.status == status
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    assert study._read_body(record) == raw
    with pytest.raises(kind) as again:
        replayed(study).fetch("urls", days=7)
    assert type(again.value) is type(first.value)
    assert str(again.value) == str(first.value)
    assert {name: getattr(again.value, name) for name in kind.facts} == {
        name: getattr(first.value, name) for name in kind.facts
    }


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (202, {"status": "pending"}),
        (204, b""),
        (404, {"error": {"code": "not_configured", "message": "no such data"}}),
        (409, {"error": {"code": "not_connected", "message": "connect it first"}}),
    ],
)
def test_a_response_that_explains_why_there_is_none_is_kept_as_it_is(
    study: aa.Study, live: aa.Project, scripted: Any, reply: Any, status: int, body: Any
) -> None:
    scripted.script = reply(body, status)
    before = live.read("crawl")
    (record,) = study.records
    assert (record.status, record.error) == (status, None)
    after = replayed(study).read("crawl")
    assert after._availability_texts == before._availability_texts
    assert after.availability.equals(before.availability)
    assert all(words.startswith("unavailable") for words in after._availability_texts.values())
    assert study.seal() == study.verify(replay=True).digest


@pytest.mark.parametrize(
    ("status", "kind"), [(401, errors.NotAuthorized), (429, errors.RateLimited), (302, None)]
)
def test_an_error_about_the_call_is_not_kept(
    study: aa.Study, live: aa.Project, scripted: Any, reply: Any, status: int, kind: Any
) -> None:
    scripted.script = reply({}, status, {**AT_ONCE, "Location": "/elsewhere"})
    with pytest.raises(kind or errors.StatusError):
        live.fetch("urls")
    assert study.records == ()


def test_of_several_responses_the_last_that_can_be_used_is_replayed(
    study: aa.Study, live: aa.Project, scripted: Any, reply: Any
) -> None:
    scripted.script = [reply({}, 404), reply({"urls": [1]}), reply({"urls": [2]}), reply({}, 404)]
    for expected in (False, True, True, False):
        try:
            live.fetch("urls", refresh=True)
            assert expected
        except errors.NotVisible:
            assert not expected
    assert replayed(study).fetch("urls").json == {"urls": [2]}
    assert len(study.records) == 4
    assert len(study._current_records) == 1


@pytest.mark.parametrize("place", ["body", "header", "error"])
def test_a_response_that_repeats_the_token_is_refused(
    study: aa.Study, live: aa.Project, scripted: Any, reply: Any, place: str
) -> None:
    body = {"you": f"sent {TOKEN}"}
    scripted.script = {
        "body": reply(body),
        "header": reply({"urls": []}, 200, {"ETag": TOKEN}),
        "error": reply(body, 404),
    }[place]
    # A body that repeats it is no response; elsewhere it is masked, as far as it can be seen.
    with contextlib.suppress(errors.DecodeError, errors.NotVisible):
        live.fetch("urls")
        assert place == "header"
    assert TOKEN.encode() not in everything(study)
    if place == "body":
        assert study.records == ()


def test_the_half_line_of_a_killed_writer_is_dropped(
    study: aa.Study, live: aa.Project, scripted: Any
) -> None:
    live.fetch("urls")
    manifest = study.path / "manifest.jsonl"
    content = manifest.read_bytes()
    (study.path / "responses" / ".tmp-0123456789abcdef").write_bytes(b"half")
    manifest.write_bytes(content + b'{"response":{"fetched')
    with pytest.raises(errors.StudyError, match="unfinished"):
        _ = study.records
    with aa.Study.resume(study.path) as again:
        again.project(HOST, base_url=scripted.url, cache=False).fetch("ads")
    assert [record.section for record in again.records] == ["urls", "ads"]
    assert manifest.read_bytes().startswith(content)
    assert again.verify()


def test_a_study_begins_in_an_empty_folder_only(study: aa.Study, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    for name in ("file", "other/file"):
        (tmp_path / name).write_text("")
    for name, why in (
        ("file", "Not a directory"),
        ("other", "holds other files"),
        ("\ud800", "surrogates"),
    ):
        with pytest.raises(errors.StudyError, match=f"no study can be created.*{why}"):
            aa.Study.create(tmp_path / name)
    for name in ("nowhere", "\ud800"):
        with pytest.raises(errors.StudyError, match="there is no study"):
            aa.Study(tmp_path / name)
    with pytest.raises(errors.StudyError, match="there is no study"):
        aa.Study.resume(tmp_path)


def test_a_cell_that_creates_a_study_may_be_run_again_until_it_is_sealed(study: aa.Study) -> None:
    for section in ("urls", "ads"):
        again = aa.Study.create(study.path, title="A study")
        again.record(aa.demo()).fetch(section)
    assert [record.section for record in again.records] == ["urls", "ads"]
    for other in ({"title": "Another"}, {"title": "A study", "creators": "Ada"}):
        with pytest.raises(errors.StudyError, match=r"another study is there.*Study\.resume"):
            aa.Study.create(study.path, **other)  # type: ignore[arg-type]
    digest = again.seal()
    with pytest.raises(errors.StudyError, match="is sealed") as refused:
        aa.Study.create(study.path, title="A study")
    for line in re.findall(r"aa\.Study\S*\(.*?\)", str(refused.value)):
        assert eval(line).digest == digest, "what it says to do can be pasted"
    assert "resume=True" in line
    for _ in range(2):
        with eval(line) as again:
            again.record(aa.demo()).fetch("urls")
    assert len(aa.Study(study.path).records) == 4
    assert again.verify().digest != digest


def test_two_studies_become_one_and_what_they_differ_in_is_named(
    study: aa.Study, live: aa.Project, scripted: Any, reply: Any, tmp_path: Path
) -> None:
    live.fetch("urls")
    study.results["rows"] = live.read("urls").main[["url"]]
    with aa.Study.create(tmp_path / "other") as other:
        project = other.project(HOST, base_url=scripted.url, token=TOKEN, cache=False)
        project.fetch("ads")
        other.results["rows"] = project.read("ads").main
        scripted.script = reply({"urls": []})
        project.fetch("urls")
    with pytest.raises(errors.StudyError, match="differ in the response to urls") as refused:
        study.merge(other)
    assert len(refused.value.problems) == 2
    assert "the result 'rows'" in str(refused.value)
    assert "replace=True" in str(refused.value)
    before = study.records
    study.merge(other, replace=True).seal()
    assert study.records == (
        *before,
        *(
            replace(r, previous=s.previous)
            for r, s in zip(other.records, study.records[len(before) :], strict=True)
        ),
    )
    assert replayed(study).fetch("urls").json == {"urls": []}
    assert study.results.hashes == other.results.hashes
    assert study.merge(other).verify(), "what is there already changes nothing"


def test_a_block_that_fails_leaves_no_seal(study: aa.Study, live: aa.Project) -> None:
    def fail() -> None:
        with study:
            live.fetch("urls")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert study.digest is None
    with study:
        pass
    assert study.digest is not None


# -- replaying -------------------------------------------------------------------------------


def test_a_replay_gives_the_same_frames(study: aa.Study, live: aa.Project) -> None:
    options, dataset = live.scope_options(), live.read_all(progress=False)
    combined, payload = live.combined(days=90), live.fetch("urls", days=7)
    again = replayed(study)
    assert repr(again.scope_options()) == repr(options)
    for recorded, played in (
        (dataset, again.read_all(progress=False)),
        (combined, again.combined(days=90)),
    ):
        assert list(recorded) == list(played)
        for section, tables in recorded.items():
            for name, frame in tables.items():
                assert frame.equals(played[section][name])
                assert frame.attrs == played[section][name].attrs
            assert tables.extra.equals(played[section].extra)
            assert tables.drift.equals(played[section].drift)
            assert tables.availability.equals(played[section].availability)
    response = again.fetch("urls", days=7)
    assert (response.body, response.url, response.fetched_at) == (
        payload.body,
        payload.url,
        payload.fetched_at,
    )
    assert again.client.offline


def test_what_was_not_recorded_names_the_nearest(study: aa.Study, live: aa.Project) -> None:
    live.fetch("domains", days=7, engine="gemini")
    live.fetch("urls", days=90)
    with pytest.raises(errors.NotCached, match="the nearest recorded request is domains") as caught:
        replayed(study).read("domains", days=7, engine="chatgpt")
    assert caught.value.nearest == "domains of acme.example, Scope(days=7, engine=('gemini',))"
    assert (caught.value.section, caught.value.scope) == (
        "domains",
        aa.Scope(days=7, engine="chatgpt"),
    )
    with pytest.raises(errors.NotCached, match="nearest"):
        replayed(study).scope_options()


def test_hosts_and_services_are_distinguished(
    study: aa.Study, live: aa.Project, scripted: Any
) -> None:
    live.fetch("urls")
    with study.project("Bücher.example", base_url=f"{scripted.url}/v2", cache=False) as other:
        other.fetch("ads")
    opened = aa.Study(study.path)
    assert opened._hosts == (HOST, "xn--bcher-kva.example")
    assert opened.project("bücher.example").fetch("ads").host == "xn--bcher-kva.example"
    with pytest.raises(errors.StudyError, match="no responses about hooli"):
        opened.project("hooli.example")
    with study.project(HOST, base_url=f"{scripted.url}/v2", cache=False) as other:
        other.fetch("crawl")
    with pytest.raises(errors.StudyError, match="base_url="):
        opened.project(HOST)
    assert opened.project(HOST, base_url=f"{scripted.url}/v2").fetch("crawl").section == "crawl"


def test_an_opened_study_records_nothing(study: aa.Study, live: aa.Project) -> None:
    live.fetch("urls")
    opened = aa.Study(study.path)
    with pytest.raises(errors.StudyError, match="resume"):
        opened.project(HOST, token="x")
    with pytest.raises(errors.StudyError, match="resume"):
        opened.record(live)
    with pytest.raises(errors.StudyError, match="resume"):
        opened.seal()
    with pytest.raises(errors.StudyError, match="not recorded again"):
        study.record(live)
    with pytest.raises(errors.StudyError, match="record the project without alias="):
        study.record(live.client.project(HOST, alias="client-a"))
    assert not opened._writer


# -- what it looks like ----------------------------------------------------------------------
