"""Generate the random data of a project: runs, answers, and the logs of its site.

In reading order: runs (which prompt was sent to which engine when) and the brands that answers
mention; the pages that answers cite, their queries, advertisements and products; the requests of
crawlers that the gateway recorded, visits and conversions.
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
    OWN_PATHS,
    TODAY,
    TURN_DAYS,
    Array,
    HostPlan,
    draw_booleans,
    draw_choices,
    draw_integers,
    draw_weighted,
    independent_generator,
    null_where,
    repeat_indices,
    serial_ids,
    table_from_columns,
    tables_from_rows,
    take_values,
    to_timestamps,
)

SALES = "Sales automation"
MOVED_PROMPTS = CHOICES["moved_prompts"]
"""The prompts whose mentions increase after the action that is shown to have an effect."""

_URN_DRAWS = 1000
"""The number of draws from each urn: the more, the closer its fraction is to a beta variable."""


class Runs:
    """The runs of a project in chronological order, and the brands that their answers mention.

    A run sends one prompt to one engine. Arrays such as ``days_ago`` (days before the last day),
    ``engine_index`` and ``prompt_index`` have an entry for each run. Three arrays have an entry for
    each mention: ``mention_run`` (the index of the run), ``mention_brand`` (the index of the brand)
    and ``mention_place`` (the position in the answer, from 0). ``icc`` is the intra-class
    correlation of mentions in the answers to one prompt.
    """

    def __init__(self, plan: HostPlan, seed: int, count: int, icc: float) -> None:
        self.plan, self.icc, self._seed = plan, icc, seed
        rng = self.random_generator(0)
        schedule = [
            (number, age, engine["weight"])
            for number, engine in enumerate(plan.fixed_rows("engines"))
            if engine.get("weight")
            for age in range(engine.get("until", 0), plan.days, engine.get("every", 1))
            if age not in plan.silent
        ]
        engines, ages, weights = (np.array(column) for column in zip(*schedule, strict=True))
        slot = draw_weighted(rng, weights, count)
        second = draw_integers(rng, 3_600, 80_000, count)
        order = np.lexsort((second, -ages[slot]))
        self.days_ago, self.second_of_day, self.engine_index = (
            ages[slot][order],
            second[order],
            engines[slot][order],
        )
        prompt_index = draw_weighted(rng, plan.fixed_array("prompts", "weight", 1.0), count)
        is_retired = plan.fixed_array("prompts", "until", 0)[prompt_index] > self.days_ago
        self.prompt_index = np.where(is_retired, 0, prompt_index)
        outcome_index, self.outcome = draw_choices(rng, "outcomes", count)
        self.is_answered = outcome_index == 0
        self.has_shopping = (
            draw_booleans(rng, 0.12, count)
            & self.is_answered
            & self.engine_mask("shopping_checked", True)
        )
        self.chat_ids = serial_ids("ch_", count)
        self.engines = take_values(plan.fixed_values("engines", "engine"), self.engine_index)
        self.prompt_ids = take_values(plan.fixed_values("prompts", "prompt_id"), self.prompt_index)
        self.ran_at = to_timestamps(TODAY - self.days_ago, second[order])
        self._draw_mentions()

    def __len__(self) -> int:
        return len(self.days_ago)

    def random_generator(self, area: int) -> np.random.Generator:
        """Return a random number generator for the part of the project's data numbered ``area``.

        Each part has a generator of its own, so that a change to one part leaves the others as they
        are.
        """
        return independent_generator(self._seed, self.plan.number, area)

    def engine_mask(self, column: str, wanted_value: bool | None) -> Array:
        """Return, for each run, whether its engine has ``wanted_value`` in a column of ``engines``.

        The value is None for engines whose row lacks the column.
        """
        engine_matches = [
            cell is wanted_value for cell in self.plan.fixed_values("engines", column)
        ]
        return np.array(engine_matches)[self.engine_index]  # type: ignore[no-any-return]

    def _draw_mentions(self) -> None:
        """Generate which brands each answer mentions, and in which order, at random."""
        rng = self.random_generator(1)
        rates = self.plan.fixed_array("brands", "rate", 0.0)
        size = (len(self), len(rates))
        is_mentioned = (rng.random(size) < self._mention_probabilities(rates)) & self.is_answered[
            :, None
        ]
        score = np.where(is_mentioned, rng.random(size) + 0.8 * rates, -1.0)
        order = np.argsort(-score, axis=1, kind="stable")
        self.mention_counts = is_mentioned.sum(axis=1, dtype=np.int64)
        self.mention_run, self.mention_place = repeat_indices(self.mention_counts)
        self.mention_brand = order[self.mention_run, self.mention_place]

    def _mention_probabilities(self, rates: Array) -> Array:
        """Return the probability that a run mentions a brand: a row per run, a column per brand.

        ``rates`` are the average mention rates of the brands.
        """
        plan, is_recent = self.plan, self.days_ago < TURN_DAYS
        offsets = (
            self.random_generator(2).random((len(plan.fixed_rows("engines")), len(rates))) * 0.1
            - 0.05
        )
        probability = rates + offsets[self.engine_index]
        is_chatgpt = np.array(
            [name == "chatgpt" for name in plan.fixed_values("engines", "engine")]
        )
        is_sales = np.array([topic == SALES for topic in plan.fixed_values("prompts", "topic")])
        own_rate = probability[:, 0] + 0.05 * (1 - self.days_ago / max(plan.days, 1))
        own_rate += np.where(is_recent & is_chatgpt[self.engine_index], 0.12, 0.0)
        own_rate -= np.where(is_sales[self.prompt_index], 0.14, 0.0)
        probability[:, 0] = own_rate
        probability = np.clip(probability, 0.0, 1.0)
        odds_factors = self._odds_factors(rates)[self.prompt_index]
        probability = probability * odds_factors / (1 - probability + probability * odds_factors)
        # The action moves a prompt's rate half of the way to 1: a high rate gains little.
        is_moved = is_recent & np.isin(self.prompt_index, MOVED_PROMPTS)
        probability[:, 0] += np.where(is_moved, 0.5 * (1 - probability[:, 0]), 0.0)
        is_branded = plan.fixed_array("prompts", "branded", False)[self.prompt_index].astype(bool)
        probability[:, 0] = np.where(is_branded, 0.93, probability[:, 0])
        return np.where(rates == 0, 0.0, probability)

    def _odds_factors(self, rates: Array) -> Array:
        """Return random factors for the odds of a mention: a row per prompt, a column per brand.

        Answers to one prompt resemble each other: with an intra-class correlation ρ, the rates of
        prompts have the variance ρ·r(1-r) around the brand's rate r, as in a beta-binomial
        distribution. The factor is the odds of a prompt's rate divided by the odds of r. So a
        change of r with time, engine or topic moves every prompt, and none beyond 0 or 1.

        A beta variable is drawn as the limit of Pólya's urn, which needs only uniform numbers.
        """
        factors = np.ones((len(self.plan.fixed_rows("prompts")), len(rates)))
        if self.icc == 0:
            return factors
        rng, weight = self.random_generator(7), (1 - self.icc) / self.icc
        mask = rates > 0
        hits = np.zeros((len(factors), int(mask.sum())))
        for draw in range(_URN_DRAWS):
            probability = (weight * rates[mask] + hits) / (weight + draw)
            hits += rng.random(hits.shape) < probability
        prompt_rates = (weight * rates[mask] + hits) / (weight + _URN_DRAWS)
        factors[:, mask] = prompt_rates / (1 - prompt_rates) * (1 - rates[mask]) / rates[mask]
        return factors

    @cached_property
    def mentions_only_rivals(self) -> Array:
        """For each run, whether its answer mentions a tracked competitor and no own brand."""
        is_own = np.array([value is True for value in self.plan.fixed_values("brands", "own")])
        is_rival = self.plan.fixed_array("brands", "tracked", None) & ~is_own
        has_own, has_rival = (
            np.isin(np.arange(len(self)), self.mention_run[mask[self.mention_brand]])
            for mask in (is_own, is_rival)
        )
        return ~has_own & has_rival


def draw_answers(runs: Runs) -> dict[str, pa.Table]:
    """Generate the random table of answers, with one row for each run."""
    rng, is_failed = runs.random_generator(3), ~runs.is_answered
    texts = null_where(is_failed, _answer_texts(runs))
    is_truncated = draw_booleans(rng, 0.3, len(runs))
    feature = 1 + draw_booleans(rng, 0.7, len(runs)).astype(np.int64)
    hides_retrieval = runs.engine_mask("exposes_retrieval", None)
    engines = runs.plan.fixed_values("engines", "engine")
    models = [f"{engine}-synthetic-{version}" for engine in engines for version in (1, 2)]
    return table_from_columns(
        "answers",
        runs.plan,
        chat_id=runs.chat_ids,
        prompt_id=runs.prompt_ids,
        engine=runs.engines,
        ran_at=runs.ran_at,
        outcome=runs.outcome,
        model=null_where(
            is_failed, take_values(models, 2 * runs.engine_index + (runs.days_ago <= 15))
        ),
        answer_text=texts,
        answer_format=null_where(is_failed, "markdown"),
        answer_characters=pc.add(pc.utf8_length(texts), pa.array(np.where(is_truncated, 900, 0))),
        answer_truncated=null_where(is_failed, is_truncated),
        features=take_values(
            CHOICES["features"],
            np.where(hides_retrieval | is_failed, 0, np.where(runs.has_shopping, 3, feature)),
        ),
    )


def _answer_texts(runs: Runs) -> pa.Array:
    """Return the text of each answer: a sentence that names the brands it mentions, in order."""
    offsets = np.concatenate([[0], np.cumsum(runs.mention_counts)])
    brands = take_values(
        [f"**{brand}**" for brand in runs.plan.fixed_values("brands", "brand")], runs.mention_brand
    )
    names = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), brands), ", ")
    prompts = take_values(runs.plan.fixed_values("prompts", "prompt"), runs.prompt_index)
    texts_with_brands = pc.binary_join_element_wise(
        "(synthetic) Asked “", prompts, "”, look at ", names, ".", ""
    )
    texts_without_brands = pc.binary_join_element_wise(
        "(synthetic) For “", prompts, "” nothing stands out.", ""
    )
    return pc.if_else(pa.array(runs.mention_counts > 0), texts_with_brands, texts_without_brands)


def draw_mentions(runs: Runs) -> dict[str, pa.Table]:
    """Generate the table of mentions of brands in answers, with random sentiments."""
    rng, count, brands = (
        runs.random_generator(4),
        len(runs.mention_run),
        runs.plan.fixed_values("brands", "brand"),
    )
    tone = runs.plan.fixed_array("brands", "tone", 0.5)[runs.mention_brand]
    tone = tone + np.where(
        (runs.mention_brand == 0) & (runs.days_ago[runs.mention_run] < TURN_DAYS), 0.15, 0.0
    )
    level = rng.random(count)
    sentiment = np.where(level < tone, 0, np.where(level > 1 - 0.3 * (1 - tone), 2, 1))
    lowest_score, width = np.array([650, 450, 100])[sentiment], np.array([300, 100, 250])[sentiment]
    score = (lowest_score + np.floor(width * rng.random(count))) / 10
    is_unscored = ~runs.plan.fixed_array("brands", "scored", True)[runs.mention_brand]
    is_unscored |= draw_booleans(rng, 0.13, count)
    is_unordered = draw_booleans(rng, 0.04, len(runs))[runs.mention_run]
    excerpts = [excerpt.format(brand) for brand in brands for excerpt in CHOICES["excerpts"]]
    return table_from_columns(
        "mentions",
        runs.plan,
        chat_id=take_values(runs.chat_ids, runs.mention_run),
        brand=take_values(brands, runs.mention_brand),
        position=null_where(is_unordered, runs.mention_place + 1),
        sentiment=null_where(is_unscored, take_values(CHOICES["sentiments"], sentiment)),
        sentiment_score=null_where(is_unscored, score),
        excerpt=null_where(
            draw_booleans(rng, 0.05, count),
            take_values(excerpts, 3 * runs.mention_brand + sentiment),
        ),
    )


def draw_attributes(runs: Runs) -> dict[str, pa.Table]:
    """Generate the random table of attributes, such as "easy to use", that answers give brands."""
    rng, count = runs.random_generator(5), len(runs.mention_run)
    owner, position = repeat_indices(draw_weighted(rng, (0.65, 0.25, 0.1), count))
    first_attribute, _ = draw_choices(rng, "attributes", count)
    attributes = [attribute for attribute, _ in CHOICES["attributes"]]
    attribute = (first_attribute[owner] + 3 * position) % len(attributes)
    return table_from_columns(
        "attributes",
        runs.plan,
        chat_id=take_values(runs.chat_ids, runs.mention_run[owner]),
        brand=take_values(runs.plan.fixed_values("brands", "brand"), runs.mention_brand[owner]),
        attribute=take_values(attributes, attribute),
        polarity=take_values(CHOICES["polarities"], attribute),
    )


def draw_claims(runs: Runs) -> dict[str, pa.Table]:
    """Generate the random table of which answers make which claims about the first two brands.

    No answer makes the last of the six claims, as real claims may be in no answer, too.
    """
    rng, count = runs.random_generator(6), len(runs.mention_run)
    is_seen = draw_booleans(rng, 0.2, count)
    claim = np.where(
        runs.mention_brand == 0,
        draw_weighted(rng, (5, 1, 2), count),
        3 + draw_weighted(rng, (1, 2), count),
    )
    sighted_mentions = np.flatnonzero(is_seen & (runs.mention_brand <= 1))
    return table_from_columns(
        "claim_sightings",
        runs.plan,
        claim_id=take_values(runs.plan.fixed_values("claims", "claim_id"), claim[sighted_mentions]),
        chat_id=take_values(runs.chat_ids, runs.mention_run[sighted_mentions]),
    )


# --- what answers show -------------------------------------------------------------------------


def draw_sources(runs: Runs) -> dict[str, pa.Table]:
    """Generate the tables of the pages and domains that answers can cite; return them by name."""
    rng, pages = runs.random_generator(11), runs.plan.pages()
    brands = [row for row in runs.plan.fixed_rows("brands") if row["brand"] != "Umbrella"]
    mention_draws = rng.random((len(pages), len(brands)))
    types = runs.plan.domain_types()
    described_pages = [page for page in pages if page.get("examined") or page.get("page_type")]
    examined_rows = [
        {
            "url": page["url"],
            "brand": brand["brand"],
            "mentioned": bool(mention_draws[row, column] < 0.15 + brand["rate"]),
        }
        for row, page in enumerate(pages)
        if page.get("examined")
        for column, brand in enumerate(brands)
    ]
    domains = [{"source_domain": name, "domain_type": kind} for name, kind in types.items()]
    rows_by_table = {
        "source_domains": domains,
        "source_pages": described_pages,
        "source_page_brands": examined_rows,
    }
    return tables_from_rows(runs.plan.host, rows_by_table)


def draw_citations(runs: Runs) -> dict[str, pa.Table]:
    """Generate the random table of citations of pages in answers."""
    rng, pages = runs.random_generator(10), runs.plan.pages()
    count_weights = (0.12, 0.1, 0.14, 0.16, 0.16, 0.12, 0.1, 0.06, 0.04)
    run, _ = repeat_indices(draw_weighted(rng, count_weights, len(runs)) * runs.is_answered)
    earlier_pages = draw_weighted(rng, [page["weight"] for page in pages], len(run))
    recent_pages = draw_weighted(
        rng, [page.get("lately", page["weight"]) for page in pages], len(run)
    )
    page = np.where(runs.days_ago[run] < TURN_DAYS, recent_pages, earlier_pages)
    # An answer cites a page once: only the first of equal pairs of run and page stays.
    _, first_rows = np.unique(run * len(pages) + page, return_index=True)
    run, page = run[np.sort(first_rows)], page[np.sort(first_rows)]
    # If an answer mentions only rivals, some pages are replaced by those of other domains.
    urls = [row["url"] for row in pages]
    rival_page = np.array([urls.index(row.get("rival", row["url"])) for row in pages])
    page = np.where(runs.mentions_only_rivals[run], rival_page[page], page)
    _, position = repeat_indices(np.bincount(run, minlength=len(runs)).astype(np.int64))
    is_untitled = draw_booleans(rng, 0.06, len(run))
    return table_from_columns(
        "citations",
        runs.plan,
        chat_id=take_values(runs.chat_ids, run),
        n=position + 1,
        url=take_values(urls, page),
        source_domain=take_values([row["domain"] for row in pages], page),
        cited=~runs.engine_mask("exposes_retrieval", True)[run]
        | draw_booleans(rng, 0.65, len(run)),
        title=null_where(is_untitled, take_values([row["title"] for row in pages], page)),
    )


def draw_fanouts(runs: Runs) -> dict[str, pa.Table]:
    """Generate the random tables ``fanouts`` and ``queries``; return them by name.

    A fan-out is a search query that an engine sent while it made an answer. The table ``queries``
    has the rank and search volume of such queries. Queries that end in a year are the same for all
    prompts of a topic.
    """
    rng = runs.random_generator(12)
    is_exposed = runs.engine_mask("exposes_fanouts", True) & runs.is_answered
    run, position = repeat_indices(
        draw_weighted(rng, (0.2, 0.2, 0.3, 0.2, 0.1), len(runs)) * is_exposed
    )
    first_suffix = draw_weighted(rng, (4, 2, 2, 1, 1, 0.5), len(runs))
    suffix = (first_suffix[run] + position) % len(CHOICES["suffixes"])
    query_texts = [
        f"best {(row.get('topic') or 'crm').lower()} 2026"
        if name == "2026"
        else f"{row['prompt'].lower()} {name}"
        for row in runs.plan.fixed_rows("prompts")
        for name in CHOICES["suffixes"]
    ]
    queries = list(dict.fromkeys(query_texts))
    count = len(queries)
    kept_rows = np.flatnonzero(draw_booleans(rng, 0.8, count))
    ranks, volumes = draw_weighted(rng, [1.0] * 40, count), draw_weighted(rng, [1.0] * 90, count)
    is_unranked, is_uncounted = draw_booleans(rng, 0.4, count), draw_booleans(rng, 0.3, count)
    fanouts = table_from_columns(
        "fanouts",
        runs.plan,
        chat_id=take_values(runs.chat_ids, run),
        query_index=position,
        query=take_values(query_texts, runs.prompt_index[run] * len(CHOICES["suffixes"]) + suffix),
    )
    return fanouts | table_from_columns(
        "queries",
        runs.plan,
        query=take_values(queries, kept_rows),
        intent=draw_choices(rng, "intents", len(kept_rows))[1],
        own_organic_rank=null_where(is_unranked[kept_rows], ranks[kept_rows] + 1),
        search_volume=null_where(is_uncounted[kept_rows], volumes[kept_rows] * 10),
    )


def draw_ads(runs: Runs) -> dict[str, pa.Table]:
    """Generate random advertisements in answers, and their cards; return the two tables by name."""
    rng, advertisers = runs.random_generator(20), runs.plan.fixed_rows("advertisers")
    is_examined = (
        runs.engine_mask("shows_ads", True)
        & runs.engine_mask("ads_checked", True)
        & runs.is_answered
    )
    run = np.flatnonzero(is_examined & draw_booleans(rng, 0.07, len(runs)))
    count = len(run)
    unit, units = draw_choices(rng, "units", count)
    advertiser = draw_weighted(rng, [1.0, 6.0, *[2.0] * (len(advertisers) - 2)], count)
    is_unlinked = draw_booleans(rng, 0.1, count)
    engines = runs.plan.fixed_values("engines", "engine")
    surfaces = ["ai_overview" if name == "google-ai-overview" else "answer" for name in engines]
    ads = table_from_columns(
        "ads",
        runs.plan,
        ad_id=serial_ids("ad_", count),
        engine=take_values(runs.engines, run),
        observed_at=take_values(runs.ran_at, run),
        chat_id=null_where(is_unlinked, take_values(runs.chat_ids, run)),
        prompt_id=null_where(
            is_unlinked & draw_booleans(rng, 0.5, count), take_values(runs.prompt_ids, run)
        ),
        surface=take_values(surfaces, runs.engine_index[run]),
        unit=units,
        placement=draw_choices(rng, "placements", count)[1],
        position=null_where(draw_booleans(rng, 0.05, count), draw_integers(rng, 1, 2, count)),
        advertiser=null_where(
            draw_booleans(rng, 0.02, count),
            take_values([row["advertiser"] for row in advertisers], advertiser),
        ),
    )
    return ads | _draw_cards(runs, np.array(CHOICES["cards"])[unit], advertiser)


def _draw_cards(runs: Runs, card_counts: Array, advertiser: Array) -> dict[str, pa.Table]:
    """Generate the random table of cards: the texts, picture and link that an advertisement shows.

    ``card_counts`` has the number of cards of each advertisement, ``advertiser`` the index of the
    advertiser of each.
    """
    rng = runs.random_generator(21)
    ad, position = repeat_indices(card_counts)
    count = len(ad)
    domains = runs.plan.fixed_values("advertisers", "domain", "ads.example")
    is_unpriced = ~draw_booleans(rng, 0.4, count)
    price = 9 + draw_integers(rng, 0, 90, count) + 0.99
    return table_from_columns(
        "ad_cards",
        runs.plan,
        ad_id=take_values(serial_ids("ad_", len(card_counts)), ad),
        card=position + 1,
        headline=draw_choices(rng, "headlines", count)[1],
        body=null_where(draw_booleans(rng, 0.2, count), "(synthetic) An advertisement."),
        image_url=null_where(draw_booleans(rng, 0.5, count), "https://images.example/ad.png"),
        target_url=take_values(
            [f"https://{domain}/?from=ad" for domain in domains], advertiser[ad]
        ),
        price_amount=null_where(is_unpriced, price),
        price_currency=null_where(is_unpriced, "USD"),
    )


def draw_shopping(runs: Runs) -> dict[str, pa.Table]:
    """Generate random mentions and offers of products; return the two tables by name."""
    rng, ids = runs.random_generator(30), runs.plan.fixed_values("products", "product_id")
    shopping_runs = np.flatnonzero(runs.has_shopping)
    score = rng.random((len(shopping_runs), len(ids))) + np.linspace(0.5, 0.0, len(ids))
    order = np.argsort(-score, axis=1, kind="stable")
    run, position = repeat_indices(draw_integers(rng, 2, 5, len(shopping_runs)))
    mentions = table_from_columns(
        "product_mentions",
        runs.plan,
        chat_id=take_values(runs.chat_ids, shopping_runs[run]),
        product_id=take_values(ids, order[run, position]),
        position=position + 1,
    )
    return mentions | tables_from_rows(runs.plan.host, {"offers": _draw_offers(runs)})


def _draw_offers(runs: Runs) -> list[dict[str, Any]]:
    """Generate random offers of the project's products; return them as rows."""
    rng = runs.random_generator(31)
    merchants, stock = CHOICES["merchants"], CHOICES["stock"]
    offers = []
    for product in runs.plan.fixed_values("products", "product_id"):
        if product in CHOICES["without_offers"]:
            continue
        for position in range(1, 2 + int(rng.integers(0, 4))):
            merchant, domain, currency = merchants[int(rng.integers(0, len(merchants)))]
            price = None if rng.random() < 0.15 else 20 + int(rng.integers(0, 600)) + 0.9
            offers.append(
                {
                    "product_id": product,
                    "offer_position": position,
                    "merchant": merchant,
                    "merchant_domain": domain,
                    "price_amount": price,
                    "price_currency": None if price is None else currency,
                    "stock_status": stock[int(rng.integers(0, len(stock)))],
                    "delivery_text": "Free delivery" if rng.random() < 0.5 else None,
                    "url": f"https://{domain or 'box.example'}/{product}",
                }
            )
    return offers


