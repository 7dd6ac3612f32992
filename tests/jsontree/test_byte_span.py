"""Where in the bytes of a document values are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings, strategies as st

from aatoolkit.jsontree.byte_span import ByteIndex
from aatoolkit.jsontree.decode import decode
from aatoolkit.jsontree.paths import format_key

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
LAYOUTS = st.sampled_from([{}, {"indent": 1}, {"ensure_ascii": False}, {"separators": (",", ":")}])


def every_path(value: Any, path: str = "$") -> list[tuple[str, Any]]:
    paths = [(path, value)]
    if isinstance(value, dict):
        for key, inner in value.items():
            paths += every_path(inner, path + format_key(key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            paths += every_path(inner, f"{path}[{number}]")
    return paths


@settings(max_examples=examples(200), deadline=None)
@given(DOCUMENTS, LAYOUTS, st.booleans())
def test_every_value_is_found_where_it_is(document: Any, layout: Any, bom: bool) -> None:
    text = json.dumps(document, **layout).encode("utf-8", "surrogatepass")
    body = b"\xef\xbb\xbf" * bom + b" " + text + b"\n"
    paths = every_path(document)
    index = ByteIndex(body)
    for path, value in paths:
        start, end = index.find_span(path) or (0, 0)
        assert json.loads(body[start:end]) == value
        assert body[start:end] == body[start:end].strip()


def test_numbers_keys_and_escapes_are_as_they_are_spelled() -> None:
    body = b'{"a\\u0062": 1.50e2, "": [ "x\\"]" , {"}": -0.0} ]}'
    index = ByteIndex(body)
    assert index.find_span("$.nothing") is index.find_span("$.ab.c") is None
    spans = {path: index.find_span(path) for path in ("$.ab~", "$.ab", '$[""][0]', '$[""][1]["}"]')}
    assert {path: body[slice(*span)] for path, span in spans.items() if span} == {
        "$.ab~": b'"a\\u0062"',
        "$.ab": b"1.50e2",
        '$[""][0]': b'"x\\"]"',
        '$[""][1]["}"]': b"-0.0",
    }
    assert decode(body)["ab"] == 150


def test_a_pattern_is_refused_and_nothing_is_in_nothing() -> None:
    with pytest.raises(ValueError, match="pattern"):
        ByteIndex(b"{}").find_span("$.rows[].n")
    assert ByteIndex(b"").find_span("$") is None
