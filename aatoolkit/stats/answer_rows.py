"""One row per answer: ``aa.stats.answers``, and ``aa.stats.cited_and_mentioned``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.errors import AvailabilityError
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, attach, metadata_of
from aatoolkit.stats.estimate import NAN, check_level, verdict_of
from aatoolkit.stats.results import percent, result
from aatoolkit.stats.trace import (
    count_of,
    leaf,
    name_all,
    normal_quantile,
    number,
    plain_value,
    setting,
    statistic,
    take,
    total_of,
    two_sided,
)

_KINDS = {
    "both": (True, True),
    "cited_only": (True, False),
    "mentioned_only": (False, True),
    "neither": (False, False),
}
"""Whether an answer cites and mentions, by the name of its kind."""

_RATES = {
    "mentioned_if_cited": ("both", "cited_only"),
    "mentioned_if_not": ("mentioned_only", "neither"),
    "cited_if_mentioned": ("both", "mentioned_only"),
    "cited_if_not": ("cited_only", "neither"),
}
_KEPT = ("chat_id", "prompt_id", "engine", "ran_at")


def answers(chats: Mapping[str, pd.DataFrame], brand: str | None = None) -> pd.DataFrame:
    """The sampled answers, one row each, with whether they mention a brand and cite own pages.

    Runs that brought no answer are left out: they are no denominator. ``chats`` is capped by
    the service, so that a long window is a sample of its latest answers; its availability
    says so where the service does.

    Parameters
    ----------
    chats : Tables
        The section ``chats``.
    brand : str, optional
        The brand; by default any that is the project's own.

    Returns
    -------
    pandas.DataFrame
        ``chat_id``, ``prompt_id``, ``engine``, ``ran_at``, ``date``, ``mentioned``, ``brand``
        (which one), ``position`` (where it is mentioned), and ``cited``: whether an own page is
        cited; missing where nothing says which sites are owned. Two brands in the same answers
        compare: ``mine.aa.compare(theirs, "mentioned")``, paired by prompt.

    Raises
    ------
    AvailabilityError
        If there are no such tables, or no mention is of such a brand.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> result = answers(aa.demo().read("chats"))
    >>> result["mentioned"].dtype.name
    'boolean'
    """
    missing = [name for name in ("chats", "chat_mentions", "chat_citations") if name not in chats]
    if missing:
        raise AvailabilityError(
            f"this takes the tables of the section chats; {', '.join(missing)} are missing",
            columns=dict.fromkeys(missing, "no such table"),
        )
    return answers_of(chats["chats"], chats["chat_mentions"], chats["chat_citations"], brand)


@statistic("answers", "chats", "mentions", "citations")
def answers_of(
    chats: pd.DataFrame, mentions: pd.DataFrame, citations: pd.DataFrame, brand: str | None
) -> pd.DataFrame:
    """One row per answer, of the three tables of chats."""
    is_answered = chats["outcome"].eq("answered").fillna(False).to_numpy(bool)
    result = chats.loc[is_answered, [*_KEPT]].reset_index(drop=True)
    picked = mentions["own"] if brand is None else mentions["brand"].eq(brand)
    mentions_of = mentions[picked.fillna(False).to_numpy(bool)]
    if brand is not None and not len(mentions_of):
        raise AvailabilityError(
            f"no answer mentions {brand!r}; check its spelling, or that it is tracked",
            columns={"brand": "is in no row"},
        )
    result["date"] = result["ran_at"].dt.tz_localize(None).dt.normalize()
    result["mentioned"] = result["chat_id"].isin(mentions_of["chat_id"]).astype("boolean")
    own_brands = ", ".join(sorted(map(str, mentions_of["brand"].dropna().unique()))) or None
    result["brand"] = pd.Series([brand or own_brands] * len(result), dtype="string")
    places = mentions_of.groupby("chat_id")["position"].min()
    result["position"] = result["chat_id"].map(places).astype("Float64")
    owned = citations["domain_type"].astype("string").eq("owned").fillna(False).to_numpy(bool)
    result["cited"] = result["chat_id"].isin(citations["chat_id"][owned]).astype("boolean")
    if len(citations) and not citations["domain_type"].notna().any():
        result["cited"] = pd.array([pd.NA] * len(result), dtype="boolean")
    metadata = metadata_of(chats)
    columns = {name: metadata.columns[name] for name in _KEPT}
    columns["date"] = ColumnMetadata(None, metadata.columns["ran_at"].availability)
    for name, table, of in (
        ("mentioned", mentions, "brand"),
        ("position", mentions, "brand"),
        ("cited", citations, "domain_type"),
    ):
        state = metadata_of(table).columns[of].availability
        if len(result) and result[name].isna().all():
            state = Availability(Status.UNAVAILABLE, Cause.ABSENT, state.reason)
        elif state.status == Status.NOT_APPLICABLE:
            state = Availability(Status.AVAILABLE)
        elif state.status == Status.UNAVAILABLE and len(result):
            state = replace(state, status=Status.PARTIAL)
        columns[name] = ColumnMetadata(None, state)
    # Two brands in the same answers are other rows, so that they can be compared.
    columns["brand"] = ColumnMetadata(None)
    return attach(result, FrameMetadata(columns, ("chat_id", "brand"), metadata.sources))


def cited_and_mentioned(
    chats: Mapping[str, pd.DataFrame], brand: str | None = None, level: float = 0.95
) -> pd.DataFrame:
    """Whether answers that cite the own pages mention the brand more often, prompt by prompt.

    Each answer is in one of four cells: mentioned or not, cited or not. The Mantel-Haenszel odds
    ratio compares within prompts, so that prompts which invite both do not make a connection
    of it: OR = Σaᵢdᵢ/nᵢ / Σbᵢcᵢ/nᵢ (Mantel & Haenszel, *JNCI* 22, 1959), with the variance of
    its logarithm by Robins, Breslow & Greenland (*Biometrics* 42, 1986) and a z interval.

    Answers to one prompt are taken for independent given the prompt; where runs of one day resemble
    each other the interval is too narrow.

    It is an association, not an effect: an answer may cite a page because it speaks of the
    brand. Do not use it where most prompts have answers of one kind only: they say nothing, and
    ``clusters`` counts those that do.

    Parameters
    ----------
    chats : Tables
        The section ``chats``.
    brand : str, optional
        The brand; by default the project's own.
    level : float
        The confidence level.

    Returns
    -------
    pandas.DataFrame
        One row: ``both``, ``cited_only``, ``mentioned_only``, ``neither`` (answers),
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
    return association(answers(chats, brand), level)


