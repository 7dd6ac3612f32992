"""Check whether a service still responds as it did when its profile was drafted."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from aatoolkit._util.show import Shown
from aatoolkit.errors import AAToolkitError
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload
from aatoolkit.sections import COUNT, FRACTION

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.client.client import Project
    from aatoolkit.sections import Profile, Section

_SLACK, _OTHER_SCALE = 1e-9, 25

Change = tuple[str, str, int, str | None]
"""What has changed, where, how often, and an example."""


def baseline_of(sections: Mapping[str, Section], payloads: Mapping[str, Payload]) -> dict[str, Any]:
    """Collect drift, the size of shares and empty columns now, to compare with later."""
    baseline: dict[str, Any] = {"drift": {}, "sizes": {}}
    for name, payload in payloads.items():
        tables = _read(sections[name], payload) if name in sections else None
        if tables is not None:
            baseline["drift"][name] = sorted([kind, path] for kind, path, *_ in _drift(tables))
            baseline["sizes"][name] = _sizes(sections[name], tables)
    changed = {
        kind: {n: facts for n, facts in of.items() if facts or kind == "sizes"}
        for kind, of in baseline.items()
    }
    return {kind: of for kind, of in changed.items() if of}


def check(
    profile: Profile, project: Project, sections: Iterable[str] | None = None
) -> pd.DataFrame:
    """Read a service again, and list where its responses differ from the profile.

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
        where the service still responds so.
    """
    import pandas as pd

    rows = [
        (name, *change)
        for name in sections or profile.names
        for change in _changes(profile, project, name)
    ]
    columns = ["section", "change", "path", "count", "example"]
    frame = pd.DataFrame(rows, columns=columns, dtype="string")
    return Shown(frame.astype({"count": "Int64"}))


def _changes(profile: Profile, project: Project, name: str) -> Iterator[Change]:
    try:
        tables = _read(profile[name], project.fetch(name))
    except AAToolkitError as error:
        yield "not read", "$", 1, str(error)
        return
    if tables is None:
        yield "not understood", "$", 1, None
        return
    before = [[*pair] for pair in profile.baseline.get("drift", {}).get(name, ())]
    yield from (change for change in _drift(tables) if [*change[:2]] not in before)
    for table in profile[name]:
        for column in table.columns:
            if column.unit in (COUNT, FRACTION):
                values = tables[table.name][column.name].dropna()
                most = 1 + _SLACK if column.unit == FRACTION else float("inf")
                odd = values[(values < -_SLACK) | (values > most)]
                if len(odd):
                    yield f"no {column.unit}", column.pattern, len(odd), str(odd.iloc[0])
    sizes = profile.baseline.get("sizes", {})
    for label, size in _sizes(profile[name], tables).items() if name in sizes else ():
        was = sizes[name].get(label, 0.0)
        if size is None and was is not None:
            yield "no values any more", label, 1, None
        elif was and size and not 1 / _OTHER_SCALE < size / was < _OTHER_SCALE:
            yield "another scale", label, 1, f"{size:.3g}, was {was:.3g}"


def _sizes(section: Section, tables: Tables) -> dict[str, float | None]:
    """The median of each column of shares, and None for columns without any value."""
    sizes: dict[str, float | None] = {}
    for table in section:
        for column in table.columns:
            values = tables[table.name][column.name].dropna()
            label = f"{table.name}.{column.name}"
            if not len(values) and len(tables[table.name]):
                sizes[label] = None
            elif len(values) and (column.unit or "").startswith("fraction"):
                sizes[label] = float(f"{abs(values).median():.3g}")
    return sizes


def _read(section: Section, payload: Payload) -> Tables | None:
    """Normalise a response; None where it is no document."""
    try:
        with warnings.catch_warnings():
            # A check reports all drift itself, so the warning would say it twice.
            warnings.simplefilter("ignore")
            return normalize(section, payload)
    except AAToolkitError:
        return None


def _drift(tables: Tables) -> list[Change]:
    drift = tables.drift.astype(object).where(tables.drift.notna(), None)
    return [
        (str(kind), str(path), int(count), example if example is None else str(example))
        for kind, path, count, example in drift.itertuples(index=False)
    ]
