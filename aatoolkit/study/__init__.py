"""Studies: record the responses that an analysis reads, verify them, and replay it offline.

In come a project or client (`Study.record`); out come a folder of recorded responses, the same
project answering from that folder alone, and publications of its tables. In reading order:

- ``study``: `Study`, the public class.
- ``files``: the files of a study, in a folder or a zip file, and their checksums; the manifest,
  a line for each response.
- ``recording``: a study as a store of responses, clients that record into it and replay it, and
  recorded responses as tables: their hashes, profiles and explanations.
- ``verify``: every byte against the seal; ``comparing``: two studies, and named
  results. ``rerun``: run a notebook again and compare them.
- ``publishing``: the tables as a folder for other people.
"""

from aatoolkit.study.comparing import StudyDiff
from aatoolkit.study.files import Record
from aatoolkit.study.study import Study
from aatoolkit.study.verify import Problem, Verification

__all__ = ["Problem", "Record", "Study", "StudyDiff", "Verification"]
