"""A merge whose keys do not meet warns, and says how they would."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest

from aatoolkit import errors

BRANDS = pd.DataFrame({"brand": ["Acme CRM", "Café CRM", "Globex"], "n": [1, 2, 3]})


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["x", "y"], "no key of the left frame (brand: 'Acme CRM', 'Café CRM', 'Globex') is in"),
        ([1.5, 2.5], "no key of the left frame (brand"),
    ],
)
@pytest.mark.parametrize("how", ["left", "inner"])
def test_keys_that_do_not_meet_are_named(names: list[object], words: str, how: str) -> None:
    own = pd.DataFrame({"name": pd.Series(names, dtype=object)})
    with pytest.warns(errors.AAToolkitWarning) as found:
        BRANDS.aa.merge(own, how=how, left_on="brand", right_on="name")
    (warning,) = found
    assert words in str(warning.message)
    assert warning.filename == __file__


def test_keys_of_several_columns_meet_row_by_row() -> None:
    left = pd.DataFrame({"engine": ["a", "b"], "day": [1, 2], "n": [1, 1]})
    right = pd.DataFrame({"engine": ["a", "b"], "day": [2, 1]})
    with pytest.warns(errors.AAToolkitWarning, match="no key of the left frame"):
        left.aa.merge(right, on=["engine", "day"])


def test_keys_that_meet_are_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BRANDS.aa.merge(pd.DataFrame({"brand": ["Globex"]}), how="left", on="brand")
        BRANDS.aa.merge(pd.DataFrame({"brand": ["Globex", "Other"]}), how="outer", on="brand")
        BRANDS.aa.merge(BRANDS.head(0), how="left", on="brand")
        BRANDS.aa.merge(pd.DataFrame({"other": [1]}), how="cross")
        BRANDS.aa.merge(pd.DataFrame({"m": [9]}, index=[7]), left_index=True, right_index=True)
        BRANDS.aa.merge(pd.DataFrame({"brand": ["x"]}), how="left_anti", on="brand")


def test_dtypes_that_do_not_meet_are_named() -> None:
    with pytest.raises(errors.ArgumentError, match="trying to merge on str and int64"):
        BRANDS.aa.merge(pd.DataFrame({"brand": [1, 2]}), on="brand")
