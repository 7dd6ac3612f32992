"""Two statistics of AI answers: `answers` lists them, `cited_and_mentioned` relates two properties.

``aa.stats.answers`` returns one row per answer. ``aa.stats.cited_and_mentioned`` tests whether
answers that cite own pages mention the brand more often.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.defaults import LEVEL
from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.duplicates import response_scope
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, attach, metadata_of
from aatoolkit.scope import FILTERS
from aatoolkit.stats.estimate import NAN, check_level, verdict_of
from aatoolkit.stats.results import equal_text_mask, format_percent, make_result, refusal_error
from aatoolkit.stats.sums import host_columns, row_clusters
from aatoolkit.stats.trace import (
    confidence_quantile,
    count_of,
    name_traced_variables,
    record_statistic,
    take,
    total_of,
    trace_to_rows,
    two_sided,
    untrace,
)

_CITED_MENTIONED_KINDS = ("both", "cited_only", "mentioned_only", "neither")
"""The kinds of answers: they cite own pages and mention the brand, do one of these, or neither."""

# By rate: the kind of answers in its numerator, and the other kind in its denominator.
_ANSWER_KINDS_BY_RATE = {
    "mentioned_if_cited": ("both", "cited_only"),
    "mentioned_if_not": ("mentioned_only", "neither"),
    "cited_if_mentioned": ("both", "mentioned_only"),
    "cited_if_not": ("cited_only", "neither"),
}
_CHAT_COLUMNS = ("chat_id", "prompt_id", "engine", "ran_at")
_REQUIRED_COLUMNS_BY_TABLE = {
    "chats": (*_CHAT_COLUMNS, "outcome"),
    "chat_mentions": ("chat_id", "brand", "own", "position"),
    "chat_citations": ("chat_id", "domain_type"),
}
"""For each table of the section ``chats``, the columns that are needed."""


def answers(chats: Mapping[str, pd.DataFrame], brand: str | None = None) -> pd.DataFrame:
    """Return one row per answer: does it mention the brand, and does it cite an own page?

    An own page is a page of the project's own sites. Runs of a prompt that gave no answer are left
    out. The service limits the number of rows in ``chats``, so that a long window has only its
    latest answers: ``result["date"].min()`` is the first day with any. If the response states this
    limit, the availability of the columns is "partial", i.e. they were measured in part.

    Parameters
    ----------
    chats : Tables
        The section ``chats``.
    brand : str, optional
        The brand to look for. By default it is the brand of the filter ``brand=`` in the read call.
        Without this filter, any own brand of the project counts.

    Returns
    -------
    pandas.DataFrame
        ``chat_id``, ``prompt_id``, ``engine``, ``ran_at``, ``date``, ``mentioned``, ``brand`` (the
        brand looked for), ``position`` (where in the answer it is mentioned) and ``cited`` (whether
        an own page is cited; missing if the service does not say which sites are owned). If
        ``chats`` has a column ``host``, it comes first.

    Raises
    ------
    AvailabilityError
        If tables or columns are missing.
    AvailabilityError
        If no answer mentions the brand.
    AvailabilityError
        If ``brand`` is not given, and the answers were read with several filters ``brand=``.

    Notes
    -----
    To compare two brands in the same answers, make a frame for each: ``mine.aa.compare(theirs,
    "mentioned")`` pairs them by prompt.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> result = answers(aa.demo().read("chats"))
    >>> result["mentioned"].dtype.name
    'boolean'
    """
    missing_columns = [
        f"{table_name}.{column}"
        for table_name, required_columns in _REQUIRED_COLUMNS_BY_TABLE.items()
        for column in required_columns
        if column not in chats.get(table_name, ())
    ]
    if missing_columns:
        raise AvailabilityError(
            f"this takes the tables of the section chats; {', '.join(missing_columns)} are missing:"
            " give those of another service as a dict of frames, with tables and columns renamed",
            columns=dict.fromkeys(missing_columns, "no such column"),
        )
    if brand is None:
        response_scopes = map(response_scope, metadata_of(chats["chats"]).sources)
        brand_filter_values = {
            scope.filters[[*FILTERS].index("brand")] for scope in response_scopes
        }
        if len(brand_filter_values) > 1 or max(map(len, brand_filter_values), default=0) > 1:
            refusal_reason = (
                "the answers were read with several filters brand=, or some of them with none"
            )
            raise refusal_error("brand", "default", f"{refusal_reason}; name one by brand=")
        brand = next(
            (brand_name for brand_names in brand_filter_values for brand_name in brand_names), None
        )
    return answers_from_tables(
        chats["chats"], chats["chat_mentions"], chats["chat_citations"], brand
    )


@record_statistic("answers", "chats", "mentions", "citations")
def answers_from_tables(
    chats: pd.DataFrame, mentions: pd.DataFrame, citations: pd.DataFrame, brand: str | None
) -> pd.DataFrame:
    """Return the result of `answers` from the three tables of the section ``chats``."""
    is_answered = equal_text_mask(chats["outcome"], "answered")
    chat_column_names = [*host_columns(chats), *_CHAT_COLUMNS]
    answer_rows = chats.loc[is_answered, chat_column_names].reset_index(drop=True)
    is_of_brand = mentions["own"] if brand is None else mentions["brand"].eq(brand)
    brand_mentions = mentions[is_of_brand.fillna(False).to_numpy(bool)]
    if brand is not None and not len(brand_mentions):
        raise AvailabilityError(
            f"no answer mentions {brand!r}; check its spelling, or that it is tracked",
            columns={"brand": "is in no row"},
        )
    answer_rows["date"] = answer_rows["ran_at"].dt.tz_localize(None).dt.normalize()
    answer_rows["mentioned"] = (
        answer_rows["chat_id"].isin(brand_mentions["chat_id"]).astype("boolean")
    )
    own_brands_text = ", ".join(sorted(map(str, brand_mentions["brand"].dropna().unique()))) or None
    answer_rows["brand"] = pd.Series([brand or own_brands_text] * len(answer_rows), dtype="string")
    first_mention_positions = brand_mentions.groupby("chat_id")["position"].min()
    answer_rows["position"] = answer_rows["chat_id"].map(first_mention_positions).astype("Float64")
    is_own_citation = equal_text_mask(citations["domain_type"].astype("string"), "owned")
    if "cited" in citations:  # else the engine only read the page
        is_own_citation &= citations["cited"].fillna(True).to_numpy(bool)
    answer_rows["cited"] = (
        answer_rows["chat_id"].isin(citations["chat_id"][is_own_citation]).astype("boolean")
    )
    if len(citations) and not citations["domain_type"].notna().any():
        answer_rows["cited"] = pd.Series(dtype="boolean")  # missing in all rows
    metadata = metadata_of(chats)
    metadata_by_column = {
        result_column: metadata.columns[result_column] for result_column in chat_column_names
    }
    metadata_by_column["date"] = ColumnMetadata(None, metadata.columns["ran_at"].availability)
    for result_column, source_table, source_column in (
        ("mentioned", mentions, "brand"),
        ("position", mentions, "brand"),
        ("cited", citations, "domain_type"),
    ):
        availability = metadata_of(source_table).columns[source_column].availability
        if len(answer_rows) and answer_rows[result_column].isna().all():
            availability = Availability(Status.UNAVAILABLE, Cause.ABSENT, availability.reason)
        elif availability.status == Status.NOT_APPLICABLE:
            availability = Availability(Status.AVAILABLE)
        elif availability.status == Status.UNAVAILABLE and len(answer_rows):
            availability = replace(availability, status=Status.PARTIAL)
        metadata_by_column[result_column] = ColumnMetadata(None, availability)
    # Two brands in the same answers are other rows, so that they can be compared.
    metadata_by_column["brand"] = ColumnMetadata(None)
    return attach(
        answer_rows, FrameMetadata(metadata_by_column, ("chat_id", "brand"), metadata.sources)
    )


def cited_and_mentioned(
    chats: Mapping[str, pd.DataFrame], brand: str | None = None, level: float = LEVEL
) -> pd.DataFrame:
    """Test whether answers that cite own pages mention the brand more often.

    The test compares answers to the same prompt only. Prompts that invite both mentions and
    citations do not make the two look connected. For each prompt i, count the answers with both
    (aᵢ), with only a citation (bᵢ), with only a mention (cᵢ), with neither (dᵢ), and all (nᵢ). The
    Mantel-Haenszel odds ratio is (Mantel & Haenszel, *JNCI* 22, 1959):

        OR = Σaᵢdᵢ/nᵢ / Σbᵢcᵢ/nᵢ

    The interval is a z interval, with the variance of log OR by Robins, Breslow & Greenland
    (*Biometrics* 42, 1986). It assumes that answers to one prompt are independent. If runs of the
    same day resemble each other, it is too narrow.

    The result is an association, not an effect: an answer may cite a page because it speaks of the
    brand. ``clusters`` is the number of prompts that count. A prompt counts only if some of its
    answers cite own pages and others do not, and if some mention the brand and others do not. Do
    not use the test if most prompts do not count.

    Parameters
    ----------
    chats : Tables
        The section ``chats``.
    brand : str, optional
        The brand; by default as for `answers`.
    level : float
        The confidence level.

    Returns
    -------
    pandas.DataFrame
        One row: ``both``, ``cited_only``, ``mentioned_only``, ``neither`` (numbers of answers),
        ``mentioned_if_cited``, ``mentioned_if_not``, ``cited_if_mentioned``, ``cited_if_not``
        (rates), ``odds_ratio``, ``low``, ``high``, ``p``, ``n``, ``clusters``, ``verdict``,
        ``why`` and ``method``.

    Raises
    ------
    AvailabilityError
        As for `answers`.
    ValueError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> result = cited_and_mentioned(aa.demo().read("chats"))
    >>> result["verdict"].item() in ("more often", "less often", "no evidence", "cannot say")
    True
    """
    check_level(level)
    return cited_and_mentioned_from_answers(answers(chats, brand), level)


@record_statistic("cited_and_mentioned", "rows")
def cited_and_mentioned_from_answers(rows: pd.DataFrame, level: float) -> pd.DataFrame:
    """Return the result of `cited_and_mentioned` from a frame with one row per answer."""
    usable_row_positions = np.flatnonzero(
        rows[["cited", "prompt_id"]].notna().all(axis=1).to_numpy(bool)
    )
    prompt_codes, distinct_prompts = pd.factorize(
        row_clusters(rows, "prompt_id").iloc[usable_row_positions]
    )
    cited_mask, mentioned_mask = (
        rows[name].iloc[usable_row_positions].to_numpy(bool) for name in ("cited", "mentioned")
    )

    def count_by_prompt(answer_kind: str) -> Any:
        """Return for each prompt the number of answers of a kind, such as ``cited_only``."""
        is_cited = answer_kind in ("both", "cited_only")
        is_mentioned = answer_kind in ("both", "mentioned_only")
        is_of_kind = (cited_mask == is_cited) & (mentioned_mask == is_mentioned)
        answer_counts = np.bincount(
            prompt_codes[is_of_kind], minlength=len(distinct_prompts)
        ).astype(np.float64)

        def find_source_rows(prompt_index: int) -> Any:
            row_positions = usable_row_positions[is_of_kind & (prompt_codes == prompt_index)]
            count_description = (
                f"{len(row_positions)} answers that are {answer_kind.replace('_', ' ')}"
            )
            return row_positions, count_description, {"prompt_id": distinct_prompts[prompt_index]}

        return trace_to_rows(
            answer_kind, answer_counts, rows, ("cited", "mentioned"), find_source_rows
        )

    counts_by_kind = {
        answer_kind: count_by_prompt(answer_kind) for answer_kind in _CITED_MENTIONED_KINDS
    }
    result_row = {
        answer_kind: total_of(counts_by_prompt)
        for answer_kind, counts_by_prompt in counts_by_kind.items()
    }
    result_row["n"] = sum(result_row.values())
    a, b, c, d = counts_by_kind.values()
    # Mantel and Haenszel's ratio, with the variance of Robins, Breslow and Greenland.
    n = a + b + c + d
    r = a * d / n
    s = b * c / n
    p = (a + d) / n
    q = (b + c) / n
    name_traced_variables()
    sum_r = total_of(r)
    sum_s = total_of(s)
    sum_s = sum_s if sum_r > 0 and sum_s > 0 else NAN  # without both kinds there is no ratio
    odds_ratio = sum_r / sum_s
    variance = total_of(p * r) / (2 * sum_r**2)
    variance = variance + total_of(p * s + q * r) / (2 * (sum_r * sum_s))
    error = np.sqrt(variance + total_of(q * s) / (2 * sum_s**2))
    name_traced_variables()
    half_width = confidence_quantile(level) * error
    result_row |= {
        name: result_row[numerator_kind]
        / (result_row[numerator_kind] + result_row[complement_kind])
        for name, (numerator_kind, complement_kind) in _ANSWER_KINDS_BY_RATE.items()
    }
    low = odds_ratio * np.exp(-half_width)
    high = odds_ratio * np.exp(half_width)
    result_row |= {"odds_ratio": odds_ratio, "low": low, "high": high}
    result_row["p"] = two_sided(np.log(odds_ratio) / error, math.inf)
    is_informative_prompt = (untrace(r) > 0) | (untrace(s) > 0)
    result_row["clusters"] = count_of(take(n, np.flatnonzero(is_informative_prompt)))
    verdict = verdict_of(result_row["p"], odds_ratio - 1, level, ("more often", "less often"))
    verdict_reason = (
        f"{result_row['clusters']:g} prompts have answers of both kinds, which is too few"
    )
    if np.isfinite(odds_ratio):
        verdict_reason = (
            f"mentioned in {format_percent(result_row['mentioned_if_cited'])} of answers that cite "
            f"it, {format_percent(result_row['mentioned_if_not'])} of others; within prompts the "
            f"odds are {odds_ratio:.2f} times as high ({low:.2f} to {high:.2f})"
        )
    metadata = metadata_of(rows)
    availability = combine([metadata.columns[name].availability for name in ("mentioned", "cited")])
    result_row |= {
        "verdict": verdict,
        "why": verdict_reason,
        "method": "Mantel-Haenszel odds ratio by prompt; Robins-Breslow-Greenland interval",
    }
    return make_result("cited_and_mentioned", [result_row], [metadata], availability, level=level)
