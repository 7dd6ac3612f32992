"""Draw the synthetic data of a project: runs, answers, and the logs of its site.

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
    TURN,
    Array,
    HostPlan,
    chance,
    draw_choices,
    draw_integers,
    draw_weighted,
    null_where,
    pick,
    serial_ids,
    spread,
    store_table,
    stream,
    table_of,
    to_timestamps,
)

SALES = "Sales automation"
MOVED_PROMPTS = CHOICES["moved_prompts"]
"""The prompts whose mentions increase after the action that is shown to have an effect."""

_URN_DRAWS = 1000
"""The number of draws from each urn: the more, the closer its fraction is to a beta variable."""


class Runs:
    """The runs of a project in chronological order, and the brands that their answers mention.

    A run sends one prompt to one engine. Arrays such as ``age`` (in days before the last day),
    ``engine`` and ``prompt`` have an entry for each run. The arrays ``run``, ``brand`` and
    ``place`` (the position in the answer) have an entry for each mention. ``icc`` is the
    intra-class correlation of mentions in the answers to one prompt.
    """

    def __init__(self, plan: HostPlan, seed: int, count: int, icc: float) -> None:
        self.plan, self.icc, self._seed = plan, icc, seed
        rng = self.generator(0)
        schedule = [
            (number, age, engine["weight"])
            for number, engine in enumerate(plan.rows("engines"))
            if engine.get("weight")
            for age in range(engine.get("until", 0), plan.days, engine.get("every", 1))
            if age not in plan.silent
        ]
        engines, ages, weights = (np.array(column) for column in zip(*schedule, strict=True))
        slot = draw_weighted(rng, weights, count)
        second = draw_integers(rng, 3_600, 80_000, count)
        order = np.lexsort((second, -ages[slot]))
        self.age, self.second, self.engine = ages[slot][order], second[order], engines[slot][order]
        prompt = draw_weighted(rng, plan.array("prompts", "weight", 1.0), count)
        is_retired = plan.array("prompts", "until", 0)[prompt] > self.age
        self.prompt = np.where(is_retired, 0, prompt)
        outcome_index, self.outcome = draw_choices(rng, "outcomes", count)
        self.answered = outcome_index == 0
        self.shopping = (
            chance(rng, 0.12, count) & self.answered & self.has("shopping_checked", True)
        )
        self.chat_ids = serial_ids("ch_", count)
        self.engines = pick(plan.values("engines", "engine"), self.engine)
        self.prompt_ids = pick(plan.values("prompts", "prompt_id"), self.prompt)
        self.ran_at = to_timestamps(TODAY - self.age, second[order])
        self._draw_mentions()

    def __len__(self) -> int:
        return len(self.age)

    def generator(self, area: int) -> np.random.Generator:
        """Return the random generator for one part of the project's data, by the part's number."""
        return stream(self._seed, self.plan.number, area)

    def has(self, column: str, value: bool | None) -> Array:
        """Return, for each run, whether the column ``column`` of its engine's row is ``value``."""
        has_value = [cell is value for cell in self.plan.values("engines", column)]
        mask: Array = np.array(has_value)[self.engine]
        return mask

    def _draw_mentions(self) -> None:
        """Draw at random which brands each answer mentions, and in which order."""
        rng = self.generator(1)
        rates = self.plan.array("brands", "rate", 0.0)
        size = (len(self), len(rates))
        is_mentioned = (rng.random(size) < self._rates(rates)) & self.answered[:, None]
        score = np.where(is_mentioned, rng.random(size) + 0.8 * rates, -1.0)
        order = np.argsort(-score, axis=1, kind="stable")
        self.mention_counts = is_mentioned.sum(axis=1, dtype=np.int64)
        self.run, self.place = spread(self.mention_counts)
        self.brand = order[self.run, self.place]

    def _rates(self, rates: Array) -> Array:
        """Return the probability that a run mentions a brand: a row per run, a column per brand.

        ``rates`` are the average rates of the brands.
        """
        plan, is_recent = self.plan, self.age < TURN
        offsets = self.generator(2).random((len(plan.rows("engines")), len(rates))) * 0.1 - 0.05
        probability = rates + offsets[self.engine]
        is_chatgpt = np.array([name == "chatgpt" for name in plan.values("engines", "engine")])
        is_sales = np.array([topic == SALES for topic in plan.values("prompts", "topic")])
        own_rate = probability[:, 0] + 0.05 * (1 - self.age / max(plan.days, 1))
        own_rate += np.where(is_recent & is_chatgpt[self.engine], 0.12, 0.0)
        own_rate -= np.where(is_sales[self.prompt], 0.14, 0.0)
        probability[:, 0] = own_rate
        probability = np.clip(probability, 0.0, 1.0)
        odds_factors = self._odds_factors(rates)[self.prompt]
        probability = probability * odds_factors / (1 - probability + probability * odds_factors)
        # The action moves a prompt's rate half of the way to 1: a high rate gains little.
        is_moved = is_recent & np.isin(self.prompt, MOVED_PROMPTS)
        probability[:, 0] += np.where(is_moved, 0.5 * (1 - probability[:, 0]), 0.0)
        is_branded = plan.array("prompts", "branded", False)[self.prompt].astype(bool)
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
        factors = np.ones((len(self.plan.rows("prompts")), len(rates)))
        if self.icc == 0:
            return factors
        rng, weight = self.generator(7), (1 - self.icc) / self.icc
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
        """A mask of runs: does the answer mention a tracked rival, and no own brand?"""
        is_own = np.array([value is True for value in self.plan.values("brands", "own")])
        is_rival = self.plan.array("brands", "tracked", None) & ~is_own
        has_own, has_rival = (
            np.isin(np.arange(len(self)), self.run[mask[self.brand]]) for mask in (is_own, is_rival)
        )
        return ~has_own & has_rival


