"""Drafts of two made-up services, scored by their keys: nothing wrong is ever applied."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import pytest
from services.world import ENGINES, KEY, SECTIONS, SERVICES, options

from aatoolkit.sections.inference.analysis import Analysis, analyse
from aatoolkit.sections.inference.declare import section_of
from aatoolkit.sections.inference.findings import OPEN, PROVED, ColumnFinding
from aatoolkit.sections.inference.source import file_of
from aatoolkit.sections.inference.vocabulary import Vocabulary


@cache
def drafted(service: str, section: str) -> Analysis:
    answer = SERVICES[service]
    whole = {name: json.loads(json.dumps(answer(name))) for name in SECTIONS}
    parts = {(one,): json.loads(json.dumps(answer(section, [one]))) for one in ENGINES}
    vocabulary = Vocabulary.of(options(), whole.values())
    return analyse(section, whole[section], parts, vocabulary)


def found(service: str, section: str, field: str) -> ColumnFinding:
    for columns in drafted(service, section).columns.values():
        for column in columns:
            last = column.path.replace("{}", "").replace("[]", "").rpartition(".")[2].strip('"')
            if field in (last, column.source.strip('[]^&"')) and column.dtype != "string":
                return column
    raise AssertionError(f"no column of {service} {section} is {field}")


@pytest.mark.parametrize(("service", "section", "field"), KEY, ids=lambda one: str(one))
def test_types_are_those_of_the_key(service, section, field):
    assert found(service, section, field).dtype == KEY[service, section, field][0]


@pytest.mark.parametrize("service", SERVICES)
def test_most_units_and_rules_are_found_and_none_is_wrong(service):
    score: Counter[str] = Counter()
    for (one, section, field), (_, unit, rule) in KEY.items():
        if one != service:
            continue
        column = found(service, section, field)
        if unit is not None:
            score["units"] += 1
            score["unit right"] += (column.unit.value or "").startswith(unit)
            wrong = column.unit.value is not None and not column.unit.value.startswith(unit)
            assert not wrong, (section, field, column.unit)
        written = str(column.aggregate)
        got = "ratio" if "ratio" in written else written.partition(" ")[0]
        score["rules"] += 1
        score["rule right"] += got == rule
        assert got in (rule, "none"), (section, field, written, column.rule.evidence)
    assert score["unit right"] >= 0.85 * score["units"], score
    assert score["rule right"] >= 0.75 * score["rules"], score


def test_a_totals_row_is_left_out_and_stated():
    analysis = drafted("ledger", "domains")
    (grid,) = (one for one in analysis.relations if one.shape == "grid")
    assert grid.without == {"source": ("TOTAL",)}
    assert any("TOTAL" in note for note in analysis.notes)


def test_answers_add_over_engines_and_are_not_known_to_over_domains():
    rule = found("nested", "domains", "answerCount").aggregate
    assert rule.across == ("engine",)
    assert str(rule) == "sum over engine"


def test_what_sums_to_its_total_adds_over_its_rows():
    assert found("nested", "domains", "citationCount").aggregate.across == ()


def test_a_sentinel_is_missing_and_no_position():
    column = found("nested", "domains", "bestSlot")
    assert column.missing == (-1,)


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("section", SECTIONS)
def test_keys_identify_rows_and_name_no_measure(service, section):
    analysis = drafted(service, section)
    for relation in analysis.relations:
        if relation.steps:
            assert relation.key, relation.name
            held = {column.name: column for column in analysis.columns[relation.name]}
            assert all(held[name].unit.value is None for name in relation.key)


@pytest.mark.parametrize("service", SERVICES)
def test_the_file_of_a_draft_makes_the_same_declarations(service):
    analyses = [drafted(service, one) for one in SECTIONS]
    text = file_of(service, "Drafted.", analyses, {})
    made: dict[str, object] = {}
    exec(compile(text, "profile.py", "exec"), made)
    for analysis in analyses:
        assert made["PROFILE"][analysis.section] == section_of(analysis)


def test_evidence_is_in_the_file_beside_each_number():
    text = file_of("x", "Drafted.", [drafted("nested", "prompts")], {})
    assert "rule proved: namedRuns / runCount" in text.replace("\n            # ", " ").replace(
        "named_runs / run_count", "namedRuns / runCount"
    )


def test_one_answer_alone_proves_no_sum():
    whole = json.loads(json.dumps(SERVICES["nested"]("prompts")))
    analysis = analyse("prompts", whole, {}, Vocabulary.of(options(), [whole]))
    (main,) = (one for name, one in analysis.columns.items() if name == "prompts")
    named = {column.name: column for column in main}
    assert named["named_rate"].rule.confidence == PROVED
    assert named["named_runs"].rule.confidence == OPEN
