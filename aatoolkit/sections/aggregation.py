"""Units of numbers, and the rules by which rows of a column are aggregated.

Units are those of `aatoolkit._util.units`. A rule says how rows of a column combine, or why they
must not be combined.
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
"""The rules by which rows of a column become one; ``key`` and ``none`` refuse to."""


@dataclass(frozen=True)
class Aggregation:
    """The rule by which rows of a column are aggregated.

    Parameters
    ----------
    rule : str
        One of `RULES`.
    by : str, optional
        The column that weights a mean.
    over : tuple of str, optional
        Numerator and denominator of a ratio, recomputed from their sums.
    within : str, optional
        The column that must hold one value only, such as the currency of a revenue. With the rule
        ``none``, rows that all hold the same value of it combine nevertheless: as the ratio of
        ``counts``, or as a mean weighted by ``otherwise``.
    why : str, optional
        Why rows do not combine, or what to keep in mind when they do.
    across : tuple of str
        The dimensions over which a sum is known to hold, such as ``engine`` or a column of the
        table's key; rows that differ in another part of the key are not added. Empty: over all.
    otherwise : str, optional
        The column that weights a mean, approximately, where the service does not report the
        counts of this rule.
    counts : tuple of str, optional
        Numerator and denominator of a rate whose rows do not combine as a ratio, for its interval.
    among : tuple of str
        The rows that the rule is about. ``(count,)`` are the rows where this column of counts is
        not 0; ``(column, value, …)`` are the rows where the column has one of the values. A row
        that is not among them and has no value is left out, without making the result incomplete.

    Raises
    ------
    ArgumentError
        If there is no such rule, or a ratio has no counts.

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
            rules = ", ".join(RULES).replace("ratio", "ratio with over=")
            raise ArgumentError(f"{self.rule!r} is no aggregation rule; there are {rules}")

    def __repr__(self) -> str:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return f"Aggregation({', '.join(f'{name}={value!r}' for name, value in values if value)})"

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
    """Return an `Aggregation` unchanged, or make one from the name of a rule, such as ``sum``."""
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
    """Return the rule of a mean weighted by another column: Σ(value·by)/Σby."""
    return Aggregation("mean", by=by, otherwise=otherwise)


def ratio(numerator: str, denominator: str, otherwise: str | None = None) -> Aggregation:
    """Return the rule of a ratio: the sum of the numerator divided by that of the denominator."""
    return Aggregation("ratio", over=(numerator, denominator), otherwise=otherwise)


def share(
    why: str = "shares of one whole: add within one answer, never over fetches",
    counts: tuple[str, str] | None = None,
) -> Aggregation:
    """Return the rule of shares of a whole, which add up within one response only."""
    return Aggregation("sum", why=why, counts=counts)


def refused(why: str, counts: tuple[str, str] | None = None) -> Aggregation:
    """Return the rule ``none``, i.e. that rows must not be combined, with the reason."""
    return Aggregation("none", why=why, counts=counts)