def draw_answers(runs: Runs) -> dict[str, pa.Table]:
    """Return tables, by name, of random answers of a project and their mentions of brands."""
    return {
        "answers": _answers(runs),
        "mentions": _mentions(runs),
        "attributes": _attributes(runs),
        "claim_sightings": _claim_sightings(runs),
    }


def _answers(runs: Runs) -> pa.Table:
    """Return the table of random answers, with one row for each run."""
    rng, is_failed = runs.generator(3), ~runs.answered
    texts = null_where(is_failed, _texts(runs))
    is_truncated = chance(rng, 0.3, len(runs))
    feature = 1 + chance(rng, 0.7, len(runs)).astype(np.int64)
    hides_retrieval = runs.has("exposes_retrieval", None)
    engines = runs.plan.values("engines", "engine")
    models = [f"{engine}-synthetic-{version}" for engine in engines for version in (1, 2)]
    return store_table(
        "answers",
        runs.plan.host,
        chat_id=runs.chat_ids,
        prompt_id=runs.prompt_ids,
        engine=runs.engines,
        ran_at=runs.ran_at,
        outcome=runs.outcome,
        model=null_where(is_failed, pick(models, 2 * runs.engine + (runs.age <= 15))),
        answer_text=texts,
        answer_format=null_where(is_failed, "markdown"),
        answer_characters=pc.add(pc.utf8_length(texts), pa.array(np.where(is_truncated, 900, 0))),
        answer_truncated=null_where(is_failed, is_truncated),
        features=pick(
            CHOICES["features"],
            np.where(hides_retrieval | is_failed, 0, np.where(runs.shopping, 3, feature)),
        ),
    )


def _texts(runs: Runs) -> pa.Array:
    """Return the text of each answer: a sentence that names the mentioned brands in order."""
    offsets = np.concatenate([[0], np.cumsum(runs.mention_counts)])
    brands = pick([f"**{brand}**" for brand in runs.plan.values("brands", "brand")], runs.brand)
    names = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), brands), ", ")
    prompts = pick(runs.plan.values("prompts", "prompt"), runs.prompt)
    texts_with_brands = pc.binary_join_element_wise(
        "(synthetic) Asked “", prompts, "”, look at ", names, ".", ""
    )
    texts_without_brands = pc.binary_join_element_wise(
        "(synthetic) For “", prompts, "” nothing stands out.", ""
    )
    return pc.if_else(pa.array(runs.mention_counts > 0), texts_with_brands, texts_without_brands)


