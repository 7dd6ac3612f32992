"""The cache: private, within its limit, and never in the way, whatever becomes of its file."""

from __future__ import annotations

import base64
import gzip
import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aatoolkit import Payload, errors
from aatoolkit.http import BaseUrl, Fetcher, cache_info, clear_cache
from aatoolkit.http.session import cache_key
from aatoolkit.payload import Request

ROOT = Path(__file__).parents[2]
TOKEN = "canary-7f3a9c.TOKEN_~+/=="
HOST = "acme.example"
FILE = "answers.sqlite"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def fetcher(scripted: Any, reply: Any, folder: Path) -> Iterator[Callable[..., Fetcher]]:
    """Makes fetchers of the scripted server, which repeats the topic; closed after the test."""
    made: list[Fetcher] = []
    scripted.script = lambda request: reply(
        {"topic": request.params.get("topic"), "pad": "x" * 500}
    )

    def make(**settings: Any) -> Fetcher:
        given = {"cache": folder, "token": TOKEN, "sleep": lambda _: None, **settings}
        made.append(Fetcher(given.pop("base_url", scripted.url), **given))
        return made[-1]

    yield make
    for one in made:
        one.close()


def get(fetcher: Fetcher, topic: str = "a", **more: Any) -> Payload:
    params = {"section": "domains", "days": "7", "topic": topic}
    return fetcher.get(Request("agent-analytics", HOST, "domains", params=params, **more))


def topic_of(payload: Payload) -> Any:
    return payload.json["topic"]


