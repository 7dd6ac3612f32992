"""Find the aggregation rule of columns, applied only where evidence proves it."""

from __future__ import annotations

from aatoolkit._util.lexicon import words as lexicon
from aatoolkit.sections import MAX, MIN, NONE, Aggregation, ratio, refused, weighted
from aatoolkit.sections.inference.evidence import Ratio
from aatoolkit.sections.inference.relations import LIKELY, OPEN, PROVED, ColumnFinding, Finding
from aatoolkit.sections.inference.words import Meaning, tokens

Rule = Finding[Aggregation]

_EXTREMES = (("least", MIN, "least"), ("most", MAX, "most"))
_MOMENTS = ((MIN, "earliest"), (MAX, "latest_word"))
_OVERLAP = refused("distinct things: the parts overlap")


def settle_rule(column: ColumnFinding) -> None:
    """Find how rows of a column combine, unless its unit has settled that."""
    if column.is_key or column.label or column.rule.value is not None:
        return
    words = {*tokens(column.name)}
    if column.reading.is_number:
        column.rule = _of_number(column, words)
    elif column.dtype in ("date", "timestamp"):
        rules = (rule for rule, concept in _MOMENTS if words & lexicon(concept))
        rule = next(rules, None)
        column.rule = Finding(rule, LIKELY, "name") if rule else Finding(NONE, PROVED)


def _of_number(column: ColumnFinding, words: set[str]) -> Rule:
    named, seen = column.meaning, column.seen
    if words & lexicon("median"):
        return Finding(refused("medians of parts do not give that of the whole"), LIKELY, "name")
    if named.kind in ("rank", "probability", "id", "status"):
        return Finding(refused(f"a {named.kind} of rows does not combine"), LIKELY, "name")
    for outcome, rule, concept in _EXTREMES:
        if seen.outcome == outcome and words & lexicon(concept):
            return Finding(rule, PROVED, _tested(column, f"the {outcome} of the parts"))
    named = Meaning("share") if seen.siblings else named
    if named.kind == "change":
        return Finding(refused("a change is taken anew from the sums"), LIKELY, "name")
    if named.kind in ("share", "position", "score", "milliseconds", "seconds") or named.mean:
        return _pooled(column, named, words)
    if seen.outcome == "distinct" and seen.verdict.rows >= 2 and not seen.sums:
        reason = _tested(column, "less than the sum of the parts, as of distinct things")
        return Finding(_OVERLAP, PROVED, reason)
    if words & lexicon("distinct"):
        return Finding(_OVERLAP, LIKELY, "name")
    if seen.adds:
        total = Aggregation("sum", within=_currency(column), across=_across(column))
        tested = [_tested(column, "adds up")] if seen.outcome == "adds" else []
        return Finding(total, PROVED, "; ".join(dict.fromkeys([*tested, *seen.sums])))
    pooled = _pooled(column, named, words)
    if pooled.value is not None:
        return pooled
    if words & lexicon("quota"):
        return Finding(refused("a limit, not a measure of rows"), LIKELY, "name")
    reason = _tested(column, seen.outcome) if seen.outcome else ""
    return Finding(None, OPEN, reason or "nothing shows whether its rows add up")


def _across(column: ColumnFinding) -> tuple[str, ...]:
    """The dimensions that a sum is limited to; empty where it holds over all rows."""
    key, engines = column.relation.key, {"engine"} if column.seen.outcome == "adds" else set()
    proved = column.seen.across | engines
    if {*key} <= proved:
        return ()
    return (*sorted(engines - {*key}), *(name for name in key if name in proved))


def _currency(column: ColumnFinding) -> str | None:
    """The column that holds the currency of an amount, if there is one."""
    if column.unit.value != "currency":
        return None
    names = column.relation.names
    if f"{column.name}_currency" in names:
        return f"{column.name}_currency"
    beside = column.source.rpartition(".")[0]
    return next(
        (
            other.name
            for other in column.relation.columns
            if "currency" in tokens(other.name) and other.source.rpartition(".")[0] == beside
        ),
        None,
    )


