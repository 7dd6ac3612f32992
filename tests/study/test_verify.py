"""Verifying a study: any byte that is altered, missing, added or swapped is found and reported."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import zipfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from effort import effort

import aatoolkit as aa
from aatoolkit import cli, errors
from aatoolkit.study import Record

HOST = "acme.example"
SECTIONS = ("domains", "urls", "crawl", "overview", "gaps")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small sealed study of the demo."""
    path = tmp_path_factory.mktemp("studies") / "original"
    with aa.Study.create(path, title="Small") as study:
        project = study.record(aa.demo(answers=300))
        project.scope_options()
        project.read_all(sections=SECTIONS, progress=False, days=7)
    return path


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "study"))


def problems(path: Path) -> list[Any]:
    return list(aa.Study(path).verify().problems)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is not installed")
def test_the_seal_is_read_by_sha256sum(original: Path) -> None:
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=original, check=True)
    checked = subprocess.run(
        ["sha256sum", "SHA256SUMS"], cwd=original, check=True, capture_output=True, text=True
    )
    assert checked.stdout.split()[0] == aa.Study(original).digest


@pytest.mark.timeout(400)  # 10 s on an idle machine
def test_two_thousand_random_changes_are_all_found(folder: Path) -> None:
    draw = random.Random(20261121)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    files = sorted(before)
    kinds = {"flip": 0, "insert": 0, "delete": 0, "truncate": 0, "swap": 0, "add": 0, "remove": 0}
    missed = []
    for _ in range(effort(2000, 200)):
        kind = draw.choice(sorted(kinds))
        file, other = draw.sample(files, 2)
        data = before[file]
        at = draw.randrange(len(data))
        added = folder / draw.choice(
            [
                "x",
                "responses/x",
                f"responses/{draw.getrandbits(256):064x}.json",
                ".x",
                "tables.json.bak",
            ]
        )
        if kind == "flip":
            file.write_bytes(
                data[:at] + bytes([data[at] ^ (1 << draw.randrange(8))]) + data[at + 1 :]
            )
        elif kind == "insert":
            file.write_bytes(data[:at] + draw.randbytes(1) + data[at:])
        elif kind == "delete":
            file.write_bytes(data[:at] + data[at + 1 :])
        elif kind == "truncate":
            file.write_bytes(data[:at])
        elif kind == "swap":
            file.write_bytes(before[other])
            other.write_bytes(data)
        elif kind == "add":
            added.write_bytes(draw.randbytes(draw.randrange(9)))
        else:
            file.unlink()
        # Swapping equal bytes, or inserting beside the same, changes nothing.
        changed = kind == "add" or not file.is_file() or file.read_bytes() != data
        if changed and aa.Study(folder).verify():
            missed.append((kind, file.name, at))
        kinds[kind] += changed
        added.unlink(missing_ok=True)
        file.write_bytes(data)
        other.write_bytes(before[other])
    assert missed == []
    assert min(kinds.values()) > effort(200, 15)
    assert aa.Study(folder).verify()


def test_it_names_which_response(original: Path, folder: Path) -> None:
    study = aa.Study(folder)
    record = next(record for record in study.records if record.section == "urls")
    response = folder / "responses" / f"{record.sha256}.json"
    body = response.read_bytes()
    response.write_bytes(body.replace(b"1", b"2", 1))
    (problem,) = problems(folder)
    assert (problem.kind, problem.file) == ("altered", f"responses/{record.sha256}.json")
    assert problem.message.endswith("recorded: urls of acme.example, Scope(days=7)")
    with pytest.raises(errors.StudyError, match="not what was recorded; verify the study"):
        aa.Study(original).diff(study)
    assert cli.main(["study", "diff", str(folder), str(original)]) == 1
    response.unlink()
    (problem,) = problems(folder)
    assert problem.kind == "missing"
    assert problem.message.endswith("recorded: urls of acme.example, Scope(days=7)")


def test_without_a_seal_it_reports_that_and_still_finds_what_it_can(folder: Path) -> None:
    (folder / "SHA256SUMS").unlink()
    (first,) = problems(folder)
    assert first.kind == "not sealed"
    manifest = folder / "manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes().replace(b'"status":200', b'"status":201', 1))
    assert {problem.kind for problem in problems(folder)} == {"not sealed", "broken chain"}


