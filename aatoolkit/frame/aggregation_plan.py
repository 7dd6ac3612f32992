"""Plans of aggregation: the rule that each column of a frame follows, or the reason for none."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit import sections
from aatoolkit.errors import AAToolkitWarning, AvailabilityError
from aatoolkit.frame.cell_status import Codes, Mask, is_status_column
from aatoolkit.frame.duplicates import Duplicates, Refused, check_repeats, why_no_rule
from aatoolkit.frame.groupby import Groups, as_floats, find
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, tables_of
from aatoolkit.sections.aggregation import FRACTION, ISO_4217, Aggregation

Rules = Mapping[str, Aggregation | str]

_PLAIN = ("sum", "mean", "min", "max", "first", "last", "count")
_OF_NUMBERS = ("sum", "mean", "ratio")
_COUNTED_ONCE = (*_OF_NUMBERS, "count")
_OF_THE_ROWS_THEMSELVES = ("first", "last", "mean")


@dataclass(frozen=True)
class Plan:
    """A column and its rule, in the names of the frame.

    Parameters
    ----------
    column : str
        The column.
    rule : Aggregation
        Its rule.
    of : str or None
        The declared column it is, where the rule is the declared one.
    trials : tuple of str
        Of a count, the denominators of which it is a numerator: of 0 trials it is nothing.
    repeats : array of bool, optional
        The rows that would count twice.
    caution : str, optional
        Why the result is approximate.
    wholes : Wholes, optional
        The denominators of a ratio over several answers.
    source : str, optional
        The column that it is computed from, where it is none of the frame.
    """

    column: str
    rule: Aggregation
    of: str | None
    trials: tuple[str, ...] = ()
    repeats: Mask | None = field(default=None, compare=False)
    caution: str | None = None
    wholes: Wholes | None = field(default=None, compare=False)
    source: str | None = None

    @property
    def described(self) -> str:
        """The column of the frame whose metadata it has."""
        return self.source or self.column

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns whose rows it is computed from."""
        if self.rule.over:
            return self.rule.over
        return (self.column, self.rule.by) if self.rule.by else (self.described,)


def plan(
    frame: pd.DataFrame,
    metadata: FrameMetadata,
    groups: Groups,
    columns: str | Iterable[str] | None,
    rules: Rules,
    *,
    shares: bool = False,
) -> list[Plan]:
    """The rule of each column asked for, or of each that has one.

    With ``shares`` also of rates and shares over several answers whose counts are there.

    Raises
    ------
    AvailabilityError
        If a column that was asked for has no rule, or cannot follow it here; if none has one.
    """
    wanted = [columns] if isinstance(columns, str) else list(columns or ())
    names = wanted or [
        name
        for name in frame.columns
        if isinstance(name, str)
        and name not in groups.keys.columns
        and not is_status_column(frame, name)
    ]
    find(frame, [*rules, *names])
    plans: list[Plan] = []
    refused: dict[str, str] = {}
    duplicates = Duplicates(frame, metadata, groups)
    for name in names:
        try:
            planned = _planned(frame, metadata, groups, name, rules, shares)
            plans.append(_once(planned, frame, metadata, groups, duplicates))
        except Refused as why:
            refused[name] = str(why)
    if not plans and not (wanted or rules):
        counted = _count_of_rows(frame, metadata)
        plans = [_once(counted, frame, metadata, groups, duplicates)] if counted else []
    asked = {name: why for name, why in refused.items() if name in (*wanted, *rules)}
    if asked or not plans:
        raise _cannot(asked or refused)
    # What has a rule and cannot follow it here is worth a warning.
    lost = [
        f"{name}: {why}"
        for name, why in refused.items()
        if (what := declared(metadata.columns[name])) and what.aggregate.rule not in ("none", "key")
    ]
    if lost:
        warnings.warn(f"left out: {'; '.join(lost)}", AAToolkitWarning, stacklevel=5)
    return plans


