"""Client and Project: settings, scopes, reading one, many and all, against real sockets."""

from __future__ import annotations

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit import errors, sections

TOKEN = "canary-7f3a9c.token"
HOST = "acme.example"
SAMPLES = Path(__file__).parents[2] / "data" / "samples"
AT_ONCE = {"Retry-After": "0"}


def sample(name: str) -> Any:
    return json.loads((SAMPLES / f"{name}.json").read_bytes())


@pytest.fixture
def project(scripted: Any, reply: Any, tmp_path: Path) -> Iterator[Callable[..., aa.Project]]:
    """Makes projects of the scripted server, which answers with the reference shapes."""
    made: list[aa.Project] = []
    scripted.script = lambda request: reply(answer(request))

    def make(**settings: Any) -> aa.Project:
        given = {"base_url": scripted.url, "token": TOKEN, "cache": tmp_path / "cache", **settings}
        made.append(aa.project(HOST, **given))
        return made[-1]

    yield make
    for one in made:
        one.close()


def answer(request: Any) -> Any:
    """The reference answer to a request."""
    if "scope-options" in request.path:
        return sample("scope_options")
    if "section" in request.params:
        return sample(request.params["section"])
    return {"domain": HOST, "sections": {name: sample(name) for name in sections.names()}}


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
    keyring = pytest.importorskip("keyring")
    looked_up: list[tuple[str, str]] = []

    def get_password(service: str, name: str) -> str:
        looked_up.append((service, name))
        return "from-key-store"

    monkeypatch.setattr(keyring, "get_password", get_password)
    sent(base_url=scripted.url, cache=False)
    assert looked_up == [("aatoolkit", scripted.url)]
    assert scripted.requests[0].headers["authorization"] == "Bearer from-key-store"


