"""From crawled to converted: ``Dataset.funnel``, stages joined by path, day or platform."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from posixpath import splitext
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlsplit

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.metadata.attrs import ColumnMetadata, Source, attach, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.stats.cluster_sums import Numbers
from aatoolkit.stats.estimate import wilson
from aatoolkit.stats.results import MEASURED, check_level, percent, result
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

_VISITS = ("visited", "converted", COMPLETE)
_READS = {
    "path": (
        ("crawl.crawl_paths", "path"),
        ("crawl.crawl_paths", "path"),
        ("conversions.conversion_landing_pages", "path"),
    ),
    "day": (
        ("crawl.crawl_timeseries", "bucket_start"),
        ("overview.overview_trend", "date"),
        ("conversions.conversion_daily", "date"),
    ),
    "platform": (
        ("crawl.crawl_bots", "operator"),
        ("domains.source_domain_engines", "engine"),
        ("conversions.conversion_engines", "engine"),
    ),
    None: (
        ("crawl.crawl_bots", "operator"),
        ("overview.overview_trend", "date"),
        ("conversions.conversion_totals", ""),
    ),
}
"""The tables of requests, citations and visits, and what their rows are joined on, each way."""

_COUNTS = {
    "crawled": ("requests", "hits", "request_count"),
    "cited": ("citation_count",),
    "visited": ("sessions",),
    "converted": ("conversions",),
    COMPLETE: ("complete_sessions",),
}
"""The column of each stage, by its names."""

_ABSENT = "not listed, which is not 0"
_IN_PART = "a part of it has no number, so that the sum is not known"
_JOINED = {
    "path": "joined on normalised paths, citations of the host without its subdomains",
    "day": "joined on days: of UTC, visits of the analytics property's time zone",
    "platform": "crawlers joined with engines by their operator",
    None: "totals of the window",
}


@dataclass(frozen=True)
class Stage:
    """One stage: its numbers by key, and why there are none."""

    values: pd.Series
    state: Availability
    why: str | None = None
    sources: tuple[Source, ...] = ()
    rows: tuple[tuple[pd.DataFrame, pd.Series, str], ...] = ()
    """The tables that it was read from, the key of each of their rows, and the column."""

    def numbers(self, keys: list[Any], by: str | None) -> Any:
        """The number of each key: the sum over the rows of the first table that has it."""
        total: Any = np.full(len(keys), np.nan)
        for frame, key, column in reversed(self.rows):
            codes = pd.Index(keys).get_indexer(pd.Index(key))
            rows = np.flatnonzero(codes >= 0)
            many = Many(codes[rows], len(keys), lambda at: {by or "scope": keys[at]})
            is_there = np.isin(np.arange(len(keys)), codes)
            total = np.where(is_there, many.total(cells_of("c", frame, column, rows)), total)
        is_known = self.values.reindex(keys).notna().to_numpy(bool)
        return np.where(is_known, total, np.nan)


def funnel(
    data: Mapping[str, Any], errors: Mapping[str, object], by: str | None, level: float
) -> pd.DataFrame:
    """Stages from crawled to converted; see ``Dataset.funnel``."""
    check_level(level)
    if by not in _READS:
        raise ArgumentError(f"by={by!r} is none of {', '.join(map(repr, _READS))}")
    tables, reasons = {}, {}
    for (name, key), what in zip(_READS[by], ("requests", "citations", "visits"), strict=True):
        section = name.partition(".")[0]
        if section not in data:
            failed = f"failed: {errors[section]}" if section in errors else "was not read"
            reasons[section] = failed
        elif (frame := _table(data[section], name, key)) is not None:
            tables[name] = frame
        else:
            over = f"by {by}" if by else "over the whole window"
            reasons[section] = f"has no table of {what} {over}"
    return funnel_of([*tables.values()], [*tables], reasons, by, level)


def _table(tables: Mapping[str, pd.DataFrame], name: str, key: str) -> pd.DataFrame | None:
    """The table of a stage: by its name, else the first one with its key and its count."""
    section, _, table = name.partition(".")
    if table in tables:
        return tables[table]
    keys = [key, *(["source_domain"] if section == "domains" else [])]
    stages = {"crawl": ["crawled"], "conversions": _VISITS}.get(section, ["cited"])
    counts = {column for stage in stages for column in _COUNTS[stage]}
    for frame in (tables[other] for other in tables):
        if key and counts & {*frame.columns} and all(column in frame.columns for column in keys):
            return frame
    return None


@recorded("funnel", "frames")
def funnel_of(
    frames: Sequence[pd.DataFrame],
    names: Sequence[str],
    errors: Mapping[str, str],
    by: str | None,
    level: float,
) -> pd.DataFrame:
    """The stages, of the tables that were read."""
    tables = dict(zip(names, frames, strict=True))
    stages = {stage: stage_of(tables, errors, by, stage) for stage in (*STAGES, COMPLETE)}
    complete = stages.pop(COMPLETE)
    _check_windows(stages)
    if all(stage.why for stage in stages.values()):
        why = "; ".join(dict.fromkeys(stage.why or "" for stage in stages.values()))
        raise AvailabilityError(f"there is no funnel: {why}", columns=dict.fromkeys(STAGES, why))
    keys = list(dict.fromkeys(key for stage in stages.values() for key in stage.values.index))
    sizes = [-stage.values.reindex(keys).fillna(0) for stage in stages.values()]
    largest = [*zip(*sizes, strict=True)]
    order = sorted(range(len(keys)), key=lambda at: keys[at] if by == "day" else largest[at])
    keys = [keys[at] for at in order]
    table = {name: stage.numbers(keys, by) for name, stage in stages.items()}
    is_complete = bool(complete.values.notna().any())
    table["n"] = complete.numbers(keys, by) if is_complete else table["visited"]
    name_all(**table)
    return _described(keys, table, stages, by, level, is_complete=is_complete)


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
    table: Mapping[str, Numbers],
    stages: Mapping[str, Stage],
    by: str | None,
    level: float,
    *,
    is_complete: bool,
) -> pd.DataFrame:
    """One row a key."""
    pages = np.array([by != "path" or is_page(str(key)) for key in keys], bool)
    plain = {name: plain_value(values) for name, values in table.items()}
    is_possible = (plain["n"] > 0) & (plain["converted"] <= plain["n"])
    with np.errstate(divide="ignore", invalid="ignore"):
        refer = table["crawled"] / table["visited"]
        rate, q = (
            table["converted"] / table["n"],
            normal_quantile((1 + setting("level", level)) / 2),
        )
        name_all(rate=rate, q=q)
        ends = wilson(rate, table["n"], q)
    rates = {"crawl_to_refer": np.where(pages & (plain["visited"] > 0), refer, np.nan)}
    for end, values in zip(("", "_low", "_high"), (rate, *ends), strict=True):
        rates[f"conversion_rate{end}"] = np.where(is_possible, values, np.nan)
    converted = plain_value(rates["conversion_rate"])
    verdicts = [
        _verdict(key, at, plain, float(converted[at]), stages) for at, key in enumerate(keys)
    ]
    of_visits = "Conversions per visit; too low where those of the last days are not complete."
    which = "conversions over all visits, also those of days that are not complete"
    if is_complete:
        of_visits = "Conversions per visit, on days whose conversions are complete."
        which = "conversions over visits of the days whose conversions are complete"
    how = f"{_JOINED[by]}; {which}; Wilson interval, {level:.0%}, of visits as independent"
    cited = ("Citations of the own pages.", "citations")
    if by == "path":
        cited = ("Answers that cite it.", "answers")
    key = by or "scope"
    frame = result(
        "funnel",
        {
            key: keys if by == "day" else [*map(str, keys)],
            **{name: table[name] for name in STAGES},
            **rates,
            "n": table["n"],
            "verdict": verdicts,
            "method": [how] * len(keys),
        },
        None,
        [source for stage in stages.values() for source in stage.sources],
        combine([stage.state for stage in stages.values()]),
        key=(key,),
        level=level,
        cited=cited[0],
        cites=cited[1],
        of_visits=of_visits,
    )
    return with_states(frame, {name: stage.state for name, stage in stages.items()})


def _verdict(
    key: object,
    at: int,
    table: Mapping[str, Numbers],
    converted: float,
    stages: Mapping[str, Stage],
) -> str:
    """Return the stages that have no number and the reasons, or that all are measured."""
    lacking: dict[str, list[str]] = {}
    for name, stage in stages.items():
        if np.isnan(table[name][at]):
            why = stage.why or (_IN_PART if key in stage.values.index else _ABSENT)
            lacking.setdefault(why, []).append(name)
    if lacking:
        reasons = (f"{' and '.join(names)}: {why}" for why, names in lacking.items())
        return f"not measured: {'; '.join(reasons)}"
    rate = f"; {percent(converted)} of visits converted" if np.isfinite(converted) else ""
    in_part = [name for name, stage in stages.items() if stage.state.status == Status.PARTIAL]
    if in_part:
        return f"all stages have a number, {' and '.join(in_part)} in part{rate}"
    return f"all stages measured{rate}"


def stage_of(
    tables: Mapping[str, pd.DataFrame], errors: Mapping[str, str], by: str | None, stage: str
) -> Stage:
    """Return the counts of one stage, or the reason why there are none."""
    name, key = _READS[by][2 if stage in _VISITS else STAGES.index(stage)]
    if name not in tables:
        section = name.partition(".")[0]
        return _nothing(f"the section {section} {errors.get(section, 'was not read')}")
    if by != "path" or stage != "cited":
        prefix = "ai_" if by is None and stage in _VISITS else ""
        columns = [f"{prefix}{column}" for column in _COUNTS[stage]]
        return _read(tables[name], _keys(tables[name], by, key), columns)
    cited = _of_one_path(tables[name])
    name = _READS[by][2][0]
    if name not in tables:
        return cited
    more = _of_one_path(tables[name])
    whole = pd.concat([cited.values, more.values[~more.values.index.isin(cited.values.index)]])
    return replace(
        cited,
        values=whole,
        state=combine([cited.state, more.state]),
        why=cited.why if not whole.notna().any() else None,
        sources=(*cited.sources, *more.sources),
        rows=(*cited.rows, *more.rows),
    )


def _nothing(why: str) -> Stage:
    state = Availability(Status.UNAVAILABLE, Cause.ABSENT, why)
    return Stage(pd.Series([], dtype="Float64"), state, why)


def _read(frame: pd.DataFrame, key: pd.Series, columns: Sequence[str]) -> Stage:
    """A count of a table, added up by a key: missing where a part of it is."""
    column = next((column for column in columns if column in frame.columns), None)
    if column is None:
        return _nothing(f"the service gives no {columns[0]}")
    state = metadata_of(frame).columns[column].availability
    values = pd.Series(frame[column].to_numpy(np.float64, na_value=np.nan))
    there = key.notna().to_numpy()
    sums = values[there].groupby(key.to_numpy()[there], sort=False).sum(skipna=False)
    why = None
    if not sums.notna().any():
        why = str(state) if state.status != Status.AVAILABLE else "nothing was counted"
        if state.status in (Status.AVAILABLE, Status.PARTIAL):
            state = replace(state, status=Status.UNAVAILABLE, cause=state.cause or Cause.NO_ROW)
    rows = ((frame, key.reset_index(drop=True), column),)
    return Stage(sums.astype("Float64"), state, why, metadata_of(frame).sources, rows)


def _of_one_path(frame: pd.DataFrame) -> Stage:
    """Answers that cite a path, where no two spellings of it would count an answer twice."""
    key = _keys(frame, "path", "path")
    stage = _read(frame, key, ["cited_answer_count"])
    several = key[key.duplicated()].unique()
    values = stage.values.copy()
    values[values.index.isin(several) & (values != 0).fillna(False)] = pd.NA
    return replace(stage, values=values)


def _keys(frame: pd.DataFrame, by: str | None, key: str) -> pd.Series:
    """What each row of a table is joined on; missing where it is no part of the funnel."""
    if by is None:
        return pd.Series(["all"] * len(frame), dtype="string")
    if by == "path":
        return frame[key].map(normal_path, na_action="ignore")
    if by == "day":
        is_moment = getattr(frame[key].dtype, "tz", None) is not None
        return frame[key].dt.tz_convert(None).dt.normalize() if is_moment else frame[key]
    if key == "operator":
        return frame[key].str.lower()
    platform = frame[key].map(_platform, na_action="ignore")
    if "source_domain" not in frame.columns:
        return platform
    hosts = {source.host for source in metadata_of(frame).sources if source.host}
    domains = frame["source_domain"].astype("string").str.lower()
    own = domains.isin(hosts) | domains.str.endswith(tuple(f".{host}" for host in hosts))
    return platform.where(own.fillna(False))


def _platform(engine: str) -> str:
    """The operator of an engine; the engine itself where that is not known."""
    return next((name for name, engines in _OPERATORS.items() if engine in engines), engine)


_RESTS_ON = {
    "crawl_to_refer": ("crawled", "visited"),
    "conversion_rate": ("visited", "converted"),
    "conversion_rate_low": ("visited", "converted"),
    "conversion_rate_high": ("visited", "converted"),
    "n": ("visited",),
}
"""The stages that each further number is computed from."""


def with_states(frame: pd.DataFrame, states: Mapping[str, Availability]) -> pd.DataFrame:
    """The frame with the availability of each stage at the columns that rest on it, and no others.

    Parameters
    ----------
    frame : pandas.DataFrame
        The funnel.
    states : mapping of str to Availability
        What is known of each stage.
    """
    metadata = metadata_of(frame)
    columns: dict[str, ColumnMetadata] = {}
    for name, column in metadata.columns.items():
        parts = [states[each] for each in _RESTS_ON.get(name, (name,)) if each in states]
        state = combine(parts) if parts else MEASURED
        state = replace(state, reason=_once(state.reason))
        if frame[name].isna().all() and len(frame) and state.status != Status.UNAVAILABLE:
            state = replace(state, status=Status.UNAVAILABLE, cause=state.cause or Cause.NO_ROW)
        elif frame[name].isna().any() and state.status == Status.AVAILABLE:
            why = "some rows are not listed" if name in states else "see the verdict of each row"
            state = Availability(Status.PARTIAL, Cause.NO_ROW, why)
        columns[name] = replace(column, availability=state)
    return attach(frame, replace(metadata, columns=columns))


def _once(reason: str | None) -> str | None:
    """The sentences of a reason, each once, of whomever it is stated."""
    if reason is None:
        return None
    parts = [part.strip() for part in reason.split(";")]
    kept: list[str] = []
    for at, part in enumerate(parts):
        rest = " ".join(parts[:at] + parts[at + 1 :])
        sentence = part.partition(": ")[2] or part
        repeated = sentence in " ".join(kept) or (sentence != part and sentence in rest)
        if not repeated:
            kept.append(part)
    return "; ".join(kept)


NOT_SET = "(not set)"
"""The landing page of a visit that recorded none."""

_PAGES = ("", ".html", ".htm", ".php", ".asp", ".aspx", ".jsp", ".shtml", ".xhtml")
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
        shown = unquote_to_bytes(spelt).decode() if "%2F" not in spelt.upper() else spelt
    except UnicodeDecodeError:
        shown = spelt
    parts = [part for part in shown.split("/") if part]
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
    end = splitext(path.rsplit("/", 1)[-1])[1].lower()
    return path != NOT_SET and (end in _PAGES or not re.fullmatch(r"\.[a-z][a-z0-9]{0,4}", end))
