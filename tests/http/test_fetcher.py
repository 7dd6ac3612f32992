"""http: the token, the cache, failures, retries and limits, against real sockets."""

from __future__ import annotations

import copy
import pickle
import socket
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from aatoolkit import Payload, errors
from aatoolkit._util.hosts import canonical_host
from aatoolkit.http import BaseUrl, Fetcher, ResponseCache, Secret, cache_info, clear_cache
from aatoolkit.payload import Request
from aatoolkit.study.files import parse_request_url

TOKEN = "canary-7f3a9c.TOKEN_~+/=="
HOST = "acme.example"
WEEK = {"section": "domains", "days": "7"}


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


# -- the token -------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [f"{TOKEN}\n", f"Bearer {TOKEN}", f" bearer  {TOKEN}\r\n"])
def test_a_token_is_stripped(scripted: Any, fetcher: Any, token: str) -> None:
    ask(fetcher(token=token))
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
    with pytest.raises(errors.ArgumentError, match=says) as caught:
        Fetcher("https://api.example", bad, cache=False)
    assert caught.value.argument == "token"
    assert "canar" not in str(caught.value)


def test_a_secret_is_not_shown_copied_or_pickled() -> None:
    secret = Secret(TOKEN)
    assert f"{secret} {secret!r} {[secret]}" == "*** *** [***]"
    assert not hasattr(secret, "__dict__")
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            attempt(secret)


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


def test_a_refresh_goes_out_and_replaces(scripted: Any, fetcher: Any, reply: Any) -> None:
    scripted.script = [reply({"n": n}) for n in (1, 2, 3)]
    reader = fetcher()
    assert ask(reader).json == {"n": 1}
    assert ask(reader, {**WEEK, "refresh": "1"}, refresh=True).json == {"n": 2}
    assert ask(reader, {**WEEK, "refresh": "1"}, refresh=True).json == {"n": 3}
    kept = ask(reader)
    assert kept.json == {"n": 3}
    assert kept.from_cache


@pytest.mark.parametrize("shift", [timedelta(hours=-2), timedelta(hours=2)])
def test_an_answer_too_old_or_from_the_future_is_requested_again(
    scripted: Any, fetcher: Any, tmp_path: Path, shift: timedelta
) -> None:
    reader = fetcher()
    move_clock_of_cache(tmp_path / "cache", ask(reader).url, shift)
    assert not ask(reader).from_cache


def move_clock_of_cache(folder: Path, url: str, shift: timedelta) -> None:
    """As if the response had been fetched at another time."""
    cache = ResponseCache(folder, Secret(TOKEN))
    kept = cache.get(parse_request_url(url))
    assert kept is not None
    cache.put(replace(kept, fetched_at=kept.fetched_at + shift))
    cache.close()


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
    assert cache_info(tmp_path / "cache").responses == 0
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


def test_a_token_of_a_letter_is_not_masked_in_our_words_nor_in_names_of_fields(
    scripted: Any, fetcher: Any, reply: Any
) -> None:
    scripted.script = reply(b"<html>")
    assert "web page" in str(fails(errors.DecodeError, fetcher(token="e")))
    scripted.script = reply(b'{"x": 1, "x": 2}')
    assert "the key '***' is" in str(fails(errors.DecodeError, fetcher(token="x")))
    scripted.script = reply(b'{"message": "no such topic"}', 400)
    assert ": no such ***opic" in str(fails(errors.BadRequest, fetcher(token="t")))


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
    move_clock_of_cache(tmp_path / "cache", kept.url, timedelta(days=-400))
    assert ask(reader).stale
    error = fails(errors.NotCached, reader, params={"section": "urls"})
    assert error.section == "domains"
    assert "domains of acme.example" in str(error).split("never cached for this token")[0]
    assert f"of any token: {error.nearest};" in str(error)
    error = fails(errors.NotCached, fetcher(token=None, offline=True))
    assert "without a token (none is set)" in str(error)
    assert "refresh" in str(fails(errors.NotCached, reader, refresh=True))


def test_offline_wants_a_cache(scripted: Any) -> None:
    with pytest.raises(errors.ArgumentError, match="reads from the cache only"):
        Fetcher(scripted.url, cache=False, offline=True)


@pytest.mark.parametrize(("body", "status"), [({}, 500), ({}, 503), (b'{"ok": ', 200)])
def test_a_stale_answer_is_used_when_the_service_fails(
    scripted: Any, fetcher: Any, reply: Any, body: Any, status: int
) -> None:
    reader = fetcher()
    ask(reader)
    scripted.script = reply(body, status)
    with pytest.warns(errors.StaleDataWarning, match="was used instead") as warned:
        payload = ask(reader, expire_after=0)
    assert len(warned) == 1
    assert payload.stale
    assert payload.from_cache
    assert payload.json == {"ok": True}


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
    signed = str(fails(kind, reader, expire_after=0))
    unsigned = str(fails(kind, fetcher(token=None, cache=False)))
    assert ("no token was given" in unsigned) == (status == 401) == (signed != unsigned)
    assert ask(reader).from_cache, "a refusal removes nothing"


