"""Publish responses as a folder of tables that can be read without this package.

The folder has a Parquet file per table, with host, filters and time in each row. It also has a
codebook (a description of all columns), a citation, a README, checksums and machine-readable
descriptions.
"""

# The descriptions are a Frictionless ``datapackage.json`` and an RO-Crate. The same responses and
# versions give the same bytes, and the folder is written completely or not at all. If a column is
# left out, everything that may quote it is left out as well. The documents are made from the
# templates at the end of this module.

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd

from aatoolkit import __version__
from aatoolkit._util.dtypes import DTYPES
from aatoolkit._util.files import FilePath, write_folder_atomically
from aatoolkit._util.text import Names, counted, to_json_text, visible
from aatoolkit.errors import NotWritten, find_near_matches, suggest_names, warn
from aatoolkit.frame.cell_status import MEASURED_COLUMN
from aatoolkit.frame.csv import csv_bytes
from aatoolkit.frame.excel import SheetTable, write_workbook
from aatoolkit.frame.merge import concat, rename
from aatoolkit.frame.parquet import to_arrow_table, write_arrow
from aatoolkit.frame.reshape import CONTEXT_COLUMNS
from aatoolkit.metadata.attrs import (
    ColumnMetadata,
    FrameMetadata,
    Source,
    attach,
    declaration_of,
    metadata_and_responses,
    metadata_of,
)
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload
from aatoolkit.scope import FILTERS
from aatoolkit.sections.section import Column
from aatoolkit.study.files import (
    PACKED_STUDY_FILE,
    SEAL_FILE,
    JsonObject,
    format_seal,
    parse_seal,
    sha256_of,
)

# -- tables about the responses ----------------------------------------------------------------

_DOC_BY_TABLE = {
    "responses": "One row per response that was read.",
    "availability": "One row per response and column: whether it could be measured.",
}
_COLUMN_DECLARATIONS = """
responses | response | Int64 | The response that the row is of; refers to `responses`. |
responses | host | string | The host that was requested. |
responses | days | Int64 | The length of the requested window in days. | days
responses | window_start | date | Its first day, if the response says so. |
responses | window_end | date | Its last day, if the response says so. |
FILTERS
responses | fetched_at | timestamp | When the service sent the response, in UTC. |
responses | section | string | The section. |
responses | url | string | The address of the request, without a token. |
responses | status | Int64 | The HTTP status of the response. | HTTP status
responses | sha256 | string | The SHA-256 of the response's bytes. |
responses | bytes | Int64 | The size of the response in bytes. | bytes
responses | stale | boolean | Whether the response came from a cache after it had expired. |
responses | error | string | Why the response could not be used, if it could not. |
availability | response | Int64 | The response that the row is of; refers to `responses`. |
availability | table | string | The table. |
availability | column | string | The column. |
availability | status | category | Whether the response could measure it. |
availability | cause | string | Why not, where a reason is known. |
availability | reason | string | The service's own words. |
"""
_FILTER_DECLARATION = "responses | filter_{0} | string | What {0} was narrowed to, if it was. |"


def _parse_declarations() -> dict[str, dict[str, Column]]:
    """Return the declared columns of the tables that each publication has on its responses.

    These are ``responses`` and ``availability``. The result is a dict by table, then by column
    name.
    """
    columns_by_table: dict[str, dict[str, Column]] = {table: {} for table in _DOC_BY_TABLE}
    declarations_text = _COLUMN_DECLARATIONS.replace(
        "FILTERS", "\n".join(map(_FILTER_DECLARATION.format, FILTERS))
    )
    for line in declarations_text.strip().splitlines():
        table, column_name, dtype, doc, unit = (field.strip() for field in line.split("|"))
        columns_by_table[table][column_name] = Column(column_name, dtype, doc, unit=unit or None)
    return columns_by_table


_COLUMNS_BY_RESPONSE_TABLE = _parse_declarations()


@dataclass(frozen=True)
class PublicationDetails:
    """What a publication states about itself: title, description, authors, licence, digest.

    The digest is the SHA-256 by which the study is cited.
    """

    title: str
    description: str | None = None
    creators: tuple[str, ...] = ()
    licence: str | None = None
    digest: str | None = None


