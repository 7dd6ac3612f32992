"""Compare two studies, and compare the results of an analysis with those of a later run.

A study is a folder of recorded responses, and of results that were computed from them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from aatoolkit._util.files import write_bytes
from aatoolkit._util.text import counted, print_wrapped, visible
from aatoolkit.errors import StudyError, item_not_found
from aatoolkit.frame.csv import as_texts
from aatoolkit.frame.groupby import flatten_index
from aatoolkit.frame.parquet import read_parquet, write_parquet
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.table_hash import logical_hash
from aatoolkit.normalizer.tables import Tables
from aatoolkit.sections.profile import SCOPE_OPTIONS
from aatoolkit.study.files import (
    PARSING_ERRORS,
    RESULTS_FILE,
    SEAL_FILE,
    SHA256_PATTERN,
    FolderFiles,
    JsonObject,
    format_json,
    open_files,
    parse_json,
    result_file_name,
    software_versions,
    unseal,
)
from aatoolkit.study.recording import RERUN_RESULTS_ENV, read_rerun_path, read_usable_tables

if TYPE_CHECKING:
    from aatoolkit.study.study import Study

MAX_LISTED_DIFFERENCES = 6
"""How many differences of each kind are printed at most."""

_LOCATION_COLUMNS = ("host", "section", "scope", "table", "key", "column")
_DIFFERENCE_COLUMNS = ("kind", *_LOCATION_COLUMNS, "before", "after", "change")


@dataclass(frozen=True, repr=False, eq=False)
class StudyDiff:
    """The differences between two studies, as one tidy DataFrame.

    Requests match if host, section and filters are equal. Rows match if the key columns of their
    table are equal.

    Attributes
    ----------
    same : int
        The number of requests whose response is the same, byte for byte, in both studies.
    changes : pandas.DataFrame
        One row per difference, with these columns:

        - ``kind``: ``response`` (its status or SHA-256 differs, or only one study has it),
          ``availability`` (whether a column was measured), ``drift`` (the response deviates from
          the declared tables in only one study), ``row`` (only one study has it) or ``cell``;
        - ``host``, ``section``, ``scope``, ``table``, ``key``, ``column``: where the difference is;
        - ``before``, ``after``: the values as text, missing if a study has none;
        - ``change``: for numbers, the value after minus the value before.
    """

    same: int
    changes: pd.DataFrame

    @property
    def is_same(self) -> bool:
        """Whether both studies have the same responses to the same requests."""
        return not self.changes["kind"].eq("response").any()

    def __repr__(self) -> str:
        if self.is_same:
            return f"<StudyDiff: the responses to {counted(self.same, 'request')} are the same>"
        changes_by_kind = [*self.changes.groupby("kind", sort=False)]
        counts_text = ", ".join(
            counted(len(rows), str(kind).replace("availability", "state"))
            for kind, rows in changes_by_kind
        )
        lines = [f"<StudyDiff: {counted(self.same, 'response')} unchanged; changed: {counts_text}>"]
        for kind, rows in changes_by_kind:
            lines += [f"  {kind}: {sentence}" for sentence in difference_sentences(rows)]
            if len(rows) > MAX_LISTED_DIFFERENCES:
                lines.append(
                    f"  {kind}: {len(rows) - MAX_LISTED_DIFFERENCES:,} more; .changes has all"
                )
        return "\n".join(lines)

    _repr_pretty_ = print_wrapped


def difference_sentences(changes: pd.DataFrame) -> list[str]:
    """Return sentences on the largest differences between two studies or results.

    ``changes`` is a frame like `StudyDiff.changes`, with one row per difference. There are at most
    `MAX_LISTED_DIFFERENCES` sentences.
    """
    # The size of a change is relative to the largest change in the same column.
    sentences = []
    change_sizes = changes["change"].abs()
    change_sizes /= change_sizes.groupby(
        [changes["table"], changes["column"]], dropna=False
    ).transform("max")
    largest_changes = change_sizes.fillna(0).nlargest(MAX_LISTED_DIFFERENCES).index
    for row in changes.loc[largest_changes].astype(object).to_dict("records"):
        row = {str(name): value for name, value in row.items() if not pd.isna(value)}
        location_columns = [name for name in _LOCATION_COLUMNS if name in row and name != "host"]
        location = " ".join(
            f"[{row[name]}]" if name == "key" else str(row[name]) for name in location_columns
        )
        before_and_after = [row.get("before", "nothing"), row.get("after", "nothing")]
        difference_text = f"{before_and_after[0]} → {before_and_after[1]}"
        if row["kind"] != "cell" and "nothing" in before_and_after:
            difference_text = "only before" if before_and_after[1] == "nothing" else "only after"
        change_text = f" ({row['change']:+.6g})" if "change" in row else ""
        sentences.append(visible(f"{location}: {difference_text}{change_text}"))
    return sentences


def frame_differences(
    before: pd.DataFrame, after: pd.DataFrame, key: Sequence[str]
) -> pd.DataFrame:
    """Return a frame like `StudyDiff.changes` of the rows and cells that differ between two frames.

    Rows match if the columns ``key`` are equal. If ``key`` is empty or not unique, rows match by
    position.
    """
    frames = [flatten_index(frame) for frame in (before, after)]
    comparable_frames = [
        pd.DataFrame({str(name): _to_comparable(frame[name]) for name in frame if name != "_row"})
        for frame in frames
    ]
    row_labels = [_row_labels(frame, key) for frame in comparable_frames]
    if not key or any(labels.has_duplicates for labels in row_labels):
        row_labels = [
            pd.RangeIndex(len(frame)).map(lambda position: f"row={position}")
            for frame in comparable_frames
        ]
    before_frame, after_frame = (
        frame.set_axis(labels) for frame, labels in zip(comparable_frames, row_labels, strict=True)
    )
    difference_frames = [
        pd.DataFrame(
            {"kind": "row", "key": labels.difference(other_labels, sort=False), value_column: "row"}
        )
        for value_column, labels, other_labels in (
            ("before", before_frame.index, after_frame.index),
            ("after", after_frame.index, before_frame.index),
        )
    ]
    common_labels = before_frame.index.intersection(after_frame.index, sort=False)
    for column in before_frame.columns.intersection(after_frame.columns, sort=False):
        old_cells = before_frame.loc[common_labels, column]
        new_cells = after_frame.loc[common_labels, column]
        is_numeric = all(
            pd.api.types.is_numeric_dtype(cells) and cells.dtype != "boolean"
            for cells in (old_cells, new_cells)
        )
        if old_cells.dtype != new_cells.dtype and not is_numeric:
            old_cells = old_cells.astype("string")
            new_cells = new_cells.astype("string")
        is_changed = ~(
            (old_cells == new_cells).fillna(False).astype(bool)
            | (old_cells.isna() & new_cells.isna())
        )
        old_cells = old_cells[is_changed]
        new_cells = new_cells[is_changed]
        location = {"kind": "cell", "key": old_cells.index, "column": column}
        cell_texts = {"before": as_texts(old_cells).array, "after": as_texts(new_cells).array}
        change_column = {"change": (new_cells - old_cells).array} if is_numeric else {}
        difference_frames.append(pd.DataFrame({**location, **cell_texts, **change_column}))
    return concat_differences(difference_frames)


def _row_labels(frame: pd.DataFrame, key: Sequence[str]) -> pd.Index:
    """Return a label for each row from its key columns, such as ``brand=Acme, rank=1``."""
    key_texts = [f"{name}=" + frame[name].astype("string").fillna("nothing") for name in key]
    return pd.Index(
        [", ".join(row_texts) for row_texts in zip(*key_texts, strict=True)], dtype="string"
    )


def _to_comparable(column: pd.Series) -> pd.Series:
    """Return a column whose values can be compared: categories and lists are converted to text."""
    dtype = column.dtype
    is_list = isinstance(dtype, pd.ArrowDtype) and pa.types.is_list(dtype.pyarrow_dtype)
    if is_list or dtype.kind == "O":  # a category is one of objects
        return as_texts(column).astype("string")
    return column


def concat_differences(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate frames that have some or all of the columns of `StudyDiff.changes`.

    The result has all of these columns; where a frame lacks one, its values are missing.
    """
    dtypes = dict.fromkeys(_DIFFERENCE_COLUMNS, "string") | {"change": "Float64"}
    all_frames = (pd.DataFrame(), *(frame for frame in frames if len(frame)))
    return pd.concat(
        [frame.reindex(columns=[*_DIFFERENCE_COLUMNS]).astype(dtypes) for frame in all_frames],
        ignore_index=True,
    )


