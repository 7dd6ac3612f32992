"""Read a study: its records, answers and tables."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from aatoolkit._util.text import visible
from aatoolkit.client.dataset import Dataset
from aatoolkit.errors import (
    AAToolkitError,
    AAToolkitWarning,
    FetchError,
    PayloadError,
    ScopeError,
    StudyError,
)
from aatoolkit.jsontree import decode
from aatoolkit.sections import Profile
from aatoolkit.study.answer_tables import tables_of
from aatoolkit.study.checksums import Hashes, matches_seal, sha256_of, table_hashes
from aatoolkit.study.diff import StudyDiff, compare
from aatoolkit.study.manifest import parse_lines
from aatoolkit.study.pack import pack
from aatoolkit.study.profiles import parse_profiles
from aatoolkit.study.publication import PublishableStudy
from aatoolkit.study.record import Record
from aatoolkit.study.storage import MANIFEST, PROFILES, SEAL, STUDY, StudyStorage, answer_file
from aatoolkit.study.verify import Verification, verify

FORMAT = "aatoolkit-study"
VERSION = 1
_HASHED = 1 << 26  # bytes of answers that are hashed to show a study


class StudyReader(PublishableStudy):
    """A study in a folder or a file, read-only.

    Parameters
    ----------
    place
        The files of the study.
    """

    def __init__(self, storage: StudyStorage) -> None:
        self._storage = storage
        self._parsed: tuple[bytes, tuple[Record, ...]] = (b"", ())
        self._profiled: tuple[bytes, Mapping[str, Profile]] = (b"", {})
        self._compared: dict[str, tuple[bytes, bytes]] = {}
        self.path: Path = storage.path

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """Title, description, creators and ``created_at``.

        Raises
        ------
        StudyError
            If ``study.json`` is damaged, does not match the seal, or is of a newer version.
        """
        try:
            found = decode.decode(self._read(STUDY))
        except StudyError:
            raise
        except AAToolkitError:
            found = None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise self._unusable(f"{STUDY} does not describe a study")
        if found.get("version") != VERSION:
            raise self._unusable(f"it has version {found.get('version')!r}; update aatoolkit")
        shown = {name: found.get(name) for name in ("title", "description", "created_at")}
        creators = found.get("creators")
        if not isinstance(creators, list) or not all(isinstance(one, str) for one in creators):
            raise self._unusable(f"creators in {STUDY} is not a list of texts")
        if not all(isinstance(text, str | None) for text in shown.values()):
            raise self._unusable(f"title, description or created_at in {STUDY} is not text")
        return {**shown, "creators": tuple(creators)}

    @property
    def title(self) -> str:
        """The title of the study."""
        return str(self.about["title"])

    @property
    def records(self) -> tuple[Record, ...]:
        """Every record, in the order of recording.

        Raises
        ------
        StudyError
            If the manifest is damaged, or does not match the seal.
        """
        text = self._read(MANIFEST)
        if text != self._parsed[0]:
            self._parsed = text, tuple(parse_lines(text))
        return self._parsed[1]

    @property
    def current(self) -> tuple[Record, ...]:
        """The records that a replay answers with, one for each request, in a fixed order.

        Of several answers to one request it is the last usable one, or the last error if none
        is usable.
        """
        found: dict[tuple[str, ...], Record] = {}
        for record in self.records:
            before = found.get(record.request_key)
            if before is None or record.error is None or before.error is not None:
                found[record.request_key] = record
        return tuple(found[key] for key in sorted(found))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of the recorded answers."""
        return tuple(sorted({record.host for record in self.records}))

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """The profile that each service was recorded with, by its base URL; a replay uses it.

        A service that was recorded without one is read by the default profile.

        Raises
        ------
        StudyError
            If ``profiles.json`` is damaged, or does not match the seal.
        """
        text = self._read(PROFILES) if self._storage.has(PROFILES) else b""
        if text != self._profiled[0]:
            self._profiled = text, parse_profiles(text) or {}
        if text and not self._profiled[1]:
            raise self._unusable(f"{PROFILES} does not hold profiles")
        return self._profiled[1]

    @property
    def digest(self) -> str | None:
        """The SHA-256 of ``SHA256SUMS``, for citation; None if the study is not sealed."""
        seal = self._seal()
        return None if seal is None else sha256_of(seal)

    def answer(self, record: Record) -> bytes:
        """Return the bytes of an answer.

        Raises
        ------
        StudyError
            If they are missing or are not what was recorded.
        """
        body = self._storage.read(answer_file(record.sha256))
        if sha256_of(body) != record.sha256:
            raise self._unusable(f"{answer_file(record.sha256)} is not what was recorded")
        return body

    def tables(self, record: Record) -> Dataset:
        """Normalise an answer, by section; scope options count as a section.

        Parameters
        ----------
        record : Record
            One of the study's records.

        Raises
        ------
        FetchError
            The error that was recorded, if the answer is one.
        StudyError
            If the answer is missing or is not what was recorded.
        """
        return tables_of(record, self.answer(record), self.profiles.get(record.base_url))

    def verify(self, *, replay: bool = False) -> Verification:
        """Check every byte against the seal: nothing altered, removed, added or swapped.

        Parameters
        ----------
        replay : bool
            Whether to normalise the answers again too, and compare the hashes of the tables
            with those that were sealed.

        Returns
        -------
        Verification
            True if the study is as it was sealed. Compare its ``digest`` with the one that was
            cited: a forger could have changed a study and sealed it again.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> with aa.Study.create(f"{tempfile.mkdtemp()}/mine") as study:
        ...     options = study.record(aa.demo()).scope_options()
        >>> bool(study.verify(replay=True))
        True
        """
        return verify(self._storage, self._hashes if replay else None)

    def diff(self, other: StudyReader) -> StudyDiff:
        """Compare this study with a later one.

        Raises
        ------
        StudyError
            If one of them is damaged.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> studies = [aa.Study.create(f"{tempfile.mkdtemp()}/s") for _ in range(2)]
        >>> for study, days in zip(studies, (7, 7)):
        ...     tables = study.record(aa.demo()).read("domains", days=days)
        >>> studies[0].diff(studies[1])
        <StudyDiff: the answers to 1 question are the same>
        """
        return compare(self, other)

    def pack(self, path: str | os.PathLike[str]) -> Path:
        """Pack the study into one zip file, which ``Study`` opens directly.

        The same study gives the same bytes.

        Raises
        ------
        StudyError
            If the study is not sealed, or is damaged.
        """
        found = self.verify()
        if not found:
            raise self._unusable(f"{found.found[0]}; only a study that verifies can be packed")
        return pack(self._storage, Path(path).expanduser())

    def _seal(self) -> bytes | None:
        """The content of ``SHA256SUMS``; None if there is none."""
        return self._storage.read(SEAL) if self._storage.has(SEAL) else None

    def _seal_state(self) -> str:
        """Describe whether the study is sealed; raise StudyError if the seal does not match."""
        digest = self.digest
        if digest is None:
            return "not sealed"
        if sum(record.size for record in self.records) > _HASHED:
            return f"sealed {digest[:12]}, answers not checked: see .verify()"
        if not self.verify():
            raise self._unusable("it does not match the seal")
        return f"sealed {digest[:12]}"

    def _read(self, name: str) -> bytes:
        """Read a file, compared with the seal if there is one."""
        while True:
            seal = self._seal()
            data = self._storage.read(name)
            if seal is None or self._compared.get(name) == (seal, data):
                return data
            if matches_seal(seal, name, data):
                self._compared[name] = seal, data
                return data
            # A writer removes the seal before it changes anything; it may have done so meanwhile.
            if self._seal() == seal:
                raise self._unusable(f"{name} does not match the seal; verify it")

    def _hashes(self, record: Record) -> Hashes:
        """Compute the hashes of an answer's tables; none for errors and answers without tables."""
        body = self.answer(record)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AAToolkitWarning)
                return table_hashes(tables_of(record, body, self.profiles.get(record.base_url)))
        except (FetchError, PayloadError, ScopeError):
            return {}

    def _unusable(self, problem: str) -> StudyError:
        return StudyError(
            visible(f"the study at {self.path} cannot be used: {problem}"),
            path=str(self.path),
            problems=(problem,),
        )
