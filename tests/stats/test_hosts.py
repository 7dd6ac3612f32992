"""Ids of prompts are per host: rows of several hosts are never taken for the same prompt."""

from __future__ import annotations

from pathlib import Path

from serving import shared_client

import aatoolkit as aa

HOSTS = ["acme.example", "globex.example"]


def test_rows_of_two_hosts_have_different_prompts(tmp_path: Path) -> None:
    collected = shared_client().collect(HOSTS, sections=["prompts"])
    tables = [collected[host]["prompts"] for host in HOSTS]
    expected = tables[0].main.aa.compare(tables[1].main, "mention_rate")
    aa.Archive(tmp_path).add([each.payload for each in tables])
    archived = aa.Archive(tmp_path).read("prompts")
    stacked = aa.concat([each.main.aa.with_context() for each in tables])
    for rows in (archived, stacked, collected.concat("prompts")):
        acme, globex = (rows[rows["host"] == host] for host in HOSTS)
        row = acme.aa.compare(globex, "mention_rate")
        assert row[["p", "method"]].equals(expected[["p", "method"]])
        paired = acme.aa.compare(globex, "mention_rate", pair="prompt_id")
        assert "no prompt_id is on both sides" in paired["why"].item()
        assert acme.aa.decompose(globex, "mention_rate", by="prompt_id")["clusters"][0] == 0
        assert "paired" in tables[0].main.aa.compare(acme, "mention_rate")["method"].item()
        clusters = [
            rows.aa.interval("mention_rate", by=by, cluster="prompt_id")["mention_rate_clusters"]
            for by in (None, "host")
        ]
        assert clusters[0].sum() == clusters[1].sum()


def test_answers_of_two_hosts_are_to_different_prompts() -> None:
    collected = shared_client().collect(HOSTS, sections=["chats"])
    both = {name: collected.concat("chats", name) for name in collected[HOSTS[0]]["chats"]}
    rows = aa.stats.answers(both)
    each = [aa.stats.answers(collected[host]["chats"]) for host in HOSTS]
    total, *parts = [
        frame.aa.stability("mentioned", ["prompt_id", "engine"])["cells"][0]
        for frame in (rows, *each)
    ]
    assert total == sum(parts)
    day, stacked = rows["date"].quantile(0.5), aa.concat(each)
    assert aa.stats.effect(stacked, since=day, treated=["pr_1", "pr_2"])["n"][0] > 0
    other = stacked.aa.compare(aa.concat(each[::-1]), "mentioned")
    assert "paired" not in other["method"].item()
    asked = rows.set_index("chat_id")[["prompt_id", "engine"]]
    cited = both["chat_citations"].join(asked, on="chat_id")
    frames = [cited, *(part for _, part in cited.groupby("host"))]
    total, *parts = [
        frame.aa.overlap("source_domain", between="engine")["clusters"].sum() for frame in frames
    ]
    assert total == sum(parts)
