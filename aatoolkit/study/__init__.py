"""Studies: record the responses that an analysis reads, verify them, and replay them offline.

`Study.record` takes a project or client, and stores each response that is read through it in a
folder. From this folder alone, the same project can be read again without a network, and its tables
can be published. In reading order:

- ``study``: `Study`, the public class.
- ``files``: the files of a study, in a folder or a zip file, and their checksums; the manifest,
  a line for each response.
- ``recording``: a study as a store of responses, clients that record into it and replay it, and
  recorded responses as tables: their hashes, profiles and explanations.
- ``verify``: compare every byte with the seal, i.e. the recorded checksums of all files.
- ``comparing``: compare two studies, and named results; ``rerun``: run a notebook again and compare
  its results.
- ``publishing``: write the tables to a folder for other people.
"""

from aatoolkit.study.comparing import StudyDiff
from aatoolkit.study.files import Record
from aatoolkit.study.study import Study
from aatoolkit.study.verify import Problem, Verification

__all__ = ["Problem", "Record", "Study", "StudyDiff", "Verification"]
