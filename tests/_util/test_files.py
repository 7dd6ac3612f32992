"""Files and folders: whole or not there, whoever is killed, fails, or writes beside."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from effort import effort, examples
from processes import python

from aatoolkit._util import files
from aatoolkit.errors import NotWritten

KINDS = (
    "file",
    pytest.param("folder", marks=pytest.mark.thorough),
    pytest.param("parquet", marks=pytest.mark.thorough),
)
NUMBERS = {"publication": effort(12, 4)}
"""How often what takes longer is killed; the others are killed more often."""

posix = pytest.mark.skipif(
    os.name != "posix", reason="only POSIX systems fork a process to be killed"
)
each_kind = pytest.mark.parametrize("kind", KINDS)


def crashing(scenario: str, kind: str, place: Path, *numbers: int) -> dict[str, Any]:
    """What happened to writers in another process."""
    done = python("tests/helpers/crashing.py", scenario, kind, place, *numbers)
    if "cannot trace" in done.stderr:
        pytest.skip("strace may not attach to a process on this machine")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert report.pop("problems") == []
    return report


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


# --- killed, failed, full, crowded ----------------------------------------------------------


@pytest.mark.thorough
@posix
@pytest.mark.parametrize("kind", [*KINDS, "publication"])
def test_a_kill_at_any_moment_leaves_a_whole_version_and_nothing_that_was_saved_is_lost(
    kind: str, tmp_path: Path
) -> None:
    kills = NUMBERS.get(kind, examples(100, 16))
    report = crashing("kill", kind, tmp_path / "place", kills)
    assert report["kills"] == kills
    assert report["acknowledged"] > kills / 5
    # Kills that came in the midst of a write left something, and all of it was swept.
    assert report["swept"] == report["unfinished"]
    assert report["unfinished"] >= effort(2, 0)
    assert report["left"] == 0


@pytest.mark.thorough
@posix
@pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace, which makes system calls fail, is not installed"
)
@each_kind
def test_a_fault_at_every_system_call_leaves_the_old_version_or_the_new(
    kind: str, tmp_path: Path
) -> None:
    report = crashing("faults", kind, tmp_path / "place")
    assert report["runs"] == 3 * report["calls"] > 90
    assert report["killed"] == report["calls"]
    assert report["refused"] > 40
    assert report["left"] == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk to fill needs the right to mount one")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@each_kind
def test_a_full_disk_leaves_the_old_version(kind: str, small_disk: Path) -> None:
    report = crashing("full_disk", kind, small_disk)
    assert report["refused"] > 10
    assert report["written"] > 10
    assert report["left"] == 0


@posix
@each_kind
def test_of_processes_that_write_together_the_last_one_wins_whole(
    kind: str, tmp_path: Path
) -> None:
    report = crashing("together", kind, tmp_path / "place", 4, 20)
    assert report["writes"] == 80
    assert report["reads"] > 5
    assert report["left"] == 0


@posix
def test_all_is_made_durable_before_it_takes_its_place_and_the_place_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        sync(handle)

    def replaced(*paths: Any) -> None:
        done.append("replace")
        replace(*paths)

    monkeypatch.setattr("os.fsync", synced)
    monkeypatch.setattr("os.replace", replaced)
    files.write_bytes(tmp_path / "a", b"a")
    assert done == ["file", "replace", "folder"]
    done.clear()
    files.write_bytes(tmp_path / "new" / "er" / "a", b"a")
    assert done == ["folder", "folder", "file", "replace", "folder"]
    done.clear()
    with files.write_folder_atomically(tmp_path / "folder") as temporary:
        (temporary / "b").mkdir()
        (temporary / "b" / "c").touch()
        (temporary / "d").touch()
    assert sorted(done[:4]) == ["file", "file", "folder", "folder"]
    assert done[4:] == ["replace", "folder"]


# --- what is left behind --------------------------------------------------------------------


def test_what_is_being_written_is_found_by_no_pattern_and_not_swept(tmp_path: Path) -> None:
    with (
        files.write_atomically(tmp_path / "a.parquet") as first,
        files.write_folder_atomically(tmp_path / "b") as second,
    ):
        first.write_bytes(b"half")
        assert [*tmp_path.glob("*.parquet")] == []
        assert files.remove_abandoned_files(tmp_path) == []
        assert {path.name for path in tmp_path.iterdir()} == {first.name, second.name}
    assert names(tmp_path) == ["a.parquet", "b"]


def test_only_what_is_ours_is_swept(tmp_path: Path) -> None:
    ours = tmp_path / ".tmp-0123456789abcdef"
    theirs = [tmp_path / name for name in (".tmp-0123", ".tmp-0123456789abcdef.x", ".old-mine")]
    for path in (ours, *theirs):
        path.touch()
        os.utime(path, (0, 0))
    assert files.remove_abandoned_files(tmp_path) == [ours]
    assert {*tmp_path.iterdir()} == {*theirs}


@posix
def test_a_folder_that_was_moved_aside_by_a_writer_that_died_is_moved_back(tmp_path: Path) -> None:
    for name in ("lost", "replaced"):
        (tmp_path / f".old-0123456789abcdef-{name}").mkdir()
        (tmp_path / f".old-0123456789abcdef-{name}" / "a").write_text("old")
    (tmp_path / "replaced").mkdir()
    files.remove_abandoned_files(tmp_path)
    assert names(tmp_path) == ["lost", "lost/a", "replaced"]


# --- what takes a place, and what is refused ------------------------------------------------


@posix
def test_permissions_are_those_of_the_file_before_or_of_any_new_file(tmp_path: Path) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    plain = tmp_path / "plain"
    plain.touch()
    path = files.write_bytes(tmp_path / "a", b"a")
    assert mode(path) == mode(plain)
    path.chmod(0o640)
    assert mode(files.write_bytes(path, b"b")) == 0o640


@pytest.mark.parametrize("full", [True, False])
def test_a_folder_with_something_in_it_is_replaced_on_request_only(
    full: bool, tmp_path: Path
) -> None:
    path = tmp_path / "a"
    path.mkdir()
    if full:
        (path / "old").touch()
        with (
            pytest.raises(NotWritten, match="is not empty") as refused,
            files.write_folder_atomically(path),
        ):
            pytest.fail("it must be said before any work")
        assert (refused.value.path, refused.value.errno) == (str(path), errno.EEXIST)
    with files.write_folder_atomically(path, overwrite=full) as temporary:
        (temporary / "new").touch()
    assert names(tmp_path) == ["a", "a/new"]


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
@pytest.mark.parametrize("write", [files.write_atomically, files.write_folder_atomically])
def test_what_names_no_place_is_refused(write: Any, name: str) -> None:
    with pytest.raises(NotWritten, match="was not written"), write(name):
        pytest.fail("it must be said before any work")
