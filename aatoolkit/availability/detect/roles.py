"""Roles of keys: a reason, a sample size, metadata, …, by the words a key is made of.

Most tests are a set of words against one part of a key. Examples:

>>> is_figures("totals"), is_figures("product"), is_reason("statusMessage"), is_wrapper("Results")
(True, False, True, True)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache


def words(text: str) -> frozenset[str]:
    """Split a text of words into a set."""
    return frozenset(text.split())


_CAMEL_CASE = re.compile(r"([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])")
_PART = re.compile(r"[^\W_]+")


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[str, ...]:
    """Split a name into its parts, in lower case.

    Examples
    --------
    >>> tokens("_sentimentScoreReason"), tokens("NOT-Connected"), tokens("hasGA4Data")
    (('sentiment', 'score', 'reason'), ('not', 'connected'), ('has', 'ga4', 'data'))
    """
    text = text[:200]
    if not text.islower():
        text = _CAMEL_CASE.sub(r"\1\3 \2\4", text).lower()
    return tuple(_PART.findall(text))


def spaced(key: str, leave_out: Iterable[str] = ()) -> str:
    """Join the parts of a name by spaces, without some of them.

    Examples
    --------
    >>> spaced("isDataComplete", ("is",))
    'data complete'
    """
    return " ".join(part for part in tokens(key) if part not in leave_out)


FIELDS = words(
    "field fields metric metrics column columns measure measures kpi kpis section sections"
    " dimension dimensions feature features"
)
ENGINES = words(
    "engine engines platform platforms model models assistant assistants provider providers llm"
    " llms surface surfaces"
)
_NAMES = (
    *("field", "metric", "column", "path", "name", "key", "id", "property", "section", "ref"),
    *("target", "applies_to", "appliesto", "metricname", "fieldname", "columnname"),
)
_STOCK = re.compile(
    r"(in|out of|low|limited) ?stock|sold ?out|(pre|back) ?order(ed)?|discontinued|on sale"
    r"|in ?stock( only)?|in store( only)?|online only|out ?of ?stock|made to order"
)
_ECHOES = words(
    "filters filter query request params parameters arguments scope config settings options schema"
    " links paging pagination window sort echo input selection"
)
_PROCESSES = words(
    "job query task dataset import sync ingestion collection processing pipeline backfill data"
    " report export run crawl analysis snapshot request result results execution calculation"
    " refresh"
)
_STAGES = words("status state phase stage step progress lifecycle")
_GATHERING = words("dataset data import sync ingestion collection backfill pipeline")
_NOTED = words("data coverage availability completeness measurement sample sampling")


@lru_cache(maxsize=4096)
def fold(name: str | tuple[str, ...]) -> str:
    """Normalise a name for comparison: without case and separators."""
    return "".join(tokens(name) if isinstance(name, str) else name)


_OF_PATHS = frozenset("[]$.*")


@lru_cache(maxsize=4096)
def kind_of_entries(key: str) -> str | None:
    """The kind of entries that a key names: ``engine``, ``field`` or None."""
    if _OF_PATHS.intersection(key):
        return None
    parts = {*tokens(key)}
    if parts & ENGINES:
        return "engine"
    return "field" if parts & FIELDS else None


def name_of(record: dict[str, object]) -> tuple[str, str] | None:
    """The kind and name that a record of statements is about: an engine or a field."""
    for scope, names in (("engine", ENGINES), ("field", _NAMES)):
        for key, value in record.items():
            if key.lower() in names and isinstance(value, str):
                return scope, value
    return None


def is_stock(text: str) -> bool:
    """Whether a word is about goods in stock."""
    return _STOCK.fullmatch(" ".join(tokens(text))) is not None


# --- tests of one part of a key -------------------------------------------------------------


def _any_part(text: str) -> Callable[[str], bool]:
    wanted = words(text)
    return lru_cache(maxsize=4096)(lambda key: not wanted.isdisjoint(tokens(key)))


def _last_part(text: str) -> Callable[[str], bool]:
    wanted = words(text)
    return lru_cache(maxsize=4096)(lambda key: not wanted.isdisjoint(tokens(key)[-1:]))


def _whole_key(text: str) -> Callable[[str], bool]:
    wanted = words(text)
    return lru_cache(maxsize=4096)(lambda key: fold(key) in wanted)


is_business = _any_part(
    "product products stock inventory offer offers price sku item listing page site server host"
    " uptime room booking delivery shipping balance credits seats slots budget plans order payment"
    " job task experiment campaign user subscription account robots plan billing license"
    " permissions features sitemap file files txt ssl certificate checkout"
)
"""Whether a key names a thing of trade or work, whose states are its own."""

is_right = _any_part("entitlement entitlements access permissions licenses licences modules")
"""Whether an object under a key lists what an account may see."""

is_figures = _any_part(
    "total totals kpi kpis metrics summary stats statistics figures values counts measures"
    " aggregates headline current previous"
)
"""Whether an object under a key holds nothing but figures."""

is_source = _any_part(
    "source sources integration integrations connector connectors gateway connection connections"
    " setup feed feeds pipeline tracking"
)
"""Whether a key is about where data come from: a connection, an integration, a gateway."""

is_when = _any_part("date day hour week month year period time timestamp quarter t")
"""Whether a key of a record holds its moment, as a point of a series has one."""

is_holder = _last_part(
    "meta metadata info envelope header context extensions diagnostics provenance measurement"
    " sampling access entitlement limits privacy quality disclosure"
)
"""Whether an object under a key is metadata of the whole answer."""

is_reason = _last_part(
    "reason message detail details description note explanation why text hint cause comment title"
    " because"
)
"""Whether a key holds the words for a state."""

is_cause = _last_part("reason cause because why explanation")
"""Whether a key holds the reason for a state, and not only some words about it."""

is_prose = _last_part("warning warnings notice notices alerts")
"""Whether a key holds notices that are read even where they are prose."""

is_notice = _last_part("warning warnings notice notices alerts flags messages")
"""Whether a key holds notices, which may or may not be about data."""

is_wrapper = _whole_key("data result results response payload body content")
"""Whether an object under a key is the answer itself, wrapped."""

is_message = _whole_key("message reason detail details explanation why hint notice because")
"""Whether a sentence under a key may be the reason why an answer is empty."""

is_footnotes = _whole_key(
    "footnote footnotes note notes remarks annotations comments legend fn fnref footnoteref"
    " footnoterefs noteref noterefs"
)
"""Whether a key holds footnotes, or the mark of one."""

is_remark = _whole_key("note notes remark remarks comments")
"""Whether a key holds remarks, which are about anything."""

is_size = _whole_key(
    "samplecount samplesize sample samples n observations observationcount answers answercount"
    " datapoints basesize samplen"
)
"""Whether a key inside a statement holds the size of its sample."""

is_moment = _whole_key(
    "asof updatedat lastupdated lastupdatedat datathrough through until measuredat"
    " measuredthrough lastrunat datalastupdatedat completethrough"
)
"""Whether a key inside a statement holds the moment up to which it is true."""


# --- tests of several parts ------------------------------------------------------------------


@lru_cache(maxsize=4096)
def is_stage(key: str) -> bool:
    """Whether a key holds the state of the work that an answer comes from: ``jobStatus``.

    Examples
    --------
    >>> is_stage("phase"), is_stage("importState"), is_stage("orderStatus")
    (True, True, False)
    """
    return is_process(key) and not _STAGES.isdisjoint(tokens(key))


@lru_cache(maxsize=4096)
def is_process(key: str) -> bool:
    """Whether a key names the work that an answer comes from, or holds its state."""
    parts = {*tokens(key)}
    return bool(parts) and parts <= _PROCESSES | _STAGES


def is_of_data(key: str) -> bool:
    """Whether the work that a key names is that of collecting data."""
    return {*tokens(key)} <= _GATHERING | _STAGES


@lru_cache(maxsize=4096)
def is_echo(key: str) -> bool:
    """Whether an object repeats the question or describes the form of the answer."""
    parts = tokens(key)
    return bool(parts) and (parts[-1] in _ECHOES or parts[0] in ("requested", "applied"))


@lru_cache(maxsize=4096)
def is_note(key: str) -> bool:
    """Whether a key holds the limits of an answer, in prose: any text there means ``partial``."""
    last = "".join(tokens(key)[-1:])
    limits = ("caveat", "caveats", "limitation", "limitations", "disclaimer")
    return last in limits or (last in ("note", "notes") and not _NOTED.isdisjoint(tokens(key)))


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
    """Whether a key of a record holds its one value, which a flag beside it is about."""
    return tokens(key) in (("value",), ("obs", "value"), ("observation",), ("v",), ("val",))
