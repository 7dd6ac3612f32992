"""Generate the random data of a project: runs, answers, crawler requests, visits.

A run sends one prompt to one engine.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.service.synth.world import (
    CHOICES,
    HISTORY_DAYS,
    LAST_DAY_NUMBER,
    RECENT_DAYS,
    WEIGHT_BY_OWN_PATH,
    Array,
    HostPlan,
    RandomGenerator,
    Tables,
    make_serial_ids,
    make_table,
    make_tables_from_rows,
    repeat_indices,
    set_null_where,
    take_values,
    to_timestamps,
)

SALES_TOPIC = "Sales automation"
IMPROVED_PROMPTS = CHOICES["moved_prompts"]
"""The indices of the prompts whose mentions of the own brand increase after an action."""

_URN_DRAW_COUNT = 1000
"""The number of draws from each Pólya urn; more draws approximate a beta distribution better."""


class Runs:
    """The runs of a project in order of time, and the brands that their answers mention.

    A run is one prompt sent to an AI engine. Arrays such as ``days_ago`` and ``engine_indices``
    have one entry per run. ``mention_run_indices``, ``mention_brand_indices`` and
    ``mention_positions`` have one entry per mention: the index of the run, the index of the brand,
    and the position among the mentions of the answer, from 0. ``run_count`` is the number of runs,
    and ``icc`` the intra-class correlation of mentions in answers to the same prompt.
    """

    def __init__(self, host_plan: HostPlan, seed: int, run_count: int, icc: float) -> None:
        self.host_plan = host_plan
        self.host = host_plan.host
        self.icc = icc
        self._seed = seed
        rng = self.make_generator(0)
        engines_days_and_weights = [
            (engine_number, days_ago, engine["weight"])
            for engine_number, engine in enumerate(host_plan.get_fixed_rows("engines"))
            if engine.get("weight")
            for days_ago in range(
                engine.get("until", 0), host_plan.run_days, engine.get("every", 1)
            )
            if days_ago not in host_plan.silent_days
        ]
        engine_indices, days_ago, run_weights = (
            np.array(column) for column in zip(*engines_days_and_weights, strict=True)
        )
        schedule_indices = rng.draw_weighted(run_weights, run_count)
        seconds_of_day = rng.draw_integers(3_600, 80_000, run_count)
        time_order = np.lexsort((seconds_of_day, -days_ago[schedule_indices]))
        self.days_ago = days_ago[schedule_indices][time_order]
        self.engine_indices = engine_indices[schedule_indices][time_order]
        prompt_indices = rng.draw_weighted(
            host_plan.get_fixed_array("prompts", "weight", 1.0), run_count
        )
        is_retired = (
            host_plan.get_fixed_array("prompts", "until", 0)[prompt_indices] > self.days_ago
        )
        self.prompt_indices = np.where(is_retired, 0, prompt_indices)
        outcome_indices, self.outcomes = rng.draw_choices("outcomes", run_count)
        self.is_answered = outcome_indices == 0
        self.has_shopping = (
            rng.draw_booleans(0.12, run_count)
            & self.is_answered
            & self.make_engine_mask("shopping_checked", True)
        )
        self.chat_ids = make_serial_ids("ch_", run_count)
        self.engines = take_values(
            host_plan.get_fixed_values("engines", "engine"), self.engine_indices
        )
        self.prompt_ids = take_values(
            host_plan.get_fixed_values("prompts", "prompt_id"), self.prompt_indices
        )
        self.ran_at = to_timestamps(LAST_DAY_NUMBER - self.days_ago, seconds_of_day[time_order])
        self._draw_mentions()

    def __len__(self) -> int:
        return len(self.days_ago)

    def make_generator(self, stream_number: int) -> RandomGenerator:
        """Return the random number generator for one part of the data, such as 3 for ``answers``.

        The generators of different parts are independent.
        """
        # A generator per part: a change to one part leaves the others as they are.
        return RandomGenerator(self._seed, self.host_plan.number, stream_number)

    def make_engine_mask(self, column_name: str, wanted_value: bool | None) -> Array:
        """Return a boolean array with a value per run: whether its engine has ``wanted_value``.

        ``column_name`` is the column of the table of engines in which this value is looked for.
        """
        has_wanted_value = self.host_plan.get_fixed_array("engines", column_name) == wanted_value
        return has_wanted_value[self.engine_indices]  # type: ignore[no-any-return]

    def _draw_mentions(self) -> None:
        """Choose at random which brands each answer mentions, and store them in arrays."""
        rng = self.make_generator(1)
        brand_rates = self.host_plan.get_fixed_array("brands", "rate", 0.0)
        array_shape = (len(self), len(brand_rates))
        is_mentioned = (
            rng.random(array_shape) < self._compute_mention_probabilities(brand_rates)
        ) & self.is_answered[:, None]
        sort_keys = np.where(is_mentioned, rng.random(array_shape) + 0.8 * brand_rates, -1.0)
        brand_indices_by_run = np.argsort(-sort_keys, axis=1, kind="stable")
        self.mention_counts = is_mentioned.sum(axis=1, dtype=np.int64)
        self.mention_run_indices, self.mention_positions = repeat_indices(self.mention_counts)
        self.mention_brand_indices = brand_indices_by_run[
            self.mention_run_indices, self.mention_positions
        ]

    def _compute_mention_probabilities(self, brand_rates: Array) -> Array:
        """Return the probability that the answer of a run mentions a brand, as a 2-D array.

        The array has one row per run and one column per brand. ``brand_rates`` are the mention
        rates of the brands in the settings.
        """
        host_plan = self.host_plan
        is_recent = self.days_ago < RECENT_DAYS
        rate_offsets = (
            self.make_generator(2).random(
                (len(host_plan.get_fixed_rows("engines")), len(brand_rates))
            )
            * 0.1
            - 0.05
        )
        probabilities = brand_rates + rate_offsets[self.engine_indices]
        is_chatgpt = host_plan.get_fixed_array("engines", "engine") == "chatgpt"
        is_sales = host_plan.get_fixed_array("prompts", "topic") == SALES_TOPIC
        own_rates = probabilities[:, 0] + 0.05 * (1 - self.days_ago / max(host_plan.run_days, 1))
        own_rates += np.where(is_recent & is_chatgpt[self.engine_indices], 0.12, 0.0)
        own_rates -= np.where(is_sales[self.prompt_indices], 0.14, 0.0)
        probabilities[:, 0] = own_rates
        probabilities = np.clip(probabilities, 0.0, 1.0)
        odds_factors = self._draw_odds_factors(brand_rates)[self.prompt_indices]
        probabilities = (
            probabilities * odds_factors / (1 - probabilities + probabilities * odds_factors)
        )
        # The action moves a prompt's rate half of the way to 1: a high rate gains little.
        is_improved = is_recent & np.isin(self.prompt_indices, IMPROVED_PROMPTS)
        probabilities[:, 0] += np.where(is_improved, 0.5 * (1 - probabilities[:, 0]), 0.0)
        is_branded = host_plan.get_fixed_array("prompts", "branded", False)[
            self.prompt_indices
        ].astype(bool)
        probabilities[:, 0] = np.where(is_branded, 0.93, probabilities[:, 0])
        return np.where(brand_rates == 0, 0.0, probabilities)

    def _draw_odds_factors(self, brand_rates: Array) -> Array:
        """Return random factors by which the odds of a mention of a brand differ between prompts.

        The result is a 2-D array with one row per prompt and one column per brand. ``brand_rates``
        are the mention rates of the brands in the settings.

        The mention rates of prompts follow a beta-binomial distribution: with intra-class
        correlation ρ, their variance around the brand's rate r is ρ·r(1-r).
        """
        odds_factors = np.ones((len(self.host_plan.get_fixed_rows("prompts")), len(brand_rates)))
        if self.icc == 0:
            return odds_factors
        rng = self.make_generator(7)
        prior_weight = (1 - self.icc) / self.icc
        is_mentionable = brand_rates > 0
        success_counts = np.zeros((len(odds_factors), int(is_mentionable.sum())))
        # Pólya's urn approximates a beta distribution from uniform numbers only.
        for draw_index in range(_URN_DRAW_COUNT):
            probabilities = (prior_weight * brand_rates[is_mentionable] + success_counts) / (
                prior_weight + draw_index
            )
            success_counts += rng.random(success_counts.shape) < probabilities
        prompt_rates = (prior_weight * brand_rates[is_mentionable] + success_counts) / (
            prior_weight + _URN_DRAW_COUNT
        )
        odds_factors[:, is_mentionable] = (
            prompt_rates
            / (1 - prompt_rates)
            * (1 - brand_rates[is_mentionable])
            / brand_rates[is_mentionable]
        )
        return odds_factors

    @cached_property
    def mentions_only_rivals(self) -> Array:
        """A boolean array that says which answers mention competitors, but no own brand."""
        is_own = self.host_plan.get_fixed_array("brands", "own", False).astype(bool)
        is_rival = self.host_plan.get_fixed_array("brands", "tracked") & ~is_own
        has_own, has_rival = (
            np.isin(
                np.arange(len(self)),
                self.mention_run_indices[is_wanted_brand[self.mention_brand_indices]],
            )
            for is_wanted_brand in (is_own, is_rival)
        )
        return ~has_own & has_rival


def draw_answers(runs: Runs) -> Tables:
    """Return a dict with the random table ``answers``: one row per run of a prompt on an engine."""
    rng = runs.make_generator(3)
    is_failed = ~runs.is_answered
    answer_texts = set_null_where(is_failed, _make_answer_texts(runs))
    is_truncated = rng.draw_booleans(0.3, len(runs))
    feature_indices = 1 + rng.draw_booleans(0.7, len(runs)).astype(np.int64)
    hides_retrieval = runs.make_engine_mask("exposes_retrieval", None)
    engines = runs.host_plan.get_fixed_values("engines", "engine")
    model_names = [f"{engine}-synthetic-{version}" for engine in engines for version in (1, 2)]
    return make_table(
        "answers",
        runs.host,
        chat_id=runs.chat_ids,
        prompt_id=runs.prompt_ids,
        engine=runs.engines,
        ran_at=runs.ran_at,
        outcome=runs.outcomes,
        model=set_null_where(
            is_failed, take_values(model_names, 2 * runs.engine_indices + (runs.days_ago <= 15))
        ),
        answer_text=answer_texts,
        answer_format=set_null_where(is_failed, "markdown"),
        answer_characters=pc.add(
            pc.utf8_length(answer_texts), pa.array(np.where(is_truncated, 900, 0))
        ),
        answer_truncated=set_null_where(is_failed, is_truncated),
        features=take_values(
            CHOICES["features"],
            np.where(
                hides_retrieval | is_failed, 0, np.where(runs.has_shopping, 3, feature_indices)
            ),
        ),
    )


def _make_answer_texts(runs: Runs) -> pa.Array:
    """Return an array with the text of each answer: a sentence that names the mentioned brands."""
    first_mention_positions = np.concatenate([[0], np.cumsum(runs.mention_counts)])
    brand_texts = take_values(
        [f"**{brand}**" for brand in runs.host_plan.get_fixed_values("brands", "brand")],
        runs.mention_brand_indices,
    )
    brand_lists = pc.binary_join(
        pa.ListArray.from_arrays(pa.array(first_mention_positions, pa.int32()), brand_texts), ", "
    )
    prompt_texts = take_values(
        runs.host_plan.get_fixed_values("prompts", "prompt"), runs.prompt_indices
    )
    texts_with_brands = pc.binary_join_element_wise(
        "(synthetic) Asked “", prompt_texts, "”, look at ", brand_lists, ".", ""
    )
    texts_without_brands = pc.binary_join_element_wise(
        "(synthetic) For “", prompt_texts, "” nothing stands out.", ""
    )
    return pc.if_else(pa.array(runs.mention_counts > 0), texts_with_brands, texts_without_brands)


def draw_mentions(runs: Runs) -> Tables:
    """Return a dict with the random table ``mentions``: the brands that each answer mentions."""
    rng = runs.make_generator(4)
    mention_count = len(runs.mention_run_indices)
    brands = runs.host_plan.get_fixed_values("brands", "brand")
    positive_rates = runs.host_plan.get_fixed_array("brands", "tone", 0.5)[
        runs.mention_brand_indices
    ]
    positive_rates = positive_rates + np.where(
        (runs.mention_brand_indices == 0) & (runs.days_ago[runs.mention_run_indices] < RECENT_DAYS),
        0.15,
        0.0,
    )
    random_numbers = rng.random(mention_count)
    sentiment_indices = np.where(
        random_numbers < positive_rates,
        0,
        np.where(random_numbers > 1 - 0.3 * (1 - positive_rates), 2, 1),
    )
    min_scores = np.array([650, 450, 100])[sentiment_indices]
    score_ranges = np.array([300, 100, 250])[sentiment_indices]
    scores = (min_scores + np.floor(score_ranges * rng.random(mention_count))) / 10
    is_unscored = ~runs.host_plan.get_fixed_array("brands", "scored", True)[
        runs.mention_brand_indices
    ]
    is_unscored |= rng.draw_booleans(0.13, mention_count)
    has_no_position = rng.draw_booleans(0.04, len(runs))[runs.mention_run_indices]
    excerpts = [excerpt.format(brand) for brand in brands for excerpt in CHOICES["excerpts"]]
    return make_table(
        "mentions",
        runs.host,
        chat_id=take_values(runs.chat_ids, runs.mention_run_indices),
        brand=take_values(brands, runs.mention_brand_indices),
        position=set_null_where(has_no_position, runs.mention_positions + 1),
        sentiment=set_null_where(
            is_unscored, take_values(CHOICES["sentiments"], sentiment_indices)
        ),
        sentiment_score=set_null_where(is_unscored, scores),
        excerpt=set_null_where(
            rng.draw_booleans(0.05, mention_count),
            take_values(excerpts, 3 * runs.mention_brand_indices + sentiment_indices),
        ),
    )


def draw_attributes(runs: Runs) -> Tables:
    """Return a dict with the random table ``attributes`` of brands, such as "easy to use"."""
    rng = runs.make_generator(5)
    mention_count = len(runs.mention_run_indices)
    mention_indices, attribute_numbers = repeat_indices(
        rng.draw_weighted(CHOICES["attribute_counts"], mention_count)
    )
    first_attribute_indices, _ = rng.draw_choices("attributes", mention_count)
    attributes = [attribute for attribute, _ in CHOICES["attributes"]]
    attribute_indices = (first_attribute_indices[mention_indices] + 3 * attribute_numbers) % len(
        attributes
    )
    return make_table(
        "attributes",
        runs.host,
        chat_id=take_values(runs.chat_ids, runs.mention_run_indices[mention_indices]),
        brand=take_values(
            runs.host_plan.get_fixed_values("brands", "brand"),
            runs.mention_brand_indices[mention_indices],
        ),
        attribute=take_values(attributes, attribute_indices),
        polarity=take_values(CHOICES["polarities"], attribute_indices),
    )


def draw_claims(runs: Runs) -> Tables:
    """Return a dict with the random table ``claim_sightings``: the claims that answers make."""
    rng = runs.make_generator(6)
    mention_count = len(runs.mention_run_indices)
    makes_claim = rng.draw_booleans(0.2, mention_count)
    claim_indices = np.where(
        runs.mention_brand_indices == 0,
        rng.draw_weighted((5, 1, 2), mention_count),
        3 + rng.draw_weighted((1, 2), mention_count),
    )
    mention_indices = np.flatnonzero(makes_claim & (runs.mention_brand_indices <= 1))
    return make_table(
        "claim_sightings",
        runs.host,
        claim_id=take_values(
            runs.host_plan.get_fixed_values("claims", "claim_id"), claim_indices[mention_indices]
        ),
        chat_id=take_values(runs.chat_ids, runs.mention_run_indices[mention_indices]),
    )


# --- what answers show -------------------------------------------------------------------------


def draw_sources(runs: Runs) -> Tables:
    """Return a dict of the tables of the pages and domains that answers can cite."""
    rng = runs.make_generator(11)
    page_dicts = runs.host_plan.list_pages()
    brand_rows = [
        row for row in runs.host_plan.get_fixed_rows("brands") if row["brand"] != "Umbrella"
    ]
    random_numbers = rng.random((len(page_dicts), len(brand_rows)))
    page_rows = [
        page_dict
        for page_dict in page_dicts
        if page_dict.get("examined") or page_dict.get("page_type")
    ]
    page_brand_rows = [
        {
            "url": page_dict["url"],
            "brand": brand_row["brand"],
            "mentioned": bool(random_numbers[page_index, brand_index] < 0.15 + brand_row["rate"]),
        }
        for page_index, page_dict in enumerate(page_dicts)
        if page_dict.get("examined")
        for brand_index, brand_row in enumerate(brand_rows)
    ]
    domain_rows = [
        {"source_domain": domain, "domain_type": domain_type}
        for domain, domain_type in runs.host_plan.find_type_by_domain().items()
    ]
    return make_tables_from_rows(
        runs.host,
        {
            "source_domains": domain_rows,
            "source_pages": page_rows,
            "source_page_brands": page_brand_rows,
        },
    )


def draw_citations(runs: Runs) -> Tables:
    """Return a dict with the random table ``citations``: the pages that answers cite."""
    rng = runs.make_generator(10)
    page_dicts = runs.host_plan.list_pages()
    citation_counts = rng.draw_weighted(CHOICES["citation_counts"], len(runs))
    run_indices, _ = repeat_indices(citation_counts * runs.is_answered)
    early_indices = rng.draw_weighted(
        [page_dict["weight"] for page_dict in page_dicts], len(run_indices)
    )
    recent_indices = rng.draw_weighted(
        [page_dict.get("lately", page_dict["weight"]) for page_dict in page_dicts], len(run_indices)
    )
    page_indices = np.where(runs.days_ago[run_indices] < RECENT_DAYS, recent_indices, early_indices)
    # An answer cites a page once: only the first of equal pairs of run and page stays.
    _, first_citation_indices = np.unique(
        run_indices * len(page_dicts) + page_indices, return_index=True
    )
    run_indices = run_indices[np.sort(first_citation_indices)]
    page_indices = page_indices[np.sort(first_citation_indices)]
    # If an answer mentions only rivals, some pages are replaced by those of other domains.
    urls = [page_dict["url"] for page_dict in page_dicts]
    rival_indices = np.array(
        [urls.index(page_dict.get("rival", page_dict["url"])) for page_dict in page_dicts]
    )
    page_indices = np.where(
        runs.mentions_only_rivals[run_indices], rival_indices[page_indices], page_indices
    )
    _, positions = repeat_indices(np.bincount(run_indices, minlength=len(runs)).astype(np.int64))
    is_untitled = rng.draw_booleans(0.06, len(run_indices))
    return make_table(
        "citations",
        runs.host,
        chat_id=take_values(runs.chat_ids, run_indices),
        n=positions + 1,
        url=take_values(urls, page_indices),
        source_domain=take_values([page_dict["domain"] for page_dict in page_dicts], page_indices),
        cited=~runs.make_engine_mask("exposes_retrieval", True)[run_indices]
        | rng.draw_booleans(0.65, len(run_indices)),
        title=set_null_where(
            is_untitled, take_values([page_dict["title"] for page_dict in page_dicts], page_indices)
        ),
    )


def draw_fanouts(runs: Runs) -> Tables:
    """Return a dict of the random tables ``fanouts`` and ``queries``.

    A fan-out is a search query that an engine sent while it made an answer.
    """
    rng = runs.make_generator(12)
    is_exposed = runs.make_engine_mask("exposes_fanouts", True) & runs.is_answered
    run_indices, query_numbers = repeat_indices(
        rng.draw_weighted(CHOICES["fanout_counts"], len(runs)) * is_exposed
    )
    first_suffix_indices = rng.draw_weighted(CHOICES["first_suffixes"], len(runs))
    suffix_indices = (first_suffix_indices[run_indices] + query_numbers) % len(CHOICES["suffixes"])
    query_texts = [
        f"best {(prompt_row.get('topic') or 'crm').lower()} 2026"
        if suffix == "2026"
        else f"{prompt_row['prompt'].lower()} {suffix}"
        for prompt_row in runs.host_plan.get_fixed_rows("prompts")
        for suffix in CHOICES["suffixes"]
    ]
    queries = list(dict.fromkeys(query_texts))
    query_count = len(queries)
    kept_query_indices = np.flatnonzero(rng.draw_booleans(0.8, query_count))
    rank_numbers = rng.draw_weighted([1.0] * 40, query_count)
    volume_numbers = rng.draw_weighted([1.0] * 90, query_count)
    has_no_rank = rng.draw_booleans(0.4, query_count)
    has_no_volume = rng.draw_booleans(0.3, query_count)
    fanout_table = make_table(
        "fanouts",
        runs.host,
        chat_id=take_values(runs.chat_ids, run_indices),
        query_index=query_numbers,
        query=take_values(
            query_texts,
            runs.prompt_indices[run_indices] * len(CHOICES["suffixes"]) + suffix_indices,
        ),
    )
    return fanout_table | make_table(
        "queries",
        runs.host,
        query=take_values(queries, kept_query_indices),
        intent=rng.draw_choices("intents", len(kept_query_indices))[1],
        own_organic_rank=set_null_where(
            has_no_rank[kept_query_indices], rank_numbers[kept_query_indices] + 1
        ),
        search_volume=set_null_where(
            has_no_volume[kept_query_indices], volume_numbers[kept_query_indices] * 10
        ),
    )


def draw_ads(runs: Runs) -> Tables:
    """Return a dict of the random tables ``ads`` (in answers) and ``ad_cards`` (links in ads)."""
    rng = runs.make_generator(20)
    advertiser_rows = runs.host_plan.get_fixed_rows("advertisers")
    is_examined = (
        runs.make_engine_mask("shows_ads", True)
        & runs.make_engine_mask("ads_checked", True)
        & runs.is_answered
    )
    run_indices = np.flatnonzero(is_examined & rng.draw_booleans(0.07, len(runs)))
    ad_count = len(run_indices)
    ad_unit_indices, ad_units = rng.draw_choices("units", ad_count)
    advertiser_indices = rng.draw_weighted(
        [1.0, 6.0, *[2.0] * (len(advertiser_rows) - 2)], ad_count
    )
    lacks_chat = rng.draw_booleans(0.1, ad_count)
    engines = runs.host_plan.get_fixed_values("engines", "engine")
    surfaces = ["ai_overview" if name == "google-ai-overview" else "answer" for name in engines]
    ad_table = make_table(
        "ads",
        runs.host,
        ad_id=make_serial_ids("ad_", ad_count),
        engine=take_values(runs.engines, run_indices),
        observed_at=take_values(runs.ran_at, run_indices),
        chat_id=set_null_where(lacks_chat, take_values(runs.chat_ids, run_indices)),
        prompt_id=set_null_where(
            lacks_chat & rng.draw_booleans(0.5, ad_count), take_values(runs.prompt_ids, run_indices)
        ),
        surface=take_values(surfaces, runs.engine_indices[run_indices]),
        unit=ad_units,
        placement=rng.draw_choices("placements", ad_count)[1],
        position=set_null_where(
            rng.draw_booleans(0.05, ad_count), rng.draw_integers(1, 2, ad_count)
        ),
        advertiser=set_null_where(
            rng.draw_booleans(0.02, ad_count),
            take_values(
                [advertiser_row["advertiser"] for advertiser_row in advertiser_rows],
                advertiser_indices,
            ),
        ),
    )
    return ad_table | _draw_ad_cards(
        runs, np.array(CHOICES["cards"])[ad_unit_indices], advertiser_indices
    )


def _draw_ad_cards(runs: Runs, card_counts: Array, advertiser_indices: Array) -> Tables:
    """Return a dict with the random table ``ad_cards``: the links (cards) in advertisements.

    ``card_counts`` has the number of cards of each advertisement, and ``advertiser_indices`` its
    advertiser.
    """
    rng = runs.make_generator(21)
    ad_indices, card_numbers = repeat_indices(card_counts)
    card_count = len(ad_indices)
    domains = runs.host_plan.get_fixed_values("advertisers", "domain", "ads.example")
    is_unpriced = ~rng.draw_booleans(0.4, card_count)
    prices = 9 + rng.draw_integers(0, 90, card_count) + 0.99
    return make_table(
        "ad_cards",
        runs.host,
        ad_id=take_values(make_serial_ids("ad_", len(card_counts)), ad_indices),
        card=card_numbers + 1,
        headline=rng.draw_choices("headlines", card_count)[1],
        body=set_null_where(rng.draw_booleans(0.2, card_count), "(synthetic) An advertisement."),
        image_url=set_null_where(
            rng.draw_booleans(0.5, card_count), "https://images.example/ad.png"
        ),
        target_url=take_values(
            [f"https://{domain}/?from=ad" for domain in domains], advertiser_indices[ad_indices]
        ),
        price_amount=set_null_where(is_unpriced, prices),
        price_currency=set_null_where(is_unpriced, "USD"),
    )


def draw_shopping(runs: Runs) -> Tables:
    """Return a dict of the random tables ``product_mentions`` (in answers) and ``offers``."""
    rng = runs.make_generator(30)
    product_ids = runs.host_plan.get_fixed_values("products", "product_id")
    shopping_run_indices = np.flatnonzero(runs.has_shopping)
    sort_keys = rng.random((len(shopping_run_indices), len(product_ids))) + np.linspace(
        0.5, 0.0, len(product_ids)
    )
    product_indices_by_run = np.argsort(-sort_keys, axis=1, kind="stable")
    shopping_indices, positions = repeat_indices(rng.draw_integers(2, 5, len(shopping_run_indices)))
    mention_table = make_table(
        "product_mentions",
        runs.host,
        chat_id=take_values(runs.chat_ids, shopping_run_indices[shopping_indices]),
        product_id=take_values(product_ids, product_indices_by_run[shopping_indices, positions]),
        position=positions + 1,
    )
    return mention_table | make_tables_from_rows(runs.host, {"offers": _draw_offers(runs)})


def _draw_offers(runs: Runs) -> list[dict[str, Any]]:
    """Return random offers of the project's products, as rows of the table ``offers``."""
    rng = runs.make_generator(31)
    merchants = CHOICES["merchants"]
    stock_states = CHOICES["stock"]
    offer_rows = []
    for product_id in runs.host_plan.get_fixed_values("products", "product_id"):
        if product_id in CHOICES["without_offers"]:
            continue
        for position in range(1, 2 + int(rng.integers(0, 4))):
            merchant, merchant_domain, currency = merchants[int(rng.integers(0, len(merchants)))]
            price = None if rng.random() < 0.15 else 20 + int(rng.integers(0, 600)) + 0.9
            offer_rows.append(
                {
                    "product_id": product_id,
                    "offer_position": position,
                    "merchant": merchant,
                    "merchant_domain": merchant_domain,
                    "price_amount": price,
                    "price_currency": None if price is None else currency,
                    "stock_status": stock_states[int(rng.integers(0, len(stock_states)))],
                    "delivery_text": "Free delivery" if rng.random() < 0.5 else None,
                    "url": f"https://{merchant_domain or 'box.example'}/{product_id}",
                }
            )
    return offer_rows


