"""Meanings of words in names: counts, shares, positions, scores, money, durations.

Names alone are never proof. A unit is likely where the words of the name and the range of the
values agree, and open otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from aatoolkit.sections.inference.vocabulary import singular, snake, words_of

_COUNTED = words_of(
    """
    answer mention citation cit prompt query question search session visit visitor conversion
    conv click impression hit request page url domain source engine model brand competitor
    rival run response observation appearance occurrence user view pageview event order unit
    item product offer ad keyword term word character char token bot crawl crawler fetch error
    failure check experiment action sample win loss tie link reference recommendation review
    result row topic theme category fanout variant chat conversation message lead signup
    purchase transaction merchant listing store customer account reply sentence paragraph
    heading image file redirect issue path host site member entity record entry call attempt
    retry bounce download install subscriber follower share_count post thread comment vote
    surface asset document doc snippet sku seller advertiser campaign creative keyword
    placement_count day_count week answer_set duel lead inclusion shopper position_count pair
    match overlap segment crawl_error test trial treatment control cohort place spot
    slot_count
    """
)
_COUNTING = words_of(
    """
    count cnt num number total totals n qty quantity sum volume tally freq frequency times k
    """
)
PARTICIPLES = words_of(
    """
    answered cited mentioned seen shown clicked converted crawled visited used returned
    matched failed blocked tracked named included observed sampled checked measured requested
    wins losses attempted succeeded skipped completed positive negative neutral mixed scored
    ranked won lost population returned supported recommended own_ahead ahead behind both
    analysed analyzed evaluated counted listed applicable warning passed
    """
)
_RATES = words_of(
    """
    rate share pct percent percentage ratio fraction proportion coverage visibility prevalence
    ctr cvr sov penetration completeness reach utilisation utilization adoption perc prc pctg
    prob probability likelihood confidence rt shr vis
    """
)
_PROBABILITIES = frozenset(["prob", "probability", "likelihood", "pvalue"])
_MEANS = words_of("avg average mean median mdn p50 p75 p90 p95 p99 typical expected")
_POSITIONS = frozenset(["position", "pos", "slot", "placement"])
_RANKS = frozenset(["rank", "ranking", "place", "ordinal", "rnk", "rk", "standing"])
_ORDINALS = frozenset(["first", "second", "third", "top", "last"])
_SCORES = words_of(
    """
    score index sentiment grade rating polarity tone quality difficulty authority favorability
    favourability health readability scr idx
    """
)
_MONEY = words_of(
    """
    price cost revenue spend spent amount cpc cpm cpa cpl budget gmv aov sales fee charge
    income turnover money rev payout bid overage
    """
)
_SECONDS = frozenset(["s", "sec", "secs", "second", "seconds"])
_MILLISECONDS = frozenset(["ms", "msec", "millis", "millisecond", "milliseconds"])
_DURATIONS = frozenset(["duration", "latency", "elapsed", "runtime", "lag"])
_BYTES = frozenset(["bytes", "byte", "size", "filesize"])
_CHANGES = words_of(
    """
    delta change diff difference lift growth gain movement moved shift vs uplift chg points pp
    pts dlt
    """
)
_POINTS = frozenset(["points", "pp", "pts"])
_IDS = words_of(
    """
    id ids uuid guid hash cursor code sku slug zip year month version key ref port etag token
    checksum seed build
    """
)
_TIMES = words_of(
    """
    date day on at time timestamp ts seen updated created started finished generated first
    last since until from to start end modified epoch when published resets run collected
    """
)

_EXPAND = {
    "pctage": "percentage", "perc": "percent", "prc": "percent", "nr": "number", "no": "number",
    "cits": "citations", "ans": "answers", "tot": "total", "ment": "mentions", "mnt": "mentions",
    "sess": "sessions", "impr": "impressions", "imps": "impressions", "reqs": "requests",
    "convs": "conversions", "conv": "conversions", "cit": "citations", "err": "errors",
    "errs": "errors", "neg": "negative", "neu": "neutral", "qrys": "queries",
    "dom": "domain", "eng": "engine", "cat": "category",
}  # fmt: skip

COUNT_KIND, SHARE_KIND, MEAN_KIND = "count", "share", "mean"


@dataclass(frozen=True)
class Meaning:
    """The meaning of a name's words.

    Attributes
    ----------
    kind : str
        ``count``, ``share``, ``probability``, ``position``, ``rank``, ``score``, ``money``,
        ``seconds``, ``milliseconds``, ``bytes``, ``change``, ``status``, ``id``, ``time`` or empty.
    mean : bool
        Whether the name says that it is an average or a median.
    percent : bool
        Whether the name says per cent.
    points : bool
        Whether the name says percentage points.
    places : bool
        Whether the name says ranks or positions.
    hundredths : float
        1, or the fraction of a unit of currency that it is given in.
    counted : bool
        Whether the name holds a noun of what is counted.
    """

    kind: str = ""
    mean: bool = False
    percent: bool = False
    points: bool = False
    places: bool = False
    hundredths: float = 1.0
    counted: bool = False


def tokens(name: str) -> list[str]:
    """Split a name into lower-case words, with common short forms spelt out.

    Examples
    --------
    >>> tokens("shareOfVoicePct"), tokens("cit_n"), tokens("avgTimeToConvertMs")
    (['share', 'of', 'voice', 'pct'], ['citations', 'n'], ['avg', 'time', 'to', 'convert', 'ms'])
    """
    words = re.findall(r"[^\W\d_]+|\d+", snake(name))
    return [_EXPAND.get(word, word) for word in words]


@lru_cache(4096)
def meaning(name: str) -> Meaning:
    """Derive what a name's words mean for its numbers.

    Examples
    --------
    >>> meaning("citationCount").kind, meaning("visibilityPct").percent
    ('count', True)
    >>> meaning("avgPosition").kind, meaning("EstCostCents").hundredths
    ('position', 0.01)
    """
    words = tokens(name)
    known, last = set(words), words[-1] if words else ""
    mean = bool(known & _MEANS)
    # Alone, ``pos`` may be positive.
    singles = (known if mean else known - {"pos"}) | {singular(word) for word in words}
    percent = bool(known & {"pct", "percent", "percentage"})
    points = bool(known & _POINTS)
    counted = bool(known & _COUNTING) or any(map(_is_counted, words))
    kind, hundredths = "", 1.0
    if is_numbered(words) or (
        last in _IDS and "http" not in known and not known & {"per", "this", "by"}
    ):
        kind = "id"
    elif known & _MILLISECONDS and last in _MILLISECONDS:
        kind = "milliseconds"
    elif last in _SECONDS and (len(words) > 1 or last != "s"):
        kind = "seconds"
    elif (last in _BYTES and last != "size") or (known & {"bytes"} and not known & _RATES):
        kind = "bytes"
    elif known & _CHANGES:
        kind = "change"
    elif known & _MONEY and not known & _RATES and last not in _COUNTING:
        kind = "money"
        hundredths = 0.01 if "cents" in known else 1e-6 if "micros" in known else 1.0
    elif last in _COUNTING and last != "volume":
        kind = "count"
    elif (
        not mean and known & _ORDINALS and singular(last) in _POSITIONS | _RANKS and last[-1] == "s"
    ):
        kind = "count"  # several of them, as in ``firstPositions``
    elif known & {"http", "status"} and last in ("status", "code", "http"):
        kind = "status"
    elif last in PARTICIPLES and len(words) > 1 and words[-2] in _SCORES:
        kind = "count"
    elif {"p", "value"} <= known or known & _PROBABILITIES or "pvalue" in known:
        kind = "probability"
    elif known & _RATES:
        kind = "share"
    elif singles & _RANKS and not mean and last not in ("places",):
        kind = "rank"
    elif singles & (_POSITIONS | _RANKS) and last != "places":
        kind = "position"
    elif known & _SCORES and not _is_counted(last):
        kind = "score"
    elif _is_time(words) and words != ["seen"]:
        kind = "time"
    elif (
        _is_counted(last)
        or known & _COUNTING
        or last in PARTICIPLES
        or any(_is_counted(word) for word in words[:1])
        or known & PARTICIPLES
    ):
        kind = "count"
    places = bool(singles & (_RANKS | _POSITIONS))
    return Meaning(kind, mean, percent, points, places, hundredths, counted)


def is_measure_name(name: str) -> bool:
    """Whether a name reads like that of a count, a share or another measure.

    Examples
    --------
    >>> is_measure_name("mentionRate"), is_measure_name("GPTBot")
    (True, False)
    """
    return meaning(name).kind not in ("", "id", "time")


def is_time_name(name: str) -> bool:
    """Whether a name reads like that of a day or an instant.

    Examples
    --------
    >>> is_time_name("lastSeenAt"), is_time_name("LastSeen"), is_time_name("citations")
    (True, True, False)
    """
    return _is_time(tokens(name))


def is_flag_name(name: str) -> bool:
    """Whether a name reads like that of a yes or no.

    Examples
    --------
    >>> is_flag_name("isOwn"), is_flag_name("tracked"), is_flag_name("own")
    (True, True, True)
    """
    words = tokens(name)
    return words[0] in ("is", "has", "was", "can", "should", "did", "allow", "allows") or words[
        -1
    ] in ("own", "tracked", "active", "enabled", "flag", "owned", "configured", "supported")


def is_id_name(name: str) -> bool:
    """Whether a name reads like that of an identifier.

    Examples
    --------
    >>> is_id_name("promptId"), is_id_name("sku"), is_id_name("hits")
    (True, True, False)
    """
    words = tokens(name)
    return bool(words) and words[-1] in _IDS | {"url", "uri", "domain", "host", "path"}


def is_numbered(words: list[str]) -> bool:
    """Whether a name is that of a serial number, such as ``insight_no``."""
    return (
        len(words) > 1
        and words[-1] == "number"
        and "of" not in words
        and words[-2] not in _COUNTING
        and words[-2] == singular(words[-2])
    )


def _is_counted(word: str) -> bool:
    return word.endswith("s") and singular(word) in _COUNTED


def _is_time(words: list[str]) -> bool:
    last = words[-1] if words else ""
    return last in (
        "at",
        "on",
        "date",
        "day",
        "timestamp",
        "ts",
        "time",
        "seen",
        "when",
        "epoch",
    ) or (len(words) > 1 and words[0] in ("first", "last") and last in _TIMES)
