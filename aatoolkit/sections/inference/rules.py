"""Find the aggregation rule of columns, applied only where evidence proves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from aatoolkit.sections import MAX, MIN, Aggregation, ratio, refused, weighted
from aatoolkit.sections.inference.experiments import Verdict
from aatoolkit.sections.inference.findings import LIKELY, OPEN, PROVED, Finding
from aatoolkit.sections.inference.identities import Ratio
from aatoolkit.sections.inference.vocabulary import words_of
from aatoolkit.sections.inference.words import Meaning, tokens

_DISTINCT = frozenset(["distinct", "unique", "different", "uniq"])
_MEDIANS = words_of("median mdn p50 p75 p90 p95 p99 percentile quantile")
_LEAST, _MOST = (
    frozenset(["min", "minimum", "lowest", "least"]),
    frozenset(["max", "maximum", "highest"]),
)
_PICKED = words_of("leader leading leaders best top worst winner runner")
_LIMITS = words_of("limit quota allowance included budget cap max threshold target")


@dataclass
class Evidence:
    """The evidence for the rule of one column.

    Attributes
    ----------
    ratios : list of Ratio
        Ratios of shown counts that hold on every row.
    wholes : list of Ratio
        Denominators that make it whole on every row.
    unseen : list of Ratio
        Counts of which it is the share of a total that is shown nowhere.
    weights : dict of str to int
        Counts by which the parts pool to the whole, and on how many rows.
    verdicts : list of Verdict
        What experiments say.
    sums : list of str
        Totals that its rows, or its children's, were seen to sum to.
    against : list of str
        Totals of the same name that its rows do not sum to.
    equals : list of (str, str)
        The tables and columns that its rows sum to.
    across : set of str
        Columns of the key over which it is proved to add up.
    key : tuple of str
        The key of its table.
    siblings : tuple of str
        Columns that sum to one whole with it on every row.
    whole : float
        That whole, 1 or 100.
    """

    ratios: list[Ratio] = field(default_factory=list)
    wholes: list[Ratio] = field(default_factory=list)
    unseen: list[Ratio] = field(default_factory=list)
    weights: dict[str, int] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    sums: list[str] = field(default_factory=list)
    against: list[str] = field(default_factory=list)
    across: set[str] = field(default_factory=set)
    equals: list[tuple[str, str]] = field(default_factory=list)
    key: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()
    whole: float = 0.0

    @property
    def adds(self) -> bool:
        """Whether the column is proved to add up."""
        return bool(self.sums) or any(one.outcome == "adds" for one in self.verdicts)


def find_rule(name: str, named: Meaning, evidence: Evidence, currency: str) -> Finding[Aggregation]:
    """Find the aggregation rule of a numeric column.

    Parameters
    ----------
    name : str
        The column.
    named : Meaning
        What its name says.
    evidence : Evidence
        What was seen of it.
    currency : str
        The column that holds its currency; empty where there is none.
    """
    words = set(tokens(name))
    if words & _MEDIANS:
        return Finding(refused("medians of parts do not give that of the whole"), LIKELY, "name")
    if named.kind in ("rank", "probability", "id", "status"):
        return Finding(refused(f"a {named.kind} of rows does not combine"), LIKELY, "name")
    outcomes = {one.outcome: one for one in evidence.verdicts}
    for outcome, rule in (("least", MIN), ("most", MAX)):
        if outcome in outcomes and words & (_LEAST if rule is MIN else _MOST | {"best", "top"}):
            return Finding(
                rule, PROVED, _outcome_text(outcomes[outcome], f"the {outcome} of the parts")
            )
    if evidence.siblings:
        named = Meaning("share")
    if named.kind == "change":
        return Finding(refused("a change is taken anew from the sums"), LIKELY, "name")
    if named.kind in ("share", "position", "score", "milliseconds", "seconds") or named.mean:
        return _pooled(named, evidence, words)
    if "distinct" in outcomes and outcomes["distinct"].rows >= 2 and not evidence.sums:
        reason = _outcome_text(
            outcomes["distinct"], "less than the sum of the parts, as of distinct things"
        )
        return Finding(refused("distinct things: the parts overlap"), PROVED, reason)
    if words & _DISTINCT:
        return Finding(refused("distinct things: the parts overlap"), LIKELY, "name")
    if evidence.adds:
        total = Aggregation("sum", within=currency or None, across=_across(evidence))
        seen = [_outcome_text(one, "adds up") for one in evidence.verdicts if one.outcome == "adds"]
        return Finding(total, PROVED, "; ".join([*seen, *evidence.sums, *evidence.against]))
    pooled = _pooled(named, evidence, words)
    if pooled.value is not None:
        return pooled
    if "adds" not in outcomes and words & _LIMITS:
        return Finding(refused("a limit, not a measure of rows"), LIKELY, "name")
    reason = "; ".join(_outcome_text(one, one.outcome) for one in evidence.verdicts)
    return Finding(None, OPEN, reason or "nothing shows whether its rows add up")


def _across(evidence: Evidence) -> tuple[str, ...]:
    """The dimensions that a sum is limited to; empty where it holds over all rows."""
    engines = {one.dimension for one in evidence.verdicts if one.outcome == "adds"}
    proved = evidence.across | {name for name in evidence.key if name in engines}
    if set(evidence.key) <= proved:
        return ()
    return (*sorted(engines - set(evidence.key)), *(n for n in evidence.key if n in proved))


def _pooled(named: Meaning, evidence: Evidence, words: set[str]) -> Finding[Aggregation]:
    """The ratio or weighted mean that the evidence leaves, if it leaves exactly one."""
    shown = [one for one in evidence.ratios if one.numerator is not None]
    own = [one for one in shown if one.numerator and one.numerator.own and one.denominator.own]
    names = {(one.numerator.name, one.denominator.name) for one in shown if one.numerator}
    if len(names) == 1 and own:
        one = own[0]
        reason = f"{one} on {one.rows} different rows, and no other pair of counts"
        assert one.numerator is not None
        return Finding(ratio(one.numerator.name, one.denominator.name), PROVED, reason)
    wholes = {one.numerator.name for one in shown if one.numerator and not one.denominator.own}
    if len(names) > 1 and len(wholes) == 1 and not own:
        # Several totals of the same rows: whichever it is, the parts are divided anew.
        return _share_of_whole(shown[0])
    if len(names) > 1:
        below = {name for _, name in names}
        agreed = _agreed([below, *_hints(evidence)])
        left = [one for one in own if one.denominator.name in agreed]
        if len(left) == 1 and len(agreed) == 1:
            one = left[0]
            assert one.numerator is not None
            reason = f"{one} on {one.rows} different rows, and the engines pool by it"
            return Finding(ratio(one.numerator.name, one.denominator.name), PROVED, reason)
        return Finding(None, OPEN, f"one of {_listed(str(one) for one in shown)}")
    if shown:
        return _share_of_whole(shown[0])
    candidates = _agreed(_hints(evidence))
    if candidates and words & _PICKED:
        return Finding(None, OPEN, "each row may speak of another: it is that of one picked out")
    if len(candidates) == 1:
        (by,) = candidates
        if "." in by or by.startswith("sum of "):
            return Finding(None, OPEN, f"a mean over {by}, which is no column of this table")
        reason = _weighing(by, evidence)
        if named.kind == "share":
            return Finding(Aggregation("mean", by=by, why=f"a ratio over {by}"), PROVED, reason)
        return Finding(weighted(by), PROVED, reason)
    unseen = {one.numerator.name: one for one in evidence.unseen if one.numerator}
    if not candidates and len(unseen) == 1:
        return _share_of_whole(next(iter(unseen.values())))
    if candidates:
        return Finding(None, OPEN, f"a mean weighted by one of {_listed(sorted(candidates))}")
    return Finding(None, OPEN, "the counts that it is made of are not to be seen")


def _share_of_whole(one: Ratio) -> Finding[Aggregation]:
    """A rule that refuses a ratio over a total that is no column, with what to do instead."""
    above = one.numerator.name if one.numerator else ""
    why = f"ratio of {above} over {one.denominator.name}: add {above} and divide by that anew"
    if one.numerator is None or not one.numerator.own:
        return Finding(None, OPEN, f"{one}, which are no columns of this table")
    return Finding(refused(why), PROVED, f"{one} on {one.rows} different rows")


def _hints(evidence: Evidence) -> list[set[str]]:
    """For each kind of evidence, the denominators that it leaves possible."""
    found = []
    if evidence.wholes:
        found.append({one.denominator.name for one in evidence.wholes})
    if evidence.weights:
        found.append(set(evidence.weights))
    return found


def _agreed(kinds: Sequence[set[str]]) -> set[str]:
    """The denominators that all kinds of evidence leave possible; empty on contradiction."""
    return set.intersection(*kinds) if kinds else set()


def _weighing(by: str, evidence: Evidence) -> str:
    reason = [
        f"a whole number over {by} on {one.rows} different rows"
        for one in evidence.wholes
        if one.denominator.name == by
    ]
    if by in evidence.weights:
        reason.append(f"the engines pool to the whole by {by} on {evidence.weights[by]} rows")
    return "; ".join(reason)


def _outcome_text(verdict: Verdict, words: str) -> str:
    return f"{words} over {verdict.dimension} on {verdict.rows} rows"


def _listed(names: object) -> str:
    found = list(dict.fromkeys(map(str, names)))  # type: ignore[call-overload]
    return ", ".join(found[:4]) + (" …" if len(found) > 4 else "")
