"""`Study`: create, resume, record, seal and replay."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from aatoolkit._util.files import sweep, write_whole
from aatoolkit._util.text import code, visible
from aatoolkit.errors import StudyError
from aatoolkit.study.checksums import format_checksums, format_tables, sha256_of
from aatoolkit.study.explaining import StudyExplanations
from aatoolkit.study.manifest import Writer
from aatoolkit.study.reader import FORMAT, VERSION
from aatoolkit.study.record import canonical
from aatoolkit.study.recorder import versions
from aatoolkit.study.rerunning import rerun_study
from aatoolkit.study.results import StudyResults
from aatoolkit.study.storage import (
    ANSWERS,
    MANIFEST,
    RESULT_FILES,
    SEAL,
    STUDY,
    TABLES,
    FolderStorage,
    answer_file,
    is_answer_file,
    is_result_file,
    is_study_file,
    open_storage,
    result_file,
)


class Study(StudyResults, StudyExplanations):
    """The answers an analysis was made from, recorded once and replayed by anyone.

    ``Study.create(path)`` begins one, and every answer then read through ``study.project(…)``
    is stored. ``Study(path)`` opens one, and ``study.project(host)`` answers from it alone,
    without a network. It is a folder of files that can be read without this package:

    - ``study.json``: title, description, creators, time of creation.
    - ``answers/<sha256>.json``: each answer once, byte for byte as the service sent it, under
      the SHA-256 of its bytes. The body of an error response is stored in the same way,
      whether or not it is JSON.
    - ``manifest.jsonl``: one line of JSON per record, in the order of recording: the request
      (origin, path, parameters; never a token or an account), time of the answer, status,
      the SHA-256 of the answer, a few response headers, the versions of the software, and in
      ``previous`` the SHA-256 of the line before.
    - ``profiles.json``, if the client had a profile: what is known of the service, as data.
      A replay reads by it, and runs no file.
    - ``tables.json``: for each line of the manifest, the number of rows and the logical hash
      of every table of the answer.
    - ``results.json`` and ``results/<hash>.parquet``, if results were named by `seal_result`.
    - ``SHA256SUMS``: the SHA-256 of every other file, for ``sha256sum -c SHA256SUMS``. It is
      the seal: any change, removal or addition is detected. The SHA-256 of the seal is the
      digest of the study; whoever cites the digest can be checked.

    Parameters
    ----------
    path : str or path
        The folder of the study, or the file that ``study.pack`` made of it.

    Raises
    ------
    StudyError
        If there is no study.

    Examples
    --------
    >>> import tempfile
    >>> import aatoolkit as aa
    >>> folder = tempfile.mkdtemp()
    >>> with aa.Study.create(f"{folder}/mine", title="What engines cite") as study:
    ...     live = study.record(aa.demo()).read("domains", days=7)
    >>> again = aa.Study(f"{folder}/mine").project("acme.example").read("domains", days=7)
    >>> again.main.equals(live.main)
    True
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise StudyError(f"a study is a folder or a zip file, not a {type(path).__name__}")
        within = rerun_study()
        try:
            storage = open_storage(path)
        except StudyError:
            if within is None:
                raise
            storage = open_storage(within)
        super().__init__(storage)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        description: str | None = None,
        creators: Iterable[str] = (),
    ) -> Study:
        """Begin a study in a new or empty folder; in a rerun, open the study that is rerun.

        Parameters
        ----------
        path : str or path
            The folder.
        title, description : str, optional
            What it is about.
        creators : iterable of str
            Who makes it.

        Raises
        ------
        StudyError
            If the folder is not empty, or cannot be written to.
        """
        within = rerun_study()
        if within is not None:
            return cls(within)
        folder = Path(path).expanduser()
        about = {
            "format": FORMAT,
            "version": VERSION,
            "title": title or folder.name,
            "description": description,
            "creators": [creators] if isinstance(creators, str) else [*creators],
            "created_at": f"{datetime.now(UTC).replace(tzinfo=None):%Y-%m-%dT%H:%M:%SZ}",
        }
        problem = ""
        try:
            if folder.exists() and next(folder.iterdir(), None) is not None:
                problem = "the folder is not empty; name another, or resume the study in it"
            else:
                (folder / MANIFEST).parent.mkdir(parents=True, exist_ok=True)
                (folder / MANIFEST).touch()
                write_whole(folder / STUDY, canonical(about) + b"\n")
        except OSError as error:
            problem = error.strerror or type(error).__name__
        if problem:
            raise StudyError(f"no study can be created at {folder}: {problem}", path=str(folder))
        return cls.resume(folder)

    @classmethod
    def resume(cls, path: str | os.PathLike[str]) -> Study:
        """Resume recording a study; the first new answer removes the seal.

        In a rerun it opens the study that is rerun.

        Raises
        ------
        StudyError
            If there is no study, or it is packed.
        """
        within = rerun_study()
        if within is not None:
            return cls(within)
        study = cls(path)
        if not isinstance(study._storage, FolderStorage):
            raise StudyError(
                f"{study.path} is packed and read-only; record into a folder",
                path=str(study.path),
            )
        _ = study.about
        if study.digest is not None:
            # What is sealed is checked before the first new answer removes the seal.
            _ = study.records
        study._writer = Writer(study.path)
        return study

    # -- sealing and checking ----------------------------------------------------------------

    def seal(self) -> str:
        """Seal the study: write the hashes of all tables and files.

        An answer recorded later removes the seal again.

        Returns
        -------
        str
            The digest of the study, for citation.

        Raises
        ------
        StudyError
            If the study was opened for replay, is damaged, or its folder holds other files.
        NotWritten
            If its folder cannot be written to.
        """
        if self._is_rerun:
            return str(self.digest)
        writer = self._recording()
        with writer.held():
            if self.digest is not None and self.verify():
                return str(self.digest)
            self._sweep()
            hashes = [self._hashes(record) for record in self.records]
            self._write(TABLES, format_tables(hashes, versions()))
            names = [name for name in self._storage.names() if name != SEAL]
            foreign = [name for name in names if not is_study_file(name)]
            if foreign:
                raise self._unusable(
                    f"its folder holds {', '.join(foreign[:3])}; move it elsewhere"
                )
            self._write(
                SEAL,
                format_checksums({name: sha256_of(self._storage.read(name)) for name in names}),
            )
        found = self.verify()
        if not found:
            raise self._unusable(str(found.found[0]))
        return str(found.digest)

    def _sweep(self) -> None:
        """Remove what killed writers left behind: unfinished files, and those without an entry."""
        for folder in (self.path, self.path / ANSWERS, self.path / RESULT_FILES):
            sweep(folder)
        named = {answer_file(record.sha256) for record in self.records}
        named |= {result_file(result.hash) for result in self.results.values()}
        for name in self._storage.names():
            if (is_answer_file(name) or is_result_file(name)) and name not in named:
                (self.path / name).unlink()

    def _write(self, name: str, content: bytes) -> None:
        write_whole(self.path / name, content)

    def __enter__(self) -> Study:
        """Record while the block runs; the study is sealed unless it raises."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        if kind is None and self._writer is not None:
            self.seal()

    def __repr__(self) -> str:
        try:
            held = f"{len(self.records)} answers of {', '.join(self.hosts) or 'nothing'}"
            title, state = visible(self.title), self._seal_state()
        except StudyError:
            return f"<Study at {visible(str(self.path))}, damaged: see .verify()>"
        return f"<Study {title!r}: {held}, {state}>"

    def _repr_html_(self) -> str:
        return code(repr(self))
