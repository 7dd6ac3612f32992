"""http: the token, the cache, failures, retries and limits, against real sockets."""

from __future__ import annotations

import copy
import gzip
import json
import logging
import os
import pickle
import socket
import stat
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import responses
from hypothesis import given
from hypothesis import strategies as st

from aatoolkit import Client, Payload, errors
from aatoolkit._util.hosts import canonical_host
from aatoolkit.http import BaseUrl, Fetcher, ResponseCache, Secret, cache_info, clear_cache
from aatoolkit.payload import Request

TOKEN = "canary-7f3a9c.TOKEN_~+/=="
HOST = "acme.example"
WEEK = {"section": "domains", "days": "7"}


@pytest.fixture
def waits() -> list[float]:
    """The waits between attempts, which nobody waits for."""
    return []


@pytest.fixture
def fetcher(scripted: Any, tmp_path: Path, waits: list[float]) -> Iterator[Callable[..., Fetcher]]:
    """Makes fetchers of the scripted server, closed after the test."""
    made: list[Fetcher] = []

    def make(**settings: Any) -> Fetcher:
        given = {"cache": tmp_path / "cache", "token": TOKEN, "sleep": waits.append, **settings}
        made.append(Fetcher(given.pop("base_url", scripted.url), **given))
        return made[-1]

    yield make
    for one in made:
        one.close()


def ask(fetcher: Fetcher, params: dict[str, str] | None = None, **more: Any) -> Payload:
    params = WEEK if params is None else params
    return fetcher.get(Request("agent-analytics", HOST, "domains", params=params, **more))


def fails(kind: type[errors.FetchError], fetcher: Fetcher, **more: Any) -> Any:
    """The error that a question ends in; exactly of this kind."""
    with pytest.raises(kind) as caught:
        ask(fetcher, **more)
    assert type(caught.value) is kind
    return caught.value


# -- the question ----------------------------------------------------------------------------


def test_a_question_goes_out_as_documented(scripted: Any, fetcher: Any) -> None:
    payload = ask(fetcher(), {"section": "urls", "days": "7", "topic": "a b&c,d"})
    (request,) = scripted.requests
    assert request.path == (
        "/api/domains/acme.example/agent-analytics?section=urls&days=7&topic=a+b%26c%2Cd"
    )
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert "cache-control" not in request.headers
    assert payload.json == {"ok": True}
    assert (payload.status, payload.host, payload.section) == (200, HOST, "domains")
    assert not payload.from_cache
    assert not payload.stale
    assert abs(datetime.now(UTC) - payload.fetched_at) < timedelta(seconds=10)


def test_the_path_of_the_base_url_is_kept(scripted: Any, fetcher: Any) -> None:
    ask(fetcher(base_url=f"{scripted.url}/v1/"))
    assert scripted.requests[0].path.startswith("/v1/api/domains/acme.example/")


@responses.activate
def test_https_is_used_for_other_machines() -> None:
    url = "https://api.example/api/domains/acme.example/scope-options"
    responses.get(url, json={"days": [7]})
    fetcher = Fetcher("https://api.example", TOKEN, cache=False)
    assert fetcher.get(Request("scope-options", HOST)).json == {"days": [7]}
    fetcher.close()


def test_what_may_be_compressed_is_read(scripted: Any, fetcher: Any, reply: Any) -> None:
    body = gzip.compress(b'{"ok": 1}')
    scripted.script = reply(body, headers={"Content-Encoding": "gzip"})
    assert ask(fetcher()).body == b'{"ok": 1}'


# -- the token -------------------------------------------------------------------------------


def test_a_proxy_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://somebody:secret@127.0.0.1:9")
    with (
        Client("https://api.example", TOKEN, cache=False, deadline=1) as client,
        pytest.raises(errors.ConnectionFailed, match="the proxy that the environment") as caught,
    ):
        client.project("acme.example").read("urls")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("given", [f"{TOKEN}\n", f"Bearer {TOKEN}", f" bearer  {TOKEN}\r\n"])
