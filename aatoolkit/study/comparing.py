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
            counted(len(changes_of_kind), str(kind).replace("availability", "state"))
            for kind, changes_of_kind in changes_by_kind
        )
        message_lines = [
            f"<StudyDiff: {counted(self.same, 'response')} unchanged; changed: {counts_text}>"
        ]
        for kind, changes_of_kind in changes_by_kind:
            message_lines += [
                f"  {kind}: {sentence}" for sentence in make_difference_sentences(changes_of_kind)
            ]
            if len(changes_of_kind) > MAX_LISTED_DIFFERENCES:
                message_lines.append(
                    f"  {kind}: {len(changes_of_kind) - MAX_LISTED_DIFFERENCES:,} more; "
                    ".changes has all"
                )
        return "\n".join(message_lines)

    _repr_pretty_ = print_wrapped


def make_difference_sentences(changes: pd.DataFrame) -> list[str]:
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
    largest_change_labels = change_sizes.fillna(0).nlargest(MAX_LISTED_DIFFERENCES).index
    for change_fields in changes.loc[largest_change_labels].astype(object).to_dict("records"):
        change_fields = {
            str(field_name): field_value
            for field_name, field_value in change_fields.items()
            if not pd.isna(field_value)
        }
        location_columns = [
            field_name
            for field_name in _LOCATION_COLUMNS
            if field_name in change_fields and field_name != "host"
        ]
        location_text = " ".join(
            f"[{change_fields[field_name]}]"
            if field_name == "key"
            else str(change_fields[field_name])
            for field_name in location_columns
        )
        before_and_after = [
            change_fields.get("before", "nothing"),
            change_fields.get("after", "nothing"),
        ]
        difference_text = f"{before_and_after[0]} → {before_and_after[1]}"
        if change_fields["kind"] != "cell" and "nothing" in before_and_after:
            difference_text = "only before" if before_and_after[1] == "nothing" else "only after"
        change_text = f" ({change_fields['change']:+.6g})" if "change" in change_fields else ""
        sentences.append(visible(f"{location_text}: {difference_text}{change_text}"))
    return sentences


def find_frame_differences(
    old_frame: pd.DataFrame, new_frame: pd.DataFrame, key_columns: Sequence[str]
) -> pd.DataFrame:
    """Return a frame like `StudyDiff.changes` of the rows and cells that differ between two frames.

    Rows match if the columns ``key_columns`` are equal. If ``key_columns`` is empty or not unique,
    rows match by position.
    """
    frames = [flatten_index(frame) for frame in (old_frame, new_frame)]
    comparable_frames = [
        pd.DataFrame({str(name): _to_comparable(frame[name]) for name in frame if name != "_row"})
        for frame in frames
    ]
    row_labels_of_frames = [_make_row_labels(frame, key_columns) for frame in comparable_frames]
    if not key_columns or any(row_labels.has_duplicates for row_labels in row_labels_of_frames):
        row_labels_of_frames = [
            pd.RangeIndex(len(frame)).map(lambda position: f"row={position}")
            for frame in comparable_frames
        ]
    old_comparable_frame, new_comparable_frame = (
        frame.set_axis(row_labels)
        for frame, row_labels in zip(comparable_frames, row_labels_of_frames, strict=True)
    )
    difference_frames = [
        pd.DataFrame(
            {
                "kind": "row",
                "key": row_labels.difference(other_row_labels, sort=False),
                value_column: "row",
            }
        )
        for value_column, row_labels, other_row_labels in (
            ("before", old_comparable_frame.index, new_comparable_frame.index),
            ("after", new_comparable_frame.index, old_comparable_frame.index),
        )
    ]
    common_row_labels = old_comparable_frame.index.intersection(
        new_comparable_frame.index, sort=False
    )
    for column_name in old_comparable_frame.columns.intersection(
        new_comparable_frame.columns, sort=False
    ):
        old_cells = old_comparable_frame.loc[common_row_labels, column_name]
        new_cells = new_comparable_frame.loc[common_row_labels, column_name]
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
        location_columns = {"kind": "cell", "key": old_cells.index, "column": column_name}
        text_columns = {"before": as_texts(old_cells).array, "after": as_texts(new_cells).array}
        change_column = {"change": (new_cells - old_cells).array} if is_numeric else {}
        difference_frames.append(
            pd.DataFrame({**location_columns, **text_columns, **change_column})
        )
    return concat_differences(difference_frames)


def _make_row_labels(frame: pd.DataFrame, key_columns: Sequence[str]) -> pd.Index:
    """Return a label for each row from its key columns, such as ``brand=Acme, rank=1``."""
    key_text_columns = [
        f"{key_column}=" + frame[key_column].astype("string").fillna("nothing")
        for key_column in key_columns
    ]
    return pd.Index(
        [", ".join(row_texts) for row_texts in zip(*key_text_columns, strict=True)], dtype="string"
    )


