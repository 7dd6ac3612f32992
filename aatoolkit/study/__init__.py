"""Studies: an analysis that anyone can run again years later."""

from __future__ import annotations

from aatoolkit.study.record import Record
from aatoolkit.study.study import Study

__all__ = ["Record", "Study"]
