"""Column metadata as text on a frame: canonical, and never more than is true."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from carried import (
    ATTRIBUTE,
    MEASURED,
    NOT_CONNECTED,
    PARTIAL,
    ColumnMetadata,
    FrameMetadata,
    Source,
    attach,
    metadata_of,
)
from hypothesis import given, strategies as st

from aatoolkit import Availability, Cause, Status
from aatoolkit.availability import UNKNOWN
from aatoolkit.errors import MetadataError

words = st.none() | st.text(max_size=5)
columns = st.builds(
    ColumnMetadata,
    words,
    st.builds(
        Availability, st.sampled_from(list(Status)), st.none() | st.sampled_from(list(Cause)), words
    ),
)
frames = st.builds(
    FrameMetadata,
    st.dictionaries(st.text(max_size=4), columns, max_size=5),
    st.lists(st.text(max_size=4), max_size=2).map(tuple),
    st.lists(
        st.builds(Source, words, words, words, words, words, words, st.booleans()), max_size=2
    ).map(tuple),
)

KNOWN = FrameMetadata(
    {
        "brand": ColumnMetadata("t.brand", MEASURED),
        "n": ColumnMetadata("t.n", PARTIAL),
        "gone": ColumnMetadata("t.gone", NOT_CONNECTED),
    },
    ("brand",),
    (Source("acme.example", "domains", "days=30"),),
)


@pytest.fixture
def frame() -> pd.DataFrame:
    data = {"brand": ["a", "b"], "n": [1, 2], "gone": pd.array([None, None], dtype="Int64")}
    return attach(pd.DataFrame(data), KNOWN)


@given(frames)
def test_it_reads_back_as_it_was_and_gives_equal_text(metadata: FrameMetadata) -> None:
    backwards = dict(reversed(metadata.columns.items()))
    text = metadata.dumps()
    assert FrameMetadata(backwards, metadata.key, metadata.sources).dumps() == text
    again = FrameMetadata.loads(text)
    assert (again, again.dumps()) == (metadata, text)


def test_it_is_json_that_can_be_read_without_us(frame: pd.DataFrame) -> None:
    body = json.loads(frame.attrs[ATTRIBUTE])
    assert body["version"] == "1.0"
    assert body["key"] == ["brand"]
    assert body["columns"]["gone"] == [
        "t.gone",
        "unavailable",
        "not_connected",
        "Create the CNAME.",
    ]
    assert body["sources"] == [{"host": "acme.example", "section": "domains", "scope": "days=30"}]


def test_a_frame_without_metadata_is_unknown() -> None:
    metadata = metadata_of(pd.DataFrame({"a": [1], 5: [2]}))
    assert metadata == FrameMetadata({"a": ColumnMetadata(), "5": ColumnMetadata()})
    assert metadata.columns["a"].availability == UNKNOWN


def test_a_column_that_could_not_be_measured_and_holds_values_was_overwritten(
    frame: pd.DataFrame,
) -> None:
    frame["gone"] = [None, 0.0]
    assert metadata_of(frame).columns["gone"] == ColumnMetadata(
        None, Availability(Status.UNKNOWN, None, "overwritten")
    )
    assert metadata_of(frame.iloc[:1]).columns["gone"].availability == NOT_CONNECTED


def body(**changes: Any) -> str:
    return json.dumps({**json.loads(KNOWN.dumps()), **changes})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        5,
        None,
        body(columns={"n": ["t.n", "available"]}),
        body(columns={"n": ["t.n", "measured", None, None]}),
        body(key=None),
        body(sources=["x"]),
    ],
)
def test_damaged_metadata_is_an_error_that_names_what_to_do(text: Any) -> None:
    with pytest.raises(MetadataError, match=r"damaged; drop it with df\.attrs\.pop"):
        FrameMetadata.loads(text)
    if text is not None:
        frame = pd.DataFrame({"n": [1]})
        frame.attrs[ATTRIBUTE] = text
        with pytest.raises(MetadataError, match="damaged"):
            metadata_of(frame)


def test_a_newer_major_version_is_refused_and_a_minor_one_read() -> None:
    with pytest.raises(MetadataError, match=r"version 2\.0, newer than 1\.0") as refused:
        FrameMetadata.loads(body(version="2.0", columns="of another kind"))
    assert refused.value.version == "2.0"
    newer = json.loads(body(version="1.7", also="this"))
    newer["sources"][0]["licence"] = "of a later version"
    assert FrameMetadata.loads(json.dumps(newer)) == KNOWN


def test_levels_of_the_index_are_described_on_request(frame: pd.DataFrame) -> None:
    indexed = frame.set_index("brand")
    assert [*metadata_of(indexed).columns] == ["n", "gone"]
    assert [*metadata_of(indexed, with_index_levels=True).columns] == ["n", "gone", "brand"]
    assert metadata_of(indexed).key == ("brand",)
    assert metadata_of(indexed.reset_index()) == KNOWN


def test_no_value_is_in_the_carrier() -> None:
    frame = pd.DataFrame({"brand": ["a secret name"], "n": [123456789]})
    text = attach(frame, KNOWN).attrs[ATTRIBUTE]
    assert "secret" not in text
    assert "123456789" not in text
