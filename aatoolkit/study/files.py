"""Read and write the files of a study, in a folder or a zip file, and their checksums.

The manifest is a file with one line, a `Record`, for each response. `StudyWriter` appends lines.
"""

# Symbolic links are listed as files and never followed. A zip file is read without unpacking it:
# its members are the files that ``SHA256SUMS`` lists, and every byte that is used is compared with
# it.

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import platform
import re
import stat
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pyarrow as pa

from aatoolkit import __version__
from aatoolkit._util.files import FilePath, write_bytes
from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import canonical_json, visible
from aatoolkit.errors import AAToolkitError, FetchError, NotWritten, StudyError
from aatoolkit.jsontree import decode
from aatoolkit.payload import Payload, Request, Response
from aatoolkit.scope import Scope

T = TypeVar("T")
JsonObject = dict[str, Any]

STUDY_FILE = "study.json"
MANIFEST_FILE = "manifest.jsonl"
TABLES_FILE = "tables.json"
SEAL_FILE = "SHA256SUMS"
PROFILES_FILE = "profiles.json"
RESPONSES_FOLDER = "responses"
RESULTS_FILE = "results.json"
RESULTS_FOLDER = "results"

PACKED_STUDY_FILE = "study.zip"
"""The file with the packed study, in a publication that includes the responses."""

FORMAT_VERSION = 1
"""The version of the formats of a study's JSON files, which each of them states."""

SHA256_PATTERN = re.compile(r"[0-9a-f]{64}")

MAX_FILE_BYTES = 1 << 28
"""The size of the largest file of a study that is read."""

PARSING_ERRORS = (
    AAToolkitError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    RecursionError,
)
"""The exceptions that parsing a damaged or forged file of a study may raise."""

_FILE_NAME_PATTERN = re.compile(
    rf"{STUDY_FILE}|{MANIFEST_FILE}|{TABLES_FILE}|{PROFILES_FILE}|{SEAL_FILE}|{RESULTS_FILE}"
    rf"|{RESPONSES_FOLDER}/[0-9a-f]{{64}}\.json|{RESULTS_FOLDER}/[0-9a-f]{{64}}\.parquet"
)
_SEAL_LINE_PATTERN = re.compile(r"([0-9a-f]{64})  (.+)")


def body_file_name(body_hash: str) -> str:
    """Return the file name, within a study, of the response body with the hash ``body_hash``."""
    return f"{RESPONSES_FOLDER}/{body_hash}.json"


def result_file_name(result_hash: str) -> str:
    """Return the file name, within a study, of the result with the hash ``result_hash``.

    A result is a frame that an analysis computed. The name begins with the folder of results.
    """
    return f"{RESULTS_FOLDER}/{result_hash}.parquet"


def is_study_file(file_name: str) -> bool:
    """Return whether a study can have a file of this name, which is relative to its folder.

    Examples
    --------
    >>> is_study_file("study.json"), is_study_file("../study.json")
    (True, False)
    """
    return _FILE_NAME_PATTERN.fullmatch(file_name) is not None


def parse_json(
    content: bytes, parse_document: Callable[[Any], T], format_name: str = ""
) -> T | None:
    """Decode the JSON document in a study's file; return ``parse_document(document)``.

    The result is None if the document is damaged, or does not state the format ``format_name``
    (without ``aatoolkit-``).
    """
    try:
        document = decode.decode(content)
        has_expected_format = not format_name or (document["format"], document["version"]) == (
            f"aatoolkit-{format_name}",
            FORMAT_VERSION,
        )
        return parse_document(document) if has_expected_format else None
    except PARSING_ERRORS:
        return None


def format_json(format_name: str, **field_values: Any) -> bytes:
    """Return the bytes of a JSON file of a study, with the fields in ``content``.

    ``format_name`` is the name of the format, which the file states after ``aatoolkit-``.
    """
    document = {"format": f"aatoolkit-{format_name}", "version": FORMAT_VERSION, **field_values}
    return f"{canonical_json(document)}\n".encode()


def open_files(path: FilePath) -> StudyFiles:
    """Open the study in the folder or zip file at a path, and return its files.

    Raise `StudyError` if there is no study.
    """
    study_path = Path(path).expanduser()
    try:
        if any((study_path / name).exists() for name in (STUDY_FILE, MANIFEST_FILE)):
            return FolderFiles(study_path)
        if study_path.is_file():
            return ZipFiles(study_path)
    except OSError as error:
        raise unusable_study_error(
            study_path, f"it cannot be read ({error.strerror or error})"
        ) from None
    raise StudyError(
        f"there is no study at {visible(str(study_path))}; check the path", path=study_path
    )


