"""``Dataset.funnel``: how often each page was crawled, cited, visited and converted."""

# For each stage, the column with its counts is found by its name in a table with a row per page.

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
from aatoolkit.stats.estimate import check_level, wilson_interval
from aatoolkit.stats.results import FUNNEL_STAGES, format_percent, make_result
from aatoolkit.stats.sums import split_off_period
from aatoolkit.stats.trace import (
    GroupSums,
    column_values,
    confidence_quantile,
    name_traced_values,
    record_statistic,
    take,
    untrace,
)

COMPLETE_DAYS_STAGE = "complete"
"""Visits of the days whose conversions are complete: the denominator of the conversion rate."""

STAGES = tuple(stage for stage in FUNNEL_STAGES if stage != COMPLETE_DAYS_STAGE)
_NOT_LISTED_REASON = "the response does not list the page, which does not mean 0"
_MISSING_COUNT_REASON = "a part of it has no number, so that the sum is not known"


@dataclass(frozen=True)
class Stage:
    """The counts of one stage of the funnel, such as the number of visits for each URL path.

    ``reason`` is the reason why the stage has no counts, or "".
    """

    paths: pd.Index
    counts: Any
    availability: Availability
    reason: str = ""

    def counts_of(self, paths: pd.Index) -> Any:
        """Return the counts of the given URL paths as an array; NaN for a path without a count."""
        if not len(self.paths):
            return np.full(len(paths), np.nan)
        path_positions = self.paths.get_indexer(paths)
        return np.where(
            path_positions >= 0, take(self.counts, np.maximum(path_positions, 0)), np.nan
        )


def funnel(
    dataset: Mapping[str, Any], error_by_section: Mapping[str, object], confidence_level: float
) -> pd.DataFrame:
    """Count how often each page was crawled, cited and so on; see ``Dataset.funnel``."""
    check_level(confidence_level)
    table_by_section = {}
    reason_by_section = {}
    # Stages that one section alone counts come first: they tell which of its tables to take.
    for stage_fields in sorted(FUNNEL_STAGES.values(), key=lambda fields: len(fields["counts"])):
        for section_name, column_names in stage_fields["counts"].items():
            if section_name in table_by_section:
                continue
            if section_name not in dataset:
                reason_by_section[section_name] = (
                    f"failed: {error_by_section[section_name]}"
                    if section_name in error_by_section
                    else "was not read"
                )
                continue
            candidate_frames = [
                frame
                for frame in dataset[section_name].values()
                if "path" in frame and _find_count_column(frame, column_names)
            ]
            if candidate_frames:  # the table with the shortest key
                reason_by_section.pop(section_name, None)
                table_by_section[section_name] = min(
                    candidate_frames, key=lambda frame: len(metadata_of(frame).key)
                )
            else:
                reason_by_section.setdefault(
                    section_name, f"has no table of {stage_fields['noun']} by page"
                )
    return funnel_from_tables(
        [*table_by_section.values()], [*table_by_section], reason_by_section, confidence_level
    )


def _find_count_column(frame: pd.DataFrame, candidate_names: Sequence[str]) -> str | None:
    """Return the first number column whose name matches one of ``candidate_names``, or None."""
    metadata_by_column = metadata_of(frame).columns
    name_by_stem: dict[tuple[str, ...], str] = {}
    for name in map(str, frame.select_dtypes("number").columns):
        is_previous_period, stem = split_off_period(
            (metadata_by_column[name].declared_name or name).rpartition(".")[2]
        )
        name_by_stem |= {} if is_previous_period else {stem: name}
    stems = [split_off_period(name)[1] for name in candidate_names]
    return next((name_by_stem[stem] for stem in stems if stem in name_by_stem), None)


