"""Whatever a server does, a call ends in time, in bounds, in an answer or in its typed error."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from hostile.cases import CASES, MAX_BODY, TOKEN, Case
from hostile.trial import tried

from aatoolkit.http import cache_info


@pytest.mark.parametrize("name", CASES)
def test_a_call_ends_well(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    trial = tried(case, tmp_path)
    if isinstance(case.outcome, type):
        check_error(trial.result, case, tmp_path)
    else:
        assert trial.result == case.outcome
    assert case.asks is None or trial.asks == case.asks
    assert trial.seconds < case.within + case.pause * case.calls
    assert trial.memory < case.memory * MAX_BODY
    assert trial.threads == ()
    assert trial.all_let_go, "a connection was left open"
    assert trial.sockets == 0


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
    assert cache_info(folder).responses <= case.calls - 1
