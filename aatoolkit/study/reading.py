"""Recorded responses as tables: their hashes, the profiles that read them, and where they are.

A study and an archive give explanations the same thing: a `StoredResponse`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from aatoolkit.client.dataset import Dataset
from aatoolkit.client.reading import ReadingOptions, read_combined
from aatoolkit.errors import (
    AAToolkitError,
    AAToolkitWarning,
    ScopeError,
    StudyError,
    did_you_mean,
    near_matches,
)
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.metadata.arrow_schema import logical_hash
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile
from aatoolkit.sections.profile import SCOPE_OPTIONS
from aatoolkit.sections.profile_json import dump_profile, load_profile
from aatoolkit.study.files import parsed
from aatoolkit.study.record import canonical

if TYPE_CHECKING:
    from aatoolkit.study.study import Study

Hashes = dict[str, tuple[int, str]]
"""The rows and the logical hash of each table, by ``section.table``."""


def tables_of(
    payload: Payload, profile: Profile | None = None, max_nodes: int = MAX_NODES
) -> Dataset:
    """Normalise a response, by section; scope options count as a section."""
    section = payload.section
    if payload.scope is None or section == SCOPE_OPTIONS:
        section = SCOPE_OPTIONS
        # A profile need not declare them.
        profile = profile if profile is not None and profile.get(section) is not None else None
    if section is None:
        return read_combined(payload, ReadingOptions(profile, max_nodes))
    return Dataset({section: normalize(section, payload, profile=profile, max_nodes=max_nodes)})


def quietly(read: Callable[..., Dataset], *arguments: Any) -> Dataset:
    """Normalise without warnings of what drifted, which says itself in its tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AAToolkitWarning)
        return read(*arguments)


# -- hashes and profiles -----------------------------------------------------------------------


def table_hashes(dataset: Dataset) -> Hashes:
    """Count the rows and compute the logical hash of every table."""
    return {
        f"{section}.{name}": (tables.rows[name], logical_hash(tables[name]))
        for section, tables in dataset.items()
        for name in tables
    }


def format_tables(hashes: Iterable[Hashes], versions: Mapping[str, str]) -> bytes:
    """Format ``tables.json``: one line for each line of the manifest."""
    head = canonical({"format": "aatoolkit-tables", "version": 1, "read_with": dict(versions)})
    lines = []
    for tables in hashes:
        sections: dict[str, dict[str, Any]] = {}
        for place, (rows, digest) in tables.items():
            section, _, name = place.partition(".")
            sections.setdefault(section, {})[name] = {"rows": rows, "hash": digest}
        lines.append(canonical(sections).decode())
    return head[:-1] + (',"records":[\n' + ",\n".join(lines) + "\n]}\n").encode()


def parse_tables(text: bytes) -> list[Hashes]:
    """Parse the table hashes for each line of the manifest; empty if they are damaged."""

    def read(body: Any) -> list[Hashes]:
        return [
            {
                f"{section}.{name}": (int(facts["rows"]), str(facts["hash"]))
                for section, tables in record.items()
                for name, facts in tables.items()
            }
            for record in body["records"]
        ]

    return parsed(text, read) or []


_PROFILES = {"format": "aatoolkit-profiles", "version": 1}


def format_profiles(profiles: Mapping[str, Profile]) -> bytes:
    """Serialize the content of ``profiles.json``."""
    dumped = {base_url: dump_profile(profile) for base_url, profile in profiles.items()}
    return canonical({**_PROFILES, "profiles": dumped}) + b"\n"


def parse_profiles(text: bytes) -> Mapping[str, Profile]:
    """Parse profiles by the base URL of their service; none if the text holds none."""

    def read(body: Any) -> dict[str, Profile]:
        is_ours = {name: body[name] for name in _PROFILES} == _PROFILES
        profiles = body["profiles"].items() if is_ours else ()
        return {str(url): load_profile(profile) for url, profile in profiles}

    return parsed(text, read) or {}


# -- where a number is from --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class StoredResponse:
    """A response of a store, as explanations read it.

    Parameters
    ----------
    source : Source
        Which response it is.
    read_payload : callable
        Returns it, its bytes checked against their hash.
    profile : Profile or None
        What is known of its service.
    max_nodes : int
        How many different paths are read in it.
    """

    source: Source
    read_payload: Callable[[], Payload]
    profile: Profile | None = None
    max_nodes: int = MAX_NODES

    @property
    def body(self) -> bytes | None:
        """Its bytes; of a part of a combined view, those of the part."""
        payload = self.read_payload()
        if self.source.sha256 in (None, payload.sha256):
            return payload.body
        tables = self.tables()
        return None if tables is None or tables.payload is None else tables.payload.body

    def tables(self) -> Tables | None:
        """Its tables, normalised again."""
        read = quietly(tables_of, self.read_payload(), self.profile, self.max_nodes)
        return read.get(self.source.section or "")


def stored_responses(study: Study, source: Source) -> Iterator[StoredResponse]:
    """Yield the recorded responses that may be the one of a source.

    Without a hash its host, section and filters count; a part of a combined view has the hash of
    the part, and so is looked for last.
    """
    combined = []
    for record in study.records:
        scope = record.scope._to_query() if record.scope else None
        same = (record.host, record.section) == (source.host, source.section)
        of = source
        if source.sha256 is None:
            of = Source(record.host, record.section, scope, sha256=record.sha256)
            is_it = same and source.scope in (None, scope)
        else:
            is_it = record.sha256 == source.sha256
        is_combined = record.section is None and scope and record.host == source.host
        if record.error is not None or not (is_it or is_combined):
            continue
        profile = study._profiles.get(record.base_url)
        read = partial(study._payload, record)
        stored = StoredResponse(of, read, profile, record.max_nodes)
        if is_it:
            yield stored
        elif source.sha256 is not None:
            combined.append(stored)
    for part in combined:
        tables = part.tables()
        if tables is not None and tables.payload and tables.payload.sha256 == source.sha256:
            yield part


def recorded_table(study: Study, table: str, host: str | None, scope: Scope | None) -> Tables:
    """Find the tables of the one recorded response that has a table.

    Raises
    ------
    ScopeError
        If none has it, or several have.
    """
    section, _, name = table.rpartition(".")
    names: list[str] = []
    places: dict[str, Tables] = {}
    problem = ""
    for record in study._current:
        is_wanted = host in (None, record.host) and scope in (None, record.scope)
        if not is_wanted or (section and record.section not in (None, section)):
            continue
        try:
            dataset = quietly(study.tables, record)
        except StudyError:
            raise
        except AAToolkitError as error:
            problem = str(error)
            continue
        for own, tables in dataset.items():
            names += (f"{own}.{other}" for other in tables)
            if name in tables and section in ("", own):
                filters = record.scope._to_query() if record.scope else "no filters"
                places[f"host {record.host}, {filters}, {own}"] = tables
    if len(places) == 1:
        return next(iter(places.values()))
    if places:
        which = "; ".join([*places][:5])
        message = f"{len(places)} responses have a table {name}: name host and scope ({which})"
    else:
        hint = did_you_mean(near_matches(table, names)) if names else problem
        message = f"no response of this study has a table {table!r}" + (hint and f", {hint}")
    raise ScopeError(message, parameter="table", unknown=(table,))