# -- two studies -------------------------------------------------------------------------------


def compare_studies(before: Study, after: Study) -> StudyDiff:
    """Return the differences from the study ``before`` to the study ``after``."""
    records_of_studies = before._current_records, after._current_records
    for study in (before, after):
        for record in study._current_records:
            study._read_body(record)  # equal recorded hashes do not show that bytes were altered
    # Requests are matched by service only if the same request went to several services.
    has_several_services = any(
        len({record.request.key[1:] for record in records}) < len(records)
        for records in records_of_studies
    )
    key_start = 0 if has_several_services else 1
    before_records, after_records = (
        {record.request.key[key_start:]: record for record in records}
        for records in records_of_studies
    )
    difference_frames = []
    same_count = 0
    for request_key in sorted(before_records.keys() | after_records.keys()):
        before_record = before_records.get(request_key)
        after_record = after_records.get(request_key)
        response_texts = {
            value_column: record and f"{record.status} {record.sha256[:12]}"
            for value_column, record in (("before", before_record), ("after", after_record))
        }
        status_and_hash = [
            record and (record.status, record.sha256) for record in (before_record, after_record)
        ]
        if status_and_hash[0] == status_and_hash[1]:
            same_count += 1
            continue
        record = before_record or after_records[request_key]
        location: JsonObject = {
            "host": record.host,
            "section": SCOPE_OPTIONS if record.scope is None else record.section,
            "scope": record.scope and record.scope._to_query(),
        }
        difference_frames.append(pd.DataFrame([{"kind": "response", **location, **response_texts}]))
        if before_record and after_record:
            before_tables = read_usable_tables(before, before_record)
            after_tables = read_usable_tables(after, after_record)
            for section in [name for name in before_tables if name in after_tables]:
                for frame in _section_changes(before_tables[section], after_tables[section]):
                    difference_frames.append(frame.assign(**location | {"section": section}))
    return StudyDiff(same_count, concat_differences(difference_frames))


