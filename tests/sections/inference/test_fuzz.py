"""Drafting never raises, whatever the answers are, and what it declares reads them losslessly."""

from __future__ import annotations

import json
import warnings

from effort import examples
from foreign import draft_of
from hypothesis import given, settings, strategies as st

import aatoolkit as aa

OPTIONS = {"engines": ["chatgpt", "gemini"], "brands": ["Acme", "O'Brien"]}
WORDS = [
    *("id", "name", "rows", "columns", "headers", "data", "labels", "series", "dates", "total"),
    *("hits", "rate", "pct", "position", "engine", "chatgpt", "gemini", "Acme", "2026-11-01"),
    *("2026-11-02", "2026-W45", "&", "@0", "^x", "#1", "$y", "[z]", ".", "after", "afterReason"),
    "value",
]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.just("-"),
    st.integers(-2, 10_000),
    st.floats(0, 100).map(lambda number: round(number, 1)),
    st.sampled_from([*WORDS, "1,204", "34.5%", "n/a", "", "#3", "1.204,5", "20261103", "yes"]),
    st.just(1_794_197_527_000),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
        st.lists(st.fixed_dictionaries({"id": st.integers(0, 9), "n": inner}), max_size=4),
        st.lists(st.tuples(inner, inner).map(list), min_size=1, max_size=3),
    ),
    max_leaves=25,
)


@settings(max_examples=examples(300))
@given(st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=5), st.lists(VALUES, max_size=2))
def test_any_answers_give_a_declaration_that_reads_them_losslessly(document, parts):
    held = {"things": {(f"e{at}",): part for at, part in enumerate(parts)}}
    hosts = {f"{at}.example": {"things": part} for at, part in enumerate(parts)}
    draft = draft_of({"things": document}, held, OPTIONS, by_host=hosts)
    assert not draft.errors
    if not draft:
        return
    section = draft["things"].section
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", aa.errors.AAToolkitWarning)
        tables = aa.normalize(section, json.dumps(document).encode())
        assert tables.rebuild() == document