def forge_last_line(folder: Path, **changes: Any) -> Record:
    """Write another last line, with a right chain, and leave the seal as it was."""
    manifest = folder / "manifest.jsonl"
    *lines, last = manifest.read_bytes().splitlines(keepends=True)
    record = Record.loads(last[:-1])
    forged = replace(record, **changes)
    manifest.write_bytes(b"".join(lines) + forged.dumps() + b"\n")
    return record


@pytest.mark.parametrize("forged", ["time", "response", "status", "title"])
def test_opening_compares_the_seal(folder: Path, forged: str) -> None:
    records = aa.Study(folder).records
    if forged == "time":
        forge_last_line(folder, fetched_at=records[-1].fetched_at - timedelta(days=30))
    elif forged == "response":
        other = next(record for record in records if record.sha256 != records[-1].sha256)
        forge_last_line(folder, sha256=other.sha256, size=other.size)
    elif forged == "status":
        forge_last_line(folder, status=203)
    else:
        about = (folder / "study.json").read_bytes()
        (folder / "study.json").write_bytes(about.replace(b"Small", b"Great"))
    study = aa.Study(folder)
    assert "damaged" in repr(study)
    assert "sealed" not in repr(study)
    attempts = [lambda: study._title] if forged == "title" else []
    if forged != "title":
        attempts = [lambda: study.records, lambda: study.project(HOST)]
    for attempt in [*attempts, lambda: aa.Study.resume(folder)]:
        with pytest.raises(errors.StudyError, match="does not match the seal"):
            attempt()
    assert not study.verify()


