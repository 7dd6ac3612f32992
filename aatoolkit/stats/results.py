"""Results of statistics: the declarations of their columns, and the frames that hold them.

Methods
-------
Rates and means of sampled prompts
    A rate or mean is a ratio estimator, with its linearised variance over prompts (Kish 1965). The
    interval of a rate is Wilson's on the effective sample size (Kott & Carr 1997; compared with
    others by Franco, Little, Louis & Slud 2019). Quantiles are those of Student's t, with degrees
    of freedom from the effective number of prompts.
Changes between two samples
    A change is the difference of two such estimates, within prompts if the samples share prompts.
    P-values are adjusted by Holm's or Benjamini and Hochberg's method. The detectable change is the
    one that the test finds with 80 % power (Bloom 1995; Miller 2024).
Effects of an action
    An effect is a difference in differences within prompts, which are the clusters (Bertrand, Duflo
    & Mullainathan 2004). It is checked by the trend before the action and by placebo days (Roth
    2022).
Change points
    The likelihood is binomial, Poisson or normal, and the segmentation is exact (Auger & Lawrence
    1989). The test shuffles blocks of days, with the long-run variance of the days (Newey & West
    1987).
Ranks
    Confidence sets come from simultaneous pairwise differences (Mogstad et al. 2024). A multiplier
    bootstrap over prompts gives the critical p-value. Each difference is tested at this p-value
    by Student's t.
Overlaps
    The Jaccard index of answers of two engines is compared with that of answers of one engine. The
    test is Student's t over prompts.
Decomposition
    A change is split into parts by the method of Kitagawa 1955.
Concentration
    The indices are those of Simpson 1949 and Hill 1973.
Agreement
    The intra-class correlation is estimated by analysis of variance (Ridout et al. 1999), its error
    by the jackknife.
Association
    The odds ratio is that of Mantel & Haenszel 1959, with the variance of Robins, Breslow &
    Greenland 1986.

Assumptions
-----------
Prompts are independent of each other: paraphrases of one question count as one prompt. The prompts
put to the engines are like the prompts that matter; nothing corrects for how they were chosen. Both
samples of a comparison were made in the same way. If a function assumes more, such as independent
answers, its ``method`` column and its documentation say so. The documentation also says when not to
use it.

Checks
------
These results are compared with statsmodels and SciPy, to 1e-9: clustered variances of rates, means
and changes, paired and unpaired; Wilson's and Newcombe's intervals; adjusted p-values; the
fixed-effects regression of effects and trends; means over prompts and their paired test; Student's
t; the Mantel-Haenszel ratio. For the others, simulations check the coverage of intervals and rank
sets, and the false alarms and power of comparisons, effects and change points. They simulate
processes that fit the assumptions, and some that do not.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.defaults import LEVEL
from aatoolkit._util.show import CellMarks, DisplayOptions, format_row_numbers, show_as
from aatoolkit._util.text import visible
from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.errors import AvailabilityError
from aatoolkit.metadata.attrs import NO_METADATA, ColumnMetadata, FrameMetadata, attach
from aatoolkit.sections.aggregation import COUNT, FRACTION, PROBABILITY, RANK, REQUESTS, refused
from aatoolkit.sections.column import Column
from aatoolkit.sections.registry import register_table
from aatoolkit.sections.section import Table, records
from aatoolkit.stats.trace import untrace_columns

MEASURED_AVAILABILITY = Availability(Status.AVAILABLE)  # of a column that was measured
CHANGE_WORDS = UP, DOWN = "up", "down"
NO_EVIDENCE = "no evidence"
CANNOT_SAY = "cannot say"
"""The words of verdicts: a change was shown, none was shown, and no test was possible."""

FUNNEL_STAGES: dict[str, Any] = json.loads(Path(__file__).with_name("stages.json").read_bytes())
"""The stages of the funnel, in order. For each, the unit and meaning of its column (without a
meaning it has no column), its noun in texts, and by section the names of columns that count it.
"""

_UNIT_BY_ALIAS = {
    "fraction": FRACTION,
    "points": "absolute pp as fraction",
    "count": COUNT,
    "rank": RANK,
    "p": PROBABILITY,
    "requests": REQUESTS,
    "refer": "requests a visit",
}
"""The unit for each word in the tables below; any other word is the unit, and ``-`` is none."""

_COLUMN_DECLARATIONS = """
interval
    {x}                  Float64 {unit}      {doc} Over all rows of the group.
    {x}_low              Float64 {unit}      Lower end of its {level} interval.
    {x}_high             Float64 {unit}      Upper end of its {level} interval.
    {x}_n                Float64 count       Sample size: the denominator of the rate or mean.
    {x}_deff             Float64 ratio       Design effect: its variance, over that of as many independent answers.
    {x}_clusters         Int64   count       Different values of {cluster}.
    {x}_method           string  -           How the interval was computed.
    {x}_verdict          string  -           The interval in words, or why there is none.
