"""Draw the synthetic data of a project: runs, answers, and the logs of its site.

In reading order: runs (which prompt went to which engine when) and what the answers say of brands;
the pages they cite, their queries, advertisements and products; requests of crawlers that the
gateway recorded, visits and conversions.
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
"""Prompts that gain from the work which the improved experiment is about."""

_DRAWS = 1000
"""Balls put into each urn: the more, the closer its fraction comes to a beta variable."""


class Runs:
    """The runs of a project in chronological order; ``age`` counts days before the end.

    ``icc`` is the intra-class correlation of mentions in the answers to one prompt. Mentions are
    one entry each, by run and position: ``run``, ``brand`` and ``place`` in the answer.
    """

    def __init__(self, plan: HostPlan, seed: int, count: int, icc: float) -> None:
        self.plan, self.icc, self._seed = plan, icc, seed
        rng = self.chance(0)
        slots = [
            (number, age, engine["weight"])
            for number, engine in enumerate(plan.rows("engines"))
            if engine.get("weight")
            for age in range(engine.get("until", 0), plan.days, engine.get("every", 1))
            if age not in plan.silent
        ]
        engines, ages, weights = (np.array(column) for column in zip(*slots, strict=True))
        slot = draw_weighted(rng, weights, count)
        second = draw_integers(rng, 3_600, 80_000, count)
        order = np.lexsort((second, -ages[slot]))
        self.age, self.second, self.engine = ages[slot][order], second[order], engines[slot][order]
        prompt = draw_weighted(rng, plan.array("prompts", "weight", 1.0), count)
        is_retired = plan.array("prompts", "until", 0)[prompt] > self.age
        self.prompt = np.where(is_retired, 0, prompt)
        outcome, self.outcome = draw_choices(rng, "outcomes", count)
        self.answered = outcome == 0
        self.shopping = chance(rng, 0.12, count) & self.answered & self.on("shopping_checked", True)
        self.chat_ids = serial_ids("ch_", count)
        self.engines = pick(plan.values("engines", "engine"), self.engine)
        self.prompt_ids = pick(plan.values("prompts", "prompt_id"), self.prompt)
        self.ran_at = to_timestamps(TODAY - self.age, second[order])
        self._draw_mentions()

    def __len__(self) -> int:
        return len(self.age)

    def chance(self, area: int) -> np.random.Generator:
        """Create the random generator of one part of the project's data."""
        return stream(self._seed, self.plan.number, area)

    def on(self, fact: str, value: bool | None) -> Array:
        """Return for each run whether its engine has a value."""
        is_so = [item is value for item in self.plan.values("engines", fact)]
        of_runs: Array = np.array(is_so)[self.engine]
        return of_runs

    def _draw_mentions(self) -> None:
        rng = self.chance(1)
        rates = self.plan.array("brands", "rate", 0.0)
        size = (len(self), len(rates))
        named = (rng.random(size) < self._rates(rates)) & self.answered[:, None]
        liking = np.where(named, rng.random(size) + 0.8 * rates, -1.0)
        order = np.argsort(-liking, axis=1, kind="stable")
        self.mention_counts = named.sum(axis=1, dtype=np.int64)
        self.run, self.place = spread(self.mention_counts)
        self.brand = order[self.run, self.place]

    def _rates(self, rates: Array) -> Array:
        """Return the probability that each run mentions each brand."""
        plan, is_recent = self.plan, self.age < TURN
        tilt = self.chance(2).random((len(plan.rows("engines")), len(rates))) * 0.1 - 0.05
        probability = rates + tilt[self.engine]
        chatgpt = np.array([name == "chatgpt" for name in plan.values("engines", "engine")])
        sales = np.array([topic == SALES for topic in plan.values("prompts", "topic")])
        own_rate = probability[:, 0] + 0.05 * (1 - self.age / max(plan.days, 1))
        own_rate += np.where(is_recent & chatgpt[self.engine], 0.12, 0.0)
        own_rate -= np.where(sales[self.prompt], 0.14, 0.0)
        probability[:, 0] = own_rate
        probability = np.clip(probability, 0.0, 1.0)
        odds = self._odds_factors(rates)[self.prompt]
        probability = probability * odds / (1 - probability + probability * odds)
        # The work moves a prompt half of the way to certainty: one that is almost there gains
        # little.
        is_moved = is_recent & np.isin(self.prompt, MOVED_PROMPTS)
        probability[:, 0] += np.where(is_moved, 0.5 * (1 - probability[:, 0]), 0.0)
        is_branded = plan.array("prompts", "branded", False)[self.prompt].astype(bool)
        probability[:, 0] = np.where(is_branded, 0.93, probability[:, 0])
        return np.where(rates == 0, 0.0, probability)

    def _odds_factors(self, rates: Array) -> Array:
        """Draw factors of the odds of a mention, by prompt and brand.

        Answers to one prompt resemble each other: with an intra-class correlation ρ the rates of
        the prompts have the variance ρ·r(1-r) around the brand's rate r, as in a beta-binomial
        distribution. The factor is the odds of such a rate over those of r, so that a change of r
        with time, engine or topic moves every prompt, and none beyond 0 or 1.

        A beta variable is drawn as the limit of Pólya's urn, which needs uniform numbers only.
        """
        factors = np.ones((len(self.plan.rows("prompts")), len(rates)))
        if self.icc == 0:
            return factors
        rng, weight = self.chance(7), (1 - self.icc) / self.icc
        mask = rates > 0
        hits = np.zeros((len(factors), int(mask.sum())))
        for draw in range(_DRAWS):
            probability = (weight * rates[mask] + hits) / (weight + draw)
            hits += rng.random(hits.shape) < probability
        named_rate = (weight * rates[mask] + hits) / (weight + _DRAWS)
        factors[:, mask] = named_rate / (1 - named_rate) * (1 - rates[mask]) / rates[mask]
        return factors

    @cached_property
    def names_rivals_alone(self) -> Array:
        """For each run, whether its answer mentions a tracked rival and no own brand."""
        is_own = np.array([own is True for own in self.plan.values("brands", "own")])
        is_rival = self.plan.array("brands", "tracked", None) & ~is_own
        names_own, names_rival = (
            np.isin(np.arange(len(self)), self.run[mask[self.brand]]) for mask in (is_own, is_rival)
        )
        return ~names_own & names_rival


