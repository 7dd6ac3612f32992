"""Ways to aggregate the values of a column, such as a sum, and names of units.

>>> str(weighted("mention_count")), str(ratio("mention_count", "answer_count"))
('mean weighted by mention_count', 'ratio Σmention_count/Σanswer_count')
"""

from __future__ import annotations

from dataclasses import dataclass

from aatoolkit._util.units import *  # noqa: F403  the units are declared there and used from here
from aatoolkit.errors import ArgumentError

__all__ = [  # noqa: F405
    "BYTES",
    "CHARACTERS",
    "CHECKS",
    "COUNT",
    "CURRENCY",
    "FRACTION",
    "FRACTION_CHANGE",
    "HTTP_STATUS",
    "ISO_4217",
    "KEY",
    "LAST",
    "MAX",
    "MEAN",
    "MENTIONS",
    "MILLISECONDS",
    "MIN",
    "NONE",
    "NOT_ADDITIVE",
    "PER_UNIT",
    "PROBABILITY",
    "RANK",
    "REQUESTS",
    "RULES",
    "SCORE",
    "SEARCHES",
    "SECONDS",
    "SUM",
    "Aggregation",
    "ratio",
    "refused",
    "share",
    "weighted",
]

RULES = ("sum", "min", "max", "first", "last", "mean", "ratio", "count", "key", "none")
"""The names of the ways to aggregate values; ``key`` and ``none`` forbid to aggregate them."""


@dataclass(frozen=True)
class Aggregation:
    """How to combine the values of a column when several rows are aggregated to one.

    Parameters
    ----------
    rule : str
        One of ``sum``, ``min``, ``max``, ``first``, ``last``, ``mean``, ``ratio``, ``count``,
        ``key`` and ``none``. The last two mean that the column must not be aggregated.
    by : str, optional
        For ``mean``: the name of the column with the weights.
    over : tuple of str, optional
        For ``ratio``: the names of the numerator and the denominator column, such as
        ``("mention_count", "answer_count")``. Both are summed first, and then divided.
    within : str, optional
        The name of a column that must have the same value in all aggregated rows, such as
        ``currency``.
    why : str, optional
        The reason why rows must not be aggregated; or a warning to show with the result.
    across : tuple of str
        The names of the columns over which sums are allowed, such as ``("engine",)``. The empty
        tuple allows all columns.
    otherwise : str, optional
        The name of a column with weights. If the columns ``by`` or ``over`` have no values, the
        mean with these weights is taken instead.
    counts : tuple of str, optional
        If the values are rates but ``rule`` is not ``ratio``: the names of the numerator and the
        denominator column of the rate. They are used for its confidence interval.
    among : tuple of str
        A condition for the rows in which a value is expected. A missing value in any other row is
        ignored. ``("answer_count",)`` means the rows whose ``answer_count`` is not 0, and
        ``("outcome", "answered")`` the rows whose ``outcome`` is ``answered``.

    Raises
    ------
    ArgumentError
        If there is no such ``rule``, or if it is ``ratio`` and ``over`` is missing.

    Examples
    --------
    >>> weighted("mention_count")
    Aggregation(rule='mean', by='mention_count')
    >>> str(ratio("mention_count", "answer_count"))
    'ratio Σmention_count/Σanswer_count'
    """

    rule: str
    by: str | None = None
    over: tuple[str, str] | None = None
    within: str | None = None
    why: str | None = None
    across: tuple[str, ...] = ()
    otherwise: str | None = None
    counts: tuple[str, str] | None = None
    among: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.rule == "ratio" and not self.over:
            raise ArgumentError("a ratio needs over=; write ratio('hits', 'runs')")
        if self.rule not in RULES:
            rule_names = ", ".join(RULES)
            raise ArgumentError(f"{self.rule!r} is no aggregation rule; there are {rule_names}")

    def __repr__(self) -> str:
        argument_texts = [f"{name}={value!r}" for name, value in vars(self).items() if value]
        return f"Aggregation({', '.join(argument_texts)})"

    def __str__(self) -> str:
        rule_text = self.rule
        if self.by:
            rule_text = f"mean weighted by {self.by}"
        if self.over:
            rule_text = "ratio Σ{}/Σ{}".format(*self.over)
        if self.across:
            rule_text += f" over {', '.join(self.across)}"
        if self.within and self.rule != "none":
            rule_text += f" (one {self.within} only)"
        return f"{rule_text} ({self.why})" if self.why else rule_text


