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
from aatoolkit._util.text import json_text
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
from aatoolkit.metadata.attrs import attach, stored_of
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.normalizer.provenance import rebuild
from aatoolkit.normalizer.tables import ResponseAtHand, Tables, quietly
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

_STEP = 0.1
"""The longest wait, in seconds, before an interrupt is noticed."""

_AHEAD = 2
"""The number of calls to submit per worker before taking a result."""


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


Fetch = Callable[[str], Payload]
"""A function that fetches one section of a host and scope."""


def read_many(
    fetches: Sequence[Fetch],
    names: Sequence[str],
    options: ReadingOptions,
    *,
    workers: int,
    progress: bool | None,
) -> Generator[Dataset]:
    """Fetch sections in parallel, and yield one `Dataset` per function in ``fetches``.

    Each of these functions is for one host and its filters: it takes the name of a section and
    returns the response. ``names`` are the sections; ``workers`` is the number of parallel
    requests.
    """
    calls = [(fetch, section_name) for fetch in fetches for section_name in names]
    if not calls:
        yield from (Dataset({}) for _ in fetches)
        return

    def ask(call: tuple[Fetch, str]) -> Payload:
        fetch, section_name = call
        return fetch(section_name)

    with closing(in_order(ask, calls, workers)) as responses:
        responses_shown = progress_bar(responses, progress, total=len(calls), unit="response")
        for _, group in groupby(responses_shown, key=lambda response: response[0][0]):
            results = ((section_name, future.result) for (_, section_name), future in group)
            yield normalize_all(results, options.tables)


def normalize_all(
    responses: Iterable[tuple[str, Callable[[], T]]], normalize_one: Callable[[str, T], Tables]
) -> Dataset:
    """Convert responses to tables, and return them as a `Dataset`.

    ``responses`` are pairs: the name of a section, and a function that returns the response or
    raises an error. ``normalize_one`` converts one response. Errors are stored in ``.errors`` of
    the dataset.
    """
    results: dict[str, Tables] = {}
    errors: dict[str, AAToolkitError] = {}
    for name, response in responses:
        try:
            results[name] = normalize_one(name, response())
        except AAToolkitError as error:
            errors[name] = error
    return Dataset(results, errors)


def raise_if_all_refused(dataset: Dataset, *kinds: type[AAToolkitError]) -> None:
    """Raise an error if all sections of a dataset failed with the same kind of error.

    ``kinds`` are the error classes to consider, such as `NotAuthorized`.
    """
    errors = [*dataset.errors.values()]
    if not dataset and len({*map(type, errors)}) == 1 and isinstance(errors[0], kinds):
        raise errors[0]


def section_names(profile: Profile | None) -> tuple[str, ...]:
    """Return the names of all sections: those of the API, and those of a service's profile.

    A profile describes the tables and columns of a service.
    """
    if profile is None:
        return PROFILE.names
    return tuple(sorted({*PROFILE.names, *profile.names}))


def known_sections(sections: Iterable[str] | None, profile: Profile | None) -> tuple[str, ...]:
    """Return the names of sections without duplicates; None stands for all sections.

    Raises `ScopeError` for an unknown name.
    """
    if sections is None:
        return section_names(profile)
    names = getattr(sections, "sections", sections)  # what holds them, such as a picker
    return tuple(known_section(name, profile) for name in unique_list(names, str))


def unique_list(values: T | Iterable[T] | None, kind: type[T]) -> list[T]:
    """Return a single value, or an iterable of values, as a list without duplicates.

    ``kind`` is the type of a single value.

    Examples
    --------
    >>> unique_list("a", str), unique_list(["a", "b", "a"], str), unique_list(None, str)
    (['a'], ['a', 'b'], [])
    """
    if isinstance(values, kind):
        return [values]
    return list(dict.fromkeys(cast("Iterable[T]", () if values is None else values)))


def known_section(section: str, profile: Profile | None) -> str:
    """Return the name of a section unchanged; raise `ScopeError` if there is no such section."""
    names = section_names(profile)
    if isinstance(section, str) and section in names:
        return section
    if str(section).replace("-", "_") == SCOPE_OPTIONS:
        raise ScopeError(
            f"{section} is no section; project.scope_options() reads what the filters may be, and "
            "aatoolkit read HOST prints it",
            parameter="section",
        )
    raise make_unknown_name_error("section", section, names)