def python(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """A process of its own that runs some code with the package in reach."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=environment, **{**pipes, **options})


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def edit(folder: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        connection.execute(statement, values)


# -- keys ------------------------------------------------------------------------------------

words = st.text("abcäß ,&=", min_size=1, max_size=4).filter(lambda word: word.strip(","))
questions = st.dictionaries(st.sampled_from("abcd"), st.lists(words, min_size=1, max_size=3))


def key_of(question: dict[str, list[str]], shuffle: random.Random | None = None) -> str:
    pairs = [(name, list(values)) for name, values in question.items()]
    if shuffle:
        shuffle.shuffle(pairs)
        for _, values in pairs:
            shuffle.shuffle(values)
    base = BaseUrl.parse("https://api.example/v1")
    params = [(name, ",".join(values)) for name, values in pairs]
    return cache_key(base, "account", "/v1/api/domains/acme.example/x", params)


def meaning(question: dict[str, list[str]]) -> Any:
    return {name: frozenset(",".join(values).split(",")) for name, values in question.items()}


@given(questions, st.randoms(use_true_random=False))
def test_order_does_not_matter_to_a_key(question: Any, shuffle: random.Random) -> None:
    assert key_of(question) == key_of(question, shuffle)


@given(questions, questions)
def test_other_questions_have_other_keys(one: Any, other: Any) -> None:
    assert (key_of(one) == key_of(other)) == (meaning(one) == meaning(other))


def test_the_key_of_a_question_is_the_key_of_its_request(scripted: Any, fetcher: Any) -> None:
    reader = fetcher(base_url=f"{scripted.url}/v1/")
    for topic in ("a b", "ä&=+%", "b,a", "/?#", "'\""):
        assert not get(reader, topic).from_cache
        assert get(reader, topic).from_cache


# -- who may see it --------------------------------------------------------------------------


def test_what_others_may_read_is_closed_to_them(scripted: Any, fetcher: Any, folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    get(fetcher())
    assert mode(folder) == 0o700
    for part in folder.iterdir():
        part.chmod(0o644)
    folder.chmod(0o777)
    get(fetcher())
    assert mode(folder) == 0o700
    assert {mode(part) for part in folder.iterdir()} == {0o600}


def test_a_working_folder_keeps_its_mode(scripted: Any, fetcher: Any, folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "notes.txt").write_text("something else")
    get(fetcher())
    assert mode(folder) == 0o755
    assert {mode(part) for part in folder.glob(f"{FILE}*")} == {0o600}


def refused(fetcher: Callable[..., Fetcher], why: str) -> None:
    """One warning, then the network; nothing is kept."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        reader = fetcher()
        assert topic_of(get(reader)) == "a"
        assert not get(reader).from_cache
    (warning,) = warned
    assert warning.category is errors.CacheWarning
    assert why in str(warning.message)


def test_a_folder_that_others_write_to_is_refused(
    scripted: Any, fetcher: Any, folder: Path
) -> None:
    folder.mkdir()
    (folder / "notes.txt").write_text("something else")
    folder.chmod(0o1777)
    refused(fetcher, "others may put files into")
    assert mode(folder) == 0o1777
    assert list(folder.glob(f"{FILE}*")) == []


def test_a_link_to_a_file_is_refused(
    scripted: Any, fetcher: Any, folder: Path, tmp_path: Path
) -> None:
    folder.mkdir(mode=0o700)
    target = tmp_path / "target"
    target.write_bytes(b"")
    (folder / FILE).symlink_to(target)
    refused(fetcher, "no plain file")
    assert target.read_bytes() == b""


def test_a_link_to_a_folder_is_followed(
    scripted: Any, fetcher: Any, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    folder.symlink_to(tmp_path / "elsewhere")
    get(fetcher())
    assert get(fetcher()).from_cache
    assert mode(tmp_path / "elsewhere") == 0o700


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="giving files away takes root")


@as_root
@pytest.mark.parametrize("part", ["", FILE])
def test_what_belongs_to_somebody_else_is_refused(
    scripted: Any, fetcher: Any, folder: Path, part: str
) -> None:
    folder.mkdir(mode=0o700)
    (folder / FILE).touch(mode=0o600)
    os.chown(folder / part, 65534, 65534)
    refused(fetcher, "belongs to somebody else")
    assert (folder / FILE).stat().st_size == 0


# -- the token -------------------------------------------------------------------------------


def spellings(token: str) -> dict[str, bytes]:
    plain = token.encode()
    return {
        "plain": plain,
        "base64": base64.b64encode(plain).rstrip(b"=")[:-2],
        "url": quote(token, safe="").encode(),
        "utf-16-le": token.encode("utf-16-le"),
        "utf-16-be": token.encode("utf-16-be"),
        "json": json.dumps(token).strip('"').replace("/", "\\/").encode(),
        "part": plain[:16],
    }


def found_in(folder: Path, needles: dict[str, bytes]) -> set[str]:
    """Which spellings are in the files of a folder, or in anything compressed in them."""
    texts = [part.read_bytes() for part in folder.rglob("*") if part.is_file()]
    for text in list(texts):
        starts = (at for at in range(len(text) - 2) if text[at : at + 2] in (b"\x1f\x8b", b"x\x9c"))
        for at in starts:
            try:
                texts.append(zlib.decompressobj(47).decompress(text[at:]))
            except zlib.error:
                continue
    return {name for name, needle in needles.items() if any(needle in text for text in texts)}


def test_no_spelling_of_the_token_is_kept(
    scripted: Any, fetcher: Any, reply: Any, folder: Path
) -> None:
    odd = {"X-Request-Id": f"id {TOKEN}", "Set-Cookie": f"a={TOKEN}", "ETag": quote(TOKEN)}
    scripted.script = [
        reply({}, 302, {"Location": f"/?token={TOKEN}"}),
        reply({"echo": TOKEN}),
        reply(gzip.compress(b'{"ok": 1}'), headers={**odd, "Content-Encoding": "gzip"}),
        reply({"topic": "kept"}, headers=odd),
    ]
    reader = fetcher()
    for topic, kind in (("redirect", errors.StatusError), ("echo", errors.DecodeError)):
        with pytest.raises(kind):
            get(reader, topic)
    for topic in ("gzip", "plain"):
        get(reader, topic)
    reader.close()
    assert cache_info(folder).answers == 2
    assert found_in(folder, spellings(TOKEN)) == set()


def test_the_search_for_the_token_would_find_it(tmp_path: Path) -> None:
    for name, spelling in spellings(TOKEN).items():
        (tmp_path / "leak").write_bytes(b"before" + spelling + b"after")
        assert name in found_in(tmp_path, spellings(TOKEN))
        (tmp_path / "leak").write_bytes(b"before" + gzip.compress(spelling) + b"after")
        assert name in found_in(tmp_path, spellings(TOKEN))


def test_accounts_and_services_are_apart_for_good(
    scripted: Any, fetcher: Any, reply: Any, folder: Path
) -> None:
    scripted.script = lambda request: reply(
        {"topic": request.headers.get("authorization", "Bearer nobody")[-3:]}
    )
    for token in ("account-a", "account-b", None):
        own = token[-3:] if token else "ody"
        assert topic_of(get(fetcher(token=token))) == own
        assert topic_of(get(fetcher(token=token, offline=True))) == own
    with pytest.raises(errors.NotCached):
        get(fetcher(token="account-c", offline=True))
    with pytest.raises(errors.NotCached):
        get(fetcher(base_url="https://api.example", token="account-a", offline=True))
    fingerprints = [fetcher(token=token)._account for token in ("account-a", "account-a", "b")]
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]
    other = fetcher(token="account-a", cache=folder.with_name("other"))
    assert other._account != fingerprints[0], "the fingerprint needs the key of the file"


# -- offline ---------------------------------------------------------------------------------

