"""One read of the demo for the tests of this folder, and a study of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import aatoolkit as aa

SECTIONS = ("overview", "domains", "urls", "prompts", "chats", "ranking")


@pytest.fixture(scope="package")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[aa.Dataset, Path]:
    folder = tmp_path_factory.mktemp("explained") / "mine"
    with aa.Study.create(folder) as study:
        dataset = study.record(aa.demo()).read_all(aa.Scope(days=30), sections=SECTIONS)
    return dataset, folder


@pytest.fixture(scope="package")
def dataset(recorded: tuple[aa.Dataset, Path]) -> aa.Dataset:
    return recorded[0]


@pytest.fixture(scope="package")
def study(recorded: tuple[aa.Dataset, Path]) -> aa.Study:
    return aa.Study(recorded[1])
