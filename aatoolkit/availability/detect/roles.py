"""The part a key plays beside a statement, by the words it is made of."""

from __future__ import annotations

import re

from aatoolkit.availability.detect.vocabulary import tokens

FIELDS = {
    *("field", "fields", "metric", "metrics", "column", "columns", "measure", "measures"),
    *("kpi", "kpis", "section", "sections", "dimension", "dimensions", "feature", "features"),
}
ENGINES = {
    *("engine", "engines", "platform", "platforms", "model", "models", "assistant", "assistants"),
    *("provider", "providers", "llm", "llms", "surface", "surfaces"),
}
_BUSINESS = {
    *("product", "products", "stock", "inventory", "offer", "offers", "price", "sku", "item"),
    *("listing", "page", "site", "server", "host", "uptime", "room", "booking", "delivery"),
    *("shipping", "balance", "credits", "seats", "slots", "budget", "plans", "order", "payment"),
    *("job", "task", "experiment", "campaign", "user", "subscription", "account", "robots"),
    *("plan", "billing", "license", "permissions", "features", "sitemap", "file", "files", "txt"),
    *("ssl", "certificate", "checkout"),
}
_STOCK = re.compile(
    r"(in|out of|low|limited) ?stock|sold ?out|(pre|back) ?order(ed)?|discontinued|on sale"
    r"|in ?stock( only)?|in store( only)?|online only|out ?of ?stock|made to order"
)
_ECHOES = {
    *("filters", "filter", "query", "request", "params", "parameters", "arguments", "scope"),
    *("config", "settings", "options", "schema", "links", "paging", "pagination"),
    *("window", "sort", "echo", "input", "selection"),
}
_HOLDERS = {
    *("meta", "metadata", "info", "envelope", "header", "context", "extensions", "diagnostics"),
    *("provenance", "measurement", "sampling", "access", "entitlement", "limits"),
}
_WRAPPERS = {"data", "result", "results", "response", "payload", "body", "content"}
_REASONS = {
    *("reason", "message", "detail", "details", "description", "note", "explanation", "why"),
    *("text", "hint", "cause", "comment", "title", "because"),
}
_CAUSES = {"reason", "cause", "because", "why", "explanation"}
_REMARKS = {"note", "notes", "remark", "remarks", "comments"}
_SIZES = {
    *("samplecount", "samplesize", "sample", "samples", "n", "observations", "observationcount"),
    *("answers", "answercount", "datapoints", "basesize", "samplen"),
}
_MOMENTS = {
    *("asof", "updatedat", "lastupdated", "lastupdatedat", "datathrough", "through", "until"),
    *("measuredat", "measuredthrough", "lastrunat", "datalastupdatedat", "completethrough"),
}
_SOURCES = {
    *("source", "sources", "integration", "integrations", "connector", "connectors", "gateway"),
    *("connection", "connections", "setup", "feed", "feeds", "pipeline", "tracking"),
}
_NOTES = {"caveat", "caveats", "limitation", "limitations", "disclaimer"}
_NOTED = {"data", "coverage", "availability", "completeness", "measurement", "sample", "sampling"}
_NOTICES = {"warning", "warnings", "notice", "notices", "alerts"}
_CODED = _NOTICES | {"flags", "messages"}
_MESSAGES = {
    "message",
    "reason",
    "detail",
    "details",
    "explanation",
    "why",
    "hint",
    "notice",
    "because",
}
_PROCESSES = {
    *("job", "query", "task", "dataset", "import", "sync", "ingestion", "collection", "processing"),
    *("pipeline", "backfill", "data", "report", "export", "run", "crawl", "analysis", "snapshot"),
    *("request", "result", "results", "execution", "calculation", "refresh"),
}
_FOOTNOTES = {
    *("footnote", "footnotes", "note", "notes", "remarks", "annotations", "comments", "legend"),
}
_RIGHTS = {
    "entitlement",
    "entitlements",
    "access",
    "permissions",
    "licenses",
    "licences",
    "modules",
}
_FIGURES = {
    *("total", "totals", "kpi", "kpis", "metrics", "summary", "stats", "statistics", "figures"),
    *("values", "counts", "measures", "aggregates", "headline", "current", "previous"),
}
_GATHERING = {
    "dataset",
    "data",
    "import",
    "sync",
    "ingestion",
    "collection",
    "backfill",
    "pipeline",
}
_STAGES = {"status", "state", "phase", "stage", "step", "progress", "lifecycle"}
_MOMENT_OF_ROW = {
    *(
        "date",
        "day",
        "hour",
        "week",
        "month",
        "year",
        "period",
        "time",
        "timestamp",
        "quarter",
        "t",
    ),
}
_NAMES = (
    *("field", "metric", "column", "path", "name", "key", "id", "property", "section", "ref"),
    *("target", "applies_to", "appliesto", "metricname", "fieldname", "columnname"),
)


