"""`TracedValue`, numbers that store the formula which computed them, and probability distributions.

To explain a result, its function is called again while the variable `CURRENT_TRACER` holds a tracer
(the object that records formulas). The functions below then return `TracedValue` numbers; otherwise
they return plain numbers.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, wraps
from statistics import NormalDist
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.frame.groupby import as_floats
from aatoolkit.metadata.recorded import record_call_as

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
RowDict = dict[str, Any]
"""A row of a result, or the key of a row: a dict from columns to values."""
T = TypeVar("T")
P = ParamSpec("P")
_MAX_NEWTON_STEPS = 200  # of the search for a quantile

# By NumPy function: its sign in formulas, and how strongly the sign binds.
_SIGN_AND_PRECEDENCE_BY_UFUNC = {
    "less": ("<", 0), "greater_equal": (">=", 0), "add": ("+", 1), "subtract": ("-", 1),
    "multiply": ("×", 2), "divide": ("/", 2),
}  # fmt: skip
_FORMULA_NAME_BY_UFUNC = {"absolute": "abs", "minimum": "min", "maximum": "max"}
SETTING_OP = "setting"
RANDOM_OP = "drawn"
INPUT_OP = "leaf"
TOTAL_OP = "sum"
COUNT_OP = "len"
ALIAS_OP = "same"
TAKE_OP = "taken"
GROUP_TOTAL_OP = "stacked"
GROUP_COUNT_OP = "counted"
"""The operations of `TracedValue` numbers.

The first five are: an argument, a random number, an input number, a sum, a count. The other four
give another name, take elements, sum by group, and count by group.
"""

CURRENT_TRACER: ContextVar[Any] = ContextVar("tracer", default=None)
"""The object that records the numbers of a result while it is explained; else None."""


def record_statistic(
    statistic_name: str, *frame_arguments: str
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator for statistics, which records the call in the metadata of the result.

    ``statistic_name`` is the name of the statistic. ``frame_arguments`` are the names of its
    arguments that are frames.
    """
    return lambda function: record_call_as(statistic_name, *frame_arguments)(
        np.errstate(all="ignore")(function)
    )


@dataclass(eq=False, repr=False)
class TracedValue(np.lib.mixins.NDArrayOperatorsMixin):
    """A number or array that stores the operation which computed it, and the operands.

    Examples
    --------
    >>> y = TracedValue(np.array([3.0, 1.0]), name="y")
    >>> n = TracedValue(np.array([4.0, 4.0]), name="n")
    >>> rate = total_of(y) / total_of(n)
    >>> float(rate.value), format_formula(rate, 0), format_formula(rate, 0, with_numbers=True)
    (0.5, 'sum(y) / sum(n)', '4 / 8')
    """

    value: Any
    operation: str = INPUT_OP  # the name of a NumPy function, or one of the constants above
    operands: tuple[Any, ...] = ()
    name: str = ""
    # Of an input, explains the element at a position; of sums by group, returns a group's key.
    describe_at: Callable[[int], Any] | None = None
    description: str = ""  # of a random number, how it was drawn
    # Of elements taken from an array, their positions; of sums by group, the group of each cluster.
    positions: Any = None

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **ufunc_options: Any) -> Any:
        if method != "__call__" or ufunc_options:
            return NotImplemented
        with np.errstate(all="ignore"):
            return TracedValue(ufunc(*map(untrace, operands)), ufunc.__name__, operands)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function is not np.where or len(args) != 3:
            return NotImplemented
        value = np.where(*map(untrace, args))
        return TracedValue(value if value.ndim else value.item(), "where", args)

    def __array__(self, *_: object) -> Any:
        """Raise `TypeError`, as a conversion to a plain array would lose the formula."""
        raise TypeError("a traced number is no plain one: it would lose what it was computed from")

    # Conditions and texts take nothing into a formula.
    def __bool__(self) -> bool:
        return bool(self.value)

    def __format__(self, format_spec: str) -> str:
        return format(self.value, format_spec)

    @property
    def is_vector(self) -> bool:
        """Whether the value is an array, not a single number."""
        return np.ndim(self.value) > 0


def untrace(value: Any) -> Any:
    """Return the number or array that a `TracedValue` holds; return any other value unchanged."""
    return value.value if isinstance(value, TracedValue) else value


def as_float(value: Any) -> float:
    """Return a plain or `TracedValue` number as a float."""
    return float(untrace(value))