class FolderFiles:
    """Lists and reads the files of a study that is stored as a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self) -> list[str]:
        """Return the sorted names of all files, and of subfolders that do not belong to a study."""
        try:
            return sorted(_list_files(self.path, ""))
        except OSError as error:
            raise unusable_study_error(
                self.path, f"it cannot be listed ({error.strerror or error})"
            ) from None

    def has(self, file_name: str) -> bool:
        """Return whether the study has a file of this name."""
        return os.path.lexists(self.path / file_name)

    def read(self, file_name: str) -> bytes:
        """Return the content of the file of this name; raise `StudyError` if it is not usable."""
        file_path = self.path / file_name
        try:
            if file_path.parent != self.path and not stat.S_ISDIR(
                os.lstat(file_path.parent).st_mode
            ):
                problem_text = "is behind a link"
            elif not (is_study_file(file_name) and stat.S_ISREG(os.lstat(file_path).st_mode)):
                problem_text = "is not a regular file of a study"
            else:
                with open(file_path, "rb") as stream:
                    content = stream.read(MAX_FILE_BYTES + 1)
                if len(content) <= MAX_FILE_BYTES:
                    return content
                problem_text = "is too large"
        except FileNotFoundError:
            problem_text = "is missing"
        except OSError as error:
            problem_text = f"cannot be read ({error.strerror})"
        raise unusable_study_error(self.path, f"{file_name} {problem_text}")


class ZipFiles:
    """Lists and reads the files of a study that is packed into a zip file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
            zip_members = self._zip.infolist()
            self._names = {zip_member.filename for zip_member in zip_members}
            problem_text = ""
            for zip_member in zip_members:
                file_name = zip_member.filename
                unpacked_size = zip_member.file_size
                if not is_study_file(file_name):
                    problem_text = f"{file_name!r} does not belong to a study"
                elif unpacked_size > min(MAX_FILE_BYTES, 1000 * max(1, zip_member.compress_size)):
                    problem_text = f"{file_name!r} is too large when unpacked"
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
            problem_text = f"it is not a readable zip file ({error})"
        if problem_text:
            raise unusable_study_error(path, problem_text)

    def names(self) -> list[str]:
        """Return the sorted names of all files."""
        return sorted(self._names)

    def has(self, file_name: str) -> bool:
        """Return whether the study has a file of this name."""
        return file_name in self._names

    def read(self, file_name: str) -> bytes:
        """Return the content of the file of this name; raise `StudyError` if it is not usable."""
        try:
            return self._zip.read(file_name)
        except KeyError:
            problem_text = "is missing"
        except Exception as error:  # a damaged, encrypted or oddly compressed member
            problem_text = f"cannot be read ({error})"
        raise unusable_study_error(self.path, f"{file_name} {problem_text}")


StudyFiles = FolderFiles | ZipFiles
"""The files of a study, which are read by name."""


def pack(study_files: StudyFiles, path: Path) -> Path:
    """Write the files of a study to one zip file, completely or not at all; return its path."""
    # They are not compressed, as the output of compressors differs between versions.
    zip_buffer = io.BytesIO()
    with zipfile.ZipFile(zip_buffer, "w", zipfile.ZIP_STORED) as zip_file:
        for file_name in study_files.names():
            zip_entry = zipfile.ZipInfo(file_name, (1980, 1, 1, 0, 0, 0))
            zip_entry.create_system = 3
            zip_entry.external_attr = 0o100644 << 16
            zip_file.writestr(zip_entry, study_files.read(file_name))
    return write_bytes(path, zip_buffer.getvalue())


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def format_seal(hash_by_file: Mapping[str, str]) -> bytes:
    """Return the content of the file ``SHA256SUMS``, from a dict of file names with hashes."""
    seal_lines = (
        f"{hash_by_file[file_name]}  {file_name}\n"
        for file_name in sorted(hash_by_file)
        if file_name != SEAL_FILE
    )
    return "".join(seal_lines).encode()


def parse_seal(content: bytes) -> dict[str, str]:
    """Parse the content of the file ``SHA256SUMS`` to a dict of file names with hashes."""
    line_matches = map(_SEAL_LINE_PATTERN.fullmatch, content.decode("utf-8", "replace").split("\n"))
    return {line_match[2]: line_match[1] for line_match in line_matches if line_match}


