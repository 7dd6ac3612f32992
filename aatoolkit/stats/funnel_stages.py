"""The stages of a funnel: what each counts, by path, day or platform, and of which rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.metadata.attrs import Source, metadata_of
from aatoolkit.stats.page_path import normal_path

STAGES = ("crawled", "cited", "visited", "converted")
COMPLETE = "complete"
"""Visits of the days whose conversions are complete: what the conversion rate is of."""

_OPERATORS = {
    "openai": ("chatgpt",),
    "perplexity": ("perplexity",),
    "anthropic": ("claude",),
    "google": ("gemini", "google-ai-overview", "google-ai-mode"),
    "microsoft": ("copilot", "bing"),
    "xai": ("grok",),
    "meta": ("meta-ai",),
    "deepseek": ("deepseek",),
    "mistral": ("mistral", "le-chat"),
}
"""The engines of each operator of crawlers: which crawler feeds which engine."""

READS = {
    "path": ("crawl", "crawl", "conversions", "conversions"),
    "day": ("crawl", "overview", "conversions", "conversions"),
    "platform": ("crawl", "domains", "conversions", "conversions"),
    None: ("crawl", "overview", "conversions", "conversions"),
}
"""The section that each stage is read from."""

TABLES = {
    "path": ("crawl.crawl_paths", "conversions.conversion_landing_pages"),
    "day": ("crawl.crawl_timeseries", "overview.overview_trend", "conversions.conversion_daily"),
    "platform": (
        "crawl.crawl_bots",
        "domains.source_domain_engines",
        "conversions.conversion_engines",
    ),
    None: ("crawl.crawl_bots", "overview.overview_trend", "conversions.conversion_totals"),
}
"""The tables of each way."""


_KEYS = {
    "crawl.crawl_paths": ("path",),
    "crawl.crawl_bots": ("operator",),
    "crawl.crawl_timeseries": ("bucket_start",),
    "conversions.conversion_landing_pages": ("path",),
    "conversions.conversion_engines": ("engine",),
    "conversions.conversion_daily": ("date",),
    "overview.overview_trend": ("date",),
    "domains.source_domain_engines": ("source_domain", "engine"),
}
_REQUESTS = ("requests", "hits", "request_count")


def table_of(tables: Mapping[str, pd.DataFrame], name: str) -> pd.DataFrame | None:
    """The table of a stage: by its name, else the first one with its key and its count."""
    section, _, table = name.partition(".")
    if table in tables:
        return tables[table]
    counts = _REQUESTS if section == "crawl" else (*_COUNTS.values(), "citation_count")
    keys = _KEYS.get(name, ())
    for frame in (tables[each] for each in tables):
        there = [count for count in counts if count in frame.columns]
        if keys and there and all(key in frame.columns for key in keys):
            return frame
    return None


def lacking(name: str, by: str | None) -> str:
    """What no table of a section that was read has, which stages by a key are counted in."""
    what = {"crawl": "requests", "conversions": "visits"}.get(name.partition(".")[0], "citations")
    return f"has no table of {what} " + (f"by {by}" if by else "over the whole window")


@dataclass(frozen=True)
class Stage:
    """One stage: its numbers by key, and why there are none."""

    values: pd.Series
    state: Availability
    why: str | None = None
    sources: tuple[Source, ...] = ()
    rows: tuple[tuple[pd.DataFrame, pd.Series, str], ...] = ()
    """The frames that it was read from, the key of each of their rows, and the column."""


@dataclass(frozen=True)
class StageRows:
    """The origin of a stage: the number of a frame, the keys of its rows, and the column."""

    frame: int
    keys: pd.Series
    column: str

    def places(self, key: Any) -> npt.NDArray[np.intp]:
        """The rows of a key."""
        return np.flatnonzero(self.keys.eq(key).fillna(False).to_numpy(bool))


def rows_of_stages(
    frames: Sequence[pd.DataFrame], names: Sequence[str], by: str | None
) -> dict[str, list[StageRows]]:
    """The rows that each stage was read from."""
    data = by_section(frames, names)
    found: dict[str, list[StageRows]] = {}
    for stage in (*STAGES, COMPLETE):
        rows = stage_of(data, {}, by, stage).rows
        found[stage] = [
            StageRows(number, keys, column)
            for frame, keys, column in rows
            for number, each in enumerate(frames)
            if each is frame
        ]
    return found


def by_section(
    frames: Sequence[pd.DataFrame], names: Sequence[str]
) -> dict[str, dict[str, pd.DataFrame]]:
    """Frames by section and table, of names such as ``crawl.crawl_paths``."""
    data: dict[str, dict[str, pd.DataFrame]] = {}
    for name, frame in zip(names, frames, strict=True):
        section, _, table = name.partition(".")
        data.setdefault(section, {})[table] = frame
    return data


def stage_of(
    data: Mapping[str, Any], errors: Mapping[str, object], by: str | None, stage: str
) -> Stage:
    """Return the counts of one stage, or the reason why there are none."""
    section = READS[by][STAGES.index("converted" if stage == COMPLETE else stage)]
    if section not in data:
        why = f"the section {section} {errors.get(section, 'was not read')}"
        state = Availability(Status.UNAVAILABLE, Cause.ABSENT, why)
        return Stage(pd.Series([], dtype="Float64"), state, why)
    names = [name.partition(".") for name in TABLES[by]]
    if not any(each[0] == section and each[2] in data[section] for each in names):
        why = f"the section {section} has no table of it by {by or 'window'}"
        state = Availability(Status.UNAVAILABLE, Cause.ABSENT, why)
        return Stage(pd.Series([], dtype="Float64"), state, why)
    readers = {"path": _by_path, "day": _by_day, "platform": _by_platform, None: _whole}
    return readers[by](data, stage)


_COUNTS = {"visited": "sessions", "converted": "conversions", COMPLETE: "complete_sessions"}
"""The column of each stage in the tables of conversions; of the whole window with ``ai_``."""


def _visits(frame: pd.DataFrame, key: pd.Series, stage: str, before: str = "") -> Stage:
    """A stage of visits, nothing where the service does not count it."""
    return _read(frame, key, f"{before}{_COUNTS[stage]}")


def _read(frame: pd.DataFrame, key: pd.Series, column: str) -> Stage:
    """A count of a table, added up by a key: missing where a part of it is."""
    if column == "requests":
        column = next((name for name in _REQUESTS if name in frame.columns), column)
    if column not in frame.columns:
        lacking = f"the service gives no {column}"
        state = Availability(Status.UNAVAILABLE, Cause.ABSENT, lacking)
        return Stage(pd.Series([], dtype="Float64"), state, lacking)
    state = metadata_of(frame).columns[column].availability
    values = pd.Series(frame[column].to_numpy(np.float64, na_value=np.nan))
    there = key.notna().to_numpy()
    found = values[there].groupby(key.to_numpy()[there], sort=False).sum(skipna=False)
    sources = metadata_of(frame).sources
    why = None
    if not found.notna().any():
        why = str(state) if state.status != Status.AVAILABLE else "nothing was counted"
        if state.status in (Status.AVAILABLE, Status.PARTIAL):
            state = replace(state, status=Status.UNAVAILABLE, cause=state.cause or Cause.NO_ROW)
    rows = ((frame, key.reset_index(drop=True), column),)
    return Stage(found.astype("Float64"), state, why, sources, rows)


def _by_path(data: Mapping[str, Any], stage: str) -> Stage:
    pages = "conversion_landing_pages"
    if stage in _COUNTS:
        frame = data["conversions"][pages]
        return _visits(frame, frame["path"].map(normal_path, na_action="ignore"), stage)
    frame = data["crawl"]["crawl_paths"]
    if stage == "crawled":
        return _read(frame, frame["path"].map(normal_path, na_action="ignore"), "requests")
    cited = _of_one_path(frame)
    if "conversions" not in data or pages not in data["conversions"]:
        return cited
    more = _of_one_path(data["conversions"][pages])
    whole = pd.concat([cited.values, more.values[~more.values.index.isin(cited.values.index)]])
    return replace(
        cited,
        values=whole,
        state=combine([cited.state, more.state]),
        why=cited.why if not whole.notna().any() else None,
        sources=(*cited.sources, *more.sources),
        rows=(*cited.rows, *more.rows),
    )


def _of_one_path(frame: pd.DataFrame) -> Stage:
    """Answers that cite a path, where no two spellings of it would count an answer twice."""
    key = frame["path"].map(normal_path, na_action="ignore")
    stage = _read(frame, key, "cited_answer_count")
    several = key[key.duplicated()].unique()
    values = stage.values.copy()
    values[values.index.isin(several) & (values != 0).fillna(False)] = pd.NA
    return replace(stage, values=values)


def _by_day(data: Mapping[str, Any], stage: str) -> Stage:
    if stage == "crawled":
        frame = data["crawl"]["crawl_timeseries"]
        days = frame["bucket_start"].dt.tz_convert(None).dt.normalize()
        return _read(frame, days, "requests")
    if stage == "cited":
        frame = data["overview"]["overview_trend"]
        return _read(frame, frame["date"], "citation_count")
    frame = data["conversions"]["conversion_daily"]
    return _visits(frame, frame["date"], stage)


def _platform(engine: str) -> str:
    """The operator of an engine; the engine itself where that is not known."""
    return next((name for name, engines in _OPERATORS.items() if engine in engines), engine)


def _by_platform(data: Mapping[str, Any], stage: str) -> Stage:
    if stage == "crawled":
        frame = data["crawl"]["crawl_bots"]
        return _read(frame, frame["operator"].str.lower(), "requests")
    if stage == "cited":
        frame = data["domains"]["source_domain_engines"]
        own = metadata_of(frame).sources
        hosts = {source.host for source in own if source.host}
        below = tuple(f".{host}" for host in hosts)
        domains = frame["source_domain"].astype("string").str.lower()
        mine = domains.isin(hosts) | domains.str.endswith(below)
        key = frame["engine"].map(_platform, na_action="ignore")
        return _read(frame, key.where(mine.fillna(False)), "citation_count")
    frame = data["conversions"]["conversion_engines"]
    key = frame["engine"].map(_platform, na_action="ignore")
    return _visits(frame, key, stage)


def _whole(data: Mapping[str, Any], stage: str) -> Stage:
    if stage == "crawled":
        frame, column = data["crawl"]["crawl_bots"], "requests"
    elif stage == "cited":
        frame, column = data["overview"]["overview_trend"], "citation_count"
    else:
        frame = data["conversions"]["conversion_totals"]
        return _visits(frame, pd.Series(["all"] * len(frame), dtype="string"), stage, "ai_")
    return _read(frame, pd.Series(["all"] * len(frame), dtype="string"), column)
