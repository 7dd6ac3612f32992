"""The words that mean availability: phrases by how they are built, codes of statistics, signs.

A word is split where camelCase, snake_case, kebab-case or spaces split it, and its parts are
matched against phrases: a negation and what is negated (``not connected``, ``no runs``), a
need and what is needed (``setup required``), a sample and what is wrong with it (``too few
answers``), and single words. Each phrase has a strength, as everyday words such as ``pending``
say something about data only where availability is the subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect.phrases import PHRASES, STRONG, WEAK, WORDS


@dataclass(frozen=True)
class Word:
    """A word that was understood: the canonical one, and how far it can be trusted."""

    canonical: str
    strength: int

    @property
    def availability(self) -> Availability:
        """What it says, without a reason."""
        return Availability(*WORDS[self.canonical])


_NOISE = frozenset(
    {
        *("is", "are", "was", "were", "been", "being", "the", "your", "our", "this", "that", "it"),
        *("currently", "still", "now", "status", "state", "field", "section"),
    }
)
_LED = frozenset({"not_connected", "not_configured", "insufficient_sample", "forbidden", "not_run"})
_WORK = {"data", "report", "job", "query", "task", "dataset", "execution", "import", "sync", "run"}
_DENIED = re.compile(r"\b(no|not|never|without|nothing)( \w+)? $")
_VAGUE = {"unavailable", "partial"}
_LONGEST = 6
_LONGEST_TEXT = 60


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """The parts of a name or word, in lower case.

    Examples
    --------
    >>> tokens("_sentimentScoreReason"), tokens("NOT-Connected"), tokens("hasGA4Data")
    (('sentiment', 'score', 'reason'), ('not', 'connected'), ('has', 'ga4', 'data'))
    """
    spaced = re.sub(r"([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])", r"\1\3 \2\4", text[:200])
    return tuple(re.findall(r"[^\W_]+", spaced.lower()))


def _whole_words(text: str) -> str:
    """A sentence with its contractions written out: ``isn't`` as ``is not``."""
    text = re.sub(r"(?i)can(?:no|['’])t\b", "can not", text)
    text = re.sub(r"(?i)n['’]t\b", " not", text)
    return re.sub(r"(?i)\b(?:do|does|did) not have\b", "no", text)


@lru_cache(maxsize=4096)
def understand(text: str) -> Word | None:
    """The canonical word that a word means, if it is one of availability.

    Examples
    --------
    >>> understand("GA4_NOT_CONNECTED"), understand("in_stock")
    (Word(canonical='not_connected', strength=2), None)
    """
    return phrase(tokens(text)) if len(text) <= _LONGEST_TEXT else None


@lru_cache(maxsize=4096)
def phrase(parts: tuple[str, ...]) -> Word | None:
    """The canonical word that some parts mean; a source may stand before what it lacks."""
    said = [part for part in parts if part not in _NOISE]
    if not said or len(said) > _LONGEST:
        return None
    for start in range(min(4, len(said))):
        text = " ".join(said[start:])
        for strength, word, pattern in PHRASES:
            if (start == 0 or word in _LED) and pattern.fullmatch(text):
                return Word(word, strength)
    if said[0] in _WORK and len(said) > 1:
        return phrase(tuple(said[1:]))
    if said[-1] == "data" and len(said) > 1:
        return phrase(tuple(said[:-1]))
    return None


def best(texts: Iterable[str], least: int = WEAK) -> Word | None:
    """The most trusted word among some texts, if it can be trusted that far."""
    words = [word for text in texts if (word := understand(text)) and word.strength >= least]
    return max(words, key=lambda word: word.strength, default=None)


@lru_cache(maxsize=1024)
def in_prose(text: str) -> Word | None:
    """The first strong word of absence in some sentences; one that they deny is none.

    One that names a cause goes before one that only says that something is missing.

    Examples
    --------
    >>> in_prose("Your logs aren't connected yet.").canonical, in_prose("No setup is required.")
    ('not_connected', None)
    """
    found: list[Word] = []
    for sentence in re.split(r"[.!?;:](?:\s|$)", _whole_words(text)):
        said = " ".join(part for part in tokens(sentence) if part not in _NOISE)
        places = [
            (match.start(), match[0], Word(word, strength))
            for strength, word, pattern in PHRASES
            if strength > WEAK and word != "available"
            for match in [re.search(rf"\b(?:{pattern.pattern})\b", said)]
            if match and not _DENIED.search(said[: match.start()])
        ]
        for _, said, word in sorted(places, key=lambda each: each[0]):
            if not (word.canonical in _VAGUE or said.endswith("measured")):
                return word
            found.append(word)
    return found[0] if found else None


