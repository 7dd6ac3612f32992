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
from aatoolkit.metadata.attrs import attach, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.stats.estimate import check_level, wilson
from aatoolkit.stats.results import MEASURED, percent, result
from aatoolkit.stats.sums import stem_of
from aatoolkit.stats.trace import (
    Many,
    cells_of,
    name_all,
    normal_quantile,
    plain_value,
    setting,
)

STAGES = ("crawled", "cited", "visited", "converted")
COMPLETE = "complete"
"""Visits of the days whose conversions are complete: what the conversion rate is of."""

_READS: dict[str, list[tuple[str, str, tuple[str, ...]]]] = {
    "crawled": [("crawl", "path", ("requests", "hits", "request_count"))],
    "visited": [("conversions", "path", ("sessions", "visits"))],
    "converted": [("conversions", "path", ("conversions",))],
    COMPLETE: [("conversions", "path", ("complete_sessions",))],
    "cited": [
        ("crawl", "path", ("cited_answer_count",)),
        ("conversions", "path", ("cited_answer_count",)),
        ("urls", "url", ("answer_count",)),
    ],
}
"""Of each stage the sections that count it, on what their rows are joined, and their columns."""

_WHAT = {"crawled": "requests", "cited": "answers that cite a page", "visited": "visits"}
_ABSENT = "not listed, which is not 0"
_IN_PART = "a part of it has no number, so that the sum is not known"


@dataclass(frozen=True)
class Stage:
    """One stage: its numbers by key, why there are none, and the columns that they are of."""

    values: pd.Series
    state: Availability
    why: str = ""
    parts: tuple[tuple[pd.DataFrame, pd.Series, str], ...] = ()

    def numbers(self, keys: list[str]) -> Any:
        """The number of each key: the sum over the rows of the first table that has it."""
        total: Any = np.full(len(keys), np.nan)
        for frame, key, column in reversed(self.parts):
            codes = pd.Index(keys).get_indexer(pd.Index(key))
            rows = np.flatnonzero(codes >= 0)
            many = Many(codes[rows], len(keys), lambda at: {"path": keys[at]})
            is_there = np.isin(np.arange(len(keys)), codes)
            total = np.where(is_there, many.total(cells_of("c", frame, column, rows)), total)
        return np.where(self.values.reindex(keys).notna().to_numpy(bool), total, np.nan)


def funnel(data: Mapping[str, Any], errors: Mapping[str, object], level: float) -> pd.DataFrame:
    """Stages from crawled to converted; see ``Dataset.funnel``."""
    check_level(level)
    tables, reasons = {}, {}
    for name, reads in _READS.items():
        for section, key, columns in reads:
            if section in tables:
                continue
            if section not in data:
                failed = f"failed: {errors[section]}" if section in errors else "was not read"
                reasons[section] = failed
                continue
            frames = [data[section][table] for table in data[section]]
            fits = [frame for frame in frames if key in frame and _column(frame, columns)]
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


