"""Drafts of four made-up services, scored by their keys: nothing wrong is ever applied."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import pytest
from foreign import draft_of
from services.world import ENGINES, KEY, SECTIONS, SERVICES, STRANGE, STRANGE_KEY, options

import aatoolkit as aa
from aatoolkit.sections import Profile

ALL = {**SERVICES, **STRANGE}
KEYS = {**KEY, **STRANGE_KEY}


@cache
def draft(service: str) -> aa.profile.Draft:
    answer = ALL[service]
    names = [name for name in SECTIONS if service in SERVICES or name != "crawl"]
    parts = {name: {(at,): json.loads(json.dumps(answer(name, (at,)))) for at in ENGINES}
             for name in names}  # fmt: skip
    return draft_of({name: answer(name) for name in names}, parts, options(), standard_names=False)


def column_of(service: str, section: str, field: str) -> Any:
    for column in draft(service)[section].columns():
        last = column.path.replace("{}", "").replace("[]", "").rpartition(".")[2].strip('"')
        if field in (last, column.source.strip('[]^&"')) and column.dtype != "string":
            return column
    raise AssertionError(f"no column of {service} {section} is {field}")


@pytest.mark.parametrize("service", ALL)
def test_most_units_and_rules_are_found_and_none_is_wrong(service):
    score: Counter[str] = Counter()
    for (name, section, field), (dtype, unit, rule) in KEYS.items():
        if name != service:
            continue
        column = column_of(service, section, field)
        assert column.dtype == dtype, (section, field)
        value, where = column.unit.value, (section, field, column.unit, column.aggregation)
        assert value is None or (unit and value.startswith(unit)), where
        written = str(column.aggregate)
        got = "ratio" if "ratio" in written else written.partition(" ")[0]
        allowed = (rule, "none", *(["ratio"] if service == "abroad" and rule == "mean" else []))
        assert got in allowed, where
        score["units"] += unit is not None
        score["unit right"] += unit is not None and value is not None
        score["rules"] += 1
        score["rule right"] += got == rule or (got in allowed and got == "ratio")
    assert score["unit right"] >= 0.85 * score["units"], score
    assert score["rule right"] >= 0.75 * score["rules"], score


def test_a_totals_row_is_left_out_and_stated():
    section = draft("ledger")["domains"]
    assert any("TOTAL" in note for note in section.notes)
    assert ("source", ("TOTAL",)) in [
        (name.strip("[]").lower(), values)
        for table in section.section
        for name, values in table.rows.without
    ]


def test_sums_say_over_what_they_hold_and_sentinels_are_missing():
    # Answers add over engines, and are not known to over domains.
    assert str(column_of("nested", "domains", "answerCount").aggregate) == "sum over engine"
    assert column_of("nested", "domains", "citationCount").aggregate.across == ()
    assert column_of("nested", "domains", "bestSlot").format.missing == (-1,)


@pytest.mark.parametrize("service", SERVICES)
def test_keys_identify_rows_and_name_no_measure(service):
    for section in draft(service).values():
        for table in section.section:
            assert table.key or table.rows.one, table.name
            assert all(table[name].unit is None for name in table.key)


@pytest.mark.parametrize("service", SERVICES)
def test_the_file_of_a_draft_makes_the_same_declarations_in_lines_to_read(service, tmp_path):
    drafts = draft(service)
    path = drafts.save(tmp_path / "mine.py")
    profile = Profile.load(path)
    assert {name: profile[name] for name in drafts} == {
        name: drafts[name].section for name in drafts
    }
    text = path.read_text()
    assert max(map(len, text.splitlines())) <= 120
    assert len(text.splitlines()) <= 30 * len(drafts)
    joined = text.replace("\n    # ", " ")
    assert service != "nested" or "named_rate: named_runs / run_count" in joined
