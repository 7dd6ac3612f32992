"""The demonstration study, and some of its sections as they are read from it."""

from __future__ import annotations

from pathlib import Path

import pytest

import aatoolkit as aa

STUDY = Path(__file__).parents[2] / "data" / "demo-study"
SECTIONS = ("overview", "domains", "urls", "prompts", "ranking", "crawl", "conversions")


@pytest.fixture(scope="package")
def study() -> aa.Study:
    return aa.Study(STUDY)


@pytest.fixture(scope="package")
def dataset(study: aa.Study) -> aa.Dataset:
    return study.project("acme.example").read_all(scope=aa.Scope(days=30), sections=SECTIONS)
