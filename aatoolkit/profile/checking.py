"""Checks: whether a service still answers as it did when its profile was drafted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from aatoolkit.errors import AAToolkitError
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.client.project import Project
    from aatoolkit.sections import Profile, Section

_COLUMNS = ("section", "change", "path", "count", "example")
_FRACTION_SLACK = 1e-9


def baseline_of(sections: Mapping[str, Section], payloads: Mapping[str, Payload]) -> dict[str, Any]:
    """What an answer differs in from its declaration at the time of the draft.

    A check later leaves these out, so that it shows what changed and nothing else.
    """
    found: dict[str, Any] = {}
    for name, payload in payloads.items():
        if name in sections:
            tables = _read(sections[name], payload)
            known = [] if tables is None else sorted(_differences(tables))
            if known:
                found[name] = [list(one) for one in known]
    return {"drift": found}


def check(
    profile: Profile,
    project: Project,
    sections: Iterable[str] | None = None,
) -> pd.DataFrame:
    """Ask a service again and list where its answers differ from the profile.

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
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [[] for _ in _COLUMNS]
    frame = {
        name: pd.array(list(values), dtype="Int64" if name == "count" else "string")
        for name, values in zip(_COLUMNS, columns, strict=True)
    }
    return pd.DataFrame(frame)


def _read(section: Section, payload: Payload) -> Tables | None:
    """The tables of an answer; None where the answer is no document."""
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


def _out_of_range(
    name: str, section: Section, tables: Tables
) -> list[tuple[str, str, str, int, str | None]]:
    """Fractions that are none any more, and counts below zero."""
    from aatoolkit.sections import COUNT, FRACTION

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
