"""Studies: record the responses that an analysis reads, verify them, and replay them offline.

`Study.record` takes a project or client, and stores each response that it reads in a folder. From
this folder alone, the project can be read again without a network, and its tables can be published.
"""

# In reading order:
#
#   - study: `Study`, the public class
#   - files: the files of a study, in a folder or a zip file, their checksums, and the manifest
#   - recording: clients that record into a study and replay it; recorded responses as tables
#   - verify: compares every byte with the seal, i.e. the recorded checksums of all files
#   - comparing: compares two studies, and named results
#   - rerun: runs a notebook again and compares its results (by `compare_results` of comparing)
#   - publishing: writes the tables to a folder for other people

from aatoolkit.study.comparing import StudyDiff
from aatoolkit.study.files import Record
from aatoolkit.study.study import Study
from aatoolkit.study.verify import Problem, Verification

__all__ = ["Problem", "Record", "Study", "StudyDiff", "Verification"]