def test_a_token_is_stripped(scripted: Any, fetcher: Any, given: str) -> None:
    ask(fetcher(token=given))
    assert scripted.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("canary token", "character 7"),
        ("canary\ntoken", "character 7"),
        ("canarü", "character 6"),
        ("canary\0", "character 7"),
        ("=canary", "character 1"),
        ("Bearer Bearer canary", "character 7"),
    ],
)
def test_a_bad_token_is_refused_and_not_shown(bad: str, says: str) -> None:
    with pytest.raises(errors.ConfigurationError, match=says) as caught:
        Fetcher("https://api.example", bad, cache=False)
    assert caught.value.setting == "token"
    assert "canar" not in str(caught.value)


def test_a_secret_is_not_shown_copied_or_pickled() -> None:
    secret = Secret(TOKEN)
    assert f"{secret} {secret!r} {[secret]}" == "*** *** [***]"
    assert not hasattr(secret, "__dict__")
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            attempt(secret)


def surfaces(error: BaseException) -> str:
    """Whatever may be shown or kept of an error, the locals of its traceback included."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    # The tests themselves hold the token in their locals.
    shown.stack[:] = [frame for frame in shown.stack if frame.filename != __file__]
    assert "fetcher.py" in "".join(shown.format()), "the locals must be there to be searched"
    return "".join(shown.format()) + repr(vars(error)) + repr(pickle.dumps(error))


@pytest.mark.parametrize("status", [302, 400, 401, 404, 418, 429, 500, 502])
def test_no_error_holds_the_token(scripted: Any, fetcher: Any, reply: Any, status: int) -> None:
    echo = {"error": {"code": TOKEN, "message": f"no {TOKEN}", "parameter": TOKEN}}
    headers = {"X-Request-Id": TOKEN, "Location": f"https://{TOKEN}.example/"}
    scripted.script = reply(echo, status, headers)
    with pytest.raises(errors.StatusError) as caught:
        ask(fetcher())
    assert TOKEN not in surfaces(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_no_error_of_the_transport_holds_the_token(scripted: Any, fetcher: Any, reply: Any) -> None:
    for script in (
        reply(write=lambda out, _: out.write(b"garbage\r\n\r\n")),
        reply(TOKEN.encode()),
        reply(b"<html>" + TOKEN.encode()),
        reply(b'{"%b": 1, "%b": 2}' % (TOKEN.encode(), TOKEN.encode())),
    ):
        scripted.script = script
        with pytest.raises(errors.FetchError) as caught:
            ask(fetcher())
        assert TOKEN not in surfaces(caught.value)
        assert caught.value.__context__ is None


def test_the_token_is_kept_nowhere(
    scripted: Any, fetcher: Any, reply: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(1)
    scripted.script = reply({"ok": 1}, headers={"X-Request-Id": TOKEN, "Set-Cookie": "a=secret"})
    reader = fetcher()
    payload = ask(reader)
    ask(reader)
    scripted.script = reply({"echo": TOKEN})
    with pytest.raises(errors.DecodeError, match="repeats the token"):
        ask(reader, {"section": "urls"})
    reader.close()
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    kept = b"".join(file.read_bytes() for file in files)
    assert b'{"ok": 1}' in kept, "the search must be able to find what is there"
    for secret in (TOKEN.encode(), b"secret", b"Authorization"):
        assert secret not in kept
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(vars(reader)) + repr(payload) + repr(pickle.dumps(payload))
    assert "cookie" not in scripted.requests[-1].headers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("https://elsewhere.example/x?token=1", "elsewhere.example"),
        ("//elsewhere.example", "elsewhere.example"),
        ("/login", "127.0.0.1"),
        ("file:///etc/passwd", None),
    ],
)
def test_redirects_are_refused(
    scripted: Any, fetcher: Any, reply: Any, status: int, location: str, target: str | None
) -> None:
    scripted.script = reply({}, status, {"Location": location})
    error = fails(errors.StatusError, fetcher())
    assert (error.status, error.target) == (status, target)
    assert len(scripted.requests) == 1
    assert "token=1" not in str(error)


# -- the cache -------------------------------------------------------------------------------


def test_an_answer_is_kept_whatever_it_varies_by(scripted: Any, fetcher: Any, reply: Any) -> None:
    scripted.script = reply(
        {"ok": 1}, headers={"Vary": "Authorization", "Cache-Control": "no-store"}
    )
    reader = fetcher()
    first, second = ask(reader), ask(reader)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert second.body == first.body
    assert second.fetched_at == first.fetched_at
    assert second.headers == first.headers
    assert second.sha256 == first.sha256
    assert len(scripted.requests) == 1


def test_order_and_repetition_of_values_do_not_matter(scripted: Any, fetcher: Any) -> None:
    reader = fetcher()
    ask(reader, {"days": "7", "engine": "b,a"})
    assert ask(reader, {"engine": "a,b,a", "days": "7"}).from_cache
    assert not ask(reader, {"engine": "a", "days": "7"}).from_cache
    assert not ask(reader, {"engine": "a,b", "days": "30"}).from_cache


def test_two_accounts_share_no_answers(scripted: Any, fetcher: Any, reply: Any) -> None:
    scripted.script = lambda request: reply(
        {"for": request.headers.get("authorization", "nobody")[-1:]}
    )
    for token in ("account-a", "account-b", None):
        assert ask(fetcher(token=token)).json == {"for": token[-1] if token else "y"}
    for token in ("account-a", "account-b", None):
        again = ask(fetcher(token=token))
        assert again.from_cache
        assert again.json == {"for": token[-1] if token else "y"}


def test_two_origins_share_no_answers(scripted: Any, fetcher: Any) -> None:
    ask(fetcher())
    other = scripted.url.replace("127.0.0.1", "localhost")
    assert not ask(fetcher(base_url=other)).from_cache


def test_a_refresh_goes_out_and_replaces(scripted: Any, fetcher: Any, reply: Any) -> None:
    scripted.script = [reply({"n": n}) for n in (1, 2, 3)]
    reader = fetcher()
    assert ask(reader).json == {"n": 1}
    assert ask(reader, {**WEEK, "refresh": "1"}, refresh=True).json == {"n": 2}
    assert ask(reader, {**WEEK, "refresh": "1"}, refresh=True).json == {"n": 3}
    kept = ask(reader)
    assert kept.json == {"n": 3}
    assert kept.from_cache


def test_a_failed_refresh_is_an_error_and_loses_nothing(
    scripted: Any, fetcher: Any, reply: Any
) -> None:
    reader = fetcher()
    ask(reader)
    scripted.script = reply({}, 500)
    fails(errors.ServerFailed, reader, refresh=True)
    assert ask(reader).from_cache


def test_answers_expire_as_requested(scripted: Any, fetcher: Any, reply: Any) -> None:
    scripted.script = [reply({"n": n}) for n in (1, 2)]
    reader = fetcher()
    ask(reader)
    assert ask(reader, expire_after=60).json == {"n": 1}
    assert ask(reader, expire_after=0).json == {"n": 2}
    assert ask(reader).json == {"n": 2}


@pytest.mark.parametrize("shift", [timedelta(hours=-2), timedelta(hours=2)])
def test_an_answer_too_old_or_from_the_future_is_requested_again(
    scripted: Any, fetcher: Any, tmp_path: Path, shift: timedelta
) -> None:
    reader = fetcher()
    ask(reader)
    move_clock_of_cache(tmp_path / "cache", shift)
    assert not ask(reader).from_cache


def move_clock_of_cache(folder: Path, shift: timedelta) -> None:
    """As if everything kept had been fetched at another time."""
    cache = ResponseCache(folder, Secret(TOKEN))
    for kept in list(cache):
        cache.put(replace(kept, fetched_at=kept.fetched_at + shift))
    cache.close()


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 202])
def test_only_final_answers_are_kept(
    scripted: Any, fetcher: Any, reply: Any, tmp_path: Path, status: int
) -> None:
    scripted.script = reply({"status": "pending"}, status)
    reader = fetcher()
    if status == 202:
        assert ask(reader).status == 202
    else:
        with pytest.raises(errors.StatusError):
            ask(reader)
    assert cache_info(tmp_path / "cache").answers == 0


SPELLINGS: list[Callable[[str], str]] = [
    str,
    lambda token: token.replace("/", r"\/"),
    lambda token: quote(token, safe=""),
    lambda token: quote(token, safe="").replace("2F", "2f").replace("2B", "2b").replace("3D", "3d"),
]


@pytest.mark.parametrize("spell", SPELLINGS)
@pytest.mark.parametrize("place", ['{"echo": "%s"}', '{"%s": 1}', '{"a": [{"b": ["%s"]}]}'])
def test_an_answer_that_repeats_the_token_is_refused(
    scripted: Any,
    fetcher: Any,
    reply: Any,
    tmp_path: Path,
    spell: Callable[[str], str],
    place: str,
) -> None:
    scripted.script = reply((place % spell(TOKEN)).encode())
    error = fails(errors.DecodeError, fetcher())
    assert (error.problem, error.excerpt) == ("token", place % "***")
    assert cache_info(tmp_path / "cache").answers == 0
    assert len(scripted.requests) == 1


@pytest.mark.parametrize("spell", SPELLINGS)
@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_an_error_that_repeats_the_token_is_masked(
    scripted: Any, fetcher: Any, reply: Any, spell: Callable[[str], str], status: int
) -> None:
    body = '{"error": {"message": "no %s", "suggestions": ["%s"]}}' % ((spell(TOKEN),) * 2)
    scripted.script = reply(body.encode(), status)
    with pytest.raises(errors.StatusError) as caught:
        ask(fetcher())
    text = f"{caught.value} {caught.value.body!r} {caught.value.excerpt} {vars(caught.value)}"
    assert TOKEN not in text
    assert spell(TOKEN) not in text
    assert "no ***" in str(caught.value)


def test_a_token_of_a_few_characters_is_no_reason_to_refuse(
    scripted: Any, fetcher: Any, reply: Any
) -> None:
    scripted.script = reply({"a": "abc"})
    assert ask(fetcher(token="a")).json == {"a": "abc"}


def test_offline_opens_no_socket(
    scripted: Any, fetcher: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = ask(fetcher()).body
    reader = fetcher(offline=True)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    kept = ask(reader)
    assert (kept.body, kept.from_cache, kept.stale) == (body, True, False)
    move_clock_of_cache(tmp_path / "cache", timedelta(days=-400))
    assert ask(reader).stale
    error = fails(errors.NotCached, reader, params={"section": "urls"})
    assert error.section == "domains"
    assert "never cached" in str(error)
    assert "refresh" in str(fails(errors.NotCached, reader, refresh=True))


def test_offline_wants_a_cache(scripted: Any) -> None:
    with pytest.raises(errors.ConfigurationError, match="offline without a cache"):
        Fetcher(scripted.url, cache=False, offline=True)


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_stale_answer_is_used_when_the_service_fails(
    scripted: Any, fetcher: Any, reply: Any, status: int
) -> None:
    reader = fetcher()
    ask(reader)
    scripted.script = reply({}, status)
    with pytest.warns(errors.StaleDataWarning, match="was used instead") as warned:
        payload = ask(reader, expire_after=0)
    assert len(warned) == 1
    assert payload.stale
    assert payload.from_cache
    assert payload.json == {"ok": True}


def test_a_stale_answer_is_used_when_nothing_answers(scripted: Any, fetcher: Any) -> None:
    reader = fetcher()
    ask(reader)
    scripted.stop()
    with pytest.warns(errors.StaleDataWarning, match="no response"):
        assert ask(reader, expire_after=0).stale


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, errors.NotAuthorized),
        (403, errors.NotVisible),
        (404, errors.NotVisible),
        (429, errors.RateLimited),
    ],
)
def test_no_stale_answer_hides_a_refusal(
    scripted: Any, fetcher: Any, reply: Any, status: int, kind: type[errors.FetchError]
) -> None:
    reader = fetcher()
    ask(reader)
    scripted.script = reply({}, status)
    fails(kind, reader, expire_after=0)
    assert ask(reader).from_cache, "a refusal removes nothing"


def test_the_cache_is_private(scripted: Any, fetcher: Any, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        ask(fetcher())
    finally:
        os.umask(before)
    folder = tmp_path / "cache"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = list(folder.iterdir())
    assert folder / "responses.sqlite" in files
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_the_usual_folder_is_the_users_own(scripted: Any, fetcher: Any) -> None:
    reader = fetcher(cache=True)
    ask(reader)
    assert reader.folder is not None
    assert reader.folder.parts[-2:] == ("aatoolkit", "v2")
    assert str(reader.folder).startswith(os.environ["HOME"])
    assert cache_info().folder == reader.folder


def test_a_cache_can_be_looked_into_and_emptied(
    scripted: Any, fetcher: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    assert cache_info(folder).answers == clear_cache(folder) == 0
    assert not folder.exists()
    reader = fetcher()
    payloads = [ask(reader, {"section": name}) for name in ("urls", "ads")]
    info = cache_info(folder)
    assert (info.answers, info.folder) == (2, folder)
    assert (info.oldest, info.newest) == (payloads[0].fetched_at, payloads[1].fetched_at)
    assert info.bytes > 0
    assert clear_cache(folder) == 2
    assert cache_info(folder).oldest is None
    assert not ask(reader, {"section": "urls"}).from_cache


# -- failures --------------------------------------------------------------------------------

STATUSES = [
    (400, errors.BadRequest),
    (401, errors.NotAuthorized),
    (403, errors.NotVisible),
    (404, errors.NotVisible),
    (410, errors.NotVisible),
    (418, errors.StatusError),
    (422, errors.BadRequest),
    (429, errors.RateLimited),
    (500, errors.ServerFailed),
    (502, errors.ServerFailed),
    (206, errors.StatusError),
    (304, errors.StatusError),
]


@pytest.mark.parametrize(("status", "kind"), STATUSES)
def test_a_status_becomes_its_error(
    scripted: Any, fetcher: Any, reply: Any, status: int, kind: type[errors.StatusError]
) -> None:
    problem = {"error": {"code": "no_luck", "message": "No luck\x1b today."}}
    scripted.script = reply(b"" if status == 304 else problem, status)
    error = fails(kind, fetcher())
    assert error.status == status
    assert error.section == "domains"
    assert error.url.startswith(scripted.url)
    if status != 304:
        assert error.code == "no_luck"
        assert "no_luck" in error.excerpt
    assert "\x1b" not in str(error)
    assert type(pickle.loads(pickle.dumps(error))) is kind


def test_a_refused_parameter_is_named(scripted: Any, fetcher: Any, reply: Any) -> None:
    problem = {"message": "Unknown engine", "parameter": "engine", "suggestions": ["chatgpt", 4]}
    scripted.script = reply({"error": problem}, 400)
    error = fails(errors.BadRequest, fetcher())
    assert (error.parameter, error.suggestions) == ("engine", ("chatgpt",))
    assert "Unknown engine" in str(error)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[1]", b'{"error": 1}', b'{"error": {"code": []}}']
)
def test_an_error_needs_no_shape(scripted: Any, fetcher: Any, reply: Any, body: bytes) -> None:
    scripted.script = reply(body, 400)
    assert fails(errors.BadRequest, fetcher()).code is None


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><form>Log in</form>", "html"),
        (b"null", "wrong_type"),
        (b'"text"', "wrong_type"),
        (b'{"a": NaN}', "not_finite"),
        (b'{"a": 1}{', "not_json"),
    ],
)
def test_a_body_that_is_no_answer_is_an_error_and_not_kept(
    scripted: Any, fetcher: Any, reply: Any, tmp_path: Path, body: bytes, problem: str
) -> None:
    scripted.script = reply(body)
    error = fails(errors.DecodeError, fetcher())
    assert (error.problem, error.status) == (problem, 200)
    assert cache_info(tmp_path / "cache").answers == 0
    assert len(scripted.requests) == 1


def test_no_content_is_not_no_rows(scripted: Any, fetcher: Any, reply: Any) -> None:
    scripted.script = reply(b"", 204)
    payload = ask(fetcher(), {"section": "urls"})
    assert (payload.status, payload.json) == (204, None)
    with pytest.raises(errors.StatusError) as caught:
        ask(fetcher(), {})
    assert caught.value.status == 204


def test_the_explanation_of_a_service_for_a_section_is_kept_without_the_token(
    scripted: Any, fetcher: Any, reply: Any, tmp_path: Path
) -> None:
    scripted.script = reply({"code": "plan_required", "trace": TOKEN}, 403)
    payload = ask(fetcher(), {"section": "urls"})
    assert payload.status == 403
    assert payload.json["code"] == "plan_required"
    assert TOKEN.encode() not in payload.body
    assert cache_info(tmp_path / "cache").answers == 0


def test_headers_about_availability_are_kept(scripted: Any, fetcher: Any, reply: Any) -> None:
    headers = {"X-Data-Availability": "partial", "Set-Cookie": "a=b", "X-Powered-By": "x"}
    scripted.script = reply({"ok": 1}, headers=headers)
    reader = fetcher()
    for payload in (ask(reader), ask(reader)):
        assert payload.headers["x-data-availability"] == "partial"
        assert not {"set-cookie", "x-powered-by"} & {*payload.headers}


def test_nothing_that_answers_is_an_error(scripted: Any, fetcher: Any, waits: list[float]) -> None:
    reader = fetcher()
    scripted.stop()
    error = fails(errors.ConnectionFailed, reader)
    assert "refused" in str(error)
    assert len(waits) == 2


# -- retries ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_may_pass_is_tried_three_times(
    scripted: Any, fetcher: Any, reply: Any, waits: list[float], status: int
) -> None:
    scripted.script = reply({}, status)
    with pytest.raises(errors.StatusError):
        ask(fetcher())
    assert len(scripted.requests) == 3
    assert len(waits) == 2
    assert 0 <= waits[0] <= 0.5
    assert 0 <= waits[1] <= 1.0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 500, 501])
def test_what_will_not_pass_is_tried_once(
    scripted: Any, fetcher: Any, reply: Any, status: int
) -> None:
    scripted.script = reply({}, status, {"Retry-After": "0"})
    with pytest.raises(errors.StatusError):
        ask(fetcher())
    assert len(scripted.requests) == 1


def test_a_later_attempt_may_succeed(scripted: Any, fetcher: Any, reply: Any) -> None:
    scripted.script = [reply({}, 502), reply(b'{"cut": ['), reply({"ok": 3})]
    assert ask(fetcher()).json == {"ok": 3}


def in_seconds(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("given", "least", "most"),
    [("3", 3, 3), ("0", 0, 0), ("Sat, 01 Jan 2022 00:00:00 GMT", 0, 0)],
)
def test_a_wait_that_is_requested_is_kept(
    scripted: Any, fetcher: Any, reply: Any, waits: list[float], given: str, least: int, most: int
) -> None:
    scripted.script = [reply({}, 429, {"Retry-After": given}), reply({"ok": 1})]
    assert ask(fetcher()).json == {"ok": 1}
    (wait,) = waits
    assert least <= wait <= most


def test_a_date_to_wait_for_is_read(
    scripted: Any, fetcher: Any, reply: Any, waits: list[float]
) -> None:
    scripted.script = [reply({}, 503, {"Retry-After": in_seconds(20)}), reply({"ok": 1})]
    ask(fetcher())
    (wait,) = waits
    assert 10 < wait <= 20


def test_a_wait_beyond_the_deadline_is_not_begun(
    scripted: Any, fetcher: Any, reply: Any, waits: list[float]
) -> None:
    scripted.script = reply({}, 429, {"Retry-After": "86400"})
    error = fails(errors.RateLimited, fetcher())
    assert error.retry_after == 86400
    assert waits == []
    assert len(scripted.requests) == 1


@pytest.mark.parametrize("given", ["soon", "-5", "nan", "inf", "1e999", "Mon, 99 Foo 2026"])
def test_a_wait_that_means_nothing_is_passed_over(
    scripted: Any, fetcher: Any, reply: Any, waits: list[float], given: str
) -> None:
    scripted.script = reply({}, 429, {"Retry-After": given})
    assert fails(errors.RateLimited, fetcher()).retry_after is None
    assert len(waits) == 2


def raw(*parts: bytes) -> Callable[[Any, threading.Event], None]:
    return lambda out, _: out.write(b"".join(parts))


TRUNCATED = {
    "short of its length": raw(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a": 1'),
    "in the midst of a chunk": raw(
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{"a": 1'
    ),
    "without a length": raw(b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"a": [1'),
    "in the midst of its compression": raw(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n",
        gzip.compress(json.dumps({"a": list(range(5000))}).encode())[:4000],
    ),
    "before it began": raw(b""),
}


@pytest.mark.parametrize("write", TRUNCATED.values(), ids=TRUNCATED)
def test_an_answer_cut_off_is_tried_again_and_then_an_error(
    scripted: Any, fetcher: Any, reply: Any, tmp_path: Path, write: Any
) -> None:
    scripted.script = reply(write=write)
    with pytest.raises((errors.ConnectionFailed, errors.DecodeError)):
        ask(fetcher())
    assert len(scripted.requests) == 3
    assert cache_info(tmp_path / "cache").answers == 0


# -- limits ----------------------------------------------------------------------------------


def drip(out: Any, closing: threading.Event) -> None:
    """A body that never ends, one byte at a time: no pause is long enough for a timeout."""
    out.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while not closing.wait(0.02):
        out.write(b" ")
        out.flush()


def drip_chunks(out: Any, closing: threading.Event) -> None:
    out.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n")
    while not closing.wait(0.02):
        out.write(b" ")
        out.flush()


@pytest.mark.parametrize("write", [drip, drip_chunks])
def test_a_dripped_body_ends_at_the_deadline(
    scripted: Any, fetcher: Any, reply: Any, write: Any
) -> None:
    scripted.script = reply(write=write)
    began = time.monotonic()
    error = fails(errors.DeadlineExceeded, fetcher(deadline=0.5))
    assert 0.4 < time.monotonic() - began < 3
    assert error.deadline == 0.5
    assert len(scripted.requests) == 1


def test_silence_ends_at_the_deadline(scripted: Any, fetcher: Any, reply: Any) -> None:
    scripted.script = reply(write=lambda _, closing: closing.wait(20))
    began = time.monotonic()
    fails(errors.DeadlineExceeded, fetcher(deadline=0.5))
    assert time.monotonic() - began < 3


def test_a_body_beyond_the_limit_is_refused(scripted: Any, fetcher: Any, reply: Any) -> None:
    scripted.script = reply({"a": "x" * 2000})
    error = fails(errors.DecodeError, fetcher(max_body=1000))
    assert error.limit == 1000
    assert len(error.excerpt) <= 200
    assert len(scripted.requests) == 1
    assert ask(fetcher(max_body=3000)).json == {"a": "x" * 2000}


def test_what_cannot_be_decompressed_is_an_error(scripted: Any, fetcher: Any, reply: Any) -> None:
    scripted.script = reply(b"no gzip at all", headers={"Content-Encoding": "gzip"})
    assert fails(errors.DecodeError, fetcher()).problem == "encoding"


@pytest.mark.parametrize("bad", [-1, float("nan"), True, "60", None])
def test_a_deadline_is_a_number_of_seconds(bad: Any) -> None:
    with pytest.raises(errors.ConfigurationError) as caught:
        Fetcher("https://api.example", cache=False, deadline=bad)
    assert caught.value.setting == "deadline"


# -- addresses -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "api.example",
        "ftp://api.example",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http://api.example",
        "http://10.0.0.1",
        "http://127.0.0.1.example",
        "https://user:pw@api.example",
        "https://good.example@evil.example",
        "https://api.example?a=1",
        "https://api.example/#f",
        "https://api.example/../x",
        "https://api.example/%2e%2e/x",
        "https://api.example/a%2f..%2fx",
        "https://api.example\\@evil.example",
        "https://api.example/a b",
        "https://api.example:99999",
        "https://api.example:0",
        "https://[::1",
        "https://",
        "https://2130706433",
        "https://-.example",
    ],
)
def test_a_base_url_that_tricks_is_refused(bad: str) -> None:
    with pytest.raises(errors.ConfigurationError) as caught:
        BaseUrl.parse(bad)
    assert caught.value.setting == "base_url"
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://API.example:443/v1/", "https://api.example/v1"),
        (" https://bücher.example ", "https://xn--bcher-kva.example"),
        ("https://api:8443", "https://api:8443"),
        ("https://10.0.0.1", "https://10.0.0.1"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://127.9.9.9", "http://127.9.9.9"),
        ("http://[::1]:8080/a", "http://[::1]:8080/a"),
    ],
)
def test_a_base_url_has_one_spelling(given: str, url: str) -> None:
    assert BaseUrl.parse(given).url == url
    assert BaseUrl.parse(url).url == url


@pytest.mark.parametrize(
    ("given", "host"),
    [
        ("acme.example", "acme.example"),
        (" ACME.example.\n", "acme.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--BCHER-kva.example", "xn--bcher-kva.example"),
        ("a。example", "a.example"),
        ("a--b.example", "a--b.example"),
        ("1.2.example", "1.2.example"),
    ],
)
def test_a_host_has_one_spelling(given: str, host: str) -> None:
    assert canonical_host(given) == host


@pytest.mark.parametrize(
    "bad",
    [
        "", ".", "..", "../../me", "acme", "acme.example/x", "acme.example?x", "acme.example#x",
        "%2e%2e", "acme.example:80", "user@acme.example", "a..example", ".acme.example",
        "acme.example..", "-a.example", "a-.example", "a_b.example", "a b.example",
        "a.example\r\nX: 1", "a\0.example", "127.0.0.1", "1.2.3", "a.0x7f", "a.example.1",
        "a" * 64 + ".example", "a." * 130 + "example", "xn--\xff.example", "xn--a.example", None,
    ],
)  # fmt: skip
def test_what_is_no_host_is_refused(bad: Any) -> None:
    with pytest.raises(errors.ScopeError) as caught:
        canonical_host(bad)
    assert caught.value.parameter == "host"


def test_the_host_of_a_url_is_suggested() -> None:
    with pytest.raises(errors.ScopeError, match=r"did you mean 'acme\.example'") as caught:
        canonical_host("https://Acme.example/products?x=1")
    assert caught.value.suggestions == ("acme.example",)


@given(st.text(st.characters(codec="utf-8"), max_size=30) | st.from_regex(r"[a-z0-9.%/-]{1,20}"))
def test_a_host_stays_in_its_place(text: str) -> None:
    try:
        host = canonical_host(text)
    except errors.ScopeError:
        return
    assert canonical_host(host) == host
    assert set(host) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert ".." not in host
    assert "." in host


def test_logging_is_quiet(scripted: Any, fetcher: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    ask(fetcher())
    assert caplog.records == []
