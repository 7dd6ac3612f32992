"""One row an answer: ``aa.stats.answers``, and ``aa.stats.cited_and_mentioned``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.errors import AvailabilityError
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.stats.estimate import check_level, verdict_of
from aatoolkit.stats.results import percent, result
from aatoolkit.stats.trace import (
    One,
    leaf,
    name_all,
    named,
    normal_quantile,
    number,
    plain_value,
    setting,
    take,
    two_sided,
)

_NAN = float("nan")
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
    >>> found = answers(aa.demo().read("chats"))
    >>> found["mentioned"].dtype.name
    'boolean'
    """
    missing = [name for name in ("chats", "chat_mentions", "chat_citations") if name not in chats]
    if missing:
        raise AvailabilityError(
            f"this takes the tables of the section chats; {', '.join(missing)} are missing",
            columns=dict.fromkeys(missing, "no such table"),
        )
    return answers_of(chats["chats"], chats["chat_mentions"], chats["chat_citations"], brand)


@recorded("answers", "whole", "mentions", "citations")
def answers_of(
    whole: pd.DataFrame, mentions: pd.DataFrame, citations: pd.DataFrame, brand: str | None
) -> pd.DataFrame:
    """One row an answer, of the three tables of chats."""
    rows = whole[whole["outcome"].eq("answered").fillna(False).to_numpy(bool)]
    picked = mentions["own"].fillna(False) if brand is None else mentions["brand"].eq(brand)
    named = mentions[picked.fillna(False).to_numpy(bool)]
    if brand is not None and not len(named):
        raise AvailabilityError(
            f"no answer mentions {brand!r}; check its spelling, or that it is tracked",
            columns={"brand": "is in no row"},
        )
    found = rows[[*_KEPT]].reset_index(drop=True)
    found["date"] = found["ran_at"].dt.tz_localize(None).dt.normalize()
    found["mentioned"] = found["chat_id"].isin(named["chat_id"]).astype("boolean")
    found["brand"] = pd.Series([_named(named, brand)] * len(found), dtype="string")
    places = named.groupby("chat_id")["position"].min()
    found["position"] = found["chat_id"].map(places).astype("Float64")
    owned = citations["domain_type"].astype("string").eq("owned").fillna(False).to_numpy(bool)
    found["cited"] = found["chat_id"].isin(citations["chat_id"][owned]).astype("boolean")
    typed = citations["domain_type"].notna().any()
    if len(citations) and not typed:
        found["cited"] = pd.array([pd.NA] * len(found), dtype="boolean")
    metadata, mention_state = (
        metadata_of(whole),
        metadata_of(mentions).columns["brand"].availability,
    )
    cited = metadata_of(citations).columns["domain_type"].availability
    columns = {name: metadata.columns[name] for name in _KEPT}
    columns["date"] = ColumnMetadata(None, metadata.columns["ran_at"].availability)
    for name in ("mentioned", "position"):
        columns[name] = ColumnMetadata(None, _of(mention_state, found[name]))
    columns["cited"] = ColumnMetadata(None, _of(cited, found["cited"]))
    columns["brand"] = ColumnMetadata(None)
    # Two brands in the same answers are other rows, so that they can be compared.
    return attach(found, FrameMetadata(columns, ("chat_id", "brand"), metadata.sources))


def _named(mentions: pd.DataFrame, brand: str | None) -> str | None:
    """The brand that rows are about; by default the own ones that are mentioned."""
    own = sorted(map(str, mentions["brand"].dropna().unique()))
    return brand or (", ".join(own) if own else None)


