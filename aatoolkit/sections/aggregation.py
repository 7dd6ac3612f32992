"""Units of numbers, and the rules by which the values of a column are aggregated.

The units come from `aatoolkit._util.units`. A rule says how the values of several rows are combined
into one, or why they must not be combined.
"""

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
"""The rules by which the values of a column become one; by ``key`` and ``none`` they must not."""


@dataclass(frozen=True)
class Aggregation:
    """The rule by which the values of a column are aggregated.

    Parameters
    ----------
    rule : str
        One of `RULES`.
    by : str, optional
        For a weighted mean, the column with the weights.
    over : tuple of str, optional
        For a ratio, the columns of its numerator and its denominator. The ratio of several rows is
        the ratio of their sums.
    within : str, optional
        A column, such as the currency of a revenue: rows are combined only if they have the same
        value in this column. Even if ``rule`` is ``none``, such rows are combined: as the ratio of
        ``counts``, or as a mean weighted by ``otherwise``.
    why : str, optional
        Why rows must not be combined, or what to keep in mind if they are.
    across : tuple of str
        The dimensions over which values can be summed, such as ``engine`` or another column of the
        table's key. Rows that differ in another column of the key are not added. If ``across`` is
        empty, values can be summed over all dimensions.
    otherwise : str, optional
        The column with the weights of an approximate mean, which is used if the service does not
        report the counts in ``by`` or ``over``.
    counts : tuple of str, optional
        For a rate whose ``rule`` is not ``ratio``: the columns with its numerator and its
        denominator, from which its confidence interval is computed.
    among : tuple of str
        The rows that should have a value: ``(count,)`` selects the rows in which the column
        ``count`` is not 0, and ``(column, value, …)`` the rows in which the column has one of the
        values. In all other rows a missing value is ignored, and the result is still complete.

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
    """Return ``rule`` as an `Aggregation`; a text must be the name of a rule, as in `RULES`."""
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

    ``otherwise`` is the column with the weights to use if the service does not report ``by``.
    """
    return Aggregation("mean", by=by, otherwise=otherwise)


def ratio(numerator: str, denominator: str, otherwise: str | None = None) -> Aggregation:
    """Return the rule for a ratio: the sum of the numerators divided by that of the denominators.

    ``otherwise`` is the column with the weights of a mean, which replaces the ratio if the service
    does not report the counts.
    """
    return Aggregation("ratio", over=(numerator, denominator), otherwise=otherwise)


def share(
    why: str = "shares of one whole: add within one answer, never over fetches",
    counts: tuple[str, str] | None = None,
) -> Aggregation:
    """Return the rule for shares of one whole, which are added only within one response.

    ``counts`` has the columns of the numerator and the denominator of a share.
    """
    return Aggregation("sum", why=why, counts=counts)


def refused(why: str, counts: tuple[str, str] | None = None) -> Aggregation:
    """Return the rule ``none``: rows must not be combined, for the reason ``why``.

    ``counts`` has the columns of the numerator and the denominator, if the values are rates.
    """
    return Aggregation("none", why=why, counts=counts)