def draw_answers(runs: Runs) -> dict[str, pa.Table]:
    """Draw the answers of a project, and their mentions of brands."""
    return {
        "answers": _answers(runs),
        "mentions": _mentions(runs),
        "attributes": _attributes(runs),
        "claim_sightings": _claim_sightings(runs),
    }


def _answers(runs: Runs) -> pa.Table:
    rng, silent = runs.chance(3), ~runs.answered
    text = null_where(silent, _texts(runs))
    truncated = chance(rng, 0.3, len(runs))
    search = 1 + chance(rng, 0.7, len(runs)).astype(np.int64)
    untold = runs.on("exposes_retrieval", None)
    engines = runs.plan.values("engines", "engine")
    models = [f"{engine}-synthetic-{n}" for engine in engines for n in (1, 2)]
    return store_table(
        "answers",
        runs.plan.host,
        chat_id=runs.chat_ids,
        prompt_id=runs.prompt_ids,
        engine=runs.engines,
        ran_at=runs.ran_at,
        outcome=runs.outcome,
        model=null_where(silent, pick(models, 2 * runs.engine + (runs.age <= 15))),
        answer_text=text,
        answer_format=null_where(silent, "markdown"),
        answer_characters=pc.add(pc.utf8_length(text), pa.array(np.where(truncated, 900, 0))),
        answer_truncated=null_where(silent, truncated),
        features=pick(
            CHOICES["features"], np.where(untold | silent, 0, np.where(runs.shopping, 3, search))
        ),
    )


def _texts(runs: Runs) -> pa.Array:
    """Return the texts of answers: a sentence with the brands in their order."""
    offsets = np.concatenate([[0], np.cumsum(runs.mention_counts)])
    brands = pick([f"**{brand}**" for brand in runs.plan.values("brands", "brand")], runs.brand)
    names = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), brands), ", ")
    prompts = pick(runs.plan.values("prompts", "prompt"), runs.prompt)
    with_brands = pc.binary_join_element_wise(
        "(synthetic) Asked “", prompts, "”, look at ", names, ".", ""
    )
    without_brands = pc.binary_join_element_wise(
        "(synthetic) For “", prompts, "” nothing stands out.", ""
    )
    return pc.if_else(pa.array(runs.mention_counts > 0), with_brands, without_brands)