@recorded("funnel", "frames")
def funnel_of(
    frames: Sequence[pd.DataFrame],
    names: Sequence[str],
    errors: Mapping[str, str],
    level: float,
) -> pd.DataFrame:
    """The stages, of the tables that were read."""
    tables = dict(zip(names, frames, strict=True))
    stages = {
        stage: _stage([_read(tables, errors, stage, *read) for read in reads])
        for stage, reads in _READS.items()
    }
    complete = stages.pop(COMPLETE)
    _check_windows(stages)
    if all(stage.why for stage in stages.values()):
        why = "; ".join(dict.fromkeys(stage.why for stage in stages.values()))
        raise AvailabilityError(f"there is no funnel: {why}", columns=dict.fromkeys(STAGES, why))
    keys = list(dict.fromkeys(key for stage in stages.values() for key in stage.values.index))
    sizes = [-stages[name].values.reindex(keys).fillna(0) for name in STAGES]
    largest = [*zip(*sizes, strict=True)]
    keys = [keys[at] for at in sorted(range(len(keys)), key=largest.__getitem__)]
    table = {name: stages[name].numbers(keys) for name in STAGES}
    is_complete = bool(complete.values.notna().any())
    table["n"] = complete.numbers(keys) if is_complete else table["visited"]
    name_all(**table)
    pages = np.array([is_page(key) for key in keys], bool)
    plain = {name: plain_value(values) for name, values in table.items()}
    with np.errstate(divide="ignore", invalid="ignore"):
        refer = table["crawled"] / table["visited"]
        rate, q = (
            table["converted"] / table["n"],
            normal_quantile((1 + setting("level", level)) / 2),
        )
        name_all(rate=rate, q=q)
        ends = wilson(rate, table["n"], q)
    table["crawl_to_refer"] = np.where(pages & (plain["visited"] > 0), refer, np.nan)
    is_possible = (plain["n"] > 0) & (plain["converted"] <= plain["n"])
    for end, values in zip(("", "_low", "_high"), (rate, *ends), strict=True):
        table[f"conversion_rate{end}"] = np.where(is_possible, values, np.nan)
    converted = plain_value(table["conversion_rate"])
    which = "all visits, also those of days that are not complete"
    of_visits = "Conversions per visit; too low where those of the last days are not complete."
    if is_complete:
        which = "visits of the days whose conversions are complete"
        of_visits = "Conversions per visit, on days whose conversions are complete."
    frame = result(
        "funnel",
        {
            "path": keys,
            **table,
            "verdict": [
                _verdict(key, {name: plain[name][at] for name in STAGES}, converted[at], stages)
                for at, key in enumerate(keys)
            ],
            "method": "joined on normalised paths, citations of the host without its subdomains; "
            f"conversions over {which}; Wilson interval, {level:.0%}, of "
            "visits as independent",
        },
        None,
        [source for stage in stages.values() for part in stage.parts
         for source in metadata_of(part[0]).sources],
        combine([stage.state for stage in stages.values()]),
        key=("path",),
        level=level,
        of_visits=of_visits,
    )  # fmt: skip
    return _with_states(frame, {name: stage.state for name, stage in stages.items()})


