"""Publish a study: the answers that a replay gives, as tables."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit.errors import AAToolkitWarning, ExportError, FetchError, PayloadError, ScopeError
from aatoolkit.study.publish import About, FailedAnswer, publish

if TYPE_CHECKING:
    from aatoolkit.normalizer.tables import Tables
    from aatoolkit.study.reader import StudyReader


def publish_study(study: StudyReader, out: Path, licence: str | None, **choices: Any) -> Path:
    """Write the tables of a study to a folder; see ``Study.publish``."""
    if out.resolve().is_relative_to(study.path.resolve()):
        raise ExportError(f"{out} is inside the study, which it would change", path=str(out))
    read: list[Tables] = []
    failures: list[FailedAnswer] = []
    for record in study.current:
        try:
            # What drifted is in the publication's own table.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AAToolkitWarning)
                read += study.tables(record).values()
        except (FetchError, PayloadError, ScopeError) as error:
            failures.append(FailedAnswer(record.payload(study.answer(record)), error.message))
    about = About(
        study.title,
        study.about["description"],
        study.about["creators"],
        licence,
        digest=study.digest,
    )
    return publish(read, out, about, failures=failures, **choices)
