"""Fetch sections and convert them to tables, or read the tables from files."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pandas as pd

from aatoolkit._util.cancellation import CallGroup
from aatoolkit._util.files import FilePath
from aatoolkit._util.text import to_json_text
from aatoolkit.client.dataset import Dataset
from aatoolkit.errors import (
    AAToolkitError,
    FileMissing,
    InternalError,
    PayloadError,
    ScopeError,
    unknown,
    warn,
)
from aatoolkit.metadata.attrs import attach, metadata_and_responses
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.normalizer.provenance import rebuild_response
from aatoolkit.normalizer.tables import LoadedResponse, Tables, call_without_warnings
from aatoolkit.payload import Payload
from aatoolkit.scope import FILTERS, Scope
from aatoolkit.sections import Profile
from aatoolkit.sections.declared import PROFILE
from aatoolkit.sections.profile import SCOPE_OPTIONS, ProfileSource, make_unknown_name_error

if TYPE_CHECKING:
    import pyarrow as pa

    from aatoolkit.client.client import Project

Q = TypeVar("Q")
R = TypeVar("R")
T = TypeVar("T")

_POLL_SECONDS = 0.1
"""The longest wait, in seconds, before an interrupt is noticed."""

_CALLS_PER_WORKER = 2
"""How many calls to submit for each worker before the first result is taken."""


@dataclass(frozen=True)
class ReadingOptions:
    """The options for converting responses to tables, which are arguments of `normalize`.

    Parameters
    ----------
    profile : Profile, optional
        A description of the tables and columns in the service's responses.
    strict : bool
        Whether to raise an error if a response has other fields than declared.
    dtype_backend : {"numpy_nullable", "pyarrow"}
        The kind of dtypes, as in pandas.
    """

    profile: Profile | None = None
    strict: bool = False
    dtype_backend: str = "numpy_nullable"

    def tables(self, section: str, payload: Payload) -> Tables:
        """Convert a response to tables.

        Parameters
        ----------
        section : str
            The section, such as ``"domains"``.
        payload : Payload
            The response.

        Returns
        -------
        Tables
            A mapping from table names to DataFrames.

        Raises
        ------
        InternalError
            If `normalize` fails because of a bug, such as a ``KeyError``.
        """
        try:
            return normalize(section, payload, **vars(self))
        except (AAToolkitError, Warning, MemoryError):
            raise
        except Exception as error:
            raise InternalError(
                f"{section}: the response came, and aatoolkit failed to make tables of it "
                f"({type(error).__name__}); this is a fault of aatoolkit, please report it; the "
                "response itself is in .payload",
                section=section,
                payload=payload,
            ) from error


FetchFunction = Callable[[str], Payload]
"""A function that fetches one section, by name, for a certain host and scope (days and filters)."""


def read_many(
    fetchers: Sequence[FetchFunction],
    sections: Sequence[str],
    reading_options: ReadingOptions,
    *,
    workers: int,
    progress: bool | None,
) -> Generator[Dataset]:
    """Fetch sections in parallel, and yield one `Dataset` for each function in ``fetchers``.

    Such a function is for one host and its filters. It takes the name of a section, and returns
    the response. It is called for all ``sections``. ``workers`` is the number of parallel
    requests. ``progress`` says whether to show a progress bar; None means on a terminal only.
    """
    fetch_calls = [(fetch, section_name) for fetch in fetchers for section_name in sections]
    if not fetch_calls:
        yield from (Dataset({}) for _ in fetchers)
        return

    def fetch_call(call: tuple[FetchFunction, str]) -> Payload:
        fetch, section_name = call
        return fetch(section_name)

    with closing(run_in_order(fetch_call, fetch_calls, workers)) as finished_fetches:
        calls_with_progress = progress_bar(
            finished_fetches, progress, total=len(fetch_calls), unit="response"
        )
        for _, calls_of_host in groupby(
            calls_with_progress, key=lambda finished_call: finished_call[0][0]
        ):
            response_getters = (
                (section_name, future.result) for (_, section_name), future in calls_of_host
            )
            yield build_dataset(response_getters, reading_options.tables)


def build_dataset(
    response_getters: Iterable[tuple[str, Callable[[], T]]], to_tables: Callable[[str, T], Tables]
) -> Dataset:
    """Convert responses to tables, and return them as a `Dataset`.

    ``response_getters`` are pairs: the name of a section, and a function without arguments that
    returns the response or raises an error. ``to_tables`` takes the name and the response, and
    returns the tables. Errors are stored in ``.errors`` of the dataset.
    """
    tables_by_section: dict[str, Tables] = {}
    errors: dict[str, AAToolkitError] = {}
    for section, get_response in response_getters:
        try:
            tables_by_section[section] = to_tables(section, get_response())
        except AAToolkitError as error:
            errors[section] = error
    return Dataset(tables_by_section, errors)


def raise_if_all_refused(dataset: Dataset, *error_classes: type[AAToolkitError]) -> None:
    """If all sections of a dataset failed with errors of the same class, raise the first error.

    It is raised only if it is of one of ``error_classes``, such as `NotAuthorized`.
    """
    errors = [*dataset.errors.values()]
    if not dataset and len({*map(type, errors)}) == 1 and isinstance(errors[0], error_classes):
        raise errors[0]


def section_names(profile: Profile | None) -> tuple[str, ...]:
    """Return the names of all sections: those of the API, and those in the profile of a service.

    A profile is a description of the tables and columns in the responses of one service.
    """
    if profile is None:
        return PROFILE.names
    return tuple(sorted({*PROFILE.names, *profile.names}))


def check_sections(sections: Iterable[str] | None, profile: Profile | None) -> tuple[str, ...]:
    """Return the names of sections without duplicates; raise `ScopeError` if a name is unknown.

    If ``sections`` is None, return the names of the sections that ``profile`` declares; without
    one, of all sections of the API. A profile may declare further sections.
    """
    if sections is None:
        return (profile or PROFILE).names or PROFILE.names
    requested_names = getattr(sections, "sections", sections)  # what holds them, such as a picker
    return tuple(
        check_section(section_name, profile)
        for section_name in as_unique_list(requested_names, str)
    )


def as_unique_list(values: T | Iterable[T] | None, value_type: type[T]) -> list[T]:
    """Convert a single value, or an iterable of values, to a list without duplicates.

    ``value_type`` is the type by which a single value is recognised. None gives an empty list.

    Examples
    --------
    >>> [as_unique_list(values, str) for values in ("a", ["a", "b", "a"], None)]
    [['a'], ['a', 'b'], []]
    """
    if isinstance(values, value_type):
        return [values]
    return list(dict.fromkeys(cast("Iterable[T]", () if values is None else values)))


def check_section(section: str, profile: Profile | None) -> str:
    """Return ``section`` unchanged if there is a section of this name; else raise `ScopeError`."""
    known_section_names = section_names(profile)
    if isinstance(section, str) and section in known_section_names:
        return section
    if str(section).replace("-", "_") == SCOPE_OPTIONS:
        raise ScopeError(
            f"{section} is no section; project.scope_options() reads what the filters may be, and "
            "aatoolkit read HOST prints it",
            parameter="section",
        )
    raise make_unknown_name_error("section", section, known_section_names)


def read_by_filter_value(
    project: Project, section: str, scope: Scope, filter_name: str, arguments: Mapping[str, Any]
) -> Tables:
    """Read a section once for each value of a filter, in parallel, and concatenate the tables.

    ``filter_name`` is a filter such as ``engine``. ``arguments`` are further arguments of
    `Project.read`. In each resulting table, the first column has the value of the filter.
    """
    if filter_name not in [*FILTERS]:  # it may be a list
        raise ScopeError(unknown("filter to split by", filter_name, FILTERS), parameter="split")
    filter_values = scope._filters.get(filter_name) or project.scope_options().values(filter_name)
    if not filter_values:
        raise ScopeError(
            f"the scope options list no {filter_name} to read by; give the values as "
            f"{filter_name}=[...]",
            parameter=filter_name,
        )

    def read(value: str) -> Tables:
        return project.read(section, scope._replace(**{filter_name: value}), **arguments)

    with closing(run_in_order(read, filter_values, project.client.workers)) as finished_reads:
        tables_by_value = {value: future.result() for value, future in finished_reads}
    _warn_if_equal_counts(
        section, filter_name, [tables.main for tables in tables_by_value.values()]
    )
    return _concat_tables(filter_name, tables_by_value)


def _warn_if_equal_counts(section: str, filter_name: str, frames: Sequence[pd.DataFrame]) -> None:
    """Warn that the service may ignore a filter if all values of the filter gave the same counts.

    ``frames`` has one DataFrame for each value of the filter.
    """
    aggregation_rules = frames[0].aa.codebook["aggregation"]
    counts_of_frames = [
        frame.reindex(columns=aggregation_rules.index[aggregation_rules.eq("sum")])
        for frame in frames
    ]
    if (
        len(frames) > 1
        and counts_of_frames[0].gt(0).any(axis=None)
        and all(map(counts_of_frames[0].equals, counts_of_frames))
    ):
        warn(
            f"{section} has the same counts for all {len(frames)} values of the filter "
            f"{filter_name}, which may not apply to it: a sum over {filter_name} would count "
            f"everything {len(frames)} times; read it without split"
        )


def _concat_tables(filter_name: str, tables_by_value: Mapping[str, Tables]) -> Tables:
    """Concatenate tables of the same name that were read for different values of a filter.

    The value, such as ``chatgpt``, becomes the first column of each table.
    """
    tables_of_first_value = next(iter(tables_by_value.values()))
    table_names = list(
        dict.fromkeys(table_name for tables in tables_by_value.values() for table_name in tables)
    )
    frame_functions: dict[str, Any] = {
        table_name: partial(_concat_listings, filter_name, tables_by_value, table_name)
        for table_name in ("extra", "availability", "drift", "hints")
    }
    return Tables(
        tables_of_first_value.section,
        {
            table_name: partial(_concat_frames, filter_name, table_name, tables_by_value)
            for table_name in table_names
        },
        rows={
            table_name: sum(
                tables.rows[table_name]
                for tables in tables_by_value.values()
                if table_name in tables
            )
            for table_name in table_names
        },
        availability_texts=lambda: {
            table_name: _format_availability(table_name, tables_by_value)
            for table_name in table_names
        },
        **frame_functions,
        declaration=tables_of_first_value.declaration,
        drafted=any(tables.drafted for tables in tables_by_value.values()),
    )


def _concat_frames(
    filter_name: str, table_name: str, tables_by_value: Mapping[str, Tables]
) -> pd.DataFrame:
    """Concatenate the tables named ``table_name`` that were read for the values of a filter.

    In each row of the result, the first column has the value for which the row was read.
    """
    from aatoolkit.frame.merge import concat, unique_key
    from aatoolkit.frame.reshape import with_constant
    from aatoolkit.metadata.attrs import metadata_of
    from aatoolkit.metadata.recorded import attach_keeping_recipe

    frame_by_value = {
        value: tables[table_name]
        for value, tables in tables_by_value.items()
        if table_name in tables
    }
    has_filter_column = any(filter_name in frame.columns for frame in frame_by_value.values())
    value_column = f"filter_{filter_name}" if has_filter_column else filter_name
    frames_with_value_column = [
        with_constant(frame, value_column, value) for value, frame in frame_by_value.items()
    ]
    combined_frame = concat(frames_with_value_column, ignore_index=True)
    distinct_keys = {metadata_of(frame).key for frame in frame_by_value.values()}
    if len(distinct_keys) > 1:
        return combined_frame
    combined_key = unique_key(combined_frame, (value_column, *distinct_keys.pop()))
    return attach_keeping_recipe(
        combined_frame, replace(metadata_of(combined_frame), key=combined_key)
    )


def _format_availability(table_name: str, tables_by_value: Mapping[str, Tables]) -> str:
    """Return a phrase that says whether a table was measured for all values of a filter.

    An example is ``partial (a part is missing for gemini)``.
    """
    phrase_by_value = {
        value: tables._availability_texts.get(table_name, "unknown")
        for value, tables in tables_by_value.items()
    }
    if len({*phrase_by_value.values()}) == 1:
        return next(iter(phrase_by_value.values()))
    incomplete_values_text = ", ".join(
        value for value, phrase in phrase_by_value.items() if not phrase.startswith("available")
    )
    has_measured_values = any(
        phrase.startswith(("available", "partial")) for phrase in phrase_by_value.values()
    )
    status = "partial" if has_measured_values else "unavailable"
    return f"{status} (a part is missing for {incomplete_values_text})"


def _concat_listings(
    filter_name: str, tables_by_value: Mapping[str, Tables], listing_name: str
) -> pd.DataFrame:
    """Concatenate the ``extra``, or another listing, of the tables read for each filter value."""
    frames_with_value_column = (
        getattr(tables, listing_name).assign(**{f"filter_{filter_name}": value})
        for value, tables in tables_by_value.items()
    )
    combined_frame: pd.DataFrame = pd.concat(frames_with_value_column, ignore_index=True)
    return combined_frame


def read_combined(payload: Payload, reading_options: ReadingOptions) -> Dataset:
    """Convert one response that has all sections to a `Dataset`, a mapping of sections to tables.

    If no sections are found in it, tables are inferred from the whole response.
    """
    payload_by_section = split_by_section(payload, section_names(reading_options.profile))
    if not payload_by_section:
        draft_options = replace(
            reading_options, profile=reading_options.profile or Profile("undescribed")
        )
        return Dataset({"combined": draft_options.tables("combined", payload)})
    response_getters = (
        (section_name, partial(replace, section_payload))
        for section_name, section_payload in payload_by_section.items()
    )
    return build_dataset(response_getters, reading_options.tables)


def split_by_section(payload: Payload, searched_names: Iterable[str]) -> dict[str, Payload]:
    """Split a response that has all sections into one response per section.

    Sections are found by their ``searched_names``, at any level of the JSON document. The result is
    a dict by section; it is empty if fewer than two sections are found.
    """
    known_section_names = frozenset(searched_names)
    content_by_section = max(
        (
            _find_sections_in(container, known_section_names)
            for container in _iter_containers(payload.json, len(known_section_names))
        ),
        key=len,
        default={},
    )
    # A single one may be a field that happens to have the name of a section.
    return {
        section_name: replace(
            payload, body=to_json_text(section_value).encode(), section=section_name
        )
        for section_name, section_value in content_by_section.items()
        if len(content_by_section) > 1
    }


def _iter_containers(document: Any, max_list_length: int) -> Iterator[Any]:
    """Yield all JSON objects and short lists in a document, the outermost first.

    A short list has at most ``max_list_length`` items.
    """
    containers = [document] if isinstance(document, dict | list) else []
    while containers:
        yield from containers
        containers = [
            child
            for container in containers
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, dict)
            or (isinstance(child, list) and len(child) <= max_list_length)
        ]


def _find_sections_in(container: Any, searched_names: Set[str]) -> dict[str, Any]:
    """Return the sections that are directly in a JSON object or list, as a dict by name.

    They are fields of the object that have one of ``searched_names``, or items of the list whose
    field ``section`` is one of them.
    """
    if isinstance(container, dict):
        return {
            section_name: section_value
            for section_name, section_value in container.items()
            if section_name in searched_names
        }
    json_objects = [element for element in container if isinstance(element, dict)]
    name_object_pairs = [
        (element["section"], element)
        for element in json_objects
        if element.get("section") in searched_names
    ]
    return dict(name_object_pairs) if len(dict(name_object_pairs)) == len(name_object_pairs) else {}


def read_dataset(folder: FilePath, *, profile: ProfileSource | None = None) -> Dataset:
    """Read the files that ``dataset.to_parquet`` or ``tables.to_parquet`` wrote.

    The result works like the original dataset, also in reports and comparisons. Only the bytes of
    the responses are missing: ``payload`` of each section is None, and an explanation of a number
    shows the bytes only if you pass a study or archive that has them (``within=``).

    If you changed a column before you wrote the files, its availability is "unknown: overwritten".

    Parameters
    ----------
    folder : str or path
        The folder that was passed to ``to_parquet``, or the folder of one section in it.
    profile : Profile, module, str or path, optional
        The description of the service's tables with which the written tables were made; by default
        the description in this package.

    Returns
    -------
    Dataset
        A mapping from section names, in alphabetical order, to `Tables`. If files are incomplete or
        do not fit ``profile``, their section is in ``.errors``.

    Raises
    ------
    FileMissing
        If there is no such folder, or no tables in it.

    Examples
    --------
    >>> import tempfile
    >>> import aatoolkit as aa
    >>> folder = tempfile.mkdtemp()
    >>> files = aa.demo().read_all(sections=["gaps", "urls"], progress=False).to_parquet(folder)
    >>> list(read_dataset(folder))
    ['gaps', 'urls']
    """
    from aatoolkit.frame.parquet import read_section

    folder_path = Path(folder)
    section_folders = [
        candidate_folder.resolve()
        # A name may be too long for the functions of `Path`.
        for candidate_folder in (
            folder_path,
            *(sorted(folder_path.glob("*")) if os.path.isdir(folder_path) else ()),
        )
        if os.path.isfile(candidate_folder / "_extra.parquet")
    ]
    if not section_folders:
        raise FileMissing(
            f"{os.fspath(folder)!r} holds no tables that to_parquet wrote; give the folder that "
            "was given to it, or of `aatoolkit collect` the one of a host and day in it",
            path=folder,
        )
    reading_options = ReadingOptions(None if profile is None else Profile.load(profile))
    file_readers = (
        (section_folder.name, partial(read_section, section_folder))
        for section_folder in section_folders
    )
    return build_dataset(file_readers, partial(_tables_from_files, reading_options))


def _tables_from_files(
    reading_options: ReadingOptions,
    section_name: str,
    files: tuple[dict[str, pd.DataFrame], dict[str, pa.Table]],
) -> Tables:
    """Create the `Tables` of the section ``section_name`` from the content of its Parquet files.

    ``files`` are two dicts by table name. The first has the DataFrames. The second has Arrow tables
    that say where in the JSON response each value was.
    """
    frames, provenance_tables = files
    metadata_by_table = {
        table_name: metadata_and_responses(frame)[0]
        for table_name, frame in frames.items()
        if table_name[0] != "_"
    }
    response_source = next(
        (metadata.sources[0] for metadata in metadata_by_table.values() if metadata.sources),
        Source(),
    )
    # No service sent these bytes and this time, so the payload is not kept.
    payload = Payload(
        json.dumps(rebuild_response(frames, frames["_extra"], provenance_tables)).encode(),
        fetched_at=datetime.now(UTC),
        scope=None if response_source.scope is None else Scope._from_query(response_source.scope),
    )
    tables = call_without_warnings(reading_options.tables, section_name, payload)
    if metadata_by_table.keys() != tables.keys():
        raise PayloadError(
            f"the files of {section_name} were made with another profile: they have "
            f"{', '.join(metadata_by_table)}, and it gives {', '.join(tables)}; give profile="
        )
    loaded_response = LoadedResponse(response_source, None, lambda _: tables)
    tables.payload = None
    tables._origin = tables._origin._replace(responses=[loaded_response])
    for table_name in tables:
        tables._frames[table_name] = attach(
            frames[table_name], metadata_by_table[table_name], responses=[loaded_response]
        )
        tables.rows[table_name] = len(frames[table_name])
    other_frames = {
        file_stem[1:]: frame
        for file_stem, frame in frames.items()
        if file_stem not in metadata_by_table
    }
    vars(tables).update(other_frames, _provenance=provenance_tables)
    return tables


# -- concurrently ---


def run_in_order(
    call: Callable[[Q], R], arguments: Iterable[Q], workers: int, *, deadline: float | None = None
) -> Generator[tuple[Q, Future[R]]]:
    """Call a function in threads, once for each argument; yield the results in that order.

    Parameters
    ----------
    call : callable
        A function of one argument.
    arguments : iterable
        The arguments, one per call.
    workers : int
        The number of threads.
    deadline : float, optional
        The time, as returned by `time.monotonic`, until which each result must be there.

    Yields
    ------
    tuple of (object, concurrent.futures.Future)
        The argument, and a finished future with the result or error.

    Raises
    ------
    TimeoutError
        If the next result is not there in time.
    """
    if sys.platform == "emscripten":  # Python in a browser has no threads
        for argument in arguments:
            future: Future[R] = Future()
            try:
                future.set_result(call(argument))
            except Exception as error:
                future.set_exception(error)
            yield argument, future
        return
    call_group = CallGroup()
    pending_calls = deque[tuple[Q, Future[R]]]()
    pool = ThreadPoolExecutor(workers, "aatoolkit")
    try:
        for argument in arguments:
            pending_calls.append((argument, pool.submit(call_group.run, call, argument)))
            if len(pending_calls) >= _CALLS_PER_WORKER * workers:
                yield _wait_for_next(pending_calls, deadline)
        while pending_calls:
            yield _wait_for_next(pending_calls, deadline)
    finally:
        # Not waited for, so that an interrupt ends the call at once.
        call_group.cancel()
        pool.shutdown(wait=False, cancel_futures=True)


def _wait_for_next(
    pending_calls: deque[tuple[Q, Future[R]]], deadline: float | None
) -> tuple[Q, Future[R]]:
    """Wait until the first call in the queue is finished; return its argument and its future.

    ``deadline`` is a time as returned by `time.monotonic`; after it, `TimeoutError` is raised.
    """
    argument, future = pending_calls.popleft()
    # In short steps: if a library such as Polars handles signals, Ctrl-C cannot interrupt a
    # long wait.
    while not wait([future], _POLL_SECONDS).done:
        if deadline is not None and time.monotonic() > deadline:
            raise TimeoutError
    return argument, future


def progress_bar(
    items: Iterable[Q], is_shown: bool | None, *, total: int, unit: str
) -> Iterable[Q]:
    """Return an iterable of the same items that shows a progress bar while it is iterated over.

    ``total`` is the number of items, and ``unit`` a noun for one item. If ``is_shown`` is False, no
    bar is shown. If it is None, a bar is shown only on a terminal.
    """
    if is_shown is None:
        # A dumb terminal, such as that of an editor, cannot go back to the beginning of a line.
        is_shown = bool(sys.stderr and sys.stderr.isatty() and os.environ.get("TERM") != "dumb")
    if not is_shown:
        return items
    from tqdm import tqdm

    return tqdm(items, total=total, unit=unit, leave=False)
