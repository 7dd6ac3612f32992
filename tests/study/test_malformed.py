"""Whatever the files of a study hold, every call works or raises an error of the package."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from effort import one_in

import aatoolkit as aa
from aatoolkit.errors import AAToolkitError, StudyError

FILES = ("study.json", "manifest.jsonl", "tables.json", "results.json", "profiles.json")
CONTENTS = {
    "nothing": b"",
    "no text": b"\0\xff\xfe",
    "a number": b"1.7e308",
    "lists 5,000 deep": b"[" * 5000 + b"]" * 5000,
    "objects 5,000 deep": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "a key twice": b'{"format":"aatoolkit-study","format":"aatoolkit-study","version":1}',
    "other kinds": b'{"format":"aatoolkit-study","version":1,"creators":7,"title":[],"records":1e9,'
    b'"results":[{"name":"r","hash":"0","rows":1.7e308}],"profiles":{"a":1.7e308}}',
}
ACTS: dict[str, Callable[[aa.Study, Path], Any]] = {
    "about": lambda study, _: study.about,
    "records": lambda study, _: study.records,
    "results": lambda study, _: study.results["r"],
    "replay": lambda study, _: study.project("acme.example").read("domains", days=7),
    "verify": lambda study, _: str(study.verify(replay=True)),
    "diff": lambda study, _: study.diff(study),
    "explain": lambda study, _: study.explain("source_domains", 0, "citation_count"),
    "pack": lambda study, place: study.pack(place / "study.zip"),
    "publish": lambda study, place: study.publish(place / "out"),
    "resume": lambda study, _: aa.Study.resume(study.path).seal(),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with aa.Study.create(tmp_path_factory.mktemp("sound") / "mine") as study:
        study.results["r"] = study.record(aa.demo()).read("domains", days=7).main.head(3)
    return study.path


@pytest.mark.parametrize("is_sealed", [True, False])
@pytest.mark.parametrize("how", [*CONTENTS, "missing", "a folder", "a pipe", "cut"])
@pytest.mark.parametrize("name", one_in(3, [*FILES]))
def test_a_file_of_any_kind_is_a_typed_error(
    sound: Path, tmp_path: Path, name: str, how: str, is_sealed: bool
) -> None:
    folder = Path(shutil.copytree(sound, tmp_path / "study"))
    file = folder / name
    content = file.read_bytes() if file.is_file() else b"{}"
    file.unlink(missing_ok=True)
    if how == "a folder":
        file.mkdir()
    elif how == "a pipe":
        os.mkfifo(file)
    elif how != "missing":
        file.write_bytes(CONTENTS.get(how, content[:-20]))
    if not is_sealed:
        (folder / "SHA256SUMS").unlink()
    for act in ACTS.values():
        with contextlib.suppress(AAToolkitError):
            act(aa.Study(folder), tmp_path)
    assert repr(aa.Study(folder)).startswith("<Study")


def test_what_is_too_large_is_not_read(sound: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(sound, tmp_path / "study"))
    with (folder / "manifest.jsonl").open("r+b") as manifest:
        manifest.truncate(1 << 40)
    with pytest.raises(StudyError, match="too large"):
        _ = aa.Study(folder).records
    assert not aa.Study(folder).verify()