@statistic("cited_and_mentioned", "rows")
def association(rows: pd.DataFrame, level: float) -> pd.DataFrame:
    """The association of citations and mentions, of one row per answer."""
    usable = np.flatnonzero(rows[["cited", "prompt_id"]].notna().all(axis=1).to_numpy(bool))
    codes, prompts = pd.factorize(rows["prompt_id"].iloc[usable])
    cited, mentioned = (rows[name].iloc[usable].to_numpy(bool) for name in ("cited", "mentioned"))

    def counted(kind: str) -> Any:
        """The answers of a kind to each prompt."""
        is_cited, is_mentioned = _KINDS[kind]
        mask = (cited == is_cited) & (mentioned == is_mentioned)
        counts = np.bincount(codes[mask], minlength=len(prompts)).astype(np.float64)

        def part(tracer: Any, at: int) -> Any:
            answers = usable[mask & (codes == at)]
            words = f"{len(answers)} answers that are {kind.replace('_', ' ')}"
            key = {"prompt_id": prompts[at]}
            return tracer.rows(kind, counts[at], rows, answers, ("cited", "mentioned"), words, key)

        return leaf(kind, counts, part)

    counts = {kind: counted(kind) for kind in _KINDS}
    values = {kind: total_of(part) for kind, part in counts.items()}
    values["n"] = sum(values.values())
    a, b, c, d = counts.values()
    # Mantel and Haenszel's ratio, with the variance of Robins, Breslow and Greenland.
    n = a + b + c + d
    r, s = a * d / n, b * c / n
    p, q = (a + d) / n, (b + c) / n
    name_all(n=n, r=r, s=s, p=p, q=q)
    for_it, against = total_of(r), total_of(s)
    is_there = plain_value(for_it) > 0 and plain_value(against) > 0
    against = against if is_there else NAN  # without both kinds there is no ratio
    odds = for_it / against
    variance = total_of(p * r) / (2 * for_it**2)
    variance = variance + total_of(p * s + q * r) / (2 * (for_it * against))
    error = np.sqrt(variance + total_of(q * s) / (2 * against**2))
    name_all(odds_ratio=odds, error=error, sum_r=for_it, sum_s=against)
    half = normal_quantile((1 + setting("level", level)) / 2) * error
    values |= {
        name: values[hits] / (values[hits] + values[others])
        for name, (hits, others) in _RATES.items()
    }
    values |= {"odds_ratio": odds, "low": odds * np.exp(-half), "high": odds * np.exp(half)}
    values["p"] = two_sided(np.log(odds) / error, math.inf)
    is_informative = (plain_value(r) > 0) | (plain_value(s) > 0)
    values["clusters"] = count_of(take(n, np.flatnonzero(is_informative)))
    numbers = {name: number(value) for name, value in values.items()}
    ratio = numbers["odds_ratio"]
    verdict = verdict_of(numbers["p"], ratio - 1, level, ("more often", "less often"))
    shares = [percent(numbers[name]) for name in ("mentioned_if_cited", "mentioned_if_not")]
    why = f"{numbers['clusters']:g} prompts have answers of both kinds, which is too few"
    if np.isfinite(ratio):
        why = (
            f"mentioned in {shares[0]} of answers that cite it, {shares[1]} of others; within "
            f"prompts the odds are {ratio:.2f} times as high "
            f"({numbers['low']:.2f} to {numbers['high']:.2f})"
        )
    metadata = metadata_of(rows)
    state = combine([metadata.columns[name].availability for name in ("mentioned", "cited")])
    method = "Mantel-Haenszel odds ratio by prompt; Robins-Breslow-Greenland interval"
    said = {"verdict": verdict, "why": why, "method": method}
    return result("cited_and_mentioned", [values | said], [metadata], state, level=level)