def as_rule(rule: Aggregation | str) -> Aggregation:
    """Return an `Aggregation` unchanged, or create one from the name of its rule, such as ``sum``.

    Examples
    --------
    >>> as_rule("sum"), as_rule(Aggregation("max"))
    (Aggregation(rule='sum'), Aggregation(rule='max'))
    """
    return rule if isinstance(rule, Aggregation) else Aggregation(rule)


KEY = Aggregation("key")
SUM = Aggregation("sum")
MENTIONS = Aggregation("sum", why="over brands it counts mentions: an answer can name several")
MIN = Aggregation("min")
MAX = Aggregation("max")
LAST = Aggregation("last")
MEAN = Aggregation("mean")
NONE = Aggregation("none")
NOT_ADDITIVE = Aggregation("none", why="not additive: the rows overlap")


def weighted(by: str, otherwise: str | None = None, why: str | None = None) -> Aggregation:
    """Return an `Aggregation` by a weighted mean: Σ(value·weight)/Σweight.

    Parameters
    ----------
    by : str
        The name of the column with the weights, such as ``mention_count``.
    otherwise : str, optional
        The name of the column with the weights to use if ``by`` has no values.
    why : str, optional
        The reason, such as ``a ratio``, which is shown with the mean.

    Examples
    --------
    >>> weighted("mention_count")
    Aggregation(rule='mean', by='mention_count')
    """
    return Aggregation("mean", by=by, otherwise=otherwise, why=why)


def ratio(numerator: str, denominator: str, otherwise: str | None = None) -> Aggregation:
    """Return an `Aggregation` by a ratio of sums: Σnumerator/Σdenominator.

    Parameters
    ----------
    numerator, denominator : str
        The names of the two columns that are summed.
    otherwise : str, optional
        The name of a column with weights. If the two columns have no values, the mean with these
        weights is taken instead.

    Examples
    --------
    >>> str(ratio("mention_count", "answer_count"))
    'ratio Σmention_count/Σanswer_count'
    """
    return Aggregation("ratio", over=(numerator, denominator), otherwise=otherwise)


def share(
    why: str = "shares of one whole: add within one answer, never over fetches",
    counts: tuple[str, str] | None = None,
) -> Aggregation:
    """Return an `Aggregation` that sums shares of one whole, such as market shares.

    Shares from two responses are not added, because they are shares of different totals.

    Parameters
    ----------
    why : str
        The warning that is shown with a sum.
    counts : tuple of str, optional
        The names of the numerator and the denominator column of the share.

    Examples
    --------
    >>> share("of all citations").rule
    'sum'
    """
    return Aggregation("sum", why=why, counts=counts)


def refused(why: str, counts: tuple[str, str] | None = None) -> Aggregation:
    """Return an `Aggregation` that forbids to aggregate a column, and says why.

    Parameters
    ----------
    why : str
        The reason, such as ``medians do not combine``.
    counts : tuple of str, optional
        The names of the numerator and the denominator column, if the values are rates. They are
        used for confidence intervals.

    Examples
    --------
    >>> str(refused("medians do not combine"))
    'none (medians do not combine)'
    """
    return Aggregation("none", why=why, counts=counts)


def to_name_tuple(names: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return a tuple of names, from a tuple of names or a single name.

    Examples
    --------
    >>> to_name_tuple("engine"), to_name_tuple(("brand", "engine"))
    (('engine',), ('brand', 'engine'))
    """
    return (names,) if isinstance(names, str) else (*names,)
