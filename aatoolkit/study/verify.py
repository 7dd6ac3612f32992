"""Verify a study: compare each file with the recorded checksums, and each body with its hash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

from aatoolkit._util.files import find_hash_mismatches
from aatoolkit._util.text import counted, join_some, print_wrapped, visible
from aatoolkit.errors import StudyError
from aatoolkit.study.files import (
    MANIFEST_FILE,
    RESPONSES_FOLDER,
    SEAL_FILE,
    STUDY_FILE,
    TABLES_FILE,
    Record,
    StudyFiles,
    body_file_name,
    format_seal,
    is_study_file,
    parse_manifest,
    parse_seal,
    sha256_of,
)
from aatoolkit.study.recording import TableHashes, parse_table_hashes

_MESSAGE_BY_KIND = {
    "missing": "it was recorded",
    "added": "no record or seal names it",
    "altered": "its bytes are not those that were recorded",
}


@dataclass(frozen=True)
class Problem:
    """One problem of a study.

    Attributes
    ----------
    kind : str
        ``altered``, ``missing``, ``added``, ``unreadable``, ``broken chain`` (a line of the
        manifest, the list of responses, is damaged or missing), ``not sealed``, or ``other tables``
        (tables differ from the sealed ones).
    file : str
        The file that has the problem.
    message : str
        What is wrong, and with which response.
    """

    kind: str
    file: str
    message: str

    def __str__(self) -> str:
        return visible(f"{self.kind}: {self.file}: {self.message}")


@dataclass(frozen=True, repr=False)
class Verification:
    """The result of verifying a study, i.e. of comparing its files with their checksums.

    ``bool(verification)`` is True if the study is sealed, i.e. has a file with the checksums of
    all its files, and there is no problem.

    Attributes
    ----------
    path : Path
        The path of the study.
    digest : str or None
        The SHA-256 of the file with all checksums; None if there is a problem.
    files, records : int
        The number of checked files, and of recorded responses.
    problems : tuple of Problem
        The problems.
    """

    path: Path
    digest: str | None
    files: int
    records: int
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether the study is sealed, and there is no problem."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        counts_text = f"{counted(self.files, 'file')}, {counted(self.records, 'record')}"
        if self.ok:
            return f"<Verification: as sealed, {counts_text}, digest {self.digest}>"
        problem_lines = [f"  {problem}" for problem in self.problems]
        return "\n".join(
            [
                f"<Verification: {counted(len(problem_lines), 'problem')}, {counts_text}>",
                *problem_lines,
            ]
        )

    _repr_pretty_ = print_wrapped


def verify(
    study_files: StudyFiles, hash_tables_again: Callable[[Record], TableHashes] | None = None
) -> Verification:
    """Check every byte of a study against the checksums in its file ``SHA256SUMS``.

    ``hash_tables_again`` is a function that converts a recorded response to tables again and
    returns their hashes. These are then compared with the recorded ones.
    """
    # For each file only the first problem is kept, which is the most specific.
    problem_by_file = {}
    hash_by_file = {}
    content_by_file = {}
    file_names = []
    try:
        file_names = study_files.names()
    except StudyError as error:
        problem_by_file[""] = "unreadable", str(error)
    for file_name in file_names:
        try:
            content = study_files.read(file_name) if is_study_file(file_name) else None
        except StudyError as error:
            problem_by_file[file_name] = "unreadable", str(error)
            continue
        if content is None:
            problem_by_file[file_name] = "added", "it does not belong to a study"
            continue
        hash_by_file[file_name] = sha256_of(content)
        if "/" not in file_name:
            content_by_file[file_name] = content
    for file_name in (STUDY_FILE, MANIFEST_FILE) if file_names else ():
        if file_name not in file_names:
            problem_by_file[file_name] = "missing", "every study has this file"
    hash_by_body_file = {
        file_name: file_hash
        for file_name, file_hash in hash_by_file.items()
        if file_name.startswith(f"{RESPONSES_FOLDER}/")
    }
    records = []
    try:
        records = parse_manifest(content_by_file.get(MANIFEST_FILE, b""))
        recorded_hash_by_file = {body_file_name(record.sha256): record.sha256 for record in records}
        for problem_kind, file_name in find_hash_mismatches(
            recorded_hash_by_file, hash_by_body_file
        ):
            problem_by_file.setdefault(file_name, (problem_kind, _MESSAGE_BY_KIND[problem_kind]))
    except StudyError as error:
        problem_by_file[MANIFEST_FILE] = (
            "broken chain",
            "; ".join(error.problems or ()).removeprefix(f"{MANIFEST_FILE}: "),
        )
    seal = content_by_file.get(SEAL_FILE)
    if SEAL_FILE not in file_names and file_names:
        problem_by_file[SEAL_FILE] = (
            "not sealed",
            "without a seal, files that are missing or added are not detected",
        )
    elif seal is not None and seal != format_seal(hash_by_file):
        actual_hash_by_file = {
            file_name: file_hash
            for file_name, file_hash in hash_by_file.items()
            if file_name != SEAL_FILE
        }
        for problem_kind, file_name in find_hash_mismatches(parse_seal(seal), actual_hash_by_file):
            # If a body matches its name, the line in the seal is wrong.
            if problem_kind != "altered" or file_name not in hash_by_body_file:
                problem_by_file.setdefault(file_name, (problem_kind, "it does not match the seal"))
        if not problem_by_file:
            problem_by_file[SEAL_FILE] = "altered", "it does not match the files"
    suffix_by_file = {body_file_name(record.sha256): f": {record.name}" for record in records}
    problems = [
        Problem(problem_kind, file_name, message + suffix_by_file.get(file_name, ""))
        for file_name, (problem_kind, message) in problem_by_file.items()
    ]
    sealed_table_hashes = chain(
        parse_table_hashes(content_by_file.get(TABLES_FILE, b"")), repeat(TableHashes())
    )
    for record, old_table_hashes in (
        zip(records, sealed_table_hashes, strict=False)
        if hash_tables_again and not problem_by_file
        else ()
    ):
        new_table_hashes = hash_tables_again(record)  # type: ignore[misc]
        if new_table_hashes != old_table_hashes:
            differing_table_names = sorted(
                {
                    table_name
                    for table_name, _ in new_table_hashes.items() ^ old_table_hashes.items()
                }
            )
            message = (
                "this version reads other tables, and the responses are unchanged: "
                f"{record.name}: {join_some(differing_table_names)}"
            )
            problems.append(Problem("other tables", TABLES_FILE, message))
    seal_hash = None if problems or seal is None else sha256_of(seal)
    return Verification(study_files.path, seal_hash, len(file_names), len(records), tuple(problems))
