"""Files of every released version are read for ever; newer and damaged ones are refused."""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

import aatoolkit as aa
from aatoolkit import Availability, Cause, Status
from aatoolkit.errors import MetadataError
from aatoolkit.frame.parquet import write_parquet
from aatoolkit.metadata.attrs import (
    ATTRIBUTE,
    ColumnMetadata,
    FrameMetadata,
    Source,
    attach,
    metadata_of,
)

FILES = Path(__file__).parent / "parquet_files"
VERSIONS = sorted(path.stem for path in FILES.glob("*.parquet"))
KEY, PANDAS = ATTRIBUTE.encode(), b"PANDAS_ATTRS"

KNOWN = FrameMetadata(
    {
        "brand": ColumnMetadata("ranking.brand", Availability(Status.AVAILABLE)),
        "engine": ColumnMetadata("ranking.engine", Availability(Status.AVAILABLE)),
        "count": ColumnMetadata(
            "ranking.mention_count", Availability(Status.PARTIAL, Cause.TRUNCATED, "2 of 800.")
        ),
        "revenue": ColumnMetadata(
            None, Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED, "No analytics source.")
        ),
        "searches": ColumnMetadata(
            None, Availability(Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED, "Not of this engine.")
        ),
    },
    ("brand", "engine"),
    (
        Source("acme.example", "ranking", "days=30", "https://api.example/r", sha256="ab" * 32),
        Source("acme.example", "domains", "days=30", stale=True),
    ),
)


def frame() -> pd.DataFrame:
    """What every file of `tests/parquet` holds; it is synthetic."""
    made = pd.DataFrame(
        {
            "brand": pd.array(["Acme", "Acme", "Café"], "string"),
            "engine": pd.Categorical(["chatgpt", "gemini", "chatgpt"], ["chatgpt", "gemini"]),
            "count": pd.array([3, 0, None], "Int64"),
            "revenue": pd.array([None] * 3, "Float64"),
            "searches": pd.array([None] * 3, "Int64"),
            "day": pd.to_datetime(["2026-11-01", "2026-11-02", None]).as_unit("us"),
            "at": pd.to_datetime(["2026-11-01T10:00:00Z"] * 3).as_unit("us"),
            "tags": pd.Series([("x", "y"), (), pd.NA], dtype=object),
        }
    )
    return attach(made, KNOWN)


def test_this_version_has_its_file() -> None:
    if os.environ.get("AATOOLKIT_UPDATE_GOLDEN") and aa.__version__ not in VERSIONS:
        write_parquet(frame(), FILES / f"{aa.__version__}.parquet")
    assert {"0.1.0", aa.__version__} <= {path.stem for path in FILES.glob("*.parquet")}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_of_a_released_version_is_read_whole(version: str) -> None:
    path = FILES / f"{version}.parquet"
    again = aa.read_parquet(path)
    pd.testing.assert_frame_equal(again, frame(), check_flags=False)
    for known in (metadata_of(again), metadata_of(pd.read_parquet(path)), aa.read_metadata(path)):
        assert known == metadata_of(frame())
    summed = again.groupby("brand", as_index=False)[["count"]].sum()
    assert summed.aa.availability.loc["count", "status"] == "unknown"


# --- what else may stand in a file ----------------------------------------------------------


def rewritten(folder: Path, change: Callable[[dict[bytes, bytes]], object]) -> Path:
    """A file of the frame after a change of its keys."""
    path = write_parquet(frame(), folder / "changed.parquet")
    table = pq.read_table(path)
    keys = dict(table.schema.metadata)
    change(keys)
    pq.write_table(table.replace_schema_metadata(keys), path)
    return path


def first_layout(folder: Path, change: Callable[[dict[bytes, bytes]], object]) -> Path:
    """A file of version 0.1.0 as it was first written, after a change of its keys."""
    path = folder / "first.parquet"
    table = pq.read_table(FILES / "0.1.0.parquet")
    keys = dict(table.schema.metadata)
    change(keys)
    pq.write_table(table.replace_schema_metadata(keys), path)
    return path


def body(keys: dict[bytes, bytes], **changes: Any) -> None:
    keys[KEY] = json.dumps({**json.loads(keys[KEY]), **changes}).encode()


def test_what_pandas_finds_counts_and_without_it_nothing_is_known(tmp_path: Path) -> None:
    def drop(keys: dict[bytes, bytes]) -> None:
        del keys[KEY]

    def bare(keys: dict[bytes, bytes]) -> None:
        del keys[PANDAS]
        keys.pop(b"aatoolkit.sha256", None)
        keys[KEY] = keys[KEY].replace(b'"2.1"', b'"2.0"')

    path = rewritten(tmp_path, drop)
    assert metadata_of(aa.read_parquet(path)) == metadata_of(frame())
    path = rewritten(tmp_path, bare)
    assert aa.read_metadata(path) == FrameMetadata(dict.fromkeys(frame().columns, ColumnMetadata()))
    assert {*aa.read_parquet(path).aa.availability["status"]} == {"unknown"}


def test_in_files_of_the_first_layout_our_own_key_counts_first(tmp_path: Path) -> None:
    def spoil(keys: dict[bytes, bytes]) -> None:
        keys[PANDAS] = b"{"

    def drop(keys: dict[bytes, bytes]) -> None:
        del keys[KEY]

    def bare(keys: dict[bytes, bytes]) -> None:
        del keys[KEY], keys[PANDAS]

    for change in (spoil, drop):
        path = first_layout(tmp_path, change)
        assert metadata_of(aa.read_parquet(path)) == metadata_of(frame())
        assert aa.read_metadata(path) == metadata_of(frame())
    path = first_layout(tmp_path, bare)
    assert aa.read_metadata(path) == FrameMetadata(dict.fromkeys(frame().columns, ColumnMetadata()))
    assert aa.read_parquet(path).attrs == {}