def test_a_key_store_that_fails_means_no_token(
    scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = pytest.importorskip("keyring")

    def get_password(*_: str) -> str:
        raise RuntimeError("no key store on this machine")

    monkeypatch.setattr(keyring, "get_password", get_password)
    sent(base_url=scripted.url, cache=False)
    assert "authorization" not in scripted.requests[0].headers
    with aa.Client(scripted.url, cache=False) as client:
        assert not client._has_token
    with aa.Client(scripted.url, "abc", cache=False) as client:
        assert client._has_token


@pytest.mark.parametrize("content", [None, b"\xff\xfe canary"])
def test_a_token_file_that_cannot_be_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("AATOOLKIT_TOKEN_FILE", str(file))
    with pytest.raises(errors.ArgumentError, match="AATOOLKIT_TOKEN_FILE") as caught:
        aa.Client("https://api.example", cache=False)
    # The name may be the token itself, given by mistake.
    assert str(file) not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", ["a pipe", "a device", "a folder", "a large file"])
def test_a_token_file_that_is_no_small_file_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "token"
    if kind == "a pipe":
        os.mkfifo(file)
    elif kind == "a folder":
        file.mkdir()
    elif kind == "a large file":
        with file.open("wb") as out:
            out.truncate(2**36)
    else:
        file = Path("/dev/zero")
    monkeypatch.setenv("AATOOLKIT_TOKEN_FILE", str(file))
    began = time.monotonic()
    with pytest.raises(errors.ArgumentError) as caught:
        aa.Client("https://api.example", cache=False)
    assert time.monotonic() - began < 2
    assert caught.value.argument == "token"
    if kind in ("a pipe", "a device"):
        assert "no regular file" in str(caught.value)


def test_nothing_that_holds_the_token_shows_or_pickles_it(project: Any) -> None:
    one = project()
    shown = f"{one!r} {one.client!r} {one._repr_html_()} {one.client._repr_html_()}"
    assert HOST in shown
    assert TOKEN not in shown + repr(vars(one)) + repr(vars(one.client))
    for attempt in (pickle.dumps, copy.deepcopy):
        for holder in (one, one.client):
            with pytest.raises(TypeError):
                attempt(holder)


def test_a_representation_is_escaped_and_shows_offline(project: Any) -> None:
    one = project(offline=True)
    assert repr(one).endswith(", offline>")
    assert "&lt;Project" in one._repr_html_()


def test_a_host_is_spelt_in_one_way(scripted: Any) -> None:
    with aa.Client(scripted.url, cache=False) as client:
        assert client.project("BÜCHER.example.").host == "xn--bcher-kva.example"
        with pytest.raises(errors.ScopeError, match=r"acme\.example"):
            client.project("https://acme.example/")


# -- one answer ------------------------------------------------------------------------------


def test_filters_are_a_scope_or_keywords_or_both(project: Any, scripted: Any) -> None:
    one = project()
    scope = aa.Scope(days=7, engine="gemini")
    payloads = [
        one.fetch("urls", scope),
        one.fetch("urls", days=7, engine="gemini"),
        one.fetch("urls", aa.Scope(engine="gemini"), days=7),
    ]
    assert {payload.scope for payload in payloads} == {scope}
    assert [payload.from_cache for payload in payloads] == [False, True, True]
    assert scripted.requests[0].params == {"section": "urls", "days": "7", "engine": "gemini"}


def test_the_combined_view_has_no_section(project: Any, scripted: Any) -> None:
    payload = project().fetch(None)
    assert scripted.requests[0].params == {"days": "30"}
    assert payload.section is None


def test_what_cannot_be_requested_is_refused_before_a_request(project: Any, scripted: Any) -> None:
    one = project()
    with pytest.raises(errors.ScopeError, match="did you mean 'domains'") as caught:
        one.read("Domain")
    assert (caught.value.parameter, caught.value.suggestions) == ("section", ("domains",))
    with pytest.raises(errors.ScopeError, match="'engines' is not a filter"):
        one.read("domains", engines="gemini")
    with pytest.raises(errors.ScopeError, match="is not a Scope"):
        one.read("domains", {"days": 7})
    with pytest.raises(errors.ScopeError, match="combined"):
        one.read(None)
    with pytest.raises(errors.ScopeError):
        one.fetch("scope_options")
    assert scripted.requests == []


def test_one_section_and_several_are_told_apart(project: Any, scripted: Any) -> None:
    one = project()
    with pytest.raises(errors.ScopeError, match=r"read_all\(\['domains', 'urls'\]\)"):
        one.read(["domains", "urls"])
    with pytest.raises(errors.ScopeError, match=r"read_all\(\['domains', 'urls'\]\)"):
        one.read("domains", "urls")
    with pytest.raises(errors.ScopeError, match="sections first"):
        one.read_all(aa.Scope(days=7))
    assert scripted.requests == []
    assert list(one.read_all("domains")) == ["domains"]
    assert list(one.read_all(["urls", "domains"], aa.Scope(days=7))) == ["urls", "domains"]


def test_there_is_no_read_of_the_package_and_it_names_what_reads() -> None:
    with pytest.raises(AttributeError, match=r"project\.read.*read_parquet.*read_dataset"):
        aa.read("domains")  # type: ignore[attr-defined]


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
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SHELL],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=SAMPLES,
        env=environment,
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("17 ['actions', 'ads', ")
    assert lines[1] == "1 ['domains']"
    assert lines[2] == "1 ['overview']"
    assert lines[3] == "2 ['crawl', 'crawlability']"
    assert lines[4].endswith("['actions', 'ads']")
    assert [line.endswith("[]") for line in lines[5:]] == [True, True]


def test_a_section_is_read_into_tables(project: Any) -> None:
    tables = project().read("domains", days=7)
    assert tables.section == "domains"
    assert len(tables.main) == len(sample("domains")["domains"])
    assert tables.payload is not None
    assert tables.payload.scope == aa.Scope(days=7)


def test_scope_options_are_read_and_refreshed(project: Any, scripted: Any) -> None:
    one = project()
    options = one.scope_options()
    answered = sample("scope_options")
    assert options.host == HOST
    assert options.days == (7, 30, 90)
    assert options.own_terms == tuple(answered["ownTerms"])
    assert options.values("engine") == tuple(engine["id"] for engine in answered["engines"])
    one.scope_options()
    one.scope_options(refresh=True)
    assert [request.params for request in scripted.requests] == [{}, {"refresh": "1"}]


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_scope_options_without_lists_leave_what_is_documented(
    project: Any, scripted: Any, reply: Any
) -> None:
    one = project()
    scripted.script = reply({"engines": [], "ownTerms": None, "days": ["7"]})
    options = one.scope_options()
    assert (options.own_terms, options.days) == ((), (7, 30, 90))


