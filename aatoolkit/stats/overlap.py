"""Overlap of the lists of two engines, beside that of repeats: ``df.aa.overlap``.

The Jaccard index of all pairs of answers, in means over prompts.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Status
from aatoolkit.errors import AvailabilityError, ItemNotFound
from aatoolkit.frame.groupby import find, flattened
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.stats.estimate import (
    LEAST_CLUSTERS,
    NAN,
    Change,
    check_level,
    judged,
    tested,
    varies,
)
from aatoolkit.stats.results import percent, refusal, result
from aatoolkit.stats.trace import (
    Integers,
    Numbers,
    One,
    derived,
    leaf,
    name_all,
    number,
    plain_value,
    setting,
)

MOST_REPEATS = 20
"""How many answers of one engine to one prompt are compared at most."""

MOST_MEMBERS = 40


@recorded("overlap", "frame")
def overlap(
    frame: pd.DataFrame, column: str, between: str, by: str, *, repeat: str, level: float
) -> pd.DataFrame:
    """Overlap of the lists of two engines; see ``df.aa.overlap``."""
    check_level(level)
    flat = derived(flattened(frame), frame)
    find(flat, [column])
    lacking = [name for name in (between, by, repeat) if name not in flat.columns]
    if lacking and (between in lacking or repeat not in lacking):
        why = (
            f"there is no {' and no '.join(lacking)} in this frame: {between} names what is "
            f"compared (between=); with {repeat} for the answer (repeat=) and {by} for what was "
            "asked (by=) lists of single answers are compared, else one list of each, such as "
            "project.read('urls', split='engine').main.aa.overlap('url')"
        )
        raise ItemNotFound(f"{column} has no overlap: {why}", columns=dict.fromkeys(lacking, why))
    state = metadata_of(flat).columns[column].availability
    if lacking:
        rows, method = (
            _of_sets(flat, column, between),
            f"sets of {column}, a list each: no interval",
        )
    else:
        rows = _of_answers(flat, column, between, by, repeat, level)
        method = f"mean over {by} of pairs of answers, Student's t, Holm's method"
        if state.status not in (Status.AVAILABLE, Status.UNKNOWN):
            rows["why"] = [f"{why}; {state}" for why in rows["why"]]
    return result(
        "overlap",
        rows | {"method": method},
        None,
        metadata_of(flat).sources,
        state,
        key=(between, f"other_{between}"),
        level=level,
        between=between,
        by=column if lacking else by,
    )


def _of_sets(flat: pd.DataFrame, column: str, between: str) -> dict[str, Any]:
    """What two members have in common, where each has one list: no repeat, and so no interval."""
    there = flat[[column, between]].notna().all(axis=1)
    rows = flat[there].groupby(between, observed=True)[column].unique()
    sets = {str(name): {*values} for name, values in rows.items()}
    pairs = [*combinations(sorted(sets), 2)]

    def counted(name: str, kind: Any) -> Any:
        members = [kind(sets[a], sets[b]) for a, b in pairs]

        def part(tracer: Any, at: int) -> Any:
            about = flat[between].astype(str).isin(pairs[at]) & flat[column].isin(members[at])
            its = np.flatnonzero(about.to_numpy(bool))
            words = f"different values of {column} in {len(its)} rows"
            return tracer.rows(name, len(members[at]), flat, its, (column,), words)

        return leaf(name, np.array([len(part) for part in members], np.float64), part)

    shared, different = counted("shared", set.__and__), counted("different", set.__or__)
    counts = zip(plain_value(shared), plain_value(different), strict=True)
    return {
        between: [a for a, _ in pairs],
        f"other_{between}": [b for _, b in pairs],
        "jaccard": shared / different,
        **dict.fromkeys(("jaccard_low", "jaccard_high", "ceiling"), [NAN] * len(pairs)),
        "shared": shared,
        "different": different,
        "verdict": [f"{common:,.0f} of {total:,.0f} in common" for common, total in counts],
    }


def _of_answers(
    flat: pd.DataFrame, column: str, between: str, by: str, repeat: str, level: float
) -> dict[str, Any]:
    """The overlap of two members, that of repeats, and the difference, over prompts."""
    codes, members, prompts = _lists(flat, column, between, by, repeat)
    if len(members) > MOST_MEMBERS:
        why = f"{len(members)} different ones; {MOST_MEMBERS} are the most: choose some first"
        raise refusal(between, "overlap", why)
    means = np.full((len(prompts), len(members), len(members)), np.nan)
    answers = np.zeros((len(prompts), len(members)))
    for at, (_, part) in enumerate(codes.groupby(by)):
        means[at], answers[at] = _of_prompt(part[repeat], part[between], part[column], len(members))
    sure, gaps, lacking, texts = setting("level", level), [], [], []
    rows: list[dict[str, Any]] = []
    for a, b in combinations(range(len(members)), 2):

        def over_prompts(
            name: str, values: Any, mask: Any, what: str, pair: Any = (members[a], members[b])
        ) -> Any:
            """The values of the prompts that have one; each is of the rows about it."""
            chosen = np.flatnonzero(mask)

            def part(tracer: Any, place: int) -> Any:
                prompt = prompts[chosen[place]]
                about = flat[between].astype(str).isin(pair) & flat[column].notna()
                about &= flat[by].eq(prompt).fillna(False)
                its = np.flatnonzero(about.to_numpy(bool))
                words = f"{what}, of {len(its)} rows of {column}"
                value = values[chosen[place]]
                return tracer.rows(name, value, flat, its, (column,), words, {by: prompt})

            return leaf(name, values[chosen], part)

        alike, own = means[:, a, b], (means[:, a, a] + means[:, b, b]) / 2
        is_there = np.isfinite(alike)
        is_both, word = is_there & np.isfinite(own), "mean Jaccard index of pairs of answers"
        mean = mean_of(over_prompts("j", alike, is_there, word), sure, "jaccard")
        repeats = over_prompts("own", own, is_both, "mean Jaccard index of repeats")
        ceiling = mean_of(repeats, sure, "ceiling")
        differences = over_prompts("between", alike, is_both, word) - repeats
        name_all(g=differences)
        gap = mean_of(differences, sure, "gap")
        asked = over_prompts("answers", answers[:, a] + answers[:, b], is_there, "answers of both")
        rows.append(
            {
                between: members[a],
                f"other_{between}": members[b],
                "jaccard": mean.change,
                "jaccard_low": np.maximum(mean.low, 0.0),
                "jaccard_high": np.minimum(mean.high, 1.0),
                "ceiling": ceiling.change,
                "gap": gap.change,
                "gap_low": gap.low,
                "gap_high": gap.high,
                "clusters": mean.clusters,
                "n": One.total(asked),
            }
        )
        gaps.append(gap)
        k = number(gap.clusters)
        why = f"nothing differs between {k:g} {by}, too few to estimate an error"
        if k < LEAST_CLUSTERS:
            why = f"{k:g} {by} have two answers of each {between}; it takes {LEAST_CLUSTERS}"
        if not is_there.any():
            why = f"no {by} has answers of both"
        lacking.append("" if np.isfinite(number(gap.p)) else why)
        shares = percent(number(gap.change) + number(ceiling.change)), number(ceiling.change)
        texts.append(f"{shares[0]} in common, where repeats of one have {percent(shares[1])}")
    words = [("more alike", "less alike")]
    of_gaps = judged(gaps, lacking, texts, [""] * len(gaps), level, words=words, noun="gap")
    del of_gaps["low"], of_gaps["high"]
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())} | of_gaps


def mean_of(values: Any, level: Any, name: str) -> Change:
    """The mean over prompts with Student's t of k-1 degrees of freedom."""
    k, plain = One.count(values), plain_value(values)
    if not len(plain):
        return Change(clusters=k)
    mean = One.total(values) / k
    name_all(**{name: mean})
    if len(plain) >= LEAST_CLUSTERS:
        error = np.sqrt(One.total((values - mean) ** 2) / (k - 1) / k)
        if varies(number(error) ** 2, float(np.abs(plain).max())):
            return tested(mean, error, k - 1, level, clusters=k)
    return Change(mean, clusters=k)


