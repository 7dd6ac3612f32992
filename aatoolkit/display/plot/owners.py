"""Own rows and those of competitors where another table of the same answer says which they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd

from aatoolkit.metadata.attrs import stored_of
from aatoolkit.metadata.carrier import HeldAnswer

BRANDS, SITES = ("brand", "advertiser"), ("source_domain", "url")
"""The columns that name a brand or its advertiser, and those that name a site or a page."""

_LARGEST = 1 << 22
"""The largest answer, in bytes, that is read again for the sake of a mark."""

Named = dict[str, tuple[frozenset[str], frozenset[str]]]

_FOUND: WeakKeyDictionary[HeldAnswer, Named] = WeakKeyDictionary()


def owners_in(frame: pd.DataFrame) -> Named:
    """The names of the own brand or sites by column, and those of competitors.

    They are looked up in the answers that the frame was read from, as far as they are at hand.
    Of several hosts nothing is returned: what is own to one is another's competitor.
    """
    known, answers = stored_of(frame)
    hosts = {source.host for source in known.sources}
    if len(hosts) > 1 or len({answer.source.host for answer in answers}) > 1:
        return {}
    found: Named = {}
    for answer in answers:
        if answer not in _FOUND:
            _FOUND[answer] = _named(answer)
        for name, (own, rivals) in _FOUND[answer].items():
            one, other = found.get(name, (frozenset(), frozenset()))
            found[name] = one | own, other | rivals
    return {name: (own - rivals, rivals - own) for name, (own, rivals) in found.items()}


def _named(answer: HeldAnswer) -> Named:
    """The own names and those of competitors in the tables of an answer."""
    body = answer.body
    tables = answer.tables() if body is not None and len(body) <= _LARGEST else None
    found: Named = {}
    for table in (tables or {}).values():
        for name, own, rivals in _stated(table):
            one, other = found.get(name, (frozenset(), frozenset()))
            found[name] = one | own, other | rivals
    return found


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