compare
    measure              string  -           What is compared.
    {kind}               string  -           The {kind} that is compared.
    baseline_{kind}      string  -           The {kind} that it is compared with.
    {baseline}           Float64 {unit}      Its value in {before_name}, over the rows that are compared.
    {side}               Float64 {unit}      Its value in {now_name}, over the rows that are compared.
    change               Float64 {change}    {less}
    low                  Float64 {change}    Lower end of the {level} interval of the change, for this row alone.
    high                 Float64 {change}    Upper end of the {level} interval of the change, for this row alone.
    p                    Float64 p           Two-sided p-value of no change, for this row alone.
    p_adjusted           Float64 p           The p-value, adjusted by {how} over all rows.
    {n_baseline}         Float64 count       Sample size of {before_name}.
    n                    Float64 count       Sample size of {now_name}.
    clusters             Int64   count       Prompts, or other clusters, that are compared.
    detectable           Float64 {change}    The smallest change that such a sample shows in 80% of cases; missing where no possible one would.
    unit                 string  -           The unit of the values.
    verdict              string  -           One of {up}, {down}, {no_evidence}, {cannot_say}.
    why                  string  -           What the verdict rests on, or why there is none.
    method               string  -           How the interval and the p-value were computed.
    family               string  -           Which tests its p-value is adjusted over: itself, if it was planned.
decompose
    part                 string  -           The part of the change.
    effect               Float64 {change}    Its contribution to the change of {column}; the parts add up to the total.
    low                  Float64 {change}    Lower end of its {level} interval, for these {by}.
    high                 Float64 {change}    Upper end of its {level} interval, for these {by}.
    p                    Float64 p           Two-sided p-value of no effect.
    n                    Float64 count       Sample sizes of both sides together.
    clusters             Int64   count       Different values of {by} in the part.
    verdict              string  -           The verdict on the rate; the other parts are bookkeeping, without error.
    why                  string  -           The part in words.
    method               string  -           How it was computed.
changes
    day                  date    -           The first day of the new level.
    first_day            date    -           The earliest day of its {level} interval.
    last_day             date    -           The latest day of its {level} interval.
    before               Float64 {unit}      {average} from the change before, or the beginning.
    after                Float64 {unit}      {average} until the next change, or the end.
    change               Float64 {change}    The value after minus the one before.
    p                    Float64 p           P-value of no change in the whole series, by shuffling.
    n                    Float64 count       {what} on both sides.
    clusters             Int64   count       Days with answers; days without are no part of it.
    from_day             date    -           The first day with the level before.
    to_day               date    -           The last day with the level after.
    verdict              string  -           {up}, {down}, {no_evidence}, or {cannot_say}.
    why                  string  -           The verdict in words.
    method               string  -           How the days were found.
