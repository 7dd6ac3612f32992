"""Check whether a service still answers as it did when its profile was drafted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from aatoolkit._util.dtypes import NUMBERS
from aatoolkit._util.show import Shown
from aatoolkit.errors import AAToolkitError
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload
from aatoolkit.sections import COUNT, FRACTION

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.client.project import Project
    from aatoolkit.sections import Column, Profile, Section

_COLUMNS = ("section", "change", "path", "count", "example")
_FRACTION_SLACK = 1e-9
_OTHER_SCALE = 25


def baseline_of(sections: Mapping[str, Section], payloads: Mapping[str, Payload]) -> dict[str, Any]:
    """Compute the drift of answers and the size of their values, to compare with later.

    A check later leaves out what differed before, so that it shows what changed and nothing else.
    """
    drift: dict[str, Any] = {}
    sizes: dict[str, Any] = {}
    for name, payload in payloads.items():
        tables = _read(sections[name], payload) if name in sections else None
        if tables is None:
            continue
        known = sorted(_differences(tables))
        if known:
            drift[name] = [list(one) for one in known]
        sizes[name] = _sizes(sections[name], tables)
    return {"drift": drift, "sizes": sizes}


def check(
    profile: Profile,
    project: Project,
    sections: Iterable[str] | None = None,
) -> pd.DataFrame:
    """Read a service again, and list where its answers differ from the profile.

    Parameters
    ----------
    profile : Profile
        What is known of the service.
    project : Project
        A project of it.
    sections : iterable of str, optional
        The sections to ask for; all that the profile declares if left out.

    Returns
    -------
    DataFrame
        One row a difference: ``section``, ``change``, ``path``, ``count``, ``example``. Empty
        where the service still answers so.
    """
    import pandas as pd

    known = (profile.baseline or {}).get("drift", {})
    rows: list[tuple[str, str, str, int, str | None]] = []
    for name in sections or profile.names:
        try:
            payload = project.fetch(name)
        except AAToolkitError as error:
            rows.append((name, "not read", "$", 1, str(error)))
            continue
        tables = _read(profile[name], payload)
        if tables is None:
            rows.append((name, "not understood", "$", 1, None))
            continue
        before = {tuple(one) for one in known.get(name, ())}
        for (kind, path), (count, example) in _differences(tables).items():
            if (kind, path) not in before:
                rows.append((name, kind, path, count, example))
        rows += _out_of_range(name, profile[name], tables)
        rows += _resized(name, profile[name], tables, (profile.baseline or {}).get("sizes", {}))
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [[] for _ in _COLUMNS]
    frame = {
        name: pd.array(list(values), dtype="Int64" if name == "count" else "string")
        for name, values in zip(_COLUMNS, columns, strict=True)
    }
    return Shown(frame)


def _read(section: Section, payload: Payload) -> Tables | None:
    """Normalise an answer; None where it is no document."""
    import warnings

    try:
        with warnings.catch_warnings():
            # A check reports all drift itself, so the warning would say it twice.
            warnings.simplefilter("ignore")
            return normalize(section, payload)
    except AAToolkitError:
        return None


def _differences(tables: Tables) -> dict[tuple[str, str], tuple[int, str | None]]:
    drift = tables.drift
    return {
        (str(kind), str(path)): (int(count), None if example is None else str(example))
        for kind, path, count, example in zip(
            drift["kind"],
            drift["path"],
            drift["count"],
            drift["example"].astype(object).where(drift["example"].notna(), None),
            strict=True,
        )
    }


def _sizes(section: Section, tables: Tables) -> dict[str, float | None]:
    """The median of each share and score, and None for columns without any value."""
    sizes: dict[str, float | None] = {}
    for table in section:
        for column in table.columns:
            values = tables[table.name][column.name].dropna()
            label = f"{table.name}.{column.name}"
            if not len(values):
                sizes[label] = None
            elif column.dtype in NUMBERS and not column.is_label and _is_bounded(column):
                sizes[label] = float(f"{abs(values).median():.3g}")
    return sizes


def _resized(
    name: str, section: Section, tables: Tables, before: Mapping[str, Mapping[str, float | None]]
) -> Iterator[tuple[str, str, str, int, str | None]]:
    """Yield columns that have lost all values, and shares and scores of quite another size."""
    now = _sizes(section, tables)
    for table in section if name in before else ():
        rows = len(tables[table.name])
        for column in table.columns:
            label, path = f"{table.name}.{column.name}", column.pattern
            if (column.source or "").startswith("["):
                path = f"{table.rows.path}{column.source}"
            was, size = before[name].get(label, 0.0), now.get(label, 0.0)
            if rows and size is None and was is not None:
                yield name, "no values any more", path, rows, None
            if was and size and not 1 / _OTHER_SCALE < size / was < _OTHER_SCALE:
                yield name, "another scale", path, rows, f"{size:.3g}, was {was:.3g}"


def _is_bounded(column: Column) -> bool:
    """Whether values of a unit stay within a range, such as shares and scores."""
    unit = column.unit or ""
    return unit.startswith(("fraction", "score", "probability", "position", "percent"))


def _out_of_range(
    name: str, section: Section, tables: Tables
) -> list[tuple[str, str, str, int, str | None]]:
    """List fractions outside 0 to 1, and counts below zero."""
    found: list[tuple[str, str, str, int, str | None]] = []
    for table in section:
        frame = tables[table.name]
        for column in table.columns:
            if column.unit not in (COUNT, FRACTION) or column.name not in frame:
                continue
            values = frame[column.name].dropna()
            if not len(values) or not hasattr(values, "gt"):
                continue
            odd = values.lt(-_FRACTION_SLACK)
            if column.unit == FRACTION:
                odd |= values.gt(1 + _FRACTION_SLACK)
            if bool(odd.any()):
                example = str(values[odd].iloc[0])
                found.append((name, f"no {column.unit}", column.pattern, int(odd.sum()), example))
    return found