@record_statistic("funnel", "frames")
def funnel_from_tables(
    frames: Sequence[pd.DataFrame], names: Sequence[str], errors: Mapping[str, str], level: float
) -> pd.DataFrame:
    """Return the funnel as a frame with one row per URL path, from the tables of each section.

    ``names`` has the section of each frame. ``errors`` maps sections that were not read to the
    reason.
    """
    table_by_section = dict(zip(names, frames, strict=True))
    stage_by_name = {
        stage_name: _combine_stages(
            [
                _make_stage(table_by_section, errors, stage_fields, *section_and_columns)
                for section_and_columns in stage_fields["counts"].items()
            ]
        )
        for stage_name, stage_fields in FUNNEL_STAGES.items()
    }
    complete_days_stage = stage_by_name.pop(COMPLETE_DAYS_STAGE)
    _check_windows(frames)
    if all(stage.reason for stage in stage_by_name.values()):
        reason = "; ".join(dict.fromkeys(stage.reason for stage in stage_by_name.values()))
        raise AvailabilityError(
            f"there is no funnel: {reason}", columns=dict.fromkeys(STAGES, reason)
        )
    paths = pd.Index([path for stage in stage_by_name.values() for path in stage.paths]).unique()
    count_arrays = [stage_by_name[stage_name].counts_of(paths) for stage_name in STAGES]
    row_order = np.lexsort(
        [-np.nan_to_num(untrace(column_array)) for column_array in reversed(count_arrays)]
    )
    sorted_paths = paths[row_order]
    complete_visits = complete_days_stage.counts_of(paths)
    array_by_column = {
        stage_name: take(column_array, row_order)
        for stage_name, column_array in zip(STAGES, count_arrays, strict=True)
    }
    has_complete_visits = bool(np.isfinite(untrace(complete_visits)).any())
    array_by_column["n"] = (
        take(complete_visits, row_order) if has_complete_visits else array_by_column["visited"]
    )
    name_traced_values(**array_by_column)
    plain_array_by_column = {
        column: untrace(column_array) for column, column_array in array_by_column.items()
    }
    crawls_per_visit = array_by_column["crawled"] / array_by_column["visited"]
    rate = array_by_column["converted"] / array_by_column["n"]
    q = confidence_quantile(level)
    name_traced_values(rate=rate, q=q)
    array_by_column["crawl_to_refer"] = np.where(
        plain_array_by_column["visited"] > 0, crawls_per_visit, np.nan
    )
    is_valid_rate = (plain_array_by_column["n"] > 0) & (
        plain_array_by_column["converted"] <= plain_array_by_column["n"]
    )
    for suffix, column_array in zip(
        ("", "_low", "_high"), (rate, *wilson_interval(rate, array_by_column["n"], q)), strict=True
    ):
        array_by_column[f"conversion_rate{suffix}"] = np.where(is_valid_rate, column_array, np.nan)
    conversion_rates = untrace(array_by_column["conversion_rate"])
    visits_text = "all visits, also those of days that are not complete"
    rate_meaning = "Conversions per visit; too low where those of the last days are not complete."
    if has_complete_visits:
        visits_text = "visits of the days whose conversions are complete"
        rate_meaning = "Conversions per visit, on days whose conversions are complete."
    return make_result(
        "funnel",
        {
            "path": sorted_paths,
            **array_by_column,
            "verdict": [
                _verdict(
                    path,
                    {name: plain_array_by_column[name][row_index] for name in STAGES},
                    conversion_rates[row_index],
                    stage_by_name,
                )
                for row_index, path in enumerate(sorted_paths)
            ],
            "method": f"joined on normalised paths; conversions over {visits_text}; "
            f"Wilson interval, {level:.0%}, of visits as independent",
        },
        [*map(metadata_of, frames)],
        key_columns=("path",),
        level=level,
        availability_by_column={
            column: combine(stage_by_name[name].availability for name in stage_names)
            for column, stage_names in _STAGE_NAMES_BY_COLUMN.items()
        },
        of_visits=rate_meaning,
    )


def _check_windows(frames: Sequence[pd.DataFrame]) -> None:
    """Raise `AvailabilityError` if the tables were read for different hosts, days or filters."""
    section_by_window = {
        (source.host, source.scope, source.window_start, source.window_end): source.section
        for frame in frames
        for source in metadata_of(frame).sources
    }
    if len(section_by_window) > 1:
        window_texts = "; ".join(
            f"{section}: {window[0]} {window[1]}" for window, section in section_by_window.items()
        )
        reason = f"the sections are not of one host and window ({window_texts})"
        raise AvailabilityError(
            f"there is no funnel: {reason}; read them in one call",
            columns=dict.fromkeys(STAGES, reason),
        )


def _verdict(
    path: object,
    count_by_stage: Mapping[str, float],
    conversion_rate: float,
    stage_by_name: Mapping[str, Stage],
) -> str:
    """Return the verdict on one page: which stages were not measured, and why; or that all were.

    ``count_by_stage`` has the page's count in each stage, and ``conversion_rate`` its conversion
    rate.
    """
    stage_names_by_reason: dict[str, list[str]] = {}
    for stage_name, stage_count in count_by_stage.items():
        if np.isnan(stage_count):
            stage = stage_by_name[stage_name]
            reason = stage.reason or (
                _MISSING_COUNT_REASON if path in stage.paths else _NOT_LISTED_REASON
            )
            stage_names_by_reason.setdefault(reason, []).append(stage_name)
    if stage_names_by_reason:
        reason_texts = (
            f"{' and '.join(stage_names)}: {reason}"
            for reason, stage_names in stage_names_by_reason.items()
        )
        return f"not measured: {'; '.join(reason_texts)}"
    rate_note = (
        f"; {format_percent(conversion_rate)} of visits converted"
        if np.isfinite(conversion_rate)
        else ""
    )
    partial_stage_names = [
        stage_name
        for stage_name in STAGES
        if stage_by_name[stage_name].availability.status == Status.PARTIAL
    ]
    if partial_stage_names:
        names_text = ", ".join(partial_stage_names)
        return f"all stages have a number; partly measured: {names_text}{rate_note}"
    return f"all stages measured{rate_note}"


