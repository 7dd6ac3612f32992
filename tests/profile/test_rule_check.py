"""Rules of availability are checked against the answers of the draft before they are set."""

from __future__ import annotations

from typing import Any

import pytest
from foreign import draft_of

import aatoolkit as aa
from aatoolkit.errors import ArgumentError
from aatoolkit.sections import Profile

# 測定 (measured), 状態 (state), 理由 (reason), 未実行 (not run): no word of these is known.
ANSWER: dict[str, Any] = {
    "tila": {"vaihe": "osittain", "syy": "Yksi moottori ei ole ajanut"},
    "測定": {"aurinko": {"状態": "未実行", "理由": "まだ"}, "kuu": {"状態": "完了"}},
    "rivit": [
        {"moottori": "aurinko", "lkm": 0, "tyhja": True},
        {"moottori": "kuu", "lkm": 41, "tyhja": False},
        {"moottori": "tahti", "lkm": 12, "tyhja": False},
    ],
}


@pytest.fixture
def section() -> aa.profile.SectionDraft:
    return draft_of({"crawl": ANSWER})["crawl"]


def read(section: aa.profile.SectionDraft) -> aa.Tables:
    return aa.normalize(section.section, ANSWER)


def test_a_flag_of_unknown_name_is_not_available_for_being_true(section):
    for rule in ({"words": {}}, {"words": {"joo": "not_run"}}):
        with pytest.raises(ArgumentError, match=r"true, false.*not_run"):
            section.set_rule(at="rivit[].tyhja", **rule)
        declared = section.section.with_rule(at="rivit[].tyhja", **rule)
        tables = aa.normalize(declared, ANSWER)
        assert tables.main.aa.availability["status"].eq("unknown").all()
        assert tables.hints.loc[tables.hints["path"] == "$.rivit[0].tyhja", "value"].tolist()


def test_several_places_hold_together_and_one_place_is_replaced(section, tmp_path):
    section.set_rule(at="tila", status="vaihe", reason="syy", words={"osittain": "pending"})
    section.set_rule(at="rivit[].tyhja", words={True: "not_run"})
    section.set_rule(at="tila", status="vaihe", reason="syy", words={"osittain": "partial"})
    assert [rule.at for rule in section.section.rules] == ["tila", "rivit[].tyhja"]
    tables = read(section)
    assert set(tables.availability["status"]) == {"partial", "unavailable"}
    assert tables.main["lkm"].isna().tolist() == [True, False, False]
    section.remove_rule("tila")
    assert section.section.rules == (section.section.availability,)
    with pytest.raises(ArgumentError, match=r"rivit\[\]\.tyhja"):
        section.remove_rule("rivit[].tyhjä")


def test_several_rules_are_saved_in_both_forms(tmp_path):
    draft = draft_of({"crawl": ANSWER})
    draft["crawl"].set_rule(at="tila", status="vaihe", words={"osittain": "partial"})
    draft["crawl"].set_rule(at="rivit[].tyhja", words={True: "not_run", False: "available"})
    profile = Profile.load(draft.save(tmp_path / "two.py"))
    assert profile["crawl"].rules == draft["crawl"].section.rules


def test_a_refusal_offers_only_meanings_that_are_taken(section):
    with pytest.raises(ArgumentError) as refusal:
        section.set_rule(at="tila.vaihe", words={"osittain": "osa"})
    for meaning in str(refusal.value).partition("there are ")[2].split(", "):
        section.set_rule(at="tila.vaihe", words={"osittain": meaning})


@pytest.mark.parametrize(
    ("rule", "match"),
    [
        ({"at": "tilat"}, "no response has 'tilat'; did you mean 'tila'"),
        ({"at": "測定{}"}, "which field says it, as status="),
        ({"at": "rivit[].lkm{}"}, "no response has"),
        ({"at": "tila.vaihe"}, '"osittain"; say what'),
        ({"at": "tila.vaihe", "words": {"osittain": "osa"}}, "'osa' is no status; there are avail"),
        ({"at": "header x-tila"}, "no response has 'header x-tila'"),
    ],
)
def test_a_rule_that_reads_nothing_is_refused(section, rule, match):
    with pytest.raises(ArgumentError, match=match):
        section.set_rule(**rule)
    assert section.section.rules == ()
