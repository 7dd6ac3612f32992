"""Files and folders: whole or not there, whoever is killed, fails, or writes beside."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from effort import effort, examples

from aatoolkit._util.files import sweep, write_whole, writing, writing_folder
from aatoolkit.errors import NotWritten

ROOT = Path(__file__).parents[2]
KINDS = (
    "file",
    pytest.param("folder", marks=pytest.mark.thorough),
    pytest.param("parquet", marks=pytest.mark.thorough),
)
NUMBERS = {"publication": effort(12, 4)}
"""How often what takes longer is killed; the others are killed more often."""

posix = pytest.mark.skipif(os.name != "posix", reason="processes cannot be forked")
each_kind = pytest.mark.parametrize("kind", KINDS)


def crashing(scenario: str, kind: str, place: Path, *numbers: int) -> dict[str, Any]:
    """What happened to writers in another process."""
    command = [
        sys.executable,
        str(ROOT / "tests" / "helpers" / "crashing.py"),
        scenario,
        kind,
        str(place),
    ]
    done = subprocess.run(
        [*command, *map(str, numbers)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    if "cannot trace" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found.pop("problems") == []
    return found


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
    found = crashing("kill", kind, tmp_path / "place", kills)
    assert found["kills"] == kills
    assert found["acknowledged"] > kills / 5
    # Kills that came in the midst of a write left something, and all of it was swept.
    assert found["swept"] == found["unfinished"]
    assert found["unfinished"] >= effort(2, 0)
    assert found["left"] == 0


@pytest.mark.thorough
@posix
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@each_kind
def test_a_fault_at_every_system_call_leaves_the_old_version_or_the_new(
    kind: str, tmp_path: Path
) -> None:
    found = crashing("faults", kind, tmp_path / "place")
    assert found["runs"] == 3 * found["calls"] > 90
    assert found["killed"] == found["calls"]
    assert found["refused"] > 40
    assert found["left"] == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@each_kind
def test_a_full_disk_leaves_the_old_version(kind: str, small_disk: Path) -> None:
    found = crashing("full_disk", kind, small_disk)
    assert found["refused"] > 10
    assert found["written"] > 10
    assert found["left"] == 0


@posix
@each_kind
def test_a_file_that_may_not_grow_leaves_the_old_version(kind: str, tmp_path: Path) -> None:
    found = crashing("small_files", kind, tmp_path / "place")
    assert found["refused"] > 2
    assert found["written"] > 0
    assert found["left"] == 0


@posix
@each_kind
def test_of_processes_that_write_together_the_last_one_wins_whole(
    kind: str, tmp_path: Path
) -> None:
    found = crashing("together", kind, tmp_path / "place", 4, 20)
    assert found["writes"] == 80
    assert found["reads"] > 5
    assert found["left"] == 0


CALLS = ("mkdir", "open", "close", "fsync", "replace", "stat", "scandir", "access", "chmod")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_whichever_call_of_python_fails_the_old_version_or_the_new_is_there(
    call: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What strace does where it can be run, by the functions of ``os`` everywhere."""
    real, path = getattr(os, call), tmp_path / "deep" / "a"

    def write(content: str) -> None:
        if kind == "file":
            write_whole(path, content.encode())
        else:
            with writing_folder(path, overwrite=True) as temporary:
                (temporary / "b").write_text(content)

    for nth in range(1, 40):
        shutil.rmtree(tmp_path / "deep", ignore_errors=True)
        if nth % 2:
            write("old")
        seen = 0

        def failing(*args: Any, nth: int = nth, **options: Any) -> Any:
            nonlocal seen
            seen += 1
            if seen == nth:
                raise OSError(errno.EIO, "Input/output error")
            return real(*args, **options)

        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing)
            try:
                write("new")
                expected = "new"
            except NotWritten as error:
                expected, in_place, words = "old", error.in_place, str(error)
        found = path / "b" if kind == "folder" else path
        now = found.read_text() if found.exists() else None
        assert now in ("new", "old" if nth % 2 else None)
        assert now == "new" or expected == "old"
        assert expected == "new" or in_place == (now == "new") == ("in place" in words)
        # What may not be durable was not saved.
        assert expected == "old" or seen < nth or call != "fsync"
        if seen < nth:
            return
    pytest.fail("it never came to an end")


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
    write_whole(tmp_path / "a", b"a")
    assert done == ["file", "replace", "folder"]
    done.clear()
    write_whole(tmp_path / "new" / "er" / "a", b"a")
    assert done == ["folder", "folder", "file", "replace", "folder"]
    done.clear()
    with writing_folder(tmp_path / "folder") as temporary:
        (temporary / "b").mkdir()
        (temporary / "b" / "c").touch()
        (temporary / "d").touch()
    assert sorted(done[:4]) == ["file", "file", "folder", "folder"]
    assert done[4:] == ["replace", "folder"]


