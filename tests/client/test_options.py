"""Scope options in another shape: a list that is not recognised is unknown, and never empty."""

from __future__ import annotations

from typing import Any

import pytest
from samples import payload_of

import aatoolkit as aa
from aatoolkit.client import options as scope_answers, reading
from aatoolkit.errors import AAToolkitWarning, ArgumentError, ScopeError
from aatoolkit.sections import Profile, scope_options

pytestmark = pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")

FOREIGN = {
    "moottorit": [{"tunnus": "aurinko", "nimi": "Aurinko"}, {"tunnus": "kuu", "nimi": "Kuu"}],
    "ブランド": {"青": {"n": 1}, "赤": {"n": 2}},
    "aiheet": ["hinta", "laatu"],
    "categories": [],
}
PLACES = {"engine": "moottorit[].tunnus", "topic": "aiheet[]", "brand": "ブランド{}"}


def options_of(document: Any, profile: Profile | None = None) -> aa.ScopeOptions:
    return scope_answers.read_scope_options(
        "a.example", payload_of(document), reading.ReadingOptions(profile)
    )


def test_a_list_that_is_not_recognised_is_unknown_and_one_that_is_empty_is_empty() -> None:
    options = options_of(FOREIGN)
    assert options.unknown == ("engine", "topic", "brand")
    assert "unknown engines, unknown topics, 0 categories, unknown brands" in repr(options)
    scope = aa.Scope(engine="kuu")
    with pytest.warns(AAToolkitWarning, match="could not be checked"):
        assert scope._check(options) is scope
    with pytest.raises(ScopeError, match="unknown category"):
        aa.Scope(category="x")._check(options)
    assert options_of({"engines": [{"slug": "a"}]}).unknown[:1] == ("engine",)
    assert options_of({name: [] for name in ("engines", "topics", "brands")}).unknown == (
        "category",
    )


def test_a_profile_says_where_the_lists_are() -> None:
    profile = Profile("theirs", scope_options(**PLACES))
    options = options_of(FOREIGN, profile)
    assert options.unknown == ()
    assert options.values("engine") == ("aurinko", "kuu")
    assert options.values("topic") == ("hinta", "laatu")
    assert options.values("brand") == ("青", "赤")
    with pytest.raises(ScopeError, match="did you mean 'kuu'"):
        aa.Scope(engine="kuuu")._check(options)
    with pytest.raises(ArgumentError, match="no list of values"):
        scope_options(engine="moottorit")


def test_no_engine_is_not_run_where_no_run_is_given() -> None:
    document = {"engines": ["aurinko", "kuu"], "topics": [], "categories": [], "brands": []}
    answer = {"section": "overview", "engines": []}
    tables = aa.normalize("overview", answer, options=options_of(document))
    assert "not_run" not in set(tables.availability["cause"].dropna())
