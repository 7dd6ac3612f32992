"""Tables as the command line prints and writes them: CSV, JSON and files of each suffix."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from serving import TOKEN, shared_client

from aatoolkit.cli import main
from aatoolkit.cli.output import records


def test_every_digit_and_fraction_of_a_second_is_printed() -> None:
    moments = ["2026-11-20T12:00:00.123456Z", None]
    frame = pd.DataFrame(
        {
            "tiny": pd.array([1e-12, None], "Float64"),
            "share": pd.array([0.1234567890123456, 0.0], "Float64"),
            "large": pd.array([2**60, None], "Int64"),
            "yes": pd.array([True, None], "boolean"),
            "at": pd.to_datetime(moments, format="ISO8601"),
            "day": pd.to_datetime(["2026-11-20", None]),
            "words": [("a", "b"), None],
        }
    )
    first, second = json.loads(json.dumps(records(frame)))
    assert first == {
        "tiny": 1e-12,
        "share": 0.1234567890123456,
        "large": 2**60,
        "yes": True,
        "at": "2026-11-20T12:00:00.123456Z",
        "day": "2026-11-20",
        "words": ["a", "b"],
    }
    assert second == {**dict.fromkeys(first), "share": 0.0}


ROWS = ["read", "acme.example", "chats", "--no-cache"]


@pytest.fixture
def at_service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    client = shared_client()
    monkeypatch.setenv("AATOOLKIT_BASE_URL", client.base_url)
    monkeypatch.setenv("AATOOLKIT_TOKEN", TOKEN)
    monkeypatch.chdir(tmp_path)


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