effect
    kind                 string  -           The effect, or a check with the days before alone.
    on                   date    -           The first day after.
    treated_before       Float64 {unit}      {column} of the treated {by} before, weighted as the effect.
    treated_after        Float64 {unit}      The same after.
    control_before       Float64 {unit}      {column} of the control {by} before, weighted as the effect.
    control_after        Float64 {unit}      The same after.
    change               Float64 {change}    The change of the treated less that of the control.
    low                  Float64 {change}    Lower end of its {level} interval, clustered by {by}.
    high                 Float64 {change}    Upper end of its {level} interval, clustered by {by}.
    p                    Float64 p           Two-sided p-value of no difference.
    p_adjusted           Float64 p           The p-value of a check, adjusted by Holm's method.
    detectable           Float64 {change}    The smallest change that such a sample shows in 80% of cases; of a check after Holm's adjustment.
    n                    Float64 count       Answers to the prompts that it uses.
    clusters             Int64   count       {by} of the smaller group that it uses.
    verdict              string  -           {up}, {down}, {no_evidence} or {cannot_say}; of a check whether it differs.
    why                  string  -           What the verdict rests on, or why there is none.
    method               string  -           How it was computed.
rank
    value                Float64 {unit}      {column} of the member.
    rank                 Int64   rank        Its rank in this sample; lower is better.
    rank_low             Int64   rank        The best rank of the simultaneous {level} confidence set.
    rank_high            Int64   rank        The worst rank of the simultaneous {level} confidence set.
    n                    Float64 count       Its count, or its sample size.
    clusters             Int64   count       Different values of {cluster}.
    verdict              string  -           The ranks in words.
    method               string  -           How they were computed.
concentration
    hhi                  Float64 fraction    Herfindahl index: the sum of squared shares, unbiased.
    hhi_low              Float64 fraction    Lower end of the {level} interval of hhi.
    hhi_high             Float64 fraction    Upper end of the {level} interval of hhi.
    effective            Float64 count       Effective number: 1 over the index, the number of equal members with this index.
    effective_low        Float64 count       Lower end of the {level} interval of effective.
    effective_high       Float64 count       Upper end of the {level} interval of effective.
    top_share            Float64 fraction    Share of the largest {top}.
    top_share_low        Float64 fraction    Lower end of the {level} interval of top_share.
    top_share_high       Float64 fraction    Upper end of the {level} interval of top_share.
    n                    Int64   count       {column} in all.
    members              Int64   count       Different members with a count.
    verdict              string  -           The effective number in words, or why there is none.
    method               string  -           How it was computed.
overlap
    {between}            string  -           One {between}.
    other_{between}      string  -           The {between} that it is compared with.
    jaccard              Float64 fraction    Mean Jaccard index of an answer of one and an answer of the other, or of their lists.
    jaccard_low          Float64 fraction    Lower end of its {level} interval, over {by}.
    jaccard_high         Float64 fraction    Upper end of its {level} interval, over {by}.
    ceiling              Float64 fraction    The same between two answers of one {between}, mean of both, if both have repeats.
    gap                  Float64 points      The index minus its ceiling, if both have repeats.
    gap_low              Float64 points      Lower end of its {level} interval.
    gap_high             Float64 points      Upper end of its {level} interval.
    p                    Float64 p           Two-sided p-value of no gap.
    p_adjusted           Float64 p           The p-value, adjusted by Holm's method over all rows.
    detectable           Float64 points      The smallest gap that such a sample shows in 80% of cases.
    n                    Int64   count       Answers that are compared.
    clusters             Int64   count       Different values of {by} that both have answers to.
    verdict              string  -           less alike or more alike than repeats, {no_evidence}, or {cannot_say}.
    why                  string  -           What the verdict rests on, or why there is none.
    method               string  -           How it was computed.
stability
    agreement            Float64 fraction    Pairs of repeats with the same outcome, mean over combinations.
    agreement_low        Float64 fraction    Lower end of its {level} interval, over {by}.
    agreement_high       Float64 fraction    Upper end of its {level} interval, over {by}.
    icc                  Float64 correlation Intra-class correlation, by analysis of variance.
    icc_low              Float64 correlation Lower end of its {level} jackknife interval.
    icc_high             Float64 correlation Upper end of its {level} jackknife interval.
    n                    Float64 count       Answers to combinations that were asked twice or more.
    cells                Int64   count       Combinations that were asked twice or more.
    clusters             Int64   count       Different values of {by} among them.
    verdict              string  -           The agreement in words, or why there is none.
    method               string  -           How it was computed.
samples
    runs                 Int64   count       Runs of each prompt.
    prompts              Int64   count       The fewest prompts that reach the margin.
    answers              Int64   count       Prompts × runs.
    deff                 Float64 ratio       Design effect, 1 + (runs-1)·icc.
    margin               Float64 fraction    The half width that they give.
    verdict              string  -           The row in words.