def _mentions(runs: Runs) -> pa.Table:
    """Return the table of mentions of brands in answers, with random sentiments."""
    rng, count, brands = runs.generator(4), len(runs.run), runs.plan.values("brands", "brand")
    tone = runs.plan.array("brands", "tone", 0.5)[runs.brand]
    tone = tone + np.where((runs.brand == 0) & (runs.age[runs.run] < TURN), 0.15, 0.0)
    level = rng.random(count)
    sentiment = np.where(level < tone, 0, np.where(level > 1 - 0.3 * (1 - tone), 2, 1))
    lowest_score, width = np.array([650, 450, 100])[sentiment], np.array([300, 100, 250])[sentiment]
    score = (lowest_score + np.floor(width * rng.random(count))) / 10
    is_unscored = ~runs.plan.array("brands", "scored", True)[runs.brand]
    is_unscored |= chance(rng, 0.13, count)
    is_unordered = chance(rng, 0.04, len(runs))[runs.run]
    excerpts = [excerpt.format(brand) for brand in brands for excerpt in CHOICES["excerpts"]]
    return store_table(
        "mentions",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, runs.run),
        brand=pick(brands, runs.brand),
        position=null_where(is_unordered, runs.place + 1),
        sentiment=null_where(is_unscored, pick(CHOICES["sentiments"], sentiment)),
        sentiment_score=null_where(is_unscored, score),
        excerpt=null_where(chance(rng, 0.05, count), pick(excerpts, 3 * runs.brand + sentiment)),
    )


def _attributes(runs: Runs) -> pa.Table:
    """Return the table of random attributes that answers give to the brands they mention."""
    rng, count = runs.generator(5), len(runs.run)
    owner, position = spread(draw_weighted(rng, (0.65, 0.25, 0.1), count))
    first_attribute, _ = draw_choices(rng, "attributes", count)
    attributes = [attribute for attribute, _ in CHOICES["attributes"]]
    attribute = (first_attribute[owner] + 3 * position) % len(attributes)
    return store_table(
        "attributes",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, runs.run[owner]),
        brand=pick(runs.plan.values("brands", "brand"), runs.brand[owner]),
        attribute=pick(attributes, attribute),
        polarity=pick(CHOICES["polarities"], attribute),
    )


def _claim_sightings(runs: Runs) -> pa.Table:
    """Return the table of random claims about the first two brands; the last claim never occurs."""
    rng, count = runs.generator(6), len(runs.run)
    is_seen = chance(rng, 0.2, count)
    claim = np.where(
        runs.brand == 0, draw_weighted(rng, (5, 1, 2), count), 3 + draw_weighted(rng, (1, 2), count)
    )
    sighted_mentions = np.flatnonzero(is_seen & (runs.brand <= 1))
    return store_table(
        "claim_sightings",
        runs.plan.host,
        claim_id=pick(runs.plan.values("claims", "claim_id"), claim[sighted_mentions]),
        chat_id=pick(runs.chat_ids, runs.run[sighted_mentions]),
    )


# --- what answers show -------------------------------------------------------------------------


def draw_sources(runs: Runs) -> dict[str, pa.Table]:
    """Return tables, by name, of random citations in a project's answers and the cited pages."""
    host, pages = runs.plan.host, runs.plan.pages()
    rng = runs.generator(11)
    brands = [row for row in runs.plan.rows("brands") if row["brand"] != "Umbrella"]
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
    return {
        "citations": _citations(runs, pages),
        "source_domains": table_of("source_domains", host, domains),
        "source_pages": table_of("source_pages", host, described_pages),
        "source_page_brands": table_of("source_page_brands", host, examined_rows),
    }