def _count_of_rows(frame: pd.DataFrame, metadata: FrameMetadata) -> Plan | None:
    """The count of the rows of a table that holds nothing to add up, such as ads."""
    tables = tables_of(metadata)
    if len(tables) != 1 or not metadata.key or not are_rows_of(metadata, tables[0]):
        return None
    of = [declared(metadata.columns[str(name)]) for name in frame.columns]
    if any(what is not None and what.aggregate.rule not in ("none", "key") for what in of):
        return None
    name = f"{tables[0].rpartition(':')[2].removesuffix('s')}_count"
    if name in frame.columns:
        return None
    return Plan(name, Aggregation("count"), None, source=metadata.key[0])


def are_rows_of(metadata: FrameMetadata, table: str) -> bool:
    """Whether the rows of a frame are those of a declared table, by its key."""
    grain = {f"{table}.{name}" for name in sections.table(table).key}
    return grain <= {metadata.columns[name].of for name in metadata.key}


def _once(
    planned: Plan,
    frame: pd.DataFrame,
    metadata: FrameMetadata,
    groups: Groups,
    duplicates: Duplicates,
) -> Plan:
    """Return the plan without rows that would count twice."""
    table, rule = metadata.columns[planned.described].table, planned.rule.rule
    if rule not in _COUNTED_ONCE:
        return planned
    if not table:
        if rule == "sum":
            check_repeats(frame, groups, planned.column)
        return planned
    return replace(planned, repeats=duplicates.of(table, planned.parts))


def _cannot(refused: Mapping[str, str]) -> AvailabilityError:
    alike: dict[str, list[str]] = {}
    for name, why in refused.items():
        alike.setdefault(why, []).append(name)
    reasons = "; ".join(f"{', '.join(names)}: {why}" for why, names in alike.items())
    return AvailabilityError(
        f"these columns cannot be aggregated: {reasons or 'there are none'}", columns=dict(refused)
    )


def _planned(
    frame: pd.DataFrame,
    metadata: FrameMetadata,
    groups: Groups,
    name: str,
    rules: Rules,
    shares: bool,
) -> Plan:
    if name in groups.keys.columns:
        raise Refused("the rows are grouped by it")
    share = _share(frame, metadata, groups, name) if shares and name not in rules else None
    if share is not None:
        return share
    if name in rules:
        planned = Plan(name, _given(rules[name]), None)
    else:
        planned = _approximate(frame, _of_one_kind(frame, _declared(frame, metadata, name)))
    rule = planned.rule
    if rule.rule in ("none", "key"):
        default = f"its rule does not make one row of several{_rule_to_give(frame, rule, name)}"
        raise Refused(rule.why or default)
    needed = [*planned.parts, *((rule.within,) if rule.within else ())]
    bare = [part.rpartition(".")[2] for part in needed if part not in frame.columns]
    if bare:
        changed = [name for name in bare if metadata.is_lost(name)]
        raise Refused(
            _overwritten(changed) if changed else f"its rule ({rule}) needs {', '.join(bare)}"
        )
    for part in planned.parts:
        _check_dtype(frame[part], part, rule)
    units = row_units(frame, metadata, name)
    if units is not None and (mixed := _mixed(frame, groups, name, units)):
        shown = ", ".join(sorted(mixed)[:3])
        raise Refused(f"a group mixes units ({shown}); choose one metric, or add it to by")
    if rule.within and rule.within not in groups.keys.columns:
        kinds = frame[rule.within].astype("string")
        what = declared(metadata.columns[rule.within])
        if what is not None and what.unit == ISO_4217:
            kinds = kinds.str.strip().str.upper()
        if _mixed(frame, groups, name, kinds):
            raise Refused(f"a group holds more than one {rule.within}; add {rule.within!r} to by")
    if rule.across and planned.of:
        _check_across(frame, metadata, groups, planned)
    return planned


