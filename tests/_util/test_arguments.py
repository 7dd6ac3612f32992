"""Values of arguments that would otherwise give a wrong answer in silence: refused, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit.errors import AAToolkitError

FRAME = pd.DataFrame({"prompt_id": [*"aabbccddee"], "n": range(10), "named": [True, False] * 5})


@pytest.mark.parametrize(
    "call",
    [
        lambda: FRAME.aa.aggregate("promt_id"),
        lambda: FRAME.aa.aggregate("prompt_id", "nmaed"),
        lambda: FRAME.aa.interval("nmaed"),
        lambda: FRAME.aa.interval("named", cluster="promt_id"),
        lambda: FRAME.aa.compare(FRAME, "nmaed"),
        lambda: FRAME.aa.rank("nmaed", by="prompt_id"),
        lambda: FRAME.aa.concentration("nmaed"),
        lambda: FRAME.aa.overlap("nmaed", cluster="prompt_id"),
        lambda: FRAME.aa.require("nmaed"),
        lambda: FRAME.aa.measured("nmaed"),
        lambda: FRAME.aa.explain(0, "nmaed"),
        lambda: FRAME.aa.complete(promt_id=["a"]),
        lambda: FRAME.aa.plot(y="nmaed"),
    ],
)
def test_a_column_that_is_not_there_is_named_with_its_near_match(call: Callable[[], Any]) -> None:
    with pytest.raises(AAToolkitError, match=r"did you mean '(named|prompt_id)") as caught:
        call()
    assert isinstance(caught.value, KeyError | ValueError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FRAME.aa.interval("named", level=2.0), "between 0 and 1"),
        (lambda: FRAME.aa.plot(y="n", kind="baar"), "did you mean 'bars'"),
        (lambda: FRAME.aa.aggregate(FRAME["n"]), "not their values; put these into a column"),
        (lambda: aa.Scope(days=8), "days=8 is not a window of the API"),
        (lambda: aa.Status("partail"), "no Status; did you mean"),
        (lambda: aa.normalize("domains", {}, dtype_backend="arrow"), "use 'numpy_nullable' or"),
    ],
)
def test_a_value_that_is_not_known_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(AAToolkitError, match=message):
        call()


def test_mistyped_names_of_modules_and_objects_have_near_matches() -> None:
    for owner, name, near in (
        (aa, "demoo", "demo"),
        (aa.sections, "recods", "records"),
        (aa.profile, "drafted", "draft"),
        (aa.errors, "ScopeEror", "ScopeError"),
        (aa.Scope(), "engin", "engine"),
    ):
        with pytest.raises(AttributeError, match=near):
            getattr(owner, name)
    with pytest.raises(KeyError, match="did you mean 'domains'") as missing:
        aa.sections.default_profile()["domain"]
    assert isinstance(missing.value, AAToolkitError)
    assert "domain" not in aa.sections.default_profile()
