"""`df.aa` shows what can be done with a frame, and mistyped names have near matches."""

from __future__ import annotations

import copy
import pydoc
from typing import Any

import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit.errors import ItemNotFound


def test_every_verb_is_in_the_overview_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    verbs = [name for name in dir(pd.DataFrame().aa) if not name.startswith("_")]
    text = repr(pd.DataFrame({"n": [1]}).aa)
    assert text.startswith("<df.aa of 1 columns: 1 unknown>")
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) < 55
    page = pd.DataFrame({"n": [1]}).aa._repr_html_()
    assert all(f"\n  {verb} " in text and verb in page for verb in verbs)


def test_its_help_begins_with_what_it_can_do() -> None:
    head = pydoc.plain(pydoc.render_doc(pd.DataFrame({"n": [1]}).aa)).splitlines()[:40]
    assert not [line for line in head if "Method resolution" in line or "accessor.merge" in line]
    assert any("  aggregate " in line for line in head)


@pytest.fixture(scope="module")
def project() -> aa.Project:
    return aa.demo()


def test_mistyped_attributes_have_near_matches(project: aa.Project) -> None:
    things: list[tuple[Any, str, str]] = [
        (project, "reed", "read"),
        (project.client, "colect", "collect"),
        (project.read_all(sections=["domains"], progress=False), "funel", "funnel"),
        (project.read("domains"), "maim", "main"),
        (project.read("domains").main.aa, "agregate", "aggregate"),
        (project.client.collect([project.host], sections=["domains"]), "concatt", "concat"),
    ]
    for thing, name, suggestion in things:
        with pytest.raises(AttributeError, match=f"did you mean .*'{suggestion}'"):
            getattr(thing, name)
        assert not hasattr(thing, "_no_such_name")
    dataset = things[2][0]
    for owner, name, written in [
        (project, "domains", "project.read('domains')"),
        (project, "sections", "aa.sections.names() lists them"),
        (project, "engines", "write project.scope_options().engines"),
        (project, "report", "write project.read_all().report"),
        (project.client, "projects", "write client.project(host) for each"),
        (dataset, "domains", "dataset['domains']"),
        (dataset, "source_domain_types", "dataset['domains']['source_domain_types']"),
        (dataset["domains"], "source_domain_engines", "tables['source_domain_engines']"),
        (dataset["domains"], "domain_type", "tables.main['domain_type']"),
        (dataset["domains"], "types", "did you mean tables['source_domain_types']?"),
        (project.read("overview"), "trends", "did you mean tables['overview_trend']?"),
        (things[-1][0], "report", "a Dataset: write collected[host, scope].report"),
        (dataset["domains"], "plot", "tables.main.aa.plot"),
        (dataset["domains"], "to_csv", "tables.main.to_csv"),
        (dataset["domains"].main.aa, "citation_count", "df['citation_count']"),
        (dataset["domains"].main.aa, "to_csv", "df.to_csv"),
    ]:
        with pytest.raises(AttributeError) as error:
            getattr(owner, name)
        assert str(error.value).endswith(written)
    with pytest.raises(ItemNotFound, match="read the section with split='engine'"):
        dataset["domains"].main.aa.aggregate("engine", "citation_count")
    assert copy.copy(dataset).keys() == dataset.keys()
