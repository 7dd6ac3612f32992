"""Numbers that remember how they were computed, and the distributions that formulas take.

A formula runs on arrays. To explain a result its statistic runs once more while a tracer is set
(`tracer`): then `leaf`, `cells_of` and `setting` give `Traced` numbers, each of which stands for
cells of a frame or for an argument, the same formulas give the tree of what they were computed
from, and `kept` hands the columns of the result to the tracer. Outside all these are the plain
numbers. A formula takes ``g``, which adds up over clusters: `Many` adds up many groups at once,
`One` a single one. Names are those of the fields that a formula returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from aatoolkit.frame.groupby import as_floats
from aatoolkit.metadata.recorded import recorded

if TYPE_CHECKING:
    import pandas as pd

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
T = TypeVar("T")
P = ParamSpec("P")
_MOST_STEPS = 200

_SIGNS = {
    "less": ("<", 0), "greater_equal": (">=", 0), "add": ("+", 1), "subtract": ("-", 1),
    "multiply": ("×", 2), "divide": ("/", 2),
}  # fmt: skip
_NAMES = {"absolute": "abs", "minimum": "min", "maximum": "max", "inv_cdf": "normal_quantile"}
SETTING, DRAWN, LEAF, TOTAL, COUNT = "setting", "drawn", "leaf", "sum", "len"
SAME, TAKEN, STACKED, COUNTED = "same", "taken", "stacked", "counted"
"""The operations of a number under another name, of elements, of sums and counts by group."""

TRACER: ContextVar[Any] = ContextVar("tracer", default=None)
"""What records the numbers of the statistic that runs, if it runs to be explained."""


def statistic(verb: str, *inputs: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function `recorded`; in it 0 / 0 and overflow give NaN and infinity, no warning.

    Parameters
    ----------
    verb, *inputs : str
        As of `recorded`.
    """
    return lambda function: recorded(verb, *inputs)(np.errstate(all="ignore")(function))


