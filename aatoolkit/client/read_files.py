"""Read a dataset back from the folder that it was written to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

from aatoolkit.client.dataset import Dataset
from aatoolkit.client.read_many import normalized
from aatoolkit.errors import FileMissing, PayloadError
from aatoolkit.frame.parquet import read_metadata, rebuild
from aatoolkit.metadata.column import Source
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile
from aatoolkit.sections.profile import ProfileSource


def read_dataset(
    folder: str | os.PathLike[str], *, profile: ProfileSource | None = None
) -> Dataset:
    """Read back what ``dataset.to_parquet`` or ``tables.to_parquet`` wrote.

    Each answer is rebuilt from its files and normalised again, so that the dataset can do all that
    the first one could: funnels, comparisons, explanations. Values that were changed in a file are
    changed in it. Keys of objects may come in another order, so that the SHA-256 of an answer is no
    longer that of the service's.

    Parameters
    ----------
    folder : str or path
        The folder that was given to ``to_parquet``, or that of one section in it.
    profile : Profile, module, str or path, optional
        The profile that the tables were made with, if it was not the shipped one.

    Returns
    -------
    Dataset
        The sections, in alphabetical order. One whose files are incomplete, or were made with
        another profile, is in ``errors``.

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
    places = {place.name: place for place in _sections(Path(folder))}
    if not places:
        raise FileMissing(
            f"{os.fspath(folder)!r} holds no tables that to_parquet wrote; give the folder that "
            "was given to it",
            path=str(folder),
        )
    used = None if profile is None else Profile.load(profile)
    found = normalized(((name, partial(_payload, places[name])) for name in places), used)
    results, failed = dict(found), dict(found.errors)
    for name, tables in found.items():
        files = {path.stem for path in places[name].glob("[!_]*.parquet")}
        if files != {*tables}:
            del results[name]
            problem = (
                f"the files of {name} were made with another profile: they have "
                f"{', '.join(sorted(files))}, and it gives {', '.join(tables)}; give profile="
            )
            failed[name] = PayloadError(problem, problems=[problem])
    return Dataset(results, failed)


def _sections(folder: Path) -> Iterator[Path]:
    """The folders of sections: the folder itself, or those in it."""
    for place in (folder, *sorted(folder.glob("*"))):
        if (place / "_extra.parquet").is_file():
            yield place.resolve()


def _payload(place: Path) -> Payload:
    """The answer that the files of a section were made of."""
    known = (read_metadata(path).sources for path in sorted(place.glob("[!_]*.parquet")))
    source = next((sources[0] for sources in known if sources), Source())
    if source.fetched_at is None:
        problem = (
            f"the tables of {place.name} were made of an answer without its request; write "
            f"aa.normalize({place.name!r}, aa.rebuild({str(place)!r}))"
        )
        raise PayloadError(problem, problems=[problem])
    return Payload(
        json.dumps(rebuild(place), ensure_ascii=False).encode("utf-8", "surrogatepass"),
        url=source.url or "",
        fetched_at=datetime.fromisoformat(source.fetched_at),
        stale=source.stale,
        section=place.name,
        scope=None if source.scope is None else Scope.from_query(source.scope),
        host=source.host,
    )
