"""Whether this process is the kernel of a rerun, and of which study; set by the rerun itself."""

from __future__ import annotations

import os
from pathlib import Path

STUDY = "AATOOLKIT_RERUN_STUDY"
"""The environment variable that names the study that is rerun."""

RESULTS = "AATOOLKIT_RERUN_RESULTS"
"""The environment variable that names the folder in which a rerun collects its results."""


def rerun_study() -> Path | None:
    """The study that is rerun by this process; None if none is."""
    found = os.environ.get(STUDY)
    return Path(found) if found else None


def rerun_results() -> Path | None:
    """The folder in which results are collected; None if this process reruns nothing."""
    found = os.environ.get(RESULTS)
    return Path(found) if found else None
