"""Nothing is counted twice: joins that repeat rows, and answers that overlap."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress

import pandas as pd
import pytest
from carried import Source, described

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError


def source(section: str = "domains", query: str = "days=30", **more: str) -> Source:
    facts = {"host": "acme.example", "window_start": "2026-10-22", "window_end": "2026-11-20"}
    return Source(**{**facts, "section": section, "scope": query, **more})


WEEK = {"query": "days=7", "window_start": "2026-11-14"}
BEFORE = {"window_start": "2026-09-22", "window_end": "2026-10-21"}


def domains(counts: dict[str, int | None], origin: Source | None = None) -> pd.DataFrame:
    """Citations by domain; synthetic."""
    frame = pd.DataFrame(
        {
            "source_domain": pd.array([*counts], "string"),
            "domain_type": pd.array(["review", "news", "review"][: len(counts)], "string"),
            "citation_count": pd.array([*counts.values()], "Int64"),
        }
    )
    return described(frame, "source_domains", ("source_domain",), origin or source())


def urls() -> pd.DataFrame:
    """Citations by page of some domains; synthetic."""
    frame = pd.DataFrame(
        {
            "url": pd.array(["a/1", "a/2", "a/3", "b/1"], "string"),
            "source_domain": pd.array(["a", "a", "a", "b"], "string"),
            "page_type": pd.array(["home", "home", "list", "list"], "string"),
            "citation_count": pd.array([1, 2, 3, 4], "Int64"),
        }
    )
    return described(frame, "cited_urls", ("url",), source("urls"))


def total(frame: pd.DataFrame, column: str = "citation_count") -> object:
    return frame.aa.aggregate(columns=column)[column].tolist()[0]


@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_join_that_repeats_rows_counts_each_once(how: str) -> None:
    both = domains({"a": 6, "b": 4}).aa.merge(urls(), on="source_domain", how=how)
    assert both["citation_count_x"].sum() == 22
    assert total(both, "citation_count_x") == 10
    assert total(both, "citation_count_y") == 10
    turned = urls().aa.merge(domains({"a": 6, "b": 4}), on="source_domain")
    assert total(turned, "citation_count_x") == total(turned, "citation_count_y") == 10
    sums = both.aa.aggregate("page_type", ["citation_count_x", "citation_count_y"])
    assert sums["citation_count_x"].tolist() == [6, 10]
    assert sums["citation_count_y"].tolist() == [3, 7]


def test_a_join_without_the_key_is_refused_and_says_what_to_keep() -> None:
    both = domains({"a": 6, "b": 4}).aa.merge(urls(), on="source_domain")
    cut = both.drop(columns="source_domain")
    with pytest.raises(AvailabilityError, match="keep source_domain in the frame"):
        total(cut, "citation_count_x")
    assert total(cut, "citation_count_y") == 10
    renamed = both.aa.rename(columns={"source_domain": "d"})
    assert total(renamed, "citation_count_x") == 10
    with pytest.raises(AvailabilityError, match="keep d in the frame"):
        total(renamed.drop(columns="d"), "citation_count_x")


def test_rows_that_were_repeated_by_plain_pandas_count_once() -> None:
    frame = domains({"a": 6, "b": 4})
    assert total(pd.concat([frame, frame])) == 10
    assert total(aa.concat([frame, frame])) == 10
    assert total(frame.loc[[0, 0, 1]]) == 10


COUNTS = {"a": 6, "b": 4, "c": 1}
KEPT = ["domain_type", "citation_count"]


def without_key() -> pd.DataFrame:
    return domains(COUNTS)[KEPT]


def joined() -> pd.DataFrame:
    pages = pd.DataFrame({"source_domain": ["a", "a", "b", "b", "c"], "page": [*"uvwxy"]})
    return domains(COUNTS).merge(pages, on="source_domain").aa.adopt(domains(COUNTS))


def crossed() -> pd.DataFrame:
    return domains(COUNTS).merge(pd.DataFrame({"k": [1, 2]}), how="cross")


REPEATED: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "a merge that repeats": lambda _: joined()[KEPT],
    "a cross merge": lambda _: crossed().aa.adopt(domains(COUNTS))[KEPT],
    "df.aa.merge": lambda h: h.aa.merge(pd.DataFrame({"k": [1, 2]}), how="cross"),
    "concat": lambda h: aa.concat([h, without_key()]),
    "concat of one frame": lambda h: aa.concat([h, h], ignore_index=True),
    "concat, then cut": lambda _: aa.concat([domains(COUNTS), domains(COUNTS)])[KEPT],
    "slices that overlap": lambda h: aa.concat([h[:2], h[1:]]),
    "a query and all": lambda h: aa.concat([h.query("citation_count > 4"), h]),
    "the first of each": lambda h: aa.concat([h.groupby("domain_type").head(1), h]),
    "a frame with the key": lambda h: aa.concat([h, domains(COUNTS)]),
    "pd.concat": lambda h: pd.concat([h, without_key()]),
    "repeat": lambda h: h.loc[h.index.repeat(2)],
    "take": lambda h: h.take([0, 0, 1, 1, 2, 2]),
    "sample": lambda h: h.sample(frac=4, replace=True, random_state=0),
    "reindex": lambda h: h.reindex([0, 1, 2, 0, 1, 2]),
    "after a pickle": lambda h: pickle.loads(pickle.dumps(h)).loc[h.index.repeat(2)],
    "renamed since": lambda h: h.take([0, 0, 1, 2]).aa.rename(columns={"domain_type": "kind"}),
    "completed since": lambda h: pd.concat([h] * 2).aa.complete(),
    "with its context since": lambda h: pd.concat([h] * 2).aa.with_context(),
    "adopted since": lambda h: pd.concat([h] * 2).aa.adopt(domains(COUNTS)),
}


@pytest.mark.parametrize("name", REPEATED)
def test_rows_repeated_without_their_key_count_once_or_not_at_all(name: str) -> None:
    frame = REPEATED[name](without_key())
    assert len(frame) > len(COUNTS)
    with suppress(AvailabilityError):
        assert total(frame) == 11
    with suppress(AvailabilityError):
        assert frame.aa.aggregate(None, "citation_count").aa.aggregate().iloc[0, 0] == 11
    with suppress(AvailabilityError):
        assert frame.aa.concentration("citation_count")["n"].tolist() == [11]
    for choice in ({}, {"y": "citation_count"}, {"kind": "counts"}):
        with suppress(AvailabilityError):
            picture = frame.aa.plot(**choice)
            # By default what does not combine is listed as it is, and nothing is drawn or added.
            rows = frame if not choice and picture.kind == "table" else COUNTS
            assert len(picture.data) in (len(COUNTS), len(rows))
    if "domain_type" in frame:
        with suppress(AvailabilityError):
            assert frame.aa.plot(x="domain_type").data["citation_count"].sum() == 11


def test_repeated_rows_with_their_key_are_drawn_once() -> None:
    frame = domains(COUNTS)
    for twice in (aa.concat([frame, frame]), pd.concat([frame, frame]), frame.take([0, 0, 1, 2])):
        assert twice.aa.plot().data["citation_count"].tolist() == [6, 4, 1]
        assert twice.aa.concentration("citation_count")["n"].tolist() == [11]
    drawn = joined().aa.plot(y="citation_count").data
    assert drawn["source_domain"].tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("ignore_index", [True, False])
@pytest.mark.parametrize("order", [1, -1])
def test_windows_that_overlap_are_refused_by_name(order: int, ignore_index: bool) -> None:
    frames = [domains({"a": 6, "b": 4}), domains({"a": 2, "b": 1}, source(**WEEK))][::order]
    stacked = aa.concat(frames, ignore_index=ignore_index)
    words = "2026-10-22 to 2026-11-20.*2026-11-14 to 2026-11-20"
    with pytest.raises(AvailabilityError, match=words if order == 1 else "2026-11-14 to .* and "):
        total(stacked)
    named = aa.concat([frame.aa.with_context() for frame in frames], ignore_index=ignore_index)
    with pytest.raises(AvailabilityError, match="the responses overlap"):
        total(named)
    by_days = named.aa.aggregate("days", "citation_count").set_index("days")["citation_count"]
    assert by_days.to_dict() == {7: 3, 30: 10}
    assert total(named[named["days"] == 30]) == 10
    with pytest.raises(AvailabilityError, match="the responses overlap"):
        named.aa.aggregate("days", "citation_count").aa.aggregate()


def test_answers_that_are_disjoint_add() -> None:
    first = domains({"a": 6, "b": 4})
    others = {
        "host": source(host="globex.example"),
        "window": source(**BEFORE),
    }
    for other in others.values():
        frames = [first, domains({"a": 6, "b": 1}, other)]
        assert total(aa.concat(frames)) == 17
        assert total(aa.concat([frame.aa.with_context() for frame in frames])) == 17
    engines = [
        domains({"a": 6}, source(query=f"days=30&engine={name}")) for name in ("chatgpt", "claude")
    ]
    assert total(aa.concat(engines)) == 12
    assert total(aa.concat([frame.aa.with_context() for frame in engines])) == 12
    with pytest.raises(AvailabilityError, match=r"one key: aggregate each frame alone, or add"):
        total(aa.concat([*engines, domains({"a": 13})]))


def test_answers_about_several_brands_overlap() -> None:
    brands = [source(query=f"days=30&brand={name}") for name in ("Acme", "Globex")]
    with pytest.raises(AvailabilityError, match="the responses overlap"):
        total(aa.concat([domains({"a": 6}, brands[0]), domains({"a": 5}, brands[1])]))
    assert total(aa.concat([domains({"a": 6}, brand) for brand in brands])) == 6