OFFLINE = """
import sys
from aatoolkit import errors
from aatoolkit.http import Fetcher
from aatoolkit.payload import Request

def guard(event, arguments):
    if event.startswith("socket."):
        raise AssertionError(event)

sys.addaudithook(guard)
fetcher = Fetcher(sys.argv[1], sys.argv[2], cache=sys.argv[3], offline=True)
params = {"section": "domains", "days": "7", "topic": "a"}
print(fetcher.get(Request("agent-analytics", "acme.example", params=params)).body.decode())
try:
    fetcher.get(Request("agent-analytics", "acme.example", params={**params, "topic": "b"}))
except errors.NotCached as error:
    print(error.url)
fetcher.close()
"""


def test_offline_a_process_touches_no_socket(scripted: Any, fetcher: Any, folder: Path) -> None:
    body = get(fetcher()).body
    output, wrong = python(OFFLINE, scripted.url, TOKEN, str(folder)).communicate(timeout=60)
    assert wrong == ""
    kept, missing = output.splitlines()
    assert kept.encode() == body
    assert missing.endswith("topic=b")


# -- answers that there is nothing ------------------------------------------------------------

NOTHING = [
    (204, b"", True),
    (404, {"detail": "No data yet."}, True),
    (202, b"", False),
    (200, {"status": "processing", "jobId": 7}, False),
    (200, {"section": "domains", "availability": {"status": "pending"}, "domains": []}, False),
    (200, {"error": {"code": "internal", "message": "Something went wrong."}}, False),
    (200, {"success": False, "message": "Please try again later."}, False),
    (403, {"code": "plan_required"}, False),
    (503, {"detail": "The first run is still pending."}, False),
]


@pytest.mark.parametrize(("status", "body", "kept"), NOTHING)
def test_a_lasting_absence_is_kept_for_a_while(
    scripted: Any,
    fetcher: Any,
    reply: Any,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    body: Any,
    kept: bool,
) -> None:
    scripted.script = reply(body, status)
    reader = fetcher(expire_after=3600)
    first = get(reader)
    assert (first.status, first.from_cache) == (status, False)
    again = get(reader)
    assert (again.status, again.body, again.from_cache) == (status, first.body, kept)
    if kept:
        assert get(fetcher(offline=True)).status == status
        monkeypatch.setattr("aatoolkit.http.fetcher.EMPTY_SECONDS", 0.0)
        assert not get(reader).from_cache, "soon there may be something"
        assert get(fetcher(offline=True)).stale
    else:
        with pytest.raises(errors.NotCached):
            get(fetcher(offline=True))


def test_something_takes_the_place_of_nothing_and_pending_does_not(
    scripted: Any, fetcher: Any, reply: Any
) -> None:
    reader = fetcher(expire_after=0)
    pending, failed = {"dataStatus": "pending", "domains": []}, {"error": "Something broke."}
    replies = [(b"", 204), ({"topic": "a"}, 200), (b"", 202), (pending, 200), (failed, 200)]
    scripted.script = [reply(*one) for one in replies]
    assert [get(reader).status for _ in replies] == [204, 200, 202, 200, 200]
    assert topic_of(get(fetcher(offline=True))) == "a"


# -- a file that is of no use ----------------------------------------------------------------


def over(folder: Path, change: Callable[[bytes], bytes]) -> None:
    (folder / FILE).write_bytes(change((folder / FILE).read_bytes()))


def another_database(folder: Path) -> None:
    (folder / FILE).unlink()
    edit(folder, "CREATE TABLE answers (key TEXT PRIMARY KEY, body TEXT)")


def log_of_garbage(folder: Path) -> None:
    (folder / f"{FILE}-wal").write_bytes(random.Random(1).randbytes(40_000))
    (folder / f"{FILE}-shm").write_bytes(random.Random(2).randbytes(32_768))


SPOILT: dict[str, Callable[[Path], None]] = {
    "zeroed": lambda folder: over(folder, lambda text: bytes(len(text))),
    "empty": lambda folder: over(folder, lambda text: b""),
    "cut short": lambda folder: over(folder, lambda text: text[:5000]),
    "cut in its head": lambda folder: over(folder, lambda text: text[:50]),
    "garbage": lambda folder: over(folder, lambda text: b"this is no database" * 1000),
    "garbage after its head": lambda folder: over(folder, lambda t: t[:100] + t[:100:-1]),
    "another database": another_database,
    "a later version": lambda folder: edit(folder, "PRAGMA user_version=99"),
    "without a table": lambda folder: edit(folder, "DROP TABLE register"),
    "a log of garbage": log_of_garbage,
    "another head": lambda folder: edit(
        folder, "UPDATE answers SET head = replace(head, 'T', 't')"
    ),
    "another seal": lambda folder: edit(folder, "UPDATE answers SET seal = 'x'"),
    "another key": lambda folder: edit(folder, "UPDATE answers SET seal = key, key = 'x'"),
    "a head of nothing": lambda folder: edit(folder, "UPDATE answers SET head = '{}'"),
    "a number for a body": lambda folder: edit(folder, "UPDATE answers SET body = 7"),
    "text for a body": lambda folder: edit(folder, "UPDATE answers SET body = 'text'"),
    "a folder": lambda folder: (folder / FILE).unlink() or (folder / FILE).mkdir(),  # type: ignore[func-returns-value]
}


