"""`Study`, the recorded responses of an analysis: create, record, seal, replay and publish them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from aatoolkit._util.attributes import ShortHelpMeta
from aatoolkit._util.files import FilePath, remove_abandoned_files, write_bytes
from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import Names, code, counted, join_some, visible
from aatoolkit.client.client import Client, Project
from aatoolkit.client.dataset import Dataset
from aatoolkit.client.reading import ReadingOptions, as_unique_list
from aatoolkit.errors import (
    FetchError,
    NotWritten,
    PayloadError,
    SchemaDriftWarning,
    ScopeError,
    StudyError,
    warn,
)
from aatoolkit.normalizer.tables import call_without_warnings
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile
from aatoolkit.sections.profile import ProfileSource
from aatoolkit.sections.profile_json import is_json_storable
from aatoolkit.stats.explain import Explainer, Explanation, RowChoice
from aatoolkit.study.comparing import Results, StudyDiff, compare_studies
from aatoolkit.study.files import (
    FORMAT_VERSION,
    MANIFEST_FILE,
    PACKED_STUDY_FILE,
    PROFILES_FILE,
    RESPONSES_FOLDER,
    RESULTS_FOLDER,
    SEAL_FILE,
    STUDY_FILE,
    TABLES_FILE,
    FolderFiles,
    Record,
    StudyWriter,
    body_file_name,
    format_json,
    format_seal,
    is_study_file,
    open_files,
    pack,
    parse_json,
    parse_manifest,
    parse_seal,
    result_file_name,
    sha256_of,
    software_versions,
    unseal,
    unusable_study_error,
)
from aatoolkit.study.recording import (
    Recorder,
    ReplaySource,
    TableHashes,
    find_recorded_tables,
    find_stored_responses,
    format_profiles,
    format_table_hashes,
    hash_tables,
    make_replaying_client,
    parse_profiles,
    payload_to_dataset,
    read_rerun_path,
    read_usable_tables,
)
from aatoolkit.study.verify import Verification, verify

if TYPE_CHECKING:
    from aatoolkit.study.rerun import Rerun

ProjectOrClient = TypeVar("ProjectOrClient", Project, Client)
S = TypeVar("S")
T = TypeVar("T")


class Study(metaclass=ShortHelpMeta):
    """The recorded responses of an analysis, which can be verified and replayed.

    ``Study.create(path)`` begins a study. Every response that ``study.project(…)`` then reads is
    stored. ``Study(path)`` opens a study; ``study.project(host)`` then reads from it alone, without
    a network. A study is a folder of files that can be read without this package:

    - ``study.json``: title, description, creators, time of creation.
    - ``responses/<sha256>.json``: each response once, byte for byte as it came, also errors.
    - ``manifest.jsonl``: a line for each record, with the request (never a token or an account),
      time, status, SHA-256, a few headers, versions, and the SHA-256 of the line before.
    - ``profiles.json``: the profile of each service, i.e. the declarations of its columns, if the
      client had one.
    - ``tables.json``: the number of rows and the hash of the values of every table.
    - ``results.json`` and ``results/<hash>.parquet``: the named `results`, if there are any.
    - ``SHA256SUMS``: the seal, i.e. the SHA-256 of all files. ``sha256sum -c SHA256SUMS`` detects
      any change. The seal's own SHA-256 is the digest of the study, to cite it by.

    Parameters
    ----------
    path : str or path
        The folder of the study, or the file that ``study.pack`` made of it.

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

    def __init__(self, path: FilePath) -> None:
        rerun_path = read_rerun_path()
        try:
            self._files = open_files(path)
        except StudyError:
            if rerun_path is None:
                raise
            self._files = open_files(rerun_path)
        self.path: Path = self._files.path
        self._writer: StudyWriter | None = None
        self._cache: dict[str, tuple[Any, Any]] = {}

    @classmethod
    def create(
        cls,
        path: FilePath,
        *,
        title: str | None = None,
        description: str | None = None,
        creators: Iterable[str] = (),
        resume: bool = False,
    ) -> Study:
        """Create a study in a new or empty folder, or resume an unsealed one.

        A notebook cell with this call can be run again: recording resumes if the folder has an
        unsealed study with the same title, description and creators. In a notebook that `rerun`
        runs, this opens the original study and records nothing.

        Parameters
        ----------
        path : str or path
            The folder.
        title, description : str, optional
            What the study is about. The default title is the name of the folder.
        creators : iterable of str
            The authors.
        resume : bool
            Whether to resume even a sealed study. The first new response removes the seal, i.e. the
            recorded checksums, and the digest changes.

        Returns
        -------
        Study
            The study, which records.

        Raises
        ------
        StudyError
            If the folder holds a sealed study, another study or other files.
        StudyError
            If the folder cannot be written to.
        """
        if rerun_path := read_rerun_path():
            return cls(rerun_path)
        folder = Path(path).expanduser()
        new_details = {
            "title": title or folder.name,
            "description": description,
            "creators": as_unique_list(creators, str),
        }
        problem_text = ""
        path_text = repr(str(path))
        try:
            if (folder / STUDY_FILE).is_file():
                study = cls(folder)
                old_details = {**study.about, "creators": [*study.about["creators"]]}
                if old_details != old_details | new_details:
                    problem_text = (
                        f"another study is there, {study._title!r}; go on with it by "
                        f"aa.Study.resume({path_text})"
                    )
                elif study.digest is not None and not resume:
                    arguments_text = ", ".join(
                        f"{name}={value!r}" for name, value in new_details.items() if value
                    )
                    problem_text = (
                        f"the study there is sealed; read it by aa.Study({path_text}), or record "
                        "more, also in a cell that is run again, by "
                        f"aa.Study.create({path_text}, {arguments_text}, resume=True)"
                    )
            # Hidden files, and the manifest, are there while another process creates the study.
            elif folder.exists() and any(
                path.name[0] != "." and path.name != MANIFEST_FILE for path in folder.iterdir()
            ):
                problem_text = "the folder holds other files; empty it"
            else:
                created_at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
                folder.mkdir(parents=True, exist_ok=True)
                (folder / MANIFEST_FILE).touch()
                write_bytes(
                    folder / STUDY_FILE, format_json("study", created_at=created_at, **new_details)
                )
        except OSError as error:
            problem_text = error.strerror or type(error).__name__
        except ValueError as error:  # a name that no file can have
            problem_text = str(error)
        if problem_text:
            raise StudyError(
                f"no study can be created at {visible(str(folder))}: {problem_text}, or name "
                "another folder",
                path=folder,
            )
        return cls.resume(folder)

    @classmethod
    def resume(cls, path: FilePath) -> Study:
        """Open a study to record more responses.

        The first new response removes the seal, i.e. the recorded checksums. In a notebook that
        `rerun` runs, this opens the original study and records nothing.

        Parameters
        ----------
        path : str or path
            The folder of the study.

        Returns
        -------
        Study
            The study, which records.

        Raises
        ------
        StudyError
            If there is no study, or it is packed.
        """
        if rerun_path := read_rerun_path():
            return cls(rerun_path)
        study = cls(path)
        if not isinstance(study._files, FolderFiles):
            raise StudyError(
                f"{study.path} is packed and read-only; record into a folder", path=study.path
            )
        _ = study.about
        if study.digest is not None:
            # Reading compares the files with the seal, before a new response removes the seal.
            _ = study.records
        study._writer = StudyWriter(study.path)
        return study

    # -- content -------------------------------------------------------------------------------

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """The study's title, description, creators and time of creation, by name.

        Raises
        ------
        StudyError
            If ``study.json`` is damaged, was changed since the study was sealed, or is of a newer
            version.
        """

        def parse_about(document: Any) -> Mapping[str, Any] | None:
            creators = document["creators"]
            text_by_field = {
                field_name: document.get(field_name)
                for field_name in ("title", "description", "created_at")
            }
            is_valid = isinstance(creators, list) and all(
                isinstance(creator, str) for creator in creators
            )
            is_valid = is_valid and all(
                isinstance(text, str | None) for text in text_by_field.values()
            )
            return {**text_by_field, "creators": tuple(creators)} if is_valid else None

        description_fields = parse_json(self._read_verified(STUDY_FILE), parse_about, "study")
        if description_fields is None:
            raise self._unusable_error(
                f"{STUDY_FILE} does not describe a study of version {FORMAT_VERSION}"
            )
        return description_fields

    @property
    def _title(self) -> str:
        """The title of the study."""
        return str(self.about["title"])

    @property
    def records(self) -> tuple[Record, ...]:
        """All records, i.e. one line per stored response, in the order of recording.

        Raises
        ------
        StudyError
            If the manifest, the list of records, is damaged or was changed since it was sealed.
        """
        return tuple(
            self._parse_once(MANIFEST_FILE, self._read_verified(MANIFEST_FILE), parse_manifest)
        )

    def _parse_once(self, cache_name: str, content: S, parse: Callable[[S], T]) -> T:
        """Return ``parse(content)``, cached under ``cache_name`` until ``content`` changes."""
        if cache_name not in self._cache or self._cache[cache_name][0] != content:
            self._cache[cache_name] = content, parse(content)
        return self._cache[cache_name][1]  # type: ignore[no-any-return]

    @property
    def _current_records(self) -> tuple[Record, ...]:
        """A tuple with one record for each request: the one that a replay uses."""
        # The last usable response to a request or, if there is none, the last error.
        return self._parse_once("latest", self.records, _find_latest_records)

    @property
    def _hosts(self) -> tuple[str, ...]:
        """The hosts for which the study has responses, sorted."""
        return tuple(sorted({record.host for record in self.records}))

    @property
    def _profile_by_url(self) -> Mapping[str, Profile]:
        """A dict from base URL to the profile (column declarations) recorded for this service."""
        if not self._files.has(PROFILES_FILE):
            return {}
        profile_by_url = self._parse_once(
            PROFILES_FILE, self._read_verified(PROFILES_FILE), parse_profiles
        )
        if not profile_by_url:
            raise self._unusable_error(f"{PROFILES_FILE} does not hold profiles")
        return profile_by_url

    @property
    def digest(self) -> str | None:
        """The SHA-256 to cite the study by; None if it is not sealed.

        It is the hash of the file ``SHA256SUMS``, which has the hash of every other file. Thus it
        changes if any file of the study changes.
        """
        seal = self._read_seal()
        return None if seal is None else sha256_of(seal)

    def _read_body(self, record: Record) -> bytes:
        """Return the body of a recorded response; raise `StudyError` if its hash has changed."""
        body = self._files.read(body_file_name(record.sha256))
        if sha256_of(body) != record.sha256:
            raise self._unusable_error(
                f"{body_file_name(record.sha256)} is not what was recorded; verify the study"
            )
        return body

    def _read_payload(self, record: Record) -> Payload:
        """Return a recorded response in the form in which clients return it.

        If an error was recorded, raise it.
        """
        body = self._read_body(record)
        error = record.to_error(body)
        if error is not None:
            raise error
        return record.payload(body)

    def tables(self, record: Record) -> Dataset:
        """Return the tables of a recorded response, by section.

        Parameters
        ----------
        record : Record
            One of the study's `records`.

        Returns
        -------
        Dataset
            A mapping from the name of a section to its tables; one section, or all in one response.

        Raises
        ------
        FetchError
            If an error was recorded; it is raised again.
        StudyError
            If the response is missing, or its bytes are not the recorded ones.
        """
        return payload_to_dataset(self._read_payload(record), self._find_reading_options(record))

    def _find_reading_options(self, record: Record) -> ReadingOptions:
        """Return the options with which a recorded response is converted to tables.

        They have the column declarations that the study recorded for the response's service.
        """
        return ReadingOptions(self._profile_by_url.get(record.base_url))

    # -- recording and replaying ---------------------------------------------------------------

    @property
    def _is_rerun(self) -> bool:
        """Whether this process is running a notebook again on the responses of this study."""
        return self._writer is None and read_rerun_path() is not None

    def record(self, source: ProjectOrClient) -> ProjectOrClient:
        """Return a copy of a project or client that records every response in the study.

        The client's profile, i.e. the declarations of its service, is stored too, for replays. In a
        notebook that `rerun` runs, ``source`` itself is returned: all clients replay the study
        there.

        Parameters
        ----------
        source : Project or Client
            Any project, such as ``aa.demo()``, or any client.

        Returns
        -------
        Project or Client
            The copy, of the same type as ``source``.

        Raises
        ------
        StudyError
            If the study was opened for replay.
        StudyError
            If ``source`` is already recorded or replayed.
        StudyError
            If the project has an alias, i.e. a name to show instead of its host.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> with aa.Study.create(f"{tempfile.mkdtemp()}/mine") as study:
        ...     client = study.record(aa.demo().client)
        ...     collected = client.collect(["acme.example", "globex.example"], sections="domains")
        >>> sorted(record.host for record in study.records)
        ['acme.example', 'globex.example']
        """
        if self._is_rerun:
            return source
        writer = self._require_writer()
        client = source.client if isinstance(source, Project) else source
        if isinstance(source, Project) and source.alias is not None:
            raise StudyError(
                "a study holds responses under the host's own name, and its publications show it; "
                "record the project without alias="
            )
        if isinstance(client._source, Recorder | ReplaySource):
            raise StudyError(
                "a recorded or replayed source is not recorded again; record one of the service"
            )
        with writer.locked_manifest():
            self._remove_unrecorded_files()
            if client._profile is not None:
                self._store_profile(client.base_url, client._profile)
        recorder = Recorder(client._source, writer)
        recording_client = Client._from_source(
            recorder, client.base_url, client.workers, client._profile
        )
        return (
            recording_client.project(source.host)
            if isinstance(source, Project)
            else recording_client
        )

    def project(
        self,
        host: str,
        *,
        base_url: str | None = None,
        profile: ProfileSource | None = None,
        **settings: Any,
    ) -> Project:
        """Return the project of a host, which records into the study or replays it.

        After ``Study(path)`` the project replays: it reads from the study alone. After `create` or
        `resume` it records.

        Parameters
        ----------
        host : str
            The project's domain.
        base_url : str, optional
            The address of the service. A replay needs it only if the study has responses of several
            services. For recording the default is ``AATOOLKIT_BASE_URL``.
        profile : Profile, module, str or path, optional
            The declarations of the service, as for `Client`. A replay uses the recorded ones by
            default.
        **settings
            Settings of the client that records, as for ``aa.project``; a replay takes none.

        Returns
        -------
        Project
            The project, whose ``read`` returns tables as usual.

        Raises
        ------
        StudyError
            If the study is damaged, or has no responses about the host.
        StudyError
            If settings are given to a replay.
        """
        if self._writer is not None:
            return self.record(Client(base_url, profile=profile, **settings).project(host))
        if self._is_rerun:
            base_urls = {record.base_url for record in self._current_records}
            base_url = base_url if base_url in base_urls else None
        elif settings:
            raise StudyError(
                f"a replay uses no service and takes no {', '.join(settings)}; "
                "to go on recording use Study.resume(path)",
                path=self.path,
            )
        host_name = canonical_host(host)
        if base_url is None and host_name not in self._hosts:
            raise StudyError(
                f"the study at {self.path} has no responses about {host_name}; it has responses "
                f"about {', '.join(self._hosts) or 'no host'}",
                path=self.path,
            )
        return make_replaying_client(self, base_url, host_name, profile).project(host_name)

    def merge(self, other: Study, *, replace: bool = False) -> Study:
        """Add the records, profiles and results of another study.

        Parameters
        ----------
        other : Study
            The other study; it is not changed.
        replace : bool
            Whether the other study prevails where the two differ. The responses of this study stay
            recorded, but a replay uses those of the other study.

        Returns
        -------
        Study
            This study; call `seal` after the last merge.

        Raises
        ------
        StudyError
            If this study was opened for replay, or the other study is damaged.
        StudyError
            If the two differ in a response, a profile or a result, without ``replace``. The message
            names the first difference.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> one, two = (aa.Study.create(f"{tempfile.mkdtemp()}/s") for _ in range(2))
        >>> tables = one.record(aa.demo()).read("domains", days=7)
        >>> tables = two.record(aa.demo()).read("urls", days=7)
        >>> [record.section for record in one.merge(two).records]
        ['domains', 'urls']
        """
        writer = self._require_writer()
        conflict_phrases = [] if replace else [*self._find_conflicts(other)]
        if conflict_phrases:
            raise StudyError(
                f"the studies differ in {join_some(conflict_phrases, separator='; ')}; compare "
                "them by study.diff(other), or pass replace=True to replay those of the other",
                path=self.path,
                problems=tuple(conflict_phrases),
            )
        for record in other.records:
            writer.append(record, other._read_body(record))
        with writer.locked_manifest():
            for base_url, profile in other._profile_by_url.items():
                self._store_profile(base_url, profile)
        for name, frame in other.results.items():
            if replace and name in self.results:
                del self.results[name]
            self.results[name] = frame
        return self

    def _find_conflicts(self, other_study: Study) -> Iterator[str]:
        """Yield a phrase for each response, profile or result that differs in ``other_study``."""
        own_record_by_key = {record.request.key: record for record in self._current_records}
        for record in other_study._current_records:
            own_record = own_record_by_key.get(record.request.key, record)
            if (own_record.sha256, own_record.status) != (record.sha256, record.status):
                yield f"the response to {record.name}"
        for base_url, profile in other_study._profile_by_url.items():
            profile_variants = (self._profile_by_url.get(base_url, profile), profile)
            if (
                len(
                    {
                        format_profiles({base_url: profile_variant})
                        for profile_variant in profile_variants
                    }
                )
                > 1
            ):
                yield f"the profile of {base_url}"
        own_hash_by_name = self.results.hashes
        for name, result_hash in other_study.results.hashes.items():
            if own_hash_by_name.get(name, result_hash) != result_hash:
                yield f"the result {visible(name)!r}"

    def _require_writer(self) -> StudyWriter:
        """Return the object that appends to this study; raise `StudyError` in a replay."""
        if self._writer is None:
            raise StudyError(
                "this study was opened for replay; to go on recording use Study.resume(path)",
                path=self.path,
            )
        return self._writer

    def _store_profile(self, base_url: str, profile: Profile) -> None:
        """Store the profile (column declarations) of a service, for replays.

        The caller must have locked the manifest (the list of responses).
        """
        unstorable_names = sorted(name for name in profile if not is_json_storable(profile[name]))
        if unstorable_names:
            warn(
                f"a study holds declarations as data, and a function makes rows of "
                f"{', '.join(unstorable_names)}: replay with profile=",
                SchemaDriftWarning,
            )
        profile_by_url = self._profile_by_url
        profiles_json = format_profiles({**profile_by_url, base_url: profile})
        if not profile_by_url or format_profiles(profile_by_url) != profiles_json:
            unseal(self.path)
            write_bytes(self.path / PROFILES_FILE, profiles_json)

    @property
    def results(self) -> Results:
        """The named results of the analysis, to compare reruns with: a mapping from name to frame.

        ``study.results["by type"] = frame`` stores a result while the study is recorded. After the
        last result, call `seal` or leave the ``with`` block. A name has at most 100 characters.

        Two results are the same if they have the same rows and columns in the same order, with the
        same values and dtypes. An index counts only if it has a name. Storing the same result again
        is allowed. To store another frame under a name, delete the old result first:
        ``study.results.pop(name, None)``.

        In code that `rerun` executes, ``study.results[name] = frame`` stores nothing: the frame is
        compared with the stored one after the rerun. Stored results cannot be read there.

        Raises
        ------
        StudyError
            If a result is stored, but the study was opened for replay.
        StudyError
            If another result has the name.
        StudyError
            If ``results.json`` or the result was changed since the study was sealed.
        ItemNotFound
            If there is no such result.
        NotWritten
            If a column has values that cannot be hashed, or the study cannot be written to.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> with aa.Study.create(f"{tempfile.mkdtemp()}/mine") as study:
        ...     tables = study.record(aa.demo()).read("domains", days=7)
        ...     study.results["most cited"] = tables.main.head(5)
        >>> len(study.results["most cited"])
        5
        """
        return Results(self)

    # -- sealing and checking ------------------------------------------------------------------

    def seal(self) -> str:
        """Seal the study: write the hashes of all tables and files, to detect later changes.

        A response that is recorded later removes the seal again.

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
        with self._require_writer().locked_manifest():
            if self.digest is not None and self.verify():
                return str(self.digest)
            self._remove_unrecorded_files()
            table_hashes = [self._hash_tables_of_record(record) for record in self.records]
            write_bytes(
                self.path / TABLES_FILE, format_table_hashes(table_hashes, software_versions())
            )
            file_names = self._files.names()
            unrelated_file_names = [name for name in file_names if not is_study_file(name)]
            if unrelated_file_names:
                raise self._unusable_error(
                    f"its folder holds {', '.join(unrelated_file_names[:3])}; move it elsewhere"
                )
            hash_by_file = {name: sha256_of(self._files.read(name)) for name in file_names}
            write_bytes(self.path / SEAL_FILE, format_seal(hash_by_file))
        self._require_verified("cited")
        return str(self.digest)

    def _remove_unrecorded_files(self) -> None:
        """Delete what a killed writer left: unfinished files, and bodies and results of no record.

        The caller must have locked the manifest (the list of responses).
        """
        for folder in (self.path, self.path / RESPONSES_FOLDER, self.path / RESULTS_FOLDER):
            remove_abandoned_files(folder)
        recorded_file_names = {body_file_name(record.sha256) for record in self.records}
        recorded_file_names |= {result_file_name(digest) for digest in self.results.hashes.values()}
        for file_name in self._files.names():
            if (
                "/" in file_name
                and is_study_file(file_name)
                and file_name not in recorded_file_names
            ):
                (self.path / file_name).unlink()

    def verify(self, *, replay: bool = False) -> Verification:
        """Check that no file was altered, removed, added or swapped since the study was sealed.

        Parameters
        ----------
        replay : bool
            Whether to also derive the tables again, and compare their hashes with the sealed ones.

        Returns
        -------
        Verification
            The result; its truth value is True if nothing has changed. Also compare its ``digest``
            with the cited one: somebody could have changed the study and sealed it again.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> with aa.Study.create(f"{tempfile.mkdtemp()}/mine") as study:
        ...     options = study.record(aa.demo()).scope_options()
        >>> bool(study.verify(replay=True))
        True
        """

        return verify(self._files, self._hash_tables_of_record if replay else None)

    def diff(self, other: Study) -> StudyDiff:
        """Return what changed from this study to another one, which was recorded later.

        Every response in both studies is first compared with its hash.

        Parameters
        ----------
        other : Study
            The later study.

        Returns
        -------
        StudyDiff
            The differences; its attribute ``changes`` is a DataFrame with one row per difference.

        Raises
        ------
        StudyError
            If one of the studies is damaged; `verify` says where.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> old, new = (aa.Study.create(f"{tempfile.mkdtemp()}/s") for _ in range(2))
        >>> for seed, study in enumerate((old, new)):
        ...     tables = study.record(aa.demo(seed=seed)).read("domains", days=7)
        >>> old.diff(new).changes["kind"].unique().tolist()
        ['response', 'row', 'cell']
        """
        return compare_studies(self, other)

    def pack(self, path: FilePath) -> Path:
        """Pack the study into one zip file.

        ``Study(path)`` opens the zip file directly. The same study always gives the same bytes.

        Parameters
        ----------
        path : str or path
            The path of the zip file.

        Returns
        -------
        Path
            The same path.

        Raises
        ------
        StudyError
            If the study is not sealed, or is damaged.
        """
        self._require_verified("packed")
        return pack(self._files, Path(path).expanduser())

    def publish(
        self,
        out: FilePath,
        *,
        redact: Names = (),
        excel: bool = False,
        csv: bool = False,
        responses: bool = False,
        licence: str | None = None,
        overwrite: bool = False,
    ) -> Path:
        """Write the study's tables to a folder that can be read without this package.

        The folder has one Parquet file per table, with host, filters and time in each row. It also
        has ``datapackage.json`` (Frictionless), a codebook, ``CITATION.cff``, a README and
        checksums. If a request has several responses, the tables are from the one that a replay
        uses. The same study and versions give the same bytes.

        Parameters
        ----------
        out : str or path
            The folder; it must be new or empty. It is written completely or not at all.
        redact : str or iterable of str
            Columns to leave out: ``column``, ``table.column``, or ``texts`` for all columns of free
            text such as prompts. The service's notes on availability are then left out too, as they
            may quote a column.
        excel, csv : bool
            Whether to also write an Excel workbook (``pip install "aatoolkit[excel]"``), and CSV
            files. Both are safe to open: no cell is a formula.
        responses : bool
            Whether to include the packed study, as ``study.zip``. With it, readers can explain any
            number down to its bytes. Not possible with ``redact``.
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
            If a column to leave out does not exist, or the study has no response.
        NotWritten
            If ``responses`` and ``redact`` are combined.
        NotWritten
            If the folder is not empty, cannot be written to, or has files from elsewhere. Nothing
            is changed then.

        Warns
        -----
        AAToolkitWarning
            If a text in a column that is left out also occurs in a column that remains.

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
        from aatoolkit.study.publishing import PublicationDetails, publish

        self._require_verified("published")
        out_folder = Path(out).expanduser()
        if responses and redact:
            raise NotWritten(
                "responses hold every column; publish them, or leave columns out, but not both",
                path=out_folder,
            )
        if out_folder.resolve().is_relative_to(self.path.resolve()):
            raise NotWritten(
                f"{out_folder} is inside the study, which it would change; name another folder",
                path=out,
            )
        packed_study = b""
        if responses:
            with tempfile.TemporaryDirectory() as folder:
                packed_study = self.pack(Path(folder) / PACKED_STUDY_FILE).read_bytes()
        published_tables: list[Any] = []
        failed_payloads = []
        for record in self._current_records:
            try:
                published_tables += call_without_warnings(self.tables, record).values()
            except (FetchError, PayloadError, ScopeError) as error:
                failed_payloads.append((record.payload(self._read_body(record)), error.message))
        details = PublicationDetails(
            self._title,
            self.about["description"],
            self.about["creators"],
            licence,
            digest=self.digest,
        )
        return publish(
            published_tables,
            out_folder,
            details,
            failed_payloads=failed_payloads,
            redact=redact,
            excel=excel,
            csv=csv,
            overwrite=overwrite,
            packed_study=packed_study,
        )

    def rerun(
        self, notebook: FilePath, *, out: FilePath | None = None, timeout: float = 600.0
    ) -> Rerun:
        """Run a notebook again from this study, and compare its results with the sealed ones.

        The notebook runs in a new kernel, in its own folder. There, every client reads from this
        study, whatever service it names, even ``aa.demo()``. ``Study.create`` and ``Study.resume``
        open this study. ``Study(path)`` does, too, if there is no study at the path. The token is
        removed from the environment. Frames that the notebook stores by ``study.results[name] =
        frame`` are compared with the sealed ones. Afterwards the study is verified again.

        This checks whether the analysis can be reproduced. It is no sandbox: a notebook runs with
        your rights, and may open files, connections and processes. Rerun only what you would run.

        Parameters
        ----------
        notebook : str or path
            The notebook; it is not changed.
        out : str or path, optional
            Where to write the notebook with its outputs; tokens of this process are masked.
        timeout : float
            The seconds that all cells together may take; then the kernel is ended.

        Returns
        -------
        Rerun
            The comparison of all results. Its truth value is True if the notebook ran to its end,
            each sealed result is the same, and the study is unchanged.

        Raises
        ------
        StudyError
            If the study was changed since it was sealed, or has no sealed result.
        ArgumentError
            If the notebook cannot be read.
        NotWritten
            If ``out`` cannot be written.
        PackageMissing
            If nbclient or ipykernel is not installed; the message says what to install.
        """
        from aatoolkit.study.rerun import rerun

        return rerun(self, Path(notebook), out=out, timeout=timeout)

    # -- explaining ----------------------------------------------------------------------------

    def explain(
        self,
        table: str,
        row: RowChoice = None,
        column: str | None = None,
        *,
        host: str | None = None,
        scope: Scope | None = None,
    ) -> Explanation:
        """Explain where a number in a recorded table comes from, down to the response's bytes.

        The bytes are first compared with their hash, and the list of records with the seal.

        Parameters
        ----------
        table : str
            The table: its name, or ``section.table``.
        row : int, label or mapping of str to object, optional
            The row, as for ``df.aa.explain``; by default the first row in which the column has no
            value.
        column : str
            The column.
        host : str, optional
            The project's domain, if the study has several projects.
        scope : Scope, optional
            The filters, if the study has several responses of the section.

        Returns
        -------
        Explanation
            The explanation, as a tree.

        Raises
        ------
        StudyError
            If the study is damaged.
        ScopeError
            If the study has no such table, or several responses have it; the message lists some.
        ItemNotFound
            If the table has no such column or row.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> folder = tempfile.mkdtemp()
        >>> with aa.Study.create(f"{folder}/mine") as study:
        ...     tables = study.record(aa.demo()).read("overview", days=7)
        >>> again = aa.Study(f"{folder}/mine")
        >>> found = again.explain("overview.overview_kpis", {"metric": "mentionRate"}, "value")
        >>> found.place.path, found.response.found_in, found.response.checked
        ('$.kpis.mentionRate.value', 'in the study mine', True)
        """
        tables = find_recorded_tables(self, table, host, scope)
        return Explainer(self).explain(tables[table.rpartition(".")[2]], row, column)

    @property
    def _store_name(self) -> str:
        """How explanations call this study: ``the study`` and the name of its folder."""
        return f"the study {self.path.name}"

    _stored_responses = find_stored_responses

    # -- reading files -------------------------------------------------------------------------

    def _read_seal(self) -> bytes | None:
        """Return the content of ``SHA256SUMS``; None if the study is not sealed."""
        return self._files.read(SEAL_FILE) if self._files.has(SEAL_FILE) else None

    def _require_verified(self, purpose: str) -> None:
        """Raise `StudyError` unless the study is sealed and unchanged.

        ``purpose`` ends the message, such as "published".
        """
        verification = self.verify()
        if not verification:
            problem = f"{verification.problems[0]}; only a study that verifies can be {purpose}"
            raise unusable_study_error(self.path, problem, *map(str, verification.problems))

    def _read_verified(self, file_name: str) -> bytes:
        """Return the content of a file, after a check of its hash if the study is sealed."""
        while True:
            seal = self._read_seal()
            content = self._files.read(file_name)
            if seal is None or parse_seal(seal).get(file_name) == sha256_of(content):
                return content
            # A writer may have removed the seal meanwhile, as it does before it changes anything.
            if self._read_seal() == seal:
                raise self._unusable_error(f"{file_name} does not match the seal; verify it")

    def _hash_tables_of_record(self, record: Record) -> TableHashes:
        """Return a dict with the number of rows and the hash of each table of a recorded response.

        The keys are the names of the tables. The dict is empty if the response is an error.
        """
        return hash_tables(read_usable_tables(self, record))

    def _unusable_error(self, problem: str) -> StudyError:
        """Create the error that this study cannot be used; ``problem`` says why."""
        return unusable_study_error(self.path, problem)

    def __enter__(self) -> Study:
        """Return the study; when the ``with`` block ends without an error, the study is sealed."""
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: object
    ) -> None:
        if error_type is None and self._writer is not None:
            self.seal()

    def __repr__(self) -> str:
        try:
            contents_text = (
                f"{counted(len(self.records), 'response')} of {', '.join(self._hosts) or 'nothing'}"
            )
            title = visible(self._title)
            digest = self.digest
        except StudyError:
            return f"<Study at {visible(str(self.path))}, damaged: see .verify()>"
        seal_text = "not sealed" if digest is None else f"sealed {digest[:12]}"
        return f"<Study {title!r}: {contents_text}, {seal_text}>"

    def _repr_html_(self) -> str:
        return code(repr(self))


def _find_latest_records(records: Iterable[Record]) -> tuple[Record, ...]:
    """Return the last usable record of each request; if it has none, its last record."""
    record_by_key: dict[tuple[str, ...], Record] = {}
    for record in records:
        latest_record = record_by_key.get(record.request.key)
        if latest_record is None or record.error is None or latest_record.error is not None:
            record_by_key[record.request.key] = record
    return tuple(record_by_key[key] for key in sorted(record_by_key))
