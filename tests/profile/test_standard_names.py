"""Standard names: taken where a meaning is known, never twice, and a person decides."""

from __future__ import annotations

from typing import Any

import pytest
from foreign import draft_of

import aatoolkit as aa
from aatoolkit.sections import Profile

OPTIONS = {"engines": ["alpha", "beta", "gamma"], "brands": ["Acme", "Other"]}
HITS = [41, 29, 17, 11, 7, 5, 3, 2]


def rows(share: float = 1.0) -> list[dict[str, Any]]:
    return [
        {"dom": f"{at}.example", "cit": int(n * 8 * share), "ans": int(n * 4 * share),
         "avg_pos": round(1 + at / 7, 2), "eng": "alpha" if at % 2 else "beta",
         "brandName": "Acme" if at % 2 else "Unheard of"}
        for at, n in enumerate(HITS)
    ]  # fmt: skip


def names(answer: Any) -> dict[str, str]:
    section = draft_of({"domains": answer}, options=OPTIONS)["domains"]
    assert len(set(section.section.tables[0].names)) == len(section.section.tables[0].names)
    return {column.source: column.name for column in section.columns()}


def test_a_known_word_whose_values_agree_takes_the_standard_name():
    by_field = names({"rows": rows()})
    assert by_field["cit"] == "citation_count"
    assert by_field["ans"] == "answer_count"
    assert by_field["eng"] == "engine"
    # A mean whose weight is not proved may be one of several things, and a brand nobody tracks
    # is none of the project's.
    assert by_field["avg_pos"] == "avg_pos"
    assert by_field["brandName"] == "brand_name"


def test_a_word_whose_values_do_not_agree_keeps_its_name():
    odd = [{**row, "cit": row["cit"] / 7} for row in rows()]
    assert names({"rows": odd})["cit"] == "cit"


def test_a_scaled_column_is_not_named_by_its_old_unit():
    rows_in_cents = [{**row, "cpc_cents": 100 + row["cit"], "cost_cents": 250, "cost": 3.5}
                     for row in rows()]  # fmt: skip
    by_field = names({"rows": rows_in_cents})
    assert (by_field["cpc_cents"], by_field["cost_cents"]) == ("cpc", "cost_cents")


def test_two_columns_of_one_meaning_keep_their_names():
    twice = [{**row, "citationCount": row["cit"] + 1} for row in rows()]
    by_field = names({"rows": twice})
    assert (by_field["cit"], by_field["citationCount"]) == ("cit", "citation_count")
    both = [{**row, "citations": row["cit"] + 1} for row in rows()]
    by_field = names({"rows": both})
    assert (by_field["cit"], by_field["citations"]) == ("cit", "citations")


@pytest.fixture
def project(scripted: Any, reply: Any) -> Any:
    options = {"engines": [{"id": name, "lastRunDay": "2026-11-01"} for name in ("alpha", "beta")],
               "topics": [], "categories": [], "brands": [], "days": [7, 30]}  # fmt: skip

    def answer(request: Any) -> Any:
        if "scope-options" in request.path:
            return reply(options)
        share = {"alpha": 0.5, "beta": 0.5}.get(request.params.get("engine", ""), 1.0)
        return reply({"rows": rows(share)})

    scripted.script = answer
    with aa.Client(scripted.url, token="t", cache=False) as client:
        yield client.project("a.example")


@pytest.mark.thorough
def test_standard_names_are_saved_read_drawn_and_lossless(project, tmp_path):
    draft = aa.profile.draft(project, sections=["domains"], progress=False)
    review = draft["domains"].review
    assert review.loc[("domains", "citation_count"), "path"] == "rows[].cit"
    assert "standard name for cit" in review.loc[("domains", "citation_count"), "evidence"]
    # By the service's own word, too; and a person has the last word.
    draft["domains"].set("ans", name="replies")
    profile = Profile.load(draft.save(tmp_path / "acme.py"))
    tables = aa.normalize("domains", {"rows": rows()}, profile=profile)
    frame = tables.main
    assert {"citation_count", "replies", "engine"} <= set(frame.columns)
    assert tables.rebuild() == {"rows": rows()}
    total = frame.aa.aggregate(by="dom", columns="citation_count")
    assert int(total["citation_count"].sum()) == sum(row["cit"] for row in rows())
    assert frame.aa.plot(y="citation_count") is not None


def test_the_service_s_own_names_can_be_kept(project):
    draft = aa.profile.draft(project, sections=["domains"], standard_names=False, progress=False)
    held = draft["domains"].section.tables[0].names
    assert {"cit", "ans", "eng"} <= set(held)
    assert "citation_count" not in held
