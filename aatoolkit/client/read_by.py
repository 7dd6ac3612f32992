"""One section read once for each value of a filter, as one set of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from aatoolkit._util.text import shown
from aatoolkit.client.concurrency import in_order
from aatoolkit.errors import ScopeError, did_you_mean, near_matches
from aatoolkit.normalizer.tables import Tables
from aatoolkit.scope import FILTERS, Scope

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.client.project import Project


def read_by(
    project: Project, section: str, scope: Scope, by: str, how: Mapping[str, Any]
) -> Tables:
    """Read a section once for each value of a filter, concurrently; see `Project.read`.

    Raises
    ------
    ScopeError
        If there is no such filter, or no value to read by.
    """
    if not isinstance(by, str) or by not in FILTERS:
        listed: list[object] = [*by] if isinstance(by, list | tuple) else []
        one = next((name for name in listed if name in FILTERS), None)
        near = near_matches(by if isinstance(by, str) else [*map(str, listed)], FILTERS)
        hint = f"name one: by={one!r}; " if one else f"{did_you_mean(near)} " if near else ""
        raise ScopeError(
            f"by={shown(by)} is not a filter to read by; {hint}there are {', '.join(FILTERS)}",
            parameter="by",
            unknown=(str(by),),
            suggestions=near,
        )
    values: tuple[str, ...] = scope.filters.get(by, ())
    options = None if values else project.scope_options()
    if options is not None and by in options.unknown:
        raise ScopeError(
            f"which values {by} has is not known: no list of them was recognised in the scope "
            f"options; give the values as {by}=[...]",
            parameter=by,
        )
    values = values or (options.values(by) if options is not None else ())
    if not values:
        raise ScopeError(
            f"the scope options list no {by} to read by; give the values as {by}=[...]",
            parameter=by,
        )

    def read(value: str) -> Tables:
        return project.read(section, scope.with_(**{by: value}), **how)

    workers = min(project.client.workers, len(values))
    with closing(in_order(read, values, workers)) as answers:
        return _concatenated(by, {value: outcome.result() for value, outcome in answers})


def refuse_empty(filters: Mapping[str, Any]) -> None:
    """Raise if a filter is given that chooses no value, as it would choose all.

    Raises
    ------
    ScopeError
        If one is empty.
    """
    for name, value in filters.items():
        if name in FILTERS and isinstance(value, list | tuple | set | frozenset) and not value:
            raise ScopeError(
                f"{name}={value!r} chooses no value; leave {name} out to read all", parameter=name
            )


def _concatenated(by: str, parts: Mapping[str, Tables]) -> Tables:
    """The tables of several reads in one, with the value of the filter as first column."""
    first = next(iter(parts.values()))
    names = list(dict.fromkeys(name for tables in parts.values() for name in tables))
    loaders = {name: partial(_concat, by, name, parts) for name in names}
    return Tables(
        first.section,
        loaders,
        rows={
            name: sum(tables.rows[name] for tables in parts.values() if name in tables)
            for name in names
        },
        words=lambda: {name: _words(name, parts) for name in names},
        extra=_of_each(by, parts, lambda tables: tables.extra),
        availability=_of_each(by, parts, lambda tables: tables.availability),
        drift=_of_each(by, parts, lambda tables: tables.drift),
        hints=_of_each(by, parts, lambda tables: tables.hints),
        declaration=first.declaration,
        drafted=any(tables.drafted for tables in parts.values()),
    )


def _concat(by: str, name: str, parts: Mapping[str, Tables]) -> pd.DataFrame:
    from aatoolkit.frame.concat import concat
    from aatoolkit.frame.merge import unique_key
    from aatoolkit.frame.reshape import with_constant
    from aatoolkit.metadata.attrs import metadata_of
    from aatoolkit.metadata.recorded import attach_changed

    frames = {value: tables[name] for value, tables in parts.items() if name in tables}
    taken = any(by in frame.columns for frame in frames.values())
    column = f"filter_{by}" if taken else by
    labelled = [with_constant(frame, column, value) for value, frame in frames.items()]
    whole = concat(labelled, ignore_index=True)
    keys = {metadata_of(frame).key for frame in frames.values()}
    if len(keys) > 1:
        return whole
    key = unique_key(whole, (column, *keys.pop()))
    return attach_changed(whole, replace(metadata_of(whole), key=key))


def _words(name: str, parts: Mapping[str, Tables]) -> str:
    """The availability of a table in words: the common ones, or which values lack a part."""
    words = {value: tables.words.get(name, "unknown") for value, tables in parts.items()}
    if len({*words.values()}) == 1:
        return next(iter(words.values()))
    whole = [value for value, word in words.items() if word.startswith("available")]
    lacking = ", ".join(value for value in words if value not in whole)
    some = whole or [word for word in words.values() if word.startswith("partial")]
    return f"{'partial' if some else 'unavailable'} (not whole for {lacking})"


def _of_each(
    by: str, parts: Mapping[str, Tables], take: Callable[[Tables], pd.DataFrame]
) -> Callable[[], pd.DataFrame]:
    def concatenated() -> pd.DataFrame:
        import pandas as pd

        frames = [take(tables).assign(**{f"filter_{by}": value}) for value, tables in parts.items()]
        return pd.concat(frames, ignore_index=True)

    return concatenated
