"""Keys of drafts: identifiers before labels, the parents' keys with them, never a measure."""

from __future__ import annotations

from typing import Any

import pytest

from aatoolkit.sections import propose


def key(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    return propose({"items": rows}, "insights").section.tables[0].key


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"insight_no": 4100 + 7 * n, "headline": f"H{n}", "hits": n} for n in range(9)],
         ("insight_no",)),
        ([{"code": f"C_{n}", "text": f"Text {n}.", "hits": n % 3} for n in range(9)], ("code",)),
        ([{"place": n + 1, "brand": f"B{n}", "hits": 9 - n} for n in range(9)], ("brand",)),
        ([{"brand": f"B{n % 3}", "engine": f"e{n // 3}", "hits": n} for n in range(9)],
         ("brand", "engine")),
        ([{"hits": n, "share": n / 10, "at": f"2026-11-0{n + 1}T10:00:00Z"} for n in range(9)],
         ("position",)),  # the place of the row: no measure tells rows apart
    ],
)  # fmt: skip
def test_the_fewest_identifiers_are_the_key(
    rows: list[dict[str, Any]], expected: tuple[str, ...]
) -> None:
    assert set(key(rows)) == set(expected)


def test_the_keys_of_what_encloses_rows_come_with_them() -> None:
    prompts = [
        {"promptId": f"p{n}", "engines": [{"engine": e, "hits": n} for e in ("a", "b")]}
        for n in range(6)
    ]
    tables = propose({"rows": prompts}, "prompts").section.tables
    inner = next(one for one in tables if "engine" in one.names)
    assert set(inner.key) == {"prompt_id", "engine"}
    assert {*tables[0].key} < {*inner.key}