def _pooled(column: ColumnFinding, named: Meaning, words: set[str]) -> Rule:
    """The ratio or weighted mean that the evidence leaves, if it leaves exactly one."""
    seen = column.seen
    shown = [one for one in seen.ratios if one.numerator is not None]
    if shown:
        return _ratio(shown, _agreed(column, {one.denominator.name for one in shown}))
    left = _agreed(column)
    if left and words & lexicon("picked"):
        return Finding(None, OPEN, "each row may speak of another: it is that of one picked out")
    if len(left) == 1:
        (by,) = left
        if "." in by or by.startswith("sum of "):
            return Finding(None, OPEN, f"a mean over {by}, which is no column of this table")
        mean = Aggregation("mean", by=by, why=f"a ratio over {by}")
        return Finding(
            mean if named.kind == "share" else weighted(by), PROVED, _weighing(column, by)
        )
    unseen = {one.numerator.name: one for one in seen.unseen}
    if not left and len(unseen) == 1:
        return _share_of_whole(*unseen.values())
    if left:
        return Finding(None, OPEN, f"a mean with weights from one of {_listed(sorted(left))}")
    return Finding(None, OPEN, "the counts that it is made of are not in the response")


def _ratio(shown: list[Ratio], agreed: set[str]) -> Rule:
    """The ratio of two columns; of several that fit, the one that the other evidence leaves."""
    own = [one for one in shown if one.numerator and one.numerator.own and one.denominator.own]
    names = {(one.numerator and one.numerator.name, one.denominator.name) for one in shown}
    left = own if len(names) == 1 else [one for one in own if {one.denominator.name} == agreed]
    if len(left) == 1 and left[0].numerator:
        over = left[0].numerator.name, left[0].denominator.name
        rival = "no other pair of counts" if len(names) == 1 else "the engines pool by it"
        reason = f"{left[0]} on {left[0].rows} rows, {rival}"
        return Finding(ratio(*over), PROVED, reason)
    # Several totals of the same rows: whichever it is, the parts are divided anew.
    if len(names) == 1 or (len({name for name, _ in names}) == 1 and not own):
        return _share_of_whole(shown[0])
    return Finding(None, OPEN, f"one of {_listed(map(str, shown))}")


def _share_of_whole(one: Ratio) -> Rule:
    """A rule that refuses a ratio over a total that is no column, with what to do instead."""
    if one.numerator is None or not one.numerator.own:
        return Finding(None, OPEN, f"{one}, which are no columns of this table")
    above = one.numerator.name
    why = f"ratio of {above} over {one.denominator.name}: add {above} and divide by that anew"
    return Finding(refused(why), PROVED, f"{one} on {one.rows} rows")


def _agreed(column: ColumnFinding, *kinds: set[str]) -> set[str]:
    """The denominators that all kinds of evidence leave possible."""
    wholes = {one.denominator.name for one in column.seen.wholes}
    left = [*kinds, *filter(None, (wholes, {*column.seen.weights}))]
    return set.intersection(*left) if left else set()


def _weighing(column: ColumnFinding, by: str) -> str:
    reasons = [
        f"a whole number over {by} on {one.rows} rows"
        for one in column.seen.wholes
        if one.denominator.name == by
    ]
    if by in column.seen.weights:
        rows = column.seen.weights[by]
        reasons.append(f"the engines pool to the whole by {by} on {rows} rows")
    return "; ".join(reasons)


def _tested(column: ColumnFinding, words: str) -> str:
    return f"{words} over engine on {column.seen.verdict.rows} rows"


def _listed(names: object) -> str:
    listed = list(dict.fromkeys(map(str, names)))  # type: ignore[call-overload]
    return ", ".join(listed[:4]) + (" …" if len(listed) > 4 else "")