DRAW_FUNCTIONS = (
    draw_answers,
    draw_mentions,
    draw_attributes,
    draw_claims,
    draw_citations,
    draw_sources,
    draw_fanouts,
    draw_ads,
    draw_shopping,
)
"""The functions that draw tables about the runs of a project, such as its answers."""


# --- the site ----------------------------------------------------------------------------------

_FIRST_UNVERIFIED_BOT = 6
"""The index of the first bot whose requests cannot be verified."""
_FIRST_HOUR = (LAST_DAY_NUMBER - 80) * 24 + 10
_LAST_HOUR = LAST_DAY_NUMBER * 24 + 23
"""The first and the last hour of the crawler requests, in hours since 1970-01-01."""
_WEIGHT_BY_PATH = WEIGHT_BY_OWN_PATH | dict(CHOICES["paths"])


def draw_crawlers(host_plan: HostPlan, seed: int, hit_count: int) -> Tables:
    """Return a dict of the random tables ``crawler_hits`` (requests) and ``crawler_hours``.

    ``hit_count`` is the number of rows of ``crawler_hits``. Without a gateway, the dict is empty.
    """
    if "connected" not in host_plan.get_fixed_values("gateways", "cname_state"):
        return {}
    recorded_hours = np.arange(_FIRST_HOUR, _LAST_HOUR + 1, dtype=np.int64)
    days_ago = LAST_DAY_NUMBER - recorded_hours // 24
    hours_of_day = recorded_hours % 24
    is_unrecorded = (
        (days_ago == 37)
        | ((days_ago == 17) & (hours_of_day >= 5) & (hours_of_day < 9))
        | ((days_ago == 0) & (hours_of_day == 3))
    )
    recorded_hours = recorded_hours[~is_unrecorded]
    rng = RandomGenerator(seed, host_plan.number, 40)
    hit_hours = np.sort(recorded_hours[rng.draw_weighted(np.ones(len(recorded_hours)), hit_count)])
    bot_indices, bot_names = rng.draw_choices("bots", hit_count)
    path_indices = rng.draw_weighted([*_WEIGHT_BY_PATH.values()], hit_count)
    # Mostly 200; the paths that disguised scanners request do not exist.
    statuses = rng.draw_choices("statuses", hit_count)[1].to_numpy()
    statuses = np.where((bot_indices == 4) & (rng.random(hit_count) < 0.3), 403, statuses)
    statuses = np.where(path_indices >= [*_WEIGHT_BY_PATH].index("/gone"), 404, statuses)
    request_counts = 1 + rng.draw_weighted(CHOICES["request_counts"], hit_count)
    unverified_counts = rng.draw_booleans(0.06, hit_count).astype(np.int64)
    seconds = rng.draw_integers(0, 1_790, hit_count)
    hit_table = make_table(
        "crawler_hits",
        host_plan.host,
        hour=to_timestamps(0, hit_hours * 3_600),
        bot=bot_names,
        requests=request_counts,
        path=set_null_where(
            rng.draw_booleans(0.02, hit_count), take_values([*_WEIGHT_BY_PATH], path_indices)
        ),
        status=set_null_where(rng.draw_booleans(0.01, hit_count), statuses),
        site=take_values(
            [host_plan.host, f"www.{host_plan.host}", None], rng.draw_weighted((8, 1, 1), hit_count)
        ),
        verified_requests=set_null_where(
            bot_indices >= _FIRST_UNVERIFIED_BOT, request_counts - unverified_counts
        ),
        bytes=set_null_where(
            rng.draw_booleans(0.03, hit_count),
            np.where(statuses == 200, 9_000, 300) * request_counts,
        ),
        last_at=to_timestamps(0, hit_hours * 3_600 + seconds),
    )
    recorded_timestamps = to_timestamps(0, recorded_hours * 3_600)
    return hit_table | make_table("crawler_hours", host_plan.host, hour=recorded_timestamps)


