"""The tables of recorded responses, their hashes, and the profiles that they are read by."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from aatoolkit.client.dataset import Dataset
from aatoolkit.client.reading import ReadingOptions, read_combined
from aatoolkit.errors import AAToolkitError, AAToolkitWarning
from aatoolkit.jsontree import decode
from aatoolkit.metadata.arrow_schema import logical_hash
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.sections import Profile
from aatoolkit.sections.profile import SCOPE_OPTIONS
from aatoolkit.sections.profile_json import dump_profile, load_profile
from aatoolkit.study.record import Record, canonical

Hashes = dict[str, dict[str, dict[str, Any]]]
"""By section and table: ``rows`` and ``hash``."""

UNREADABLE = (
    AAToolkitError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    RecursionError,
)
"""What a file of a study that somebody made up may lead to while it is parsed."""


def tables_of(record: Record, body: bytes, profile: Profile | None) -> Dataset:
    """Normalise a recorded response, by section; raise the error if it is one."""
    error = record.to_error(body)
    if error is not None:
        raise error
    payload, section = record.payload(body), record.section
    if record.is_options:
        # A profile need not declare them.
        section = SCOPE_OPTIONS
        profile = profile if profile is not None and profile.get(section) is not None else None
    if section is None:
        return read_combined(payload, ReadingOptions(profile, record.max_nodes))
    return Dataset(
        {section: normalize(section, payload, profile=profile, max_nodes=record.max_nodes)}
    )


def quietly(read: Any, *arguments: Any) -> Dataset:
    """Normalise without warnings of what drifted, which says itself in its tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AAToolkitWarning)
        dataset: Dataset = read(*arguments)
        return dataset


def table_hashes(dataset: Dataset) -> Hashes:
    """Count the rows and compute the logical hash of every table."""
    return {
        section: {
            name: {"rows": tables.rows[name], "hash": logical_hash(tables[name])} for name in tables
        }
        for section, tables in dataset.items()
    }


def format_tables(hashes: Iterable[Hashes], versions: Mapping[str, str]) -> bytes:
    """Format ``tables.json``: one line for each line of the manifest."""
    head = canonical({"format": "aatoolkit-tables", "version": 1, "read_with": dict(versions)})
    lines = ",\n".join(canonical(one).decode() for one in hashes)
    return head[:-1] + f',"records":[\n{lines}\n]}}\n'.encode()


def parse_tables(text: bytes) -> list[Hashes]:
    """Parse the table hashes for each line of the manifest; empty if they are damaged."""
    try:
        return [
            {
                section: {
                    name: {"rows": int(table["rows"]), "hash": str(table["hash"])}
                    for name, table in tables.items()
                }
                for section, tables in record.items()
            }
            for record in decode.decode(text)["records"]
        ]
    except UNREADABLE:
        return []


_PROFILES = {"format": "aatoolkit-profiles", "version": 1}


def format_profiles(profiles: Mapping[str, Profile]) -> bytes:
    """Serialize the content of ``profiles.json``."""
    dumped = {base_url: dump_profile(profile) for base_url, profile in profiles.items()}
    return canonical({**_PROFILES, "profiles": dumped}) + b"\n"


def parse_profiles(text: bytes) -> Mapping[str, Profile] | None:
    """Parse profiles by the base URL of their service; None if the text holds none."""
    try:
        body = decode.decode(text)
        if {name: body[name] for name in _PROFILES} != _PROFILES:
            return None
        return {str(url): load_profile(profile) for url, profile in body["profiles"].items()}
    except UNREADABLE:
        return None
