"""From crawled to converted: ``Dataset.funnel``, stages joined by path, day or platform."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import COUNT, FRACTION, REQUESTS
from aatoolkit.stats.cluster_sums import Numbers
from aatoolkit.stats.difference import name_all
from aatoolkit.stats.estimate import wilson
from aatoolkit.stats.funnel_stages import (
    COMPLETE,
    READS,
    STAGES,
    TABLES,
    Stage,
    by_section,
    lacking,
    rows_of_stages,
    stage_of,
    table_of,
)
from aatoolkit.stats.funnel_states import with_states
from aatoolkit.stats.interval import check_level
from aatoolkit.stats.page_path import is_page
from aatoolkit.stats.results import numbers, percent, result, words
from aatoolkit.stats.trace import One, normal_quantile, setting

WAYS = ("path", "day", "platform", None)

_ABSENT = "not listed, which is not 0"
_IN_PART = "a part of it has no number, so that the sum is not known"


def funnel(
    data: Mapping[str, Any], errors: Mapping[str, object], by: str | None, level: float
) -> pd.DataFrame:
    """Stages from crawled to converted; see ``Dataset.funnel``."""
    check_level(level)
    if by not in WAYS:
        raise ArgumentError(f"by={by!r} is none of {', '.join(map(repr, WAYS))}")
    tables = {
        name: table_of(data[name.partition(".")[0]], name)
        for name in TABLES[by]
        if name.partition(".")[0] in data
    }
    names = [name for name, frame in tables.items() if frame is not None]
    frames = [frame for frame in tables.values() if frame is not None]
    failed = {name: f"failed: {errors[name]}" for name in READS[by] if name in errors}
    failed |= {
        name.partition(".")[0]: lacking(name, by) for name, frame in tables.items() if frame is None
    }
    return funnel_of(frames, names, failed, by, level)


@recorded("funnel", "frames")
def funnel_of(
    frames: Sequence[pd.DataFrame],
    names: Sequence[str],
    errors: Mapping[str, str],
    by: str | None,
    level: float,
) -> pd.DataFrame:
    """The stages, of the tables that were read."""
    data = by_section(frames, names)
    stages = [stage_of(data, errors, by, stage) for stage in STAGES]
    complete = stage_of(data, errors, by, COMPLETE)
    _check_windows(stages)
    if all(stage.why for stage in stages):
        why = "; ".join(dict.fromkeys(stage.why or "" for stage in stages))
        raise AvailabilityError(f"there is no funnel: {why}", columns=dict.fromkeys(STAGES, why))
    keys = list(dict.fromkeys(key for stage in stages for key in stage.values.index))
    table = {
        name: stage.values.reindex(keys).to_numpy(np.float64, na_value=np.nan)
        for name, stage in zip(STAGES, stages, strict=True)
    }
    order = _order(keys, table, by)
    keys = [keys[at] for at in order]
    table = {name: values[order] for name, values in table.items()}
    trials = table["visited"]
    if complete.values.notna().any():
        trials = complete.values.reindex(keys).to_numpy(np.float64, na_value=np.nan)
    return _described(keys, table, stages, trials, by, level)


def traced(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of a row of a funnel, traced."""
    given = cells.arguments
    frames = [made.frame for made in cells.inputs]
    if "rows" not in cells.shared:
        cells.shared["rows"] = rows_of_stages(frames, given["names"], given.get("by"))
    key = cells.flat[cells.flat.columns[0]].iloc[at]
    counts = {}
    for stage, listed in cells.shared["rows"].items():
        for part in listed:
            places = part.places(key)
            if len(places):
                counts[stage] = One.total(cells.column("c", part.frame, places, part.column))
                break
    name_all(**counts)
    complete = cells.shared["rows"][COMPLETE]
    is_counted = any(frames[part.frame][part.column].notna().any() for part in complete)
    n = counts.get(COMPLETE if is_counted else "visited")
    columns = {stage: counts[stage] for stage in STAGES if stage in counts} | {"n": n}
    if "crawled" in counts and "visited" in counts:
        columns["crawl_to_refer"] = counts["crawled"] / counts["visited"]
    if "converted" in counts and n is not None and n.value > 0:
        rate = counts["converted"] / n
        q = normal_quantile((1 + setting("level", given.get("level", 0.95))) / 2)
        name_all(rate=rate, q=q)
        low, high = wilson(rate, n, q)
        columns |= {"conversion_rate": rate, "conversion_rate_low": low}
        columns["conversion_rate_high"] = high
    return columns


def _order(keys: list[Any], table: Mapping[str, Any], by: str | None) -> list[int]:
    if by == "day":
        return sorted(range(len(keys)), key=lambda at: keys[at])
    size = [tuple(-np.nan_to_num(table[name][at]) for name in STAGES) for at in range(len(keys))]
    return sorted(range(len(keys)), key=lambda at: size[at])


