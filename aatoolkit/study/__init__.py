"""Studies: an analysis that anyone can run again years later."""

from __future__ import annotations

from aatoolkit.study.diff import StudyDiff
from aatoolkit.study.record import Record
from aatoolkit.study.study import Study
from aatoolkit.study.verify import Problem, Verification

__all__ = ["Problem", "Record", "Study", "StudyDiff", "Verification"]