def _section_changes(before_tables: Tables, after_tables: Tables) -> Iterator[pd.DataFrame]:
    """Yield the differences between two responses of one section, as frames to concatenate.

    Each argument has the tables of one response. Each frame has differences of one kind, such as
    "cell", in one table. Only the first frame is about the whole section: it has the deviations
    from the declared tables.
    """
    drift_frames = [
        tables.drift[["path", "kind"]].drop_duplicates("path")
        for tables in (before_tables, after_tables)
    ]
    drift_changes = drift_frames[0].merge(
        drift_frames[1], on="path", how="outer", suffixes=(" before", " after")
    )
    drift_changes.columns = pd.Index(["column", "before", "after"])
    drift_changes = drift_changes[drift_changes["before"].isna() | drift_changes["after"].isna()]
    yield drift_changes.assign(kind="drift")
    for table_name in [table_name for table_name in before_tables if table_name in after_tables]:
        frames = before_tables[table_name], after_tables[table_name]
        availabilities = [
            {
                column: str(metadata.availability)
                for column, metadata in metadata_of(frame).columns.items()
            }
            for frame in frames
        ]
        change_rows = [
            (column, old_availability, availabilities[1][column])
            for column, old_availability in availabilities[0].items()
            if availabilities[1].get(column, old_availability) != old_availability
        ]
        availability_changes = pd.DataFrame(change_rows, columns=["column", "before", "after"])
        yield availability_changes.assign(kind="availability", table=table_name)
        yield frame_differences(*frames, common_key(*frames)).assign(table=table_name)


def common_key(*frames: pd.DataFrame) -> list[str]:
    """Return the key columns of the first frame if all frames have these columns; else []."""
    key = [*metadata_of(frames[0]).key]
    has_key = all({*key} <= {*frame.columns} and "_row" not in frame for frame in frames)
    return key if has_key else []


# -- named results ---------------------------------------------------------------------------------

_MAX_NAME_LENGTH = 100
ResultEntries = dict[str, JsonObject]
"""The entries of ``results.json`` by name of result: hash, number of rows and versions."""


