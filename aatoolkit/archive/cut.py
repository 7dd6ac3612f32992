"""Cut a study from an archive."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import pyarrow.dataset as ds

from aatoolkit.archive.index import groups_of
from aatoolkit.archive.schema import among
from aatoolkit.archive.selection import Selection
from aatoolkit.archive.snapshot import Snapshot
from aatoolkit.errors import StudyError
from aatoolkit.study.record import Record
from aatoolkit.study.recording import versions
from aatoolkit.study.study import Study


def cut(
    snapshot: Snapshot, selection: Selection, path: str | os.PathLike[str], about: Mapping[str, Any]
) -> Study:
    """Create a sealed study of the answers of a selection, in the order of their fetching."""
    runs = snapshot.runs.committed
    condition = among("run", runs) & ds.field("error").is_null()
    condition &= selection.expression()
    study = Study.create(path, **about)
    if study.records:
        raise StudyError(
            f"a study is in {study.path}; name another folder, or merge the two by study.merge",
            path=str(study.path),
        )
    with study:
        for group in groups_of(snapshot.store, condition, runs):
            for answer in sorted(group, key=lambda answer: answer.fetched_at):
                payload = answer.payload()
                study._recording().append(Record.of(payload, versions()), payload.body)
    return study
