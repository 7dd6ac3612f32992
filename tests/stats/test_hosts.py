"""Ids of prompts are per host: rows of several hosts are never taken for the same prompt."""

from __future__ import annotations

import pandas as pd
import pytest
from serving import shared_client

import aatoolkit as aa

HOSTS = ["acme.example", "globex.example"]


@pytest.fixture(scope="module")
def collected() -> aa.Collection:
    return shared_client().collect(HOSTS, sections=["prompts", "chats"])


@pytest.fixture(scope="module", params=["collected", "stacked", "archived"])
def prompts(
    request: pytest.FixtureRequest,
    collected: aa.Collection,
    tmp_path_factory: pytest.TempPathFactory,
) -> pd.DataFrame:
    tables = [collected[host]["prompts"] for host in HOSTS]
    if request.param == "archived":
        archive = aa.Archive(tmp_path_factory.mktemp("archive"))
        archive.add([each.payload for each in tables])
        return archive.read("prompts")
    if request.param == "stacked":
        return aa.concat([each.main.aa.with_context() for each in tables])
    return collected.concat("prompts")


def test_two_hosts_are_two_samples(prompts: pd.DataFrame, collected: aa.Collection) -> None:
    acme, globex = (prompts[prompts["host"] == host] for host in HOSTS)
    frames = [collected[host]["prompts"].main for host in HOSTS]
    expected = frames[0].aa.compare(frames[1], "mention_rate")
    row = acme.aa.compare(globex, "mention_rate")
    assert row["p"].item() == expected["p"].item()
    assert row["method"].item().startswith("two samples of prompt_id")
    mixed = frames[0].aa.compare(globex, "mention_rate")
    assert mixed["method"].equals(row["method"])
    paired = acme.aa.compare(globex, "mention_rate", pair="prompt_id")
    assert "no prompt_id is on both sides" in paired["why"].item()
    assert acme.aa.decompose(globex, "mention_rate", by="prompt_id")["clusters"].tolist()[0] == 0
    assert "paired by" in frames[0].aa.compare(acme, "mention_rate")["method"].item()


def test_a_prompt_of_each_host_is_a_cluster(prompts: pd.DataFrame) -> None:
    all_rows, by_host = (
        prompts.aa.interval("mention_rate", by=by, cluster="prompt_id") for by in (None, "host")
    )
    assert all_rows["mention_rate_clusters"].item() == by_host["mention_rate_clusters"].sum()


def test_statistics_of_answers_tell_hosts_apart(collected: aa.Collection) -> None:
    names = ("chats", "chat_mentions", "chat_citations")
    both = {name: collected.concat("chats", name) for name in names}
    rows = aa.stats.answers(both)
    each = [aa.stats.answers(collected[host]["chats"]) for host in HOSTS]
    day, combinations = rows["date"].quantile(0.5), ["prompt_id", "engine"]
    cells = [
        frame.aa.stability("mentioned", combinations)["cells"].sum() for frame in (rows, *each)
    ]
    assert cells[0] == sum(cells[1:])
    rate = rows.aa.interval("mentioned", cluster="prompt_id")
    assert rate.aa.explain(0, "mentioned").is_complete
    effects = aa.stats.effect(rows, since=day, treated={"host": HOSTS[0]})
    assert effects["n"].iloc[0] > 0
    stacked, other = aa.concat(each), aa.concat(each[::-1])
    assert "paired" not in stacked.aa.compare(other, "mentioned")["method"].item()
    assert aa.stats.effect(stacked, since=day, treated=["pr_1", "pr_2", "pr_3"])["n"].iloc[0] > 0
    asked = rows.set_index("chat_id")[["prompt_id", "engine"]]
    cited = both["chat_citations"].join(asked, on="chat_id")
    frames = [cited, *(cited[cited["host"] == host] for host in HOSTS)]
    k = [frame.aa.overlap("source_domain", between="engine")["clusters"].sum() for frame in frames]
    assert k[0] == sum(k[1:])
