"""From crawled to converted: ``Dataset.funnel``, stages joined by path.

What a stage counts is found by what columns mean: the words of their names, in a table of pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlsplit

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.errors import AvailabilityError
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.stats.estimate import check_level, wilson
from aatoolkit.stats.results import percent, result
from aatoolkit.stats.sums import stem_of
from aatoolkit.stats.trace import (
    GroupSums,
    column_values,
    name_all,
    normal_quantile,
    plain_value,
    setting,
    statistic,
    take,
)

STAGES = ("crawled", "cited", "visited", "converted")
COMPLETE = "complete"
"""Visits of the days whose conversions are complete: what the conversion rate is of."""

_READS: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "crawled": [("crawl", ("requests", "hits", "request_count"))],
    "visited": [("conversions", ("sessions", "visits"))],
    "converted": [("conversions", ("conversions",))],
    COMPLETE: [("conversions", ("complete_sessions",))],
    "cited": [("crawl", ("cited_answer_count",)), ("conversions", ("cited_answer_count",))],
}
"""Of each stage the sections that count it, and their columns."""

_WHAT = {"crawled": "requests", "cited": "answers that cite a page", "visited": "visits"}
_ABSENT = "the response does not list the page, which does not mean 0"
_IN_PART = "a part of it has no number, so that the sum is not known"


@dataclass(frozen=True)
class Stage:
    """One stage: its paths and their numbers, what is known of them, why there are none."""

    paths: pd.Index
    numbers: Any
    state: Availability
    why: str = ""

    def of(self, paths: pd.Index) -> Any:
        """The numbers of some paths, NaN where it has none."""
        if not len(self.paths):
            return np.full(len(paths), np.nan)
        places = self.paths.get_indexer(paths)
        return np.where(places >= 0, take(self.numbers, np.maximum(places, 0)), np.nan)


def funnel(data: Mapping[str, Any], errors: Mapping[str, object], level: float) -> pd.DataFrame:
    """Stages from crawled to converted; see ``Dataset.funnel``."""
    check_level(level)
    tables, reasons = {}, {}
    for name, reads in _READS.items():
        for section, columns in reads:
            if section in tables:
                continue
            if section not in data:
                failed = f"failed: {errors[section]}" if section in errors else "was not read"
                reasons[section] = failed
                continue
            frames = [data[section][table] for table in data[section]]
            fits = [frame for frame in frames if "path" in frame and _column(frame, columns)]
            if fits:  # the fewest parts that a row has beside its path or day
                reasons.pop(section, None)
                tables[section] = min(fits, key=lambda frame: len(metadata_of(frame).key))
            else:
                reasons.setdefault(section, f"has no table of {_WHAT.get(name, name)} by page")
    return funnel_of([*tables.values()], [*tables], reasons, level)


def _column(frame: pd.DataFrame, names: Sequence[str]) -> str | None:
    """The column of a count, by the words of its declared name, whatever a frame calls it."""
    columns = metadata_of(frame).columns
    meanings: dict[tuple[str, ...], str] = {}
    for name in frame.select_dtypes("number").columns:
        of = (columns[name].of if name in columns else None) or str(name)
        is_before, stem = stem_of(of.rpartition(".")[2])
        meanings |= {} if is_before else {stem: str(name)}
    stems = [stem_of(name)[1] for name in names]
    return next((meanings[stem] for stem in stems if stem in meanings), None)


@statistic("funnel", "frames")
def funnel_of(
    frames: Sequence[pd.DataFrame],
    names: Sequence[str],
    errors: Mapping[str, str],
    level: float,
) -> pd.DataFrame:
    """Build the funnel from the tables that were read."""
    tables = dict(zip(names, frames, strict=True))
    stages = {
        stage: _stage([_read(tables, errors, stage, *read) for read in reads])
        for stage, reads in _READS.items()
    }
    complete = stages.pop(COMPLETE)
    _check_windows(frames)
    if all(stage.why for stage in stages.values()):
        why = "; ".join(dict.fromkeys(stage.why for stage in stages.values()))
        raise AvailabilityError(f"there is no funnel: {why}", columns=dict.fromkeys(STAGES, why))
    paths = pd.Index([path for stage in stages.values() for path in stage.paths]).unique()
    numbers = [stages[name].of(paths) for name in STAGES]
    largest = np.lexsort([-np.nan_to_num(plain_value(values)) for values in reversed(numbers)])
    keys, of_all = paths[largest], complete.of(paths)
    table = {name: take(part, largest) for name, part in zip(STAGES, numbers, strict=True)}
    is_complete = bool(np.isfinite(plain_value(of_all)).any())
    table["n"] = take(of_all, largest) if is_complete else table["visited"]
    name_all(**table)
    plain = {name: plain_value(values) for name, values in table.items()}
    refer = table["crawled"] / table["visited"]
    rate, q = table["converted"] / table["n"], normal_quantile((1 + setting("level", level)) / 2)
    name_all(rate=rate, q=q)
    ends = wilson(rate, table["n"], q)
    table["crawl_to_refer"] = np.where(plain["visited"] > 0, refer, np.nan)
    is_possible = (plain["n"] > 0) & (plain["converted"] <= plain["n"])
    for end, values in zip(("", "_low", "_high"), (rate, *ends), strict=True):
        table[f"conversion_rate{end}"] = np.where(is_possible, values, np.nan)
    converted = plain_value(table["conversion_rate"])
    which = "all visits, also those of days that are not complete"
    of_visits = "Conversions per visit; too low where those of the last days are not complete."
    if is_complete:
        which = "visits of the days whose conversions are complete"
        of_visits = "Conversions per visit, on days whose conversions are complete."
    states = {
        column: combine(stages[stage].state for stage in rests_on)
        for column, rests_on in _RESTS_ON.items()
    }
    return result(
        "funnel",
        {
            "path": keys,
            **table,
            "verdict": [
                _verdict(key, {name: plain[name][at] for name in STAGES}, converted[at], stages)
                for at, key in enumerate(keys)
            ],
            "method": f"joined on normalised paths; conversions over {which}; Wilson interval, "
            f"{level:.0%}, of visits as independent",
        },
        [*map(metadata_of, frames)],
        key=("path",),
        level=level,
        states={name: replace(state, reason=_once(state.reason)) for name, state in states.items()},
        of_visits=of_visits,
    )


def _check_windows(frames: Sequence[pd.DataFrame]) -> None:
    """Refuse tables of different windows.

    Raises
    ------
    AvailabilityError
        If two sections were asked of different windows or filters.
    """
    windows = {
        (source.host, source.scope, source.window_start, source.window_end): source.section
        for frame in frames
        for source in metadata_of(frame).sources
    }
    if len(windows) > 1:
        names = "; ".join(f"{name}: {key[0]} {key[1]}" for key, name in windows.items())
        why = f"the sections are not of one host and window ({names})"
        raise AvailabilityError(
            f"there is no funnel: {why}; read them in one call", columns=dict.fromkeys(STAGES, why)
        )


def _verdict(
    key: object, values: Mapping[str, float], converted: float, stages: Mapping[str, Stage]
) -> str:
    """Return the stages that have no number and the reasons, or that all are measured."""
    lacking: dict[str, list[str]] = {}
    for name, value in values.items():
        if np.isnan(value):
            stage = stages[name]
            why = stage.why or (_IN_PART if key in stage.paths else _ABSENT)
            lacking.setdefault(why, []).append(name)
    if lacking:
        reasons = (f"{' and '.join(names)}: {why}" for why, names in lacking.items())
        return f"not measured: {'; '.join(reasons)}"
    rate = f"; {percent(converted)} of visits converted" if np.isfinite(converted) else ""
    in_part = [name for name in STAGES if stages[name].state.status == Status.PARTIAL]
    if in_part:
        return f"all stages have a number; partly measured: {', '.join(in_part)}{rate}"
    return f"all stages measured{rate}"


def _read(
    tables: Mapping[str, pd.DataFrame],
    errors: Mapping[str, str],
    stage: str,
    section: str,
    names: Sequence[str],
) -> Stage:
    """Sum a count of a table by path; the sum is missing where a part of it is."""
    frame = tables.get(section)
    column = _column(frame, names) if frame is not None else None
    if frame is None or column is None:
        why = f"the section {section} {errors.get(section, 'was not read')}"
        why = f"the service gives no {_WHAT.get(stage, stage)}" if frame is not None else why
        return Stage(pd.Index([]), [], Availability(Status.UNAVAILABLE, Cause.ABSENT, why), why)
    codes, paths = pd.factorize(frame["path"].map(normal_path, na_action="ignore"))
    rows = np.flatnonzero(codes >= 0)
    many = GroupSums(codes[rows], len(paths), lambda at: {"path": paths[at]})
    numbers = many.total(column_values("c", frame, column, rows))
    if stage == "cited":
        # Two spellings of a path would count an answer that cites both twice.
        is_twice = np.bincount(codes[rows], minlength=len(paths)) > 1
        numbers = np.where(is_twice & (plain_value(numbers) != 0), np.nan, numbers)
    state, why = metadata_of(frame).columns[column].availability, ""
    if not np.isfinite(plain_value(numbers)).any():
        why = str(state) if state.status != Status.AVAILABLE else "nothing was counted"
        if state.status in (Status.AVAILABLE, Status.PARTIAL):
            state = replace(state, status=Status.UNAVAILABLE, cause=state.cause or Cause.NO_ROW)
    return Stage(paths, numbers, state, why)


def _stage(reads: Sequence[Stage]) -> Stage:
    """Combine several tables into a stage; a path's number is that of the first with it."""
    first, *others = [read for read in reads if len(read.paths)] or reads[:1]
    for other in others:
        paths = first.paths.append(other.paths).unique()
        numbers = np.where(paths.isin(first.paths), first.of(paths), other.of(paths))
        why = first.why if other.why else ""
        first = Stage(paths, numbers, combine([first.state, other.state]), why)
    return first