def unusable_study_error(path: Path, problem: str, *problems: str) -> StudyError:
    """Create the error which says that the study at a path cannot be used, and why.

    Its message has ``problem``. Its attribute ``problems`` has all of ``problems``, or by default
    only ``problem``.
    """
    return StudyError(
        visible(f"the study at {path} cannot be used: {problem}"),
        path=path,
        problems=problems or (problem,),
    )


def _list_files(folder: Path, prefix: str) -> Iterator[str]:
    """Yield the names of all files below a folder, and of subfolders that do not belong to a study.

    A name is ``prefix``, followed by the path relative to ``folder``.
    """
    with os.scandir(folder) as folder_entries:
        for folder_entry in folder_entries:
            file_name = prefix + folder_entry.name
            if not folder_entry.is_dir(follow_symlinks=False):
                yield file_name
            else:
                if file_name not in (RESPONSES_FOLDER, RESULTS_FOLDER):
                    yield f"{file_name}/"
                yield from _list_files(folder / folder_entry.name, f"{file_name}/")


# -- the manifest ----------------------------------------------------------------------------------

_RESPONSE_FIELDS = ("sha256", "size", "stale", "status")


@cache
def software_versions() -> Mapping[str, str]:
    """Return a dict with the versions of Python, pandas, pyarrow and this package."""
    return {
        "aatoolkit": __version__,
        "pandas": pd.__version__,
        "pyarrow": pa.__version__,
        "python": platform.python_version(),
    }


def parse_request_url(url: str) -> Request:
    """Parse the URL of a request to a `Request`; raise `ValueError` if it is no URL of the API."""
    url_parts = urlsplit(url)
    parameters = parse_qsl(url_parts.query, keep_blank_values=True)
    origin = f"{url_parts.scheme}://{url_parts.netloc}"
    return Request.from_dict({"origin": origin, "path": url_parts.path, "params": parameters})