def _check_windows(stages: Iterable[Stage]) -> None:
    """Refuse stages of different windows.

    Raises
    ------
    AvailabilityError
        If two sections were asked of different windows or filters.
    """
    windows = {
        (source.host, source.scope, source.window_start, source.window_end): source.section
        for stage in stages
        for source in stage.sources
    }
    if len(windows) > 1:
        listed = "; ".join(f"{name}: {key[0]} {key[1]}" for key, name in windows.items())
        why = f"the sections are not of one host and window ({listed})"
        raise AvailabilityError(
            f"there is no funnel: {why}; read them in one call", columns=dict.fromkeys(STAGES, why)
        )


def _described(
    keys: list[Any],
    table: Mapping[str, Any],
    stages: list[Stage],
    trials: Numbers,
    by: str | None,
    level: float,
) -> pd.DataFrame:
    """One row a key, with what each column says."""
    crawled, visited, converted = (table[name] for name in ("crawled", "visited", "converted"))
    is_complete = trials is not visited
    pages = np.array([by != "path" or is_page(str(key)) for key in keys], bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        refer = np.where(pages & (visited > 0), crawled / visited, np.nan)
        use = (trials > 0) & (converted <= trials)
        rate = np.where(use, converted / trials, np.nan)
        low, high = wilson(rate, trials, normal_quantile((1 + level) / 2))
    verdicts = [
        _verdict(key, [table[name][at] for name in STAGES], float(rate[at]), stages)
        for at, key in enumerate(keys)
    ]
    key = by or "scope"
    columns: dict[str, Any] = {
        key: pd.Series(keys, dtype="datetime64[us]") if by == "day" else words(map(str, keys)),
        **{name: numbers(table[name], "Int64") for name in STAGES},
        "crawl_to_refer": numbers(refer),
        "conversion_rate": numbers(rate),
        "conversion_rate_low": numbers(low),
        "conversion_rate_high": numbers(high),
        "n": numbers(trials, "Int64"),
        "verdict": words(verdicts),
        "method": words([_method(by, level, is_complete)] * len(keys)),
    }
    cited = ("Answers that cite it.", "answers")
    if by != "path":
        cited = ("Citations of the own pages.", "citations")
    docs: dict[str, tuple[str, str | None]] = {
        key: ({"path": "The path of the page, normalised.", "day": "The day."}.get(
            key, "The operator of crawlers and engines." if by else "Everything in the window."
        ), None),
        "crawl_to_refer": ("Requests of crawlers for each visit from engines.", "requests a visit"),
        "conversion_rate": (
            "Conversions per visit, on days whose conversions are complete."
            if is_complete
            else "Conversions per visit; too low where those of the last days are not complete.",
            FRACTION,
        ),
        "conversion_rate_low": (
            f"Lower end of its {level:.0%} Wilson interval; takes visits for independent.",
            FRACTION,
        ),
        "conversion_rate_high": (
            f"Upper end of its {level:.0%} Wilson interval; takes visits for independent.",
            FRACTION,
        ),
        "n": ("Visits that the conversion rate is of.", COUNT),
        "verdict": ("Which stages were not measured, and why.", None),
        "method": ("How the stages were joined.", None),
    }  # fmt: skip
    units = {
        "crawled": ("Requests of AI crawlers.", REQUESTS),
        "cited": cited,
        "visited": ("Visits from engines.", "visits"),
        "converted": ("Conversions of those visits, on complete days.", "conversions"),
    }
    found = result(
        pd.DataFrame(columns),
        f"funnel by {key}",
        {key: docs.pop(key), **units, **docs},
        {},
        [source for stage in stages for source in stage.sources],
        combine([stage.state for stage in stages]),
        key=(key,),
    )
    return with_states(found, {n: s.state for n, s in zip(STAGES, stages, strict=True)})


def _verdict(key: object, values: list[float], converted: float, stages: list[Stage]) -> str:
    """Return the stages that have no number and the reasons, or that all are measured."""
    lacking: dict[str, list[str]] = {}
    for name, value, stage in zip(STAGES, values, stages, strict=True):
        if np.isnan(value):
            why = stage.why or (_IN_PART if key in stage.values.index else _ABSENT)
            lacking.setdefault(why, []).append(name)
    if not lacking:
        rate = f"; {percent(converted)} of visits converted" if np.isfinite(converted) else ""
        in_part = [
            name
            for name, stage in zip(STAGES, stages, strict=True)
            if stage.state.status == Status.PARTIAL
        ]
        if in_part:
            return f"all stages have a number, {' and '.join(in_part)} in part{rate}"
        return f"all stages measured{rate}"
    reasons = (f"{' and '.join(names)}: {why}" for why, names in lacking.items())
    return f"not measured: {'; '.join(reasons)}"


def _method(by: str | None, level: float, is_complete: bool) -> str:
    joined = {
        "path": "joined on normalised paths, citations of the host without its subdomains",
        "day": "joined on days: of UTC, visits of the analytics property's time zone",
        "platform": "crawlers joined with engines by their operator",
        None: "totals of the window",
    }[by]
    rate = (
        "conversions over visits of the days whose conversions are complete"
        if is_complete
        else "conversions over all visits, also those of days that are not complete"
    )
    return f"{joined}; {rate}; Wilson interval, {level:.0%}, of visits as independent"
