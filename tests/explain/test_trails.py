"""Trails through plain pandas and verbs: where they lead, and where they end, and why."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pandas as pd
import pytest
from carried import Explanation
from serving import demo_dataset

import aatoolkit as aa
from aatoolkit.errors import ItemNotFound
from aatoolkit.sections import integer, number, text


@pytest.fixture(scope="module")
def trend(dataset: aa.Dataset) -> pd.DataFrame:
    return dataset["overview"]["overview_trend"]


@pytest.fixture(scope="module")
def domains(dataset: aa.Dataset) -> pd.DataFrame:
    return dataset["domains"].main


def path_of(explanation: Explanation) -> str:
    assert explanation.place is not None
    assert explanation.is_complete, explanation
    return explanation.place.path


def test_a_row_is_found_after_filters_sorts_and_a_new_index(domains: pd.DataFrame) -> None:
    name = domains["source_domain"].iloc[3]
    row = {"source_domain": name}
    for frame in (
        domains.sort_values("citation_count", ascending=False),
        domains[domains["citation_count"] > 0].reset_index(drop=True),
        domains.set_index("source_domain"),
        domains[["source_domain", "citation_count"]].iloc[::-1],
        domains.drop_duplicates("source_domain").sample(frac=1, random_state=1),
    ):
        explanation = frame.aa.explain(row, "citation_count")
        assert path_of(explanation) == "$.domains[3].citationCount"
    by_label = domains.sort_values("source_domain").aa.explain(3, "citation_count")
    assert path_of(by_label) == "$.domains[3].citationCount"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.assign(citation_count=d["citation_count"] * 2), "changed since"),
        (lambda d: d.assign(citation_count=d["citation_count"].fillna(0) + 1), "changed since"),
        (lambda d: d.assign(citation_count=[*d["citation_count"]][::-1]), "pandas step"),
        (lambda d: d.rename(columns={"rank": "citation_count", "citation_count": "n"}), "since"),
        (lambda d: d.groupby("domain_type", as_index=False).sum(numeric_only=True), "changed"),
        (lambda d: d.assign(citation_count=0)[["citation_count"]], "since"),
        (lambda d: d.assign(source_domain=[*d["source_domain"]][::-1]), "pandas step|since"),
    ],
)
def test_a_changed_value_has_no_trail(domains: pd.DataFrame, change: object, words: str) -> None:
    changed = change(domains)  # type: ignore[operator]
    for at in range(3):
        explanation = changed.aa.explain(changed.index[at], "citation_count")
        assert explanation.place is None
        assert explanation.end is not None
        assert any(word in explanation.end for word in words.split("|")), explanation.end


def test_a_new_column_and_a_foreign_frame_end_at_once(domains: pd.DataFrame) -> None:
    explanation = domains.assign(twice=domains["citation_count"] * 2).aa.explain(0, "twice")
    assert explanation.end == "twice was added or renamed by a plain pandas step"
    assert pd.DataFrame({"n": [1]}).aa.explain(0, "n").ends == (
        "the frame has no metadata, so its origin is not known",
    )


def test_a_row_or_column_that_is_not_there_is_refused(domains: pd.DataFrame) -> None:
    with pytest.raises(ItemNotFound, match="no row has source_domain = nowhere"):
        domains.aa.explain({"source_domain": "nowhere.example"}, "rank")
    with pytest.raises(ItemNotFound, match=r"did you mean 'acme\.example'") as caught:
        domains.aa.explain({"source_domain": "ACME.exampel"}, "rank")
    assert caught.value.suggestions[:1] == ("acme.example",)
    with pytest.raises(ItemNotFound, match="rows have"):
        domains.aa.explain({"domain_type": domains["domain_type"].mode()[0]}, "rank")
    with pytest.raises(ItemNotFound, match="no row 9999"):
        domains.aa.explain(9999, "rank")
    with pytest.raises(ItemNotFound, match="citation_count"):
        domains.aa.explain(0, "citation_cuont")


def test_merges_name_the_side(dataset: aa.Dataset, domains: pd.DataFrame) -> None:
    urls = dataset["urls"].main
    merged = domains.aa.merge(urls, on="source_domain", how="left")
    at = int(merged["url"].notna().to_numpy().nonzero()[0][5])
    name, url = merged["source_domain"].iloc[at], merged["url"].iloc[at]
    left = merged.aa.explain(at, "citation_count_x")
    right = merged.aa.explain(at, "citation_count_y")
    assert left.row == right.row
    assert path_of(left).startswith(f"$.domains[{domains['source_domain'].tolist().index(name)}].")
    assert path_of(right).startswith(f"$.items[{urls['url'].tolist().index(url)}].")
    assert "by merge: from the left frame" in left.notes[-2]
    mine = pd.DataFrame({"source_domain": [name], "owner": ["Ada"]})
    owned = merged.aa.merge(mine, on="source_domain", how="left")
    assert path_of(owned.aa.explain(at, "citation_count_y")) == path_of(right)
    lacking = owned.index[owned["owner"].isna()][0]
    assert (
        owned.aa.explain(lacking, "owner").missing == "no row of the right frame matches this one"
    )
    there = owned.index[owned["owner"].notna()][0]
    assert "other origin" in str(owned.aa.explain(there, "owner").end)


def test_rows_of_concat_complete_and_long_forms(dataset: aa.Dataset, trend: pd.DataFrame) -> None:
    both = aa.concat([trend.tail(4), trend.head(3)], ignore_index=True)
    assert path_of(both.aa.explain(5, "mention_count")) == "$.trends.points[1].mentionCount"
    long = trend.aa.to_long()
    at = int((long["variable"] == "mention_count").to_numpy().nonzero()[0][7])
    assert path_of(long.aa.explain(at, "value")) == "$.trends.points[7].mentionCount"
    engines = dataset["overview"]["overview_engines"]
    more = engines.aa.complete(engine=["chatgpt", "engine-x"])
    added = more.aa.explain({"engine": "engine-x"}, "mention_count")
    assert added.missing == "no response has this row"
    assert path_of(more.aa.explain({"engine": "chatgpt"}, "mention_count"))
    renamed = trend.aa.rename(columns={"mention_count": "m"}).aa.with_context()
    explanation = renamed.aa.explain(2, "m")
    assert path_of(explanation) == "$.trends.points[2].mentionCount"
    assert "m was mention_count before" in explanation.notes


def test_an_aggregate_names_its_rows_and_its_grouping(trend: pd.DataFrame) -> None:
    weekly = trend.assign(week=trend["date"].dt.to_period("W").astype(str)).aa.aggregate("week")
    explanation = weekly.aa.explain(1, "mention_rate")
    above, below = explanation.children
    assert explanation.formula is not None
    assert explanation.formula.startswith("sum of mention_count / sum of answer_count over 7 rows")
    assert [child.value for child in above.children] == trend["mention_count"][4:11].tolist()
    assert above.value / below.value == explanation.value
    tampered = weekly.assign(mention_rate=0.5)
    for at in range(len(tampered)):  # one of them is 0.5 by chance
        assert "pandas step" in str(tampered.aa.explain(at, "mention_rate").end)


def test_why_is_this_missing() -> None:
    columns = (
        text("brand"),
        number("rate"),
        integer("count", missing=(-1,)),
    )
    table = aa.Table("brands", "Brands.", aa.sections.records("rows"), "brand", columns)
    body = b"""{"availability": {"status": "available"}, "rows": [
        {"brand": "a", "rate": null, "count": 1}, {"brand": "b", "count": -1},
        {"brand": "c", "rate": "high", "count": 3},
        {"brand": "d", "rate": 0, "count": 0, "hasData": false}]}"""
    with pytest.warns(aa.errors.SchemaDriftWarning):
        frame = aa.normalize(aa.Section("mine", "Mine.", table), body).main

    def missing(brand: str, column: str) -> str:
        return str(frame.aa.explain({"brand": brand}, column).missing)

    assert missing("a", "rate") == "the response holds null here"
    assert missing("b", "rate") == "the response has no such key here"
    assert missing("b", "count").startswith("the response holds -1 here, which is declared to mean")
    assert missing("c", "rate").startswith('the response holds "high" here, which is no Float64')
    assert "states that it was not measured" in missing("d", "rate")


def test_without_a_row_the_first_missing_value_and_all_causes(
    dataset: aa.Dataset, trend: pd.DataFrame
) -> None:
    engines = dataset["overview"]["overview_engines"]
    explanation = engines.aa.explain(column="mention_rate")
    assert explanation.row == {"engine": "google-ai-overview"}
    assert [(cause.rows, cause.why) for cause in explanation.causes] == [(1, explanation.missing)]
    assert engines.aa.explain("mention_rate").to_dict() == explanation.to_dict()
    measured = engines.aa.explain("answer_count")
    assert (measured.row, measured.causes) == ({"engine": "chatgpt"}, ())
    assert "none of 5 values is missing" in measured.notes[-1]
    mixed = engines.aa.complete(engine=[*engines["engine"], "engine-x"]).aa.explain("mention_rate")
    assert sorted(cause.why for cause in mixed.causes)[0] == "no response has this row"
    assert sum(cause.rows for cause in mixed.causes) == 2
    words = "1 of them are missing: no response has this row, such as engine = engine-x"
    assert words in repr(mixed)
    many = pd.concat([engines] * 250).reset_index(drop=True)  # each row is there often
    first = many.aa.explain("mention_rate")
    assert sum(cause.rows for cause in first.causes) == 200
    assert "250 of 1,250 have none, of which the first 200 were looked up" in repr(first)
    nothing = trend.iloc[:0].aa.explain("mention_rate")
    assert "has no rows" in str(nothing.missing)
    with pytest.raises(ValueError, match="column"):
        engines.aa.explain(0)


def test_a_row_without_answers_is_left_out_of_a_rate_for_that_reason() -> None:
    prompts = aa.demo().read("prompts").main
    rates = prompts.aa.aggregate("intent", "mention_rate")
    trail = str(rates.aa.explain({"intent": "informational"}, "mention_rate"))
    assert "1 row left out: answer_count is 0, and it is partial: google-ai-overview" in trail


def test_an_answer_without_rows_says_why() -> None:
    explanation = aa.demo("initech.example").read("crawl").main.aa.explain("requests")
    assert "the frame has no rows; requests is unavailable (not connected)" in str(
        explanation.missing
    )
    assert explanation.statements[0].evidence == "$.availability"


def test_a_rate_of_nothing_says_so(trend: pd.DataFrame, dataset: aa.Dataset) -> None:
    empty = trend.index[trend["answer_count"] == 0]
    if len(empty):
        explanation = trend.aa.explain(empty[0], "mention_rate")
        assert "answer_count is 0" in str(explanation.missing)
    engines = dataset["overview"]["overview_engines"]
    silent = engines[engines["mention_rate"].isna()]
    assert len(silent)
    explanation = silent.aa.explain(silent.index[0], "mention_rate")
    assert any(
        statement.status == "unavailable" and statement.evidence
        for statement in explanation.statements
    )
    total = dataset["domains"].main.aa.aggregate(columns="retrieval_count")
    assert "skip_missing" in str(total.aa.explain(0, "retrieval_count").missing)


@pytest.mark.parametrize(
    "recipe",
    [
        ["read", 7, "source_domains"],
        ["read", 0, "nothing"],
        ["view", ["read", 0, "source_domains"], {"rows": ["x", 1]}],
        ["view", ["read", 0, "source_domains"], {"rows": [5, 1, 1, 994]}],
        ["do", "aggregate", {"by": {"grouper": {"freq": 1}}}, []],
        ["do", "rm", {}, []],
    ],
)
def test_a_damaged_recipe_ends_the_trail(domains: pd.DataFrame, recipe: list[object]) -> None:
    body = json.loads(str(domains.attrs["aatoolkit"]))
    frame = domains.copy()
    frame.attrs["aatoolkit"] = json.dumps(body | {"recipe": recipe})
    explanation = frame.aa.explain(0, "citation_count")
    assert explanation.end is not None
    assert explanation.place is None
    frame.attrs["aatoolkit"] = json.dumps(body | {"recipe": ["read"]})
    with pytest.raises(aa.errors.MetadataError):
        frame.aa.explain(0, "citation_count")


def test_a_pickled_frame_needs_a_study(domains: pd.DataFrame, study: aa.Study) -> None:
    again = pickle.loads(pickle.dumps(domains.aa.aggregate("domain_type")))
    alone = again.aa.explain(0, "citation_count")
    assert "within=" in str(alone.end)
    explanation = again.aa.explain(0, "citation_count", within=study)
    assert explanation.is_complete
    assert explanation.sources[0].found_in == "in the study demo-study"


def test_an_explanation_shows_itself(domains: pd.DataFrame, tmp_path: Path) -> None:
    explanation = domains.aa.aggregate("domain_type").aa.explain(0, "citation_share")
    page = explanation._repr_html_()
    assert page.count("<details") == page.count("</details>") > 2
    assert "<script" not in page
    assert repr(explanation).splitlines()[0].startswith("citation_share, domain_type = ")
    assert explanation.to_dict()["children"][0]["children"][0]["place"]["path"].startswith(
        "$.domains["
    )


def test_why_a_value_is_missing_is_found_in_the_state_of_its_row() -> None:
    columns = (
        text("name"),
        text("data_state"),
        number("rate"),
    )
    items = aa.Table("items", "One row an item.", aa.sections.records("items"), "name", columns)
    rows = [
        {"name": "a", "dataState": "OK", "rate": 0.5},
        {"name": "b", "dataState": "PAUSED", "rate": None},
        {"name": "c", "dataState": "OK", "rate": None},
    ]
    body = json.dumps({"items": rows}).encode()
    tables = aa.normalize(aa.Section("mine", "Items.", items), body)
    frame = tables.main
    explanation = frame.aa.explain("rate")
    assert explanation.missing == "the response holds null here; its data_state is PAUSED"
    assert [cause.why for cause in explanation.causes][-1] == "the response holds null here"


def test_an_answer_that_mentions_nobody_is_explained_by_the_bytes_that_name_it() -> None:
    chats = demo_dataset()["chats"]
    answers = aa.stats.answers(chats)
    silent = ~answers["chat_id"].isin(chats["chat_mentions"]["chat_id"])
    for at in silent.to_numpy().nonzero()[0][:3].tolist():
        (part,) = answers.aa.explain(at, "mentioned").children
        assert part.column == "chat_id"
        assert part.place is not None
        assert part.place.text is not None


def test_a_number_is_in_the_state_of_its_own_row(trend: pd.DataFrame, dataset: aa.Dataset) -> None:
    weeks = trend.aa.aggregate(columns="mention_rate", freq="W")
    states = [str(weeks.aa.explain(at, "mention_rate").availability) for at in (0, 1)]
    assert ["of the 7 days" in state for state in states] == [True, False]
    engines = dataset["overview"]["overview_engines"].aa.complete(engine=["zzz"])
    why = "no row in the response for this engine"
    state = engines.aa.explain({"engine": "zzz"}, "answer_count").availability
    assert state == f"unknown (no row): {why}"
    assert why in engines.aa.availability.loc["answer_count", "reason"]


def test_a_response_with_bytes_is_found_behind_one_without(tmp_path: Path) -> None:
    dataset = aa.demo().read_all(sections=["overview"], progress=False)
    dataset.to_parquet(tmp_path)
    frame = aa.read_dataset(tmp_path)["overview"]["overview_engines"]
    live = dataset["overview"]["overview_engines"]
    assert frame.aa.explain(0, "answer_count", within=[aa.read_dataset(tmp_path), dataset]).place
    merged = frame.aa.merge(live[["engine", "mention_count"]], on="engine")
    assert merged.aa.explain(0, "mention_count_y").is_complete