def _citations(runs: Runs, pages: list[dict[str, Any]]) -> pa.Table:
    """Return the table of random citations of ``pages`` in answers."""
    rng = runs.generator(10)
    count_weights = (0.12, 0.1, 0.14, 0.16, 0.16, 0.12, 0.1, 0.06, 0.04)
    run, _ = spread(draw_weighted(rng, count_weights, len(runs)) * runs.answered)
    earlier_pages = draw_weighted(rng, [page["weight"] for page in pages], len(run))
    recent_pages = draw_weighted(
        rng, [page.get("lately", page["weight"]) for page in pages], len(run)
    )
    page = np.where(runs.age[run] < TURN, recent_pages, earlier_pages)
    # An answer cites a page once: only the first of equal pairs of run and page stays.
    _, first_rows = np.unique(run * len(pages) + page, return_index=True)
    run, page = run[np.sort(first_rows)], page[np.sort(first_rows)]
    # If an answer mentions only rivals, some pages are replaced by those of other domains.
    urls = [row["url"] for row in pages]
    rival_page = np.array([urls.index(row.get("rival", row["url"])) for row in pages])
    page = np.where(runs.mentions_only_rivals[run], rival_page[page], page)
    _, position = spread(np.bincount(run, minlength=len(runs)).astype(np.int64))
    is_untitled = chance(rng, 0.06, len(run))
    return store_table(
        "citations",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, run),
        n=position + 1,
        url=pick(urls, page),
        source_domain=pick([row["domain"] for row in pages], page),
        cited=~runs.has("exposes_retrieval", True)[run] | chance(rng, 0.65, len(run)),
        title=null_where(is_untitled, pick([row["title"] for row in pages], page)),
    )


def draw_fanouts(runs: Runs) -> dict[str, pa.Table]:
    """Return two random tables: ``fanouts``, and ``queries`` with the rank and volume of each.

    A fan-out is a search query that an engine sent for an answer. Queries that end in a year depend
    on the topic only.
    """
    rng, host = runs.generator(12), runs.plan.host
    is_exposed = runs.has("exposes_fanouts", True) & runs.answered
    run, position = spread(draw_weighted(rng, (0.2, 0.2, 0.3, 0.2, 0.1), len(runs)) * is_exposed)
    first_suffix = draw_weighted(rng, (4, 2, 2, 1, 1, 0.5), len(runs))
    suffix = (first_suffix[run] + position) % len(CHOICES["suffixes"])
    query_texts = [
        f"best {(row.get('topic') or 'crm').lower()} 2026"
        if name == "2026"
        else f"{row['prompt'].lower()} {name}"
        for row in runs.plan.rows("prompts")
        for name in CHOICES["suffixes"]
    ]
    queries = list(dict.fromkeys(query_texts))
    count = len(queries)
    kept_rows = np.flatnonzero(chance(rng, 0.8, count))
    ranks, volumes = draw_weighted(rng, [1.0] * 40, count), draw_weighted(rng, [1.0] * 90, count)
    is_unranked, is_uncounted = chance(rng, 0.4, count), chance(rng, 0.3, count)
    return {
        "fanouts": store_table(
            "fanouts",
            host,
            chat_id=pick(runs.chat_ids, run),
            query_index=position,
            query=pick(query_texts, runs.prompt[run] * len(CHOICES["suffixes"]) + suffix),
        ),
        "queries": store_table(
            "queries",
            host,
            query=pick(queries, kept_rows),
            intent=draw_choices(rng, "intents", len(kept_rows))[1],
            own_organic_rank=null_where(is_unranked[kept_rows], ranks[kept_rows] + 1),
            search_volume=null_where(is_uncounted[kept_rows], volumes[kept_rows] * 10),
        ),
    }