def traceable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function of numbers, so that it also accepts `TracedValue` numbers.

    For `TracedValue` arguments, the result is a `TracedValue` number that stores its formula.
    """

    @wraps(function)
    def call_with_traced(*args: Any) -> Any:
        plain_args = [
            arg.item() if np.ndim(arg) == 0 and hasattr(arg, "item") else arg
            for arg in map(untrace, args)
        ]
        value = function(*plain_args)
        has_traced_argument = any(isinstance(arg, TracedValue) for arg in args)
        return TracedValue(value, function.__name__, args) if has_traced_argument else value

    return call_with_traced


def name_traced_fields(record: T, suffix: str = "") -> T:
    """Name the `TracedValue` numbers in a dataclass after its fields, and return the dataclass.

    ``suffix`` is added to each name. Numbers that already have a name keep it.
    """
    name_traced_values(**{f"{name}{suffix}": value for name, value in vars(record).items()})
    return record


def name_traced_values(**values: Any) -> None:
    """Name each `TracedValue` after its keyword; numbers that already have a name keep it."""
    for name, value in values.items():
        if isinstance(value, TracedValue) and not value.name:
            value.name = name


def name_traced_variables() -> None:
    """Name the `TracedValue` numbers in the calling function after its local variables.

    The names appear in the formulas of explanations.
    """
    if CURRENT_TRACER.get() is not None:
        name_traced_values(**sys._getframe(1).f_locals)


def trace_setting(name: str, value: Any) -> Any:
    """Return ``value``, a number in a formula that is in no cell, such as the confidence level.

    While a result is explained, the value is wrapped in a `TracedValue` number called ``name``, so
    that the formula shows this name.
    """
    return value if CURRENT_TRACER.get() is None else TracedValue(value, SETTING_OP, name=name)


def trace_random_number(name: str, value: Any, description: str, *input_values: Any) -> Any:
    """Return ``value``, a random number; while a result is explained, as a `TracedValue` number.

    ``description`` says how it was drawn, and ``input_values`` are the numbers that it was computed
    from.
    """
    if CURRENT_TRACER.get() is None:
        return value
    return TracedValue(value, RANDOM_OP, input_values, name, description=description)


def trace_alias(name: str, value: Any) -> Any:
    """Return a `TracedValue` number under another name; return a plain number unchanged."""
    return (
        TracedValue(value.value, ALIAS_OP, (value,), name)
        if isinstance(value, TracedValue)
        else value
    )


def trace_inputs(name: str, values: Any, explain_element: Callable[[Any, int], Any]) -> Any:
    """Return ``values``, the input of a statistic; while it is explained, as a `TracedValue` array.

    ``explain_element(tracer, position)`` must return the explanation of the number at a position.
    """
    tracer = CURRENT_TRACER.get()
    if tracer is None:
        return values
    return TracedValue(
        values, INPUT_OP, name=name, describe_at=lambda position: explain_element(tracer, position)
    )


def trace_to_rows(
    name: str,
    values: Any,
    frame: pd.DataFrame,
    columns: Sequence[str],
    find_source_rows: Callable[[int], tuple[Any, ...]],
) -> Any:
    """Return ``values``; while a result is explained, as a `TracedValue` array that links to rows.

    ``find_source_rows(position)`` must return, for the number at a position, the positions of its
    rows in ``frame`` and a text that says how it was computed.
    """
    return trace_inputs(
        name,
        values,
        lambda tracer, position: tracer.explain_by_rows(
            name, values[position], frame, columns, *find_source_rows(position)
        ),
    )


def column_values(name: str, frame: pd.DataFrame, column: str, row_positions: Any) -> Any:
    """Return the cells of a column in the rows at ``row_positions`` as floats.

    While a result is explained, the floats are a `TracedValue` array that links to these cells.
    """
    values = as_floats(frame[column])[row_positions]
    return trace_to_rows(
        name, values, frame, (column,), lambda position: ([int(row_positions[position])], column)
    )


def trace_copy(
    frame: pd.DataFrame,
    source_frame: pd.DataFrame,
    row_positions: Any = None,
    source_name_by_column: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return ``frame`` unchanged, and record that it was made from ``source_frame``.

    The record is for explanations. ``row_positions`` are the positions in ``source_frame`` of the
    rows of ``frame``, by default all. ``source_name_by_column`` maps the columns of ``frame`` to
    their names in ``source_frame``.
    """
    tracer = CURRENT_TRACER.get()
    if tracer is not None:
        tracer.record_copied_frame(frame, source_frame, row_positions, source_name_by_column or {})
    return frame