def test_scope_options_may_be_plain_values(project: Any, scripted: Any, reply: Any) -> None:
    one = project()
    plain = {
        "engines": ["chatgpt", "gemini"],
        "topics": ["Preise"],
        "brands": ["Acme"],
        "categories": [],
        "ownTerms": [],
        "days": [7, 30],
    }
    scripted.script = reply(plain)
    options = one.scope_options()
    assert options.values("engine") == ("chatgpt", "gemini")
    assert [options.values(name) for name in ("topic", "brand")] == [("Preise",), ("Acme",)]
    assert aa.Scope(engine="gemini").check(options) == aa.Scope(engine="gemini")
    assert options.engines["last_run_day"].isna().all()
    assert "2 engines, 1 topics" in repr(options)


def test_the_documented_read_failure_is_typed(project: Any, scripted: Any, reply: Any) -> None:
    one = project()
    scripted.script = reply({}, 502, AT_ONCE)
    with pytest.raises(errors.ServerFailed) as caught:
        one.scope_options()
    assert caught.value.status == 502
    assert len(scripted.requests) == 3


# -- many answers ----------------------------------------------------------------------------


def test_all_sections_come_in_the_order_requested(project: Any, scripted: Any, reply: Any) -> None:
    one = project()
    names = ["urls", "ads", "domains", "urls", "chats"]

    def slow_first(request: Any) -> Any:
        scripted.closing.wait(0.2 if request.params["section"] == "urls" else 0)
        return reply(answer(request))

    scripted.script = slow_first
    dataset = one.read_all(sections=names, days=7)
    assert list(dataset) == ["urls", "ads", "domains", "chats"]
    assert dataset.errors == {}
    assert len(scripted.requests) == 4


def test_without_names_all_sections_are_read(project: Any) -> None:
    dataset = project().read_all(scope=aa.Scope(days=7))
    assert tuple(dataset) == sections.names()
    assert len(dataset) == 17


def test_a_failed_section_is_among_the_errors(project: Any, scripted: Any, reply: Any) -> None:
    one = project()
    broken = {"urls": reply({}, 500), "ads": reply(b"<html>"), "chats": reply({}, 404)}
    scripted.script = lambda request: (
        broken.get(request.params["section"]) or reply(answer(request))
    )
    dataset = one.read_all(sections=["ads", "domains", "urls", "chats"])
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
    one = project()
    scripted.script = reply({}, status)
    with pytest.raises(kind):
        one.read_all(sections=["ads", "urls"])


def test_to_fail_everywhere_otherwise_is_a_dataset(project: Any, scripted: Any, reply: Any) -> None:
    one = project()
    scripted.script = reply({}, 500)
    assert list(one.read_all(sections=["ads", "urls"]).errors) == ["ads", "urls"]


def test_no_sections_are_no_requests(project: Any, scripted: Any) -> None:
    assert len(project().read_all(sections=[])) == 0
    assert scripted.requests == []


def test_as_many_requests_are_under_way_as_there_are_workers(
    project: Any, scripted: Any, reply: Any
) -> None:
    together, under_way, most, lock = threading.Barrier(8, timeout=30), 0, 0, threading.Lock()

    def counted(request: Any) -> Any:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most, first = max(most, under_way), len(scripted.requests) <= 8
        if first:
            together.wait()
        with lock:
            under_way -= 1
        return reply(answer(request))

    scripted.script = counted
    dataset = project(cache=False, workers=8).read_all()
    assert dataset.errors == {}
    assert most == 8


@pytest.fixture(params=[True, False], ids=["interrupting", "restarting"])
def _signals_interrupt(request: pytest.FixtureRequest) -> Iterator[None]:
    """Some libraries have system calls go on after a signal."""
    signal.siginterrupt(signal.SIGINT, request.param)
    yield
    signal.siginterrupt(signal.SIGINT, True)


