"""Studies: record the responses an analysis reads, verify them, and replay the analysis offline.

In come a project or client (`Study.record`); out come a folder of recorded responses, the same
project responseing from that folder alone, and publications of its tables. In reading order:

- ``study``: `Study`, the public class.
- ``files``: the files of a study, in a folder or a zip file, and their checksums; ``record``: one
  line of the manifest; ``manifest``: appending lines under a lock.
- ``recording``: stand-ins for a client's fetcher that record, and that replay.
- ``tables``: the tables of responses, their hashes, and the profiles that they are read by.
- ``verify``: every byte against the seal; ``diff``, ``frame_diff``: two studies compared.
- ``explaining``: a recorded number down to its bytes.
- ``results``: named results; ``rerun``: run a notebook again and compare them by ``comparison``;
  ``run_crate``: the run as an RO-Crate.
- ``publish/``: the tables as a folder for other people.
"""

from __future__ import annotations

from aatoolkit.study.diff import StudyDiff
from aatoolkit.study.record import Record
from aatoolkit.study.study import Study
from aatoolkit.study.verify import Problem, Verification

__all__ = ["Problem", "Record", "Study", "StudyDiff", "Verification"]
