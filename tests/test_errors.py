"""The tree of errors: as it is drawn, with facts that travel."""

from __future__ import annotations

import pickle
import re

import pytest

from aatoolkit import Scope, errors
from aatoolkit.errors import AAToolkitError, AAToolkitWarning, ScopeError, StatusError


def tree(root: type) -> list[type]:
    return [root, *(error for child in root.__subclasses__() for error in tree(child))]


def ours(root: type) -> list[type]:
    return [kind for kind in tree(root) if kind.__module__.startswith(errors.__name__)]


def drawn() -> dict[str, tuple[str | None, str | None]]:
    """Each name of the drawing, with its parent and its builtin base."""
    parents: dict[str, tuple[str | None, str | None]] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        entry = re.match(r"    ([│├└─ ]*)([A-Z]\w+)(?: \((\w+)\))?(?:  |$)", line)
        if entry:
            above = [*above[: len(entry[1]) // 3], entry[2]]
            parents[entry[2]] = (above[-2] if len(above) > 1 else None, entry[3])
    return parents


def test_the_tree_that_is_drawn_is_the_tree_there_is() -> None:
    real = {}
    for kind in (*ours(AAToolkitError), *ours(AAToolkitWarning)):
        parent, *builtin = (base.__name__ for base in kind.__bases__)
        root = kind in (AAToolkitError, AAToolkitWarning)
        real[kind.__name__] = (
            (None, None if parent == "Exception" else parent)
            if root
            else (parent, *(builtin or [None]))
        )
    assert drawn() == real
    assert len(real) > 20


@pytest.mark.parametrize("kind", ours(AAToolkitError))
def test_every_error_pickles_with_its_facts(kind: type[AAToolkitError]) -> None:
    facts = {name: f"the {name}" for name in kind.facts}
    if "scope" in facts:
        facts["scope"] = Scope(engine="chatgpt")  # type: ignore[assignment]
    again = pickle.loads(pickle.dumps(kind("It broke; try this.", **facts)))
    assert type(again) is kind
    assert str(again) == again.message == "It broke; try this."
    assert {name: getattr(again, name) for name in kind.facts} == facts


def test_facts_that_are_not_given_are_none() -> None:
    error = StatusError("no", status=500)
    assert (error.status, error.code, error.url, error.section) == (500, None, None, None)


def test_a_fact_that_the_error_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="ScopeError has no fact status, url"):
        ScopeError("no", url="x", status=1)


def test_a_warning_reaches_code_of_no_module() -> None:
    with pytest.warns(AAToolkitWarning):
        exec("warn('odd')", {"warn": errors.warn})


def test_there_are_no_more_than_somebody_can_catch_for_a_reason() -> None:
    assert len(ours(AAToolkitError)) <= 28
    assert len(ours(AAToolkitWarning)) <= 7