@pytest.mark.usefixtures("_signals_interrupt")
def test_an_interrupt_ends_reading_at_once(project: Any, scripted: Any, reply: Any) -> None:
    one = project(workers=2)

    release, once = threading.Event(), threading.Lock()

    def interrupt(request: Any) -> Any:
        # Both handlers may see two requests; only one of them interrupts.
        if len(scripted.requests) == 2 and once.acquire(blocking=False):
            # Once the caller is surely waiting: a signal just before that is seen only after.
            release.wait(0.5)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        release.wait(30)
        return reply(answer(request))

    scripted.script = interrupt
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        one.read_all()
    assert time.monotonic() - began < 10
    release.set()
    for thread in threading.enumerate():
        if thread.name.startswith("aatoolkit_"):
            thread.join(10)
    assert len(scripted.requests) == 2, "what waited was cancelled"


def test_a_progress_bar_is_shown_where_it_is_wanted(
    project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    one = project()
    one.read_all(sections=["urls", "ads"])
    assert capsys.readouterr().err == ""
    one.read_all(sections=["urls", "ads"], progress=True)
    assert "/2 [" in capsys.readouterr().err


# -- the combined view -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrap",
    [
        lambda parts: parts,
        lambda parts: {"domain": HOST, "sections": parts},
        lambda parts: {"data": parts, "urls": 3},
        lambda parts: {"result": [{"section": name, **part} for name, part in parts.items()]},
        lambda parts: {"meta": {}, "data": {"attributes": {"views": parts}}},
    ],
)
def test_the_combined_view_is_split_wherever_its_sections_are(
    project: Any, scripted: Any, reply: Any, wrap: Callable[[Any], Any]
) -> None:
    one = project()
    scripted.script = reply(wrap({name: sample(name) for name in ("urls", "domains")}))
    dataset = one.combined(days=7)
    assert list(dataset) == ["urls", "domains"]
    assert dataset.errors == {}
    whole = one.fetch(None, days=7)
    assert len(dataset["domains"].main) == len(sample("domains")["domains"])
    assert dataset["domains"].payload.fetched_at == whole.fetched_at
    assert dataset["domains"].payload.section == "domains"


def test_a_section_that_is_null_in_the_combined_view_is_not_left_out(
    project: Any, scripted: Any, reply: Any
) -> None:
    one = project()
    scripted.script = reply({"urls": sample("urls"), "domains": None})
    with pytest.warns(errors.SchemaDriftWarning, match="domains"):
        dataset = one.combined()
    assert list(dataset) == ["urls", "domains"]
    assert dataset["domains"].payload.body == b"null"


def test_a_combined_view_that_cannot_be_distinguished_is_kept_whole(
    project: Any, scripted: Any, reply: Any
) -> None:
    one = project()
    scripted.script = reply({"host": HOST, "rows": [{"id": "a", "n": 1}, {"id": "b", "n": None}]})
    with pytest.warns(errors.DraftWarning):
        dataset = one.combined()
    assert list(dataset) == ["combined"]
    assert dataset["combined"].main["id"].tolist() == ["a", "b"]
    assert dataset["combined"].payload.json["host"] == HOST


def test_a_combined_view_with_nothing_in_it_is_an_error(
    project: Any, scripted: Any, reply: Any
) -> None:
    one = project()
    scripted.script = reply({})
    with pytest.raises(errors.PayloadError, match="can be made a table"):
        one.combined()


# -- the demo --------------------------------------------------------------------------------


def test_the_demo_answers_and_is_shared() -> None:
    with aa.demo() as one, aa.demo("globex.example") as other:
        assert one.client.base_url == other.client.base_url
        assert one.client.base_url.startswith("http://127.0.0.1:")
        options = one.scope_options()
        assert options.values("engine")
        dataset = one.read_all(days=7)
        assert dataset.errors == {}
        assert len(dataset) == 17
        assert set(one.combined(days=7)) == set(dataset)
        assert not one.fetch("urls").from_cache


