"""The sample of each section has all that its declaration names as known and in no column.

``tests/normalizer/test_normalize.py`` reads the samples strictly: a declared column that is absent,
a field that nothing declares, and a category without its level are refused there.
"""

from __future__ import annotations

import re

import pytest
from samples import sample

import aatoolkit as aa
from aatoolkit import sections


@pytest.mark.parametrize("name", sections.all())
def test_what_is_kept_is_in_the_sample_and_in_no_column(name: str) -> None:
    section, tables = sections.get(name), aa.normalize(name, sample(name), strict=True)
    known = tables.extra.loc[tables.extra["why"] == "known", "path"]
    paths = [re.sub(r"\[\d+\]", "[]", path).removeprefix("$.") for path in known]
    for kept in section.kept:
        assert any(re.fullmatch(rf"{re.escape(kept)}([.\[].*)?", path) for path in paths), kept