class Results(MutableMapping[str, pd.DataFrame]):
    """The results of an analysis, stored in a study: a mapping from names to frames.

    ``study.results["by type"] = frame`` stores a result while the study is recorded. In a rerun of
    the notebook, the same line stores nothing. Its frame is compared with the stored one after the
    rerun. To store another frame under a name, first delete the old result.

    Parameters
    ----------
    study : Study
        The study.
    """

    def __init__(self, study: Study) -> None:
        self._study = study

    @property
    def _rerun_files(self) -> FolderFiles | None:
        """The files to which a rerun writes its results; None if this process is not a rerun."""
        path = read_rerun_path()
        folder = read_rerun_path(RERUN_RESULTS_ENV)
        if not path or not folder or open_files(path).read(SEAL_FILE) != self._study._read_seal():
            return None
        return FolderFiles(folder)

    @property
    def hashes(self) -> dict[str, str]:
        """A dict from the name of each result to its hash; see `aatoolkit.logical_hash`."""
        rerun_files = self._rerun_files
        study_files = rerun_files or self._study._files
        if not study_files.has(RESULTS_FILE):
            return {}
        entries = parse_result_entries(
            (rerun_files.read if rerun_files else self._study._read_verified)(RESULTS_FILE)
        )
        if entries is None:
            raise self._study._unusable_error(f"{RESULTS_FILE} does not hold results")
        return {name: entry["hash"] for name, entry in entries.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self.hashes)

    def __len__(self) -> int:
        return len(self.hashes)

    def __contains__(self, name: object) -> bool:
        return name in self.hashes

    def __getitem__(self, name: str) -> pd.DataFrame:
        digest = self._digest(name)
        rerun_files = self._rerun_files
        file_name = result_file_name(digest)
        frame = parse_parquet((rerun_files or self._study._files).read(file_name))
        if frame is None or logical_hash(frame) != digest:
            raise self._study._unusable_error(f"{file_name} is not what was sealed")
        return frame

    def _digest(self, name: str) -> str:
        """Return the hash of the result ``name``; raise `ItemNotFound` if there is none."""
        hashes = self.hashes
        if name not in hashes:
            hint = "; a rerun computes its results anew" if self._rerun_files else ""
            raise item_not_found("result", name, hashes, hint)
        return hashes[name]

    def __setitem__(self, name: str, frame: pd.DataFrame | pd.Series) -> None:
        frame = _as_frame(name, frame)
        if rerun_files := self._rerun_files:
            _write_result(rerun_files.path, name, frame)
            return
        with self._study._require_writer().locked_manifest():
            if self.hashes.get(name) != logical_hash(frame):
                unseal(self._study.path)
                _write_result(self._study.path, name, frame)

    def __delitem__(self, name: str) -> None:
        with self._study._require_writer().locked_manifest():
            self._digest(name)
            unseal(self._study.path)
            _update_result_entries(self._study.path, name, None)

    def __repr__(self) -> str:
        lines = (f"  {visible(name)}: {digest[:12]}" for name, digest in self.hashes.items())
        return "\n".join([f"<Results of {self._study._title!r}>", *lines])


def _as_frame(name: str, frame: pd.DataFrame | pd.Series) -> pd.DataFrame:
    """Convert a result to a DataFrame; raise `StudyError` if the value or the name is not valid."""
    if (
        not isinstance(name, str)
        or not 0 < len(name.strip()) <= _MAX_NAME_LENGTH
        or not name.isprintable()
    ):
        raise StudyError(
            f"this text cannot name a result; give 1 to {_MAX_NAME_LENGTH} printable characters"
        )
    if isinstance(frame, pd.Series):
        return frame.to_frame("value" if frame.name is None else str(frame.name))
    if not isinstance(frame, pd.DataFrame):
        raise StudyError(f"a result is a DataFrame or a Series, not a {type(frame).__name__}")
    return frame


def _update_result_entries(folder: Path, name: str, entry: JsonObject | None) -> None:
    """Set the entry of a result in ``results.json``, or remove it if ``entry`` is None."""
    entries = read_result_entries(folder)
    old_entry = entries.pop(name, None)
    if entry is not None:
        if old_entry is not None and old_entry["hash"] != entry["hash"]:
            raise StudyError(
                f"another result is named {name!r}; choose another name, or delete that one first: "
                f"study.results.pop({name!r}, None)"
            )
        entries[name] = entry
    json_entries = [{"name": name, **entry} for name, entry in entries.items()]
    write_bytes(folder / RESULTS_FILE, format_json("results", results=json_entries))


def _write_result(folder: Path, name: str, frame: pd.DataFrame) -> None:
    """Write a result to a folder: its Parquet file, then its entry in ``results.json``."""
    digest = logical_hash(frame)
    parquet_file = folder / result_file_name(digest)
    if not parquet_file.is_file():
        write_parquet(frame, parquet_file)
    entry = {"hash": digest, "rows": len(frame), "computed_with": software_versions()}
    _update_result_entries(folder, name, entry)


def parse_result_entries(data: bytes) -> ResultEntries | None:
    """Parse ``results.json`` to a dict of entries by name of result; None if it is damaged."""

    def read_results(document: Any) -> ResultEntries | None:
        entries = {str(entry.pop("name")): entry for entry in map(dict, document["results"])}
        is_valid = all(SHA256_PATTERN.fullmatch(entry["hash"]) for entry in entries.values())
        return entries if is_valid and len(entries) == len(document["results"]) else None

    return parse_json(data, read_results, "results")


