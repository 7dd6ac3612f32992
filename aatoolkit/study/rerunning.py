"""The study that this process reruns, if it is the kernel of a rerun."""

from __future__ import annotations

import os
from pathlib import Path

STUDY = "AATOOLKIT_RERUN_STUDY"
"""The environment variable that names the study that is rerun."""

RESULTS = "AATOOLKIT_RERUN_RESULTS"
"""The environment variable that names the folder in which a rerun collects its results."""

NOWHERE = ("127.0.0.1", 9)
"""The address of the proxy of a rerun, which is not there."""


def rerun_study() -> Path | None:
    """Return the study that this process reruns; None if it reruns none."""
    found = os.environ.get(STUDY)
    return Path(found) if found else None


def rerun_results() -> Path | None:
    """Return the folder that collects results; None if this process reruns no study."""
    found = os.environ.get(RESULTS)
    return Path(found) if found else None