def test_a_seal_that_is_removed_while_it_is_read_is_no_forgery(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = aa.Study(folder)
    read = study._files.read

    def remove_the_seal_first(name: str) -> bytes:
        data = read(name)
        if name == "SHA256SUMS":
            (folder / name).unlink()
            forge_last_line(folder, status=203)
        return data

    monkeypatch.setattr(study._files, "read", remove_the_seal_first)
    assert study.records[-1].status == 203
    assert study.digest is None


def test_whoever_seals_anew_cannot_forge_the_digest(folder: Path) -> None:
    cited = aa.Study(folder).digest
    study = aa.Study.resume(folder)
    (folder / "study.json").write_bytes(
        (folder / "study.json").read_bytes().replace(b"Small", b"Great")
    )
    study.seal()
    assert aa.Study(folder).verify().digest != cited


def test_other_tables_are_distinguished_from_altered_bytes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aatoolkit.study import study as module

    real = module.hash_tables

    def other(dataset: Any) -> Any:
        hashes = real(dataset)
        name = "gaps.gap_counts"
        return hashes | ({name: (0, "0" * 64)} if name in hashes else {})

    monkeypatch.setattr(module, "hash_tables", other)
    assert aa.Study(folder).verify()
    (problem,) = aa.Study(folder).verify(replay=True).problems
    assert problem.kind == "other tables"
    assert problem.message.endswith(": gaps.gap_counts")


# -- opening what somebody made up -----------------------------------------------------------


def forge(folder: Path, **changes: Any) -> None:
    """Change the first line of a manifest, in a chain that holds."""
    manifest = folder / "manifest.jsonl"
    from aatoolkit._util.text import canonical_json

    line = json.loads(manifest.read_bytes().split(b"\n")[0])
    for path, value in changes.items():
        place, _, name = path.rpartition("__")
        (line[place] if place else line)[name] = value
    manifest.write_text(canonical_json(line) + "\n", "utf-8", newline="")


@pytest.mark.parametrize(
    "changes",
    [
        {"response__sha256": "../../../etc/passwd"},
        {"response__sha256": None},
        {"response__size": -1},
        {"response__status": "200"},
        {"response__fetched_at": "2026-13-01T00:00:00.000000Z"},
        {"response__headers": {"a": 1}},
        {"response__stale": 1},
        {"request__path": "/api/domains/acme.example/../../etc/agent-analytics"},
        {"request__path": "/api/domains/ACME.example/agent-analytics"},
        {"request__origin": "file:///etc"},
        {"request__origin": "https://user@api.example"},
        {"request__params": [["days", "8"]]},
        {"request__params": [["section", "x"], ["section", "x"]]},
        {"request__params": [["evil", "x"]]},
        {"request__method": "POST"},
        {"error": {"kind": "SystemExit", "message": "", "facts": {}}},
        {"error": {"kind": "NotVisible", "message": "", "facts": {"evil": 1}}},
        {"error": {"kind": "__builtins__", "message": "", "facts": {}}},
        {"versions": {"a": []}},
        {"previous": "0" * 64},
        {"more": 1},
    ],
    ids=str,
)
def test_a_line_that_was_made_up_is_refused(folder: Path, changes: dict[str, Any]) -> None:
    forge(folder, **changes)
    study = aa.Study(folder)
    for attempt in (lambda: study.records, lambda: study.project(HOST), lambda: study._hosts):
        with pytest.raises(errors.StudyError):
            attempt()
    assert not study.verify()


def test_links_and_pipes_are_not_followed(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    response = sorted((folder / "responses").iterdir())[0]
    secret.write_bytes(response.read_bytes())
    study = aa.Study(folder)
    record = next(record for record in study.records if record.sha256 in response.name)
    for make in (lambda path: path.symlink_to(secret), os.mkfifo, Path.mkdir):
        response.unlink()
        make(response)
        with pytest.raises(errors.StudyError, match="not a regular file"):
            study._read_body(record)
        assert not study.verify()


def test_a_folder_behind_a_link_is_not_entered(folder: Path, tmp_path: Path) -> None:
    (folder / "responses").rename(tmp_path / "elsewhere")
    (folder / "responses").symlink_to(tmp_path / "elsewhere")
    study = aa.Study(folder)
    with pytest.raises(errors.StudyError, match="behind a link"):
        study._read_body(study.records[0])
    assert not study.verify()
    (folder / "manifest.jsonl").unlink()
    (folder / "manifest.jsonl").symlink_to("/etc/hosts")
    with pytest.raises(errors.StudyError, match="not a regular file"):
        _ = aa.Study(folder).records


# -- bundles ---------------------------------------------------------------------------------


def test_a_bundle_is_the_study_in_one_file(original: Path, folder: Path, tmp_path: Path) -> None:
    bundle = aa.Study(original).pack(tmp_path / "one.zip")
    for path in folder.rglob("*"):
        os.utime(path, (1, 1))
    assert aa.Study(folder).pack(tmp_path / "other.zip").read_bytes() == bundle.read_bytes()
    study = aa.Study(bundle)
    assert study.verify(replay=True)
    assert study.digest == aa.Study(original).digest
    assert study.pack(tmp_path / "again.zip").read_bytes() == bundle.read_bytes()
    frame = study.project(HOST).read("domains", days=7).main
    assert frame.equals(aa.Study(original).project(HOST).read("domains", days=7).main)
    with pytest.raises(errors.StudyError, match="packed"):
        aa.Study.resume(bundle)
    before = sorted(tmp_path.rglob("*"))
    study.verify()
    assert sorted(tmp_path.rglob("*")) == before


def packed_with(original: Path, path: Path, name: str, content: bytes) -> Path:
    """The files of a study and another one in a zip file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for member in filter(Path.is_file, original.rglob("*")):
            file.write(member, member.relative_to(original))
        file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return path


HOSTILE = ["../evil", "/etc/evil", "..\\evil", "C:\\evil", "responses/../../evil", "responses/",
           "study.json\n", "<b>\x1b[31m"]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_bundle_with_a_hostile_entry_is_refused(
    original: Path, tmp_path: Path, name: str
) -> None:
    with pytest.raises(errors.StudyError, match="does not belong to a study") as caught:
        aa.Study(packed_with(original, tmp_path / "evil.zip", name, b"x"))
    assert "\x1b" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["evil.zip"]


def test_a_bomb_is_not_unpacked(original: Path, tmp_path: Path) -> None:
    name = f"responses/{'0' * 64}.json"
    with pytest.raises(errors.StudyError, match="too large when unpacked"):
        aa.Study(packed_with(original, tmp_path / "bomb.zip", name, bytes(1 << 25)))


def test_a_member_that_lies_about_its_size_is_not_read(original: Path, tmp_path: Path) -> None:
    packed = aa.Study(original).pack(tmp_path / "study.zip")
    content = bytearray(packed.read_bytes())
    name = b"manifest.jsonl"
    content[content.rindex(name) - 22 : content.rindex(name) - 18] = (10).to_bytes(4, "little")
    packed.write_bytes(content)
    with pytest.raises(errors.StudyError, match=r"manifest\.jsonl cannot be read"):
        _ = aa.Study(packed).records