def fold(name: str | tuple[str, ...]) -> str:
    """A name without case and separators, to compare spellings."""
    return "".join(tokens(name) if isinstance(name, str) else name)


def speaks_of(key: str) -> str | None:
    """``engine`` or ``field`` where a key names what its entries are."""
    parts = set(tokens(key))
    if parts & ENGINES:
        return "engine"
    return "field" if parts & FIELDS else None


def name_of(record: dict[str, object]) -> tuple[str, str] | None:
    """What a record of a list of statements is about: ``engine`` or ``field``, and its name."""
    for scope, names in (("engine", ENGINES), ("field", _NAMES)):
        for key, value in record.items():
            if key.lower() in names and isinstance(value, str):
                return scope, value
    return None


def is_business(key: str) -> bool:
    """Whether a key names a thing of trade or work, whose states are its own."""
    return bool(set(tokens(key)) & _BUSINESS)


def is_stock(text: str) -> bool:
    """Whether a word is about goods in stock."""
    return _STOCK.fullmatch(" ".join(tokens(text))) is not None


def is_message(key: str) -> bool:
    """Whether a sentence under a key may say of an answer why it is empty."""
    return fold(key) in _MESSAGES


def is_stage(key: str) -> bool:
    """Whether a key holds the state of the work that an answer comes from: ``jobStatus``.

    Examples
    --------
    >>> is_stage("phase"), is_stage("importState"), is_stage("orderStatus")
    (True, True, False)
    """
    parts = {*tokens(key)}
    return bool(parts & _STAGES) and parts <= _STAGES | _PROCESSES


def is_process(key: str) -> bool:
    """Whether a key names the work that an answer comes from, or holds its state."""
    parts = {*tokens(key)}
    return bool(parts) and parts <= _PROCESSES | _STAGES


def is_footnotes(key: str) -> bool:
    """Whether a key holds footnotes, or the mark of one."""
    return fold(key) in _FOOTNOTES


def is_right(key: str) -> bool:
    """Whether an object under a key says what an account may see."""
    return bool({*tokens(key)} & _RIGHTS)


def is_figures(key: str) -> bool:
    """Whether an object under a key holds nothing but figures.

    Examples
    --------
    >>> is_figures("totals"), is_figures("product")
    (True, False)
    """
    return bool({*tokens(key)} & _FIGURES)


def is_of_data(key: str) -> bool:
    """Whether the work that a key names is that of gathering data."""
    return {*tokens(key)} <= _GATHERING | _STAGES


def is_when(key: str) -> bool:
    """Whether a key of a record tells its moment, as a point of a series has one."""
    return bool({*tokens(key)} & _MOMENT_OF_ROW)


def is_echo(key: str) -> bool:
    """Whether an object repeats the question or describes the form of the answer."""
    parts = tokens(key)
    return bool(parts) and (parts[-1] in _ECHOES or parts[0] in ("requested", "applied"))


def is_holder(key: str) -> bool:
    """Whether an object under a key is metadata of the whole answer."""
    return _last(key) in _HOLDERS


def is_wrapper(key: str) -> bool:
    """Whether an object under a key is the answer itself, wrapped."""
    return fold(key) in _WRAPPERS


def is_reason(key: str) -> bool:
    """Whether a key holds the words for a state."""
    return _last(key) in _REASONS


def is_cause(key: str) -> bool:
    """Whether a key holds the reason for a state, and not only some words about it."""
    return _last(key) in _CAUSES


def is_remark(key: str) -> bool:
    """Whether a key holds remarks, which are about anything."""
    return fold(key) in _REMARKS


def is_size(key: str) -> bool:
    """Whether a key inside a statement holds the size of its sample."""
    return fold(key) in _SIZES


def is_moment(key: str) -> bool:
    """Whether a key inside a statement says up to when it holds."""
    return fold(key) in _MOMENTS


def is_source(key: str) -> bool:
    """Whether a key is about where data come from: a connection, an integration, a gateway."""
    return bool(set(tokens(key)) & _SOURCES)


def is_note(key: str) -> bool:
    """Whether a key holds the limits of an answer, in prose: any text there means ``partial``."""
    last = _last(key)
    return last in _NOTES or (last in ("note", "notes") and bool({*tokens(key)} & _NOTED))


def is_notice(key: str) -> bool:
    """Whether a key holds notices, which may or may not be about data."""
    return _last(key) in _CODED


def is_prose(key: str) -> bool:
    """Whether a key holds notices that are worth hearing even as prose."""
    return _last(key) in _NOTICES


def _last(key: str) -> str:
    return tokens(key)[-1] if tokens(key) else ""
