"""A synthetic store is repeatable, holds together, and has the gaps that real ones have."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from aatoolkit.service import SECTIONS, Question, Store, synthesize, write_synthetic_store

ACME, GLOBEX, INITECH, NEWCO = (
    "acme.example",
    "globex.example",
    "initech.example",
    "newco.example",
)


@pytest.fixture(scope="module")
def drawn() -> dict[str, pa.Table]:
    return synthesize()


@pytest.fixture(scope="module")
def store(drawn: dict[str, pa.Table]) -> Iterator[Store]:
    """The default store; opening it checks every table and every reference."""
    store = Store.of(drawn)
    yield store
    store.close()


def column(store: Store, sql: str) -> list[Any]:
    return [cell for (cell,) in store.connection.execute(sql).fetchall()]


def holds(store: Store, table: str, condition: str, host: str = ACME) -> bool:
    """Whether some row of the host meets the condition."""
    sql = f"SELECT count(*) > 0 FROM store.{table} WHERE host = '{host}' AND ({condition})"
    return column(store, sql) == [True]


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write_synthetic_store(tmp_path / folder, seed=7, answers=300)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("answers", [301, 0])
def test_there_are_as_many_answers_as_requested(answers: int) -> None:
    drawn = synthesize(answers=answers)
    assert len(drawn["answers"]) == answers
    Store.of(drawn).close()


def test_less_than_nothing_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="negative"):
        synthesize(answers=-1)
    with pytest.raises(ValueError, match="negative"):
        synthesize(seed=-1)
    for icc in (-0.1, 1.0, float("nan")):
        with pytest.raises(ValueError, match="icc"):
            synthesize(icc=icc)


def test_it_says_that_it_is_synthetic(drawn: dict[str, pa.Table], tmp_path: Path) -> None:
    texts = drawn["answers"]["answer_text"].drop_null()
    assert pc.all(pc.starts_with(texts, "(synthetic)")).as_py()
    for table in drawn.values():
        if "host" in table.column_names:
            assert pc.all(pc.ends_with(table["host"], ".example")).as_py()
    write_synthetic_store(tmp_path, answers=20)
    assert "Nothing in these tables was observed" in (tmp_path / "README.md").read_text("utf-8")


def test_the_clock_stands_still(store: Store) -> None:
    clocks = column(store, "SELECT DISTINCT as_of FROM store.projects")
    assert clocks == [datetime(2026, 11, 20, 23, 30)]
    for table, moment in (
        ("answers", "ran_at"),
        ("ads", "observed_at"),
        ("crawler_hits", "last_at"),
        ("site_checks", "checked_at"),
        ("actions", "updated_at"),
    ):
        (latest,) = column(store, f"SELECT max({moment}) FROM store.{table}")
        assert latest <= clocks[0], table


FEATURES = {
    "an answer that failed": ("answers", "outcome = 'error'"),
    "an answer that was refused": ("answers", "outcome = 'refused' AND answer_text IS NULL"),
    "an empty answer": ("answers", "outcome = 'empty' AND model IS NULL"),
    "features not known": ("answers", "outcome = 'answered' AND features IS NULL"),
    "no features": ("answers", "outcome = 'answered' AND len(features) = 0"),
    "a truncated text": ("answers", "answer_truncated AND answer_characters > len(answer_text)"),
    "an engine not configured": ("engines", "engine = 'copilot' AND NOT configured"),
    "advertisements looked for, none seen": (
        "engines",
        "ads_checked AND shows_ads IS NOT FALSE AND engine NOT IN (SELECT engine FROM store.ads)",
    ),
    "traffic that cannot be distinguished": ("engines", "separable_traffic IS FALSE"),
    "a brand whose owner is not known": ("brands", "own IS NULL"),
    "a brand that is not tracked": ("brands", "NOT tracked"),
    "a brand with a dot": ("brands", "brand LIKE '%.example'"),
    "a brand that is never mentioned": (
        "brands",
        "tracked AND brand NOT IN (SELECT brand FROM store.mentions)",
    ),
    "a prompt without topic": ("prompts", "topic IS NULL"),
    "a prompt without category": ("prompts", "category IS NULL"),
    "a prompt that is no longer asked": ("prompts", "NOT active"),
    "a volume not known": ("prompts", "volume_estimate IS NULL"),
    "a volume of zero": ("prompts", "volume_estimate = 0"),
    "a prompt never run": (
        "prompts",
        "active AND prompt_id NOT IN"
        " (SELECT prompt_id FROM store.answers WHERE host = 'acme.example')",
    ),
    "a mention without place": ("mentions", "position IS NULL"),
    "a mention without score": ("mentions", "sentiment IS NULL AND sentiment_score IS NULL"),
    "an attribute without polarity": ("attributes", "polarity IS NULL"),
    "a claim never made": (
        "claims",
        "claim_id NOT IN (SELECT claim_id FROM store.claim_sightings)",
    ),
    "a source only retrieved": ("citations", "NOT cited"),
    "a source without title": ("citations", "title IS NULL"),
    "a source of no known kind": ("source_domains", "domain_type IS NULL"),
    "a query without rank": ("queries", "own_organic_rank IS NULL"),
    "an advertisement without answer": ("ads", "chat_id IS NULL"),
    "an advertisement without cards": ("ads", "ad_id NOT IN (SELECT ad_id FROM store.ad_cards)"),
    "a third card": ("ad_cards", "card = 3"),
    "a card without price": ("ad_cards", "price_amount IS NULL"),
    "a product without rating": ("products", "rating_value IS NULL"),
    "a product without offers": (
        "products",
        "product_id NOT IN (SELECT product_id FROM store.offers)",
    ),
    "an offer without price": ("offers", "price_amount IS NULL"),
    "an offer in euros": ("offers", "price_currency = 'EUR'"),
    "an offer in dollars": ("offers", "price_currency = 'USD'"),
    "a scanner in disguise": ("crawler_hits", "path = '/.env' AND status = 404"),
    "a server error": ("crawler_hits", "status >= 500"),
    "a redirect": ("crawler_hits", "status = 301"),
    "a path not recorded": ("crawler_hits", "path IS NULL"),
    "an impostor": ("crawler_hits", "verified_requests < requests"),
    "requests that cannot be verified": ("crawler_hits", "verified_requests IS NULL"),
    "a crawler nobody knows": ("crawler_hits", "bot NOT IN (SELECT bot FROM store.bots)"),
    "a file that is missing": ("site_files", "NOT present AND bytes IS NULL"),
    "a visit from no engine": ("visits", "engine IS NULL"),
    "a visit without path": ("visits", "path IS NULL"),
    "a visit of the last day": ("visits", "day = DATE '2026-11-20'"),
    "an experiment too fresh": ("experiments", "after_end - after_start < 3"),
}


@pytest.mark.parametrize("name", FEATURES)
def test_there_is(store: Store, name: str) -> None:
    assert holds(store, *FEATURES[name])


def test_there_is_something_to_find(store: Store) -> None:
    with store.observe(Question(ACME, 30)) as o:
        insights = SECTIONS["insights"].ask(o).body["insights"]
    kinds = {insight["type"] for insight in insights}
    assert {"competitor_citation_gain", "citation_loss"} <= kinds
    assert "seen" in {insight["state"] for insight in insights}