@dataclass(frozen=True)
class PublishedTable:
    """One table of a publication: its name, description, rows, and the section of the API."""

    name: str
    doc: str
    frame: pd.DataFrame
    section: str | None = None

    @cached_property
    def metadata(self) -> FrameMetadata:
        """The metadata of the table's frame, e.g. whether each column was measured."""
        return metadata_of(self.frame)

    @cached_property
    def codebook_rows(self) -> list[JsonObject]:
        """A list with a dict per column of this table: its dtype, unit, meaning and so on."""
        declarations = _COLUMNS_BY_RESPONSE_TABLE.get(
            self.name, _COLUMNS_BY_RESPONSE_TABLE["responses"]
        )
        row_dicts = []
        for column_name, column_metadata in self.metadata.columns.items():
            column = (
                declaration_of(column_metadata)
                or declarations.get(column_name)
                or Column(column_name, "string")
            )
            rule = column.aggregate
            row_dicts.append(
                {
                    "table": self.name,
                    "column": column_name,
                    "dtype": column.dtype,
                    "unit": column.unit,
                    "aggregation": str(rule) if rule.rule != "none" or rule.why else None,
                    "key": column_name in self.metadata.key,
                    "doc": column.doc or None,
                    "availability": str(column_metadata.availability),
                    "missing": int(self.frame[column_name].isna().sum()),
                    "rows": len(self.frame),
                }
            )
        return row_dicts

    def path(self, file_format: str) -> str:
        """Return the path of the table's file in the publication.

        ``file_format`` is the ending of its name: ``parquet`` or ``csv``.
        """
        folder = "data" if file_format == "parquet" else file_format
        return f"{folder}/{re.sub(r'[^A-Za-z0-9_-]', '_', self.name)}.{file_format}"


# -- the folder --------------------------------------------------------------------------------


def publish(
    tables: Iterable[Tables],
    out: FilePath,
    details: PublicationDetails,
    *,
    failed_payloads: Iterable[tuple[Payload, str]] = (),
    redact: Names = (),
    excel: bool = False,
    csv: bool = False,
    overwrite: bool = False,
    packed_study: bytes = b"",
) -> Path:
    """Write the tables of responses to a folder that can be read without this package.

    ``details`` has the title and authors. ``failed_payloads`` are unusable responses, each with
    the reason. ``packed_study`` is the content of the packed study to include, if any. The other
    arguments are as for `aatoolkit.Study.publish`.
    """
    tables_of_responses = [*tables]
    out_folder = Path(out)
    if not tables_of_responses:
        raise NotWritten("the study has no response to publish; record one", path=out)
    redacted_names = sorted({redact} if isinstance(redact, str) else {*redact})
    published_tables = _make_published_tables(tables_of_responses, failed_payloads, redacted_names)
    study_summary = _make_summary(details, published_tables, redacted_names)
    with write_folder_atomically(out, overwrite=overwrite) as folder:
        _check_folder(out_folder)

        def write_file(name: str, content: str | bytes) -> None:
            file_path = folder / name
            file_path.parent.mkdir(exist_ok=True)
            file_path.write_bytes(content.encode() if isinstance(content, str) else content)

        for published_table in published_tables:
            file_path = folder / published_table.path("parquet")
            file_path.parent.mkdir(exist_ok=True)
            write_arrow(to_arrow_table(published_table.frame, file_path), file_path)
            if csv:
                write_file(published_table.path("csv"), csv_bytes(published_table.frame))
        if excel:
            sheet_tables = (
                SheetTable(published_table.name, published_table.doc, published_table.frame)
                for published_table in published_tables
            )
            file_path = folder / "tables.xlsx"
            write_workbook(sheet_tables, file_path, created_at=study_summary["last"])
        if packed_study:
            write_file(PACKED_STUDY_FILE, packed_study)
        write_file("codebook.csv", csv_bytes(_make_codebook(published_tables)))
        write_file(
            "README.md",
            _make_readme(study_summary, published_tables, csv or excel, bool(packed_study)),
        )
        write_file("CITATION.cff", _make_citation(study_summary))
        data_package = _make_data_package(study_summary, published_tables, _hash_files(folder))
        write_file("datapackage.json", to_json_text(data_package, indent=1) + "\n")
        write_file(
            "ro-crate-metadata.json",
            to_json_text(_make_ro_crate(study_summary, folder), indent=1) + "\n",
        )
        write_file(SEAL_FILE, format_seal(_hash_files(folder)))
    return out_folder


def _check_folder(folder: Path) -> None:
    """Raise `NotWritten` if a folder has files that this package did not publish."""
    file_paths = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
    }
    if SEAL_FILE in file_paths:
        file_paths -= {SEAL_FILE, *parse_seal((folder / SEAL_FILE).read_bytes())}
    if file_paths:
        file_paths_text = ", ".join(sorted(file_paths)[:3])
        raise NotWritten(
            f"{folder} holds files that are not of a publication ({file_paths_text}); name another "
            "folder",
            path=folder,
        )


