"""Client and Project: settings, scopes, reading one, many and all, against real sockets."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from processes import python
from samples import SAMPLES, answer_to, sample

import aatoolkit as aa
from aatoolkit import errors
from aatoolkit.sections import Profile

TOKEN = "canary-7f3a9c.token"
HOST = "acme.example"


@pytest.fixture
def project(scripted: Any, reply: Any, tmp_path: Path, opened: Any) -> Callable[..., aa.Project]:
    """Makes projects of the scripted server, which answers with the reference shapes."""
    scripted.script = lambda request: reply(answer_to(request))
    usual = {"base_url": scripted.url, "token": TOKEN, "cache": tmp_path / "cache"}

    def make(**settings: Any) -> aa.Project:
        acme = aa.project(HOST, **{**usual, **settings})
        opened(acme.client)
        return acme

    return make


# -- settings --------------------------------------------------------------------------------


def test_a_base_url_has_to_be_named() -> None:
    with pytest.raises(errors.ArgumentError, match="AATOOLKIT_BASE_URL") as caught:
        aa.project(HOST)
    assert caught.value.argument == "base_url"
    assert "demo" in str(caught.value)


def test_settings_come_from_the_environment(
    scripted: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("from-file\n")
    monkeypatch.setenv("AATOOLKIT_BASE_URL", scripted.url)
    monkeypatch.setenv("AATOOLKIT_TOKEN_FILE", str(file))
    sent(cache=False)
    monkeypatch.setenv("AATOOLKIT_TOKEN", "from-environment")
    sent(cache=False)
    sent(cache=False, token="from-argument")
    assert [request.headers["authorization"] for request in scripted.requests] == [
        "Bearer from-file",
        "Bearer from-environment",
        "Bearer from-argument",
    ]


def sent(**settings: Any) -> None:
    with aa.project(HOST, **settings) as project:
        project.fetch("urls")


def test_the_key_store_is_used_last(scripted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    keyring: Any = ModuleType("keyring")  # the tests never ask the key store of this machine
    looked_up: list[tuple[str, str]] = []

    def get_password(service: str, name: str) -> str:
        looked_up.append((service, name))
        return "from-key-store"

    keyring.get_password = get_password
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    sent(base_url=scripted.url, cache=False)
    assert looked_up == [("aatoolkit", scripted.url)]
    assert scripted.requests[0].headers["authorization"] == "Bearer from-key-store"


@pytest.mark.parametrize("content", [None, b"\xff\xfe canary", os.devnull])
def test_a_token_file_that_cannot_be_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | str | None
) -> None:
    file = tmp_path / "token"
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif content:
        file.symlink_to(content)
    monkeypatch.setenv("AATOOLKIT_TOKEN_FILE", str(file))
    with pytest.raises(errors.ArgumentError, match="AATOOLKIT_TOKEN_FILE") as caught:
        aa.Client("https://api.example", cache=False)
    # The name may be the token itself, given by mistake.
    assert str(file) not in str(caught.value)
    assert caught.value.__context__ is None


# -- one answer ------------------------------------------------------------------------------


def test_a_summary_has_the_status_of_each_table() -> None:
    summary = aa.demo().read_all(sections=["domains", "crawl"], progress=False).summary
    assert {*summary["status"]} <= {*map(str, aa.Status)}
    starts = summary["availability"].str.partition(":")[0]
    assert starts.tolist() == summary["status"].str.replace("_", " ").tolist()


def test_filters_are_a_scope_or_keywords_or_both(project: Any, scripted: Any) -> None:
    acme = project()
    scope = aa.Scope(days=7, engine="gemini")
    payloads = [
        acme.fetch("urls", scope),
        acme.fetch("urls", days=7, engine="gemini"),
        acme.fetch("urls", aa.Scope(engine="claude", days=7), engine="gemini"),
    ]
    assert {payload.scope for payload in payloads} == {scope}
    assert [payload.from_cache for payload in payloads] == [False, True, True]
    assert scripted.requests[0].params == {"section": "urls", "days": "7", "engine": "gemini"}


def test_what_cannot_be_requested_is_refused_before_a_request(project: Any, scripted: Any) -> None:
    acme = project()
    with pytest.raises(errors.ScopeError, match="did you mean 'domains'") as caught:
        acme.read("Domain")
    assert (caught.value.parameter, caught.value.suggestions) == ("section", ("domains",))
    with pytest.raises(errors.ScopeError, match="no filter 'engines'"):
        acme.read("domains", engines="gemini")
    for scope in ({"days": 7}, "urls"):
        with pytest.raises(errors.ScopeError, match="is not a Scope"):
            acme.read("domains", scope)
    with pytest.raises(errors.ScopeError, match="chooses no value"):
        acme.read("domains", engine=())
    for name in ("scope_options", "scope-options"):
        with pytest.raises(errors.ScopeError, match=r"project\.scope_options\(\)"):
            acme.read(name)
    assert scripted.requests == []


def test_one_section_and_several_are_told_apart(project: Any, scripted: Any) -> None:
    acme = project()
    with pytest.raises(errors.ScopeError, match="read_all reads several"):
        acme.read(["domains", "urls"])
    assert scripted.requests == []
    assert list(acme.read_all("domains")) == ["domains"]
    with pytest.raises(errors.BadRequest, match="chatgtp"):
        aa.demo().read_all(["urls", "domains"], engine="chatgtp")
    assert list(acme.read_all(["urls", "domains"], aa.Scope(days=7))) == ["urls", "domains"]


@pytest.mark.parametrize(
    ("name", "owners"),
    [("read", "project.read"), ("compare", r"project.read_all\(\).compare or df.aa.compare")],
)
def test_a_method_that_is_no_function_of_the_package_is_found(name: str, owners: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; write {owners}$"):
        getattr(aa, name)


SHELL = """
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_cell("import aatoolkit as aa")
shell.run_cell("p = aa.project('acme.example', base_url='https://api.example', cache=False)")
shell.run_cell("q = p.client.project('b.example')")
for code in (
    "p.read('", 'q.fetch("do', "p.read_all(['urls', 'ov", "x = p.read(  'cra",
    "p.read_all(sections='a", "'p'.join('do", "nobody.read('",
):
    with provisionalcompleter():
        found = list(shell.Completer.completions(code, len(code)))
    print(len(found), [one.text for one in found if one.type == "section"][:3])
