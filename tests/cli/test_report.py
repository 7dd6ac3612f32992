"""What the command line prints as JSON."""

from __future__ import annotations

import json

import pandas as pd

from aatoolkit.cli.report import _records  # what `read --json` prints has no other public name


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
    first, second = json.loads(json.dumps(_records(frame)))
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
