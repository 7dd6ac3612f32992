"""Arrow's own reader takes chunks of a long array only where nothing changes in them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import pyarrow as pa
import pytest
from effort import examples, one_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aatoolkit.errors import DecodeError
from aatoolkit.jsontree import arrow_reader, decode, split
from aatoolkit.jsontree.arrow_tables import shred, unshred
from aatoolkit.jsontree.members import Members, is_plain_key

LAW = settings(
    max_examples=examples(500), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


class Lanes:
    """Counts the chunks that each lane took."""

    def __init__(self, patch: pytest.MonkeyPatch, chunk: int = 64) -> None:
        self.arrow = self.python = 0
        fill, take = arrow_reader._ChunkColumns.fill, arrow_reader._ChunkReader.add_parsed

        def filled(columns: Any, place: Any, array: Any, *more: Any) -> None:
            self.arrow += array is columns.elements
            fill(columns, place, array, *more)

        def taken(lane: Any, found: Any) -> None:
            self.python += 1
            take(lane, found)

        patch.setattr(arrow_reader._ChunkColumns, "fill", filled)
        patch.setattr(arrow_reader._ChunkReader, "add_parsed", taken)
        patch.setattr(split, "_CHUNK", chunk)
        patch.setattr(split, "_FIRST", chunk)
        patch.setattr(arrow_reader, "_CHUNK", chunk)


@pytest.fixture
def lanes(monkeypatch: pytest.MonkeyPatch) -> Lanes:
    return Lanes(monkeypatch)


def spelled(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def row(n: int) -> dict[str, Any]:
    return {
        "id": f"row {n}",
        "count": n,
        "rate": n + 0.5,
        "own": n % 2 == 0,
        "note": None if n % 3 else "é",
        "inner": {"text": "a" * (n % 5), "big": 2**62 + n},
        "list": [{"x": k} for k in range(n % 3)],
        "tags": ["a", "b"][: n % 3],
        "never": None,
    }


ROWS = [row(n) for n in range(40)]


def test_what_is_regular_is_taken_by_arrow(lanes: Lanes) -> None:
    body = json.dumps({"rows": ROWS, "total": 3}, ensure_ascii=False)
    assert spelled(unshred(shred(body))) == spelled({"rows": ROWS, "total": 3})
    assert lanes.python <= 4
    assert lanes.arrow > 10


@pytest.mark.parametrize("indent", [None, 1])
def test_the_tables_are_those_of_the_other_lane(
    indent: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps(ROWS, indent=indent)
    with pytest.MonkeyPatch.context() as patch:
        lanes = Lanes(patch)
        found = shred(body)
    assert lanes.arrow > 10
    monkeypatch.setattr(split, "_CHUNK", len(body))
    expected = shred(body)
    assert found.keys() == expected.keys()
    for name, table in expected.items():
        assert found[name].schema.equals(table.schema, check_metadata=True)
        assert found[name].equals(table)
        found[name].validate(full=True)


def without(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda row: row.pop(name) and None


def having(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda row: row.update({name: value})


IRREGULAR: dict[str, Callable[[dict[str, Any]], None]] = {
    "a missing field": without("count"),
    "a missing object": without("inner"),
    "a missing array": without("list"),
    "a new field": having("new", 1),
    "null for a number": having("count", None),
    "null for an object": having("inner", None),
    "null for an array": having("list", None),
    "null in an array": having("list", [None, {"x": 1}]),
    "text for a number": having("count", "1"),
    "a float for an integer": having("count", 1.5),
    "a whole float for an integer": having("count", 7.0),
    "an integer for a float": having("rate", 7),
    "nought below nothing": having("rate", -0.0),
    "a number beyond floats' integers": having("rate", 2**53 + 1),
    "a wide integer": having("count", 2**70),
    "a wide integer for a float": having("rate", 2**70),
    "a very large float": having("rate", 1e300),
    "an object for text": having("note", {"a": 1}),
    "an empty object": having("inner", {}),
    "an empty array for an object": having("inner", []),
    "a value where only null was": having("never", [1]),
    "text that begins with a colon": having("note", ':"a":1'),
    "text that looks like members": having("note", '{"id": 1, "x": null, "y" : 2}'),
    "text that ends in a backslash": having("note", "a\\"),
    "text with the word null": having("note", "null"),
    "an escaped pair": having("note", "\U0001f600\0"),
    "data for keys": having("inner", {"2026-11-20": 1, "2026-11-21": 2, "2026-11-22": 3}),
}


@pytest.mark.parametrize("bend", IRREGULAR.values(), ids=IRREGULAR)
@pytest.mark.parametrize("count", one_in(3, [1, 2, 30]))
def test_what_turns_irregular_is_not_changed(
    bend: Callable[[dict[str, Any]], None], count: int, lanes: Lanes
) -> None:
    rows: list[dict[str, Any]] = json.loads(json.dumps(ROWS))
    for one in rows[-2 : -2 - count : -1]:
        bend(one)
    body = json.dumps(rows)
    assert spelled(unshred(shred(body))) == spelled(rows)
    assert lanes.arrow


@pytest.mark.parametrize("threads", [0, 1, 5])
def test_it_goes_on_where_there_are_no_threads(
    threads: int, lanes: Lanes, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    submit = ThreadPoolExecutor.submit

    def limited(*given: Any) -> Any:
        begun.append(1)
        if len(begun) > threads:
            raise RuntimeError("can't start new thread")
        return submit(*given)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", limited)
    assert spelled(unshred(shred(json.dumps(ROWS)))) == spelled(ROWS)
    assert lanes.arrow > 10


def test_fields_that_are_left_out_are_missing_and_not_null(lanes: Lanes) -> None:
    rows = [{"a": n, **({"b": {"c": n, "d": [n]}} if n % 3 else {})} for n in range(60)]
    assert spelled(unshred(shred(json.dumps(rows)))) == spelled(rows)
    assert lanes.arrow > 10


@pytest.mark.parametrize("indent", [None, 1])
def test_some_fields_may_be_left_out_and_others_null(indent: int | None, lanes: Lanes) -> None:
    rows = [
        {
            "id": "x" * 20,
            "null": None if n % 3 else n,
            "in": [{"gone": 1} if n % 2 else {}, {"gone": None if n > 198 else 2}],
            **({"left": {"c": n, "null": None if n % 4 else 1.5}} if n % 5 else {}),
        }
        for n in range(200)
    ]
    assert spelled(unshred(shred(json.dumps(rows, indent=indent)))) == spelled(rows)
    assert lanes.arrow > 10
    assert lanes.python < 10, "but for the row that is both"


def test_what_is_now_null_and_now_left_out_is_not_mixed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    lanes = Lanes(monkeypatch, chunk=1000)
    rows: list[dict[str, Any]] = [{"id": n, "a": n, "in": {"a": n}} for n in range(300)]
    del rows[200]["a"], rows[230]["a"], rows[231]["in"]["a"]
    rows[201]["a"] = rows[260]["a"] = rows[261]["in"]["a"] = None
    assert spelled(unshred(shred(json.dumps(rows)))) == spelled(rows)
    assert lanes.arrow > lanes.python > 1


@pytest.mark.parametrize("whole", [float, int])
def test_numbers_stay_as_they_were_written(whole: type, lanes: Lanes) -> None:
    rows = [{"id": "x" * 20, "n": n / 2 if n % 2 else whole(n), "m": n} for n in range(200)]
    assert spelled(unshred(shred(json.dumps(rows)))) == spelled(rows)
    assert lanes.arrow > 10


def test_numbers_written_both_ways_stay_so(lanes: Lanes) -> None:
    rows = [{"id": "x" * 20, "n": [0.5, 1, 2.0][n % 3], "m": [n, 0.5]} for n in range(60)]
    assert spelled(unshred(shred(json.dumps(rows)))) == spelled(rows)


def test_who_is_never_regular_is_soon_left_alone(lanes: Lanes) -> None:
    rows = [{"id": "x" * 40, f"field{n}": n} for n in range(60)]
    tried: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        reading = arrow_reader._ArrowForm.read
        patch.setattr(
            arrow_reader._ArrowForm,
            "read",
            lambda *given: tried.append(1) or reading(*given),  # type: ignore[func-returns-value]
        )
        assert spelled(unshred(shred(json.dumps(rows)))) == spelled(rows)
    assert len(tried) < 15 < lanes.python


REFUSED = {
    "NaN": b'{"id": "x", "rate": NaN}',
    "infinity": b'{"id": "x", "rate": -Infinity}',
    "a number too large": b'{"id": "x", "rate": 1e400}',
    "a fraction without an end": b'{"id": "x", "rate": 0.%b}' % (b"1" * 4301),
    "a key given twice": b'{"id": "x", "id": "x", "rate": 0.5}',
    "a key given twice, once spelled otherwise": b'{"id": "x", "\\u0069d": "x", "rate": 0.5}',
    "no Unicode": b'{"id": "\xff", "rate": 0.5}',
    "half a surrogate pair": b'{"id": "\\ud800", "rate": 0.5}',
    "a control character": b'{"id": "a\nb", "rate": 0.5}',
    "a second document": b'{"id": "x", "rate": 0.5}]}{"":[{"id": "x", "rate": 0.5}',
    "another array": b'{"id": "x", "rate": 0.5}],"":[{"id": "x", "rate": 0.5}',
    "no comma": b'{"id": "x", "rate": 0.5} {"id": "x", "rate": 0.5}',
    "two commas": b'{"id": "x", "rate": 0.5},,{"id": "x", "rate": 0.5}',
    "a number that begins with nought": b'{"id": "x", "rate": 00.5}',
}


@pytest.mark.parametrize("odd", REFUSED.values(), ids=REFUSED)
def test_what_is_no_document_is_refused_in_the_same_words(odd: bytes, lanes: Lanes) -> None:
    one = b'{"id": "x", "rate": 0.5}'
    body = b"[%b]" % b", ".join([one] * 20 + [odd] + [one] * 20)
    with pytest.raises(DecodeError) as expected:
        decode.decode_exactly(body)
    with pytest.raises(DecodeError) as found:
        shred(body)
    assert (found.value.problem, str(found.value)) == (expected.value.problem, str(expected.value))
    assert lanes.arrow


KEYS = st.sampled_from(["a", "b", "chatId", "a b", "é", "n:", ":n", "x[", "", "rate%", "a\\", '"'])
NUMBERS = st.integers(-5, 5) | st.sampled_from([0.5, 1.0, -0.0, 2.5, 2**53, 2**53 + 1, 1e20, 2**64])
NASTY = [":", ':"', '":', ',":', '[":1', "\\", '\\":', " : ", "null", ":null", "", "1,"]
TEXTS = st.sampled_from(NASTY) | st.text(st.sampled_from('ab:"\\,[{ é\0\n1'), max_size=5)
FIELDS = st.recursive(
    st.sampled_from(["text", "number", "integer", "flag", "null"]),
    lambda inner: st.dictionaries(KEYS, inner, max_size=3) | st.tuples(inner),
    max_leaves=6,
)


def values(shape: Any) -> st.SearchStrategy[Any]:
    """Values of one shape; now and then, null."""
    if isinstance(shape, dict):
        found: st.SearchStrategy[Any] = st.fixed_dictionaries(
            {key: values(inner) for key, inner in shape.items()}
        )
    elif isinstance(shape, tuple):
        found = st.lists(values(shape[0]), max_size=3)
    else:
        kinds: dict[str, st.SearchStrategy[Any]] = {
            "text": TEXTS,
            "number": NUMBERS,
            "integer": st.integers(-9, 9),
            "flag": st.booleans(),
            "null": st.none(),
        }
        found = kinds[shape]
    return st.integers(0, 9).flatmap(lambda roll: found if roll else st.none())


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """An array of records of one shape, where now and then a field is missing or odd."""
    shape = {"id": "text", **draw(st.dictionaries(KEYS, FIELDS, min_size=1, max_size=4))}
    rows = draw(st.lists(values(shape), min_size=4, max_size=25))
    sparse = draw(st.booleans())
    for one in rows:
        if isinstance(one, dict) and (odd := draw(st.integers(0, 12))) < 2:
            key = draw(st.sampled_from(sorted(one)))
            if odd or sparse:
                del one[key]
            else:
                one[key] = draw(NUMBERS | TEXTS | st.just([]) | st.just({}))
    return json.dumps(
        rows, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1]))
    )


@pytest.mark.thorough
@LAW
@given(bodies())
def test_nothing_is_lost_whichever_lane_takes_it(body: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        Lanes(patch, chunk=24)
        found = shred(body)
    assert spelled(unshred(found)) == spelled(json.loads(body))
    whole = shred(body)
    assert {name: table.schema for name, table in found.items()} == {
        name: table.schema for name, table in whole.items()
    }


@LAW
@given(bodies(), st.data())
def test_damaged_arrays_are_read_or_refused_alike(body: str, data: st.DataObject) -> None:
    text = body.encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 3)))
    splice = data.draw(
        st.sampled_from([b"", b'"', b":", b"null", b"\\", b"NaN", b"1", b".", b"\xff"])
    )
    text = text[:start] + splice + text[end:]

    def outcome(read: Callable[[bytes], Any]) -> str:
        try:
            return spelled(read(text))
        except DecodeError as error:
            return error.problem

    with pytest.MonkeyPatch.context() as patch:
        Lanes(patch, chunk=24)
        found = outcome(lambda body: unshred(shred(body)))
    assert found == outcome(decode.decode_exactly)


def members(value: Any) -> Iterator[Any]:
    """The values of all members, at any depth."""
    for one in value.values() if isinstance(value, dict) else ():
        yield one
        yield from members(one)
    for one in value if isinstance(value, list) else ():
        yield from members(one)


PLAIN = st.dictionaries(
    st.text(st.sampled_from("ab é,:[z9_"), min_size=1, max_size=3).filter(is_plain_key),
    st.recursive(
        TEXTS | NUMBERS | st.booleans() | st.none(), lambda inner: st.lists(inner, max_size=3)
    ),
    max_size=4,
)


@LAW
@given(st.lists(PLAIN, max_size=4), st.sampled_from([(",", ":"), (", ", ": ")]), st.integers(2, 40))
def test_members_are_counted(value: list[Any], signs: tuple[str, str], block: int) -> None:
    held = list(members(value))
    keyed = {key: sum(one.get(key, 0) is None for one in value) for key in chain(*value)}
    text = json.dumps(value, separators=signs, ensure_ascii=False).encode() + b"  "
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aatoolkit.jsontree.members._BLOCK", block)
        counted = Members(text)
        # Text may look as if there were white space before a colon.
        assert counted.count() in (len(held), None)
        assert counted.integers() == sum(type(one) is int for one in held)
        for key in keyed:
            assert counted.nulls(key) == keyed[key]


def test_rows_or_columns_is_decided_by_chunks_of_both_lanes(lanes: Lanes) -> None:
    full, part = dict.fromkeys("pqrs", 1), {"p": 1}
    few = [{"id": "x" * 30, "m": {"x": full, "y": full, "z": part}} for _ in range(5)]
    rows = few + [{"id": "x" * 30, "m": {"x": full, "y": full}} for _ in range(100)]
    tables = shred(json.dumps(rows))
    assert spelled(unshred(tables)) == spelled(rows)
    assert any("{}" in name for name in tables), "most of them look like rows"


def test_nulls_are_found_by_their_whole_key() -> None:
    members = Members(b'{"a": null, "ba":null, "c" :null, "d": "null"}  ')
    assert [members.nulls(key) for key in ("a", "ba", "long" * 99, "d")] == [
        1,
        1,
        0,
        0,
    ]


def test_white_space_before_a_colon_is_noticed() -> None:
    assert Members(b'{"a" : 1}').count() is None
    assert Members(b'{"a": " : "}').count() is None
    assert Members(b'{"a": "b : c"}').count() == 1


@pytest.mark.thorough
def test_tables_are_sound_at_full_size() -> None:
    draw = random.Random(20261121)
    rows = [{**row(n), "rate": draw.random()} for n in range(30_000)]
    tables = shred(json.dumps(rows))
    for table in tables.values():
        table.validate(full=True)
        assert isinstance(table, pa.Table)
    assert spelled(unshred(tables)) == spelled(rows)
