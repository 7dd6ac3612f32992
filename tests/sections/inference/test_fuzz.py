"""Drafting never raises, whatever the answers are, and what it declares reads them losslessly."""

from __future__ import annotations

import json
import warnings

import pytest
from effort import examples
from foreign import draft_of
from hypothesis import given, settings
from hypothesis import strategies as st

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
    st.integers(-2, 10_000),
    st.floats(0, 100).map(lambda one: round(one, 1)),
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
def test_any_answers_give_a_declaration_that_reads_them_losslessly(whole, parts):
    held = {"things": {(f"e{at}",): one for at, one in enumerate(parts)}}
    draft = draft_of({"things": whole}, held, OPTIONS)
    assert not draft.errors
    if not draft:
        return
    section = draft["things"].section
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", aa.errors.AAToolkitWarning)
        tables = aa.normalize(section, json.dumps(whole).encode())
        assert tables.rebuild() == whole


ODD = ("", ":", "__", "_", " ", "é", "e\u0301", "É", "K", "\u212a", "a b", "a-b", "a_b", "a.b",
       "[", "{}", "~", "#", "@", "^", "\x00", "x" * 3_000)  # fmt: skip
STATES = ("status", "state", "reason", "availability", "after", "afterReason", "NOT_CONNECTED",
          "partial", "pending", "columns", "rows", "engines", "chatgpt", "missing")  # fmt: skip
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-1, 99), st.sampled_from([*ODD, *STATES]))
ODD_DOCUMENTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.sampled_from([*ODD, *STATES]), inner, max_size=4),
    ),
    max_leaves=18,
)


@pytest.mark.thorough
@given(answer=st.dictionaries(st.sampled_from([*ODD, *STATES]), ODD_DOCUMENTS, max_size=5))
@settings(max_examples=examples(300))
def test_odd_keys_and_the_words_of_availability_are_read_and_given_back(answer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", aa.errors.AAToolkitWarning)
        try:
            proposal = aa.sections.propose(answer, "any")
        except aa.errors.PayloadError:
            proposal = None
        detected = aa.normalize("domains", answer)
        assert detected.rebuild() == answer
        if proposal is not None:
            compile(proposal.code.encode("utf-8", "replace"), "draft", "exec")
            assert aa.normalize(proposal.section, answer).rebuild() == answer