def _lists(
    flat: pd.DataFrame, column: str, between: str, by: str, repeat: str
) -> tuple[pd.DataFrame, list[str], list[Any]]:
    """The lists of all answers as codes, each value once in an answer; the members and prompts."""
    rows = flat.loc[flat[column].notna(), [by, between, repeat, column]]
    codes = pd.DataFrame({name: pd.factorize(rows[name])[0] for name in rows.columns})
    for name in (between, by, repeat):
        if lacking := int((codes[name] < 0).sum()):
            why = f"{lacking} rows have none; drop them first"
            raise AvailabilityError(f"{name} names no list: {why}", columns={name: why})
    for name in (between, by):
        if (codes.groupby(repeat)[name].nunique() > 1).any():
            why = f"one value of {repeat} has several of {name}: it names no single answer"
            raise AvailabilityError(f"{repeat} names no answer: {why}", columns={repeat: why})
    members = [*map(str, pd.factorize(rows[between])[1])]
    order = np.argsort(members, kind="stable")
    codes[between] = np.argsort(order)[codes[between]] if members else codes[between]
    prompts = [*pd.factorize(rows[by])[1]]
    return codes.drop_duplicates([repeat, column]), sorted(members), prompts


def _of_prompt(
    answer: pd.Series, member: pd.Series, value: pd.Series, members: int
) -> tuple[Numbers, Integers]:
    """The means over pairs of answers to one prompt; on the diagonal of answers of one member."""
    _, first, rows = np.unique(answer, return_index=True, return_inverse=True)
    values, columns = np.unique(value, return_inverse=True)
    there = np.zeros((len(first), len(values)), np.float32)  # holds whole numbers exactly
    there[rows, columns] = 1.0
    chosen = []
    whose = member.to_numpy()[first]
    for number_of in range(members):  # all answers, or so many of a member, evenly spaced
        its = np.flatnonzero(whose == number_of)
        if len(its) > MOST_REPEATS:
            its = its[np.linspace(0, len(its) - 1, MOST_REPEATS).round().astype(np.int64)]
        chosen += its.tolist()
    there, whose = there[chosen], whose[chosen]
    both, size = (there @ there.T).astype(np.float64), there.sum(axis=1, dtype=np.float64)
    jaccard = both / (size[:, None] + size - both)
    np.fill_diagonal(jaccard, 0.0)  # an answer is no repeat of itself
    groups = np.eye(members)[whose]
    counts = groups.sum(axis=0)
    pairs = np.outer(counts, counts) - np.diag(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(pairs > 0, groups.T @ jaccard @ groups / pairs, np.nan), counts