def _mentions(runs: Runs) -> pa.Table:
    rng, count, brands = runs.chance(4), len(runs.run), runs.plan.values("brands", "brand")
    tone = runs.plan.array("brands", "tone", 0.5)[runs.brand]
    tone = tone + np.where((runs.brand == 0) & (runs.age[runs.run] < TURN), 0.15, 0.0)
    level = rng.random(count)
    mood = np.where(level < tone, 0, np.where(level > 1 - 0.3 * (1 - tone), 2, 1))
    low, width = np.array([650, 450, 100])[mood], np.array([300, 100, 250])[mood]
    score = (low + np.floor(width * rng.random(count))) / 10
    unscored = ~runs.plan.array("brands", "scored", True)[runs.brand]
    unscored |= chance(rng, 0.13, count)
    unordered = chance(rng, 0.04, len(runs))[runs.run]
    excerpts = [excerpt.format(brand) for brand in brands for excerpt in CHOICES["excerpts"]]
    return store_table(
        "mentions",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, runs.run),
        brand=pick(brands, runs.brand),
        position=null_where(unordered, runs.place + 1),
        sentiment=null_where(unscored, pick(CHOICES["sentiments"], mood)),
        sentiment_score=null_where(unscored, score),
        excerpt=null_where(chance(rng, 0.05, count), pick(excerpts, 3 * runs.brand + mood)),
    )


def _attributes(runs: Runs) -> pa.Table:
    rng, count = runs.chance(5), len(runs.run)
    owner, place = spread(draw_weighted(rng, (0.65, 0.25, 0.1), count))
    first, _ = draw_choices(rng, "attributes", count)
    attributes = [attribute for attribute, _ in CHOICES["attributes"]]
    attribute = (first[owner] + 3 * place) % len(attributes)
    return store_table(
        "attributes",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, runs.run[owner]),
        brand=pick(runs.plan.values("brands", "brand"), runs.brand[owner]),
        attribute=pick(attributes, attribute),
        polarity=pick(CHOICES["polarities"], attribute),
    )


def _claim_sightings(runs: Runs) -> pa.Table:
    """Draw the claims about the first two brands; the last claim is never made."""
    rng, count = runs.chance(6), len(runs.run)
    is_seen = chance(rng, 0.2, count)
    claim = np.where(
        runs.brand == 0, draw_weighted(rng, (5, 1, 2), count), 3 + draw_weighted(rng, (1, 2), count)
    )
    rows = np.flatnonzero(is_seen & (runs.brand <= 1))
    return store_table(
        "claim_sightings",
        runs.plan.host,
        claim_id=pick(runs.plan.values("claims", "claim_id"), claim[rows]),
        chat_id=pick(runs.chat_ids, runs.run[rows]),
    )


# --- what answers show -------------------------------------------------------------------------


def draw_sources(runs: Runs) -> dict[str, pa.Table]:
    """Draw the citations of a project, and the cited pages."""
    host, pages = runs.plan.host, runs.plan.pages()
    rng = runs.chance(11)
    brands = [row for row in runs.plan.rows("brands") if row["brand"] != "Umbrella"]
    mentioned = rng.random((len(pages), len(brands)))
    types = runs.plan.domain_types()
    described = [page for page in pages if page.get("examined") or page.get("page_type")]
    examined = [
        {
            "url": page["url"],
            "brand": brand["brand"],
            "mentioned": bool(mentioned[row, column] < 0.15 + brand["rate"]),
        }
        for row, page in enumerate(pages)
        if page.get("examined")
        for column, brand in enumerate(brands)
    ]
    domains = [{"source_domain": name, "domain_type": kind} for name, kind in types.items()]
    return {
        "citations": _citations(runs, pages),
        "source_domains": table_of("source_domains", host, domains),
        "source_pages": table_of("source_pages", host, described),
        "source_page_brands": table_of("source_page_brands", host, examined),
    }


def _citations(runs: Runs, pages: list[dict[str, Any]]) -> pa.Table:
    rng = runs.chance(10)
    sizes = (0.12, 0.1, 0.14, 0.16, 0.16, 0.12, 0.1, 0.06, 0.04)
    run, _ = spread(draw_weighted(rng, sizes, len(runs)) * runs.answered)
    before = draw_weighted(rng, [page["weight"] for page in pages], len(run))
    recent_pages = draw_weighted(
        rng, [page.get("lately", page["weight"]) for page in pages], len(run)
    )
    page = np.where(runs.age[run] < TURN, recent_pages, before)
    # An answer cites a page once: of repeated pairs of run and page the first stays.
    _, first = np.unique(run * len(pages) + page, return_index=True)
    run, page = run[np.sort(first)], page[np.sort(first)]
    # Where rivals alone are named, other domains take the place of some.
    urls = [row["url"] for row in pages]
    rival = np.array([urls.index(row.get("rival", row["url"])) for row in pages])
    page = np.where(runs.names_rivals_alone[run], rival[page], page)
    _, place = spread(np.bincount(run, minlength=len(runs)).astype(np.int64))
    untitled = chance(rng, 0.06, len(run))
    return store_table(
        "citations",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, run),
        n=place + 1,
        url=pick(urls, page),
        source_domain=pick([row["domain"] for row in pages], page),
        cited=~runs.on("exposes_retrieval", True)[run] | chance(rng, 0.65, len(run)),
        title=null_where(untitled, pick([row["title"] for row in pages], page)),
    )


