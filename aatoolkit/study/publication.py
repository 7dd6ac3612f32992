"""Publish a study: write the answers that a replay gives as tables."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit.errors import AAToolkitWarning, FetchError, NotWritten, PayloadError, ScopeError
from aatoolkit.study.publish import About, FailedAnswer, publish

if TYPE_CHECKING:
    from aatoolkit.errors import StudyError
    from aatoolkit.normalizer.tables import Tables
    from aatoolkit.study.verify import Verification


PACKED = "study.zip"
"""The packed study in a publication that ships its answers."""


class PublishableStudy:
    """The methods of a study that publish it; see `aatoolkit.Study`."""

    def pack(self, path: str | os.PathLike[str]) -> Path:
        """Pack the study into one zip file."""
        raise NotImplementedError

    def verify(self, *, replay: bool = False) -> Verification:
        """Check every byte against the seal."""
        raise NotImplementedError

    def _unusable(self, problem: str) -> StudyError:
        raise NotImplementedError

    def publish(
        self,
        out: str | os.PathLike[str],
        *,
        redact: str | Iterable[str] = (),
        excel: bool = False,
        csv: bool = False,
        answers: bool = False,
        licence: str | None = None,
        overwrite: bool = False,
    ) -> Path:
        """Write the study's tables to a folder that can be read without this package.

        One Parquet file per table, over all hosts and scopes, with host, filters and time in
        each row; ``datapackage.json`` (Frictionless), ``ro-crate-metadata.json`` (RO-Crate), a
        codebook, ``CITATION.cff``, a README, checksums. Of several answers to one request it
        holds the one that a replay gives. The same study and versions give the same bytes.

        Parameters
        ----------
        out : str or path
            The folder; it must be new or empty. It appears whole or not at all.
        redact : str or iterable of str
            Columns to leave out: names, ``table.column``, or ``texts`` for all text columns.
            Of a section with such a column, the service's notes on availability, undeclared
            fields and the examples of drift are left out too, as they may quote it.
        excel, csv : bool
            Whether to write a workbook (``pip install "aatoolkit[excel]"``), and CSV, both
            safe to open.
        answers : bool
            Whether to ship the packed study too, as ``study.zip``: from it, whoever has the
            publication explains any number, down to its bytes. Not with columns left out.
        licence : str, optional
            The SPDX identifier of the licence, such as ``CC-BY-4.0``.
        overwrite : bool
            Whether to replace an earlier publication in that folder.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        StudyError
            If the study is not sealed, or is damaged.
        NotWritten
            If a column to leave out does not exist, there is no answer, answers are to ship
            without some columns, or the folder holds something other than a publication.
        NotWritten
            If the folder cannot be written, or is not empty; nothing is changed.

        Warns
        -----
        AAToolkitWarning
            If text that is left out of one column is also in another.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> folder = tempfile.mkdtemp()
        >>> with aa.Study.create(f"{folder}/mine", title="What engines cite") as study:
        ...     tables = study.record(aa.demo()).read("domains", days=7)
        >>> out = study.publish(f"{folder}/out", redact="texts", licence="CC-BY-4.0")
        >>> aa.read_parquet(out / "data" / "source_domains.parquet")["host"].unique().tolist()
        ['acme.example']
        """
        found = self.verify()
        if not found:
            raise self._unusable(f"{found.found[0]}; only a study that verifies can be published")
        choices: dict[str, Any] = {"excel": excel, "csv": csv, "overwrite": overwrite}
        place = Path(out).expanduser()
        if answers and redact:
            raise NotWritten(
                "answers hold every column; publish them, or leave columns out, but not both",
                path=str(place),
            )
        if answers:
            with tempfile.TemporaryDirectory() as folder:
                choices["attached"] = {PACKED: self.pack(Path(folder) / PACKED).read_bytes()}
        return publish_study(self, place, licence, redact=redact, **choices)


def publish_study(study: Any, out: Path, licence: str | None, **choices: Any) -> Path:
    """Write the tables of a study to a folder; see ``Study.publish``."""
    if out.resolve().is_relative_to(study.path.resolve()):
        raise NotWritten(f"{out} is inside the study, which it would change", path=str(out))
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