def draw_ads(runs: Runs) -> dict[str, pa.Table]:
    """Return tables, by name, of random advertisements in a project's answers and their cards."""
    rng, advertisers = runs.generator(20), runs.plan.rows("advertisers")
    is_examined = runs.has("shows_ads", True) & runs.has("ads_checked", True) & runs.answered
    run = np.flatnonzero(is_examined & chance(rng, 0.07, len(runs)))
    count = len(run)
    unit, units = draw_choices(rng, "units", count)
    advertiser = draw_weighted(rng, [1.0, 6.0, *[2.0] * (len(advertisers) - 2)], count)
    is_unlinked = chance(rng, 0.1, count)
    engines = runs.plan.values("engines", "engine")
    surfaces = ["ai_overview" if name == "google-ai-overview" else "answer" for name in engines]
    ads = store_table(
        "ads",
        runs.plan.host,
        ad_id=serial_ids("ad_", count),
        engine=pick(runs.engines, run),
        observed_at=pick(runs.ran_at, run),
        chat_id=null_where(is_unlinked, pick(runs.chat_ids, run)),
        prompt_id=null_where(is_unlinked & chance(rng, 0.5, count), pick(runs.prompt_ids, run)),
        surface=pick(surfaces, runs.engine[run]),
        unit=units,
        placement=draw_choices(rng, "placements", count)[1],
        position=null_where(chance(rng, 0.05, count), draw_integers(rng, 1, 2, count)),
        advertiser=null_where(
            chance(rng, 0.02, count), pick([row["advertiser"] for row in advertisers], advertiser)
        ),
    )
    return {"ads": ads, "ad_cards": _cards(runs, np.array(CHOICES["cards"])[unit], advertiser)}


def _cards(runs: Runs, card_counts: Array, advertiser: Array) -> pa.Table:
    """Return the table of random cards; ``card_counts`` has one count per advertisement."""
    rng = runs.generator(21)
    ad, position = spread(card_counts)
    count = len(ad)
    domains = runs.plan.values("advertisers", "domain", "ads.example")
    is_unpriced = ~chance(rng, 0.4, count)
    price = 9 + draw_integers(rng, 0, 90, count) + 0.99
    return store_table(
        "ad_cards",
        runs.plan.host,
        ad_id=pick(serial_ids("ad_", len(card_counts)), ad),
        card=position + 1,
        headline=draw_choices(rng, "headlines", count)[1],
        body=null_where(chance(rng, 0.2, count), "(synthetic) An advertisement."),
        image_url=null_where(chance(rng, 0.5, count), "https://images.example/ad.png"),
        target_url=pick([f"https://{domain}/?from=ad" for domain in domains], advertiser[ad]),
        price_amount=null_where(is_unpriced, price),
        price_currency=null_where(is_unpriced, "USD"),
    )


def draw_shopping(runs: Runs) -> dict[str, pa.Table]:
    """Return tables, by name, of random products that answers show and their offers."""
    rng, ids = runs.generator(30), runs.plan.values("products", "product_id")
    shopping_runs = np.flatnonzero(runs.shopping)
    score = rng.random((len(shopping_runs), len(ids))) + np.linspace(0.5, 0.0, len(ids))
    order = np.argsort(-score, axis=1, kind="stable")
    run, position = spread(draw_integers(rng, 2, 5, len(shopping_runs)))
    mentions = store_table(
        "product_mentions",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, shopping_runs[run]),
        product_id=pick(ids, order[run, position]),
        position=position + 1,
    )
    return {
        "product_mentions": mentions,
        "offers": table_of("offers", runs.plan.host, _offers(runs)),
    }


