"""Readings: numbers, dates, flags and sentinels in every spelling, and identifiers left alone."""

from __future__ import annotations

import pytest

from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.readings import read_values
from aatoolkit.sections.inference.words import meaning


@pytest.mark.parametrize(
    ("values", "name", "dtype", "parse"),
    [
        ([1, 2, None], "hits", "Int64", None),
        ([0.5, 1, MISSING], "rate", "Float64", None),
        (["1,204", "17"], "hits", "Int64", "number"),
        (["11\u00a0735", "290"], "hits", "Int64", "number"),
        (["34.5%", "2 %"], "share", "Float64", "number"),
        (["+2.1", "−0.4"], "change", "Float64", "number"),
        (["#3", "#12"], "rank", "Int64", "number"),
        (["1.204,5", "3,0"], "hits", "Float64", "decimal comma"),
        (["$1,204.50", "$3"], "price", "Float64", "money"),
        (["2026-11-03", "2026-11-04"], "day", "date", None),
        (["24/10/2026", "03/11/2026"], "fecha", "date", "DD/MM/YYYY"),
        (["3.11.2026", "24.12.2026"], "pvm", "date", "DD/MM/YYYY"),
        (["10/24/2026", "1/2/2026"], "day", "date", "MM/DD/YYYY"),
        (["03/04/2026", "05/06/2026"], "fecha", "string", None),
        (["24/10/2026", "10/24/2026"], "fecha", "string", None),
        (["31/02/2026"], "fecha", "string", None),
        (["1.234,50 €", "2.469,00 €"], "importe", "Float64", "money"),
        (["kr 12,00"], "summa", "string", None),
        (["1.234,50 kr", "12,00 kr"], "summa", "Float64", "money"),
        (["1.234 €"], "importe", "string", None),
        (["2026-11-03T10:00:00Z"], "seenAt", "timestamp", None),
        (["2026-11-03 10:00"], "seenAt", "timestamp", "utc"),
        ([20261103, 20261104], "lastSeen", "date", "YYYYMMDD"),
        ([1794197527000, 1794197528000], "at", "timestamp", "epoch ms"),
        ([1794197527, 1794197528], "createdAt", "timestamp", "epoch s"),
        ([1794182400, 1794268800, 1794355200], "zuletzt", "timestamp", "epoch s"),
        ([1794182400, 1794268801, 1794355200], "zuletzt", "Int64", None),
        (["yes", "no"], "cited", "boolean", "boolean"),
        ([0, 1, 1], "isOwn", "boolean", "boolean"),
        (["1m 30s", "12s"], "length", "Float64", "duration"),
        (["00123", "00456"], "sku", "string", None),
        (["123", "456"], "promptId", "string", None),
        ([True, False, None], "own", "boolean", None),
        (["a", "b"], "name", "string", None),
        ([["a"], []], "tags", "list<string>", None),
    ],
)
def test_values_are_read_by_what_they_are(values, name, dtype, parse):
    found = read_values(values, name)
    assert (found.dtype, found.parse) == (dtype, parse)


@pytest.mark.parametrize(
    ("values", "name", "missing"),
    [
        ([3, -1, 7, 12], "position", (-1,)),
        ([3, -1, 7, 12], "change", ()),
        ([-0.4, 0.1, 0.9], "sentiment_score", ()),
        ([3, 9999, 7, 12, 5], "rank", (9999,)),
        ([900, 999, 700, 1200], "hits", ()),
        (["1,204", "n/a", ""], "hits", ("", "n/a")),
        (["20261011", ""], "lastSeen", ("",)),
        ([0.5, "—", 0.2], "rate", ("—",)),
    ],
)
def test_sentinels_are_those_that_break_the_range_of_the_rest(values, name, missing):
    assert read_values(values, name).missing == missing


def test_amounts_and_durations_in_text_are_numbers_for_identities():
    assert read_values(["$1,204.50", "n/a", "$3"], "price").numbers.tolist()[::2] == [1204.5, 3.0]
    assert read_values(["1m 30s", "12s"], "length").numbers.tolist() == [90.0, 12.0]
    assert read_values(["2026-W45", "2026-W46"], "week").parse == "iso week"
    assert read_values(["2026-W99"], "week").dtype == "string"


def test_days_in_plain_numbers_are_days_whatever_they_are_called():
    days = [20261101, 20261102, 20261103, 20261017, 20260930]
    assert read_values(days, "created").parse == "YYYYMMDD"
    assert read_values([*days, -1], "first_day").missing == (-1,)
    # Too few, or one that is no day, and they are numbers.
    assert read_values(days[:2], "opened").dtype == "Int64"
    assert read_values([*days, 20261399], "opened").dtype == "Int64"


def test_names_that_seem_to_tell_a_unit_and_do_not():
    assert meaning("pos").kind == ""
    assert meaning("avg_pos").kind == "position"
    assert meaning("firstPositions").kind == "count"
    assert meaning("ranks").kind == "rank"
    assert meaning("insight_no").kind == "id"
    assert meaning("number_of_citations").kind == meaning("citation_count").kind == "count"
