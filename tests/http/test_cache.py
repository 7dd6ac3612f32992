"""The cache: private, within its limit, and never in the way, whatever becomes of its file."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import stat
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from processes import python

from aatoolkit import Payload, errors
from aatoolkit.http import Fetcher, cache_info, clear_cache
from aatoolkit.payload import Request

HOST = "acme.example"
FILE = "responses.sqlite"


@pytest.fixture(autouse=True)
def topics(scripted: Any, reply: Any) -> None:
    """The server repeats the topic."""
    scripted.script = lambda request: reply(
        {"topic": request.params.get("topic"), "pad": "x" * 500}
    )


def get(fetcher: Fetcher, topic: str = "a") -> Payload:
    params = {"section": "domains", "days": "7", "topic": topic}
    return fetcher.get(Request("agent-analytics", HOST, "domains", params=params))


def topic_of(payload: Payload) -> Any:
    return payload.json["topic"]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def edit(folder: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        connection.execute(statement, values)


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


def refused(fetcher: Callable[..., Fetcher], why: str) -> None:
    """One warning, then the network; nothing is kept."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        reader = fetcher()
        assert topic_of(get(reader)) == "a"
        assert not get(reader).from_cache
    (warning,) = warned
    assert warning.category is errors.AAToolkitWarning
    assert why in str(warning.message)


def test_a_folder_that_others_write_to_or_that_cannot_be_is_refused(
    scripted: Any, fetcher: Any, folder: Path
) -> None:
    folder.mkdir()
    (folder / "notes.txt").write_text("something else")
    folder.chmod(0o1777)
    refused(fetcher, "other users may write to")
    refused(lambda: fetcher(cache="a\0b"), "null")
    assert mode(folder) == 0o1777
    assert list(folder.glob(f"{FILE}*")) == []


# -- the token -------------------------------------------------------------------------------


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
        monkeypatch.setattr("aatoolkit.http.judge.NO_DATA_MAX_SECONDS", 0.0)
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
    scripted.script = [reply(*arguments) for arguments in replies]
    assert [get(reader).status for _ in replies] == [204, 200, 202, 200, 200]
    assert topic_of(get(fetcher(offline=True))) == "a"


# -- a file that is of no use ----------------------------------------------------------------


def over(folder: Path, change: Callable[[bytes], bytes]) -> None:
    (folder / FILE).write_bytes(change((folder / FILE).read_bytes()))


def another_database(folder: Path) -> None:
    (folder / FILE).unlink()
    edit(folder, "CREATE TABLE responses (key TEXT PRIMARY KEY, value TEXT)")


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
    "without a table": lambda folder: edit(folder, "DROP TABLE responses"),
    "a log of garbage": log_of_garbage,
    "another value": lambda folder: edit(folder, "UPDATE responses SET value = x'00'"),
    "a number for a value": lambda folder: edit(folder, "UPDATE responses SET value = 7"),
    "text for a value": lambda folder: edit(folder, "UPDATE responses SET value = 'text'"),
    "nothing for a value": lambda folder: edit(folder, "UPDATE responses SET value = NULL"),
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
    assert [warning.category for warning in warned] in ([], [errors.AAToolkitWarning])


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
        done = python("-c", READ_ONLY, scripted.url, place, folder=Path("/"))
    assert done.stderr == ""
    assert done.stdout == "[True, False, False, True] ['AAToolkitWarning']\n"


def test_a_response_in_the_place_of_another_is_not_used(
    scripted: Any, fetcher: Any, folder: Path
) -> None:
    reader = fetcher()
    for topic in "ab":
        get(reader, topic)
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM responses ORDER BY expires")]
    edit(folder, "UPDATE responses SET key = 'c' WHERE key = ?", keys[0])
    edit(folder, "UPDATE responses SET key = ? WHERE key = ?", *keys)
    with pytest.warns(errors.AAToolkitWarning, match="damaged"):
        assert topic_of(get(reader, "a")) == "a"


def test_a_lock_of_another_costs_one_wait_and_one_warning(
    scripted: Any, fetcher: Any, folder: Path
) -> None:
    reader = fetcher()
    get(reader)
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with pytest.warns(errors.AAToolkitWarning, match="locked") as warned:
            assert [topic_of(get(reader, topic)) for topic in "bcb"] == ["b", "c", "b"]
        assert len(warned) == 1
        assert time.monotonic() - began < 8
        assert get(reader).from_cache, "what is written does not keep anybody from reading"
        assert get(fetcher(offline=True)).from_cache, "nor from beginning to"
    assert cache_info(folder).responses == 1


# -- its size --------------------------------------------------------------------------------


def size_of(folder: Path) -> int:
    return sum(part.stat().st_size for part in folder.iterdir())


def test_the_cache_stays_within_its_size_and_keeps_what_came_last(
    scripted: Any, fetcher: Any, reply: Any, folder: Path
) -> None:
    scripted.script = lambda request: reply({"pad": "x" * int(request.params["topic"])})
    reader = fetcher(cache_size=600_000)
    for number in range(20_000, 20_100):
        get(reader, str(number))
    get(reader, "600000")
    offline = fetcher(offline=True)
    assert get(offline, "20099").from_cache
    for topic in ("20050", "600000"):
        with pytest.raises(errors.NotCached):
            get(offline, topic)
    kept = cache_info(folder).responses
    assert 20 < kept < 30
    reader.close()
    offline.close()
    assert size_of(folder) < 700_000


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


# -- many at once ----------------------------------------------------------------------------


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
