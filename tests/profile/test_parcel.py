"""The service in ``data/parcel``, met as one that nobody described: what is found, and what not."""

from __future__ import annotations

import runpy
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit.sections import Profile

PARCEL = runpy.run_path(str(Path(__file__).parents[2] / "data" / "parcel" / "service.py"))
SECTIONS = ("domains", "overview", "ranking", "ads")
KEY = {
    ("domains", "cites"): ("count", "sum"),
    ("domains", "answers_with"): ("count", "sum over engine"),
    ("domains", "answers_all"): ("count", None),
    ("domains", "reach"): ("fraction 0-1", "ratio Σanswers_with/Σanswers_all"),
    ("ranking", "named"): ("count", "sum over engine"),
    ("ranking", "out_of"): ("count", None),
    ("ranking", "named_part"): ("fraction 0-1", "ratio Σnamed/Σout_of"),
    ("overview", "curve"): ("count", "sum"),
    ("ads", "shown"): ("count", "sum"),
    ("ads", "paid"): ("currency", "sum (one paid_currency only)"),
}
"""Unit and rule of each number; None where rows do not combine."""

DTYPES = {"last_on": "date", "date": "date", "paid": "Float64", "reach": "Float64"}


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadingHTTPServer]:
    handler = type("Handler", (PARCEL["Handler"],), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def project(server: ThreadingHTTPServer, profile: Any = None) -> aa.Project:
    address = f"http://127.0.0.1:{server.server_address[1]}"
    client = aa.Client(address, token=PARCEL["TOKEN"], cache=False, profile=profile)
    return client.project(PARCEL["HOST"])


@pytest.fixture(scope="module")
def draft(server: ThreadingHTTPServer) -> aa.profile.Draft:
    return aa.profile.draft(project(server), sections=SECTIONS, progress=False)


def test_types_units_and_rules_are_found_and_none_is_wrong(draft):
    found = {(name, c.name): c for name, section in draft.items() for c in section.columns()}
    assert {name: found[key].dtype for key in found if (name := key[1]) in DTYPES} == DTYPES
    units = rules = 0
    for key, (unit, rule) in KEY.items():
        column = found[key]
        written = str(column.aggregate) if column.aggregate.rule != "none" else None
        assert column.unit.value in (unit, None), key
        assert written in (rule, None), key
        units += column.unit.value == unit
        rules += written == rule
    assert units >= 9
    assert rules >= 8
    assert len(draft.requests) <= 60


@pytest.mark.thorough
def test_every_answer_is_read_whole(draft, server, tmp_path):
    reader = project(server, draft.save(tmp_path / "parcel_service.py"))
    for name in SECTIONS:
        tables = reader.read(name)
        assert tables.rebuild() == tables.payload.json
        assert not len(tables.drift)


@pytest.mark.thorough
def test_a_change_of_names_and_of_scale_is_noticed(draft, server, tmp_path):
    reader = project(server, draft.save(tmp_path / "parcel_service.py"))
    assert aa.profile.check(reader.client.profile, reader).empty
    server.RequestHandlerClass.later = True
    try:
        changes = aa.profile.check(reader.client.profile, reader)
    finally:
        server.RequestHandlerClass.later = False
    assert set(changes["section"]) == {"domains"}
    seen = set(zip(changes["change"], changes["path"], strict=True))
    assert ("no values any more", "content.grid.body[][Cites]") in seen
    assert ("another scale", "content.grid.body[][Reach]") in seen


def test_a_profile_of_before_sizes_were_kept_still_checks(draft, server):
    plain = draft.profile("parcel_service")
    old = Profile("old", *plain.values(), baseline={"drift": {}})
    assert aa.profile.check(old, project(server, old)).empty
