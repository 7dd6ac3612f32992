"""Formulas with their numbers: written in names, evaluated, and written again in numbers."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.text import sum_in_words
from aatoolkit.stats.distributions import normal_quantile, t_quantile, two_sided

ABOVE, SETTING = "above", "setting"
"""The operations of a number that is explained elsewhere in the tree, and of an argument."""

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda values: math.fsum(np.atleast_1d(values)),
    "len": lambda values: int(np.size(values)),
    "mean": lambda values: math.fsum(np.atleast_1d(values)) / np.size(values),
    "std": lambda values: float(np.std(values, ddof=1)),
    "max": max,
    "min": min,
    "abs": abs,
    "floor": math.floor,
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "normal_quantile": normal_quantile,
    "t_quantile": t_quantile,
    "two_sided": two_sided,
}
"""What formulas are made of; the last three are those of the normal and of Student's t."""

_OVER_LISTS = ("sum", "len", "mean", "std")
_CLOSE, _TINY = 1e-7, 1e-12


def computed(name: str, expression: str, *parts: Explanation, **facts: Any) -> Explanation:
    """A number that is computed from parts: its formula in their names, and in their numbers.

    Parameters
    ----------
    name : str
        What it is.
    expression : str
        How it is computed, in Python, of the names of the parts. Several parts of one name are a
        list, for ``sum``, ``len``, ``mean`` and ``std``.
    *parts : Explanation
        The parts.
    **facts
        What else the explanation says, such as ``row``; ``value`` is what it must come to.

    Examples
    --------
    >>> one, two = (Explanation(value, "y") for value in (3, 4))
    >>> computed("rate", "sum(y) / n", one, two, Explanation(10, "n")).formula
    'sum(y) / n = 7 / 10'
    """
    names = values_of(parts)
    value = evaluate(expression, names)
    formula = f"{_written(expression)} = {in_numbers(expression, names)}"
    found = Explanation(value, name, operation="formula", formula=formula, children=parts)
    given = facts.pop("value", None)
    found = replace(found, **facts)
    if given is None or math.isclose(value, given, rel_tol=_CLOSE, abs_tol=_TINY):
        return found if given is None else replace(found, value=given)
    why = f"the formula comes to {value!r}, and the frame holds {given!r}"
    return replace(found, value=given, end=why)


def values_of(parts: Sequence[Explanation]) -> dict[str, Any]:
    """The values of parts by name; a list where several have one name."""
    found: dict[str, list[Any]] = {}
    for part in parts:
        found.setdefault(part.column, []).append(part.value)
    return {
        name: values[0] if len(values) == 1 else np.array(values, np.float64)
        for name, values in found.items()
    }


def evaluate(expression: str, names: Mapping[str, Any]) -> float:
    """Evaluate an expression."""
    found: float = _value(ast.parse(expression, mode="eval").body, names)
    return found


def _value(node: ast.AST, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names[node.id]
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand, names)
        case ast.BinOp():
            left, right = _value(node.left, names), _value(node.right, names)
            match node.op:
                case ast.Add():
                    return left + right
                case ast.Sub():
                    return left - right
                case ast.Mult():
                    return left * right
                case ast.Div():
                    return left / right
                case ast.Pow():
                    return left**right
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=listed)]) if name in _OVER_LISTS:
            return _FUNCTIONS[name](names.get(listed, ()))  # of nothing the sum is 0
        case ast.Call(func=ast.Name(id=name)):
            return _FUNCTIONS[name](*(_value(each, names) for each in node.args))
    raise ValueError(f"no formula: {ast.dump(node)}")


class _Numbers(ast.NodeTransformer):
    """Puts numbers where names are, and the sums of lists where these are added up."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self._names.get(node.id)
        return node if value is None or isinstance(value, np.ndarray) else _number(value)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in _OVER_LISTS:
            return _number(_value(node, self._names))
        node.args = [self.visit(each) for each in node.args]
        return node


def in_numbers(expression: str, names: Mapping[str, Any]) -> str:
    """An expression with numbers in place of names.

    Examples
    --------
    >>> in_numbers("(a - b) ** 2", {"a": 0.5, "b": 0.25})
    '(0.5 - 0.25)²'
    """
    body = ast.parse(expression, mode="eval").body
    match body:
        case ast.Call(func=ast.Name(id="sum"), args=[ast.Name(id=name)]):
            return sum_in_words([*map(_short, np.atleast_1d(names.get(name, ())))]) or "0"
    return _written(ast.unparse(_Numbers(names).visit(body)))


def _number(value: Any) -> ast.expr:
    """A number with twelve digits, which is what sums agree in."""
    given = _short(value)
    return ast.Constant(given) if given >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-given))


def _short(value: Any) -> int | float:
    given = float(f"{value:.12g}")
    return int(given) if given.is_integer() and abs(given) < 1e15 else given


def _written(expression: str) -> str:
    for code, sign in ((" ** 2", "²"), (" ** 4", "⁴"), (" * ", " × ")):
        expression = expression.replace(code, sign)
    return expression


def above(one: Explanation) -> Explanation:
    """A number that is explained elsewhere in the same tree."""
    return Explanation(one.value, one.column, one.row, operation=ABOVE)


def setting(name: str, value: Any) -> Explanation:
    """An argument of a verb, or a constant of its method."""
    return Explanation(value, name, operation=SETTING)


def wilson_end(name: str, rate: Explanation, size: Explanation, z: Explanation) -> Explanation:
    """One end of Wilson's score interval; which one, the name says: it ends in low or high."""
    sign = "-" if name.endswith("low") else "+"
    r, n, q = rate.column, size.column, z.column
    half = f"{q} * sqrt({r} * (1 - {r}) / {n} + {q} ** 2 / (4 * {n} ** 2))"
    whole = f"({r} + {q} ** 2 / (2 * {n}) {sign} {half}) / (1 + {q} ** 2 / {n})"
    return computed(name, whole, rate, size, z)


def renamed(one: Explanation, name: str) -> Explanation:
    """An explanation under another name."""
    return replace(one, column=name)
