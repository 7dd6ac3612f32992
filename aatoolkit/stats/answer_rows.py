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
from aatoolkit.sections.aggregation import COUNT, FRACTION, PROBABILITY
from aatoolkit.stats.cluster_sums import Numbers
from aatoolkit.stats.difference import name_all
from aatoolkit.stats.interval import check_level
from aatoolkit.stats.results import numbers, percent, result, words
from aatoolkit.stats.trace import (
    One,
    named,
    normal_quantile,
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
    known, mention_state = metadata_of(whole), metadata_of(mentions).columns["brand"].availability
    cited = metadata_of(citations).columns["domain_type"].availability
    columns = {name: known.columns[name] for name in _KEPT}
    columns["date"] = ColumnMetadata(None, known.columns["ran_at"].availability)
    for name in ("mentioned", "position"):
        columns[name] = ColumnMetadata(None, _of(mention_state, found[name]))
    columns["cited"] = ColumnMetadata(None, _of(cited, found["cited"]))
    columns["brand"] = ColumnMetadata(None)
    # Two brands in the same answers are other rows, so that they can be compared.
    return attach(found, FrameMetadata(columns, ("chat_id", "brand"), known.sources))


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
    whole = rows.dropna(subset=["cited", "prompt_id"])
    cited = whole["cited"].to_numpy(bool)
    mentioned = whole["mentioned"].to_numpy(bool)
    codes, _ = pd.factorize(whole["prompt_id"])
    a, b, c, d = (
        np.bincount(codes[mask], minlength=int(codes.max(initial=-1)) + 1).astype(np.float64)
        for mask in (cited & mentioned, cited & ~mentioned, ~cited & mentioned, ~cited & ~mentioned)
    )
    informative = int(((a + b > 0) & (c + d > 0) & (a + c > 0) & (b + d > 0)).sum())
    ratio, error = mantel_haenszel(a, b, c, d)
    decided = np.isfinite(error) and error > 0
    z = normal_quantile((1 + level) / 2)
    ends = [ratio * math.exp(sign * z * error) if decided else float("nan") for sign in (-1, 1)]
    p = two_sided(math.log(ratio) / error, math.inf) if decided else float("nan")
    verdict = (
        "cannot say"
        if not decided
        else "no evidence"
        if p >= 1 - level
        else "more often"
        if ratio > 1
        else "less often"
    )
    totals = [float(each.sum()) for each in (a, b, c, d)]
    rates = [
        _rate(totals[0], totals[1]),
        _rate(totals[2], totals[3]),
        _rate(totals[0], totals[2]),
        _rate(totals[1], totals[3]),
    ]
    why = (
        f"{informative} prompts have answers of both kinds, which is too few"
        if not decided
        else f"mentioned in {percent(rates[0])} of answers that cite it, {percent(rates[1])} of "
        f"others; within prompts the odds are {ratio:.2f} times as high "
        f"({ends[0]:.2f} to {ends[1]:.2f})"
    )
    names = ("both", "cited_only", "mentioned_only", "neither")
    shares = ("mentioned_if_cited", "mentioned_if_not", "cited_if_mentioned", "cited_if_not")
    found = pd.DataFrame(
        {
            **{name: numbers([value], "Int64") for name, value in zip(names, totals, strict=True)},
            **{name: numbers([value]) for name, value in zip(shares, rates, strict=True)},
            "odds_ratio": numbers([ratio]),
            "low": numbers([ends[0]]),
            "high": numbers([ends[1]]),
            "p": numbers([p]),
            "n": numbers([sum(totals)], "Int64"),
            "clusters": numbers([informative], "Int64"),
            "verdict": words([verdict]),
            "why": words([why]),
            "method": words(
                ["Mantel-Haenszel odds ratio by prompt; Robins-Breslow-Greenland interval"]
            ),
        }
    )
    docs = {
        **{name: (f"Answers: {name.replace('_', ' ')}.", COUNT) for name in names},
        **{
            name: (f"Rate of answers that are {name.replace('_', ' ')}.", FRACTION)
            for name in shares
        },
        "odds_ratio": (
            "Odds of a mention with own citations over those without, within prompts.",
            "ratio",
        ),
        "low": (f"Lower end of its {level:.0%} interval.", "ratio"),
        "high": (f"Upper end of its {level:.0%} interval.", "ratio"),
        "p": ("Two-sided p-value of no association.", PROBABILITY),
        "n": ("Answers.", COUNT),
        "clusters": ("Prompts with answers of both kinds, which alone tell.", COUNT),
        "verdict": ("Whether answers that cite own pages mention the brand more often.", None),
        "why": ("The verdict in words.", None),
        "method": ("How it was computed.", None),
    }
    known = metadata_of(rows)
    state = combine([known.columns[name].availability for name in ("mentioned", "cited")])
    return result(found, "cited_and_mentioned", docs, {}, known.sources, state)


def mantel_haenszel(
    a: Numbers,
    b: Numbers,
    c: Numbers,
    d: Numbers,
) -> tuple[float, float]:
    """The pooled odds ratio of 2 x 2 tables, and the standard error of its logarithm.

    Examples
    --------
    >>> ratio, error = mantel_haenszel(*(np.array([float(x)]) for x in (10, 5, 4, 8)))
    >>> round(ratio, 2), round(error, 4)
    (4.0, 0.8216)
    """
    made = odds(a, b, c, d)
    is_there = One.total(a * d) > 0 and One.total(b * c) > 0
    return (float(made.odds_ratio), float(made.error)) if is_there else (_NAN, _NAN)


@dataclass(frozen=True)
class Odds:
    """The pooled odds ratio and the standard error of its logarithm."""

    odds_ratio: Any
    error: Any


def odds(a: Any, b: Any, c: Any, d: Any) -> Odds:
    """Mantel and Haenszel's ratio, with the variance of Robins, Breslow and Greenland."""
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
        both = _positive(for_it * against)
        variance = one / (2 * _positive(for_it**2)) + two / (2 * both)
        error = np.sqrt(variance + three / (2 * _positive(against**2)))
        return named(Odds(for_it / _positive(against), error))


def _positive(value: Any) -> Any:
    return value if plain_value(value) > 0 else _NAN


def traced(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of the association, traced."""
    del at  # there is one row
    frame = cells.inputs[0].frame
    flags = frame[["cited", "mentioned", "prompt_id"]].assign(at=range(len(frame)))
    flags = flags.dropna(subset=["cited", "prompt_id"])
    prompts = [*dict.fromkeys(flags["prompt_id"])]

    def counted(kind: str) -> Any:
        cited, mentioned = _KINDS[kind]
        mask = flags["cited"].eq(cited) & flags["mentioned"].eq(mentioned)
        rows = [flags["at"][mask & flags["prompt_id"].eq(name)].tolist() for name in prompts]
        return cells.facts(
            kind,
            [len(each) for each in rows],
            rows,
            ("cited", "mentioned"),
            lambda place: f"{len(rows[place])} answers that are {kind.replace('_', ' ')}",
            lambda place: {"prompt_id": str(prompts[place])},
        )

    if "kinds" not in cells.shared:
        cells.shared["kinds"] = {kind: counted(kind) for kind in _KINDS}
    kinds = cells.shared["kinds"]
    made = odds(*(kinds[kind] for kind in ("both", "cited_only", "mentioned_only", "neither")))
    totals = {kind: One.total(values) for kind, values in kinds.items()}
    columns = dict(totals)
    columns["n"] = (
        totals["both"] + totals["cited_only"] + (totals["mentioned_only"] + totals["neither"])
    )
    for name, (hits, others) in _RATES.items():
        columns[name] = totals[hits] / (totals[hits] + totals[others])
    tell = [
        place
        for place in range(len(prompts))
        if all(
            kinds[one].value[place] + kinds[two].value[place] > 0 for one, two in _RATES.values()
        )
    ]
    columns["clusters"] = One.count(take(kinds["both"], np.array(tell, np.int64)))
    level = setting("level", cells.arguments.get("level", 0.95))
    half = normal_quantile((1 + level) / 2) * made.error
    columns |= {"odds_ratio": made.odds_ratio, "low": made.odds_ratio * np.exp(-half)}
    columns |= {"high": made.odds_ratio * np.exp(half)}
    columns["p"] = two_sided(np.log(made.odds_ratio) / made.error, math.inf)
    return columns


def _rate(hits: float, others: float) -> float:
    return hits / (hits + others) if hits + others > 0 else float("nan")