def untrace_columns(column_by_name: Mapping[str, Any], row_order: Any = None) -> Mapping[str, Any]:
    """Return the columns of a result as plain numbers, and record how they were computed.

    ``row_order`` is the result of ``argsort`` that sorts the rows; None if they are not sorted.
    """
    tracer = CURRENT_TRACER.get()
    return column_by_name if tracer is None else tracer.record_columns(column_by_name, row_order)


def take(values: Any, index: Any) -> Any:
    """Return ``values[index]``; from a `TracedValue`, one that stores the index."""
    if not isinstance(values, TracedValue):
        return values[index]
    return TracedValue(values.value[index], TAKE_OP, (values,), positions=np.atleast_1d(index))


def total_of(values: Any) -> Any:
    """Return the sum of an array; the sum of a `TracedValue` is a `TracedValue`, too."""
    plain_values = np.atleast_1d(untrace(values))
    is_finite = np.isfinite(np.abs(plain_values).sum())  # else fsum raises
    total = np.float64(math.fsum(plain_values.tolist()) if is_finite else plain_values.sum())
    return TracedValue(total, TOTAL_OP, (values,)) if isinstance(values, TracedValue) else total


def count_of(values: Any) -> Any:
    """Return the size of an array as a float; that of a `TracedValue` is a `TracedValue`, too."""
    count = np.float64(np.size(untrace(values)))  # as one less may be 0, and a divisor
    return TracedValue(count, COUNT_OP, (values,)) if isinstance(values, TracedValue) else count


class SingleGroup:
    """Sums over the clusters (e.g. prompts) of one group; has the methods of `GroupSums`."""

    total = staticmethod(total_of)
    count = staticmethod(count_of)

    @staticmethod
    def broadcast(value: Any) -> Any:
        """Return ``value`` unchanged; numpy broadcasts it to all clusters of the group."""
        return value


@dataclass(frozen=True)
class GroupSums:
    """Adds up values of clusters (such as prompts) to one sum for each group of clusters.

    ``group_of_cluster`` has for each cluster the position of its group.
    """

    group_of_cluster: IntArray
    group_count: int
    find_key: Callable[[int], RowDict] | None = None

    def total(self, values: Any) -> Any:
        """Return an array with the sum of ``values`` over the clusters of each group."""
        sums = np.bincount(self.group_of_cluster, untrace(values), self.group_count).astype(
            np.float64
        )
        return self._trace(values, sums, GROUP_TOTAL_OP)

    def count(self, values: Any) -> Any:
        """Return an array with the number of clusters of each group."""
        counts = np.bincount(self.group_of_cluster, minlength=self.group_count).astype(np.float64)
        return self._trace(values, counts, GROUP_COUNT_OP)

    def broadcast(self, values: Any) -> Any:
        """Return an array that has, for each cluster, the element of ``values`` for its group."""
        return take(values, self.group_of_cluster)

    def _trace(self, values: Any, sums: FloatArray, operation: str) -> Any:
        """Return ``sums``; if ``values`` is a `TracedValue`, as a `TracedValue` with ``operation``.

        ``values`` are the numbers that were added up or counted, and ``sums`` has one number per
        group.
        """
        if not isinstance(values, TracedValue):
            return sums
        return TracedValue(
            sums, operation, (values,), positions=self.group_of_cluster, describe_at=self.find_key
        )


def named_operands(
    traced_value: TracedValue, position: int | None
) -> Iterator[tuple[TracedValue, int | None]]:
    """Yield each named number in the formula of ``traced_value`` once, with a position.

    If the named number is an array, the position is that of the element used; otherwise it is None.
    If ``traced_value`` is an array, ``position`` is that of the element whose formula is meant.
    """
    seen_keys = set()
    pending_operands = [*reversed(_operands_and_positions(traced_value, position))]
    while pending_operands:
        operand, position = pending_operands.pop()
        if not isinstance(operand, TracedValue):
            continue
        operand_key = (id(operand), position if operand.is_vector else None)
        if operand_key in seen_keys:
            continue
        seen_keys.add(operand_key)
        if operand.name:
            yield operand, operand_key[1]
        else:
            pending_operands += reversed(_operands_and_positions(operand, position))