def test_a_cache_can_be_looked_into_and_emptied(
    scripted: Any, fetcher: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    assert cache_info(folder).responses == clear_cache(folder) == 0
    assert not folder.exists()
    reader = fetcher()
    payloads = [ask(reader, {"section": name}) for name in ("urls", "ads")]
    info = cache_info(folder)
    assert (info.responses, info.folder) == (2, folder)
    (host,) = info.hosts
    assert (host.oldest, host.newest) == (payloads[0].fetched_at, payloads[1].fetched_at)
    assert info.bytes > host.bytes > 500
    assert clear_cache(folder) == 2
    assert not cache_info(folder).hosts
    assert not ask(reader, {"section": "urls"}).from_cache


# -- failures --------------------------------------------------------------------------------


def test_a_refused_parameter_is_named(scripted: Any, fetcher: Any, reply: Any) -> None:
    problem = {"message": "Unknown engine", "parameter": "engine", "suggestions": ["chatgpt", 4]}
    scripted.script = reply({"error": problem}, 400)
    error = fails(errors.BadRequest, fetcher())
    assert (error.parameter, error.suggestions) == ("engine", ("chatgpt",))
    assert "refused the parameter engine (400): Unknown engine" in str(error)
    for allowed in (["gemini"], "gemini"):
        scripted.script = reply({"allowed": allowed}, 400)
        assert fails(errors.BadRequest, fetcher()).suggestions == ("gemini",)
    source = {"detail": f"no {TOKEN}", "source": {"parameter": "topic"}}
    for first in (
        {"errors": [source]},
        {"detail": [{"msg": f"no {TOKEN}"}]},
        {"errors": ["no ***"]},
    ):
        scripted.script = reply(first, 400)
        error = fails(errors.BadRequest, fetcher())
        assert "(400): no ***;" in str(error)
        assert error.parameter == ("topic" if source in first.get("errors", ()) else None)


def test_the_explanation_of_a_service_for_a_section_is_kept_without_the_token(
    scripted: Any, fetcher: Any, reply: Any, tmp_path: Path
) -> None:
    scripted.script = reply({"code": "plan_required", "trace": TOKEN}, 403)
    payload = ask(fetcher(), {"section": "urls"})
    assert payload.status == 403
    assert payload.json["code"] == "plan_required"
    assert TOKEN.encode() not in payload.body
    assert cache_info(tmp_path / "cache").responses == 0


def test_headers_about_availability_are_kept(scripted: Any, fetcher: Any, reply: Any) -> None:
    headers = {"X-Data-Availability": "partial", "Set-Cookie": "a=b", "X-Powered-By": "x"}
    scripted.script = reply({"ok": 1}, headers=headers)
    reader = fetcher()
    for payload in (ask(reader), ask(reader)):
        assert payload.headers["x-data-availability"] == "partial"
        assert not {"set-cookie", "x-powered-by"} & {*payload.headers}


# -- retries ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "seconds"), [("3", 3), ("0", 0), ("Sat, 01 Jan 2022 00:00:00 GMT", 0)]
)
def test_a_wait_that_is_requested_is_kept(
    scripted: Any, fetcher: Any, reply: Any, waits: list[float], header: str, seconds: int
) -> None:
    scripted.script = [reply({}, 429, {"Retry-After": header}), reply({"ok": 1})]
    assert ask(fetcher()).json == {"ok": 1}
    assert waits == [seconds]


def test_a_service_that_fails_every_call_is_soon_asked_once_a_call(
    scripted: Any, fetcher: Any, reply: Any, waits: list[float]
) -> None:
    scripted.script = [reply({}, 503)] * 60
    client = fetcher()
    for _ in range(30):
        fails(errors.ServerFailed, client)
    assert (len(scripted.requests), len(waits)) == (50, 20)


# -- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [-1, 0, float("nan")])
def test_a_deadline_is_a_number_of_seconds(bad: Any) -> None:
    with pytest.raises(errors.ArgumentError) as caught:
        Fetcher("https://api.example", cache=False, deadline=bad)
    assert caught.value.argument == "deadline"


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
    with pytest.raises(errors.ArgumentError) as caught:
        BaseUrl.parse(bad)
    assert caught.value.argument == "base_url"
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "url"),
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
def test_a_base_url_has_one_spelling(text: str, url: str) -> None:
    assert BaseUrl.parse(text).url == url
    assert BaseUrl.parse(url).url == url


@pytest.mark.parametrize(
    ("text", "host"),
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
def test_a_host_has_one_spelling(text: str, host: str) -> None:
    assert canonical_host(text) == host


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