@pytest.mark.parametrize("fault", SPOILT.values(), ids=SPOILT)
def test_a_spoilt_file_costs_a_warning_at_most(
    scripted: Any, fetcher: Any, folder: Path, fault: Callable[[Path], None]
) -> None:
    first = fetcher()
    body = get(first).body
    first.close()
    fault(folder)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        reader = fetcher()
        assert get(reader).body == body
        assert topic_of(get(reader, "b")) == "b"
        reader.close()
    assert [warning.category for warning in warned] in ([], [errors.CacheWarning])


def test_an_answer_is_sealed_with_its_question(scripted: Any, fetcher: Any, folder: Path) -> None:
    reader = fetcher()
    keys = []
    for topic in "ab":
        get(reader, topic)
        keys += [key for key in reader._store.responses if key not in keys]
    edit(folder, "UPDATE answers SET key = 'c' WHERE key = ?", keys[0])
    edit(folder, "UPDATE answers SET key = ? WHERE key = ?", *keys)
    with pytest.warns(errors.CacheWarning, match="damaged"):
        assert topic_of(get(reader, "a")) == "a"


@pytest.mark.parametrize("fault", SPOILT, ids=SPOILT)
def test_clearing_helps_a_spoilt_file_or_gives_the_reason(
    scripted: Any, fetcher: Any, folder: Path, fault: str
) -> None:
    first = fetcher()
    get(first)
    first.close()
    SPOILT[fault](folder)
    if fault in ("another database", "a folder"):
        with pytest.raises(errors.ConfigurationError, match=r"not one of|no plain file") as caught:
            clear_cache(folder)
        assert caught.value.setting == "cache"
        return
    clear_cache(folder)
    assert cache_info(folder).answers == 0
    get(fetcher())
    assert get(fetcher()).from_cache


@pytest.mark.parametrize("turns", [100, pytest.param(300, marks=pytest.mark.thorough)])
def test_flipped_bytes_never_give_another_body(
    scripted: Any, fetcher: Any, folder: Path, turns: int
) -> None:
    """Whatever bits of the file are flipped, an answer is what it was, or is not used."""
    first = fetcher()
    bodies = {topic: get(first, topic).body for topic in "abcdefgh"}
    first.close()
    whole = (folder / FILE).read_bytes()
    draw, used, refused = random.Random(20261121), 0, 0
    for _ in range(turns):
        spoilt = bytearray(whole)
        for _ in range(draw.choice((1, 1, 4, 64))):
            spoilt[draw.randrange(len(spoilt))] ^= 1 << draw.randrange(8)
        for part in folder.iterdir():
            part.unlink()
        (folder / FILE).write_bytes(spoilt)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.CacheWarning)
            reader = fetcher(offline=True)
            for topic, body in bodies.items():
                try:
                    assert get(reader, topic).body == body
                    used += 1
                except errors.NotCached:
                    refused += 1
            reader.close()
    assert used > refused > 0, (used, refused)


@pytest.mark.thorough
def test_a_full_disk_costs_a_warning(scripted: Any, fetcher: Any, folder: Path) -> None:
    code = """
import resource, sys, warnings
from aatoolkit.http import Fetcher
from aatoolkit.payload import Request
resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000))
fetcher = Fetcher(sys.argv[1], sys.argv[2], cache=sys.argv[3])
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    for turn in range(2):
        for topic in range(200):
            params = {"section": "domains", "days": "7", "topic": str(topic)}
            payload = fetcher.get(Request("agent-analytics", "acme.example", params=params))
            assert payload.json["topic"] == str(topic)
print([warning.category.__name__ for warning in warned], payload.from_cache)
fetcher.close()
"""
    output, wrong = python(code, scripted.url, TOKEN, str(folder)).communicate(timeout=100)
    assert wrong == ""
    assert output == "['CacheWarning'] False\n"
    kept = cache_info(folder).answers
    assert 0 < kept < 200
    reader = fetcher(offline=True)
    assert all(topic_of(get(reader, str(topic))) == str(topic) for topic in range(kept))
    reader.close()
    reader = fetcher()
    get(reader, "199")
    assert get(reader, "199").from_cache, "with room again, answers are kept again"


