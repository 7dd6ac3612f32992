"""Answers in shapes that no rule was made after: read right, or pointed out; decoys untouched.

``unseen.json`` was written before the forms that read it and the hints, from how services of many
kinds answer. An answer counts as read when the expected statement is among the signals, and as
pointed out when a hint names the place; each must be one of the two. Decoys use the same words
for business: nothing is read from them, and one hint at most is shown.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from aatoolkit import Status
from aatoolkit.availability.detect import Detection, detect
from aatoolkit.errors import SchemaDriftWarning

HERE = Path(__file__).parent
UNSEEN = json.loads((HERE / "unseen.json").read_bytes())
DECOYS = json.loads((HERE / "decoys.json").read_bytes())
SAMPLES = sorted((HERE.parents[2] / "data" / "samples").glob("*.json"))

POINTED_OUT = {
    *("traffic_light", "cap_top_n", "lag_note", "monitoring_off", "lifecycle", "unheard_word"),
    *("fields_expected_delivered", "percent_by_engine", "flags_list", "grade"),
    *("module_not_licensed", "sampling_mode", "inconclusive", "checks_list", "probe_results"),
    *("component_status", "problem_json", "warning_with_fields", "parallel_masks"),
    *("legend_numeric_state_map",),
    *("etl_run_summary", "field_quality_twins", "upstream_http_code_per_engine"),
    *("watermark_complete_through", "maintenance_window", "ingestion_lag"),
    *("sentinel_declared", "odata_annotation_error", "plan_feature_flags"),
    *("sampling_notice", "empty_list_with_reason", "engine_capability_rows"),
    *("job_states", "coverage_ratio", "quota_reached"),
    *("hal_embedded_status", "boolean_matrix"),
}
"""Answers that are pointed out and not read; all others are read."""


def _detect(case: dict[str, Any]) -> Detection:
    listed = {"engines": [{"id": name} for name in case.get("options", ())]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaDriftWarning)
        return detect(case["body"], headers=case.get("headers"), options=listed)


@pytest.mark.parametrize("case", UNSEEN["answers"], ids=lambda case: case["name"])
def test_an_answer_is_read_right_or_pointed_out(case: dict[str, Any]) -> None:
    found, (scope, target, status) = _detect(case), case["expect"]
    stated = [(each.scope, each.target, str(each.availability.status)) for each in found.signals]
    if case["name"] in POINTED_OUT:
        assert stated == []
        assert any(_is_about(hint.path, case["evidence"]) for hint in found.hints)
    else:
        assert (scope, target, status) in stated


def _is_about(path: str, evidence: str) -> bool:
    return path == evidence or path.startswith(f"{evidence}.") or evidence.startswith(f"{path}.")


@pytest.mark.parametrize("case", UNSEEN["decoys"], ids=lambda case: case["name"])
def test_a_decoy_is_not_read_and_gives_one_hint_at_most(case: dict[str, Any]) -> None:
    found = _detect(case)
    assert [each for each in found.signals if each.availability.status != Status.AVAILABLE] == []
    assert len(found.hints) <= 1


@pytest.mark.parametrize("name", DECOYS)
def test_the_decoys_of_the_variants_give_one_hint_at_most(name: str) -> None:
    assert len(_detect({"body": DECOYS[name]}).hints) <= 1


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_of_the_reference_service_gives_no_hint(path: Path) -> None:
    assert _detect({"body": json.loads(path.read_bytes())}).hints == []


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_without_its_availability_gives_one_hint_at_most(path: Path) -> None:
    body = json.loads(path.read_bytes())
    body.pop("availability", None)
    assert len(_detect({"body": body}).hints) <= 1


@pytest.mark.parametrize("key", [".", "", "—", "[]"])
def test_a_key_without_a_word_is_no_fault(key: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = detect({"id": None, key: [{"id": 0, key: True, "n": None}]})
    assert found.signals == []