def read_result_entries(folder: Path) -> ResultEntries:
    """Read ``results.json`` from a folder, and return its entries as a dict by name of result."""
    results_file = folder / RESULTS_FILE
    return (parse_result_entries(results_file.read_bytes()) or {}) if results_file.is_file() else {}


def parse_parquet(content: bytes) -> pd.DataFrame | None:
    """Convert the bytes of a Parquet file to a DataFrame; return None if they are damaged."""
    with tempfile.TemporaryDirectory() as folder:
        parquet_file = Path(folder, "result.parquet")
        parquet_file.write_bytes(content)
        try:
            return read_parquet(parquet_file)
        except (*PARSING_ERRORS, pa.ArrowException, OSError):
            return None


def read_rerun_frames(folder: Path) -> dict[str, pd.DataFrame]:
    """Read the results that a rerun of a notebook wrote to a folder, as a dict by name.

    Results whose file is missing or damaged are left out.
    """
    entries = read_result_entries(folder).items()
    path_by_name = {name: folder / result_file_name(entry["hash"]) for name, entry in entries}
    frames = {
        name: parse_parquet(path.read_bytes())
        for name, path in path_by_name.items()
        if path.is_file()
    }
    return {name: frame for name, frame in frames.items() if frame is not None}


@dataclass(frozen=True)
class ResultComparison:
    """The comparison of a result stored in a study with the same result of a rerun.

    Attributes
    ----------
    name : str
        The result's name.
    status : str
        ``same``, ``differs``, ``missing`` (in the rerun) or ``new`` (only in the rerun).
    differences : tuple of str
        Sentences on the differences in columns, dtypes, rows and cells.
    """

    name: str
    status: str
    differences: tuple[str, ...] = ()


def compare_results(
    name: str, old_frame: pd.DataFrame | None, new_frame: pd.DataFrame | None
) -> ResultComparison:
    """Compare the result ``name`` that a study stores with that of a rerun of the notebook.

    ``old_frame`` is the stored result, and ``new_frame`` that of the rerun. None stands for a
    missing result.
    """
    # Rows match by the key columns; without a key, by the named index levels; else by position.
    if old_frame is None or new_frame is None or logical_hash(old_frame) == logical_hash(new_frame):
        status = "new" if old_frame is None else "missing" if new_frame is None else "same"
        return ResultComparison(name, status)
    before_frame = flatten_index(old_frame)
    after_frame = flatten_index(new_frame)
    level_names = [str(level) for level in old_frame.index.names if level is not None]
    key = common_key(before_frame, after_frame) or (
        [] if {*level_names} - {*after_frame.columns} else level_names
    )
    changes = frame_differences(before_frame, after_frame, key)
    is_row_change = changes["kind"].eq("row")
    masks_by_label = {
        ("row", "gone"): is_row_change & changes["before"].notna(),
        ("row", "new"): is_row_change & changes["after"].notna(),
        ("cell", "changed"): ~is_row_change,
    }
    difference_texts = [*_column_differences(before_frame, after_frame)]
    difference_texts += [
        f"{counted(mask.sum(), kind)} {change}"
        for (kind, change), mask in masks_by_label.items()
        if mask.any()
    ]
    difference_texts += [
        sentence
        for mask in masks_by_label.values()
        for sentence in difference_sentences(changes[mask])
    ][: 2 * MAX_LISTED_DIFFERENCES]
    difference_texts = difference_texts or ["the same cells in another order, or of another kind"]
    return ResultComparison(name, "differs", tuple(difference_texts))


def _column_differences(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[str]:
    """Yield sentences on columns that only one of two frames has, and on dtypes that differ."""
    old_dtypes, new_dtypes = (
        {str(name): str(frame[name].dtype).lower() for name in frame} for frame in (before, after)
    )
    for label, names in (
        ("gone", old_dtypes.keys() - new_dtypes.keys()),
        ("new", new_dtypes.keys() - old_dtypes.keys()),
    ):
        if names:
            yield f"columns {label}: {', '.join(sorted(names))}"
    shared_names = [name for name in old_dtypes if name in new_dtypes]
    yield from (
        f"{name} was {old_dtypes[name]} and is {new_dtypes[name]}"
        for name in shared_names
        if old_dtypes[name] != new_dtypes[name]
    )
