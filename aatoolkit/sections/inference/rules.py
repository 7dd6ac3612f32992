"""Find the aggregation rule of columns, applied only where evidence proves it."""

from __future__ import annotations

from collections.abc import Iterable

from aatoolkit._util.lexicon import words as lexicon
from aatoolkit.sections import MAX, MIN, NONE, Aggregation, ratio, refused, weighted
from aatoolkit.sections.inference.evidence import Ratio
from aatoolkit.sections.inference.relations import LIKELY, OPEN, PROVED, ColumnFinding, Finding
from aatoolkit.sections.inference.words import METRICS, VALUES, tokens

Rule = Finding[Aggregation]

_OVERLAP = refused("distinct things: the parts overlap")
_POOLED = ("share", "position", "score", "milliseconds", "seconds")


def settle_rule(column: ColumnFinding) -> None:
    """Find how rows of a column combine, unless its unit has settled that."""
    words = {*tokens(column.name)}
    if column.is_key or column.label or column.rule.value is not None:
        return
    if column.reading.is_number:
        column.rule = _of_number(column, words)
    elif column.dtype in ("date", "timestamp"):
        moments = ((MIN, "earliest"), (MAX, "latest_word"))
        rule = next((rule for rule, concept in moments if words & lexicon(concept)), None)
        column.rule = Finding(rule, LIKELY, "name") if rule else Finding(NONE, PROVED)


def _of_number(column: ColumnFinding, words: set[str]) -> Rule:
    named, seen = column.meaning, column.seen
    kind = "share" if seen.siblings else named.kind
    tested = f"over engine on {seen.tested} rows"
    is_mixed = {*tokens(column.name)} <= VALUES and any(
        METRICS & {*tokens(name)} for name in column.relation.key
    )
    refusals = (
        ("rows are different measures: choose one metric", is_mixed),
        ("medians do not combine", words & lexicon("median")),
        (f"a {kind} of rows does not combine", kind in ("rank", "probability", "id", "status")),
        ("a change is taken anew from the sums", kind == "change"),
    )
    for why, fits in refusals:
        if fits:
            return Finding(refused(why), LIKELY, "name")
    pooled = _pooled(column, kind == "share", words)
    if kind in _POOLED or named.mean:
        return pooled
    if seen.outcome == "distinct" and seen.tested >= 2 and not seen.sums:
        return Finding(_OVERLAP, PROVED, f"less than the sum of the parts {tested}")
    if words & lexicon("distinct"):
        return Finding(_OVERLAP, LIKELY, "name")
    if seen.adds:
        total = Aggregation("sum", within=_currency(column), across=_across(column))
        reasons = [f"adds up {tested}"] if seen.outcome == "adds" else []
        return Finding(total, PROVED, "; ".join(dict.fromkeys([*reasons, *seen.sums])))
    if pooled.value is not None:
        return pooled
    if words & lexicon("quota"):
        return Finding(refused("a limit"), LIKELY, "name")
    reason = f"{seen.outcome} {tested}" if seen.outcome else ""
    return Finding(None, OPEN, reason or "nothing shows whether its rows add up")


def _across(column: ColumnFinding) -> tuple[str, ...]:
    """The dimensions that a sum is limited to; empty where it holds over all rows."""
    key, engines = column.relation.key, {"engine"} if column.seen.outcome == "adds" else set()
    proved = column.seen.across | engines
    if {*key} <= proved:
        return ()
    return (*sorted(engines - {*key}), *(name for name in key if name in proved))


def _currency(column: ColumnFinding) -> str | None:
    """The column that holds the currency of an amount: beside it, or from its signs."""
    if column.unit.value != "currency":
        return None
    beside = column.source.rpartition(".")[0]
    names = (
        other.name
        for other in column.relation.columns
        if "currency" in tokens(other.name)
        and (other.source == column.source or other.source.rpartition(".")[0] == beside)
    )
    return next(names, None)


def _pooled(column: ColumnFinding, is_share: bool, words: set[str]) -> Rule:
    """The ratio or weighted mean that the evidence leaves, if it leaves exactly one."""
    seen = column.seen
    shown = [one for one in seen.ratios if one.numerator is not None]
    if shown:
        return _ratio(shown, _agreed(column, {one.denominator.name for one in shown}))
    left = _agreed(column)
    if left and words & lexicon("picked"):
        return Finding(None, OPEN, "each row may speak of another: it is that of one picked out")
    if not left:
        return Finding(None, OPEN, "the counts that it is made of are not in the response")
    if len(left) > 1:
        return Finding(None, OPEN, f"a mean with weights from one of {_listed(sorted(left))}")
    (by,) = left
    if "." in by or by.startswith("sum of "):
        return Finding(None, OPEN, f"a mean over {by}, which is no column of this table")
    reasons = [
        *(f"a whole number over {by} on {w.rows} rows" for w in seen.wholes
          if w.denominator.name == by),
        *(f"the engines pool to the whole by {by} on {rows} rows"
          for name, rows in seen.weights.items() if name == by),
    ]  # fmt: skip
    mean = Aggregation("mean", by=by, why=f"a ratio over {by}") if is_share else weighted(by)
    return Finding(mean, PROVED, "; ".join(reasons))


def _ratio(shown: list[Ratio], agreed: set[str]) -> Rule:
    """The ratio of two columns; of several that fit, the one that the other evidence leaves."""
    own = [one for one in shown if one.numerator and one.numerator.own and one.denominator.own]
    names = {(one.numerator and one.numerator.name, one.denominator.name) for one in shown}
    left = own if len(names) == 1 else [one for one in own if {one.denominator.name} == agreed]
    first = shown[0]
    if len(left) == 1 and left[0].numerator:
        over = left[0].numerator.name, left[0].denominator.name
        rival = "no other pair of counts" if len(names) == 1 else "the engines pool by it"
        return Finding(ratio(*over), PROVED, f"{left[0]} on {left[0].rows} rows, {rival}")
    # Several totals of the same rows: whichever it is, the parts are divided anew.
    is_of_total = len({name for name, _ in names}) == 1 and (len(names) == 1 or not own)
    if is_of_total and first.numerator and first.numerator.own:
        above, below = first.numerator.name, first.denominator.name
        why = f"ratio of {above} over {below}: add {above} and divide by that anew"
        return Finding(refused(why), PROVED, f"{first} on {first.rows} rows")
    return Finding(None, OPEN, f"one of {_listed(map(str, shown))}, not all columns of this table")


def _agreed(column: ColumnFinding, *kinds: set[str]) -> set[str]:
    """The denominators that all kinds of evidence leave possible."""
    wholes = {one.denominator.name for one in column.seen.wholes}
    left = [*kinds, *filter(None, (wholes, {*column.seen.weights}))]
    return set.intersection(*left) if left else set()


def _listed(names: Iterable[str]) -> str:
    listed = list(dict.fromkeys(names))
    return ", ".join(listed[:4]) + (" …" if len(listed) > 4 else "")