assert shell.Completer.complete(line_buffer="p.read('dom", cursor_pos=11)[1] == ["domains"]
"""


@pytest.mark.thorough
def test_tab_offers_sections_where_one_is_read(tmp_path: Path) -> None:
    done = python("-W", "ignore", "-c", SHELL, folder=SAMPLES, IPYTHONDIR=str(tmp_path))
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("17 ['actions', 'ads', ")
    assert lines[1] == "1 ['domains']"
    assert lines[2] == "1 ['overview']"
    assert lines[3] == "2 ['crawl', 'crawlability']"
    assert lines[4].endswith("['actions', 'ads']")
    assert [line.endswith("[]") for line in lines[5:]] == [True, True]


def test_scope_options_are_read_and_refreshed(project: Any, scripted: Any) -> None:
    acme = project()
    options = acme.scope_options()
    answered = sample("scope_options")
    assert options.host == HOST
    assert options.days == (7, 30, 90)
    assert options.own_terms == tuple(answered["ownTerms"])
    assert options.values("engine") == tuple(engine["id"] for engine in answered["engines"])
    acme.scope_options()
    acme.scope_options(refresh=True)
    assert [request.params for request in scripted.requests] == [{}, {"refresh": "1"}]


# -- many answers ----------------------------------------------------------------------------


def test_all_sections_come_in_the_order_requested(project: Any, scripted: Any, reply: Any) -> None:
    acme = project()
    names = ["urls", "ads", "domains", "urls", "chats"]

    def slow_first(request: Any) -> Any:
        scripted.closing.wait(0.2 if request.params["section"] == "urls" else 0)
        return reply(answer_to(request))

    scripted.script = slow_first
    dataset = acme.read_all(sections=names, days=7)
    assert list(dataset) == ["urls", "ads", "domains", "chats"]
    assert dataset.errors == {}
    assert len(scripted.requests) == 4


def test_the_sections_that_a_profile_declares_are_read(project: Any, scripted: Any) -> None:
    profile = Profile("few", *map(aa.sections.get, ("scope_options", "urls", "ads")))
    acme = project(profile=profile)
    assert list(acme.read_all()) == list(acme.client.collect(HOST)[HOST]) == ["ads", "urls"]
    assert {request.params["section"] for request in scripted.requests} == {"ads", "urls"}
    assert acme.fetch("domains").section == "domains"


def test_a_failed_section_is_among_the_errors(project: Any, scripted: Any, reply: Any) -> None:
    acme = project()
    broken = {"urls": reply({}, 500), "ads": reply(b"<html>"), "chats": reply({}, 404)}
    scripted.script = lambda request: (
        broken.get(request.params["section"]) or reply(answer_to(request))
    )
    dataset = acme.read_all(sections=["ads", "domains", "urls", "chats"])
    assert list(dataset) == ["domains"]
    assert {name: type(error) for name, error in dataset.errors.items()} == {
        "ads": errors.DecodeError,
        "urls": errors.ServerFailed,
        "chats": errors.NotVisible,
    }
    assert dataset.errors["urls"].section == "urls"


@pytest.mark.parametrize(
    ("status", "kind"), [(401, errors.NotAuthorized), (404, errors.NotVisible)]
)
def test_to_be_refused_is_one_error(
    project: Any, scripted: Any, reply: Any, status: int, kind: type[Exception]
) -> None:
    acme = project()
    scripted.script = reply({}, status)
    with pytest.raises(kind):
        acme.read_all(sections=["ads", "urls"])


# -- the demo --------------------------------------------------------------------------------


def test_the_demo_answers_and_is_shared() -> None:
    with aa.demo() as acme, aa.demo("globex.example") as other:
        assert acme.client.base_url == other.client.base_url
        assert acme.client.base_url.startswith("http://127.0.0.1:")
        options = acme.scope_options()
        assert options.values("engine")
        dataset = acme.read_all(days=7)
        assert dataset.errors == {}
        assert len(dataset) == 17
        assert set(acme.combined(days=7)) == set(dataset)
        assert not acme.fetch("urls").from_cache
