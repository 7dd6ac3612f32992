"""Workbooks: every table fits, and nothing in them is a formula, rounded, or lost."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit.errors import NotWritten


@pytest.fixture(scope="module")
def dataset() -> aa.Dataset:
    return aa.demo().read_all(sections=["crawl", "chats", "domains"], progress=False)


@pytest.fixture(scope="module")
def book(dataset: aa.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset.to_excel(tmp_path_factory.mktemp("books") / "acme.xlsx")


def test_a_dataset_has_an_overview_a_sheet_a_table_and_a_codebook(
    dataset: aa.Dataset, book: Path
) -> None:
    sheets = openpyxl.load_workbook(book)
    tables = {name: frame for part in dataset.values() for name, frame in part.items()}
    words = [name.replace("_", " ").capitalize() for name in tables]
    assert sheets.sheetnames == ["Overview", *words, "Columns"]
    overview = sheets["Overview"]
    (chart,) = overview._charts
    assert chart.ser[0].val.numRef.f.startswith("'Crawl")
    links = {row[0].value: row[0].hyperlink for row in overview.iter_rows() if row[0].hyperlink}
    assert [link.location for link in links.values()] == [
        f"'{name}'!A1" for name in [*words, "Columns"]
    ]
    lines = {row[0].value: row for row in overview.iter_rows()}
    assert lines["acme.example, 2026-10-22 to 2026-11-20"][0].row == 2
    for name, frame in zip(words, tables.values(), strict=True):
        assert lines[name][1].value == len(frame)
        heads = {str(cell.value).lower().replace(" ", "_") for cell in sheets[name][1]}
        assert heads == {*frame.columns}
        assert sheets[name].max_row == len(frame) + 1
    assert any("An empty cell is no 0" in str(line) for line in lines)
    for sheet in sheets.worksheets[1:]:
        assert (sheet.auto_filter.ref or "A1:").startswith("A1:")
        assert (sheet.freeze_panes, sheet.page_setup.orientation) == ("A2", "landscape")
        assert sheet.print_title_rows == "$1:$1"
        assert (sheet.page_setup.scale == 60) == bool(sheet.print_title_cols)
        assert "Page &P of &N" in str(sheet.oddFooter.right.text) or sheet.oddFooter.right.text
    assert (sheet.title, sheet.print_title_cols) == ("Columns", "$A:$A"), "a wide one"
    assert not sheets["Source domain types"].print_title_cols
    columns = pd.read_excel(book, sheet_name="Columns").set_index(["table", "column"])
    assert columns.loc[("source_domains", "citation_count"), "unit"] == "count"
    assert columns.loc[("source_domains", "citation_count"), "header"] == "Citation count"


def test_numbers_are_shown_by_their_units(dataset: aa.Dataset, book: Path) -> None:
    sheet = openpyxl.load_workbook(book)["Source domains"]
    (share,) = [cell for cell in sheet[1] if cell.value == "Citation share"]
    frame = dataset["domains"].main
    cell = sheet.cell(2, share.column)
    assert cell.number_format == "0.0%"
    assert cell.value == pytest.approx(frame["citation_share"].iloc[0], rel=1e-15)


def test_a_metric_is_shown_in_the_unit_of_its_row_there_and_on_the_overview(
    tmp_path: Path,
) -> None:
    frame = aa.demo().read("overview")["overview_kpis"]
    sheets = openpyxl.load_workbook(frame.aa.to_excel(tmp_path / "kpis.xlsx"))
    for sheet, names in (
        ("Data", ("mentionRate", "visibilityScore", "answerCount")),
        ("Overview", ("Mention rate", "Visibility score", "Answer count")),
    ):
        cells = {row[0].value: row[1] for row in sheets[sheet].iter_rows(min_row=2)}
        assert [cells[name].number_format for name in names] == ["0.0%", "0.0", "#,##0"]
        assert cells[names[2]].value == 428


def test_the_overview_of_another_service_has_its_metrics_and_draws_no_zeros(
    tmp_path: Path,
) -> None:
    days = [{"date": f"2026-11-0{day}", "visits": 0} for day in range(1, 9)]
    body = {"kpis": [{"metric": "citedDomains", "value": 39}], "days": days}
    tables = aa.normalize(aa.sections.propose(body, "overview").section, body)
    path = aa.Dataset({"overview": tables}).to_excel(tmp_path / "a.xlsx")
    sheet = openpyxl.load_workbook(path)["Overview"]
    assert [cell.value for cell in sheet[3]][:3] == ["Key figure", "Value", "Before"]
    assert [cell.value for cell in sheet[4]][:3] == ["Cited domains", 39, None]
    assert not sheet._charts


def test_columns_are_wide_enough_for_dates_and_numbers(book: Path) -> None:
    seen = 0
    for sheet in openpyxl.load_workbook(book):
        for cells in sheet.iter_cols(min_row=2, max_row=150):
            dates = [cell for cell in cells if isinstance(cell.value, datetime)]
            places = sheet.column_dimensions.values()
            at = cells[0].column
            width = next(place.width for place in places if place.min <= at <= place.max)
            seen += bool(dates)
            for cell in dates:
                assert width >= (23 if "UTC" in cell.number_format else 10)
            integers = [cell.value for cell in cells if isinstance(cell.value, int)]
            assert all(width >= len(f"{value:,}") for value in integers)
    assert seen >= 4


def test_numbers_moments_and_lists_are_those_of_the_frame(dataset: aa.Dataset, book: Path) -> None:
    frame = dataset["crawl"]["crawl_bots"]
    sheet = pd.read_excel(book, sheet_name="Crawl bots").set_axis([*frame], axis=1)
    moments = [name for name in frame if isinstance(frame[name].dtype, pd.DatetimeTZDtype)]
    assert moments
    for name in moments:
        there = frame[name].notna().to_numpy()
        assert (sheet[name].notna() == there).all()
        utc = frame.loc[there, name].dt.tz_localize(None)
        assert [*pd.to_datetime(sheet.loc[there, name])] == [*utc]
    counts = [*frame.select_dtypes("Int64")]
    assert counts
    for name in counts:
        assert sheet[name].astype("Int64").equals(frame[name])
    domains = dataset["domains"].main["brands_mentioned"].dropna()
    written = pd.read_excel(book, sheet_name="Source domains")["Brands mentioned"].dropna()
    assert [tuple(json.loads(text)) for text in written] == [*domains]


def test_a_text_is_never_a_formula_and_what_is_missing_is_empty(tmp_path: Path) -> None:
    frame = pd.DataFrame({"word": ["=1+1", None], "n": pd.array([None, 0], "Int64")})
    sheet = openpyxl.load_workbook(frame.aa.to_excel(tmp_path / "a.xlsx"))["Data"]
    assert [(row[0].data_type, row[0].value) for row in sheet.iter_rows(min_row=2)] == [
        ("s", "=1+1"),
        ("n", None),
    ]
    assert [cell.value for cell in sheet["B"]] == ["n", None, 0]


def test_what_steers_a_terminal_or_reorders_a_line_is_escaped_as_in_csv(tmp_path: Path) -> None:
    texts = ["C1\x9b31m", "exe\u202egnp", "\x1b]0;x\x07", "a\rb", "line\nnext", r"\u0041"]
    frame = pd.DataFrame({"text": texts, "k\u2066": texts})
    path = frame.aa.to_excel(tmp_path / "texts.xlsx")
    sheet = pd.read_excel(path, sheet_name="Data", keep_default_na=False)
    assert [*sheet] == ["text", r"k\u2066"]
    plain = [r"C1\u009b31m", r"exe\u202egnp", r"\u001b]0;x\u0007", r"a\u000db", "line\nnext"]
    assert sheet["text"].tolist()[:5] == plain


def test_another_suffix_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match=r"\.xlsx") as caught:
        pd.DataFrame({"n": [1]}).aa.to_excel(tmp_path / "a.xls")
    assert caught.value.path == str(tmp_path / "a.xls")
    assert [*tmp_path.iterdir()] == []