def _operands_and_positions(
    traced_value: TracedValue, position: int | None
) -> list[tuple[Any, int | None]]:
    """Return the operands of a `TracedValue` number, each with the position of the element used.

    The position is None if the whole operand was used.
    """
    if traced_value.operation == TAKE_OP:
        positions = (
            traced_value.positions if position is None else [traced_value.positions[position]]
        )
        return [(traced_value.operands[0], int(element_position)) for element_position in positions]
    if traced_value.operation in (GROUP_TOTAL_OP, GROUP_COUNT_OP) and position is not None:
        return [
            (traced_value.operands[0], int(element_position))
            for element_position in np.flatnonzero(traced_value.positions == position)
        ]
    return [
        (operand, None if traced_value.operation in (TOTAL_OP, COUNT_OP, RANDOM_OP) else position)
        for operand in _used_operands(traced_value, position)
    ]


def _used_operands(traced_value: TracedValue, position: int | None) -> tuple[Any, ...]:
    """Return the operands of a `TracedValue`; of ``np.where``, only the one that was chosen."""
    if traced_value.operation != "where":
        return traced_value.operands
    condition = np.asarray(untrace(traced_value.operands[0]))
    is_condition_met = condition if condition.ndim == 0 or position is None else condition[position]
    return (traced_value.operands[1] if np.all(is_condition_met) else traced_value.operands[2],)


def format_formula(
    traced_value: TracedValue, position: int | None, *, with_numbers: bool = False
) -> str:
    """Return the formula of a number as text: ``sum(y) / sum(n)``, or in numbers, ``4 / 8``.

    ``position`` is that of the element to write if ``traced_value`` is an array.
    """
    return _write_formula(traced_value, position, with_numbers=with_numbers, is_outermost=True)[0]


def _format_number(value: Any) -> str:
    """Return a number as text with at most twelve digits, which hides rounding errors."""
    rounded_value = float(f"{float(value):.12g}")
    is_whole = rounded_value.is_integer() and abs(rounded_value) < 1e15
    return str(int(rounded_value)) if is_whole else str(rounded_value)


def _write_formula(
    traced_value: Any, position: int | None, *, with_numbers: bool, is_outermost: bool = False
) -> tuple[str, int]:
    """Return a formula as text, and the precedence of its outermost operator.

    Operands of a lower precedence are put in parentheses.
    """
    operation = traced_value.operation if isinstance(traced_value, TracedValue) else ""
    is_sum = operation in (TOTAL_OP, COUNT_OP, GROUP_TOTAL_OP, GROUP_COUNT_OP)
    is_single_term = not operation or (traced_value.name and not is_outermost)
    if is_single_term or (is_sum and with_numbers):
        value = untrace(traced_value)
        value = value if position is None or np.ndim(value) == 0 else value[position]
        text = traced_value.name if operation and not with_numbers else _format_number(value)
        return text, 3 if text.startswith("-") else 9
    operands = traced_value.operands

    def write(operand: Any, min_precedence: int) -> str:
        operand_position = None if is_sum else position
        text, precedence = _write_formula(operand, operand_position, with_numbers=with_numbers)
        return text if precedence >= min_precedence else f"({text})"

    if operation in (ALIAS_OP, TAKE_OP, "where"):
        if operation == TAKE_OP and (position is not None or not traced_value.is_vector):
            position = int(traced_value.positions[position or 0])
        return _write_formula(
            _used_operands(traced_value, position)[0], position, with_numbers=with_numbers
        )
    if operation in _SIGN_AND_PRECEDENCE_BY_UFUNC:
        sign, precedence = _SIGN_AND_PRECEDENCE_BY_UFUNC[operation]
        right_precedence = precedence + (operation in ("subtract", "divide"))
        return (
            f"{write(operands[0], precedence)} {sign} {write(operands[1], right_precedence)}",
            precedence,
        )
    if operation in ("power", "square"):
        exponent = 2 if operation == "square" else untrace(operands[1])
        return f"{write(operands[0], 5)}{ {2: '²', 4: '⁴'}.get(exponent) or f'^{exponent:g}' }", 4
    if operation == "negative":
        return f"-{write(operands[0], 3)}", 3
    function_name = {GROUP_TOTAL_OP: TOTAL_OP, GROUP_COUNT_OP: COUNT_OP}.get(
        operation
    ) or _FORMULA_NAME_BY_UFUNC.get(operation, operation)
    return f"{function_name}({', '.join(write(operand, 0) for operand in operands)})", 9


# --- distributions ----------------------------------------------------------------------------

_NORMAL_DIST = NormalDist()
_MIN_NORMAL_DF = 1e15
"""Above these degrees of freedom, Student's t counts as normal."""

