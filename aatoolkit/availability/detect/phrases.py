"""The phrases that mean availability, and how far each can be trusted."""

from __future__ import annotations

import re
from collections.abc import Mapping

from aatoolkit.availability import Cause, Status

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


def _means(strength: int, word: str, phrases: tuple[str, ...]) -> tuple[int, str, re.Pattern[str]]:
    return strength, word, re.compile("|".join(phrases))


PHRASES: tuple[tuple[int, str, re.Pattern[str]], ...] = (
    _means(
        STRONG,
        "not_connected",
        (
            "(?:not|never|un) ?(?:yet )?(?:connected|linked|integrated|attached)",
            "(?:dis|un)connected",
            r"(?:connect|link|install|set up|verify|add) (?:\w+ ){1,4}to"
            " (?:see|start|enable|get|unlock|view)",
            "no (?:(?:data|log|analytics|connected) )?(?:source|sources|integration)",
            "not (?:yet )?(?:installed|set up|setup|initiali[sz]ed|onboarded)",
            f"(?:{_SOURCE})(?: is)? (?:required|needed|missing|incomplete)",
            f"(?:requires|needs|missing|awaiting|no) (?:{_SOURCE}){_AT_ALL}",
        ),
    ),
    _means(
        STRONG,
        "not_configured",
        (
            "not (?:yet )?configured",
            "(?:tracking|collection|crawling|logging|measurement) (?:turned|switched) off",
            "unconfigured",
        ),
    ),
    _means(
        STRONG,
        "not_run",
        (
            "(?:not|never) (?:yet )?(?:run|ran|executed|performed|checked|scanned|crawled|synced"
            "|imported|asked|queried|polled|probed|sampled)",
            "no (?:run|runs|scan|scans)(?: yet)?",
            "(?:not|never) (?:yet )?started",
        ),
    ),
    _means(
        STRONG,
        "not_applicable",
        (
            "(?:not|un|in) ?(?:support|expose|offer)(?:s|d|ed)?",
            "(?:not|in) ?applicable",
            "n a",
            "not possible",
            "cannot exist",
            "no support",
        ),
    ),
    _means(WEAK, "not_applicable", ("na", "none exposed")),
    _means(
        PLAIN,
        "insufficient_sample",
        (
            f"insufficient(?: (?:{_SEEN})(?: size)?)?",
            "underpowered",
            "too thin",
            f"(?:not enough|too few|too little)(?: (?:{_SEEN}))?",
            rf"fewer than (?:\w+ )?(?:{_SEEN})",
            "calibrating",
            "(?:low|small|thin|few|tiny) (?:samples?|answers|observations|volume)(?: size)?",
            "(?:sample|samples|n) (?:is )?too (?:small|low|thin)",
        ),
    ),
    _means(
        STRONG,
        "insufficient_sample",
        (
            r"below (?:\w+ )?(?:threshold|minimum|min)(?: \w+)?",
            "untested",
            "(?:not|un) ?(?:yet )?(?:measured|significant)",
            "low (?:confidence|power|data|traffic)",
            "early reading",
            "too early",
        ),
    ),
    _means(
        STRONG,
        "forbidden",
        (
            f"(?:{_RIGHT})(?: is)? (?:required|needed|missing|denied)",
            f"(?:requires|needs|missing|no) (?:{_RIGHT}){_AT_ALL}",
            r"plan limit(?: \w+)?",
            "not (?:entitled|licen[sc]ed|permitted|included|in plan|on plan)",
            "not (?:authori[sz]ed|enabled)",
            "unauthori[sz]ed",
            "withheld",
            "paywalled",
            "(?:plan|subscription|tier) (?:does )?not (?:include|cover|allow)",
            r"not (?:in|on|part of) (?:\w+ )?(?:plan|subscription|tier)",
        ),
    ),
    _means(
        WEAK,
        "forbidden",
        (
            "forbidden",
            "locked",
            "restricted",
            "(?:active )?restrictions?",
            "suppressed",
            "redacted",
            "hidden",
            "masked",
            "confidential",
            "gated",
            "disabled",
        ),
    ),
    _means(
        STRONG,
        "pending",
        (
            "re(?:calculat|comput|process|build|index|aggregat)ing",
            "backfilling",
            "(?:awaiting|waiting for|pending) (?:first )?(?:data|runs?|results?|sync)",
            "(?:first )?run (?:pending|scheduled)",
            "collecting",
            "computing",
            "calculating",
            "not (?:yet )?(?:ready|computed|calculated|processed|synced)",
            "warming up",
            "not yet (?:available|collected)",
            "will (?:be available|appear|show up|arrive|start)",
            "syncing",
            "initial sync",
        ),
    ),
    _means(
        WEAK,
        "pending",
        (
            "pending",
            "processing",
            "(?:in )?queued?",
            "warm ?up",
            "running",
            "in progress",
            "scheduled",
            "importing",
            "backfill",
            "ingesting",
            "bootstrapping",
            "building",
            "loading",
            "submitted",
            "accepted",
            "started",
            "initiali[sz]ing",
            "preparing",
            "generating",
            "refreshing",
            "indexing",
            "waiting",
            "delayed",
        ),
    ),
    _means(
        PLAIN,
        "unavailable",
        (
            r"no (?:data|observations|measurements?)(?: \w+)?",
            "data missing",
            "no (?:answers|responses|logs|runs) (?:yet )?(?:collected|captured|recorded|received)",
            "not (?:yet )?(?:collected|captured|tracked|recorded|ingested)",
        ),
    ),
    _means(
        STRONG,
        "unavailable",
        (
            "unavailable",
            "not available",
            "un?(?:collected|captured|tracked|recorded)",
            "none observed",
            "nothing found",
            "(?:not|non|without) (?:reporting|responding|data|coverage)",
            "not (?:yet )?(?:reported|observed|received|provided|covered|reached|represented)",
        ),
    ),
    _means(
        WEAK,
        "unavailable",
        ("missing", "empty", "none", "absent", "no", "false", "silent", "not found", "withdrawn"),
    ),
    _means(STRONG, "truncated", ("truncated", "(?:row|result) limit(?: reached)?", "capped")),
    _means(
        STRONG,
        "filtered",
        (
            "(?:subject to )?thresholding(?: applied)?",
            "(?:privacy |data )?threshold applied",
            "thresholded",
        ),
    ),
    _means(
        STRONG,
        "partial",
        (
            "partial(?:ly)?(?: (?:available|complete|measured|collected|data|coverage|results?"
            "|response|answer))?",
            "incomplete(?: data)?",
            "sampled",
            "estimated",
            "extrapolated",
            r"data loss(?: \w+){0,4}",
            "degraded",
            "not (?:complete|full)",
        ),
    ),
    _means(
        WEAK,
        "partial",
        (
            "limited(?: (?:data|availability|coverage|history))?",
            "some",
            "stale",
            "outdated",
            "approx(?:imate)?",
            "provisional",
            "preliminary",
            "imputed",
            "forecast",
        ),
    ),
    _means(
        WEAK,
        "error",
        (
            "error",
            "errors",
            "errored",
            "failed",
            "failure",
            "fail",
            "timeout",
            "timed out",
            "broken",
            "crashed",
            "(?:internal|server|upstream|fetch|sync|import|source) (?:error|failed|failure)",
        ),
    ),
    _means(STRONG, "available", ("available", "measured")),
    _means(
        WEAK,
        "available",
        (
            "observed",
            "live",
            "ready",
            "completed?",
            "full",
            "fully",
            "ok",
            "okay",
            "success",
            "succeeded",
            "collected",
            "reported",
            "yes",
            "active",
            "connected",
            "configured",
            "supported",
            "enabled",
            "reporting",
            "responding",
            "covered",
            "with data",
            "true",
            "on",
            "good",
            "present",
            "fresh",
            "final(?:i[sz]ed)?",
        ),
    ),
)
"""Strength, canonical word and the phrases that mean it; the first that fits holds."""