@dataclass(frozen=True)
class Record:
    """One line of a study's manifest: a recorded request, and its response without the body.

    Attributes
    ----------
    request : Request
        The request, with the base URL of the service.
    status : int
        The HTTP status of the response.
    sha256 : str
        The SHA-256 of the response's body.
    size : int
        The length of the body in bytes.
    headers : mapping of str to str
        The response headers that are stored.
    fetched_at : datetime.datetime
        When the service sent the response, in UTC.
    stale : bool
        Whether the response came from a cache after it had expired.
    error : str or None
        The class name of the error to raise when the response is read; None for no error.
    versions : mapping of str to str
        The versions of the software that recorded the response.
    previous : str or None
        The SHA-256 of the previous line of the manifest.

    Examples
    --------
    >>> from aatoolkit.payload import Request
    >>> from aatoolkit.study import Record
    >>> request = Request.for_section("acme.example", "domains", Scope(days=7))
    >>> moment = datetime(2026, 11, 20, tzinfo=UTC)
    >>> record = Record(request.with_base_url("https://api.example"), 200, "0" * 64, 2, {}, moment)
    >>> record.host, record.section, record.scope
    ('acme.example', 'domains', Scope(days=7))
    """

    request: Request
    status: int
    sha256: str
    size: int
    headers: Mapping[str, str]
    fetched_at: datetime
    stale: bool = False
    error: str | None = None
    versions: Mapping[str, str] | None = None
    previous: str | None = None

    @classmethod
    def from_response(cls, response: Response, **field_values: Any) -> Record:
        """Create the record of a response.

        ``fields`` can have ``stale`` and ``error``, which are as in the class.
        """
        return cls(
            response.request,
            response.status,
            response.sha256,
            len(response.body),
            dict(response.headers),
            response.fetched_at.astimezone(UTC),
            versions=software_versions(),
            **field_values,
        )

    @property
    def base_url(self) -> str:
        """The base URL of the service."""
        return self.request.base_url

    @property
    def host(self) -> str:
        """The project's domain."""
        return self.request.host

    @property
    def section(self) -> str | None:
        """The section; None for a request of the filter values, or of all sections at once."""
        return self.request.section

    @property
    def scope(self) -> Scope | None:
        """The days and filters of the request.

        It is None if the request asked which values the filters may have.
        """
        return self.request.scope

    @property
    def url(self) -> str:
        """The full URL of the request."""
        return self.request.url

    @property
    def name(self) -> str:
        """A text that identifies the request in messages: section, host and filters."""
        if self.scope is None:
            return f"scope options of {self.host}"
        return visible(f"{self.section or 'combined view'} of {self.host}, {self.scope!r}")

    @property
    def key(self) -> tuple[Any, ...]:
        """A tuple that identifies the record in a study: URL, time, status and hash."""
        return self.url, self.fetched_at, self.status, self.sha256

    def response(self, body: bytes) -> Response:
        """Return the recorded response, with headers and time; ``body`` has its bytes."""
        return Response(self.request, self.status, self.headers, self.fetched_at, body)

    def payload(self, body: bytes) -> Payload:
        """Return the recorded response as a `Payload`, the form in which clients return it."""
        return Payload._from_response(self.response(body), from_cache=True, stale=self.stale)

    def to_error(self, body: bytes) -> FetchError | None:
        """Return the error that was raised for this response; None if the response is usable."""
        if self.error is None:
            return None
        # imported late: a browser has no cache of responses
        from aatoolkit.http.judge import find_response_error

        error = find_response_error(self.url, self.status, self.headers, body)
        if error is None:
            raise StudyError(f"the response to {self.name} is no error, as the manifest has it")
        error.section = self.section
        error.scope = self.scope
        return error

    def dumps(self) -> bytes:
        """Return the record as a line of the study's manifest: JSON without a line break."""
        time_text = self.fetched_at.replace(tzinfo=None).isoformat(timespec="microseconds")
        response_fields = {field_name: getattr(self, field_name) for field_name in _RESPONSE_FIELDS}
        response_fields |= {"fetched_at": f"{time_text}Z", "headers": self.headers}
        return canonical_json(
            {
                "error": self.error,
                "previous": self.previous,
                "request": self.request.to_dict(),
                "response": response_fields,
                "versions": self.versions or {},
            }
        ).encode()

    @classmethod
    def loads(cls, line: bytes) -> Record:
        """Parse a line of a study's manifest to a record; raise `StudyError` if it is damaged."""
        try:
            document = decode.decode(line)
            response_fields = document["response"]
            error_name = document["error"]
            previous_hash = document["previous"]
            fetched_at = datetime.fromisoformat(response_fields.pop("fetched_at"))
            request = Request.from_dict(document["request"])
            record = cls(
                request,
                **response_fields,
                fetched_at=fetched_at,
                error=error_name,
                versions=document["versions"],
                previous=previous_hash,
            )
            sha256_texts = (record.sha256, previous_hash or "0" * 64)
            text_tuples = (
                *record.headers.items(),
                *document["versions"].items(),
                ("" if error_name is None else error_name,),
            )
            integer_fields = (record.status, record.size)
            is_valid = (
                record.dumps() == line
                and canonical_host(request.host) == request.host
                and (request.scope is not None or {*request.params} <= {"refresh"})
                and type(record.stale) is bool
                and all(map(SHA256_PATTERN.fullmatch, sha256_texts))
                and all(isinstance(text, str) for text_tuple in text_tuples for text in text_tuple)
                and all(
                    type(integer_field) is int and integer_field >= 0
                    for integer_field in integer_fields
                )
            )
        except PARSING_ERRORS:
            is_valid = False
        if not is_valid:
            raise StudyError("a line of the manifest is not valid")
        return record


def parse_manifest(
    content: bytes, previous_hash: str | None = None, first_line_number: int = 1
) -> list[Record]:
    """Parse lines of a manifest (one line per recorded response), and return their records.

    ``content`` are the bytes of the lines. If they are not the whole manifest, ``previous_hash`` is
    the hash of the line before them, and ``first_line_number`` the number of the first of them.
    Raise `StudyError` if a line is damaged or missing.
    """
    *manifest_lines, unfinished_line = content.split(b"\n")
    if unfinished_line:
        raise _manifest_error("its last line is unfinished")
    records = []
    for line_number, line in enumerate(manifest_lines, first_line_number):
        try:
            record = Record.loads(line)
        except StudyError:
            raise _manifest_error(f"line {line_number} is damaged") from None
        if record.previous != previous_hash:
            raise _manifest_error(f"line {line_number} does not follow the line before")
        records.append(record)
        previous_hash = sha256_of(line)
    if len({record.key for record in records}) < len(records):
        raise _manifest_error("it holds a response twice")
    return records


