"""What responses state in shapes that nobody documented, each in its own words.

``cases.json`` has a response in a line, and what is read from it: ``section``, ``field NAME``,
``row PATH`` or ``engine ID`` with a canonical word. Of what is only ``pointed`` out, nothing is
read and a hint leads to the place. From a decoy, which speaks of business in the same words,
nothing is read, and one hint at most is shown.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import samples
from hypothesis import given
from signal_words import canonical, options_of
from vocabulary_documents import documents

from aatoolkit.availability import detect as detection
from aatoolkit.errors import SchemaDriftWarning
from aatoolkit.normalizer.column_availability import find_section_availability
from aatoolkit.sections import Rule

CASES = json.loads(Path(__file__).with_name("cases.json").read_bytes())
SAMPLES = sorted(samples.SAMPLES.glob("*.json"))


def detect(case: dict[str, Any]) -> detection.Detection:
    options = options_of(dict.fromkeys(case.get("engines", ()), (True, "2026-11-20")))
    about = {name: case[name] for name in ("headers", "status", "days") if name in case}
    rule = Rule(**case["rule"]) if "rule" in case else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaDriftWarning)
        return detection.detect(case["body"], rule, options=options, **about)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_response_is_read_right_or_pointed_out(case: dict[str, Any]) -> None:
    read = detect(case)
    section = find_section_availability(read.signals)
    words = {} if section is None else {"section": canonical(section)}
    narrow = [signal for signal in read.signals if signal.scope != "section"]
    words |= {f"{s.scope} {s.target}": canonical(s.availability) for s in narrow}
    assert words == case.get("expect", {})
    assert len(words) == len(narrow) + (section is not None)
    assert read.failure is None
    if "pointed" in case:
        assert case["pointed"] in [hint.path for hint in read.hints]
    elif not words:
        assert len(read.hints) <= 1


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_of_a_sample_the_envelope_is_read_and_nothing_else(path: Path) -> None:
    body = json.loads(path.read_bytes())
    stated = body.pop("availability", None)
    if stated:
        (signal,) = detect({"body": {**body, "availability": stated}}).signals
        assert (signal.path, signal.rule) == ("$.availability", "reference")
        assert signal.availability.reason == stated["reason"]
    silent = detect({"body": body})
    tops = {signal.path.split(".")[1].split("[")[0] for signal in silent.signals}
    assert tops <= {"engineSupport", "sampling"}
    assert len(silent.hints) <= 1


@given(documents())
def test_documents_of_its_own_vocabulary_are_read_without_a_failure(
    drawn: tuple[Any, dict[str, str]],
) -> None:
    document, headers = drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaDriftWarning)
        for status in (200, 202, 206, 403, 404, 409):
            read = detection.detect(document, status=status, headers=headers)
            assert read.failure is None
            assert all(hint.why and hint.path for hint in read.hints)
            assert detection.explains_absence(status, document) in (True, False)