cited_and_mentioned
    both                 Int64   count       Answers: both.
    cited_only           Int64   count       Answers: cited only.
    mentioned_only       Int64   count       Answers: mentioned only.
    neither              Int64   count       Answers: neither.
    mentioned_if_cited   Float64 fraction    Rate of answers that are mentioned if cited.
    mentioned_if_not     Float64 fraction    Rate of answers that are mentioned if not.
    cited_if_mentioned   Float64 fraction    Rate of answers that are cited if mentioned.
    cited_if_not         Float64 fraction    Rate of answers that are cited if not.
    odds_ratio           Float64 ratio       Odds of a mention with own citations over those without, within prompts.
    low                  Float64 ratio       Lower end of its {level} interval.
    high                 Float64 ratio       Upper end of its {level} interval.
    p                    Float64 p           Two-sided p-value of no association.
    n                    Int64   count       Answers.
    clusters             Int64   count       Prompts with answers of both kinds, the only ones that are compared.
    verdict              string  -           Whether answers that cite own pages mention the brand more often.
    why                  string  -           The verdict in words.
    method               string  -           How it was computed.
funnel
    path                 string  -           The path of the page, normalised.
    crawl_to_refer       Float64 refer       Requests of crawlers for each visit from engines.
    conversion_rate      Float64 fraction    {of_visits}
    conversion_rate_low  Float64 fraction    Lower end of its {level} Wilson interval; takes visits for independent.
    conversion_rate_high Float64 fraction    Upper end of its {level} Wilson interval; takes visits for independent.
    n                    Int64   count       Visits that the conversion rate is of.
    verdict              string  -           Which stages were not measured, and why.
    method               string  -           How the stages were joined.
"""  # noqa: E501
"""The columns of each result, a line each: name, dtype, unit and meaning.