def test_what_this_version_does_not_know_is_ignored(tmp_path: Path) -> None:
    def later(keys: dict[bytes, bytes]) -> None:
        columns = json.loads(keys[KEY])["columns"]
        columns["count"] |= {"precision": 3}
        columns["gone"] = {"status": "available"}
        body(keys, version="1.9", licence="CC0", columns=columns)

    path = first_layout(tmp_path, later)
    assert aa.read_metadata(path) == metadata_of(frame())
    assert metadata_of(aa.read_parquet(path)) == metadata_of(frame())


def test_a_file_without_a_fingerprint_is_read(tmp_path: Path) -> None:
    def before(keys: dict[bytes, bytes]) -> None:
        old = json.loads(keys[KEY])
        old.pop("fingerprint", None)
        old.pop("creator", None)
        keys[KEY] = json.dumps(old).encode()

    assert metadata_of(aa.read_parquet(first_layout(tmp_path, before))) == metadata_of(frame())


@pytest.mark.parametrize("read", [aa.read_parquet, aa.read_metadata])
@pytest.mark.parametrize("place", [KEY, PANDAS])
def test_a_newer_major_version_is_refused_with_advice(
    read: Callable[[Path], Any], place: bytes, tmp_path: Path
) -> None:
    def newer(keys: dict[bytes, bytes]) -> None:
        body(keys, version="3.0", columns="of another kind")
        if place == PANDAS:
            keys[PANDAS] = json.dumps({ATTRIBUTE: keys.pop(KEY).decode()}).encode()

    advice = r"has version 3\.0, newer than \d\.0; update aatoolkit.*pandas\.read_parquet"
    for path in (rewritten(tmp_path, newer), first_layout(tmp_path, newer)):
        with pytest.raises(MetadataError, match=advice) as refused:
            read(path)
        assert refused.value.version == "3.0"
    assert len(pd.read_parquet(path)) == 3


DAMAGED: dict[str, dict[str, Any]] = {
    "no version": {"version": None},
    "a strange status": {"columns": {"count": {"status": "measured"}}},
    "no status": {"columns": {"count": {}}},
    "columns in a list": {"columns": []},
    "no columns": {"columns": None},
    "no key": {"key": None},
    "a strange source": {"sources": ["x"]},
    "fingerprint in a list": {"fingerprint": []},
    "strange hashes": {
        "fingerprint": {
            "rows": 1,
            "index": [None],
            "span": None,
            "labels": "xyz",
            "keys": "",
            "cells": {},
        }
    },
    "no span": {"fingerprint": {"rows": 1, "index": [None], "labels": "", "keys": "", "cells": {}}},
    "a strange span": {
        "fingerprint": {
            "rows": 1,
            "index": [None],
            "span": [1],
            "labels": "",
            "keys": "",
            "cells": {},
        }
    },
}


@pytest.mark.parametrize("read", [aa.read_parquet, aa.read_metadata])
@pytest.mark.parametrize("changes", DAMAGED.values(), ids=list(DAMAGED))
def test_damaged_metadata_is_an_error(
    read: Callable[[Path], Any], changes: dict[str, Any], tmp_path: Path
) -> None:
    path = first_layout(tmp_path, lambda keys: body(keys, **changes))
    with pytest.raises(MetadataError, match=r"this file's aatoolkit metadata is damaged; pandas"):
        read(path)


@pytest.mark.parametrize("text", [b"{", b"[]", b"null", b"5", b"\xff", b"{}"])
@pytest.mark.parametrize("place", [KEY, PANDAS])
def test_what_is_no_metadata_at_all_is_an_error(text: bytes, place: bytes, tmp_path: Path) -> None:
    def spoil(keys: dict[bytes, bytes]) -> None:
        del keys[KEY]
        keys[place] = text

    path = rewritten(tmp_path, spoil)
    if (place, text) == (PANDAS, b"{}"):
        assert aa.read_parquet(path).attrs == {}
        return
    with pytest.raises(MetadataError, match="damaged"):
        aa.read_parquet(path)


@pytest.mark.parametrize(
    "text", ["zlib:", "zlib:é", "zlib:00", "zlib:" + base64.b85encode(zlib.compress(b"{")).decode()]
)
def test_a_packed_text_that_is_damaged_is_an_error(text: str, tmp_path: Path) -> None:
    def spoil(keys: dict[bytes, bytes]) -> None:
        keys[PANDAS] = json.dumps({ATTRIBUTE: text}).encode()

    with pytest.raises(MetadataError, match="damaged"):
        aa.read_parquet(rewritten(tmp_path, spoil))


@pytest.mark.thorough
def test_a_packed_text_of_endless_size_is_refused(tmp_path: Path) -> None:
    bomb = zlib.compress(bytes(1 << 27), 9)

    def spoil(keys: dict[bytes, bytes]) -> None:
        text = "zlib:" + base64.b85encode(bomb).decode()
        keys[PANDAS] = json.dumps({ATTRIBUTE: text}).encode()

    with pytest.raises(MetadataError, match="damaged"):
        aa.read_metadata(rewritten(tmp_path, spoil))