_MAX_TAIL_EXPONENT = 40.0  # the tail is integrated to where the density has fallen by e⁻⁴⁰
_QUADRATURE_NODES, _QUADRATURE_WEIGHTS = np.polynomial.legendre.leggauss(56)


def _t_tail_and_density(t: FloatArray, df: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the tail probability P(T > t) of Student's t for t ≥ 0, and the density at t.

    ``df`` are the degrees of freedom.
    """
    # With x = √df·sinh(v) the density is cosh(v)⁻ᵈᶠ, up to a constant, which is found by the same
    # integral from 0. The function is smooth and falls to 0 so soon that Gauss-Legendre quadrature
    # gives fifteen digits.

    def integral_from(lower_limit: FloatArray) -> FloatArray:
        log_cosh = np.log1p(np.sinh(lower_limit) ** 2) / 2
        upper_limit = np.arcsinh(np.sqrt(np.expm1(2 * (log_cosh + _MAX_TAIL_EXPONENT / df))))
        nodes = lower_limit[..., None] + ((upper_limit - lower_limit) / 2)[..., None] * (
            _QUADRATURE_NODES + 1
        )
        exponent = np.log1p(np.sinh(nodes) ** 2) / 2 - log_cosh[..., None]
        weighted_sums = np.exp(-df[..., None] * exponent) @ _QUADRATURE_WEIGHTS
        return np.exp(-df * log_cosh) * (upper_limit - lower_limit) / 2 * weighted_sums  # type: ignore[no-any-return]

    v = np.arcsinh(t / np.sqrt(df))
    half_integral = 2 * integral_from(np.zeros_like(v))
    return integral_from(v) / half_integral, np.cosh(v) ** (-df - 1) / np.sqrt(df) / half_integral


@traceable
def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution."""
    return _NORMAL_DIST.inv_cdf(probability)


def confidence_quantile(confidence_level: float) -> Any:
    """Return the normal quantile of a two-sided interval, such as 1.96 for the level 0.95."""
    return normal_quantile((1 + trace_setting("level", confidence_level)) / 2)


@traceable
def two_sided(t: float, df: float) -> float:
    """Return the two-sided p-value of a t statistic.

    Examples
    --------
    >>> round(two_sided(-2.0, 5), 6)
    0.101939
    """
    t = abs(t)
    if math.isnan(t + df) or math.isinf(t):
        return math.nan if math.isnan(t + df) else 0.0
    tail_probability, _ = _t_tail_and_density(
        np.array(min(t, 1e100)), np.array(min(df, _MIN_NORMAL_DF))
    )
    return min(2 * float(tail_probability), 1.0)


def _t_quantiles_of(probability: float, df: FloatArray) -> FloatArray:
    """Return the quantile of Student's t for each of ``df``; ``probability`` is above 0.5."""
    finite_df = np.minimum(df, _MIN_NORMAL_DF)
    z = _NORMAL_DIST.inv_cdf(probability)
    t = z + (z**3 + z) / (4 * finite_df)
    for _ in range(_MAX_NEWTON_STEPS):
        # The tail is convex, and Cornish and Fisher's first term too near: no step goes too far.
        tail, density = _t_tail_and_density(t, finite_df)
        step = (tail - (1 - probability)) / density
        t = t + step
        if (np.abs(step) <= 1e-14 * t).all():
            break
    return t


@traceable
@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: float) -> float:
    """Return the quantile of Student's t distribution; ``probability`` is above 0.5.

    Examples
    --------
    >>> round(t_quantile(0.975, 4), 6), round(t_quantile(0.975, float("inf")), 6)
    (2.776445, 1.959964)
    """
    return math.nan if math.isnan(df) else float(_t_quantiles_of(probability, np.array([df]))[0])


@traceable
def t_quantiles(probability: float, df: FloatArray) -> FloatArray:
    """Return the quantile of Student's t for each of ``df``, which are rounded down first.

    Examples
    --------
    >>> t_quantiles(0.975, np.array([4.0, 4.09])).round(3).tolist()
    [2.776, 2.776]
    """
    # Rounded down to a tenth, or from 200 on to an integer: intervals are at most a little too
    # wide.
    rounded_df = np.where(df < 200, np.floor(df * 10 + 1e-9) / 10, np.floor(df))
    distinct_df, positions = np.unique(rounded_df, return_inverse=True)
    return _t_quantiles_of(probability, distinct_df)[positions]