# --- what is left behind --------------------------------------------------------------------


def test_what_is_being_written_is_found_by_no_pattern_and_not_swept(tmp_path: Path) -> None:
    with writing(tmp_path / "a.parquet") as first, writing_folder(tmp_path / "b") as second:
        first.write_bytes(b"half")
        assert [*tmp_path.glob("*.parquet")] == []
        assert sweep(tmp_path) == []
        assert {path.name for path in tmp_path.iterdir()} == {first.name, second.name}
    assert names(tmp_path) == ["a.parquet", "b"]


@posix
def test_a_writer_of_another_process_is_not_swept_until_it_is_dead(tmp_path: Path) -> None:
    code = (
        "import sys; from aatoolkit._util.files import writing\n"
        "with writing(sys.argv[1]): print('at work', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "a")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"at work\n"
        assert sweep(tmp_path) == []
        writer.kill()
        writer.wait(timeout=20)
    assert len(sweep(tmp_path)) == 1
    assert names(tmp_path) == []


def test_only_what_is_ours_is_swept(tmp_path: Path) -> None:
    ours = tmp_path / ".tmp-0123456789abcdef"
    theirs = [tmp_path / name for name in (".tmp-0123", ".tmp-0123456789abcdef.x", ".old-mine")]
    for path in (ours, *theirs):
        path.touch()
        os.utime(path, (0, 0))
    assert sweep(tmp_path) == [ours]
    assert {*tmp_path.iterdir()} == {*theirs}


@posix
def test_a_folder_that_was_moved_aside_by_a_writer_that_died_is_moved_back(tmp_path: Path) -> None:
    for name in ("lost", "replaced"):
        (tmp_path / f".old-0123456789abcdef-{name}").mkdir()
        (tmp_path / f".old-0123456789abcdef-{name}" / "a").write_text("old")
    (tmp_path / "replaced").mkdir()
    sweep(tmp_path)
    assert names(tmp_path) == ["lost", "lost/a", "replaced"]


# --- what takes a place, and what is refused ------------------------------------------------


@posix
def test_permissions_are_those_of_the_file_before_or_of_any_new_file(tmp_path: Path) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    plain = tmp_path / "plain"
    plain.touch()
    path = write_whole(tmp_path / "a", b"a")
    assert mode(path) == mode(plain)
    path.chmod(0o640)
    assert mode(write_whole(path, b"b")) == 0o640
    secret = write_whole(tmp_path / "new" / "secret", b"c", private=True)
    assert (mode(secret), mode(secret.parent)) == (0o600, 0o700)
    assert mode(write_whole(path, b"d", private=True)) == 0o600
    with writing_folder(tmp_path / "b", private=True) as temporary:
        assert mode(temporary) == 0o700
    assert mode(tmp_path / "b") == 0o700


@posix
@pytest.mark.parametrize("what", ["folder", "device", "pipe"])
def test_only_a_file_is_replaced_by_a_file(what: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    {"folder": Path.mkdir, "device": _null, "pipe": os.mkfifo}[what](path)
    with pytest.raises(NotWritten, match="no regular file"):
        write_whole(path, b"a")
    assert not path.is_file()
    assert names(tmp_path) == ["a"]


def _null(path: Path) -> None:
    path.symlink_to(os.devnull)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may write to anything"
)
def test_a_write_protected_file_stays(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "a", b"raw data")
    path.chmod(0o444)
    with pytest.raises(NotWritten, match="write-protected"):
        write_whole(path, b"a")
    assert path.read_bytes() == b"raw data"


@pytest.mark.parametrize("full", [True, False])
def test_a_folder_with_something_in_it_is_replaced_on_request_only(
    full: bool, tmp_path: Path
) -> None:
    path = tmp_path / "a"
    path.mkdir()
    if full:
        (path / "old").touch()
        with pytest.raises(NotWritten, match="is not empty") as refused, writing_folder(path):
            pytest.fail("it must be said before any work")
        assert (refused.value.path, refused.value.errno) == (str(path), errno.EEXIST)
    with writing_folder(path, overwrite=full) as temporary:
        (temporary / "new").touch()
    assert names(tmp_path) == ["a", "a/new"]


def test_a_file_is_not_replaced_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(NotWritten), writing_folder(tmp_path / "a", overwrite=True):
        pytest.fail("it must be said before any work")
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_an_error_of_the_writer_passes_and_leaves_nothing(
    kind: type[BaseException], tmp_path: Path
) -> None:
    def half(write: Any) -> None:
        with write(tmp_path / "a") as temporary:
            (temporary / "b" if temporary.is_dir() else temporary).write_text("half")
            raise kind

    for write in (writing, writing_folder):
        with pytest.raises(kind):
            half(write)
    assert names(tmp_path) == []