def _of(state: Availability, values: pd.Series) -> Availability:
    if state.status == Status.NOT_APPLICABLE and values.notna().any():
        return Availability(Status.AVAILABLE)
    if state.status == Status.UNAVAILABLE and values.notna().any():
        return replace(state, status=Status.PARTIAL)
    if len(values) and values.isna().all():
        return Availability(Status.UNAVAILABLE, Cause.ABSENT, state.reason)
    return state


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
    >>> found = cited_and_mentioned(aa.demo().read("chats"))
    >>> found["verdict"].item() in ("more often", "less often", "no evidence", "cannot say")
    True
    """
    check_level(level)
    return association(answers(chats, brand), level)


@recorded("cited_and_mentioned", "rows")
def association(rows: pd.DataFrame, level: float) -> pd.DataFrame:
    """The association of citations and mentions, of one row an answer."""
    there = np.flatnonzero(rows[["cited", "prompt_id"]].notna().all(axis=1).to_numpy(bool))
    codes, prompts = pd.factorize(rows["prompt_id"].iloc[there])
    cited, mentioned = (rows[name].iloc[there].to_numpy(bool) for name in ("cited", "mentioned"))

    def counted(kind: str) -> Any:
        """The answers of a kind to each prompt."""
        is_cited, is_mentioned = _KINDS[kind]
        mask = (cited == is_cited) & (mentioned == is_mentioned)
        counts = np.bincount(codes[mask], minlength=len(prompts)).astype(np.float64)

        def part(tracer: Any, at: int) -> Any:
            its = there[mask & (codes == at)]
            words = f"{len(its)} answers that are {kind.replace('_', ' ')}"
            key = {"prompt_id": prompts[at]}
            return tracer.rows(kind, counts[at], rows, its, ("cited", "mentioned"), words, key)

        return leaf(kind, counts, part)

    values = _associated({kind: counted(kind) for kind in _KINDS}, setting("level", level))
    numbers = {name: number(value) for name, value in values.items()}
    p, ratio = numbers["p"], numbers["odds_ratio"]
    verdict = verdict_of(p, ratio - 1, level, ("more often", "less often"))
    shares = [percent(numbers[name]) for name in ("mentioned_if_cited", "mentioned_if_not")]
    why = f"{numbers['clusters']:g} prompts have answers of both kinds, which is too few"
    if np.isfinite(p):
        why = (
            f"mentioned in {shares[0]} of answers that cite it, {shares[1]} of others; within "
            f"prompts the odds are {ratio:.2f} times as high "
            f"({numbers['low']:.2f} to {numbers['high']:.2f})"
        )
    metadata = metadata_of(rows)
    state = combine([metadata.columns[name].availability for name in ("mentioned", "cited")])
    method = "Mantel-Haenszel odds ratio by prompt; Robins-Breslow-Greenland interval"
    said = {"verdict": verdict, "why": why, "method": method}
    values = {name: [value] for name, value in values.items()}
    return result("cited_and_mentioned", values | said, None, metadata.sources, state, level=level)


def _associated(counts: Mapping[str, Any], level: Any) -> dict[str, Any]:
    """The numbers of the association, plain or traced, of answers of each kind by prompt."""
    totals = {kind: One.total(part) for kind, part in counts.items()}
    both, cited_only, mentioned_only, neither = totals.values()
    with np.errstate(divide="ignore", invalid="ignore"):
        made = odds(*counts.values())
        half = normal_quantile((1 + level) / 2) * made.error
        ends = {"low": made.odds_ratio * np.exp(-half), "high": made.odds_ratio * np.exp(half)}
        p = two_sided(np.log(made.odds_ratio) / made.error, math.inf)
        rates = {
            name: totals[hits] / (totals[hits] + totals[others])
            for name, (hits, others) in _RATES.items()
        }
    plain = {kind: plain_value(part) for kind, part in counts.items()}
    tell = np.logical_and.reduce([plain[one] + plain[two] > 0 for one, two in _RATES.values()])
    clusters = One.count(take(counts["both"], np.flatnonzero(tell)))
    size = both + cited_only + (mentioned_only + neither)
    columns = totals | rates | {"odds_ratio": made.odds_ratio} | ends
    return columns | {"p": p, "n": size, "clusters": clusters}


@dataclass(frozen=True)
class Odds:
    """The pooled odds ratio and the standard error of its logarithm."""

    odds_ratio: Any
    error: Any


def odds(a: Any, b: Any, c: Any, d: Any) -> Odds:
    """Mantel and Haenszel's ratio, with the variance of Robins, Breslow and Greenland.

    Examples
    --------
    >>> made = odds(*(np.array([float(x)]) for x in (10, 5, 4, 8)))
    >>> round(float(made.odds_ratio), 2), round(float(made.error), 4)
    (4.0, 0.8216)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        n = a + b + c + d
        name_all(n=n)
        r, s = a * d / n, b * c / n
        p, q = (a + d) / n, (b + c) / n
        name_all(r=r, s=s, p=p, q=q)
        for_it, against = One.total(r), One.total(s)
        name_all(sum_r=for_it, sum_s=against)
        parts = [np.where(n > 0, part, 0.0) for part in (p * r, p * s + q * r, q * s)]
        name_all(pr=parts[0], psqr=parts[1], qs=parts[2])
        one, two, three = map(One.total, parts)
        is_there = plain_value(for_it) > 0 and plain_value(against) > 0
        against = against if is_there else _NAN  # without both kinds there is no ratio
        variance = one / (2 * for_it**2) + two / (2 * (for_it * against))
        error = np.sqrt(variance + three / (2 * against**2))
        return named(Odds(for_it / against, error))