def read_by(
    project: Project, section: str, scope: Scope, filter_name: str, options: Mapping[str, Any]
) -> Tables:
    """Read a section once for each value of a filter, in parallel, and concatenate the tables.

    ``filter_name`` is a filter such as ``engine``. ``options`` are other arguments of
    `Project.read`. The first column of each table has the value of the filter.
    """
    if not isinstance(filter_name, str):
        raise ScopeError(
            f"split takes the name of one filter, such as 'engine', and not {filter_name!r}; "
            "read once for each value of the others",
            parameter="split",
        )
    if filter_name not in FILTERS:
        raise ScopeError(unknown("filter to split by", filter_name, FILTERS), parameter="split")
    values = scope._filters.get(filter_name) or project.scope_options().values(filter_name)
    if not values:
        raise ScopeError(
            f"the scope options list no {filter_name} to read by; give the values as "
            f"{filter_name}=[...]",
            parameter=filter_name,
        )

    def read(value: str) -> Tables:
        return project.read(section, scope._with(**{filter_name: value}), **options)

    with closing(in_order(read, values, project.client.workers)) as results:
        tables_by_value = {value: future.result() for value, future in results}
    _warn_if_equal(section, filter_name, [tables.main for tables in tables_by_value.values()])
    return _concat_tables(filter_name, tables_by_value)


def _warn_if_equal(section: str, filter_name: str, frames: Sequence[pd.DataFrame]) -> None:
    """Warn that the service may ignore a filter, if all of its values give the same counts.

    ``frames`` has the DataFrame of each value.
    """
    aggregation_rules = frames[0].aa.codebook["aggregation"]
    counts = [
        frame.reindex(columns=aggregation_rules.index[aggregation_rules.eq("sum")])
        for frame in frames
    ]
    if len(frames) > 1 and counts[0].gt(0).any(axis=None) and all(map(counts[0].equals, counts)):
        warn(
            f"{section} has the same counts for all {len(frames)} values of the filter "
            f"{filter_name}, which may not apply to it: a sum over {filter_name} would count "
            f"everything {len(frames)} times; read it without split"
        )


def _concat_tables(filter_name: str, tables_by_value: Mapping[str, Tables]) -> Tables:
    """Concatenate the tables that were read for each value of a filter.

    The value, such as ``chatgpt``, becomes the first column.
    """
    first_tables = next(iter(tables_by_value.values()))
    names = list(dict.fromkeys(name for tables in tables_by_value.values() for name in tables))
    listings: dict[str, Any] = {
        name: partial(_listing, filter_name, tables_by_value, name)
        for name in ("extra", "availability", "drift", "hints")
    }
    return Tables(
        first_tables.section,
        {name: partial(_concat_frames, filter_name, name, tables_by_value) for name in names},
        rows={
            name: sum(tables.rows[name] for tables in tables_by_value.values() if name in tables)
            for name in names
        },
        words=lambda: {name: _availability_words(name, tables_by_value) for name in names},
        **listings,
        declaration=first_tables.declaration,
        drafted=any(tables.drafted for tables in tables_by_value.values()),
    )


def _concat_frames(
    filter_name: str, name: str, tables_by_value: Mapping[str, Tables]
) -> pd.DataFrame:
    from aatoolkit.frame.merge import concat, unique_key
    from aatoolkit.frame.reshape import with_constant
    from aatoolkit.metadata.attrs import metadata_of
    from aatoolkit.metadata.recorded import attach_changed

    frames = {value: tables[name] for value, tables in tables_by_value.items() if name in tables}
    has_column = any(filter_name in frame.columns for frame in frames.values())
    column = f"filter_{filter_name}" if has_column else filter_name
    labelled_frames = [with_constant(frame, column, value) for value, frame in frames.items()]
    result = concat(labelled_frames, ignore_index=True)
    keys = {metadata_of(frame).key for frame in frames.values()}
    if len(keys) > 1:
        return result
    key = unique_key(result, (column, *keys.pop()))
    return attach_changed(result, replace(metadata_of(result), key=key))