# --- the site ----------------------------------------------------------------------------------

_FIRST_UNVERIFIED = 6
"""The index of the first bot whose requests cannot be verified; nor can those of later ones."""
_FIRST_HOUR, _LAST_HOUR = (TODAY - 80) * 24 + 10, TODAY * 24 + 23
_PATHS = (*OWN_PATHS, *CHOICES["paths"])


def draw_crawlers(plan: HostPlan, seed: int, count: int) -> dict[str, pa.Table]:
    """Generate ``count`` random rows of requests by crawlers; return two tables by name.

    The second table has the hours that were recorded. The dict is empty if the project has no
    connected gateway, which would record the requests.
    """
    if "connected" not in plan.fixed_values("gateways", "cname_state"):
        return {}
    hours = np.arange(_FIRST_HOUR, _LAST_HOUR + 1, dtype=np.int64)
    age, clock = TODAY - hours // 24, hours % 24
    is_down = (age == 37) | ((age == 17) & (clock >= 5) & (clock < 9)) | ((age == 0) & (clock == 3))
    hours = hours[~is_down]
    rng = independent_generator(seed, plan.number, 40)
    hour = np.sort(hours[draw_weighted(rng, np.ones(len(hours)), count)])
    bot, bots = draw_choices(rng, "bots", count)
    path = draw_weighted(rng, [*OWN_PATHS.values(), 6, 1.5, 0.8, 0.8], count)
    # Mostly 200; the paths that disguised scanners request do not exist.
    status = draw_choices(rng, "statuses", count)[1].to_numpy()
    status = np.where((bot == 4) & (rng.random(count) < 0.3), 403, status)
    status = np.where(path >= _PATHS.index("/gone"), 404, status)
    requests = 1 + draw_weighted(rng, (6, 3, 2, 1, 1), count)
    impostors = draw_booleans(rng, 0.06, count).astype(np.int64)
    seconds = draw_integers(rng, 0, 1_790, count)
    hits = table_from_columns(
        "crawler_hits",
        plan,
        hour=to_timestamps(0, hour * 3_600),
        bot=bots,
        requests=requests,
        path=null_where(draw_booleans(rng, 0.02, count), take_values(_PATHS, path)),
        status=null_where(draw_booleans(rng, 0.01, count), status),
        site=take_values(
            [plan.host, f"www.{plan.host}", None], draw_weighted(rng, (8, 1, 1), count)
        ),
        verified_requests=null_where(bot >= _FIRST_UNVERIFIED, requests - impostors),
        bytes=null_where(
            draw_booleans(rng, 0.03, count), np.where(status == 200, 9_000, 300) * requests
        ),
        last_at=to_timestamps(0, hour * 3_600 + seconds),
    )
    hours_recorded = to_timestamps(0, hours * 3_600)
    return hits | table_from_columns("crawler_hours", plan, hour=hours_recorded)


