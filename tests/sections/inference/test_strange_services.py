"""Two more services as strangers would write them, each with its answer key.

``abroad`` writes numbers with a decimal comma and points between thousands, in hyphenated names
below ``attributes``; ``terse`` has short names, units nowhere, positional rows with a legend and
shares in basis of one hundred. What is found must be right; what cannot be known stays open.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from services import world

from aatoolkit.sections.inference.analysis import Analysis, analyse
from aatoolkit.sections.inference.findings import ColumnFinding
from aatoolkit.sections.inference.readings import read_values
from aatoolkit.sections.inference.vocabulary import Vocabulary


def _comma(number: float, decimals: int) -> str:
    text = f"{number:,.{decimals}f}"
    return text.replace(",", " ").replace(".", ",").replace(" ", ".")


def abroad(section: str, engines: tuple[str, ...] = ()) -> Any:
    if section == "domains":
        data = [
            {
                "type": "cited-site",
                "id": str(900 + world.HOSTS.index(r["host"])),
                "attributes": {
                    "host-name": r["host"],
                    "number-of-citations": _comma(r["cit"] * 11, 0),
                    "number-of-answers": _comma(r["ans"], 0),
                    "own-mention-share": f"{_comma(100 * r['own'] / r['ans'], 2)} %",
                    "different-pages": r["pages"],
                },
            }
            for r in world._domains(engines)
        ]
        return {"jsonapi": {"version": "1.1"}, "data": data}
    if section == "ranking":
        data = [
            {
                "type": "brand",
                "attributes": {
                    "brand-name": r["brand"],
                    "mentions": r["mentions"],
                    "out-of": r["of"],
                    "visibility": f"{_comma(100 * r['mentions'] / r['of'], 2)} %",
                    "mean-place": _comma(r["mean"], 3) if r["mean"] else "–",
                },
            }
            for r in world._brands(engines)
        ]
        return {"data": data, "meta": {"count": len(data)}}
    rows = world._prompts(engines)
    data = [
        {
            "attributes": {
                "question-id": r["id"],
                "runs": r["runs"],
                "runs-with-us": r["named"],
                "hit-rate": _comma(r["named"] / r["runs"], 4),
            }
        }
        for r in rows
    ]
    return {"data": data}


def terse(section: str, engines: tuple[str, ...] = ()) -> Any:
    if section == "domains":
        return {
            "k": ["h", "c", "a", "own", "shr"],
            "v": [
                [r["host"], r["cit"], r["ans"], r["own"], round(100 * r["own"] / r["ans"], 2)]
                for r in world._domains(engines)
            ],
            "t": {"c": sum(r["cit"] for r in world._domains(engines))},
        }
    if section == "ranking":
        return {
            "b": {
                r["brand"]: [r["mentions"], round(r["mentions"] / r["of"], 4)]
                for r in world._brands(engines)
            },
            "of": len(world.picked(engines)),
        }
    return {
        "p": [
            {"q": r["id"], "n": r["runs"], "m": r["named"], "r": round(r["named"] / r["runs"], 4)}
            for r in world._prompts(engines)
        ]
    }


SERVICES = {"abroad": abroad, "terse": terse}
SECTIONS = ("domains", "ranking", "prompts")

# service, section, field: dtype, unit (its beginning; None where nothing can tell), rule
KEY: dict[tuple[str, str, str], tuple[str, str | None, str]] = {
    ("abroad", "domains", "number-of-citations"): ("Int64", "count", "sum"),
    ("abroad", "domains", "number-of-answers"): ("Int64", "count", "sum"),
    ("abroad", "domains", "own-mention-share"): ("Float64", "fraction", "mean"),
    ("abroad", "domains", "different-pages"): ("Int64", "count", "none"),
    ("abroad", "ranking", "mentions"): ("Int64", "count", "sum"),
    ("abroad", "ranking", "visibility"): ("Float64", "fraction", "ratio"),
    ("abroad", "ranking", "mean-place"): ("Float64", "position", "mean"),
    ("abroad", "prompts", "runs"): ("Int64", "count", "sum"),
    ("abroad", "prompts", "runs-with-us"): ("Int64", "count", "sum"),
    ("abroad", "prompts", "hit-rate"): ("Float64", "fraction", "ratio"),
    ("terse", "domains", "c"): ("Int64", "count", "sum"),
    ("terse", "domains", "a"): ("Int64", "count", "sum"),
    ("terse", "domains", "own"): ("Int64", "count", "sum"),
    ("terse", "domains", "shr"): ("Float64", "fraction", "ratio"),
    ("terse", "prompts", "n"): ("Int64", "count", "sum"),
    ("terse", "prompts", "m"): ("Int64", "count", "sum"),
    ("terse", "prompts", "r"): ("Float64", "fraction", "ratio"),
}


def drafted(service: str, section: str) -> Analysis:
    answer = SERVICES[service]
    whole = {name: json.loads(json.dumps(answer(name))) for name in SECTIONS}
    parts = {(one,): json.loads(json.dumps(answer(section, (one,)))) for one in world.ENGINES}
    vocabulary = Vocabulary.of(world.options(), whole.values())
    return analyse(section, whole[section], parts, vocabulary)


def columns_of(service: str, section: str) -> dict[str, ColumnFinding]:
    found: dict[str, ColumnFinding] = {}
    for columns in drafted(service, section).columns.values():
        for column in columns:
            for name in (column.path.rpartition(".")[2].strip('"'), column.source.strip('[]"')):
                if column.dtype != "string" and not column.is_key:
                    found.setdefault(name, column)
    return found


@pytest.mark.parametrize("service", SERVICES)
def test_nothing_is_wrong_and_most_is_found(service):
    score: Counter[str] = Counter()
    for section in SECTIONS:
        found = columns_of(service, section)
        for (one, where, field), (dtype, unit, rule) in KEY.items():
            if (one, where) != (service, section):
                continue
            column = found[field]
            assert column.dtype == dtype, (field, column.dtype)
            value = column.unit.value
            assert value is None or (unit and value.startswith(unit)), (field, column.unit)
            written = str(column.aggregate)
            got = "ratio" if "ratio" in written else written.partition(" ")[0]
            assert got in (rule, "none", *(["ratio"] if rule == "mean" else [])), (field, written)
            score["all"] += 1
            score["unit"] += value is not None
            score["rule"] += got == rule or (got == "ratio" and rule == "mean")
    assert score["unit"] >= 0.85 * score["all"], score
    assert score["rule"] >= 0.75 * score["all"], score


def test_points_between_thousands_are_no_decimal_points():
    found = read_values(["1.204", "987", "2.310"], "number_of_citations")
    assert (found.dtype, found.parse) == ("Int64", "decimal comma")
    assert found.numbers.tolist() == [1204, 987, 2310]
    assert read_values(["1.204.567", "87"], "x").numbers.tolist() == [1204567, 87]
    # What may be read in two ways, and whose name does not tell, is text.
    assert read_values(["1.204", "2.310"], "depth").dtype == "string"
    assert read_values(["0.204", "1.310"], "depth").dtype == "Float64"
    assert read_values(["1.204", "2.31"], "depth").dtype == "Float64"
    assert read_values(["1.204", "2310"], "depth").dtype == "Float64"
    assert read_values(["1.204", "2.310"], "avg_response_ms").dtype == "Float64"
    assert read_values(["1,204", "2,310"], "mean_position").numbers.tolist() == [1.204, 2.31]
