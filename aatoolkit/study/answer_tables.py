"""The tables of a recorded answer, read by the profile that it was recorded with."""

from __future__ import annotations

from aatoolkit.client.combined_view import read_combined
from aatoolkit.client.dataset import Dataset
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload
from aatoolkit.sections import Profile
from aatoolkit.sections.profile import SCOPE_OPTIONS
from aatoolkit.study.record import Record


def tables_of(record: Record, body: bytes, profile: Profile | None) -> Dataset:
    """Normalise a recorded answer, by section; raise the error if it is one."""
    error = record.to_error(body)
    if error is not None:
        raise error
    payload = record.payload(body)
    if record.resource == "scope-options":
        return Dataset({"scope_options": _options(payload, profile, record.max_nodes)})
    if record.section is None:
        return read_combined(payload, profile, record.max_nodes)
    tables = normalize(record.section, payload, profile=profile, max_nodes=record.max_nodes)
    return Dataset({record.section: tables})


def _options(payload: Payload, profile: Profile | None, max_nodes: int) -> Tables:
    """Parse scope options to tables; a profile need not declare them."""
    declared = profile is not None and profile.get(SCOPE_OPTIONS) is not None
    known = profile if declared else None
    return normalize(SCOPE_OPTIONS, payload, profile=known, max_nodes=max_nodes)
