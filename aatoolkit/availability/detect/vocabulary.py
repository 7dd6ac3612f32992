"""The words that mean availability: phrases, each with its strength.

A word is split where camelCase, snake_case, kebab-case or spaces split it, and its parts are
matched against phrases: a negation and what is negated (``not connected``, ``no runs``), a
need and what is needed (``setup required``), a sample and what is wrong with it (``too few
answers``), and single words. Each phrase has a strength, as everyday words such as ``pending``
are about data only where availability is the subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect.roles import tokens, words

WEAK, STRONG, PLAIN = 1, 2, 3
"""Words for availability keys only; for envelopes and fields too; unmistakable even in rows."""

WORDS: Mapping[str, tuple[Status, Cause | None]] = {
    "available": (Status.AVAILABLE, None),
    "partial": (Status.PARTIAL, None),
    "unavailable": (Status.UNAVAILABLE, None),
    "not_connected": (Status.UNAVAILABLE, Cause.NOT_CONNECTED),
    "not_configured": (Status.UNAVAILABLE, Cause.NOT_CONFIGURED),
    "not_run": (Status.UNAVAILABLE, Cause.NOT_RUN),
    "not_applicable": (Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED),
    "pending": (Status.UNAVAILABLE, Cause.PENDING),
    "insufficient_sample": (Status.UNAVAILABLE, Cause.INSUFFICIENT_SAMPLE),
    "forbidden": (Status.UNAVAILABLE, Cause.WITHHELD),
    "error": (Status.UNAVAILABLE, Cause.FAILED),
    "truncated": (Status.PARTIAL, Cause.TRUNCATED),
    "filtered": (Status.PARTIAL, Cause.FILTERED),
}
"""The canonical words, each with its status and cause; every phrase below means one of them."""

_SOURCE = (
    "connection|connect|integration|setup|set up|configuration|configure|installation|install"
    "|data source|log source|analytics source|tracking|property|feed|pixel|gateway|logs"
    "|onboarding|cname|dns|dcv|verification|oauth|ga4|analytics|account|credentials|tag"
)
_RIGHT = (
    "plan|upgrade|subscription|license|licence|entitlement|permission|consent|payment|addon"
    "|add on|access|authorization|authorisation"
)
_AT_ALL = r"(?! (?:required|needed|necessary))"
"""What must not follow on "no setup", which would be needed otherwise."""

_SEEN = (
    "sample|samples|data|answers|observations|responses|volume|sessions|impressions|mentions"
    "|evidence|history|traffic|runs|confidence|power|coverage"
)

_PHRASES: Mapping[tuple[str, int], str] = {
    ("not_connected", STRONG): (
        "(?:not|never|un) ?(?:yet )?(?:connected|linked|integrated|attached)|(?:dis|un)connected"
        r"|(?:connect|link|install|set up|verify|add) (?:\w+ ){1,4}to"
        " (?:see|start|enable|get|unlock|view)"
        "|no (?:(?:data|log|analytics|connected) )?(?:source|sources|integration)"
        "|not (?:yet )?(?:installed|set up|setup|initiali[sz]ed|onboarded)"
        f"|(?:{_SOURCE})(?: is)? (?:required|needed|missing|incomplete)"
        f"|(?:requires|needs|missing|awaiting|no) (?:{_SOURCE}){_AT_ALL}"
    ),
    ("not_configured", STRONG): (
        "not (?:yet )?configured|unconfigured"
        "|(?:tracking|collection|crawling|logging|measurement) (?:turned|switched) off"
    ),
    ("not_run", STRONG): (
        "(?:not|never) (?:yet )?(?:run|ran|executed|performed|checked|scanned|crawled|synced"
        "|imported|asked|queried|polled|probed|sampled|started)|no (?:run|runs|scan|scans)(?: yet)?"
    ),
    ("not_applicable", STRONG): (
        "(?:not|un|in) ?(?:support|expose|offer)(?:s|d|ed)?|(?:not|in) ?applicable|n a"
        "|not possible|cannot exist|no support"
    ),
    ("not_applicable", WEAK): "na|none exposed",
    ("insufficient_sample", PLAIN): (
        f"insufficient(?: (?:{_SEEN})(?: size)?)?|underpowered|too thin|calibrating"
        f"|(?:not enough|too few|too little)(?: (?:{_SEEN}))?"
        rf"|fewer than (?:\w+ )?(?:{_SEEN})"
        "|(?:low|small|thin|few|tiny) (?:samples?|answers|observations|volume)(?: size)?"
        "|(?:sample|samples|n) (?:is )?too (?:small|low|thin)"
    ),
    ("insufficient_sample", STRONG): (
        r"below (?:\w+ )?(?:threshold|minimum|min)(?: \w+)?|untested|early reading|too early"
        "|(?:not|un) ?(?:yet )?(?:measured|significant)|low (?:confidence|power|data|traffic)"
    ),
    ("forbidden", STRONG): (
        f"(?:{_RIGHT})(?: is)? (?:required|needed|missing|denied)"
        f"|(?:requires|needs|missing|no) (?:{_RIGHT}){_AT_ALL}"
        r"|plan limit(?: \w+)?|not (?:authori[sz]ed|enabled)|unauthori[sz]ed|withheld|paywalled"
        "|not (?:entitled|licen[sc]ed|permitted|included|in plan|on plan)"
        "|(?:plan|subscription|tier) (?:does )?not (?:include|cover|allow)"
        r"|not (?:in|on|part of) (?:\w+ )?(?:plan|subscription|tier)"
    ),
    ("forbidden", WEAK): (
        "forbidden|locked|restricted|(?:active )?restrictions?|suppressed|redacted|hidden|masked"
        "|confidential|gated|disabled"
    ),
    ("pending", STRONG): (
        "re(?:calculat|comput|process|build|index|aggregat)ing|backfilling|collecting|computing"
        "|calculating|(?:awaiting|waiting for|pending) (?:first )?(?:data|runs?|results?|sync)"
        "|(?:first )?run (?:pending|scheduled)|warming up|not yet (?:available|collected)|syncing"
        "|not (?:yet )?(?:ready|computed|calculated|processed|synced)|initial sync"
        "|will (?:be available|appear|show up|arrive|start)"
    ),
    ("pending", WEAK): (
        "pending|processing|(?:in )?queued?|warm ?up|running|in progress|scheduled|importing"
        "|backfill|ingesting|bootstrapping|building|loading|submitted|accepted|started"
        "|initiali[sz]ing|preparing|generating|refreshing|indexing|waiting|delayed"
    ),
    ("unavailable", PLAIN): (
        r"no (?:data|observations|measurements?)(?: \w+)?|data missing"
        "|no (?:answers|responses|logs|runs) (?:yet )?(?:collected|captured|recorded|received)"
        "|not (?:yet )?(?:collected|captured|tracked|recorded|ingested)"
    ),
    ("unavailable", STRONG): (
        "unavailable|not available|un?(?:collected|captured|tracked|recorded)|none observed"
        "|nothing found|(?:not|non|without) (?:reporting|responding|data|coverage)"
        "|not (?:yet )?(?:reported|observed|received|provided|covered|reached|represented)"
    ),
    ("unavailable", WEAK): "missing|empty|none|absent|no|false|silent|not found|withdrawn",
    ("truncated", STRONG): "truncated|(?:row|result) limit(?: reached)?|capped",
    ("filtered", STRONG): (
        "(?:subject to )?thresholding(?: applied)?|(?:privacy |data )?threshold applied|thresholded"
    ),
    ("partial", STRONG): (
        "partial(?:ly)?(?: (?:available|complete|measured|collected|data|coverage|results?"
        r"|response|answer))?|incomplete(?: data)?|sampled|estimated|extrapolated|degraded"
        r"|data loss(?: \w+){0,4}|not (?:complete|full)"
    ),
    ("partial", WEAK): (
        "limited(?: (?:data|availability|coverage|history))?|some|stale|outdated"
        "|approx(?:imate)?|provisional|preliminary|imputed|forecast"
    ),
    ("error", WEAK): (
        "errors?|errored|failed|failure|fail|timeout|timed out|broken|crashed"
        "|(?:internal|server|upstream|fetch|sync|import|source) (?:error|failed|failure)"
    ),
    ("available", STRONG): "available|measured",
    ("available", WEAK): (
        "observed|live|ready|completed?|full|fully|ok|okay|success|succeeded|collected|reported"
        "|yes|active|connected|configured|supported|enabled|reporting|responding|covered"
        "|with data|true|on|good|present|fresh|final(?:i[sz]ed)?"
    ),
}
"""Canonical word, strength and the phrases that mean it; the first that fits is taken."""


@dataclass(frozen=True)
class Word:
    """A canonical word of availability, and its strength: how far it can be trusted."""

    canonical: str
    strength: int

    @property
    def availability(self) -> Availability:
        """The availability that the word means, without a reason."""
        return Availability(*WORDS[self.canonical])

    def because(self, reason: str | None) -> Availability:
        """The availability that the word means, with a reason."""
        return Availability(*WORDS[self.canonical], reason)

    @property
    def is_lack(self) -> bool:
        """Whether the word surely means a lack."""
        return self.strength >= STRONG and self.canonical != "available"


_MEANINGS = [
    (Word(word, strength), re.compile(text), rf"\b(?:{text})\b")
    for (word, strength), text in _PHRASES.items()
]
_ANY = re.compile("|".join(_PHRASES.values()))
"""Any of the phrases, as most words are none."""

_NOISE = words(
    "is are was were be been being the your our this that it currently still now status state field"
    " section"
)
_AFTER_SOURCE = words("not_connected not_configured insufficient_sample forbidden not_run")
_WORK = words("data report job query task dataset execution import sync run")
_NEGATION = re.compile(r"\b(no|not|never|without|nothing)( \w+)? $")
_MOST_PARTS, _LONGEST = 6, 60


@lru_cache(maxsize=4096)
def understand(text: str) -> Word | None:
    """The canonical word that a text means; None if it is not about availability.

    Examples
    --------
    >>> understand("GA4_NOT_CONNECTED"), understand("in_stock")
    (Word(canonical='not_connected', strength=2), None)
    """
    return phrase(tokens(text)) if len(text) <= _LONGEST else None


@lru_cache(maxsize=4096)
def phrase(parts: tuple[str, ...]) -> Word | None:
    """The canonical word that some parts of a name mean; None if they mean none."""
    left = [part for part in parts if part not in _NOISE]
    if not left or len(left) > _MOST_PARTS:
        return None
    for start in range(min(4, len(left))):
        text = " ".join(left[start:])
        for word, pattern, _ in _MEANINGS if _ANY.fullmatch(text) else ():
            if (start == 0 or word.canonical in _AFTER_SOURCE) and pattern.fullmatch(text):
                return word
    if left[0] in _WORK and len(left) > 1:
        return phrase(tuple(left[1:]))
    if left[-1] == "data" and len(left) > 1:
        return phrase(tuple(left[:-1]))
    return None


def best(texts: Iterable[object], least: int = WEAK) -> Word | None:
    """The strongest word among some texts; None if none is strong enough."""
    known = [word for text in texts if isinstance(text, str) and (word := understand(text))]
    trusted = [word for word in known if word.strength >= least]
    return max(trusted, key=lambda word: word.strength, default=None)


@lru_cache(maxsize=1024)
def in_prose(text: str) -> Word | None:
    """The first strong word of absence in some sentences, if it is not negated; else None.

    One that names a cause goes before one that only means that something is missing. Contractions
    are written out: ``isn't`` as ``is not``.

    Examples
    --------
    >>> in_prose("Your logs aren't connected yet.").canonical, in_prose("No setup is required.")
    ('not_connected', None)
    """
    text = re.sub(r"(?i)n['’]t\b", " not", re.sub(r"(?i)can(?:no|['’])t\b", "can not", text))
    text = re.sub(r"(?i)\b(?:do|does|did) not have\b", "no", text)
    vague: Word | None = None
    for sentence in re.split(r"[.!?;:](?:\s|$)", text):
        plain = " ".join(part for part in tokens(sentence) if part not in _NOISE)
        found = [
            (match.start(), match[0], word)
            for word, _, pattern in _MEANINGS
            if word.is_lack
            for match in [re.search(pattern, plain)]
            if match and not _NEGATION.search(plain[: match.start()])
        ]
        for _, matched, word in sorted(found, key=lambda each: each[0]):
            if not (word.canonical in ("unavailable", "partial") or matched.endswith("measured")):
                return word
            vague = vague or word
    return vague


def is_code(text: object) -> bool:
    """Whether a text is a code (``plan_required``) and not a sentence."""
    return isinstance(text, str) and re.fullmatch(r"\w[\w.-]{0,58}\w", text) is not None


def lack_of_code(text: str) -> Availability | None:
    """The state of a lack that a code surely means; None for sentences and other codes."""
    known = understand(text) if is_code(text) else None
    return known.availability if known and known.is_lack else None


def read_word(word: object, reason: object = None) -> Availability:
    """Parse a word of an answer as an availability; an unknown word is kept as the reason.

    Examples
    --------
    >>> read_word("Available").status
    <Status.AVAILABLE: 'available'>
    >>> read_word("unavailable", "not_connected").cause
    <Cause.NOT_CONNECTED: 'not_connected'>
    >>> read_word("blue moon")
    Availability(status=<Status.UNKNOWN: 'unknown'>, cause=None, reason="'blue moon'")
    """
    given = reason if isinstance(reason, str) and reason else None
    known = understand(word) if isinstance(word, str) else None
    if known is None:
        return Availability(Status.UNKNOWN, None, given or (None if word is None else repr(word)))
    return because(known.availability, given)


def because(state: Availability, reason: str | None) -> Availability:
    """Add the service's words to a state; a code among them names the cause."""
    named = understand(reason) if reason is not None and is_code(reason) else None
    status, cause = state.status, state.cause
    if named and state == Availability(Status.UNAVAILABLE):
        meant = named.availability
        if meant.status in (Status.UNAVAILABLE, Status.NOT_APPLICABLE):
            status, cause = meant.status, meant.cause
    elif named and state == Availability(Status.PARTIAL):
        cause = named.availability.cause
    return Availability(status, cause, reason)
