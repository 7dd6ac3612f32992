"""Results in a terminal and a notebook: key, numbers and verdict, and why there is none."""

from __future__ import annotations

import pandas as pd
import pytest

from aatoolkit._util.result_frame import ResultFrame

WHY = "nothing says how mentions vary between prompts, as the section prompts was not read"


def frame(**more: object) -> ResultFrame:
    columns: dict[str, object] = {
        "measure": ["share_of_voice"] * 2,
        "brand": ["Acme", "<b>Globex</b>"],
        "before": pd.array([0.2, None], "Float64"),
        "after": [0.25, 0.1],
        "change": pd.array([0.05, None], "Float64"),
        "low": pd.array([0.001, None], "Float64"),
        "high": pd.array([0.099, None], "Float64"),
        "p": [0.01, float("nan")],
        "p_adjusted": [0.02, float("nan")],
        "n": [892.0, 101.0],
        "clusters": [23, 23],
        "verdict": ["up", "cannot say"],
        "why": ["20 % to 25 %", WHY],
        "method": ["paired by prompt_id, linearised, t of 10.5 degrees of freedom"] * 2,
    }
    return ResultFrame({**columns, **more})


LABEL = 'scope="row" style="text-align:left;vertical-align:top;white-space:nowrap"'
"""How the label of a row is set in a notebook."""


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_a_result_shows_key_numbers_and_verdict_in_80_columns() -> None:
    shown = repr(frame())
    assert max(map(len, shown.splitlines())) <= 80
    assert "..." not in shown
    head = next(line for line in shown.splitlines() if "brand" in line)
    assert head.split() == ["brand", "before", "after", "change", "low", "high", "verdict"]
    assert shown.startswith("measure: share_of_voice\n")
    assert "0  Acme           0.2000" in shown
    assert shown.count("<NA>") == 4
    assert " ".join(shown.split()).count(f"cannot say: {WHY}") == 1
    assert "not shown: p, p_adjusted, n, clusters, why, method" in shown


def test_where_keys_take_the_room_they_share_a_column() -> None:
    shown = repr(frame(measure=["x" * 30, "y" * 20]))
    assert max(map(len, shown.splitlines())) <= 80
    assert " ".join(shown.split()[:6]) == "measure brand before after change verdict"
    assert f"{'x' * 30} Acme " in shown
    assert WHY in " ".join(shown.split())


def test_where_there_is_no_room_for_numbers_the_reason_is_below_each_row() -> None:
    shown = repr(frame(measure=["x" * 60, "y" * 30]))
    assert max(map(len, shown.splitlines())) <= 80
    assert "20 % to 25 %" in shown
    assert WHY in " ".join(shown.split())


def test_an_interval_without_0_beside_no_evidence_is_accounted_for() -> None:
    shown = repr(frame(verdict=["no evidence"] * 2, p_adjusted=[0.33, 0.5]))
    assert "no evidence (row 0) though the interval" in shown
    assert "p is 0.33" in " ".join(shown.split())
    assert "though the interval" not in repr(frame())


def test_sentences_are_beside_the_numbers_or_below_them(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "not measured: visited and converted: not listed, which is not 0"
    result = ResultFrame(
        {"path": ["/" + "p" * 20], "crawled": [880], "cited": [34], "visited": [1], "n": [12345]}
        | {"verdict": sentence, "method": "joined on paths"}
    )
    below = repr(result).splitlines()
    assert below[1].split() == ["0", "/" + "p" * 20, "880", "34", "1", "12345"]
    assert below[2].strip() == sentence
    monkeypatch.setenv("COLUMNS", "200")
    assert sentence in repr(result).splitlines()[1]


def test_numbers_of_several_units_have_their_own_digits() -> None:
    result = frame(unit=["fraction 0-1", "rank"], before=[0.012345, 12345.6])
    shown = repr(result)
    assert "0.0123" in shown
    assert "1.23e+04" in shown


def test_what_fits_or_has_no_verdict_is_shown_by_pandas() -> None:
    small = frame()[["brand", "after", "verdict"]]
    assert repr(small) == repr(pd.DataFrame(small))
    plain = frame().drop(columns="verdict")
    assert isinstance(plain, ResultFrame)
    assert repr(plain) == repr(pd.DataFrame(plain))
    assert plain._repr_html_() == pd.DataFrame(plain)._repr_html_()  # type: ignore[operator]
    assert repr(frame().head(0)) == repr(pd.DataFrame(frame().head(0)))


def test_a_notebook_shows_the_same_and_all_columns_folded() -> None:
    page = frame()._repr_html_()
    head, _, whole = page.partition("<details>")
    assert "<b>Globex" not in page
    assert "&lt;b&gt;Globex" in head
    assert WHY in head
    assert "paired by" not in head
    assert "paired by" in whole


def test_a_notebook_shows_what_is_constant_once_and_sentences_below_their_rows() -> None:
    hosts = {"host": "acme.example", "baseline_host": "globex.example"}
    same = ResultFrame({**hosts, **frame(), "verdict": "no evidence"})
    page = same._repr_html_().partition("<details>")[0]
    assert page.count("globex.example") == page.count("share_of_voice") == 1
    assert page.count("no evidence</td>") == 2
    assert all(f"<th {LABEL}>{row}</th>" in page for row in (0, 1))
    sentence = "not measured: visited and converted: not listed, which is not 0"
    wide = {f"stage_of_the_funnel_{at}": [at, at] for at in range(6)}
    page = ResultFrame({"path": ["/", "/a"], **wide, "verdict": sentence})._repr_html_()
    rows = page.partition("<details>")[0].split("<tr>")[1:]
    assert [sentence in row for row in rows] == [False, False, True, False, True]


def test_long_results_say_how_many_rows_are_left_out() -> None:
    long = pd.concat([frame()] * 50, ignore_index=True)
    assert "… 40 more rows" in repr(long)
    assert isinstance(long, ResultFrame)


def test_a_notebook_fills_its_room_and_folds_only_what_it_leaves_out() -> None:
    chosen = frame(detectable=[0.23, 0.43])[["brand", "change", "detectable", "verdict"]]
    page = chosen._repr_html_()
    assert "detectable</th>" in page
    assert "<details>" not in page
    head, _, fold = frame(detectable=[0.23, 0.43])._repr_html_().partition("<details>")
    assert "detectable</th>" in head
    assert "paired by" in fold


def test_the_column_that_rows_are_sorted_by_is_in_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = frame(measure=["x" * 30, "y" * 28], before=[0.123456, 1e6], after=[0.25, 1e6])
    for width in (60, 70, 80, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        assert "not shown" in repr(wide)
        for result, name in [
            (wide, "change"),  # as results come
            (wide.sort_values("p_adjusted"), "p_adjusted"),
            (wide.sort_values(by=["clusters", "p"], ascending=False).head(1), "p"),
            (wide[wide["n"] > 0].sort_values("high").reset_index(drop=True), "high"),
        ]:
            shown = repr(result)
            rest = "".join(shown.partition("not shown: ")[2].splitlines()).split(", ")
            assert name not in rest, shown
            heads = [line.split() for line in shown.splitlines() if "verdict" in line.split()]
            assert len(heads) == 1
            assert name in heads[0], shown
            assert max(map(len, shown.splitlines())) <= width
            page = str(result._repr_html_()).partition("<details>")[0]
            assert f">{name}</th>" in page
