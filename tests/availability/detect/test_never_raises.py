"""Detection never raises, whatever an answer holds, and it reports a fault of its own."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from vocabulary_documents import documents

from aatoolkit import normalize
from aatoolkit.availability.detect import detect, explains_absence, rows, rules, signals_of
from aatoolkit.errors import SchemaDriftWarning

# Whatever an answer holds: one that the declaration does not fit is read by a draft of itself.
pytestmark = pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")

SAMPLES = Path(__file__).parents[3] / "data" / "samples"


@given(documents())
def test_documents_of_its_own_vocabulary_are_read_without_a_failure(
    case: tuple[Any, dict[str, str]],
) -> None:
    document, headers = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaDriftWarning)
        for status in (200, 202, 206, 403, 404, 409):
            found = detect(document, status=status, headers=headers)
            assert found.failure is None
            assert all(hint.why and hint.path for hint in found.hints)
            assert explains_absence(status, document) in (True, False)


@given(documents())
def test_such_documents_become_tables_from_which_they_can_be_rebuilt(
    case: tuple[Any, dict[str, str]],
) -> None:
    document, _ = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaDriftWarning)
        tables = normalize("domains", document)
    assert json.dumps(tables.rebuild(), sort_keys=True) == json.dumps(document, sort_keys=True)


def test_a_reason_that_is_null_in_some_rows_is_read_in_the_others() -> None:
    answer = {
        "experiments": [
            {"id": 1, "after": None, "afterReason": "OBSERVATION_WINDOW_OPEN until 2026-12-01"},
            {"id": 2, "after": 4, "afterReason": None},
        ]
    }
    (found,) = signals_of(answer)
    assert (found.scope, found.target) == ("row", "experiments[0].after")
    assert found.availability.reason == "OBSERVATION_WINDOW_OPEN until 2026-12-01"


def test_a_sibling_may_be_of_any_type() -> None:
    for odd in ([], {}, 7, 1.5, None, [None]):
        assert signals_of({"rows": [{"x": None, "xStatus": odd}, {"x": 1, "xStatus": True}]}) == []


def test_a_flag_beside_a_value_may_be_of_any_type() -> None:
    for odd in ([], {}, ["A"], 7, None):
        found = detect({"rows": [{"value": None, "flag": odd}, {"value": 1, "flag": "A"}]})
        assert (found.signals, found.failure) == ([], None)


def test_a_failure_keeps_what_was_found_and_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("a secret of the answer")

    monkeypatch.setattr(rows, "read_rows", broken)
    with pytest.warns(SchemaDriftWarning, match=r"KeyError in test_never_raises\.py") as warned:
        found = detect({"hasData": False, "rows": [{"measured": False}]})
    assert [signal.rule for signal in found.signals] == ["flag"]
    assert found.hints[0].why == found.failure
    assert "secret" not in str(warned[0].message)


def test_a_failure_never_stops_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(rules, "read_forms", broken)
    answer = json.loads((SAMPLES / "domains.json").read_bytes())
    answer["availability"] = "partial"
    with pytest.warns(SchemaDriftWarning):
        tables = normalize("domains", answer)
    assert len(tables.main) == len(answer["domains"]) > 0


def test_a_failure_of_hints_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    found = detect({"rows": [{"n": 1}]})
    monkeypatch.setattr(found, "_answer", None)
    (hint,) = found.hints
    assert "a fault of aatoolkit" in hint.why
