"""Random numbers of the demo, explained, and computed again from the bytes named."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pandas as pd
import pytest
from carried import Explainer
from effort import effort
from recompute import Answers, close

import aatoolkit as aa


def numbers_of(dataset: aa.Dataset) -> Iterator[tuple[pd.DataFrame, int, str]]:
    for tables in dataset.values():
        for frame in tables.values():
            for column in frame.select_dtypes("number").columns:
                for at in frame[column].notna().to_numpy().nonzero()[0].tolist():
                    yield frame, at, str(column)


def test_random_numbers_are_what_the_bytes_hold(dataset: aa.Dataset, study: aa.Study) -> None:
    chosen = random.Random(17).sample([*numbers_of(dataset)], 100)
    assert len({id(frame) for frame, _, _ in chosen}) > 8
    answers, explainer = Answers(study.path), Explainer()
    checked = 0
    for frame, at, column in chosen:
        explanation = explainer.explain(frame, at, column)
        assert explanation.is_complete
        if explanation.place is None or explanation.place.text is None:
            assert explanation.notes == ("counted from its place in the array",)
            continue
        assert close(answers.value(explanation), frame[column].iloc[at])
        checked += 1
    assert checked > 80


@pytest.mark.thorough
def test_random_aggregates_are_what_the_bytes_add_up_to(
    dataset: aa.Dataset, study: aa.Study
) -> None:
    answers, explainer = Answers(study.path), Explainer()
    trend = dataset["overview"]["overview_trend"]
    weekly = trend.aa.aggregate(pd.Grouper(key="date", freq="W"))
    engines = dataset["domains"]["source_domain_engines"]
    kinds = dataset["urls"].main[lambda urls: urls["citation_count"] > 1]
    frames = [
        weekly,
        weekly.iloc[1:].aa.aggregate(),
        engines.aa.aggregate("engine"),
        kinds.sort_values("url").aa.aggregate("page_type", skip_missing=True),
        aa.concat([trend.head(9), trend.tail(4)]).aa.aggregate(),
    ]
    cells = [
        (frame, at, str(column))
        for frame in frames
        for column in frame.select_dtypes("number").columns
        for at in frame[column].notna().to_numpy().nonzero()[0].tolist()
        if not str(column).endswith("_coverage")
    ]
    for frame, at, column in random.Random(5).sample(cells, effort(80)):
        explanation = explainer.explain(frame, at, column)
        assert explanation.is_complete, explanation
        assert close(answers.computed(explanation), frame[column].iloc[at]), explanation