READ_ONLY = """
import os, sys, warnings
from pathlib import Path
from aatoolkit.http import Fetcher
from aatoolkit.payload import Request

url, folder = sys.argv[1], Path(sys.argv[2]) / "own"
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)

def ask(fetcher, topic):
    params = {"section": "domains", "days": "7", "topic": topic}
    return fetcher.get(Request("agent-analytics", "acme.example", params=params))

first = Fetcher(url, "token", cache=folder)
ask(first, "a")
first.close()
for part in folder.iterdir():
    part.chmod(0o400)
folder.chmod(0o500)
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    second = Fetcher(url, "token", cache=folder)
    found = [ask(second, topic).from_cache for topic in "abba"]
    second.close()
print(found, [warning.category.__name__ for warning in warned])
folder.chmod(0o700)
"""


def test_a_read_only_cache_answers_and_keeps_nothing(scripted: Any, reply: Any) -> None:
    scripted.script = reply({"ok": 1})
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        output, wrong = python(READ_ONLY, scripted.url, place, cwd="/").communicate(timeout=60)
    assert wrong == ""
    assert output == "[True, False, False, True] ['CacheWarning']\n"


def test_what_a_lock_keeps_from_being_written_is_written_after_it(
    scripted: Any, fetcher: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aatoolkit.http.database._BUSY_SECONDS", 0.05)
    monkeypatch.setattr("aatoolkit.http.database._REST_SECONDS", (0.3, 1.0))
    reader = fetcher()
    get(reader)
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert not get(reader, "b").from_cache, "and no warning: nothing is lost"
        assert get(reader).from_cache, "what is written does not keep anybody from reading"
        assert get(fetcher(offline=True)).from_cache, "nor from beginning to"
        assert get(reader, "b").from_cache, "it waits in memory"
        assert not get(reader, "c").from_cache
        assert cache_info(folder).answers == 1
    time.sleep(0.4)
    get(reader, "d")
    assert cache_info(folder).answers == 4
    assert all(get(fetcher(offline=True), topic).from_cache for topic in "abcd")


def test_what_waits_for_a_lock_is_written_at_the_end(
    fetcher: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aatoolkit.http.database._BUSY_SECONDS", 0.05)
    reader, refused = fetcher(), fetcher()
    get(reader)
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        get(reader, "b")
        get(refused, "c")
        with pytest.warns(errors.CacheWarning, match="locked; 1 answers were lost"):
            refused.close()
    reader.close()
    assert cache_info(folder).answers == 2


def test_what_waits_for_a_lock_is_bounded(
    fetcher: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aatoolkit.http.database._BUSY_SECONDS", 0.05)
    monkeypatch.setattr("aatoolkit.http.cache_backend.PENDING_SIZE", 2500)  # three answers
    reader = fetcher()
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for topic in "abcdef":
            get(reader, topic)
    reader.close()
    assert 2 <= cache_info(folder).answers <= 3
    assert get(fetcher(offline=True), "f").from_cache


def test_a_lock_that_stays_is_warned_about_once(
    fetcher: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aatoolkit.http.database._BUSY_SECONDS", 0.05)
    monkeypatch.setattr("aatoolkit.http.database._REST_SECONDS", (0.0, 0.0))
    monkeypatch.setattr("aatoolkit.http.database._PATIENCE", 0.3)
    reader = fetcher()
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        get(reader, "a")
        time.sleep(0.4)
        with pytest.warns(errors.CacheWarning, match="locked") as warned:
            get(reader, "b")
        assert len(warned) == 1
        get(reader, "c")


CONTENDING = """
import sys, time
from pathlib import Path
from datetime import UTC, datetime
from types import SimpleNamespace
from aatoolkit.http.cache_backend import AnswerCache
folder, size, name = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
url = f"https://api.example/api/domains/{name}.example/agent-analytics"
for part in range(5):
    store = AnswerCache(folder, size)
    for number in range(10):
        answer = SimpleNamespace(
            url=url, status_code=200, headers={}, content=b"x" * 30_000,
            fetched_at=datetime.now(UTC),
        )
        store.save_response(answer, cache_key=f"{name} {part} {number}")
    store.responses.close()
"""


@pytest.mark.thorough
def test_many_processes_with_limits_of_their_own_get_no_warning(folder: Path) -> None:
    sizes = [400_000, 2_000_000, 400_000, 10**9, 1_000_000, 10**9]
    running = [
        python(CONTENDING, str(folder), str(size), f"h{number}")
        for number, size in enumerate(sizes)
    ]
    for process in running:
        _, wrong = process.communicate(timeout=240)
        assert (process.returncode, wrong) == (0, "")
    assert cache_info(folder).answers > 0


def test_a_cache_whose_files_cannot_be_looked_at_is_a_typed_error(
    scripted: Any, fetcher: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    get(fetcher())
    real = os.stat
    for nth in range(1, 60):
        seen = 0

        def failing(*args: Any, nth: int = nth, **options: Any) -> Any:
            nonlocal seen
            seen += 1
            if seen == nth:
                raise OSError(5, "Input/output error")
            return real(*args, **options)

        with monkeypatch.context() as patched:
            patched.setattr(os, "stat", failing)
            with suppress(errors.ConfigurationError):
                cache_info(folder)
        if seen < nth:
            break
    edit(folder, "UPDATE register SET fetched_at = 'yesterday'")
    with pytest.raises(errors.ConfigurationError, match="clear it"):
        cache_info(folder)


# -- its size --------------------------------------------------------------------------------


def size_of(folder: Path) -> int:
    return sum(part.stat().st_size for part in folder.iterdir())


def test_the_cache_stays_within_its_size_and_keeps_what_is_used(
    scripted: Any, fetcher: Any, reply: Any, folder: Path
) -> None:
    scripted.script = lambda request: reply({"topic": request.params["topic"], "pad": "x" * 20_000})
    reader = fetcher(cache_size=600_000)
    for number in range(100):
        get(reader, str(number))
        get(reader, "0")
    offline = fetcher(offline=True)
    assert get(offline, "0").from_cache, "it is used all the time"
    assert get(offline, "99").from_cache
    with pytest.raises(errors.NotCached):
        get(offline, "50")
    kept = cache_info(folder).answers
    assert 20 < kept < 30
    assert scripted.requests[0].params["topic"] == "0"
    assert sum(request.params["topic"] == "0" for request in scripted.requests) == 1
    reader.close()
    offline.close()
    assert size_of(folder) < 700_000


def test_a_smaller_limit_shrinks_the_files(
    scripted: Any, fetcher: Any, reply: Any, folder: Path
) -> None:
    scripted.script = lambda request: reply({"topic": request.params["topic"], "pad": "x" * 50_000})
    reader = fetcher()
    for number in range(40):
        get(reader, str(number))
    reader.close()
    before = size_of(folder)
    get(fetcher(cache_size=500_000), "another")
    assert size_of(folder) < 600_000 < 2_000_000 < before


def test_what_is_larger_than_the_cache_is_not_kept_and_removes_nothing(
    scripted: Any, fetcher: Any, reply: Any, folder: Path
) -> None:
    reader = fetcher(cache_size=100_000)
    get(reader)
    scripted.script = reply({"topic": "large", "pad": "x" * 200_000})
    assert topic_of(get(reader, "large")) == "large"
    assert not get(reader, "large").from_cache
    assert get(reader).from_cache


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2 GB", None])
def test_a_size_is_a_number_of_bytes(bad: Any) -> None:
    with pytest.raises(errors.ConfigurationError) as caught:
        Fetcher("https://api.example", cache=False, cache_size=bad)
    assert caught.value.setting == "cache_size"


def test_what_was_cleared_is_in_no_file(
    scripted: Any, fetcher: Any, reply: Any, folder: Path
) -> None:
    scripted.script = lambda request: reply(
        {"topic": request.params["topic"], "pad": "PRIVATE" * 900}
    )
    reader = fetcher()
    for number in range(20):
        get(reader, f"TOPIC-{number}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clear_cache(folder, host="another.example") == 0
        assert clear_cache(folder, host=HOST) == 20
    kept = b"".join(part.read_bytes() for part in folder.iterdir())
    assert b"PRIVATE" not in kept
    assert b"TOPIC" not in kept
    assert not get(reader, "TOPIC-1").from_cache
    assert get(reader, "TOPIC-1").from_cache


def test_sizes_are_reported_by_host(scripted: Any, fetcher: Any, folder: Path) -> None:
    reader = fetcher()
    for host in ("acme.example", "globex.example"):
        for section in ("urls", "ads"):
            reader.get(Request("agent-analytics", host, params={"section": section}))
    reader.get(Request("scope-options", "globex.example"))
    info = cache_info(folder)
    assert [(host.origin, host.host, host.answers) for host in info.hosts] == [
        (scripted.url, "acme.example", 2),
        (scripted.url, "globex.example", 3),
    ]
    assert all(500 < host.bytes // host.answers < 1500 for host in info.hosts)


# -- many at once ----------------------------------------------------------------------------


def at_once(count: int, action: Callable[[int], Any]) -> list[Any]:
    """What an action gives in many threads that begin together."""
    start = threading.Barrier(count)

    def one(number: int) -> Any:
        start.wait(20)
        return action(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


@pytest.mark.parametrize("cache", [True, False])
def test_the_same_question_goes_out_once(
    scripted: Any, fetcher: Any, reply: Any, folder: Path, cache: bool
) -> None:
    def slowly(request: Any) -> Any:
        scripted.closing.wait(0.5)
        return reply({"topic": len(scripted.requests)})

    scripted.script = slowly
    reader = fetcher(cache=folder if cache else False)
    assert [topic_of(payload) for payload in at_once(32, lambda _: get(reader))] == [1] * 32
    assert len(scripted.requests) == 1


def test_an_error_is_shared_and_everybody_has_one_of_his_own(
    scripted: Any, fetcher: Any, reply: Any
) -> None:
    def slowly(_: Any) -> Any:
        scripted.closing.wait(0.5)
        return reply({"error": {"code": "broken"}}, 500)

    scripted.script = slowly
    reader = fetcher(cache=False)

    def fail(number: int) -> errors.ServerFailed:
        with pytest.raises(errors.ServerFailed) as caught:
            get(reader)
        return caught.value

    found = at_once(8, fail)
    assert len(scripted.requests) == 1
    assert len({id(error) for error in found}) == 8
    assert {(error.code, error.status, error.section) for error in found} == {
        ("broken", 500, "domains")
    }


def test_who_has_more_time_waits_longer(scripted: Any, fetcher: Any, reply: Any) -> None:
    def slowly(_: Any) -> Any:
        scripted.closing.wait(1.0)
        return reply({"topic": "late"})

    scripted.script = slowly
    reader = fetcher(cache=False, deadline=0.3)

    def one(number: int) -> Any:
        if number == 0:
            with pytest.raises(errors.DeadlineExceeded) as caught:
                get(reader)
            return caught.value.deadline
        time.sleep(0.1)
        reader.deadline = 20.0
        return topic_of(get(reader))

    assert at_once(3, one) == [0.3, "late", "late"]
    assert len(scripted.requests) == 2


@pytest.mark.thorough
def test_who_waits_for_another_waits_no_longer_than_his_own_deadline(
    scripted: Any, fetcher: Any, reply: Any
) -> None:
    def slowly(_: Any) -> Any:
        scripted.closing.wait(3.0)
        return reply({"topic": "late"})

    scripted.script = slowly
    reader = fetcher(cache=False)

    def one(number: int) -> Any:
        if number == 0:
            return topic_of(get(reader))
        time.sleep(0.2)
        reader.deadline = 0.5
        began = time.monotonic()
        with pytest.raises(errors.DeadlineExceeded):
            get(reader)
        return time.monotonic() - began

    answer, waited = at_once(2, one)
    assert answer == "late"
    assert 0.4 < waited < 2.5
    assert len(scripted.requests) == 1


def test_an_interrupt_of_one_does_not_end_the_others(
    scripted: Any, fetcher: Any, reply: Any
) -> None:
    def interrupted(_: float) -> None:
        time.sleep(0.5)
        raise KeyboardInterrupt

    reader = fetcher(cache=False, sleep=interrupted)
    scripted.script = [reply({}, 503), reply({"topic": "after"})]

    def one(number: int) -> Any:
        time.sleep(0.2 * number)
        try:
            return topic_of(get(reader))
        except KeyboardInterrupt:
            return "interrupted"

    assert at_once(3, one) == ["interrupted", "after", "after"]
    assert len(scripted.requests) == 2


def test_a_refresh_is_never_shared(scripted: Any, fetcher: Any, reply: Any) -> None:
    def slowly(_: Any) -> Any:
        number = len(scripted.requests)
        scripted.closing.wait(0.3)
        return reply({"topic": number})

    scripted.script = slowly
    reader = fetcher()
    found = at_once(4, lambda _: topic_of(get(reader, refresh=True)))
    assert sorted(found) == [1, 2, 3, 4]
    assert get(reader).from_cache


def test_threads_lose_no_reads_and_no_writes(scripted: Any, fetcher: Any) -> None:
    reader = fetcher(workers=32)

    def many(number: int) -> int:
        draw, wrong = random.Random(number), 0
        for _ in range(60):
            topic = str(draw.randrange(40))
            wrong += topic_of(get(reader, topic)) != topic
        return wrong

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert at_once(32, many) == [0] * 32
    assert len(scripted.requests) == 40


PROCESS = """
import sys
from aatoolkit.http import Fetcher
from aatoolkit.payload import Request

def ask(fetcher, topic):
    params = {"section": "domains", "days": "7", "topic": topic}
    payload = fetcher.get(Request("agent-analytics", "acme.example", params=params))
    assert payload.json["topic"] == topic
    return payload.from_cache

for turn in range(8):
    fetcher = Fetcher(sys.argv[1], sys.argv[2], cache=sys.argv[3])
    for number in range(20):
        ask(fetcher, f"{sys.argv[4]} {turn} {number}")
        ask(fetcher, f"shared {number}")
        assert ask(fetcher, f"{sys.argv[4]} {turn} {number}")
    fetcher.close()
print("done")
"""


@pytest.mark.thorough
def test_processes_share_one_cache_from_its_first_moment(
    scripted: Any, fetcher: Any, folder: Path
) -> None:
    running = [python(PROCESS, scripted.url, TOKEN, str(folder), str(n)) for n in range(4)]
    for process in running:
        assert process.communicate(timeout=100) == ("done\n", "")
    assert cache_info(folder).answers == 4 * 8 * 20 + 20
    own = sum("shared" not in request.params["topic"] for request in scripted.requests)
    assert own == 4 * 8 * 20


@pytest.mark.thorough
def test_another_process_that_leaves_does_not_take_the_log_away(
    scripted: Any, fetcher: Any, folder: Path
) -> None:
    """Opening the file by other means than SQLite would drop this process's locks on it."""
    reader = fetcher()
    get(reader)
    again = fetcher()
    get(again, "b")
    code = (
        "import sys; from aatoolkit.http import cache_info; print(cache_info(sys.argv[1]).answers)"
    )
    output, wrong = python(code, str(folder)).communicate(timeout=60)
    assert (output, wrong) == ("2\n", "")
    assert (folder / f"{FILE}-wal").exists(), "this process still has the file open"
    get(reader, "c")
    assert cache_info(folder).answers == 3


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_has_connections_and_locks_of_its_own(
    scripted: Any, fetcher: Any, folder: Path
) -> None:
    """If it used the parent's, the parent would take the log away that the child writes to."""
    reader = fetcher()
    get(reader)
    from_child, to_parent = os.pipe()
    from_parent, to_child = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(30)
            get(reader, "b")
            os.write(to_parent, b"kept")
            os.read(from_parent, 1)
            get(reader, "c")
            os._exit(0)
        finally:
            os._exit(1)
    assert os.read(from_child, 4) == b"kept"
    reader.close()
    os.write(to_child, b"!")
    assert os.waitpid(child, 0)[1] == 0
    for end in (from_child, to_parent, from_parent, to_child):
        os.close(end)
    assert all(get(reader, topic).from_cache for topic in "abc")


WRITERS = """
import itertools, os, sys
from aatoolkit.http import Fetcher
from aatoolkit.payload import Request

def write(turn):
    fetcher = Fetcher(sys.argv[1], sys.argv[2], cache=sys.argv[3], cache_size=3_000_000)
    for number in itertools.count():
        params = {"section": "domains", "topic": f"{turn} {number}"}
        fetcher.get(Request("agent-analytics", "acme.example", params=params))
        os.write(1, f"kept {turn} {number}\\n".encode())

for turn in sys.stdin:
    child = os.fork()
    if not child:
        write(turn.strip())
    os.write(1, f"began {child}\\n".encode())
    os.waitpid(child, 0)
    os.write(1, b"ended\\n")
"""


@pytest.mark.thorough
def test_writers_may_be_killed_at_any_moment(
    scripted: Any, fetcher: Any, reply: Any, folder: Path
) -> None:
    """What was acknowledged is there, and nothing that is there is half an answer."""
    pad = "x" * 30_000
    scripted.script = lambda request: reply({"topic": request.params["topic"], "pad": pad})
    draw, acknowledged = random.Random(20261121), 0
    with python(WRITERS, scripted.url, TOKEN, str(folder), stdin=subprocess.PIPE) as writers:
        for turn in range(40):
            writers.stdin.write(f"{turn}\n")
            writers.stdin.flush()
            lines, child = [], 0
            while not child or not any(line.startswith("kept") for line in lines):
                lines.append(writers.stdout.readline())
                child = child or int(
                    lines[-1].removeprefix("began ") if "began" in lines[-1] else 0
                )
            time.sleep(draw.uniform(0, 0.08))
            os.kill(child, signal.SIGKILL)
            lines += iter(writers.stdout.readline, "ended\n")
            topics = [line[5:].strip() for line in lines if line.startswith("kept")]
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                reading = fetcher(offline=True)
                for topic in topics[-40:]:
                    params = {"section": "domains", "topic": topic}
                    kept = reading.get(Request("agent-analytics", HOST, params=params))
                    assert kept.json == {"topic": topic, "pad": pad}
                reading.close()
            acknowledged += len(topics)
        writers.stdin.close()
    assert acknowledged >= 40
    with closing(sqlite3.connect(folder / FILE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_no_cache_means_no_file(scripted: Any, fetcher: Any, tmp_path: Path) -> None:
    assert not get(fetcher(cache=False)).from_cache
    assert list(tmp_path.iterdir()) == []
