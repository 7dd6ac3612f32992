"""Sources of columns that lead past their rows: bound steps, single elements, names in a header."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit import sections
from aatoolkit.sections import Column, Section, Table

CASES = json.loads(Path(__file__).with_name("sources.json").read_bytes())


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_source_is_read_wherever_it_leads_and_nothing_is_lost(case: dict[str, Any]) -> None:
    """``sources.json``: rows, key and columns, and what an answer is: table, extra and drift."""
    shape, path, how = case["rows"]
    columns = (Column(name, dtype, source=source) for name, dtype, source in case["columns"])
    rows = getattr(sections, shape)(path, **how)
    table = Table("t", "Rows.", rows, tuple(case["key"]), tuple(columns))
    tables = aa.normalize(Section("s", "One.", table), json.dumps(case["answer"]).encode())
    assert tables.main.to_numpy(dtype=object, na_value=None).tolist() == case["table"]
    extra = {row.path: [row.value, row.why] for row in tables.extra.itertuples()}
    assert extra == case.get("extra", {})
    assert tables.drift[["kind", "path"]].to_numpy().tolist() == case.get("drift", [])
    assert tables.rebuild() == case["answer"]
