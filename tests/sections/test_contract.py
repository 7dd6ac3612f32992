"""Data contracts: the demo keeps them, and what breaks one is found."""

from __future__ import annotations

import pandas as pd
import pytest
from pandera import pandas as pandera
from serving import demo_dataset

import aatoolkit as aa
from aatoolkit.sections import pandera_schema


@pytest.fixture(scope="module")
def dataset() -> aa.Dataset:
    return demo_dataset()


@pytest.mark.parametrize("section", aa.sections.names())
def test_the_demo_keeps_its_contracts(section: str, dataset: aa.Dataset) -> None:
    for name, frame in dataset[section].items():
        schema = pandera_schema(aa.sections.table(name))
        assert len(schema.validate(frame, lazy=True)) == len(frame)


def broken(frame: pd.DataFrame, column: str, value: object) -> pd.DataFrame:
    frame = frame.copy()
    frame.loc[0, column] = value
    return frame


def test_what_breaks_a_contract_is_found(dataset: aa.Dataset) -> None:
    table, frame = aa.sections.table("source_domains"), dataset["domains"].main
    schema = pandera_schema(table)
    for bad in (
        broken(frame, "citation_count", -1),
        broken(frame, "source_domain", pd.NA),
        broken(frame, "source_domain", frame.loc[1, "source_domain"]),
        frame.drop(columns="citation_count"),
        frame.assign(more=1),
        frame.astype({"citation_count": "Float64"}),
    ):
        with pytest.raises(pandera.errors.SchemaErrors):
            schema.validate(bad, lazy=True)
    assert schema.columns["citation_count"].metadata["unit"] == "count"


def test_prompts_that_never_mention_us_on_any_engine_are_one_line(dataset: aa.Dataset) -> None:
    engines, prompts = dataset["prompts"]["prompt_engines"], dataset["prompts"].main
    counts = engines.aa.aggregate("prompt_id", "mention_count").query("mention_count == 0")
    never = prompts.loc[prompts["mention_count"] == 0, "prompt_id"]
    assert len(never) > 0
    assert set(never) == set(counts["prompt_id"])