def is_code(text: object) -> bool:
    """Whether a text is a code (``plan_required``) and not a sentence."""
    return isinstance(text, str) and re.fullmatch(r"\w[\w.-]{0,58}\w", text) is not None


def read_word(word: object, reason: object = None) -> Availability:
    """A word of the wire as an availability; an unknown word is kept as the reason.

    Examples
    --------
    >>> read_word("Available").status
    <Status.AVAILABLE: 'available'>
    >>> read_word("unavailable", "not_connected").cause
    <Cause.NOT_CONNECTED: 'not_connected'>
    >>> read_word("blue moon")
    Availability(status=<Status.UNKNOWN: 'unknown'>, cause=None, reason="'blue moon'")
    """
    said = reason if isinstance(reason, str) and reason else None
    known = understand(word) if isinstance(word, str) else None
    if known is None:
        return Availability(Status.UNKNOWN, None, said or (None if word is None else repr(word)))
    return because(known.availability, said)


def because(state: Availability, reason: str | None) -> Availability:
    """A state with the service's words; a code among them names the cause of a bare absence."""
    named = understand(reason) if reason is not None and is_code(reason) else None
    if named and state == Availability(Status.UNAVAILABLE) and named.canonical in WORDS:
        told = named.availability
        if told.status in (Status.UNAVAILABLE, Status.NOT_APPLICABLE):
            return Availability(told.status, told.cause, reason)
    if named and state == Availability(Status.PARTIAL) and named.availability.cause:
        return Availability(Status.PARTIAL, named.availability.cause, reason)
    return Availability(state.status, state.cause, reason)


_AVAILABLE = Availability(Status.AVAILABLE)
_PARTIAL = Availability(Status.PARTIAL)
_THIN = Availability(Status.PARTIAL, Cause.INSUFFICIENT_SAMPLE)
_LACKING = Availability(Status.UNAVAILABLE)
_NEVER = Availability(Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED)
_WITHHELD = Availability(Status.UNAVAILABLE, Cause.WITHHELD)

OBSERVED: Mapping[str, Availability] = {
    **dict.fromkeys(("A", "B", "D", "N", "R", "V"), _AVAILABLE),
    **dict.fromkeys(("E", "F", "G", "I", "P", "S"), _PARTIAL),
    "U": _THIN,
    **dict.fromkeys(("H", "J", "K", "L", "O", "W", ":", "..", "…"), _LACKING),
    **dict.fromkeys(("M", "Z"), _NEVER),
    **dict.fromkeys(("C", "Q", "*"), _WITHHELD),
}
"""The codes of CL_OBS_STATUS and of Eurostat's flags, which are the same in lower case."""

_SIGNS: Mapping[str, Availability] = {
    **dict.fromkeys(("n/a", "n.a.", "na", "#n/a", "not applicable"), _NEVER),
    **dict.fromkeys(("-", "–", "—", ":", "..", "...", "…", "nan"), _LACKING),
    **dict.fromkeys(("*", "**", "***"), _WITHHELD),
}


def is_observation_status(key: str) -> bool:
    """Whether a key holds the status of an observation, as SDMX calls it.

    Examples
    --------
    >>> is_observation_status("OBS_STATUS"), is_observation_status("orderStatus")
    (True, False)
    """
    parts = {*tokens(key)}
    return bool(parts & {"obs", "observation"}) and bool(parts & {"status", "flag", "flags"})


def is_observation(key: str) -> bool:
    """Whether a key of a record holds its one value, of which a flag beside it speaks."""
    return tokens(key) in (("value",), ("obs", "value"), ("observation",), ("v",), ("val",))


def observed(code: str) -> Availability | None:
    """What a code of an observation's status means; of several letters the first that is known.

    Examples
    --------
    >>> observed("Q").cause, observed("e").status, observed("in_stock")
    (<Cause.WITHHELD: 'withheld'>, <Status.PARTIAL: 'partial'>, None)
    """
    return OBSERVED.get(code.strip().upper()) if len(code.strip()) <= 2 else None


def instead_of_number(text: str) -> Availability | None:
    """What a text says that stands where a number should.

    Examples
    --------
    >>> instead_of_number("n/a").status, instead_of_number("suppressed").cause
    (<Status.NOT_APPLICABLE: 'not_applicable'>, <Cause.WITHHELD: 'withheld'>)
    """
    sign = _SIGNS.get(text.strip().lower())
    if sign is not None:
        return sign
    known = understand(text)
    if known is None or known.canonical == "available":
        return None
    sure = known.strength >= STRONG or known.canonical in ("forbidden", "pending")
    return known.availability if sure else None
