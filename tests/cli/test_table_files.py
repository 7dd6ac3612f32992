"""Tables as the command line prints and writes them: CSV, JSON and files of each suffix."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from aatoolkit.cli import main

ROWS = ["read", "acme.example", "chats", "--no-cache"]


@pytest.mark.usefixtures("at_service")
@pytest.mark.parametrize(
    ("form", "encoding"), [("csv", "cp1252"), ("json", "ascii"), (None, "ascii")]
)
def test_data_is_the_same_in_a_pipe_as_in_a_file_whatever_the_encoding(
    form: str | None, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe, encoding))
    monkeypatch.setattr("sys.stderr", io.TextIOWrapper(io.BytesIO(), encoding))
    assert main([*ROWS, "--engine", "gemini", *([f"--{form}"] if form else [])]) == 0
    if form:
        assert main([*ROWS, "--engine", "gemini", "-o", f"rows.{form}"]) == 0
        assert pipe.getvalue() == Path(f"rows.{form}").read_bytes()
        assert not pipe.getvalue().isascii()
    else:
        assert b"\\u30c7" in pipe.getvalue(), "letters that it lacks are escaped"