def draw_visits(host_plan: HostPlan, seed: int, visit_count: int) -> Tables:
    """Return a dict of the random tables ``visits`` and ``conversions``.

    ``visit_count`` is the number of visits. Without web analytics, the dict is empty.
    """
    analytics_row = next(iter(host_plan.get_fixed_rows("analytics")), {"provider": "none"})
    if analytics_row["provider"] == "none":
        return {}
    rng = RandomGenerator(seed, host_plan.number, 50)
    days = np.sort(LAST_DAY_NUMBER - rng.draw_integers(0, HISTORY_DAYS - 1, visit_count))
    engine_indices, engine_names = rng.draw_choices("visit_engines", visit_count)
    visitor_numbers = rng.draw_integers(1, max(visit_count * 4 // 5, 1), visit_count)
    path_indices = rng.draw_weighted([*WEIGHT_BY_OWN_PATH.values()], visit_count)
    is_anonymous = np.full(visit_count, host_plan.host != "acme.example")
    visit_table = make_table(
        "visits",
        host_plan.host,
        visit_id=make_serial_ids("v_", visit_count),
        day=pa.array(days.astype(np.int32)).cast(pa.date32()),
        engine=engine_names,
        visitor_id=set_null_where(
            is_anonymous, take_values(make_serial_ids("u_", visit_count), visitor_numbers - 1)
        ),
        path=set_null_where(
            rng.draw_booleans(0.02, visit_count), take_values([*WEIGHT_BY_OWN_PATH], path_indices)
        ),
        engaged=rng.draw_booleans(np.where(engine_indices > 0, 0.7, 0.5), visit_count),
        seconds=np.floor(rng.random(visit_count) * 2_600) / 10,
    )
    # Only a part of the conversions of the last day has arrived.
    conversion_rates = np.where(engine_indices > 0, 0.026, 0.017) * np.where(
        days == LAST_DAY_NUMBER, 0.3, 1.0
    )
    visit_indices = np.flatnonzero(rng.draw_booleans(conversion_rates, visit_count))
    revenues = rng.draw_integers(2_000, 40_000, len(visit_indices)) / 100
    is_unpriced = rng.draw_booleans(0.05, len(visit_indices)) | ("currency" not in analytics_row)
    return visit_table | make_table(
        "conversions",
        host_plan.host,
        conversion_id=make_serial_ids("cv_", len(visit_indices)),
        visit_id=take_values(make_serial_ids("v_", visit_count), visit_indices),
        revenue=set_null_where(is_unpriced, revenues),
    )
