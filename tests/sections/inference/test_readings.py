"""Readings: numbers, dates, flags and units in every spelling, and identifiers left alone."""

from __future__ import annotations

from typing import Any

import pytest

from aatoolkit.sections import Column, propose


def read(values: list[Any], name: str) -> Column:
    rows = [{"host": f"h{at}", name: value} for at, value in enumerate(values)]
    return propose({"rows": rows, "until": "2026-11-20"}, "crawl").section.tables[0].columns[1]


@pytest.mark.parametrize(
    ("values", "name", "dtype", "parse"),
    [
        ([1, 2, None], "hits", "Int64", None),
        ([0.5, 1], "rate", "Float64", None),
        (["1,204", "17"], "hits", "Int64", "number"),
        (["34.5%", "2 %"], "share", "Float64", "number"),
        (["#3", "#12"], "rank", "Int64", "number"),
        (["#3", "#12"], "orderName", "string", None),
        (["2026110300", "2026111400"], "timestamp", "date", "YYYYMMDD"),
        (["2026/11/3", "2026/11/14"], "x", "date", "YYYYMMDD"),
        (["2026年11月3日"], "日付", "date", "YYYYMMDD"),
        (["1.204,5", "3,0"], "hits", "Float64", "decimal comma"),
        (["$1,204.50", "$3"], "price", "Float64", "money"),
        (["2026-11-03", "2026-11-04"], "day", "date", None),
        (["2026-W45", "2026-W46"], "week", "date", "iso week"),
        (["2026-11-03+01:00", "2026-11-04+01:00"], "tag", "date", "zoned day"),
        (["24/10/2026", "03/11/2026"], "fecha", "date", "DD/MM/YYYY"),
        (["Nov 3, 2026", "November 14, 2026"], "day", "date", "month day year"),
        (["Nov 3", "Nov 14"], "day", "date", "month day"),
        ([20760, 20761, 20762], "day", "date", "epoch days"),
        (["1794182400.000", "1794268800.000"], "loadedAt", "timestamp", "epoch s"),
        ([1794182400000, 1794268800000, 1794355200000], "index", "date", "epoch ms"),
        (["2026-10", "2026-11"], "month", "date", "iso month"),
        ([20760, 20761, 20762], "hits", "Int64", None),
        (["03/04/2026", "05/06/2026"], "fecha", "string", None),
        (["24/10/2026", "10/24/2026"], "fecha", "string", None),
        (["1.234,50 €", "2.469,00 €"], "importe", "Float64", "money"),
        (["1.234 €", "2.345 €"], "importe", "string", None),
        (["2026-11-03T10:00:00Z"] * 2, "seenAt", "timestamp", None),
        (["2026-11-03 10:00"] * 2, "seenAt", "timestamp", "utc"),
        ([20369, 20371], "SeenFirst", "date", "epoch days"),
        ([20261101, 20261102, 20261103, 20261017, 20260930], "created", "date", "YYYYMMDD"),
        ([20261101, 20261102], "opened", "Int64", None),
        ([20261101, 20261102, 20261103, 20261017, 20261399], "opened", "Int64", None),
        ([1794182400, 1794268800, 1794355200], "zuletzt", "date", "epoch s"),
        (["yes", "no"], "cited", "boolean", "boolean"),
        ([0, 1, 1], "isOwn", "boolean", "boolean"),
        (["1m 30s", "12s"], "length", "Float64", "duration"),
        (["00123", "00456"], "sku", "string", None),
        (["123", "456"], "promptId", "string", None),
        ([True, False, None], "own", "boolean", None),
        (["a", "b"], "name", "string", None),
        (["ACC-313", "EXP-15"], "accion", "string", None),
        ([["a"], []], "tags", "list<string>", None),
        # A point before three digits: what else is there tells, or the name, or nothing does.
        (["1.204", "987", "2.310"], "number_of_citations", "Int64", "decimal comma"),
        (["1.204.567", "87"], "x", "Int64", "decimal comma"),
        (["1.204", "2.310"], "depth", "string", None),
        (["0.204", "1.310"], "depth", "Float64", "number"),
        (["1.204", "2310"], "depth", "Float64", "number"),
        (["1.204", "2.310"], "avg_response_ms", "Float64", "number"),
        (["1,204", "2,310"], "mean_position", "Float64", "decimal comma"),
    ],
)
def test_values_are_read_by_what_they_are(values, name, dtype, parse):
    column = read(values, name)
    assert (column.dtype, column.parse) == (dtype, parse)


@pytest.mark.parametrize(
    ("values", "name", "missing"),
    [
        ([3, -1, 7, 12], "position", (-1,)),
        ([20261101, 20261102, 20261103, 20261017, -1], "first_day", (-1,)),
        ([3, -1, 7, 12], "change", ()),
        ([-0.4, 0.1, 0.9], "sentiment_score", ()),
        (["1,204", "n/a", ""], "hits", ("", "n/a")),
        (["20261011", ""], "lastSeen", ("",)),
        ([0.5, "—", 0.2], "rate", ("—",)),
    ],
)
def test_sentinels_are_those_that_break_the_range_of_the_rest(values, name, missing):
    assert read(values, name).missing == missing


@pytest.mark.parametrize(
    ("values", "name", "unit", "scale"),
    [
        ([4, 17], "hits", "count", None),
        ([0.4, 0.17], "mentionRate", "fraction 0-1", None),
        ([40.5, 17.1], "mentionRate", "fraction 0-1", 0.01),
        ([405000, 171000], "ctrPpm", "fraction 0-1", 1e-6),
        ([4050, 1710], "share_bps", "fraction 0-1", 1e-4),
        ([1200000, 450000], "costMicros", "currency", 1e-6),
        ([120, 4500], "spendCents", "currency", 0.01),
        ([1.2, 3.4], "avgPos", "position", None),
        ([3, 7], "pos", None, None),
        ([4100, 4107], "insight_no", None, None),
        ([3, 4], "firstPositions", "count", None),
        ([120, 80], "latencyMs", "milliseconds", None),
        ([12, 30], "Umsatz", "currency", None),
        ([12, 30], "zorp", None, None),
    ],
)
def test_a_unit_is_likely_where_name_and_range_agree(values, name, unit, scale):
    column = read(values, name)
    assert (column.unit, column.scale) == (unit, scale)
