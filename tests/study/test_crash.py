"""Recording that ends badly: what was reported as kept is kept, and the study goes on."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from effort import one_in

import aatoolkit as aa
from aatoolkit import errors
from aatoolkit.payload import Request
from aatoolkit.study import Record

URLS = Request.for_section("acme.example", "urls", aa.Scope()).with_base_url("https://api.example")
PLAIN = Record(URLS, 200, "", 0, {}, datetime(2026, 11, 20, tzinfo=UTC), versions={})


def asking(**params: str) -> Request:
    return replace(URLS, params={**URLS.params, **params})


def numbered(number: int) -> tuple[Record, bytes]:
    """The record of a response of its own, and the response."""
    body = b'{"urls": [' + b"0, " * 2000 + str(number).encode() + b"]}"
    request = asking(topic=f"topic {number}")
    return replace(PLAIN, request=request, sha256=sha256(body).hexdigest(), size=len(body)), body


def full(handle: int, data: bytes = b"") -> int:
    if data:
        _write(handle, data[: len(data) // 2])
    raise OSError(errno.ENOSPC, "No space left on device")


_write: Callable[[int, bytes], int] = os.write


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_full_disk_keeps_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    study = aa.Study.create(tmp_path / "study")
    writer = study._writer
    assert writer is not None
    first, body = numbered(1)
    writer.append(first, body)
    # The same response to another question: the manifest alone is written to.
    second = replace(first, request=asking(topic="topic 2"))
    before = (study.path / "manifest.jsonl").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(f"aatoolkit.study.files.os.{call}", full)
        with pytest.raises(errors.NotWritten) as caught:
            writer.append(second, body)
    assert caught.value.errno == errno.ENOSPC
    assert (study.path / "manifest.jsonl").read_bytes() == before
    writer.append(second, body)
    assert len(study.records) == 2


CALLS = (
    *("open", "close", "write", "lseek", "fstat", "stat", "lstat", "fsync", "ftruncate"),
    *("scandir", "unlink", "replace", "mkdir"),
)


@pytest.mark.parametrize(
    ("call", "act"), one_in(3, [*product((*CALLS, "flock", "io.open"), ("record", "seal"))])
)
def test_whichever_call_fails_is_a_typed_error_and_the_study_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, act: str
) -> None:
    fcntl = pytest.importorskip("fcntl", reason="Windows has no flock to fail")
    home = {"flock": fcntl, "io.open": io}.get(call, os)
    name = call.rpartition(".")[2]
    real, study, kept = getattr(home, name), aa.Study.create(tmp_path / "study"), 1
    assert study._writer is not None
    study._writer.append(*numbered(0))
    for nth in range(1, 200):
        seen = 0
        (study.path / ".tmp-0123456789abcdef").touch()  # something to remove for who seals
        (study.path / "responses" / f"{'0' * 64}.json").write_bytes(b"of no record")
        study.seal() if act == "record" else None
        nobody = replace(PLAIN, sha256=sha256(b"").hexdigest(), request=asking(section="crawl"))

        def failing(*args: Any, nth: int = nth, **options: Any) -> Any:
            nonlocal seen
            seen += 1
            if seen == nth:
                raise OSError(errno.EIO, "Input/output error")
            return real(*args, **options)

        with monkeypatch.context() as patched:
            patched.setattr(home, name, failing)
            try:
                if act == "record":
                    study._writer.append(*numbered(nth))
                else:
                    study._writer.append(nobody, b"")
                    study.seal()
            except (errors.NotWritten, errors.StudyError):
                pass
            else:
                kept += 1
        # Whatever happened, the study is not damaged, and recording goes on.
        assert len(study.records) >= (kept if act == "record" else 1)
        if seen < nth:
            assert study.seal() == study.verify().digest
            return
    pytest.fail("it never came to an end")
