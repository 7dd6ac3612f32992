"""Named results of a study: kept under the seal, and never two under one name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit.errors import NotWritten, StudyError
from aatoolkit.study.comparing import compare_results

FRAME = pd.DataFrame({"brand": ["Acme", "Globex"], "rate": [0.25, None]}).convert_dtypes()


def sealed(path: Path, **results: Any) -> aa.Study:
    study = aa.Study.create(path / "mine", title="Results")
    for name, frame in results.items():
        study.results[name] = frame
    study.seal()
    return study


def test_a_result_comes_back_as_it_was_from_folder_and_file(tmp_path: Path) -> None:
    rates = FRAME.set_index("brand")["rate"]
    study = sealed(tmp_path, rates=rates, frame=FRAME.head(1))
    for opened in (aa.Study(study.path), aa.Study(study.pack(tmp_path / "mine.zip"))):
        assert opened.verify()
        assert [*opened.results] == ["rates", "frame"]
        assert opened.results["rates"]["rate"].equals(rates)
        pd.testing.assert_frame_equal(opened.results["frame"], FRAME.head(1))
        assert opened.results.hashes["frame"] == aa.logical_hash(FRAME.head(1))
        assert opened.digest == study.digest
    with pytest.raises(KeyError, match="did you mean 'rates'"):
        study.results["rate"]
    assert study.results.get("rate") is None


def test_the_same_content_changes_nothing_and_another_is_refused(tmp_path: Path) -> None:
    study = sealed(tmp_path, rates=FRAME)
    digest = study.digest
    study.results["rates"] = FRAME.convert_dtypes(dtype_backend="pyarrow")
    assert study.digest == digest
    other = FRAME.fillna({"rate": 0.0})
    with pytest.raises(StudyError, match=r"study\.results\.pop\('rates', None\)"):
        study.results["rates"] = other
    for _ in range(2):
        study.results.pop("rates", None)
    study.results["rates"] = other
    assert study.seal() != digest
    assert study.verify()
    assert study.results["rates"].equals(other)
    assert len([*(study.path / "results").iterdir()]) == 1


def test_a_tampered_result_is_found(tmp_path: Path) -> None:
    study = sealed(tmp_path, rates=FRAME)
    (file,) = (study.path / "results").iterdir()
    content = file.read_bytes()
    FRAME.fillna({"rate": 0.0}).to_parquet(file)
    report = aa.Study(study.path).verify()
    assert [problem.kind for problem in report.problems] == ["altered"]
    with pytest.raises(StudyError, match="not what was sealed"):
        aa.Study(study.path).results["rates"]
    with pytest.raises(StudyError, match=r"altered.*can be rerun"):
        aa.Study(study.path).rerun(tmp_path / "a.ipynb")
    file.write_bytes(content)
    index = study.path / "results.json"
    index.write_bytes(index.read_bytes().replace(b"rates", b"rotes"))
    assert not aa.Study(study.path).verify()
    with pytest.raises(StudyError, match="does not match the seal"):
        _ = aa.Study(study.path).results.hashes


def test_what_cannot_be_a_result_is_refused(tmp_path: Path) -> None:
    study = aa.Study.create(tmp_path / "mine")
    for name in ("", " ", "x" * 101, "a\nb"):
        with pytest.raises(StudyError):
            study.results[name] = FRAME
    with pytest.raises(StudyError, match="not a dict"):
        study.results["rates"] = {}  # type: ignore[assignment]
    with pytest.raises(NotWritten):
        study.results["rates"] = pd.DataFrame({"x": [object()]})
    study.seal()
    with pytest.raises(StudyError, match="opened for replay"):
        aa.Study(study.path).results["rates"] = FRAME
    with pytest.raises(StudyError, match="no result was sealed"):
        aa.Study(study.path).rerun(tmp_path / "a.ipynb")


ONE = FRAME.set_index("brand").assign(n=[3, 4])
LISTS = pd.DataFrame({"x": [["a"], ["b", "c"]]})


@pytest.mark.parametrize(
    ("sealed", "rerun", "words"),
    [
        (
            ONE,
            ONE.rename(index={"Globex": "Initech"}).assign(n=[3.5, 4.0]).drop(columns="rate"),
            (
                *("columns gone: rate", "n was int64 and is float64"),
                *("1 row gone", "1 row new", "1 cell changed"),
                *("[brand=Globex]: only before", "[brand=Acme] n: 3 → 3.5"),
            ),
        ),
        (
            FRAME,
            FRAME.assign(rate=[0.25 + 2**-54, None]),
            ("1 cell changed", "0.25 → 0.25000000000000006"),
        ),
        (FRAME, FRAME.fillna({"rate": 0.0}), ("nothing → 0",)),
        (ONE, ONE.iloc[::-1], ("another order",)),
        (FRAME, FRAME[["rate", "brand"]], ("another order",)),
        (
            FRAME,
            FRAME.assign(rate=FRAME["rate"].astype("string")),
            ("rate was float64 and is string",),
        ),
        (LISTS, pd.DataFrame({"x": [["a"], ["b"]]}), ('["b", "c"] → ["b"]',)),
    ],
)
def test_a_difference_is_shown_by_its_rows_columns_and_cells(
    sealed: pd.DataFrame, rerun: pd.DataFrame, words: tuple[str, ...]
) -> None:
    comparison = compare_results("r", sealed, rerun)
    assert comparison.status == "differs"
    for word in words:
        assert any(word in line for line in comparison.differences), (word, comparison.differences)
