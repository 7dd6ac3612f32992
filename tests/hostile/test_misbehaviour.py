"""Whatever a server does, a call ends in time, in bounds, in an answer or in its typed error."""

from __future__ import annotations

import pickle
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hostile.cases import CASES, DEADLINE, MAX_BODY, TOKEN, Case
from hostile.measure import forget_peak, open_sockets, peak
from hostile.server import HostileServer

from aatoolkit import errors
from aatoolkit.http import Fetcher, cache_info


def outcome(fetcher: Fetcher, case: Case) -> Any:
    """The JSON of the last answer, or the error."""
    found: Any = None
    for turn in range(case.calls):
        if turn:
            time.sleep(case.pause)
        try:
            params = {"section": "urls", "topic": str(turn)}
            found = fetcher.get("agent-analytics", "acme.example", params, section="urls").json
        except errors.FetchError as error:
            found = error
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_call_ends_well(name: str, tmp_path: Path, record_property: Any) -> None:
    case = CASES[name]
    deadline = DEADLINE if case.is_slow else 10.0
    threads, sockets = set(threading.enumerate()), open_sockets()
    with HostileServer(case.script) as server:
        fetcher = Fetcher(
            server.url,
            TOKEN,
            cache=tmp_path,
            deadline=deadline,
            max_body=MAX_BODY,
            sleep=lambda _: None,
        )
        before = forget_peak()
        began = time.monotonic()
        found = outcome(fetcher, case)
        took = time.monotonic() - began
        memory = peak() - before
        running = set(threading.enumerate()) - threads
        assert not [each.name for each in running if each.name.startswith("aatoolkit")]
        fetcher.close()
        assert server.gone(), "a connection was left open"
    assert open_sockets() == sockets
    record_property("took", took)
    record_property("deadline", deadline)
    record_property("memory", memory)
    if isinstance(case.outcome, type):
        check_error(found, case, tmp_path)
    else:
        assert found == case.outcome
    assert case.asks is None or len(server.heads) == case.asks
    assert took < case.within + case.pause * case.calls
    assert memory < case.memory * MAX_BODY


def check_error(error: Any, case: Case, folder: Path) -> None:
    assert type(error) is case.outcome, repr(error)
    assert {name: getattr(error, name) for name in case.facts} == case.facts
    assert error.section == "urls"
    assert error.url.endswith("agent-analytics?section=urls&topic=" + str(case.calls - 1))
    assert str(error).isprintable()
    assert (error.excerpt or "").isprintable()
    assert (error.status is None) == (error.excerpt is None)
    assert error.__cause__ is None
    assert error.__context__ is None
    again = pickle.loads(pickle.dumps(error))
    assert vars(again) == vars(error)
    assert TOKEN not in repr(vars(error)) + str(error)
    assert cache_info(folder).answers <= case.calls - 1


def test_there_are_many_misbehaviours() -> None:
    assert len(CASES) > 200