def _mixed(frame: pd.DataFrame, groups: Groups, name: str, kinds: pd.Series) -> set[str]:
    """The kinds, such as currencies, of values of which a group holds several; none is another."""
    there = frame[name].notna().to_numpy(bool)
    kinds, ids = kinds[there], groups.ids[there]
    several = kinds.groupby(ids).nunique(dropna=False) > 1
    unnamed = kinds.isna().groupby(ids).sum() > 1
    return {*map(str, kinds)} if (several | unnamed).any() else set()


def _of_one_kind(frame: pd.DataFrame, planned: Plan) -> Plan:
    """Return the plan; rows of one metric alone combine though those of several do not."""
    rule = planned.rule
    if rule.rule != "none" or not {rule.within, *(rule.counts or ())} <= {*frame.columns}:
        return planned
    if frame[rule.within].nunique(dropna=False) != 1:
        return planned
    if rule.counts:
        value, above, below = (as_floats(frame[part]) for part in (planned.column, *rule.counts))
        if not np.allclose(value * below, above, rtol=1e-3, equal_nan=True):
            return planned  # a score of 0 to 100, say
        return replace(planned, rule=Aggregation("ratio", over=rule.counts, within=rule.within))
    return replace(planned, rule=Aggregation("mean", by=rule.otherwise, within=rule.within))


def _rule_to_give(frame: pd.DataFrame, rule: Aggregation, name: str) -> str:
    """How to aggregate a column nevertheless: to count a key, and to know more than is declared."""
    if rule.rule == "key":
        return f"; to count them: rules={{{name!r}: 'count'}}"
    if pd.api.types.is_integer_dtype(frame[name].dtype):
        return f"; if you know that they add up: rules={{{name!r}: 'sum'}}"
    if not pd.api.types.is_float_dtype(frame[name].dtype):
        return ""
    counts = [other for other, kind in frame.dtypes.items() if pd.api.types.is_integer_dtype(kind)]
    by = repr(counts[0]) if len(counts) == 1 else "COUNTS"
    joined = "" if counts else ", with the table of the counts joined by df.aa.merge"
    return f"; weighted by its counts: rules={{{name!r}: aa.sections.weighted({by})}}{joined}"


def _share(frame: pd.DataFrame, metadata: FrameMetadata, groups: Groups, name: str) -> Plan | None:
    """The plan of a rate or share over several answers; None where it is none, or not sure."""
    column = declared(metadata.columns[name])
    rule = column.aggregate if column is not None else None
    if rule is None or rule.counts is None or rule.rule not in ("sum", "none"):
        return None
    if len(metadata.sources) < 2 or name not in frame.columns:
        return None
    with suppress(AvailabilityError):
        counts = counts_of(metadata, name)
        wholes = wholes_of(frame, metadata, groups, name, counts or ())
        if counts is not None and wholes is not None:
            ratio = Aggregation("ratio", over=counts, why="each answer's whole counts once")
            return Plan(name, ratio, metadata.columns[name].of, wholes=wholes)
    return None


def _check_across(
    frame: pd.DataFrame, metadata: FrameMetadata, groups: Groups, planned: Plan
) -> None:
    """Refuse a sum over a part of the key in which it is not known to hold."""
    table, across = (planned.of or "").rpartition(".")[0], planned.rule.across
    names = {what.of: name for name, what in metadata.columns.items()}
    lost = []
    for part in sections.table(table).key:
        rows = pd.DataFrame({"group": groups.ids})
        if (name := names.get(f"{table}.{part}")) is not None and name in frame.columns:
            rows = rows.assign(part=frame[name].array).drop_duplicates()
        if part not in across and rows["group"].duplicated().any():
            lost.append(part)
    if lost:
        raise Refused(
            f"it adds over {', '.join(across)}, and nothing shows that it adds over "
            f"{', '.join(lost)}; if it does, say rules={{{planned.column!r}: 'sum'}}"
        )