def _check_windows(stages: Mapping[str, Stage]) -> None:
    """Refuse stages of different windows.

    Raises
    ------
    AvailabilityError
        If two sections were asked of different windows or filters.
    """
    windows = {
        (source.host, source.scope, source.window_start, source.window_end): source.section
        for stage in stages.values()
        for part in stage.parts
        for source in metadata_of(part[0]).sources
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
            why = stage.why or (_IN_PART if key in stage.values.index else _ABSENT)
            lacking.setdefault(why, []).append(name)
    if lacking:
        reasons = (f"{' and '.join(names)}: {why}" for why, names in lacking.items())
        return f"not measured: {'; '.join(reasons)}"
    rate = f"; {percent(converted)} of visits converted" if np.isfinite(converted) else ""
    in_part = [name for name in STAGES if stages[name].state.status == Status.PARTIAL]
    if in_part:
        return f"all stages have a number, {' and '.join(in_part)} in part{rate}"
    return f"all stages measured{rate}"


def _read(
    tables: Mapping[str, pd.DataFrame],
    errors: Mapping[str, str],
    stage: str,
    section: str,
    on: str,
    names: Sequence[str],
) -> Stage:
    """A count of a table, added up by a key: missing where a part of it is."""
    frame = tables.get(section)
    column = _column(frame, names) if frame is not None else None
    if frame is None or column is None:
        why = f"the section {section} {errors.get(section, 'was not read')}"
        why = f"the service gives no {_WHAT.get(stage, stage)}" if frame is not None else why
        state = Availability(Status.UNAVAILABLE, Cause.ABSENT, why)
        return Stage(pd.Series([], dtype="Float64"), state, why)
    key = _keys(frame, on)
    state = metadata_of(frame).columns[column].availability
    values = pd.Series(frame[column].to_numpy(np.float64, na_value=np.nan))
    there = key.notna().to_numpy()
    sums = values[there].groupby(key.to_numpy()[there], sort=False).sum(skipna=False)
    if stage == "cited":
        # Two spellings of a path would count an answer that cites both twice.
        sums[sums.index.isin(key[key.duplicated()]) & (sums != 0)] = np.nan
    why = ""
    if not sums.notna().any():
        why = str(state) if state.status != Status.AVAILABLE else "nothing was counted"
        if state.status in (Status.AVAILABLE, Status.PARTIAL):
            state = replace(state, status=Status.UNAVAILABLE, cause=state.cause or Cause.NO_ROW)
    return Stage(sums.astype("Float64"), state, why, ((frame, key.reset_index(drop=True), column),))


def _stage(reads: Sequence[Stage]) -> Stage:
    """A stage that several tables count: by key the first that lists it, in the same words.

    The pages of the section ``urls`` are those of the own host where no other table counts answers.
    """
    first, *others = reads
    for other in others:
        if not other.parts or (other is reads[-1] and first.values.notna().any()):
            continue
        is_new = ~other.values.index.isin(first.values.index)
        values = pd.concat([first.values, other.values[is_new]]) if first.parts else other.values
        why = "" if values.notna().any() else first.why
        state = combine([first.state, other.state]) if first.parts else other.state
        first = Stage(values, state, why, (*first.parts, *other.parts))
    return first


def _keys(frame: pd.DataFrame, on: str) -> pd.Series:
    """What each row of a table is joined on; missing where it is no part of the funnel."""
    paths = frame[on].map(normal_path, na_action="ignore")
    if on == "path":
        return paths
    hosts = {source.host for source in metadata_of(frame).sources}
    return paths.where(frame[on].map(lambda url: _host(url) in hosts, na_action="ignore").eq(True))


def _host(address: str) -> str:
    try:
        return (urlsplit(address.strip()).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


_RESTS_ON = {
    "crawl_to_refer": ("crawled", "visited"),
    "n": ("visited",),
    **dict.fromkeys([f"conversion_rate{end}" for end in ("", "_low", "_high")], STAGES[2:]),
}
"""The stages that each further number is computed from."""


def _with_states(frame: pd.DataFrame, states: Mapping[str, Availability]) -> pd.DataFrame:
    """The frame with the availability of each stage at the columns that rest on it alone."""
    metadata = metadata_of(frame)
    columns = {}
    for name, column in metadata.columns.items():
        parts = [states[part] for part in _RESTS_ON.get(name, (name,)) if part in states]
        state = combine(parts) if parts else MEASURED
        state = replace(state, reason=_once(state.reason))
        lacking = frame[name].isna()
        if lacking.all() and len(frame) and state.status != Status.UNAVAILABLE:
            state = replace(state, status=Status.UNAVAILABLE, cause=state.cause or Cause.NO_ROW)
        elif lacking.any() and state.status == Status.AVAILABLE:
            why = "some rows are not listed" if name in states else "see the verdict of each row"
            state = Availability(Status.PARTIAL, Cause.NO_ROW, why)
        columns[name] = replace(column, availability=state)
    return attach(frame, replace(metadata, columns=columns))


def _once(reason: str | None) -> str | None:
    """The sentences of a reason, each once, of whomever it is stated."""
    parts = [part.strip() for part in (reason or "").split(";")]
    kept: list[str] = []
    for at, part in enumerate(parts):
        rest = " ".join(parts[:at] + parts[at + 1 :])
        sentence = part.partition(": ")[2] or part
        if not (sentence in " ".join(kept) or (sentence != part and sentence in rest)):
            kept.append(part)
    return "; ".join(kept) if reason is not None else None


NOT_SET = "(not set)"
"""The landing page of a visit that recorded none."""

_PAGES = (".html", ".htm", ".php", ".asp", ".aspx", ".jsp", ".shtml", ".xhtml")
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


def is_page(path: str) -> bool:
    """Whether a path is that of a page by its extension, not of a script, image or list.

    Examples
    --------
    >>> is_page("/pricing"), is_page("/robots.txt"), is_page("/v1.2/notes"), is_page("(not set)")
    (True, False, True, False)
    """
    end = re.search(r"\.[a-z][a-z0-9]{0,4}$", path.rpartition("/")[2].lower())
    return path != NOT_SET and (end is None or end[0] in _PAGES)
