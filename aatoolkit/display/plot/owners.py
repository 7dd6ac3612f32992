"""Own rows and those of competitors where another table of the same answer says which they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd

from aatoolkit.metadata.attrs import HeldAnswer, stored_of

BRANDS, SITES = ("brand", "advertiser"), ("source_domain", "url")
"""The columns that name a brand or its advertiser, and those that name a site or a page."""

TITLES = ("title", "prompt", "text", "label", "name")
"""The columns that name a row for people."""

_LARGEST = 1 << 22
"""The largest answer, in bytes, that is read again for the sake of a mark."""

Sides = tuple[frozenset[str], frozenset[str]]
Named = dict[str, Sides]

_READ: WeakKeyDictionary[HeldAnswer, Named] = WeakKeyDictionary()


def owners_in(frame: pd.DataFrame) -> dict[str, Named]:
    """The names of the own brand or sites of each host by column, and those of competitors.

    They are looked up in the answers that the frame was read from, as far as they are at hand.
    """
    owners: dict[str, Named] = {}
    for answer in stored_of(frame)[1]:
        if answer not in _READ:
            _READ[answer] = _named(answer)
        host = owners.setdefault(answer.source.host or "", {})
        for name, sides in _READ[answer].items():
            host[name] = _joined(host.get(name), sides)
    return {
        host: {name: (own - rivals, rivals - own) for name, (own, rivals) in columns.items()}
        for host, columns in owners.items()
    }


def titles_in(frame: pd.DataFrame) -> dict[str, dict[str, str]]:
    """What identifiers stand for in other tables of the answers, such as the prompt of its id."""
    titles: dict[str, dict[str, str]] = {}
    for answer in stored_of(frame)[1]:
        for table in _tables(answer).values():
            name = str(table.columns[0]) if len(table.columns) else ""
            titled = [title for title in TITLES if title in table]
            if name.endswith("_id") and titled and table[name].is_unique:
                named = table[[name, titled[0]]].dropna().astype(str)
                titles.setdefault(name, {}).update(named.itertuples(index=False, name=None))
    return titles


def _tables(answer: HeldAnswer) -> Mapping[str, pd.DataFrame]:
    """The tables of an answer, unless it is large."""
    body = answer.body
    return (answer.tables() if body is not None and len(body) <= _LARGEST else None) or {}


def _joined(one: Sides | None, other: Sides) -> Sides:
    return (one[0] | other[0], one[1] | other[1]) if one else other


def _named(answer: HeldAnswer) -> Named:
    """The own names and those of competitors in the tables of an answer."""
    named: Named = {}
    for table in _tables(answer).values():
        for name, own, rivals in _stated(table):
            named[name] = _joined(named.get(name), (own, rivals))
    return named


def _stated(table: Any) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    """What a table says of its rows: which are own, and which are competitors'."""
    for name in BRANDS:
        if name in table and "own" in table and pd.api.types.is_bool_dtype(table["own"].dtype):
            mine = table["own"].fillna(False).to_numpy(bool)
            yield name, _texts(table[name][mine]), frozenset()
    for name in SITES:
        if name in table and "domain_type" in table:
            kinds = table["domain_type"].astype("string")
            yield (
                name,
                _texts(table[name][kinds.eq("owned").fillna(False)]),
                _texts(table[name][kinds.eq("competitor").fillna(False)]),
            )


def _texts(values: pd.Series) -> frozenset[str]:
    return frozenset(map(str, values.dropna()))