def draw_fanouts(runs: Runs) -> dict[str, pa.Table]:
    """Draw the search queries of answers; those with a year are shared within a topic."""
    rng, host = runs.chance(12), runs.plan.host
    exposed = runs.on("exposes_fanouts", True) & runs.answered
    run, place = spread(draw_weighted(rng, (0.2, 0.2, 0.3, 0.2, 0.1), len(runs)) * exposed)
    first = draw_weighted(rng, (4, 2, 2, 1, 1, 0.5), len(runs))
    suffix = (first[run] + place) % len(CHOICES["suffixes"])
    words = [
        f"best {(row.get('topic') or 'crm').lower()} 2026"
        if name == "2026"
        else f"{row['prompt'].lower()} {name}"
        for row in runs.plan.rows("prompts")
        for name in CHOICES["suffixes"]
    ]
    queries = list(dict.fromkeys(words))
    count = len(queries)
    kept_rows = np.flatnonzero(chance(rng, 0.8, count))
    ranks, volumes = draw_weighted(rng, [1.0] * 40, count), draw_weighted(rng, [1.0] * 90, count)
    is_unranked, is_uncounted = chance(rng, 0.4, count), chance(rng, 0.3, count)
    return {
        "fanouts": store_table(
            "fanouts",
            host,
            chat_id=pick(runs.chat_ids, run),
            query_index=place,
            query=pick(words, runs.prompt[run] * len(CHOICES["suffixes"]) + suffix),
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
    """Draw the advertisements of a project, and their cards."""
    rng, advertisers = runs.chance(20), runs.plan.rows("advertisers")
    examined = runs.on("shows_ads", True) & runs.on("ads_checked", True) & runs.answered
    run = np.flatnonzero(examined & chance(rng, 0.07, len(runs)))
    count = len(run)
    unit, units = draw_choices(rng, "units", count)
    advertiser = draw_weighted(rng, [1.0, 6.0, *[2.0] * (len(advertisers) - 2)], count)
    unlinked = chance(rng, 0.1, count)
    engines = runs.plan.values("engines", "engine")
    surfaces = ["ai_overview" if name == "google-ai-overview" else "answer" for name in engines]
    ads = store_table(
        "ads",
        runs.plan.host,
        ad_id=serial_ids("ad_", count),
        engine=pick(runs.engines, run),
        observed_at=pick(runs.ran_at, run),
        chat_id=null_where(unlinked, pick(runs.chat_ids, run)),
        prompt_id=null_where(unlinked & chance(rng, 0.5, count), pick(runs.prompt_ids, run)),
        surface=pick(surfaces, runs.engine[run]),
        unit=units,
        placement=draw_choices(rng, "placements", count)[1],
        position=null_where(chance(rng, 0.05, count), draw_integers(rng, 1, 2, count)),
        advertiser=null_where(
            chance(rng, 0.02, count),
            pick([row["advertiser"] for row in advertisers], advertiser),
        ),
    )
    return {"ads": ads, "ad_cards": _cards(runs, np.array(CHOICES["cards"])[unit], advertiser)}


def _cards(runs: Runs, cards: Array, advertiser: Array) -> pa.Table:
    rng = runs.chance(21)
    ad, place = spread(cards)
    count = len(ad)
    domains = runs.plan.values("advertisers", "domain", "ads.example")
    unpriced = ~chance(rng, 0.4, count)
    price = 9 + draw_integers(rng, 0, 90, count) + 0.99
    return store_table(
        "ad_cards",
        runs.plan.host,
        ad_id=pick(serial_ids("ad_", len(cards)), ad),
        card=place + 1,
        headline=draw_choices(rng, "headlines", count)[1],
        body=null_where(chance(rng, 0.2, count), "(synthetic) An advertisement."),
        image_url=null_where(chance(rng, 0.5, count), "https://images.example/ad.png"),
        target_url=pick([f"https://{domain}/?from=ad" for domain in domains], advertiser[ad]),
        price_amount=null_where(unpriced, price),
        price_currency=null_where(unpriced, "USD"),
    )


def draw_shopping(runs: Runs) -> dict[str, pa.Table]:
    """Draw the products that answers show, and their offers."""
    rng, ids = runs.chance(30), runs.plan.values("products", "product_id")
    rows = np.flatnonzero(runs.shopping)
    liking = rng.random((len(rows), len(ids))) + np.linspace(0.5, 0.0, len(ids))
    order = np.argsort(-liking, axis=1, kind="stable")
    run, place = spread(draw_integers(rng, 2, 5, len(rows)))
    mentions = store_table(
        "product_mentions",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, rows[run]),
        product_id=pick(ids, order[run, place]),
        position=place + 1,
    )
    return {
        "product_mentions": mentions,
        "offers": table_of("offers", runs.plan.host, _offers(runs)),
    }


def _offers(runs: Runs) -> list[dict[str, Any]]:
    rng = runs.chance(31)
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

_UNVERIFIED = 6
"""The first of the bots whose requests cannot be verified."""
_FIRST_HOUR, _LAST_HOUR = (TODAY - 80) * 24 + 10, TODAY * 24 + 23
_PATHS = (*OWN_PATHS, *CHOICES["paths"])


def draw_crawlers(plan: HostPlan, seed: int, count: int) -> dict[str, pa.Table]:
    """Draw the requests of crawlers to a project with a gateway."""
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
    # Mostly 200; paths that disguised scanners request are never there.
    status = draw_choices(rng, "statuses", count)[1].to_numpy()
    status = np.where((bot == 4) & (rng.random(count) < 0.3), 403, status)
    status = np.where(path >= _PATHS.index("/gone"), 404, status)
    requests = 1 + draw_weighted(rng, (6, 3, 2, 1, 1), count)
    impostors = chance(rng, 0.06, count).astype(np.int64)
    second = draw_integers(rng, 0, 1_790, count)
    hits = store_table(
        "crawler_hits",
        plan.host,
        hour=to_timestamps(0, hour * 3_600),
        bot=bots,
        requests=requests,
        path=null_where(chance(rng, 0.02, count), pick(_PATHS, path)),
        status=null_where(chance(rng, 0.01, count), status),
        site=pick([plan.host, f"www.{plan.host}", None], draw_weighted(rng, (8, 1, 1), count)),
        verified_requests=null_where(bot >= _UNVERIFIED, requests - impostors),
        bytes=null_where(chance(rng, 0.03, count), np.where(status == 200, 9_000, 300) * requests),
        last_at=to_timestamps(0, hour * 3_600 + second),
    )
    recorded = store_table("crawler_hours", plan.host, hour=to_timestamps(0, hours * 3_600))
    return {"crawler_hours": recorded, "crawler_hits": hits}


def draw_visits(plan: HostPlan, seed: int, count: int) -> dict[str, pa.Table]:
    """Draw the visits and conversions of a project with analytics."""
    analytics = next(iter(plan.rows("analytics")), {"provider": "none"})
    if analytics["provider"] == "none":
        return {}
    rng = stream(seed, plan.number, 50)
    day = np.sort(TODAY - draw_integers(rng, 0, HISTORY_DAYS - 1, count))
    engine, engines = draw_choices(rng, "visit_engines", count)
    visitor = draw_integers(rng, 1, max(count * 4 // 5, 1), count)
    path = draw_weighted(rng, [*OWN_PATHS.values()], count)
    anonymous = np.full(count, plan.host != "acme.example")
    visits = store_table(
        "visits",
        plan.host,
        visit_id=serial_ids("v_", count),
        day=pa.array(day.astype(np.int32)).cast(pa.date32()),
        engine=engines,
        visitor_id=null_where(anonymous, pick(serial_ids("u_", count), visitor - 1)),
        path=null_where(chance(rng, 0.02, count), pick([*OWN_PATHS], path)),
        engaged=chance(rng, np.where(engine > 0, 0.7, 0.5), count),
        seconds=np.floor(rng.random(count) * 2_600) / 10,
    )
    # Of the conversions of the last day a part has arrived.
    rate = np.where(engine > 0, 0.026, 0.017) * np.where(day == TODAY, 0.3, 1.0)
    visit = np.flatnonzero(chance(rng, rate, count))
    revenue = draw_integers(rng, 2_000, 40_000, len(visit)) / 100
    unpriced = chance(rng, 0.05, len(visit)) | ("currency" not in analytics)
    conversions = store_table(
        "conversions",
        plan.host,
        conversion_id=serial_ids("cv_", len(visit)),
        visit_id=pick(serial_ids("v_", count), visit),
        revenue=null_where(unpriced, revenue),
    )
    return {"visits": visits, "conversions": conversions}
