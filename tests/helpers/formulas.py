"""Numbers computed again from explanations of statistics: formulas, names, and values of cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from carried import Explanation
from scipy import stats

_FUNCTIONS: dict[str, Any] = {
    "sum": lambda v: math.fsum(np.atleast_1d(np.asarray(v, float))),
    "len": np.size,
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "normal_quantile": stats.norm.ppf,
    "t_quantile": stats.t.ppf,
    # Rounded down to a tenth, so that an interval is never too narrow.
    "t_quantiles": lambda p, df: stats.t.ppf(
        p, math.floor(df * 10 + 1e-9) / 10 if df < 200 else math.floor(df)
    ),
    "inf": math.inf,
    "two_sided": lambda t, df: 2 * stats.t.sf(abs(t), df),
}

_NOTHING: dict[str, Any] = dict.fromkeys(("c", "j", "n", "n1", "n0"), ())
"""Lists that may be empty."""


def _python(text: str) -> str:
    return text.replace("²", "**2").replace("⁴", "**4").replace("×", "*")


def recomputed(explanation: Explanation) -> float:
    """A number from the formulas below it; the ends must be values in bytes, or arguments.

    What is only referred to must be explained elsewhere in the same tree, with the same value.
    """
    value = _recomputed(explanation)
    explained = {
        (part.column, part.value)
        for part in explanation.walk()
        if part.operation != "above" and (part.formula or part.place)
    }
    for part in explanation.walk():
        if part.operation == "above":
            assert (part.column, part.value) in explained, part
    return value


def _recomputed(explanation: Explanation) -> float:
    if explanation.place is not None:
        return float(explanation.value) if isinstance(explanation.value, int | float) else 0.0
    if explanation.operation in ("above", "setting"):
        return float(explanation.value)
    assert explanation.formula, explanation
    parts = [_recomputed(child) for child in explanation.children]
    if " = " not in explanation.formula and not explanation.formula.startswith("sum over"):
        return float(explanation.value)
    if explanation.operation == "sum" or explanation.formula.startswith("sum over"):
        total = math.fsum(parts)
        assert math.isclose(total, explanation.value, rel_tol=1e-9, abs_tol=1e-12)
        return total
    if explanation.operation == "product":
        return math.prod(parts)
    words, _, numbers = explanation.formula.rpartition(" = ")
    names: dict[str, list[float]] = {}
    for child, value in zip(explanation.children, parts, strict=True):
        names.setdefault(child.column, []).append(value)
    variables = {k: v[0] if len(v) == 1 else np.array(v) for k, v in names.items()}
    value = float(eval(_python(words), {**_FUNCTIONS}, {**_NOTHING, **variables}))
    is_same = math.isclose(value, explanation.value, rel_tol=1e-7, abs_tol=1e-10)
    assert is_same, (explanation.formula, value)
    if "…" not in numbers:
        again = eval(_python(numbers), {**_FUNCTIONS})
        assert math.isclose(again, value, rel_tol=1e-6, abs_tol=1e-9), (explanation.formula, again)
    return value
