"""The text of a frame's metadata is made when somebody reads it, and is then as it always was."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from carried import (
    ATTRIBUTE,
    MEASURED,
    ColumnMetadata,
    FrameMetadata,
    attach,
    metadata_of,
)

KNOWN = FrameMetadata({"n": ColumnMetadata("t.n", MEASURED)})


def lazy_frame() -> pd.DataFrame:
    frame = pd.DataFrame({"brand": ["a", "b"], "n": [1, 2]})
    frame.attrs["title"] = "Domains"
    return attach(frame, KNOWN)


TEXT = str(lazy_frame().attrs[ATTRIBUTE])
WHOLE = {"title": "Domains", ATTRIBUTE: TEXT}


READ: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "dict": dict,
    "unpacked": lambda attrs: {**attrs},
    "items": lambda attrs: dict(attrs.items()),
    "get": lambda attrs: {name: attrs.get(name) for name in attrs},
    "pop": lambda attrs: {name: attrs.pop(name) for name in [*attrs]},
    "joined": lambda attrs: attrs | {},
    "copy": lambda attrs: attrs.copy(),
    "deeply": copy.deepcopy,
    "pickled": lambda attrs: pickle.loads(pickle.dumps(attrs)),
    "json": lambda attrs: json.loads(json.dumps(attrs)),
}


@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_whoever_reads_the_attrs_finds_the_text(read: Callable[[dict[Any, Any]], Any]) -> None:
    attrs = lazy_frame().attrs
    content = read(attrs)
    assert content == WHOLE
    assert type(content) is dict
    assert json.loads(content[ATTRIBUTE])["columns"]["n"][:2] == ["t.n", "available"]


def test_it_is_of_the_rows_that_it_was_attached_to() -> None:
    frame = lazy_frame()
    frame.loc[0, "n"] = 5
    frame.index.name = "row"
    assert frame.attrs[ATTRIBUTE] == TEXT
    assert metadata_of(frame).columns["n"].declared_name is None


def test_what_replaces_it_stays() -> None:
    frame = lazy_frame()
    frame.attrs[ATTRIBUTE] = "{"
    assert frame.attrs[ATTRIBUTE] == "{"
    other = lazy_frame()
    del other.attrs[ATTRIBUTE]
    assert dict(other.attrs) == {"title": "Domains"}
    again = attach(lazy_frame(), FrameMetadata())
    assert {**again.attrs} == {**WHOLE, ATTRIBUTE: again.attrs[ATTRIBUTE]}
    assert again.attrs[ATTRIBUTE] != TEXT