``{x}`` stands for the measure, ``{unit}`` for its unit, ``{change}`` for the unit of its change.
The columns of the stages of a funnel come from `FUNNEL_STAGES`.
"""


# By name of a statistic, a list for each column of its result: name, dtype, unit and meaning.
RESULT_COLUMNS_BY_STATISTIC = {
    block.partition("\n")[0]: [line.split(None, 3) for line in block.splitlines()[1:]]
    for block in re.split(r"\n(?! )", _COLUMN_DECLARATIONS.strip())
}
RESULT_COLUMNS_BY_STATISTIC["funnel"][1:1] = [
    [stage, "Int64", fields["unit"], fields["doc"]]
    for stage, fields in FUNNEL_STAGES.items()
    if "doc" in fields
]


def make_result(
    statistic_name: str,
    result_data: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    input_metadata: Sequence[FrameMetadata] = (),
    input_availability: Availability = MEASURED_AVAILABILITY,
    *,
    key_columns: Sequence[str] = (),
    unit: str | None = None,
    level: float = LEVEL,
    availability_by_column: Mapping[str, Availability] | None = None,
    row_order: Any = None,
    **placeholders: Any,
) -> pd.DataFrame:
    """Return the result of a statistic as a frame whose columns have units and meanings.

    ``statistic_name`` is the name of the statistic, whose columns `RESULT_COLUMNS_BY_STATISTIC`
    declares. ``result_data`` is a dict of columns, or a list of rows as dicts.
    ``input_metadata`` has the metadata of the input frames. ``input_availability`` says whether
    these were measured, and ``availability_by_column`` says so for single columns of the result.
    ``key_columns`` identify a row of the result, and ``unit`` is the unit of its values.
    ``row_order`` has the positions of the rows in the order of the result. ``placeholders`` fill
    those in the declarations.
    """
    unit_of_change = _UNIT_BY_ALIAS["points"] if unit == FRACTION else unit
    placeholders |= {"unit": unit or "-", "change": unit_of_change or "-", "level": f"{level:.0%}"}
    placeholders |= {"up": UP, "down": DOWN, "no_evidence": NO_EVIDENCE, "cannot_say": CANNOT_SAY}
    fields_by_column = {
        name.format(**placeholders): declaration_fields
        for name, *declaration_fields in RESULT_COLUMNS_BY_STATISTIC[statistic_name]
    }
    if not isinstance(result_data, Mapping):
        column_names = (
            dict.fromkeys(name for row in result_data for name in row) or fields_by_column
        )
        result_data = {
            name: [row.get(name, math.nan) for row in result_data] for name in column_names
        }
    result_data = untrace_columns(result_data, row_order)
    is_list_like = pd.api.types.is_list_like  # rather than one cell
    row_count = next((len(cells) for cells in result_data.values() if is_list_like(cells)), 1)
    none_rule = refused(
        "a result of statistics: compute it anew, from the table that it was computed from"
    )
    series_by_column = {}
    column_declarations = []
    for name in dict.fromkeys((*key_columns, *fields_by_column)):
        if name not in result_data:
            continue
        cells = (
            result_data[name]
            if is_list_like(result_data[name])
            else [result_data[name]] * row_count
        )
        if name not in fields_by_column:
            if isinstance(cells, list):
                is_text = all(isinstance(cell, str) or cell is None for cell in cells)
                cells = pd.Series(cells, dtype=object)
                cells = cells.astype("string") if is_text else cells.infer_objects()
            series_by_column[name] = cells
            continue
        dtype, unit_template, doc_template = fields_by_column[name]
        series_by_column[name] = to_column(cells, dtype)
        column_unit = unit_template.format(**placeholders)
        column_unit = None if column_unit == "-" else _UNIT_BY_ALIAS.get(column_unit, column_unit)
        column_declarations.append(
            Column(
                name,
                dtype,
                doc_template.format(**placeholders),
                unit=column_unit,
                aggregate=none_rule,
            )
        )
    columns_hash = hashlib.sha256(repr(column_declarations).encode()).hexdigest()[:8]
    table_name = f"statistics:{statistic_name}_{columns_hash}"
    register_table(
        table_name,
        Table(
            table_name,
            f"Results of {statistic_name}.",
            records("rows"),
            (),
            tuple(column_declarations),
        ),
    )
    result_frame = pd.DataFrame(series_by_column)
    if row_order is not None:
        result_frame = result_frame.take(row_order).reset_index(drop=True)
    result_frame = show_as(result_frame, display_options_of(result_frame))
    metadata_by_column = (
        {name: input_metadata[0].columns.get(name, NO_METADATA) for name in series_by_column}
        if input_metadata
        else {}
    )
    for column in column_declarations:
        column_availability = (availability_by_column or {}).get(column.name, input_availability)
        missing_cause = Cause.NO_ROW if availability_by_column else Cause.INSUFFICIENT_SAMPLE
        availability = _result_availability(
            result_frame[column.name], column_availability, missing_cause
        )
        metadata_by_column[column.name] = ColumnMetadata(
            f"{table_name}.{column.name}", availability
        )
    sources = dict.fromkeys(source for metadata in input_metadata for source in metadata.sources)
    return attach(
        result_frame, FrameMetadata(metadata_by_column, tuple(key_columns), tuple(sources))
    )


_DETAIL_COLUMNS = (
    "method",
    "why",
    "unit",
    "p",
    "n_before",
    "n_baseline",
    "clusters",
    "detectable",
    "deff",
)
"""The columns about how a result was computed, which are shown only if there is room."""

_SHOWN_NOTE_PATTERN = "(the set of [^;]*|no change of any size[^;]*)"
"""A regular expression for a sentence of ``why`` that a reader of the result needs."""
_MAX_REASONS = 4
"""The maximum number of reasons that are listed below the table of a result."""


def display_options_of(frame: pd.DataFrame) -> DisplayOptions:
    """Return how to print a result: which columns come first or last, and the remarks below."""
    column_names = [*map(str, frame.columns)]
    detail_suffixes = tuple(f"_{name}" for name in (*_DETAIL_COLUMNS, "n"))
    verdict_column_names = [name for name in column_names if f"_{name}".endswith("_verdict")]
    verdict_column = verdict_column_names[0] if len(verdict_column_names) == 1 else ""
    first_column_names = ("change",) if "change" in column_names and verdict_column else ()
    return DisplayOptions(
        tuple(
            name
            for name in column_names
            if name in _DETAIL_COLUMNS or name.endswith(detail_suffixes)
        ),
        verdict_column,
        first_column_names,
        _marks_and_remarks,
    )


def _marks_and_remarks(
    frame: pd.DataFrame, shown_columns: Collection[str]
) -> tuple[CellMarks, list[str]]:
    """Return the remarks to print below a result, which say why it says "cannot say".

    They come with an empty dict, as no number of a result gets an asterisk.
    """
    remarks = []
    if {"verdict", "why"} <= {*frame} and "why" not in shown_columns:
        is_undecided = equal_text_mask(frame["verdict"], CANNOT_SAY)
        reasons = [*frame["why"][is_undecided].value_counts().index]
        for reason in reasons[:_MAX_REASONS]:
            rows_text = format_row_numbers(
                frame.index, is_undecided & equal_text_mask(frame["why"], reason)
            )
            remarks.append(
                f"{CANNOT_SAY}{f' ({rows_text})' * (len(reasons) > 1)}: {visible(str(reason))}"
            )
        if len(reasons) > _MAX_REASONS:
            remarks.append(f"{CANNOT_SAY}: {len(reasons) - _MAX_REASONS} more reasons, in .why")
        shown_notes = frame["why"][~is_undecided].str.extract(_SHOWN_NOTE_PATTERN)[0].dropna()
        remarks += map(visible, shown_notes.unique()[:_MAX_REASONS])
    return {}, remarks


def equal_text_mask(values: pd.Series, text: str) -> np.ndarray:
    """Return a boolean mask of the values that equal ``text``."""
    return values.eq(text).fillna(False).to_numpy(bool)


def to_column(values: Iterable[Any], dtype: Any) -> pd.Series:
    """Convert values to a Series of ``dtype``; "date" stands for days without a time zone."""
    if dtype == "date":
        day_column = pd.Series(pd.to_datetime(list(values)))
        return day_column.dt.tz_localize(None).astype("datetime64[us]")
    if dtype == "string":
        return pd.Series(list(values), dtype="string")
    return pd.Series(pd.array(list(values), dtype="Float64")).astype(dtype)


def _result_availability(
    values: pd.Series, availability: Availability, missing_cause: Cause
) -> Availability:
    """Return the availability (a status with cause and reason) of a column of a result.

    ``availability`` is the availability of the input. If the input was measured but the result has
    missing values, the result has the cause ``missing_cause``.
    """
    has_value = values.notna()
    if not len(values) or has_value.all():
        return (
            availability
            if availability.status in (Status.AVAILABLE, Status.PARTIAL)
            else MEASURED_AVAILABILITY
        )
    status = Status.PARTIAL if has_value.any() else Status.UNAVAILABLE
    return Availability(
        status,
        availability.cause or missing_cause,
        availability.reason or "see the verdict of each row",
    )


def refusal_error(column: str, statistic_name: str, reason: str) -> AvailabilityError:
    """Create the error which says that a statistic, such as "interval", cannot use a column."""
    return AvailabilityError(
        f"{column} has no {statistic_name}: {reason}", columns={column: reason}
    )


def format_percent(value: Any) -> str:
    """Return a fraction as a percentage in text.

    Examples
    --------
    >>> format_percent(0.4579), format_percent(0.00021)
    ('45.8 %', '0.021 %')
    """
    digits = 1 if abs(value) >= 0.001 or value == 0 else 3
    return f"{100 * value:.{digits}f} %"


def format_amount(value: Any, is_fraction: bool) -> str:
    """Return a number as text: a fraction as a percentage, any other number with three digits."""
    return format_percent(value) if is_fraction else f"{value:.3g}"


def format_points(value: Any, is_fraction: bool) -> str:
    """Return a change as text with its sign, e.g. in percentage points.

    Examples
    --------
    >>> format_points(0.051, True), format_points(-0.2, False)
    ('+5.1 points', '-0.2')
    """
    return f"{100 * value:+.1f} points" if is_fraction else f"{value:+.3g}"
