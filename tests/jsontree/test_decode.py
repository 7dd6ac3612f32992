"""Fast decoding reads what exact decoding reads, and refuses what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings, strategies as st

from aatoolkit.errors import DecodeError
from aatoolkit.jsontree import decode

TEXT = st.text(st.characters(codec="utf-8"), max_size=5) | st.sampled_from(
    [":", '":', '\\":', '",":', "a\\", "[{", "}]", "12345678901234567890", "null"]
)
NUMBERS = st.integers() | st.sampled_from(
    [2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**30, 1234567890123456789]
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1e19, -0.0, 1 / 900])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
SPLICES = [
    b"\xef\xbb\xbf",
    b'"',
    b":",
    b",",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\\",
    b" ",
    b"-",
    b"0",
    b"9" * 20,
]
SPLICES += [b"e400", b"NaN", b"\\u0022", b"\\ud800", b"\xff", b"\x00", b'"a":1,', b'"a" :1,']


def reading(decode: Any, body: bytes) -> str:
    """What a decoder makes of a body: the value, spelled out, or the problem."""
    try:
        return json.dumps(decode(body), sort_keys=True)
    except DecodeError as error:
        return f"{error.problem}: {error}"


def spelled(value: Any, data: st.DataObject) -> bytes:
    """A value as some writer would write it."""
    return json.dumps(
        value,
        ensure_ascii=data.draw(st.booleans()),
        indent=data.draw(st.sampled_from([None, 1])),
        separators=data.draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", "\t :")])),
    ).encode()


def same(body: bytes) -> bool:
    return reading(decode.decode, body) == reading(decode.decode_exactly, body)


@settings(max_examples=examples(400), deadline=None)
@given(JSON, st.data())
def test_documents_are_read_alike(value: Any, data: st.DataObject) -> None:
    assert same(spelled(value, data))


@settings(max_examples=examples(1000), deadline=None)
@given(JSON, st.data())
def test_damaged_documents_are_read_or_refused_alike(value: Any, data: st.DataObject) -> None:
    body = spelled(value, data)
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, min(len(body), start + 3)))
    assert same(body[:start] + data.draw(st.sampled_from([b"", *SPLICES])) + body[end:])


EXACTLY = {
    "an integer beyond 64 bits": b"[18446744073709551617]",
    "a negative one": b"[-9223372036854775809]",
    "one at the end of a large document": b"[%b18446744073709551617]" % (b'"text", ' * 200_000),
    "a key given twice": b'{"a": 1, "a": 2}',
    "a key given twice, once spelled otherwise": b'{"a": 1, "\\u0061": 2}',
    "a key given twice, with space before the colon": b'{"a" : 1, "a" \n\t : 2}',
    "a key given twice beside text with a colon": rb'{"a": "\":", "a": "b"}',
    "a key given twice beside a key that ends in a backslash": rb'{"a\\": 1, "b": 2, "b": 3}',
    "a key given twice in a large document": b"[%b]"
    % b",".join([b'{"a": 1}'] * 150_000 + [b'{"a":1,"a":1}']),
    "129 lists": b"[" * 129 + b"]" * 129,
    "129 objects": b'{"a":' * 129 + b"1" + b"}" * 129,
    "a fraction of 4,301 digits": b"0." + b"1" * 4301,
    "NaN": b'{"a": NaN}',
    "a number too large": b"[1e400]",
    "half a surrogate pair": rb'["\ud800"]',
    "UTF-8 that is none": b'["\xff"]',
    "a second document": b"{} {}",
    "a list that breaks off in its second chunk": b"[%b" % (b'{"a": 1},' * 300_000),
}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(body, id=name, marks=[pytest.mark.thorough] * (len(body) > 1_000_000))
        for name, body in EXACTLY.items()
    ],
)
def test_what_orjson_would_change_is_noticed(body: bytes) -> None:
    assert same(body)