def _offers(runs: Runs) -> list[dict[str, Any]]:
    """Return rows of random offers of products."""
    rng = runs.generator(31)
    merchants, stock = CHOICES["merchants"], CHOICES["stock"]
    offers = []
    for product in runs.plan.values("products", "product_id"):
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
    """Return tables, by name, of random crawler requests; none for a project without a gateway."""
    if "connected" not in plan.values("gateways", "cname_state"):
        return {}
    hours = np.arange(_FIRST_HOUR, _LAST_HOUR + 1, dtype=np.int64)
    age, clock = TODAY - hours // 24, hours % 24
    is_down = (age == 37) | ((age == 17) & (clock >= 5) & (clock < 9)) | ((age == 0) & (clock == 3))
    hours = hours[~is_down]
    rng = stream(seed, plan.number, 40)
    hour = np.sort(hours[draw_weighted(rng, np.ones(len(hours)), count)])
    bot, bots = draw_choices(rng, "bots", count)
    path = draw_weighted(rng, [*OWN_PATHS.values(), 6, 1.5, 0.8, 0.8], count)
    # Mostly 200; the paths that disguised scanners request do not exist.
    status = draw_choices(rng, "statuses", count)[1].to_numpy()
    status = np.where((bot == 4) & (rng.random(count) < 0.3), 403, status)
    status = np.where(path >= _PATHS.index("/gone"), 404, status)
    requests = 1 + draw_weighted(rng, (6, 3, 2, 1, 1), count)
    impostors = chance(rng, 0.06, count).astype(np.int64)
    seconds = draw_integers(rng, 0, 1_790, count)
    hits = store_table(
        "crawler_hits",
        plan.host,
        hour=to_timestamps(0, hour * 3_600),
        bot=bots,
        requests=requests,
        path=null_where(chance(rng, 0.02, count), pick(_PATHS, path)),
        status=null_where(chance(rng, 0.01, count), status),
        site=pick([plan.host, f"www.{plan.host}", None], draw_weighted(rng, (8, 1, 1), count)),
        verified_requests=null_where(bot >= _FIRST_UNVERIFIED, requests - impostors),
        bytes=null_where(chance(rng, 0.03, count), np.where(status == 200, 9_000, 300) * requests),
        last_at=to_timestamps(0, hour * 3_600 + seconds),
    )
    crawler_hours = store_table("crawler_hours", plan.host, hour=to_timestamps(0, hours * 3_600))
    return {"crawler_hours": crawler_hours, "crawler_hits": hits}


def draw_visits(plan: HostPlan, seed: int, count: int) -> dict[str, pa.Table]:
    """Return tables, by name, of random visits and conversions; none without analytics."""
    analytics = next(iter(plan.rows("analytics")), {"provider": "none"})
    if analytics["provider"] == "none":
        return {}
    rng = stream(seed, plan.number, 50)
    day = np.sort(TODAY - draw_integers(rng, 0, HISTORY_DAYS - 1, count))
    engine, engines = draw_choices(rng, "visit_engines", count)
    visitor = draw_integers(rng, 1, max(count * 4 // 5, 1), count)
    path = draw_weighted(rng, [*OWN_PATHS.values()], count)
    is_anonymous = np.full(count, plan.host != "acme.example")
    visits = store_table(
        "visits",
        plan.host,
        visit_id=serial_ids("v_", count),
        day=pa.array(day.astype(np.int32)).cast(pa.date32()),
        engine=engines,
        visitor_id=null_where(is_anonymous, pick(serial_ids("u_", count), visitor - 1)),
        path=null_where(chance(rng, 0.02, count), pick([*OWN_PATHS], path)),
        engaged=chance(rng, np.where(engine > 0, 0.7, 0.5), count),
        seconds=np.floor(rng.random(count) * 2_600) / 10,
    )
    # Only a part of the conversions of the last day has arrived.
    rate = np.where(engine > 0, 0.026, 0.017) * np.where(day == TODAY, 0.3, 1.0)
    visit = np.flatnonzero(chance(rng, rate, count))
    revenue = draw_integers(rng, 2_000, 40_000, len(visit)) / 100
    is_unpriced = chance(rng, 0.05, len(visit)) | ("currency" not in analytics)
    conversions = store_table(
        "conversions",
        plan.host,
        conversion_id=serial_ids("cv_", len(visit)),
        visit_id=pick(serial_ids("v_", count), visit),
        revenue=null_where(is_unpriced, revenue),
    )
    return {"visits": visits, "conversions": conversions}