def draw_visits(plan: HostPlan, seed: int, count: int) -> dict[str, pa.Table]:
    """Generate ``count`` random visits, and conversions in some of them; return two tables by name.

    The dict is empty if the project has no web analytics, which would count the visits.
    """
    analytics = next(iter(plan.fixed_rows("analytics")), {"provider": "none"})
    if analytics["provider"] == "none":
        return {}
    rng = independent_generator(seed, plan.number, 50)
    day = np.sort(TODAY - draw_integers(rng, 0, HISTORY_DAYS - 1, count))
    engine, engines = draw_choices(rng, "visit_engines", count)
    visitor = draw_integers(rng, 1, max(count * 4 // 5, 1), count)
    path = draw_weighted(rng, [*OWN_PATHS.values()], count)
    is_anonymous = np.full(count, plan.host != "acme.example")
    visits = table_from_columns(
        "visits",
        plan,
        visit_id=serial_ids("v_", count),
        day=pa.array(day.astype(np.int32)).cast(pa.date32()),
        engine=engines,
        visitor_id=null_where(is_anonymous, take_values(serial_ids("u_", count), visitor - 1)),
        path=null_where(draw_booleans(rng, 0.02, count), take_values([*OWN_PATHS], path)),
        engaged=draw_booleans(rng, np.where(engine > 0, 0.7, 0.5), count),
        seconds=np.floor(rng.random(count) * 2_600) / 10,
    )
    # Only a part of the conversions of the last day has arrived.
    rate = np.where(engine > 0, 0.026, 0.017) * np.where(day == TODAY, 0.3, 1.0)
    visit = np.flatnonzero(draw_booleans(rng, rate, count))
    revenue = draw_integers(rng, 2_000, 40_000, len(visit)) / 100
    is_unpriced = draw_booleans(rng, 0.05, len(visit)) | ("currency" not in analytics)
    return visits | table_from_columns(
        "conversions",
        plan,
        conversion_id=serial_ids("cv_", len(visit)),
        visit_id=take_values(serial_ids("v_", count), visit),
        revenue=null_where(is_unpriced, revenue),
    )