def _hash_files(folder: Path) -> dict[str, str]:
    """Return a dict from the relative path of each file in a folder to its SHA-256."""
    return {
        path.relative_to(folder).as_posix(): sha256_of(path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _make_summary(
    details: PublicationDetails,
    published_tables: Sequence[PublishedTable],
    redacted_names: list[str],
) -> JsonObject:
    """Return a dict of the facts that the README, the citation and other documents state."""
    response_frame = next(
        published_table.frame
        for published_table in published_tables
        if published_table.name == "responses"
    )
    section_names = sorted(
        {published_table.section for published_table in published_tables if published_table.section}
    )
    fetch_times = response_frame["fetched_at"].dt.tz_convert("UTC")
    first_fetch_time = fetch_times.min()
    last_fetch_time = fetch_times.max()
    failed_count = int(response_frame["error"].notna().sum()) if "error" in response_frame else 0
    study_hash_text = f"sha256:{details.digest}" if details.digest else None
    note_texts = [visible(details.description)] if details.description else []
    note_texts += [_REDACTION_NOTE.format(", ".join(redacted_names))] if redacted_names else []
    identifier_entry = {
        "type": "other",
        "value": study_hash_text,
        "description": "The SHA-256 of the study's seal.",
    }
    return {
        **vars(details),
        "notes": note_texts,
        "abstract": " ".join([*note_texts, _MISSING_NOTE]),
        "description": "\n\n".join([*note_texts, _MISSING_NOTE]),
        "keywords": [*dict.fromkeys((*_KEYWORDS, *section_names))],
        "last": last_fetch_time.to_pydatetime(),
        "day": f"{last_fetch_time:%Y-%m-%d}",
        "created": last_fetch_time.isoformat(timespec="seconds"),
        "digest": study_hash_text,
        "seal": [identifier_entry] if study_hash_text else [],
        "sources": sorted({*response_frame["sha256"].dropna()}),
        "stated": {
            "hosts": ", ".join(sorted({*response_frame.get("host", ["left out"])})),
            "sections": ", ".join(section_names),
            "responses": f"{len(response_frame) - failed_count} usable, {failed_count} with errors",
            "read": f"{first_fetch_time:%Y-%m-%d %H:%M} to {last_fetch_time:%Y-%m-%d %H:%M} UTC",
            "creators": ", ".join(details.creators) or "not stated",
            "licence": details.licence or _NO_LICENCE,
            "study": study_hash_text or "not sealed",
        },
    }


# -- the tables --------------------------------------------------------------------------------


def _make_published_tables(
    tables_of_responses: Sequence[Tables],
    failed_payloads: Iterable[tuple[Payload, str]],
    redacted_names: list[str],
) -> list[PublishedTable]:
    """Return all tables of a publication, without the columns to redact.

    ``tables_of_responses`` has the tables of each response. ``failed_payloads`` are unusable
    responses, each with the reason. ``redacted_names`` are the columns to redact, as the user named
    them.
    """
    tables_by_response_number = dict(
        enumerate(sorted(tables_of_responses, key=lambda tables: _make_sort_key(tables.payload)), 1)
    )
    response_rows = [
        _make_response_row(tables.payload, metadata_of(tables.main).sources[0])
        for tables in tables_by_response_number.values()
    ]
    for payload, error_reason in sorted(
        failed_payloads, key=lambda failure: _make_sort_key(failure[0])
    ):
        response_rows.append(
            _make_response_row(payload, Source(section=payload.section), error_reason)
        )
    responses_table = _make_table_about_responses(
        "responses",
        [
            {"response": response_number, **response_row}
            for response_number, response_row in enumerate(response_rows, 1)
        ],
    )
    availability_rows: list[tuple[Any, ...]] = []
    section_name_by_table: dict[str, str] = {}
    for response_number, tables in sorted(
        tables_by_response_number.items(), key=lambda item: item[1].section
    ):
        section_name_by_table |= dict.fromkeys(tables, tables.section)
        for table_name in tables:
            for column_name, column_metadata in metadata_of(tables[table_name]).columns.items():
                availability = column_metadata.availability
                cause_text = availability.cause and str(availability.cause)
                availability_rows.append(
                    (
                        response_number,
                        table_name,
                        column_name,
                        str(availability.status),
                        cause_text,
                        availability.reason,
                    )
                )
    availability_rows.sort(key=itemgetter(0))
    published_tables = [
        _combine_table(table_name, section_name, tables_by_response_number, responses_table.frame)
        for table_name, section_name in section_name_by_table.items()
    ]
    published_tables += [
        responses_table,
        _make_table_about_responses("availability", availability_rows),
    ]
    return _redact_tables(published_tables, redacted_names) if redacted_names else published_tables


def _make_sort_key(payload: Any) -> tuple[str, ...]:
    """Return a tuple by which responses are sorted: host, section, filters, time and hash."""
    scope_query = "" if payload.scope is None else payload.scope._to_query()
    sort_texts = (
        payload.host,
        payload.section,
        scope_query,
        payload.fetched_at.isoformat(),
        payload.sha256,
    )
    return tuple(sort_text or "" for sort_text in sort_texts)


def _make_response_row(payload: Any, source: Source, error_reason: str | None = None) -> JsonObject:
    """Return the row of a response for the table ``responses``, as a dict.

    ``source`` describes the response in the metadata of frames. ``error_reason`` says why the
    response cannot be used; it is None if the response can be used.
    """
    scope = payload.scope
    values_by_filter = {} if scope is None else scope._filters
    return {
        "host": payload.host,
        "days": scope and scope.days,
        "window_start": source.window_start,
        "window_end": source.window_end,
        **{f"filter_{name}": ",".join(values_by_filter.get(name, ())) or None for name in FILTERS},
        # To the second, as in the sources of frames.
        "fetched_at": payload.fetched_at.astimezone(UTC).replace(microsecond=0),
        "section": source.section,
        "url": payload.url or None,
        "status": payload.status,
        "sha256": payload.sha256,
        "bytes": len(payload.body),
        "stale": payload.stale,
        "error": error_reason,
    }


def _make_table_about_responses(table_name: str, rows: Sequence[Any]) -> PublishedTable:
    """Create the table "responses" or "availability" from its rows."""
    column_by_name = _COLUMNS_BY_RESPONSE_TABLE[table_name]
    frame = pd.DataFrame(rows, columns=[*column_by_name], dtype="object")
    frame = frame.astype(
        {name: DTYPES[column.dtype].pandas or "string" for name, column in column_by_name.items()}
    )
    key_columns = ("response",) if table_name == "responses" else ()
    frame_metadata = FrameMetadata(dict.fromkeys(column_by_name, MEASURED_COLUMN), key_columns)
    return PublishedTable(table_name, _DOC_BY_TABLE[table_name], attach(frame, frame_metadata))


def _combine_table(
    table_name: str,
    section_name: str,
    tables_by_response_number: Mapping[int, Tables],
    response_frame: pd.DataFrame,
) -> PublishedTable:
    """Combine the tables called ``table_name`` of several responses into one table.

    Each row also has the host, filters and time of its response. ``tables_by_response_number`` has
    the tables of each response by its number, and ``response_frame`` has one row per response.
    """
    used_tables_by_response_number = {
        response_number: tables
        for response_number, tables in tables_by_response_number.items()
        if tables.section == section_name and table_name in tables
    }
    table_frames = [tables[table_name] for tables in used_tables_by_response_number.values()]
    table_rows = concat(table_frames, ignore_index=True)
    row_positions = np.repeat(
        [response_number - 1 for response_number in used_tables_by_response_number],
        [len(table_frame) for table_frame in table_frames],
    )
    context_columns = (
        response_frame[["response", *CONTEXT_COLUMNS]].take(row_positions).reset_index(drop=True)
    )
    new_name_by_column = {
        str(column): f"{column}_" for column in table_rows if column in context_columns
    }
    table_rows = (
        rename(table_rows, columns=new_name_by_column) if new_name_by_column else table_rows
    )
    stored_metadata = metadata_and_responses(table_rows)[0]
    frame_keys = {metadata_of(table_frame).key for table_frame in table_frames}
    table_key_columns = frame_keys.pop() if len(frame_keys) == 1 else ()
    row_key_columns = (
        ("_row",)
        if "_row" in table_rows
        else tuple(
            new_name_by_column.get(key_column, key_column) for key_column in table_key_columns
        )
    )
    metadata_by_column = {
        **dict.fromkeys(map(str, context_columns), MEASURED_COLUMN),
        **metadata_of(table_rows).columns,
    }
    key_columns = ("response", *row_key_columns) if row_key_columns else ()
    frame_metadata = FrameMetadata(
        metadata_by_column, key_columns, stored_metadata.sources, recipe=stored_metadata.recipe
    )
    table_docs = (
        tables.declaration[table_name].doc
        for tables in used_tables_by_response_number.values()
        if tables.declaration is not None
    )
    table_frame = attach(pd.concat([context_columns, table_rows], axis=1), frame_metadata)
    return PublishedTable(table_name, next(table_docs, ""), table_frame, section_name)


# -- redaction ---------------------------------------------------------------------------------

TEXTS_GROUP = "texts"
"""The name by which a user redacts all columns of free text: prompts, answers, notes on them."""

_TEXT_COLUMN_PATTERN = re.compile(
    "answer_text|excerpt|prompt|query|term|text|title|headline|body|what|why|recommendation|detail"
    "|delivery_text"
)
_REQUIRED_COLUMNS = frozenset({"response", "section", "fetched_at"})
"""The columns that identify responses, and cannot be left out."""

TableColumnPairs = set[tuple[str, str]]
"""Pairs of the name of a table and the name of a column."""


def _redact_tables(
    published_tables: list[PublishedTable], redacted_names: list[str]
) -> list[PublishedTable]:
    """Return the tables without the columns to redact, and without texts that may quote them."""
    redacted_columns, explicit_columns = _find_redacted_columns(published_tables, redacted_names)
    if redacted_columns & {
        ("responses", column_name) for column_name in {*CONTEXT_COLUMNS} - {"host", "fetched_at"}
    }:
        redacted_columns.add(("responses", "scope"))
    if redacted_columns & {("responses", column_name) for column_name in ("host", "scope")}:
        redacted_columns.add(("responses", "url"))
    redacted_fields = {
        column_name for table_name, column_name in redacted_columns if table_name == "responses"
    }
    redacted_tables = []
    for published_table in published_tables:
        frame = published_table.frame
        frame_metadata = published_table.metadata
        if published_table.name == "availability":
            frame = frame.assign(reason=None).astype({"reason": "string"})
        elif published_table.name == "responses":
            frame = frame.assign(error=frame["error"].mask(frame["error"].notna(), "left out"))
        kept_columns = [
            column_name
            for column_name in map(str, frame)
            if (published_table.name, column_name) not in redacted_columns
        ]
        # The service's texts may quote anything.
        column_metadata = {
            column_name: ColumnMetadata(
                column.declared_name, replace(column.availability, reason=None)
            )
            for column_name, column in frame_metadata.columns.items()
            if column_name in kept_columns
        }
        sources = tuple(
            Source(
                **{
                    field_name: field_value
                    for field_name, field_value in vars(source).items()
                    if field_name not in redacted_fields
                }
            )
            for source in frame_metadata.sources
        )
        key_columns = tuple(
            column_name for column_name in frame_metadata.key if column_name in kept_columns
        )
        remaining_frame = frame[kept_columns].copy(deep=False)
        redacted_tables.append(
            replace(
                published_table,
                frame=attach(remaining_frame, FrameMetadata(column_metadata, key_columns, sources)),
            )
        )
    _warn_of_copied_texts(published_tables, redacted_tables, explicit_columns)
    return redacted_tables


def _find_redacted_columns(
    published_tables: list[PublishedTable], redacted_names: list[str]
) -> tuple[TableColumnPairs, TableColumnPairs]:
    """Return the set of all columns to redact, and the subset that the user gave by their names.

    Each column is a pair of table name and column name. ``redacted_names`` are what the user gave:
    names of columns, or ``texts``, the group of all text columns.
    """
    # The others belong to the group ``texts``.
    dtype_by_column = {
        (published_table.name, str(name)): str(dtype)
        for published_table in published_tables
        for name, dtype in published_table.frame.dtypes.items()
        if name not in _REQUIRED_COLUMNS
    }
    # The columns of the table of availability have common names.
    redactable_columns = [
        (table_name, name) for table_name, name in dtype_by_column if table_name != "availability"
    ]
    redactable_names = {name for _, name in redactable_columns} | {*FILTERS}
    text_columns = TableColumnPairs()
    explicit_columns = TableColumnPairs()
    for redacted_name in redacted_names:
        if redacted_name == TEXTS_GROUP:
            text_columns |= {
                (table_name, column_name)
                for (table_name, column_name), dtype in dtype_by_column.items()
                if _TEXT_COLUMN_PATTERN.fullmatch(column_name) and _is_text(dtype)
            }
        elif redacted_name in redactable_names:
            explicit_columns |= {
                (table_name, column_name)
                for table_name, column_name in redactable_columns
                if column_name in (redacted_name, f"filter_{redacted_name}")
            }
        elif tuple(redacted_name.split(".", 1)) in dtype_by_column:
            explicit_columns.add(tuple(redacted_name.split(".", 1)))  # type: ignore[arg-type]
        else:
            suggestions = find_near_matches(
                redacted_name,
                [TEXTS_GROUP, *sorted(redactable_names), *sorted(map(".".join, dtype_by_column))],
            )
            hint = suggest_names(suggestions, "check its spelling")
            raise NotWritten(f"there is no column {redacted_name!r} to leave out; {hint}")
    return text_columns | explicit_columns, explicit_columns


def _warn_of_copied_texts(
    published_tables: list[PublishedTable],
    redacted_tables: list[PublishedTable],
    explicit_columns: Collection[tuple[str, str]],
) -> None:
    """Warn if a text of a redacted column also occurs in a published column.

    ``published_tables`` are the tables before the redaction. ``explicit_columns`` are those of the
    redacted columns that the user gave by their own names, rather than by the group ``texts`` of
    all text columns; each is a pair of table name and column name.
    """
    # Of a column in the group ``texts``, texts of up to three words do not count: the title of a
    # page may be just the name of a brand.
    words_by_redacted_text = {
        text: tuple(_split_words(text))
        for published_table, redacted_table in zip(published_tables, redacted_tables, strict=True)
        for column_name in {*published_table.frame} - {*redacted_table.frame}
        for text in _find_distinct_texts(published_table.frame[column_name])
        if (published_table.name, column_name) in explicit_columns or len(_split_words(text)) > 3
    }
    redacted_phrases = {*words_by_redacted_text.values()} - {()}
    phrase_lengths = {len(phrase) for phrase in redacted_phrases}

    def holds_copy(text: str) -> bool:
        words = _split_words(text)
        return text in words_by_redacted_text or any(
            tuple(words[start_index : start_index + phrase_length]) in redacted_phrases
            for phrase_length in phrase_lengths
            for start_index in range(len(words))
        )

    full_column_names = [
        f"{published_table.name}.{column_name}"
        for published_table in redacted_tables
        for column_name in published_table.frame
        if any(map(holds_copy, _find_distinct_texts(published_table.frame[column_name])))
    ]
    if full_column_names:
        columns_text = (
            f"{counted(len(full_column_names), 'column')}: {', '.join(full_column_names)}"
        )
        warn(f"text that is left out is also in {columns_text}; leave that out too")


def _find_distinct_texts(column: pd.Series) -> Iterator[str]:
    """Yield the distinct texts in a column of texts or of lists of texts."""
    dtype = str(column.dtype)
    if _is_text(dtype):
        texts = column.dropna()
        if dtype.startswith("list<"):
            texts = texts.astype("object").explode().dropna()
        yield from (text for text in texts.unique() if isinstance(text, str))


def _split_words(text: str) -> list[str]:
    """Return the words of a text or URL in lower case."""
    return re.findall(r"[^\W_]+", unquote(text).casefold())


def _is_text(dtype: str) -> bool:
    """Return whether values of a dtype are texts or lists of texts."""
    return dtype in ("string", "category") or dtype.startswith("list<")


# -- the documents -----------------------------------------------------------------------------


def _fill_json_template(template: str, **value_by_placeholder: Any) -> JsonObject:
    """Fill the placeholders of a JSON template with ``values``, and remove empty fields."""
    filled_text = Template(template).substitute(
        {name: to_json_text(value) for name, value in value_by_placeholder.items()}
    )
    return {name: value for name, value in json.loads(filled_text).items() if value}


def _make_codebook(published_tables: Iterable[PublishedTable]) -> pd.DataFrame:
    """Return the codebook, a DataFrame with one row for each column of the tables."""
    codebook = pd.DataFrame(
        [
            row_dict
            for published_table in published_tables
            for row_dict in published_table.codebook_rows
        ]
    )
    dtype_by_column = {"key": "boolean", "missing": "Int64", "rows": "Int64"}
    return codebook.astype(
        {str(name): dtype_by_column.get(str(name), "string") for name in codebook}
    )


def _escape_markdown(value: object) -> str:
    """Return a value as text for a cell of a Markdown table."""
    return re.sub(r"([\\|<>*_`\[\]])", r"\\\1", visible(" ".join(str(value).split())))


def _make_readme(
    study_summary: Mapping[str, Any],
    published_tables: Sequence[PublishedTable],
    has_sheets: bool,
    has_study: bool,
) -> str:
    """Return the text of ``README.md``; ``study_summary`` is a result of `_make_summary`.

    ``has_sheets`` says whether there are CSV or Excel files, and ``has_study`` whether the packed
    study is included.
    """
    table_lines = (
        f"| [`{_escape_markdown(published_table.name)}`]({published_table.path('parquet')}) "
        f"| {len(published_table.frame)} | {_escape_markdown(published_table.doc)} |\n"
        for published_table in published_tables
    )
    return Template(_README_TEMPLATE).substitute(
        title=_escape_markdown(study_summary["title"]),
        notes="".join(f"{note}\n\n" for note in study_summary["notes"]),
        facts="\n".join(
            f"- {fact_name}: {_escape_markdown(fact_value)}"
            for fact_name, fact_value in study_summary["stated"].items()
        ),
        tables="".join(table_lines),
        missing=_MISSING_NOTE,
        more=_SPREADSHEETS_CHAPTER * has_sheets + _RESPONSES_CHAPTER * has_study,
        version=__version__,
    )


def _make_citation(study_summary: Mapping[str, Any]) -> str:
    """Return the text of ``CITATION.cff``; ``study_summary`` is a result of `_make_summary`."""
    author_entries = [
        {"name": name} for name in study_summary["creators"] or ["The authors of this study"]
    ]
    field_values = _fill_json_template(_CITATION_TEMPLATE, people=author_entries, **study_summary)
    # JSON, with the characters escaped that YAML refuses or folds.
    unsafe_pattern = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
    citation_text = "".join(
        f"{name}: {to_json_text(value)}\n" for name, value in field_values.items()
    )
    return unsafe_pattern.sub(lambda match: f"\\u{ord(match[0]):04x}", citation_text)


def _make_data_package(
    study_summary: Mapping[str, Any],
    published_tables: Sequence[PublishedTable],
    hash_by_file: Mapping[str, str],
) -> JsonObject:
    """Return the content of ``datapackage.json``, which describes the tables.

    The format is that of the Frictionless Data Package. ``study_summary`` is a result of
    `_make_summary`. ``hash_by_file`` has the SHA-256 of each file.
    """
    return _fill_json_template(
        _DATA_PACKAGE_TEMPLATE,
        **study_summary,
        short="-".join(re.findall(r"[a-z0-9]+", study_summary["title"].lower())) or "study",
        people=[{"title": name, "roles": ["creator"]} for name in study_summary["creators"]],
        licences=[{"name": study_summary["licence"]}] if study_summary["licence"] else [],
        study={"digest": study_summary["digest"]} if study_summary["digest"] else None,
        resources=[
            _make_table_resource(published_table, hash_by_file[published_table.path("parquet")])
            for published_table in published_tables
        ],
    )


def _make_ro_crate(study_summary: Mapping[str, Any], folder: Path) -> JsonObject:
    """Return the content of ``ro-crate-metadata.json``: files, and responses they were made from.

    RO-Crate is a format of packages of research data. ``study_summary`` is a result of
    `_make_summary`.
    """
    file_entries = [
        {
            "@id": path,
            "@type": "File",
            "contentSize": str((folder / path).stat().st_size),
            "sha256": sha256,
        }
        for path, sha256 in _hash_files(folder).items()
    ]
    source_entries = [
        {"@id": f"#sha256:{sha256}", "@type": "CreativeWork", "sha256": sha256}
        for sha256 in study_summary["sources"]
    ]
    creator_entries = [
        {"@id": f"#{name}", "@type": "Person", "name": name} for name in study_summary["creators"]
    ]
    references_by_name = {
        name: [{"@id": entity["@id"]} for entity in entities]
        for name, entities in {
            "files": file_entries,
            "sources": source_entries,
            "people": creator_entries,
        }.items()
    }
    crate_document = _fill_json_template(
        _RO_CRATE_TEMPLATE, **{**study_summary, **references_by_name}, version=__version__
    )
    crate_document["@graph"] += [*file_entries, *source_entries, *creator_entries]
    return crate_document


def _make_table_resource(published_table: PublishedTable, sha256: str) -> JsonObject:
    """Return the entry of a table in ``datapackage.json``; ``sha256`` is the hash of its file."""
    primary_key_columns = [*published_table.metadata.key]
    if primary_key_columns and (
        published_table.frame[primary_key_columns].isna().any(axis=None)
        or published_table.frame.duplicated(primary_key_columns).any()
    ):
        primary_key_columns = []
    foreign_key_entry = {
        "fields": ["response"],
        "reference": {"resource": "responses", "fields": ["response"]},
    }
    refers_to_responses = (
        "response" in published_table.frame and published_table.name != "responses"
    )
    field_entries = [
        _fill_json_template(
            _FIELD_TEMPLATE,
            **codebook_row,
            # Frictionless does not accept a Parquet list as an array.
            kind="any"
            if codebook_row["dtype"] == "list<string>"
            else _FIELD_TYPE_BY_DTYPE.get(
                str(published_table.frame[codebook_row["column"]].dtype), "string"
            ),
        )
        for codebook_row in published_table.codebook_rows
    ]
    return _fill_json_template(
        _RESOURCE_TEMPLATE,
        name=re.sub(r"[^a-z0-9._-]", "_", published_table.name.lower()),
        table=published_table.name,
        doc=published_table.doc,
        path=published_table.path("parquet"),
        sha256=sha256,
        schema=_fill_json_template(
            _SCHEMA_TEMPLATE,
            fields=field_entries,
            key=primary_key_columns,
            refers=[foreign_key_entry] if refers_to_responses else [],
        ),
    )


_FIELD_TYPE_BY_DTYPE = {
    "Int64": "integer",
    "Float64": "number",
    "boolean": "boolean",
    "datetime64[us, UTC]": "datetime",
    "datetime64[us]": "datetime",
}
_KEYWORDS = ("AI answer engines", "brand visibility", "citations", "agent analytics")

# -- templates ---------------------------------------------------------------------------------

_MISSING_NOTE = """\
A missing value is null in Parquet and an empty cell in CSV and Excel. It is never zero: a zero \
was measured. Why a column has no values is in `data/availability.parquet`: it was not measured \
(`unavailable`), does not apply, or is not known."""
_REDACTION_NOTE = """\
Left out of this publication: {}. The service's notes on availability are left out too, as they \
may quote it."""
_NO_LICENCE = "No licence is stated; ask the creators before you use or share it."
_CITATION_TEMPLATE = """{
"cff-version": "1.2.0",
"message": "If you use this data, please cite it as below.",
"type": "dataset",
"title": $title,
"authors": $people,
"date-released": $day,
"keywords": $keywords,
"abstract": $abstract,
"license": $licence,
"identifiers": $seal
}"""
_DATA_PACKAGE_TEMPLATE = """{
"$$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
"name": $short,
"title": $title,
"description": $description,
"created": $created,
"keywords": $keywords,
"contributors": $people,
"licenses": $licences,
"study": $study,
"resources": $resources
}"""
_RO_CRATE_TEMPLATE = """{
"@context": [
  "https://w3id.org/ro/crate/1.1/context",
  {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
],
"@graph": [
  {
    "@id": "ro-crate-metadata.json",
    "@type": "CreativeWork",
    "about": {"@id": "./"},
    "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"}
  },
  {
    "@id": "./",
    "@type": "Dataset",
    "name": $title,
    "description": $abstract,
    "datePublished": $day,
    "keywords": $keywords,
    "identifier": $digest,
    "author": $people,
    "license": $licence,
    "hasPart": $files,
    "mentions": {"@id": "#publication"}
  },
  {
    "@id": "#publication",
    "@type": "CreateAction",
    "name": "Responses of the Agent Analytics API made into tables",
    "instrument": {"@id": "#aatoolkit"},
    "object": $sources,
    "result": $files
  },
  {
    "@id": "#aatoolkit",
    "@type": "SoftwareApplication",
    "name": "aatoolkit",
    "version": $version
  }
]
}"""
_RESOURCE_TEMPLATE = """{
"$$schema": "https://datapackage.org/profiles/2.0/dataresource.json",
"name": $name,
"type": "table",
"title": $table,
"description": $doc,
"path": $path,
"format": "parquet",
"mediatype": "application/vnd.apache.parquet",
"sha256": $sha256,
"schema": $schema
}"""
_SCHEMA_TEMPLATE = """{
"$$schema": "https://datapackage.org/profiles/2.0/tableschema.json",
"fields": $fields,
"missingValues": [""],
"primaryKey": $key,
"foreignKeys": $refers
}"""
_FIELD_TEMPLATE = """{
"name": $column,
"type": $kind,
"description": $doc,
"unit": $unit,
"aggregation": $aggregation,
"availability": $availability
}"""
_README_TEMPLATE = """\
# $title

$notes$facts

## Tables

Each table has the rows of all responses. `response` refers to the table `responses`; `host`, the
window (`days`), the filters and `fetched_at` are columns too.

| table | rows | holds |
| --- | --- | --- |
$tables
## Missing values

$missing

## Reading it

```python
import pandas as pd

df = pd.read_parquet("data/responses.parquet")
```

```sql
SELECT * FROM 'data/responses.parquet';  -- DuckDB
```

With `aatoolkit`, `aa.read_parquet(path).aa.codebook` describes each column, and
`.aa.availability` what could be measured. The same is in `codebook.csv`, and in each file's
metadata.

$more## Files

`datapackage.json` (Frictionless Data Package) and `ro-crate-metadata.json` (RO-Crate) describe \
the package for machines, `CITATION.cff`
is the citation, and `sha256sum -c SHA256SUMS` verifies that nothing has changed. Made with
aatoolkit $version.
"""
_SPREADSHEETS_CHAPTER = """\
## Spreadsheets

The CSV files and the workbook are safe to open: no cell is a formula. In CSV, a text that begins
with `=`, `+`, `-`, `@`, one of their full-width forms, white space or an apostrophe, one that
begins with more than 15 digits, and an empty one, has an apostrophe before it: remove one
apostrophe from each text that begins with one to restore it. Characters that control a terminal
or the direction of text are written as in JSON, such as `\\u202e`. A column with whole numbers of
more than 15 digits is text. Times are in UTC, as ISO 8601. In Excel, text that does not fit a cell
is cut and marked; the sheet `Overview` lists the tables. For analyses, use the Parquet files.

"""
_RESPONSES_CHAPTER = """\
## Every number down to its bytes

`study.zip` holds the responses themselves, byte for byte, under their SHA-256. With `aatoolkit`,
`aa.Study("study.zip").explain("SECTION.TABLE", {"COLUMN": "VALUE"}, "COLUMN")` goes from a number
to the bytes it was read from; `aatoolkit explain --help` does so on the command line.

"""
