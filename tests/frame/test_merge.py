"""The verbs that keep what pandas drops: merge, rename, adopt and concat."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from carried import (
    MEASURED,
    NOT_CONNECTED,
    PARTIAL,
    ColumnMetadata,
    FrameMetadata,
    Source,
    attach,
    metadata_of,
)
from serving import shared_dataset

import aatoolkit as aa
from aatoolkit import Availability, Cause, Status
from aatoolkit.availability import UNKNOWN
from aatoolkit.errors import AAToolkitWarning, ArgumentError

FIRST, SECOND = Source("acme.example", "domains"), Source("acme.example", "urls")
LEFT = {
    "domain": ColumnMetadata("d.domain", MEASURED),
    "count": ColumnMetadata("d.count", MEASURED),
    "gone": ColumnMetadata("d.gone", NOT_CONNECTED),
}
RIGHT = {
    "url": ColumnMetadata("u.url", MEASURED),
    "domain": ColumnMetadata("u.domain", PARTIAL),
    "count": ColumnMetadata("u.count", PARTIAL),
    "rate": ColumnMetadata("u.rate", MEASURED),
}


def left() -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "domain": pd.array(["a.example", "b.example", "c.example"], "string"),
            "count": pd.array([3, 0, None], "Int64"),
            "gone": pd.array([None, None, None], "Int64"),
        }
    )
    return attach(frame, FrameMetadata({**LEFT}, ("domain",), (FIRST,)))


def right() -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "url": pd.array(["a.example/1", "a.example/2", "d.example/1"], "string"),
            "domain": pd.array(["a.example", "a.example", "d.example"], "string"),
            "count": pd.array([1, 2, 9], "Int64"),
            "rate": pd.array([0.5, 0.25, 0.125], "Float64"),
        }
    )
    return attach(frame, FrameMetadata({**RIGHT}, ("url",), (SECOND,)))


def no_row(lacking: int, rows: int) -> Availability:
    return Availability(Status.PARTIAL, Cause.NO_ROW, f"{lacking} of {rows} rows without a match")


def states(frame: pd.DataFrame) -> dict[str, Availability]:
    return {name: column.availability for name, column in metadata_of(frame).columns.items()}


def owners() -> pd.DataFrame:
    return pd.DataFrame({"domain": ["a.example", "b.example", "c.example"], "owner": [*"xyz"]})


# --- merge ----------------------------------------------------------------------------------


def test_a_merge_keeps_the_claims_of_both_under_their_new_names() -> None:
    merged = left().aa.merge(right(), on="domain")
    pd.testing.assert_frame_equal(merged, left().merge(right(), on="domain"), check_flags=False)
    metadata = metadata_of(merged)
    assert metadata.columns == {
        "domain": LEFT["domain"],
        "count_x": LEFT["count"],
        "gone": LEFT["gone"],
        "url": RIGHT["url"],
        "count_y": RIGHT["count"],
        "rate": RIGHT["rate"],
    }
    assert metadata.key == ("domain", "url")
    assert metadata.sources == (FIRST, SECOND)


def test_a_look_up_table_takes_nothing_away() -> None:
    for plain in (left().merge(owners()), left().join(owners().set_index("domain"), on="domain")):
        assert states(plain) == states(left()) | {"owner": UNKNOWN}
    assert {*states(owners().merge(left())).values()} == {UNKNOWN}
    merged = left().aa.merge(owners())
    columns = metadata_of(merged).columns
    assert columns == LEFT | {"owner": columns["owner"]}
    assert columns["owner"].availability == UNKNOWN
    assert merged.aa.codebook["of"].isna().tolist() == [False] * 3 + [True]
    assert metadata_of(merged).key == ("domain",)
    assert metadata_of(owners().aa.merge(left())).columns["domain"].declared_name == "d.domain"


def test_a_plain_merge_with_an_own_table_keeps_counts_and_sources() -> None:
    prompts = shared_dataset()["prompts"].main
    teams = pd.DataFrame({"prompt_id": prompts["prompt_id"].array, "team": "a"})
    total = prompts.aa.aggregate(columns="mention_count")["mention_count"].item()
    inner = prompts.merge(teams)
    for merged in (
        inner[inner["team"] == "a"].sort_values("intent", ignore_index=True),
        prompts.merge(teams, how="left", on="prompt_id", validate="1:1"),
        prompts.join(teams.set_index("prompt_id"), on="prompt_id"),
        prompts.merge(pd.concat([teams, teams])),
    ):
        assert merged.aa.aggregate("team", "mention_count")["mention_count"].item() == total
        assert merged.aa.sources.equals(prompts.aa.sources)


def test_rows_without_a_match_make_the_columns_that_they_lack_partial() -> None:
    availability = states(left().aa.merge(right(), how="left", on="domain"))
    assert availability["count_x"] == MEASURED
    assert availability["domain"] == MEASURED
    assert availability["rate"] == no_row(2, 4)
    assert availability["gone"] == NOT_CONNECTED
    both = availability["count_y"]
    assert (both.status, both.cause) == (Status.PARTIAL, None)
    assert both.reason == "2 of 800; 2 of 4 rows without a match"
    availability = states(left().aa.merge(right(), how="right", on="domain"))
    assert availability["count_x"] == no_row(1, 3)
    assert availability["rate"] == MEASURED
    assert availability["domain"] == PARTIAL


def test_what_has_no_match_is_said_of_its_own_rows_and_groups() -> None:
    own = owners().replace({"domain": {"c.example": "nobody.example"}})
    merged = left().aa.merge(own, how="outer", on="domain")
    sums = merged.aa.aggregate("owner", "count", rules={"count": "sum"}, status=True)
    stated = sums[[f"count_availability{part}" for part in ("", "_cause", "_reason")]]
    assert stated.iloc[:2].to_numpy().tolist() == [["available", pd.NA, pd.NA]] * 2
    assert [*stated.iloc[2]] == ["unavailable", "no_row", "1 of 4 rows without a match"]
    assert metadata_of(merged.iloc[:2]).columns["count"].availability == MEASURED
    kinds = own.assign(text="a", seen=True).astype({"owner": "string"})
    lacking = states(left().aa.merge(kinds, how="left", on="domain"))
    assert {*map(lacking.get, kinds.columns[1:])} == {no_row(1, 3)}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"on": ["domain"], "suffixes": (None, "_of_url")}, ["count", "count_of_url"]),
        ({"how": "cross"}, ["domain_x", "domain_y", "url", "gone"]),
        ({"left_index": True, "right_index": True}, ["domain_x", "count_y"]),
        ({"how": "left_anti", "on": "domain"}, ["domain", "count_x"]),
        ({"on": "domain", "indicator": "side", "validate": "1:m"}, ["domain", "url"]),
    ],
    ids=str,
)
def test_a_merge_takes_what_that_of_pandas_takes(
    options: dict[str, Any], expected: list[str]
) -> None:
    merged = left().aa.merge(right(), **options)
    pd.testing.assert_frame_equal(merged, left().merge(right(), **options), check_flags=False)
    assert {*expected} <= {
        name for name, column in metadata_of(merged).columns.items() if column.declared_name
    }


def test_dtypes_that_do_not_meet_are_named() -> None:
    with pytest.raises(ArgumentError, match="trying to merge on str and int64"):
        left().astype({"domain": "str"}).aa.merge(pd.DataFrame({"domain": [1, 2]}), on="domain")


def test_a_merge_on_an_index_keeps_what_is_known_of_it() -> None:
    merged = (
        left()
        .set_index("domain")
        .aa.merge(owners().set_index("domain"), left_index=True, right_index=True)
    )
    metadata = metadata_of(merged.reset_index())
    assert metadata.columns["domain"].availability == MEASURED
    assert metadata.columns["count"].declared_name == "d.count"
    assert metadata.key == ("domain",)


def test_a_merge_that_pandas_refuses_is_refused() -> None:
    with pytest.raises(KeyError, match="nonsense"):
        left().aa.merge(right(), on="nonsense")
    with pytest.warns(AAToolkitWarning, match="no row"):
        left().aa.merge(right(), left_on="domain", right_on="url")


# --- rename ---------------------------------------------------------------------------------


def test_a_renamed_column_keeps_its_claim_and_its_place_in_the_key() -> None:
    renamed = left().aa.rename(columns={"domain": "site", "count": "n"})
    metadata = metadata_of(renamed)
    assert [*renamed.columns] == ["site", "n", "gone"]
    assert metadata.columns == {"site": LEFT["domain"], "n": LEFT["count"], "gone": LEFT["gone"]}
    assert metadata.key == ("site",)
    assert metadata.sources == (FIRST,)


# --- adopt ----------------------------------------------------------------------------------


def test_claims_are_taken_back_after_plain_steps() -> None:
    plain = left().merge(owners()).merge(right()[["domain", "url", "rate"]], on="domain")
    adopted = plain.aa.adopt(left(), right())
    metadata = metadata_of(adopted)
    right_only = {name: RIGHT[name] for name in ("url", "rate")}
    assert metadata.columns == LEFT | right_only | {"owner": ColumnMetadata()}
    assert metadata.sources == (FIRST, SECOND)
    pd.testing.assert_frame_equal(adopted, plain, check_flags=False)


def test_of_keys_that_name_a_column_twice_the_first_counts() -> None:
    left = pd.DataFrame({"a": ["x", "q"], "b": ["x", "x"]})
    right = pd.DataFrame({"x": ["x", "y"], "v": [10, 20]})
    merged = left.aa.merge(right, left_on=["a", "b"], right_on=["x", "x"], how="left")
    total = merged.aa.aggregate([], rules={"v": "sum"}, skip_missing=True)
    assert total["v"].tolist() == [10]


def test_rows_without_a_match_are_noticed() -> None:
    plain = left()[["domain"]].merge(right()[["domain", "url", "rate"]], how="left", on="domain")
    availability = states(plain.aa.adopt(right()))
    assert availability["rate"] == no_row(2, 4)


def test_sums_and_other_values_take_no_claim() -> None:
    frame = left()
    for derived in (
        frame.groupby("domain", as_index=False)[["count"]].sum(),
        frame.assign(count=7),
        frame.fillna({"count": 0}),
        frame[["domain"]].assign(count=[0, 3, 3]),
    ):
        derived = pd.DataFrame(derived)
        assert states(derived.aa.adopt(frame))["count"] == UNKNOWN
        assert states(derived.aa.adopt(frame))["domain"] == MEASURED
    assert states(pd.DataFrame(frame.assign(gone=0)).aa.adopt(frame))["gone"] == UNKNOWN


# --- concat ---------------------------------------------------------------------------------


def test_stacked_frames_join_what_is_known_of_a_column() -> None:
    columns = LEFT | {"count": ColumnMetadata("d.count", PARTIAL)}
    later = attach(
        left().assign(count=pd.array([1, 2, 3], "Int64")),
        FrameMetadata({**columns}, ("domain",), (SECOND,)),
    )
    metadata = metadata_of(aa.concat([left(), later], ignore_index=True))
    assert metadata.columns == columns
    assert metadata.sources == (FIRST, SECOND)
    assert metadata.key == ()
    apart = later.assign(domain=["x", "y", "z"])
    assert metadata_of(aa.concat([left(), apart.aa.adopt(later)])).key == ("domain",)


def test_a_column_that_a_frame_lacks_is_partial() -> None:
    stacked = aa.concat([left(), right()])
    columns = metadata_of(stacked).columns
    assert columns["rate"] == ColumnMetadata(
        "u.rate", Availability(Status.PARTIAL, Cause.ABSENT, "3 of 6 rows from frames without it")
    )
    assert columns["gone"] == LEFT["gone"]
    assert columns["count"] == ColumnMetadata(None, PARTIAL)
    assert [*stacked.dtypes.astype(str)] == ["string", "Int64", "Int64", "string", "Float64"]
    assert [*aa.concat([left(), right()], join="inner").columns] == ["domain", "count"]
    assert states(aa.concat([left(), right().iloc[:0]]))["gone"] == NOT_CONNECTED
    assert states(aa.concat([right(), left().iloc[:0]]))["rate"] == MEASURED


def test_categories_get_the_levels_of_all() -> None:
    def of(levels: list[str], *, ordered: bool = False) -> pd.DataFrame:
        return pd.DataFrame({"c": pd.Categorical(levels[:1], levels, ordered=ordered)})

    def stacked(*frames: pd.DataFrame) -> pd.CategoricalDtype:
        return aa.concat(frames)["c"].dtype

    assert stacked(of(["a", "b"]), of(["c", "a"])) == pd.CategoricalDtype(["a", "b", "c"])
    low = of(["low", "high"], ordered=True)
    assert not stacked(low, of(["low", "mid", "high"], ordered=True)).ordered
    assert stacked(low, pd.DataFrame({"d": [1]})).ordered
    text = pd.DataFrame({"c": pd.array(["x"], "string")})
    assert aa.concat([low, text])["c"].dtype == "string"


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("int64", "Int64"),
        ("bool", "boolean"),
        ("float64", "float64"),
        ("datetime64[us, UTC]", "datetime64[us, UTC]"),
        ("string", "string"),
        ("boolean", "boolean"),
    ],
)
def test_dtypes_do_not_drift(dtype: str, expected: str) -> None:
    having = (
        pd.DataFrame({"a": [1], "n": pd.array([1], "int64")})
        .astype({"n": "Int64" if dtype == "string" else dtype})
        .astype({"n": dtype})
    )
    for other in (
        pd.DataFrame({"a": [2]}),
        pd.DataFrame({"a": [2], "n": [None]}, dtype=object),
        pd.DataFrame({"a": [2], "n": [pd.NA]}),
    ):
        for frames in ([having, other], [other, having]):
            stacked = aa.concat(frames, ignore_index=True)
            assert stacked["n"].dtype == expected
            assert stacked["n"].isna().sum() == 1
            assert [*stacked["n"].dropna()] == [*having["n"]]
    assert aa.concat([having, having])["n"].dtype == dtype


def test_concat_takes_what_that_of_pandas_takes() -> None:
    frames = {"x": left(), "y": left()}
    stacked = aa.concat(frames, names=["window", None])
    assert stacked.index.names == ["window", None]
    assert stacked.loc["y"]["count"].tolist() == left()["count"].tolist()
    assert states(stacked)["count"] == MEASURED
    assert [*aa.concat(frames, keys=["y"]).index.levels[0]] == ["y"]
    assert len(aa.concat(iter([left(), left()]))) == 6
    with pytest.raises(ValueError, match="overlapping"):
        aa.concat([left(), left()], verify_integrity=True)
    with pytest.raises(ValueError, match="No objects"):
        aa.concat([])
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert len(aa.concat([twice, twice])) == 2


# --- all of them ----------------------------------------------------------------------------


def test_a_merge_without_keys_joins_on_no_measures() -> None:
    domains = shared_dataset()["domains"].main
    trend = shared_dataset()["overview"]["overview_trend"]
    with pytest.raises(ArgumentError, match="answer_count are measures"):  # which adds over nothing
        domains.aa.merge(shared_dataset()["prompts"].main)
    with pytest.raises(ArgumentError, match="are measures; name the key") as caught:
        domains.aa.merge(trend)
    assert caught.value.argument == "on"
    own = pd.DataFrame({"source_domain": domains["source_domain"], "seen": True})
    assert len(domains.aa.merge(own)) == len(domains)