def _approximate(frame: pd.DataFrame, planned: Plan) -> Plan:
    """Return the plan, or its approximation where the service does not report the counts."""
    why = _caution(frame, planned)
    if why is None:
        return planned
    warnings.warn(f"{planned.column} is {why}", AAToolkitWarning, stacklevel=6)
    return replace(planned, rule=Aggregation("mean", by=planned.rule.otherwise), caution=why)


def _caution(frame: pd.DataFrame, planned: Plan) -> str | None:
    """Return the reason why aggregating a column is approximate; None if it is exact."""
    rule = planned.rule
    counts = [part for part in planned.parts if part != planned.column]
    lacking = [part for part in counts if part not in frame.columns or frame[part].isna().all()]
    if not lacking or rule.otherwise not in frame.columns or frame[planned.column].isna().all():
        return None
    names = [part.rpartition(".")[2] for part in lacking]
    changed = [n for n in names if n not in lacking and n in frame.columns]
    if changed:
        raise Refused(_overwritten(changed))
    verb = "are" if len(names) > 1 else "is"
    return (
        f"approximate: weighted by {rule.otherwise}, as {' and '.join(names)} {verb} not reported"
    )


def _overwritten(names: Sequence[str]) -> str:
    was = "it was" if len(names) == 1 else "they were"
    return f"its rule needs {' and '.join(names)} as read, and {was} overwritten"


def caution(frame: pd.DataFrame, metadata: FrameMetadata, name: str) -> str | None:
    """Return the reason why aggregating a declared column is approximate; None if it is exact."""
    what = declared(metadata.columns[name])
    if metadata.columns[name].caution or what is None or not what.aggregate.otherwise:
        return metadata.columns[name].caution
    try:
        return _caution(frame, _declared(frame, metadata, name))
    except Refused as why:
        return str(why)


def counts_of(metadata: FrameMetadata, name: str) -> tuple[str, str] | None:
    """The columns with the numerator and denominator of a rate that is aggregated otherwise.

    Raises
    ------
    AvailabilityError
        If they are declared, and are not in the frame.
    """
    column = declared(metadata.columns[name])
    if column is None or column.aggregate.counts is None:
        return None
    table = metadata.columns[name].table
    names = {what.of: here for here, what in metadata.columns.items()}
    missing = [part for part in column.aggregate.counts if f"{table}.{part}" not in names]
    if missing:
        why = f"needs {', '.join(missing)}"
        raise AvailabilityError(f"{name} has no interval: it {why}", columns={name: why})
    above, below = column.aggregate.counts
    return names[f"{table}.{above}"], names[f"{table}.{below}"]


def _given(rule: Aggregation | str) -> Aggregation:
    if isinstance(rule, Aggregation):
        return rule
    if rule not in _PLAIN:
        raise Refused(f"{rule!r} is no rule; use one of {', '.join(_PLAIN)}")
    return Aggregation(rule)


def _declared(frame: pd.DataFrame, metadata: FrameMetadata, name: str) -> Plan:
    """Resolve the declared rule to the frame's columns, by what they are, not by their names."""
    column = declared(metadata.columns[name])
    of = metadata.columns[name].of
    if column is None or of is None:
        raise Refused(why_no_rule(frame, metadata, name))
    table, rule = of.partition(".")[0], column.aggregate
    if rule.rule == "sum" and column.unit == FRACTION and len(metadata.sources) > 1:
        raise Refused(rule.why or "shares of different wholes do not add")
    themselves = rule.rule in _OF_THE_ROWS_THEMSELVES and not rule.by
    if themselves and not are_rows_of(metadata, table):
        raise Refused(f"the {rule.rule} of rows that are no longer those of {table}")
    names: dict[str, list[str]] = {}
    for there, what in metadata.columns.items():
        if what.of and what.of.startswith(f"{table}."):
            names.setdefault(what.of.partition(".")[2], []).append(there)

    def here(part: str | None) -> str | None:
        if part is None:
            return None
        there = names.get(part, [part if part not in metadata.columns else f"{table}.{part}"])
        if len(there) > 1:
            raise Refused(f"its rule needs one {part}, and there are {' and '.join(there)}")
        return there[0]

    parts: dict[str, Any] = {p: here(getattr(rule, p)) for p in ("by", "within", "otherwise")}
    for part in ("over", "counts"):
        pair = getattr(rule, part)
        parts[part] = tuple(map(here, pair)) if pair else None
    among = (str(here(rule.among[0])), *rule.among[1:]) if rule.among else ()
    resolved = replace(rule, among=among, **parts)
    return Plan(name, resolved, of, _trials(of, names) if rule.rule == "sum" else ())


