"""Studies: record the answers an analysis reads, verify them, and replay the analysis offline.

In come a project or client (`Study.record`); out come a folder of recorded answers, the same
project answering from that folder alone, and publications of its tables. In reading order:

- ``study``: `Study`, the public class: create, resume, seal; ``projects``: record and replay.
- ``reader``: everything that only reads a study: records, answers, tables, verify, diff, publish.
- ``results``: named results, sealed with the study; ``rerun/``: run a notebook again offline and
  compare them; ``rerunning``: whether this process is the kernel of a rerun.
- ``record``: one line of the manifest; ``recorded_error``: an error answer in such a line.
- ``manifest``: appending lines under a lock, each with the hash of the line before.
- ``storage``: the files of a study, in a folder or a zip file; ``pack`` writes the zip file and
  ``zip_reader`` reads it strictly.
- ``profiles``: what is known of the services, as data; ``answer_tables`` reads answers by it.
- ``checksums``: ``SHA256SUMS`` (the seal) and ``tables.json`` (the hash of each table).
- ``explaining``: a recorded number down to its bytes.
- ``recorder``, ``replay``: stand-ins for a client's fetcher that record, and that replay.
- ``verify``: compare every byte with the seal; ``diff``, ``frame_diff``: compare two studies.
- ``publication``: the study as input of ``publish/``, which writes tables for other people.
"""

from __future__ import annotations

from aatoolkit.study.diff import StudyDiff
from aatoolkit.study.record import Record
from aatoolkit.study.study import Study
from aatoolkit.study.verify import Problem, Verification

__all__ = ["Problem", "Record", "Study", "StudyDiff", "Verification"]
