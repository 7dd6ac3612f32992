"""Rules by which the values of a column are aggregated, and units of numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields

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
"""The rules by which values are aggregated; ``key`` and ``none`` forbid it."""


@dataclass(frozen=True)
class Aggregation:
    """The rule by which the values of a column are aggregated.

    Parameters
    ----------
    rule : str
        One of `RULES`, such as ``sum``.
    by : str, optional
        The column with the weights of a mean.
    over : tuple of str, optional
        The columns of the numerator and the denominator of a ratio. Several rows give the ratio of
        the sums.
    within : str, optional
        A column whose values must be equal in all rows that are aggregated, such as the currency.
    why : str, optional
        Why rows must not be aggregated, or what to keep in mind if they are.
    across : tuple of str
        The dimensions to sum over, such as ``engine``; empty for all.
    otherwise : str, optional
        The column with the weights of a mean, if the service does not report ``by`` or ``over``.
    counts : tuple of str, optional
        The columns of the numerator and the denominator of a rate, for its confidence interval.
    among : tuple of str
        The rows that should have a value. ``(count,)`` selects the rows in which the column
        ``count`` is not 0, and ``(column, value, …)`` the rows with one of the values. Missing
        values in other rows are ignored.

    Raises
    ------
    ArgumentError
        If ``rule`` is not one of `RULES`, or is ``ratio`` without ``over``.

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
        if self.rule not in RULES or (self.rule == "ratio" and not self.over):
            rule_names = ", ".join(RULES).replace("ratio", "ratio with over=")
            raise ArgumentError(f"{self.rule!r} is no aggregation rule; there are {rule_names}")

    def __repr__(self) -> str:
        items = ((field.name, getattr(self, field.name)) for field in fields(self))
        return f"Aggregation({', '.join(f'{name}={value!r}' for name, value in items if value)})"

    def __str__(self) -> str:
        text = self.rule
        if self.by:
            text = f"mean weighted by {self.by}"
        if self.over:
            text = "ratio Σ{}/Σ{}".format(*self.over)
        if self.across:
            text += f" over {', '.join(self.across)}"
        if self.within and self.rule != "none":
            text += f" (one {self.within} only)"
        return f"{text} ({self.why})" if self.why else text


def rule_of(rule: Aggregation | str) -> Aggregation:
    """Return an `Aggregation`, or the one with this name."""
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


def weighted(by: str, otherwise: str | None = None) -> Aggregation:
    """Return the rule for a mean weighted by the column ``by``: Σ(value·by)/Σby.

    ``otherwise`` is the column with the weights if the service does not report ``by``.
    """
    return Aggregation("mean", by=by, otherwise=otherwise)


def ratio(numerator: str, denominator: str, otherwise: str | None = None) -> Aggregation:
    """Return the rule for a ratio of sums: Σnumerator/Σdenominator.

    If the service does not report these counts, a mean weighted by ``otherwise`` replaces the
    ratio.
    """
    return Aggregation("ratio", over=(numerator, denominator), otherwise=otherwise)


def share(
    why: str = "shares of one whole: add within one answer, never over fetches",
    counts: tuple[str, str] | None = None,
) -> Aggregation:
    """Return the rule for shares of one whole, which are added only within one response.

    ``counts`` are the columns of the numerator and the denominator of a share.
    """
    return Aggregation("sum", why=why, counts=counts)


def refused(why: str, counts: tuple[str, str] | None = None) -> Aggregation:
    """Return the rule ``none``: rows must not be aggregated, for the reason ``why``.

    ``counts`` are the columns of the numerator and the denominator of a rate.
    """
    return Aggregation("none", why=why, counts=counts)