def _to_comparable(column: pd.Series) -> pd.Series:
    """Return a column whose values can be compared: categories and lists are converted to text."""
    dtype = column.dtype
    is_list = isinstance(dtype, pd.ArrowDtype) and pa.types.is_list(dtype.pyarrow_dtype)
    if is_list or dtype.kind == "O":  # a category is one of objects
        return as_texts(column).astype("string")
    return column


def concat_differences(difference_frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate frames that have some or all of the columns of `StudyDiff.changes`.

    The result has all of these columns; where a frame lacks one, its values are missing.
    """
    dtype_by_column = dict.fromkeys(_DIFFERENCE_COLUMNS, "string") | {"change": "Float64"}
    all_frames = (pd.DataFrame(), *(frame for frame in difference_frames if len(frame)))
    return pd.concat(
        [
            frame.reindex(columns=[*_DIFFERENCE_COLUMNS]).astype(dtype_by_column)
            for frame in all_frames
        ],
        ignore_index=True,
    )


# -- two studies -------------------------------------------------------------------------------


def compare_studies(old_study: Study, new_study: Study) -> StudyDiff:
    """Return the differences between an older and a newer study."""
    records_of_studies = old_study._current_records, new_study._current_records
    for study in (old_study, new_study):
        for record in study._current_records:
            study._read_body(record)  # equal recorded hashes do not show that bytes were altered
    # Requests are matched by service only if the same request went to several services.
    has_several_services = any(
        len({record.request.key[1:] for record in records}) < len(records)
        for records in records_of_studies
    )
    key_start_index = 0 if has_several_services else 1
    old_record_by_key, new_record_by_key = (
        {record.request.key[key_start_index:]: record for record in records}
        for records in records_of_studies
    )
    difference_frames = []
    same_count = 0
    for request_key in sorted(old_record_by_key.keys() | new_record_by_key.keys()):
        old_record = old_record_by_key.get(request_key)
        new_record = new_record_by_key.get(request_key)
        text_by_column = {
            value_column: record and f"{record.status} {record.sha256[:12]}"
            for value_column, record in (("before", old_record), ("after", new_record))
        }
        statuses_and_hashes = [
            record and (record.status, record.sha256) for record in (old_record, new_record)
        ]
        if statuses_and_hashes[0] == statuses_and_hashes[1]:
            same_count += 1
            continue
        record = old_record or new_record_by_key[request_key]
        location_fields: JsonObject = {
            "host": record.host,
            "section": SCOPE_OPTIONS if record.scope is None else record.section,
            "scope": record.scope and record.scope._to_query(),
        }
        difference_frames.append(
            pd.DataFrame([{"kind": "response", **location_fields, **text_by_column}])
        )
        if old_record and new_record:
            old_tables = read_usable_tables(old_study, old_record)
            new_tables = read_usable_tables(new_study, new_record)
            for section_name in [name for name in old_tables if name in new_tables]:
                for difference_frame in _find_section_changes(
                    old_tables[section_name], new_tables[section_name]
                ):
                    difference_frames.append(
                        difference_frame.assign(**location_fields | {"section": section_name})
                    )
    return StudyDiff(same_count, concat_differences(difference_frames))


def _find_section_changes(old_tables: Tables, new_tables: Tables) -> Iterator[pd.DataFrame]:
    """Yield the differences between two responses of one section, as frames to concatenate.

    Each argument has the tables of one response. Each frame has differences of one kind, such as
    "cell", in one table. Only the first frame is about the whole section: it has the deviations
    from the declared tables.
    """
    drift_frames = [
        tables.drift[["path", "kind"]].drop_duplicates("path")
        for tables in (old_tables, new_tables)
    ]
    drift_changes = drift_frames[0].merge(
        drift_frames[1], on="path", how="outer", suffixes=(" before", " after")
    )
    drift_changes.columns = pd.Index(["column", "before", "after"])
    drift_changes = drift_changes[drift_changes["before"].isna() | drift_changes["after"].isna()]
    yield drift_changes.assign(kind="drift")
    for table_name in [table_name for table_name in old_tables if table_name in new_tables]:
        frames = old_tables[table_name], new_tables[table_name]
        availability_texts = [
            {
                column_name: str(metadata.availability)
                for column_name, metadata in metadata_of(frame).columns.items()
            }
            for frame in frames
        ]
        change_rows = [
            (column_name, old_text, availability_texts[1][column_name])
            for column_name, old_text in availability_texts[0].items()
            if availability_texts[1].get(column_name, old_text) != old_text
        ]
        availability_changes = pd.DataFrame(change_rows, columns=["column", "before", "after"])
        yield availability_changes.assign(kind="availability", table=table_name)
        yield find_frame_differences(*frames, find_common_key(*frames)).assign(table=table_name)


def find_common_key(*frames: pd.DataFrame) -> list[str]:
    """Return the key columns of the first frame if all frames have these columns; else []."""
    key_columns = [*metadata_of(frames[0]).key]
    has_key_columns = all(
        {*key_columns} <= {*frame.columns} and "_row" not in frame for frame in frames
    )
    return key_columns if has_key_columns else []


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
        study_path = read_rerun_path()
        results_folder = read_rerun_path(RERUN_RESULTS_ENV)
        if (
            not study_path
            or not results_folder
            or open_files(study_path).read(SEAL_FILE) != self._study._read_seal()
        ):
            return None
        return FolderFiles(results_folder)

    @property
    def hashes(self) -> dict[str, str]:
        """A dict from the name of each result to its hash; see `aatoolkit.logical_hash`."""
        rerun_files = self._rerun_files
        study_files = rerun_files or self._study._files
        if not study_files.has(RESULTS_FILE):
            return {}
        entry_by_name = parse_result_entries(
            (rerun_files.read if rerun_files else self._study._read_verified)(RESULTS_FILE)
        )
        if entry_by_name is None:
            raise self._study._unusable_error(f"{RESULTS_FILE} does not hold results")
        return {name: entry["hash"] for name, entry in entry_by_name.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self.hashes)

    def __len__(self) -> int:
        return len(self.hashes)

    def __contains__(self, name: object) -> bool:
        return name in self.hashes

    def __getitem__(self, name: str) -> pd.DataFrame:
        result_hash = self._find_hash(name)
        rerun_files = self._rerun_files
        file_name = result_file_name(result_hash)
        frame = parse_parquet((rerun_files or self._study._files).read(file_name))
        if frame is None or logical_hash(frame) != result_hash:
            raise self._study._unusable_error(f"{file_name} is not what was sealed")
        return frame

    def _find_hash(self, name: str) -> str:
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
            self._find_hash(name)
            unseal(self._study.path)
            _update_result_entries(self._study.path, name, None)

    def __repr__(self) -> str:
        lines = (f"  {visible(name)}: {digest[:12]}" for name, digest in self.hashes.items())
        return "\n".join([f"<Results of {self._study._title!r}>", *lines])


def _as_frame(result_name: str, frame: pd.DataFrame | pd.Series) -> pd.DataFrame:
    """Convert a result to a DataFrame; raise `StudyError` if the value or the name is not valid."""
    if (
        not isinstance(result_name, str)
        or not 0 < len(result_name.strip()) <= _MAX_NAME_LENGTH
        or not result_name.isprintable()
    ):
        raise StudyError(
            f"this text cannot name a result; give 1 to {_MAX_NAME_LENGTH} printable characters"
        )
    if isinstance(frame, pd.Series):
        return frame.to_frame("value" if frame.name is None else str(frame.name))
    if not isinstance(frame, pd.DataFrame):
        raise StudyError(f"a result is a DataFrame or a Series, not a {type(frame).__name__}")
    return frame


def _update_result_entries(folder: Path, result_name: str, entry: JsonObject | None) -> None:
    """Set the entry of a result in ``results.json``, or remove it if ``entry`` is None."""
    entry_by_name = read_result_entries(folder)
    old_entry = entry_by_name.pop(result_name, None)
    if entry is not None:
        if old_entry is not None and old_entry["hash"] != entry["hash"]:
            raise StudyError(
                f"another result is named {result_name!r}; choose another name, or delete that one "
                f"first: study.results.pop({result_name!r}, None)"
            )
        entry_by_name[result_name] = entry
    entry_dicts = [{"name": result_name, **entry} for result_name, entry in entry_by_name.items()]
    write_bytes(folder / RESULTS_FILE, format_json("results", results=entry_dicts))


def _write_result(folder: Path, result_name: str, frame: pd.DataFrame) -> None:
    """Write a result to a folder: its Parquet file, then its entry in ``results.json``."""
    result_hash = logical_hash(frame)
    parquet_path = folder / result_file_name(result_hash)
    if not parquet_path.is_file():
        write_parquet(frame, parquet_path)
    entry = {"hash": result_hash, "rows": len(frame), "computed_with": software_versions()}
    _update_result_entries(folder, result_name, entry)


def parse_result_entries(json_bytes: bytes) -> ResultEntries | None:
    """Parse ``results.json`` to a dict of entries by name of result; None if it is damaged."""

    def read_results(document: Any) -> ResultEntries | None:
        entry_by_name = {str(entry.pop("name")): entry for entry in map(dict, document["results"])}
        is_valid = all(SHA256_PATTERN.fullmatch(entry["hash"]) for entry in entry_by_name.values())
        return (
            entry_by_name if is_valid and len(entry_by_name) == len(document["results"]) else None
        )

    return parse_json(json_bytes, read_results, "results")


def read_result_entries(folder: Path) -> ResultEntries:
    """Read ``results.json`` from a folder, and return its entries as a dict by name of result."""
    results_path = folder / RESULTS_FILE
    return (parse_result_entries(results_path.read_bytes()) or {}) if results_path.is_file() else {}


def parse_parquet(content: bytes) -> pd.DataFrame | None:
    """Convert the bytes of a Parquet file to a DataFrame; return None if they are damaged."""
    with tempfile.TemporaryDirectory() as folder:
        parquet_path = Path(folder, "result.parquet")
        parquet_path.write_bytes(content)
        try:
            return read_parquet(parquet_path)
        except (*PARSING_ERRORS, pa.ArrowException, OSError):
            return None


def read_rerun_frames(folder: Path) -> dict[str, pd.DataFrame]:
    """Read the results that a rerun of a notebook wrote to a folder, as a dict by name.

    Results whose file is missing or damaged are left out.
    """
    name_entry_pairs = read_result_entries(folder).items()
    path_by_name = {
        name: folder / result_file_name(entry["hash"]) for name, entry in name_entry_pairs
    }
    frame_by_name = {
        name: parse_parquet(path.read_bytes())
        for name, path in path_by_name.items()
        if path.is_file()
    }
    return {name: frame for name, frame in frame_by_name.items() if frame is not None}


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
    result_name: str, old_frame: pd.DataFrame | None, new_frame: pd.DataFrame | None
) -> ResultComparison:
    """Compare the result ``result_name`` that a study stores with that of a rerun of the notebook.

    ``old_frame`` is the stored result, and ``new_frame`` that of the rerun. None stands for a
    missing result.
    """
    # Rows match by the key columns; without a key, by the named index levels; else by position.
    if old_frame is None or new_frame is None or logical_hash(old_frame) == logical_hash(new_frame):
        status = "new" if old_frame is None else "missing" if new_frame is None else "same"
        return ResultComparison(result_name, status)
    old_flat_frame = flatten_index(old_frame)
    new_flat_frame = flatten_index(new_frame)
    index_level_names = [
        str(level_name) for level_name in old_frame.index.names if level_name is not None
    ]
    key_columns = find_common_key(old_flat_frame, new_flat_frame) or (
        [] if {*index_level_names} - {*new_flat_frame.columns} else index_level_names
    )
    change_frame = find_frame_differences(old_flat_frame, new_flat_frame, key_columns)
    is_row_change = change_frame["kind"].eq("row")
    mask_by_kind_and_change = {
        ("row", "gone"): is_row_change & change_frame["before"].notna(),
        ("row", "new"): is_row_change & change_frame["after"].notna(),
        ("cell", "changed"): ~is_row_change,
    }
    difference_texts = [*_find_column_differences(old_flat_frame, new_flat_frame)]
    difference_texts += [
        f"{counted(mask.sum(), kind)} {change_word}"
        for (kind, change_word), mask in mask_by_kind_and_change.items()
        if mask.any()
    ]
    difference_texts += [
        sentence
        for mask in mask_by_kind_and_change.values()
        for sentence in make_difference_sentences(change_frame[mask])
    ][: 2 * MAX_LISTED_DIFFERENCES]
    difference_texts = difference_texts or ["the same cells in another order, or of another kind"]
    return ResultComparison(result_name, "differs", tuple(difference_texts))


def _find_column_differences(old_frame: pd.DataFrame, new_frame: pd.DataFrame) -> Iterator[str]:
    """Yield sentences on columns that only one of two frames has, and on dtypes that differ."""
    old_dtype_by_column, new_dtype_by_column = (
        {str(column_name): str(frame[column_name].dtype).lower() for column_name in frame}
        for frame in (old_frame, new_frame)
    )
    for change_word, column_names in (
        ("gone", old_dtype_by_column.keys() - new_dtype_by_column.keys()),
        ("new", new_dtype_by_column.keys() - old_dtype_by_column.keys()),
    ):
        if column_names:
            yield f"columns {change_word}: {', '.join(sorted(column_names))}"
    shared_names = [
        column_name for column_name in old_dtype_by_column if column_name in new_dtype_by_column
    ]
    yield from (
        f"{column_name} was {old_dtype_by_column[column_name]} and is "
        f"{new_dtype_by_column[column_name]}"
        for column_name in shared_names
        if old_dtype_by_column[column_name] != new_dtype_by_column[column_name]
    )