_RESTS_ON = {
    **{stage: (stage,) for stage in STAGES},
    "crawl_to_refer": ("crawled", "visited"),
    "n": ("visited",),
    **dict.fromkeys([f"conversion_rate{end}" for end in ("", "_low", "_high")], STAGES[2:]),
}
"""The stages that each number is computed from."""


def _once(reason: str | None) -> str | None:
    """The parts of a reason, without those that an earlier part already covers."""
    parts: list[str] = []
    for part in (reason or "").split("; "):
        what = part.partition(": ")[2] or part
        if not any(what in other for other in parts if ": " not in other):
            parts.append(part)
    return "; ".join(parts) or None


NOT_SET = "(not set)"
"""The landing page of a visit that recorded none."""

_KEPT = "/-._~!$&'()*+,;=:@"


def normal_path(address: str) -> str:
    """Normalise the path of an address or path.

    Without scheme, host, query and fragment (RFC 3986, 6.2.2 and 6.2.3): escapes are decoded and
    encoded once more, repeated and trailing slashes are dropped, as is an index file. Letters keep
    their case, as paths do.

    Parameters
    ----------
    address : str
        A URL, or its path.

    Examples
    --------
    >>> normal_path("https://acme.example/caf%c3%a9//?ref=top#end"), normal_path("/a/index.html")
    ('/café', '/a')
    >>> normal_path("/caf\\u00e9"), normal_path(""), normal_path("(not set)")
    ('/café', '/', '(not set)')
    """
    if address.strip() == NOT_SET:
        return NOT_SET
    try:
        path = urlsplit(address.strip()).path if "//" in address[:9] else address.strip()
    except ValueError:
        path = address
    path = re.split(r"[?#]", path, maxsplit=1)[0]
    spelt = quote(unquote_to_bytes(path), safe=_KEPT)
    try:
        text = unquote_to_bytes(spelt).decode() if "%2F" not in spelt.upper() else spelt
    except UnicodeDecodeError:
        text = spelt
    parts = [part for part in text.split("/") if part]
    if parts and re.fullmatch(r"(index|default)\.(html?|php|aspx?)", parts[-1].lower()):
        parts.pop()
    return "/" + "/".join(parts)