def _make_stage(
    table_by_section: Mapping[str, pd.DataFrame],
    reason_by_section: Mapping[str, str],
    stage_fields: Mapping[str, Any],
    section_name: str,
    candidate_names: Sequence[str],
) -> Stage:
    """Return one stage of the funnel, such as visits: its count of each URL path in one section.

    ``stage_fields`` is the entry of the stage in `FUNNEL_STAGES`. ``candidate_names`` are the names
    that the column of counts may have. ``reason_by_section`` maps sections that were not read to
    the reason.
    """
    frame = table_by_section.get(section_name)
    count_column = _find_count_column(frame, candidate_names) if frame is not None else None
    if frame is None or count_column is None:
        reason = f"the service gives no {stage_fields['noun']}"
        if frame is None:
            reason = (
                f"the section {section_name} {reason_by_section.get(section_name, 'was not read')}"
            )
        return Stage(
            pd.Index([]), [], Availability(Status.UNAVAILABLE, Cause.ABSENT, reason), reason
        )
    path_codes, paths = pd.factorize(frame["path"].map(normalize_path, na_action="ignore"))
    row_positions = np.flatnonzero(path_codes >= 0)
    sums_by_path = GroupSums(
        path_codes[row_positions], len(paths), lambda path_index: {"path": paths[path_index]}
    )
    counts = sums_by_path.total(column_values("c", frame, count_column, row_positions))
    if stage_fields["unit"] == "answers":
        # Two spellings of a path would count an answer that cites both twice.
        is_repeated = np.bincount(path_codes[row_positions], minlength=len(paths)) > 1
        counts = np.where(is_repeated & (untrace(counts) != 0), np.nan, counts)
    availability = metadata_of(frame).columns[count_column].availability
    reason = ""
    if not np.isfinite(untrace(counts)).any():
        reason = (
            str(availability) if availability.status != Status.AVAILABLE else "nothing was counted"
        )
        if availability.status in (Status.AVAILABLE, Status.PARTIAL):
            availability = replace(
                availability, status=Status.UNAVAILABLE, cause=availability.cause or Cause.NO_ROW
            )
    return Stage(paths, counts, availability, reason)


def _combine_stages(stages: Sequence[Stage]) -> Stage:
    """Combine the counts of one stage from several sections; a path keeps its first count."""
    combined_stage, *other_stages = [stage for stage in stages if len(stage.paths)] or stages[:1]
    for other_stage in other_stages:
        paths = combined_stage.paths.append(other_stage.paths).unique()
        counts = np.where(
            paths.isin(combined_stage.paths),
            combined_stage.counts_of(paths),
            other_stage.counts_of(paths),
        )
        reason = combined_stage.reason if other_stage.reason else ""
        combined_stage = Stage(
            paths, counts, combine([combined_stage.availability, other_stage.availability]), reason
        )
    return combined_stage


_STAGE_NAMES_BY_COLUMN = {
    **{name: (name,) for name in STAGES},
    "crawl_to_refer": ("crawled", "visited"),
    "n": ("visited",),
    **dict.fromkeys(
        [f"conversion_rate{end}" for end in ("", "_low", "_high")], ("visited", "converted")
    ),
}
"""For each column of the result, the stages that it is computed from."""


UNKNOWN_PAGE_PATH = "(not set)"
"""The text in place of a landing page if none was recorded for a visit."""

# Characters that are not percent-encoded in paths.
_UNESCAPED_CHARACTERS = "/-._~!$&'()*+,;=:@"


def normalize_path(url: str) -> str:
    """Return the normalised path of a URL or path.

    Examples
    --------
    >>> normalize_path("https://a.example/caf%c3%a9//?ref=top#end"), normalize_path("/a/index.html")
    ('/café', '/a')
    >>> normalize_path("/caf\\u00e9"), normalize_path(""), normalize_path("(not set)")
    ('/café', '/', '(not set)')
    """
    # Percent escapes are decoded and encoded anew (RFC 3986, 6.2.2 and 6.2.3). The case of letters
    # is kept, as it may matter in paths.
    if url.strip() == UNKNOWN_PAGE_PATH:
        return UNKNOWN_PAGE_PATH
    try:
        path = urlsplit(url.strip()).path if "//" in url[:9] else url.strip()
    except ValueError:
        path = url
    path = re.split(r"[?#]", path, maxsplit=1)[0]
    encoded_path = quote(unquote_to_bytes(path), safe=_UNESCAPED_CHARACTERS)
    try:
        decoded_path = (
            unquote_to_bytes(encoded_path).decode()
            if "%2F" not in encoded_path.upper()
            else encoded_path
        )
    except UnicodeDecodeError:
        decoded_path = encoded_path
    segments = [segment for segment in decoded_path.split("/") if segment]
    if segments and re.fullmatch(r"(index|default)\.(html?|php|aspx?)", segments[-1].lower()):
        segments.pop()
    return "/" + "/".join(segments)