def _trials(of: str, names: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The denominators, in the frame, of the ratios of which a column is the numerator."""
    table, _, name = of.partition(".")
    over = [column.aggregate.over for column in sections.table(table).columns]
    found = [names.get(pair[1], ()) for pair in over if pair and pair[0] == name]
    return tuple(dict.fromkeys(each[0] for each in found if len(each) == 1))


def _check_dtype(values: pd.Series, name: str, rule: Aggregation) -> None:
    kind = values.dtype
    number = pd.api.types.is_integer_dtype(kind) or pd.api.types.is_float_dtype(kind)
    if rule.rule in _OF_NUMBERS and not (
        number or pd.api.types.is_bool_dtype(kind) or values.isna().all()
    ):
        raise Refused(f"{name} holds {kind}, not numbers")
    if rule.rule in ("min", "max") and isinstance(kind, pd.CategoricalDtype) and not kind.ordered:
        raise Refused("its levels have no order")


def row_units(frame: pd.DataFrame, metadata: FrameMetadata, name: str) -> pd.Series | None:
    """The unit of a column in each row; None where it is the same in all rows.

    A metric without a known unit is a unit of its own, named by the metric.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> from aatoolkit.metadata.attrs import metadata_of
    >>> value = aa.Column("value", "Int64", unit="per `metric`", units={"ttfb": "milliseconds"})
    >>> columns = (aa.Column("metric", "string"), value)
    >>> table = aa.Table("t", "Metrics.", aa.sections.records("rows"), "metric", columns)
    >>> rows = [{"metric": "ttfb", "value": 58}, {"metric": "size", "value": 9}]
    >>> frame = aa.normalize(aa.Section("mine", "Mine.", table), {"rows": rows}).main
    >>> row_units(frame, metadata_of(frame), "value").tolist()
    ['milliseconds', 'size']
    """
    column = declared(metadata.columns[name]) if name in metadata.columns else None
    per = column.unit_by if column is not None and column.units else None
    if column is None or per is None or per not in frame.columns:
        return None
    words = frame[per].astype("string")
    return words.map(dict(column.units)).astype("string").fillna(words)


def common_unit(frame: pd.DataFrame, metadata: FrameMetadata, name: str) -> str | None:
    """The unit that all rows of a frame have, of a column with a unit for each metric."""
    units = row_units(frame, metadata, name)
    if units is None or units.isna().any() or units.nunique() != 1:
        return None
    return str(units.iloc[0])


_MOST_PAIRS = 1_000_000


@dataclass(frozen=True)
class Wholes:
    """The denominators of groups: one row of each answer that a group is a part of.

    Parameters
    ----------
    answers : array of int
        For each row of the frame, its answer.
    groups, rows : array of int
        Pairs of a group and the first row of an answer, whose whole is part of its denominator.
    lacking : array of int
        For each group how many responses have no row of it, of which it is not known that it is 0.
    total : array of int
        For each group how many answers there are.
    """

    answers: Codes
    groups: Codes
    rows: Codes
    lacking: Codes
    total: Codes

    def kept(self, used: Mask, ids: Codes) -> tuple[Codes, Codes]:
        """The pairs of group and row, without answers of which rows of the group are left out."""
        kinds = int(self.answers.max(initial=0)) + 1
        left_out = ids[~used] * kinds + self.answers[~used]
        keep = ~np.isin(self.groups * kinds + self.answers[self.rows], left_out)
        return self.groups[keep], self.rows[keep]

    def sums(
        self, values: npt.NDArray[np.float64], used: Mask, ids: Codes
    ) -> npt.NDArray[np.float64]:
        """The denominator of each group."""
        groups, rows = self.kept(used, ids)
        return np.bincount(groups, values[rows], minlength=len(self.lacking)).astype(np.float64)


def wholes_of(
    frame: pd.DataFrame, metadata: FrameMetadata, groups: Groups, name: str, counts: Sequence[str]
) -> Wholes | None:
    """Find the wholes of a rate or share over several answers; None if they are not sure.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows.
    known : FrameMetadata
        Their metadata.
    groups : Groups
        The groups that they become.
    name : str
        The column.
    counts : sequence of str
        Its numerator and denominator, in the names of the frame.
    """
    table = metadata.columns[name].table
    apart = [part for part in metadata.key if metadata.columns[part].table != table]
    apart += [part for part in CONTEXT if part in frame.columns and metadata.holds(part)]
    apart = [*dict.fromkeys(part for part in apart if part in frame.columns)]
    grouped = [part for part in groups.keys.columns if part in apart]
    if not apart or not {*grouped} <= groups.by_value:
        return None
    what = declared(metadata.columns[name])
    adds = what is not None and what.aggregate.rule == "sum"
    if not adds and not _has_one_key(frame, metadata, groups, table):
        return None
    answers = frame.groupby(apart, dropna=False, sort=False, observed=True).ngroup()
    codes: Codes = np.asarray(answers, np.int64)
    whole = pd.Series(as_floats(frame[counts[1]]))
    if (whole.groupby(codes).nunique(dropna=False) != 1).any():
        return None
    first = pd.Series(codes).drop_duplicates().index.to_numpy(np.int64)
    if len(groups) * len(first) > _MOST_PAIRS:
        return None
    place = groups.keys[grouped].assign(_group=np.arange(len(groups)))
    row = frame[grouped].iloc[first].assign(_row=first)
    pairs = place.merge(row, on=grouped) if grouped else place.merge(row, how="cross")
    group, rows = (pairs[part].to_numpy(np.int64) for part in ("_group", "_row"))
    kinds = len(first)
    has_row = np.isin(group * kinds + codes[rows], groups.ids * kinds + codes)
    is_sure = has_row | _are_all(frame, metadata, table, counts[0], codes)[codes[rows]]
    total = np.bincount(group, minlength=len(groups))
    lacking = np.bincount(group[~is_sure], minlength=len(groups))
    return Wholes(codes, group[is_sure], rows[is_sure], lacking, total)


def _has_one_key(frame: pd.DataFrame, metadata: FrameMetadata, groups: Groups, table: str) -> bool:
    """Whether each group is of one thing, such as one brand, so that its rows do not overlap."""
    names = {column.of: name for name, column in metadata.columns.items()}
    key = [names.get(f"{table}.{part}", "") for part in sections.table(table).key]
    if not key or not all(part in frame.columns and metadata.holds(part) for part in key):
        return False
    rows = frame[key].assign(_group=groups.ids).drop_duplicates()
    return not rows["_group"].duplicated().any()


def _are_all(
    frame: pd.DataFrame, metadata: FrameMetadata, table: str, count: str, codes: Codes
) -> Mask:
    """By answer whether its rows are all there are: their counts come to the whole of a share."""
    names = {column.of: name for name, column in metadata.columns.items()}
    sums = pd.Series(as_floats(frame[count])).groupby(codes).sum(min_count=1)
    found = np.zeros(len(sums), bool)
    for column in sections.table(table).columns:
        rule = column.aggregate
        if rule.rule != "sum" or rule.counts is None:
            continue
        parts = [names.get(f"{table}.{part}") for part in rule.counts]
        if parts[0] == count and parts[1] in frame.columns:
            wholes = pd.Series(as_floats(frame[parts[1]])).groupby(codes).first()
            found |= (sums == wholes).to_numpy(bool)
    return found