@pytest.mark.thorough
def test_the_demo_ends_with_the_process() -> None:
    code = "import aatoolkit as aa; print(aa.demo(answers=0).scope_options().days)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "(7, 30, 90)\n"
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_sends_no_request() -> None:
    code = (
        "import sys, aatoolkit, aatoolkit.client.client\n"
        "loaded = {'requests', 'requests_cache', 'tqdm', 'keyring', 'duckdb'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_a_keyword_adds_to_a_scope_and_may_not_contradict_it(scripted: Any) -> None:
    with aa.project("acme.example", base_url=scripted.url, cache=False) as project:
        assert project.fetch("ads", aa.Scope(engine="a"), days=7).scope == aa.Scope(7, engine="a")
        assert project.fetch("ads", aa.Scope(7), days=7).scope == aa.Scope(7)
        changed = aa.Scope(engine="a").with_(engine="b")  # it says nothing of the days
        assert project.fetch("ads", changed, days=90).scope == aa.Scope(90, engine="b")
        for scope, filters in (
            (aa.Scope(7), {"days": 30}),
            (aa.Scope(7), {"days": 90}),
            (aa.Scope(days=30), {"days": 7}),
            (aa.Scope(30, engine="a").with_(topic="b"), {"days": 7}),
            (pickle.loads(pickle.dumps(aa.Scope(30))), {"days": 7}),
            (aa.Scope.from_query("days=30"), {"days": 90}),
            (aa.Scope().with_(days=30), {"days": 7}),
            (aa.Scope(engine=["a", "b"]), {"engine": "a"}),
            (aa.Scope(engine="a"), {"engine": ()}),
        ):
            (name,) = filters
            with pytest.raises(errors.ScopeError, match=r"give it once, or .*with_") as caught:
                project.fetch("ads", scope, **filters)
            assert caught.value.parameter == name
        assert len(scripted.requests) == 3


def test_untagged_prompts_are_not_requested(scripted: Any) -> None:
    with aa.project("acme.example", base_url=scripted.url, cache=False) as project:
        with pytest.raises(errors.ScopeError, match="prompts without a topic") as caught:
            project.read("ads", topic=["CRM", "(none)"])
        assert (caught.value.parameter, caught.value.unknown) == ("topic", ("(none)",))
        with pytest.raises(errors.ScopeError, match="prompts without a category"):
            project.fetch(None, aa.Scope(category="(none)"))
    assert not scripted.requests


def test_a_mistyped_section_or_host_has_near_matches() -> None:
    demo = aa.demo()
    dataset = demo.read_all(sections=["domains", "urls"], progress=False)
    with pytest.raises(KeyError, match=r"no section 'domain' here; did you mean 'domains'\?"):
        dataset["domain"]
    with pytest.raises(KeyError, match="there are domains, urls"):
        dataset["zzz"]
    collected = demo.client.collect(["acme.example"], sections="urls", progress=False)
    with pytest.raises(KeyError, match=r"did you mean 'acme.example'\?"):
        collected["acme.exampel"]


# -- limits ----------------------------------------------------------------------------------


def branches(name: str, depth: int) -> Any:
    """Objects in objects, of three fields each that no other has."""
    return {f"{name}{n}": branches(f"{name}{n}", depth - 1) for n in "xyz"} if depth else 1


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_an_answer_with_more_paths_than_the_client_allows_is_refused(
    project: Callable[..., aa.Project], scripted: Any, reply: Any
) -> None:
    many = {"more": branches("f", 6)}  # some 1,100 paths

    def script(request: Any) -> Any:
        found = answer(request)
        for part in found.get("sections", {"": found}).values():
            part |= many
        return reply(found)

    def domains(dataset: aa.Dataset) -> aa.Tables:
        if dataset.errors:
            raise dataset.errors["domains"]
        return dataset["domains"]

    scripted.script = script
    low, high = project(max_nodes=500), project(max_nodes=10_000)
    for ask in (
        lambda one: one.read("domains"),
        lambda one: domains(one.read_all(sections=["domains"])),
        lambda one: domains(one.combined()),
        lambda one: domains(next(iter(one.client.datasets([HOST], sections=["domains"])))[2]),
        lambda one: one.scope_options(),
    ):
        with pytest.raises(errors.PayloadError) as caught:
            ask(low)
        assert caught.value.limit == 500
        ask(high)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "9", None])
def test_a_limit_of_paths_is_a_whole_number_from_one(limit: Any) -> None:
    with pytest.raises(errors.ArgumentError, match="max_nodes") as caught:
        aa.Client("https://api.example", cache=False, max_nodes=limit)
    assert caught.value.argument == "max_nodes"
