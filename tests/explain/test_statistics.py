"""Results of statistics, computed again from their explanations alone: formulas and bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from carried import Explainer
from effort import is_thorough
from formulas import recomputed
from recompute import close

import aatoolkit as aa

Data = aa.Dataset


@pytest.fixture(scope="module")
def dataset(study: aa.Study) -> aa.Dataset:
    sections = ["overview", "prompts", "chats", "crawl", "conversions", "domains"]
    return study.project("acme.example").read_all(scope=aa.Scope(days=30), sections=sections)


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    """One for all: it reads each answer once."""
    return Explainer()


def answers(data: Data) -> pd.DataFrame:
    return aa.stats.answers(data["chats"])


def halves(data: Data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The answers of the later days, and of the earlier ones."""
    rows = answers(data)
    middle = rows["date"].quantile(0.5)
    return rows[rows["date"] >= middle], rows[rows["date"] < middle]


def cited(data: Data) -> pd.DataFrame:
    chats = data["chats"]["chats"][["chat_id", "prompt_id", "engine"]]
    return data["chats"]["chat_citations"].aa.merge(chats, on="chat_id")


def acted(data: Data) -> pd.DataFrame:
    rows = answers(data)
    prompts = sorted(rows["prompt_id"].dropna().unique())
    day = rows["date"].sort_values().iloc[len(rows) // 2]
    return aa.stats.effect(rows, since=day, treated=prompts[::2])


def prompts(data: Data) -> pd.DataFrame:
    return data["prompts"].main


def trend(data: Data) -> pd.DataFrame:
    return data["overview"]["overview_trend"]


MEAN = {"position": "mean"}
VERBS: dict[str, Callable[[Data], pd.DataFrame]] = {
    "paired": lambda d: halves(d)[0].aa.compare(halves(d)[1], "mentioned", by="engine"),
    "false discoveries": lambda d: halves(d)[0].aa.compare(
        halves(d)[1], "mentioned", by="engine", correct="bh"
    ),
    "two samples": lambda d: halves(d)[0].aa.compare(
        halves(d)[1], "mentioned", cluster="prompt_id", correct=None
    ),
    "means": lambda d: (
        halves(d)[0]
        .drop(columns="prompt_id")
        .aa.compare(halves(d)[1].drop(columns="prompt_id"), "position", rules=MEAN)
    ),
    "days": lambda d: trend(d).tail(10).aa.compare(trend(d).head(10), "mention_rate"),
    "totals": lambda d: (of := d["overview"]["overview_engines"])[:2].aa.compare(
        of[2:], "mention_rate"
    ),
    "headline": lambda d: d.compare(),
    "decompose": lambda d: halves(d)[0].aa.decompose(halves(d)[1], "mentioned"),
    "rows": lambda d: trend(d).aa.interval("mention_rate"),
    "sampled": lambda d: prompts(d).aa.interval("mention_rate", "topic", "prompt_id"),
    "fixed": lambda d: prompts(d).aa.interval("mention_rate", None, "prompt_id", "fixed"),
    "sampled means": lambda d: prompts(d).aa.interval("average_position", None, "prompt_id"),
    "effect": acted,
    "association": lambda d: aa.stats.cited_and_mentioned(d["chats"]),
    "stability": lambda d: answers(d).aa.stability("mentioned", ["prompt_id", "engine"]),
    "changes": lambda d: trend(d).aa.changes("mention_rate", "date"),
    "rank": lambda d: answers(d).aa.rank("mentioned", "engine"),
    "rank of counts": lambda d: prompts(d).aa.rank("mention_count", "topic"),
    "concentration": lambda d: d["domains"].main.aa.concentration("citation_count"),
    "by group": lambda d: d["domains"].main.aa.concentration("citation_count", "domain_type"),
    "overlap": lambda d: cited(d).aa.overlap("source_domain"),
    "funnel": lambda d: d.funnel(),
}


def numbers(frame: pd.DataFrame) -> list[tuple[int, str]]:
    return [
        (at, str(column))
        for column in frame.select_dtypes("number").columns
        for at in np.flatnonzero(frame[column].notna()).tolist()
    ]


FAST = ("paired", "headline", "sampled", "effect", "association", "overlap", "funnel")


@pytest.mark.parametrize(
    "verb",
    [
        source if source in FAST else pytest.param(source, marks=pytest.mark.thorough)
        for source in VERBS
    ],
)
def test_a_statistic_is_computed_again_from_its_explanation(
    dataset: Data, explainer: Explainer, verb: str
) -> None:
    frame = VERBS[verb](dataset)
    cells = numbers(frame)
    many = 25 if is_thorough() else 1
    for at, column in random.Random(verb).sample(cells, min(many, len(cells))):
        explanation = explainer.explain(frame, at, column)
        assert explanation.is_complete, explanation
        assert explanation.formula or explanation.place, explanation
        assert close(round(recomputed(explanation), 9), round(float(frame[column].iloc[at]), 9)), (
            explanation
        )
        assert all(source.checked for source in explanation.sources)
        assert explanation.sources


def test_a_change_names_both_sides_and_every_prompt(dataset: Data, explainer: Explainer) -> None:
    after, before = halves(dataset)
    frame = after.aa.compare(before, "mentioned")
    low = explainer.explain(frame, 0, "low")
    assert low.formula is not None
    assert low.formula.startswith("change - t_quantile((1 + level) / 2, df) × error = ")
    parts = {child.column: child for child in low.children}
    change, error = parts["change"], parts["error"]
    assert [child.column for child in change.children] == ["after", "before"]
    assert len([child for child in error.children if child.column == "z"]) == frame["clusters"][0]
    decided = explainer.explain(frame, 0, "verdict")
    assert decided.formula is not None
    assert decided.formula.startswith("p_adjusted >= threshold = ")
    assert "prompt_id" in next(child for child in error.children if child.column == "z").row


def test_an_answer_names_the_rows_about_it(dataset: Data, explainer: Explainer) -> None:
    rows = answers(dataset)
    at = int(np.flatnonzero(rows["mentioned"])[0])
    explanation = explainer.explain(rows, at, "mentioned")
    assert any(child.value is True for child in explanation.children)
    assert explainer.explain(rows, at, "position").children
    lacking = explainer.explain(rows, column="position")
    assert lacking.missing == "it does not mention the brand"
    assert explainer.explain(rows, at, "engine").place is not None
    assert explainer.explain(rows, at, "date").children[0].column == "ran_at"


def test_a_number_of_very_many_cells_is_traced_to_the_first_of_them() -> None:
    columns = aa.Column("page", "Int64"), aa.sections.count("hits")
    table = aa.Table("hits", "", aa.sections.records("rows"), "page", columns)
    rows = [{"page": page, "hits": 2} for page in range(5001)]
    pages = aa.normalize(aa.Section("mine", "", table), json.dumps({"rows": rows})).main
    explanation = pages.aa.concentration("hits").aa.explain(0, "n")
    assert len(explanation.children) == 5001
    assert "too many rows" in str(explanation.ends)


def test_a_number_that_no_formula_gives_is_named(dataset: Data) -> None:
    frame = trend(dataset).aa.interval("mention_rate")
    frame["mention_rate_low"] = frame["mention_rate_low"] + 0.01
    explanation = frame.aa.explain(0, "mention_rate_low")
    assert "changed since" in str(explanation.end)


@pytest.mark.thorough
def test_statistics_keep_their_trails_in_files(
    dataset: Data, study: aa.Study, tmp_path: Path
) -> None:
    for verb in ("paired", "headline", "effect", "association", "funnel", "rank", "overlap"):
        frame = VERBS[verb](dataset)
        path = frame.aa.to_parquet(tmp_path / f"{verb}.parquet".replace(" ", "_"))
        again = aa.read_parquet(path)
        at, column = random.Random(verb).choice(numbers(again))
        assert "within=" in str(again.aa.explain(at, column).ends), verb
        explanation = again.aa.explain(at, column, within=study)
        assert explanation.is_complete, explanation
        assert close(round(recomputed(explanation), 9), round(float(again[column].iloc[at]), 9))
        assert "in the study" in str(explanation.sources[0].found_in)