def _availability_words(name: str, tables_by_value: Mapping[str, Tables]) -> str:
    """Return a phrase on how much of a table was measured, over all values of a filter.

    For example, ``partial (a part is missing for gemini)``.
    """
    words_by_value = {
        value: tables._words.get(name, "unknown") for value, tables in tables_by_value.items()
    }
    if len({*words_by_value.values()}) == 1:
        return next(iter(words_by_value.values()))
    partial_values = ", ".join(
        value for value, words in words_by_value.items() if not words.startswith("available")
    )
    has_values = any(
        words.startswith(("available", "partial")) for words in words_by_value.values()
    )
    return f"{'partial' if has_values else 'unavailable'} (a part is missing for {partial_values})"


def _listing(filter_name: str, tables_by_value: Mapping[str, Tables], name: str) -> pd.DataFrame:
    frames: Iterator[pd.DataFrame] = (
        getattr(tables, name).assign(**{f"filter_{filter_name}": value})
        for value, tables in tables_by_value.items()
    )
    listing: pd.DataFrame = pd.concat(frames, ignore_index=True)
    return listing


def read_combined(payload: Payload, options: ReadingOptions) -> Dataset:
    """Convert one response that has all sections to a `Dataset`."""
    payloads = split(payload, section_names(options.profile))
    if not payloads:
        draft_options = replace(options, profile=options.profile or Profile("undescribed"))
        return Dataset({"combined": draft_options.tables("combined", payload)})
    loaders = (
        (name, partial(replace, section_payload)) for name, section_payload in payloads.items()
    )
    return normalize_all(loaders, options.tables)


def split(payload: Payload, names: Iterable[str]) -> dict[str, Payload]:
    """Split a response that has all sections into one response per section.

    The sections are found by their ``names``, at any level of the JSON document. The result is
    empty if fewer than two are found.
    """
    known_names = frozenset(names)
    sections = max(
        (_sections_in(value, known_names) for value in _containers(payload.json, len(known_names))),
        key=len,
        default={},
    )
    # A single one may be a field that happens to have the name of a section.
    return {
        name: replace(payload, body=json_text(content).encode(), section=name)
        for name, content in sections.items()
        if len(sections) > 1
    }


def _containers(document: Any, max_length: int) -> Iterator[Any]:
    """Yield all JSON objects and short lists in a document, the outermost first.

    A short list has at most ``max_length`` items.
    """
    containers = [document] if isinstance(document, dict | list) else []
    while containers:
        yield from containers
        containers = [
            child
            for value in containers
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, dict) or (isinstance(child, list) and len(child) <= max_length)
        ]


def _sections_in(value: Any, names: Set[str]) -> dict[str, Any]:
    """Return the sections that are fields or items of a value, as a dict by name."""
    if isinstance(value, dict):
        return {name: content for name, content in value.items() if name in names}
    objects = [item for item in value if isinstance(item, dict)]
    entries = [(item["section"], item) for item in objects if item.get("section") in names]
    return dict(entries) if len(dict(entries)) == len(entries) else {}