def _manifest_error(problem: str) -> StudyError:
    """Create the error that a study's manifest (its list of records) is damaged.

    ``problem`` says how.
    """
    return StudyError(
        f"the manifest is damaged: {problem}", problems=(f"{MANIFEST_FILE}: {problem}",)
    )


class StudyWriter:
    """Appends responses to a study; several threads and processes may do so at the same time.

    ``folder`` is the folder of the study.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._bytes_read = 0
        self._last_hash: str | None = None
        self._record_keys: set[tuple[Any, ...]] = set()

    def append(self, record: Record, body: bytes) -> None:
        """Store a response if it is new: first its body, then its line in the manifest.

        The manifest is the study's list of responses.
        """
        with self.locked_manifest() as manifest_fd:
            if record.key in self._record_keys:
                return
            unseal(self.folder)
            body_path = self.folder / body_file_name(record.sha256)
            if not (body_path.is_file() and body_path.stat().st_size == len(body)):
                write_bytes(body_path, body)
            line = replace(record, previous=self._last_hash).dumps()
            _append_line(manifest_fd, line + b"\n")
            self._register_record(line, record)

    @contextlib.contextmanager
    def locked_manifest(self) -> Iterator[int]:
        """Lock the manifest (list of responses) in a ``with`` block; yield the file descriptor.

        Lines that other writers have appended are read first.
        """
        open_flags = (
            os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        )
        try:
            with self._lock:
                manifest_fd = os.open(self.folder / MANIFEST_FILE, open_flags, 0o666)
                try:
                    _lock(manifest_fd)
                    self._read_new_lines(manifest_fd)
                    yield manifest_fd
                finally:
                    with contextlib.suppress(OSError):
                        _unlock(manifest_fd)
                    os.close(manifest_fd)
        except AAToolkitError:
            raise
        except OSError as error:
            raise NotWritten(
                f"the study in {self.folder} cannot be written to: {error.strerror or error}",
                path=self.folder,
                errno=error.errno,
            ) from None

    def _read_new_lines(self, manifest_fd: int) -> None:
        """Read the lines that were added to the manifest (list of responses) since the last call.

        An unfinished last line is cut off. ``manifest_fd`` is the descriptor of the open file.
        """
        if os.fstat(manifest_fd).st_size < self._bytes_read:
            raise _manifest_error("it was cut while it was written to")
        os.lseek(manifest_fd, self._bytes_read, os.SEEK_SET)
        with open(manifest_fd, "rb", closefd=False) as manifest:
            new_content = manifest.read()
        end_offset = new_content.rfind(b"\n") + 1
        if end_offset < len(new_content):
            os.ftruncate(manifest_fd, self._bytes_read + end_offset)
        for record in parse_manifest(
            new_content[:end_offset], self._last_hash, len(self._record_keys) + 1
        ):
            self._register_record(record.dumps(), record)

    def _register_record(self, line: bytes, record: Record) -> None:
        """Update this object after a line of the manifest (list of responses) was read or written.

        It stores the hash of the line, the length of the file, and the key of the record.
        """
        self._last_hash = sha256_of(line)
        self._bytes_read += len(line) + 1
        self._record_keys.add(record.key)


def unseal(folder: Path) -> None:
    """Delete the checksums (``SHA256SUMS``) and table hashes (``tables.json``) of a study.

    They become wrong when the study in ``folder`` changes.
    """
    for file_name in (SEAL_FILE, TABLES_FILE):
        (folder / file_name).unlink(missing_ok=True)


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int, mode: int = msvcrt.LK_LOCK) -> None:
        # Windows locks bytes. One far beyond the end is locked, so that others can read the file.
        os.lseek(handle, 1 << 30, os.SEEK_SET)
        msvcrt.locking(handle, mode, 1)

    def _unlock(handle: int) -> None:
        _lock(handle, msvcrt.LK_UNLCK)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


def _append_line(file_descriptor: int, line: bytes) -> None:
    """Append a line to a file and sync it to disk; if this fails, restore the file.

    ``file_descriptor`` is that of the open file.
    """
    old_size = os.lseek(file_descriptor, 0, os.SEEK_END)
    try:
        while line:
            line = line[os.write(file_descriptor, line) :]
        os.fsync(file_descriptor)
    except BaseException:
        os.ftruncate(file_descriptor, old_size)
        raise