@dataclass(eq=False, repr=False)
class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """A number, or one for each cluster, and what it was computed from.

    Parameters
    ----------
    value : float or array
        The number, or numbers.
    op : str
        What made it.
    args : tuple
        Of what.
    name : str
        What it is called in the formulas that it is a part of.
    cells : callable, optional
        Of a leaf: explains the element at a position, or the number itself; of sums by group: the
        row of the group.
    words : str
        Of a drawn number: how it was drawn.
    index : array of int, optional
        Of elements taken from a vector, their places in it; of sums by group, the groups.

    Examples
    --------
    >>> y, n = Traced(np.array([3.0, 1.0]), name="y"), Traced(np.array([4.0, 4.0]), name="n")
    >>> rate = One.total(y) / One.total(n)
    >>> float(rate.value), words_of(rate), words_of(rate, in_numbers=True)
    (0.5, 'sum(y) / sum(n)', '4 / 8')
    """

    value: Any
    op: str = LEAF
    args: tuple[Any, ...] = ()
    name: str = ""
    cells: Callable[[int], Any] | None = None
    words: str = ""
    index: Any = None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Traced:
        if method != "__call__" or options:
            raise TypeError(f"{ufunc.__name__}.{method} is no part of a traced formula")
        with np.errstate(all="ignore"):
            return Traced(ufunc(*map(plain_value, inputs)), ufunc.__name__, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Traced:
        if function is not np.where or len(args) != 3:
            raise TypeError(f"{function.__name__} is no part of a traced formula")
        value = np.where(*map(plain_value, args))
        return Traced(value if value.ndim else value.item(), "where", args)

    def _refused(self, *_: object) -> Any:
        raise TypeError("a traced number is no plain one: it would lose what it was computed from")

    __bool__ = __float__ = __int__ = __iter__ = __len__ = __array__ = _refused

    @property
    def is_vector(self) -> bool:
        """Whether it has a number for each cluster."""
        return np.ndim(self.value) > 0


def plain_value(value: Any) -> Any:
    """The number itself."""
    return value.value if isinstance(value, Traced) else value


def number(value: Any) -> float:
    """The number itself, as a float."""
    return float(plain_value(value))


def call(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of numbers, and trace it where one of them is traced."""
    plain = [
        arg.item() if np.ndim(arg) == 0 and hasattr(arg, "item") else arg
        for arg in map(plain_value, args)
    ]
    value = function(*plain)
    is_traced = any(isinstance(arg, Traced) for arg in args)
    return Traced(value, function.__name__.removeprefix("_"), args) if is_traced else value


def t_quantile(probability: Any, df: Any) -> Any:
    """The quantile of Student's t.

    Examples
    --------
    >>> round(t_quantile(0.975, 4), 6), round(t_quantile(0.975, float("inf")), 6)
    (2.776445, 1.959964)
    """
    return call(_t_quantile, probability, df)


def normal_quantile(probability: Any) -> Any:
    """The quantile of the normal distribution."""
    return call(_NORMAL.inv_cdf, probability)


def two_sided(t: Any, df: Any) -> Any:
    """The two-sided p-value of a t statistic.

    Examples
    --------
    >>> round(two_sided(-2.0, 5), 6)
    0.101939
    """
    return call(_two_sided, t, df)


def named(result: T, suffix: str = "") -> T:
    """Name the traced fields of a result, which have no name yet, and return it."""
    names = [field.name for field in fields(result)]  # type: ignore[arg-type]
    name_all(**{f"{name}{suffix}": getattr(result, name) for name in names})
    return result


def name_all(**values: Any) -> None:
    """Name traced numbers, so that formulas refer to them by name."""
    for name, value in values.items():
        if isinstance(value, Traced) and not value.name:
            value.name = name


def setting(name: str, value: Any) -> Any:
    """An argument of a verb, or a constant of its method."""
    return value if TRACER.get() is None else Traced(value, SETTING, name=name)


def drawn(name: str, value: Any, words: str, *inputs: Any) -> Any:
    """A number that comes from random draws, whose seed the words give."""
    return value if TRACER.get() is None else Traced(value, DRAWN, inputs, name, words=words)


def under(name: str, value: Any) -> Any:
    """A number under another name."""
    return Traced(value.value, SAME, (value,), name) if isinstance(value, Traced) else value


def leaf(name: str, values: Any, part: Callable[[Any, int], Any]) -> Any:
    """Numbers that a tracer can explain one by one."""
    tracer = TRACER.get()
    if tracer is None:
        return values
    return Traced(values, LEAF, name=name, cells=lambda place: part(tracer, place))


def cells_of(name: str, frame: pd.DataFrame, column: str, rows: Any) -> Any:
    """The numbers of a column in some rows of a frame that a verb was given."""
    values = as_floats(frame[column])[rows]
    return leaf(name, values, lambda tracer, at: tracer.cell(name, frame, rows[at], column))


def derived(
    frame: pd.DataFrame,
    of: pd.DataFrame,
    rows: Any = None,
    names: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """A frame whose cells are those of another, of some of its rows or under other names."""
    tracer = TRACER.get()
    if tracer is not None:
        tracer.derive(frame, of, rows, names or {})
    return frame


def kept(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The columns of a result as plain numbers, once a tracer has kept the traced ones."""
    tracer = TRACER.get()
    return values if tracer is None else tracer.keep(values)


def reordered(rows: Any) -> None:
    """Tell a tracer that the rows of the result are now these of those that it kept."""
    tracer = TRACER.get()
    if tracer is not None:
        tracer.reorder(rows)


def take(values: Any, index: Any) -> Any:
    """Some elements of a vector, or one."""
    if not isinstance(values, Traced):
        return values[index]
    return Traced(values.value[index], TAKEN, (values,), index=np.atleast_1d(index))


@dataclass(frozen=True)
class Many:
    """Groups of clusters, added up at once.

    Parameters
    ----------
    group : array of int
        The group of each cluster.
    size : int
        How many groups there are.
    row : callable, optional
        What identifies a group.
    """

    group: Integers
    size: int
    row: Callable[[int], dict[str, Any]] | None = None

    def total(self, values: Any) -> Any:
        """The sums over the clusters of each group."""
        sums = np.bincount(self.group, plain_value(values), self.size).astype(np.float64)
        return self._traced(values, sums, STACKED)

    def count(self, values: Any) -> Any:
        """The number of clusters of each group."""
        counts = np.bincount(self.group, minlength=self.size).astype(np.float64)
        return self._traced(values, counts, COUNTED)

    def spread(self, values: Any) -> Any:
        """The number of its group for each cluster."""
        return take(values, self.group)

    def _traced(self, values: Any, sums: Numbers, op: str) -> Any:
        if not isinstance(values, Traced):
            return sums
        return Traced(sums, op, (values,), index=self.group, cells=self.row)


class One:
    """One group of clusters."""

    @staticmethod
    def total(values: Any) -> Any:
        """The sum over the clusters."""
        plain = np.atleast_1d(plain_value(values))
        is_safe = np.isfinite(np.abs(plain).sum())  # else fsum raises
        total = np.float64(math.fsum(plain.tolist()) if is_safe else plain.sum())
        return Traced(total, TOTAL, (values,)) if isinstance(values, Traced) else total

    @staticmethod
    def count(values: Any) -> Any:
        """The number of clusters."""
        size = np.float64(np.size(plain_value(values)))  # of which one less may be 0
        return Traced(size, COUNT, (values,)) if isinstance(values, Traced) else size

    @staticmethod
    def spread(value: Any) -> Any:
        """The number of the group, for each cluster."""
        return value


def parts_of(node: Traced, place: int | None = None) -> Iterator[tuple[Traced, int | None]]:
    """The named numbers in the formula of a number, each once: a scalar, or a vector's element.

    A vector without a place stands for all its elements.
    """
    seen: set[tuple[int, int | None]] = set()
    pending = [*reversed(_inner(node, place))]
    while pending:
        part, at = pending.pop()
        if not isinstance(part, Traced):
            continue
        key = (id(part), at if part.is_vector else None)
        if key in seen:
            continue
        seen.add(key)
        if part.name:
            yield part, key[1]
        else:
            pending += reversed(_inner(part, at))


def _inner(node: Traced, place: int | None) -> list[tuple[Any, int | None]]:
    """What a number was computed from, and where in it."""
    if node.op == TAKEN:
        index = node.index if place is None else [node.index[place]]
        return [(node.args[0], int(at)) for at in index]
    if node.op in (STACKED, COUNTED) and place is not None:
        return [(node.args[0], int(at)) for at in np.flatnonzero(node.index == place)]
    return [
        (part, None if node.op in (TOTAL, COUNT, DRAWN) else place) for part in _chosen(node, place)
    ]


def _chosen(node: Traced, place: int | None) -> tuple[Any, ...]:
    """What a number was computed from; of alternatives only the one that applied."""
    if node.op != "where":
        return node.args
    condition = np.asarray(plain_value(node.args[0]))
    holds = condition if condition.ndim == 0 or place is None else condition[place]
    return (node.args[1] if np.all(holds) else node.args[2],)


def words_of(node: Traced, place: int | None = None, *, in_numbers: bool = False) -> str:
    """The formula of a number, in names, or with numbers in it, where sums are their totals."""
    return _written(node, place, in_numbers=in_numbers, top=True)[0]


def short(value: Any) -> str:
    """A number with twelve digits, beyond which equal sums may differ."""
    rounded = float(f"{float(value):.12g}")
    is_whole = rounded.is_integer() and abs(rounded) < 1e15
    return str(int(rounded)) if is_whole else str(rounded)


def _written(
    node: Any, place: int | None, *, in_numbers: bool, top: bool = False
) -> tuple[str, int]:
    """A formula, and the precedence of its outermost operator."""
    op = node.op if isinstance(node, Traced) else ""
    is_sum = op in (TOTAL, COUNT, STACKED, COUNTED)
    is_atom = not op or (node.name and not top)
    if is_atom or (is_sum and in_numbers):
        text = node.name if op and not in_numbers else short(_element(node, place))
        return text, 3 if text.startswith("-") else 9
    args = node.args

    def inner(part: Any, least: int) -> str:
        inside = None if is_sum else place
        text, tightness = _written(part, inside, in_numbers=in_numbers)
        return text if tightness >= least else f"({text})"

    if op in (SAME, TAKEN, "where"):
        if op == TAKEN and (place is not None or not node.is_vector):
            place = int(node.index[place or 0])
        return _written(_chosen(node, place)[0], place, in_numbers=in_numbers)
    if op in _SIGNS:
        sign, tightness = _SIGNS[op]
        right = tightness + (op in ("subtract", "divide"))
        return f"{inner(args[0], tightness)} {sign} {inner(args[1], right)}", tightness
    if op in ("power", "square"):
        exponent = 2 if op == "square" else plain_value(args[1])
        return f"{inner(args[0], 5)}{ {2: '²', 4: '⁴'}[int(exponent)] }", 4
    if op == "negative":
        return f"-{inner(args[0], 3)}", 3
    word = {STACKED: TOTAL, COUNTED: COUNT}.get(op) or _NAMES.get(op, op)
    return f"{word}({', '.join(inner(arg, 0) for arg in args)})", 9


def _element(node: Any, place: int | None) -> Any:
    """The number at a place of a vector, or the number itself."""
    value = plain_value(node)
    return value if place is None or np.ndim(value) == 0 else value[place]


# --- distributions ----------------------------------------------------------------------------

_NORMAL = NormalDist()
_AS_NORMAL = 1e15
"""So many degrees of freedom make Student's t the normal distribution."""

_DECAY = 40.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(56)


def _tails(t: Numbers, df: Numbers) -> tuple[Numbers, Numbers]:
    """The probability of a value beyond t ≥ 0 for Student's t, and the density there.

    With x = √df·sinh(v) its density is cosh(v)⁻ᵈᶠ but for a constant, which is the same integral
    from 0: smooth, and so soon 0 that Gauss and Legendre's quadrature gives fifteen digits.
    """

    def integral(v: Numbers) -> Numbers:
        start = np.log1p(np.sinh(v) ** 2) / 2
        end = np.arcsinh(np.sqrt(np.expm1(2 * (start + _DECAY / df))))
        places = v[..., None] + ((end - v) / 2)[..., None] * (_NODES + 1)
        fall = np.log1p(np.sinh(places) ** 2) / 2 - start[..., None]
        sums = np.exp(-df[..., None] * fall) @ _WEIGHTS
        area: Numbers = np.exp(-df * start) * (end - v) / 2 * sums
        return area

    v = np.arcsinh(t / np.sqrt(df))
    half = 2 * integral(np.zeros_like(v))
    return integral(v) / half, np.cosh(v) ** (-df - 1) / np.sqrt(df) / half


def _two_sided(t: float, df: float) -> float:
    """Compute the two-sided p-value of a t statistic."""
    t = abs(t)
    if math.isnan(t + df) or math.isinf(t):
        return math.nan if math.isnan(t + df) else 0.0
    tail, _ = _tails(np.array(min(t, 1e100)), np.array(min(df, _AS_NORMAL)))
    return min(2 * float(tail), 1.0)


def _quantiles(probability: float, df: Numbers) -> Numbers:
    """Compute quantiles of Student's t above the median, by Newton's steps."""
    finite, z = np.minimum(df, _AS_NORMAL), _NORMAL.inv_cdf(probability)
    t = z + (z**3 + z) / (4 * finite)
    for _ in range(_MOST_STEPS):
        # The tail is convex, and Cornish and Fisher's first term too near: no step goes too far.
        tail, density = _tails(t, finite)
        step = (tail - (1 - probability)) / density
        t = t + step
        if (np.abs(step) <= 1e-14 * t).all():
            break
    return t


@lru_cache(maxsize=4096)
def _t_quantile(probability: float, df: float) -> float:
    """Compute the quantile of Student's t, above the median."""
    return math.nan if math.isnan(df) else float(_quantiles(probability, np.array([df]))[0])


def t_quantiles(probability: float, df: Numbers) -> Numbers:
    """Compute t quantiles for many degrees of freedom, rounded down to a tenth: never too narrow.

    Examples
    --------
    >>> t_quantiles(0.975, np.array([4.0, 4.09])).round(3).tolist()
    [2.776, 2.776]
    """
    steps = np.where(df < 200, np.floor(df * 10 + 1e-9) / 10, np.floor(df))
    distinct, codes = np.unique(steps, return_inverse=True)
    return _quantiles(probability, distinct)[codes]