def read_dataset(folder: FilePath, *, profile: ProfileSource | None = None) -> Dataset:
    """Read the files that ``dataset.to_parquet`` or ``tables.to_parquet`` wrote.

    The result works like the original dataset, for reports and comparisons as well. Only the bytes
    of the responses are missing: ``payload`` is None, and an explanation needs a study or archive
    (``within=``) to show them.

    If you changed a column before writing it, its availability is "unknown: overwritten".

    Parameters
    ----------
    folder : str or path
        The folder that was passed to ``to_parquet``, or the folder of one section in it.
    profile : Profile, module, str or path, optional
        The description of the service's tables that was used to make them; by default that of
        this package.

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

    path = Path(folder)
    section_folders = [
        place.resolve()
        # A name may be too long for the functions of `Path`.
        for place in (path, *(sorted(path.glob("*")) if os.path.isdir(path) else ()))
        if os.path.isfile(place / "_extra.parquet")
    ]
    if not section_folders:
        raise FileMissing(
            f"{os.fspath(folder)!r} holds no tables that to_parquet wrote; give the folder that "
            "was given to it",
            path=folder,
        )
    options = ReadingOptions(None if profile is None else Profile.load(profile))
    loaders = (
        (section_folder.name, partial(read_section, section_folder))
        for section_folder in section_folders
    )
    return normalize_all(loaders, partial(_tables_of_files, options))


def _tables_of_files(
    options: ReadingOptions, name: str, files: tuple[dict[str, pd.DataFrame], dict[str, pa.Table]]
) -> Tables:
    """Create the `Tables` of a section from its Parquet files.

    ``files`` has two dicts by table name: the DataFrames, and Arrow tables with the position of
    each value in the response.
    """
    frames, placements = files
    metadata = {table: stored_of(frame)[0] for table, frame in frames.items() if table[0] != "_"}
    source = next((item.sources[0] for item in metadata.values() if item.sources), Source())
    # No service sent these bytes and this time, so the payload is not kept.
    payload = Payload(
        json.dumps(rebuild(frames, frames["_extra"], placements)).encode(),
        fetched_at=datetime.now(UTC),
        scope=None if source.scope is None else Scope._from_query(source.scope),
    )
    tables = quietly(options.tables, name, payload)
    if metadata.keys() != tables.keys():
        raise PayloadError(
            f"the files of {name} were made with another profile: they have "
            f"{', '.join(metadata)}, and it gives {', '.join(tables)}; give profile="
        )
    response = ResponseAtHand(source, None, lambda _: tables)
    tables.payload, tables._parts = None, tables._parts._replace(held=[response])
    for table in tables:
        tables._frames[table] = attach(frames[table], metadata[table], responses=[response])
        tables.rows[table] = len(frames[table])
    listings = {file[1:]: frame for file, frame in frames.items() if file not in metadata}
    vars(tables).update(listings, _provenance=placements)
    return tables


# -- concurrently ---


def in_order(
    call: Callable[[Q], R], arguments: Iterable[Q], workers: int, *, deadline: float | None = None
) -> Generator[tuple[Q, Future[R]]]:
    """Call a function with each argument in threads, and yield the results in order.

    Parameters
    ----------
    call : callable
        A function of one argument.
    arguments : iterable
        The arguments, one per call.
    workers : int
        The number of threads.
    deadline : float, optional
        The time of `time.monotonic` until which the next result must be there.

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
    call_group, queue = CallGroup(), deque[tuple[Q, Future[R]]]()
    pool = ThreadPoolExecutor(workers, "aatoolkit")
    try:
        for argument in arguments:
            queue.append((argument, pool.submit(call_group.run, call, argument)))
            if len(queue) >= _AHEAD * workers:
                yield _next_done(queue, deadline)
        while queue:
            yield _next_done(queue, deadline)
    finally:
        # Not waited for, so that an interrupt ends the call at once.
        call_group.cancel()
        pool.shutdown(wait=False, cancel_futures=True)


def _next_done(queue: deque[tuple[Q, Future[R]]], deadline: float | None) -> tuple[Q, Future[R]]:
    """Wait for the first call in a queue to finish; return its argument and its future."""
    argument, future = queue.popleft()
    # In short steps: if a library such as Polars handles signals, Ctrl-C cannot interrupt a
    # long wait.
    while not wait([future], _STEP).done:
        if deadline is not None and time.monotonic() > deadline:
            raise TimeoutError
    return argument, future


def progress_bar(
    items: Iterable[Q], is_shown: bool | None, *, total: int, unit: str
) -> Iterable[Q]:
    """Return an iterable of the same items that shows a progress bar while it is iterated over.

    ``total`` is the number of items, and ``unit`` a noun for one of them. If ``is_shown`` is False,
    there is no bar; if None, it is shown only on a terminal.
    """
    if is_shown is None:
        # A dumb terminal, such as that of an editor, cannot go back to the beginning of a line.
        is_shown = bool(sys.stderr and sys.stderr.isatty() and os.environ.get("TERM") != "dumb")
    if not is_shown:
        return items
    from tqdm import tqdm

    return tqdm(items, total=total, unit=unit, leave=False)
