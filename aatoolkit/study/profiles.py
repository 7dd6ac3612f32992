"""The profiles that a study was recorded with, one for each service, as data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from aatoolkit._util.files import write_whole
from aatoolkit.errors import AAToolkitError, DraftWarning
from aatoolkit.jsontree import decode
from aatoolkit.sections import Profile
from aatoolkit.sections.profile_json import dump_profile, is_portable, load_profile
from aatoolkit.study.record import canonical
from aatoolkit.study.storage import PROFILES, SEAL, TABLES

if TYPE_CHECKING:
    from aatoolkit.study.reader import StudyReader

_FORMAT, _VERSION = "aatoolkit-profiles", 1


def format_profiles(profiles: Mapping[str, Profile]) -> bytes:
    """Serialize the content of ``profiles.json``."""
    held = {base_url: dump_profile(profile) for base_url, profile in profiles.items()}
    return canonical({"format": _FORMAT, "version": _VERSION, "profiles": held}) + b"\n"


def parse_profiles(text: bytes) -> Mapping[str, Profile] | None:
    """Parse profiles by the base URL of their service; None if the text holds none."""
    try:
        found = decode.decode(text)
        if found["format"] != _FORMAT or found["version"] != _VERSION:
            return None
        return {str(base_url): load_profile(one) for base_url, one in found["profiles"].items()}
    except (AAToolkitError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None


def store_profile(study: StudyReader, base_url: str, profile: Profile) -> None:
    """Store the profile of a service, in place of an earlier one.

    The caller holds the lock of the study, whose seal no longer fits where something changed.
    """
    lacking = left_out(profile)
    if lacking:
        warnings.warn(
            f"a study holds declarations as data, and a function makes rows of "
            f"{', '.join(lacking)}: replay with profile=",
            DraftWarning,
            stacklevel=3,
        )
    before = study.profiles
    kept = format_profiles({**before, base_url: profile})
    if not before or format_profiles(before) != kept:
        for name in (SEAL, TABLES):
            (study.path / name).unlink(missing_ok=True)
        write_whole(study.path / PROFILES, kept)


def left_out(profile: Profile) -> tuple[str, ...]:
    """The sections that cannot be stored as data, since a function computes their rows."""
    return tuple(sorted(name for name in profile if not is_portable(profile[name])))
