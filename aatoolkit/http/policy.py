"""What may be kept, for how long it is fresh, and when a stale response may be used instead."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime

from aatoolkit import errors
from aatoolkit.availability import Cause, Status
from aatoolkit.availability.detect import signals_of
from aatoolkit.http.judge import SUCCESSES
from aatoolkit.jsontree import decode
from aatoolkit.payload import Response

FINAL = (200, 203)
"""The statuses of final responses."""

EMPTY = (204, 205, 402, 404, 409, 410, 422, 423, 424, 428, 451, 501)
"""The statuses with which a response explains that there is no data; valid for a short time.

Most such responses are errors; those that are explanations are cached, also for offline use. Never
among them are refusals of the account (401, 403), and what is about to change (202, 425, 503).
"""

EMPTY_SECONDS = 300.0
"""For how long a response without data is fresh at most."""

_BRIEF = 1 << 12


def may_be_kept(response: Response) -> bool:
    """Whether a response may be cached: it is final, and does not say that more is coming."""
    kept = response.status in (*FINAL, *EMPTY)
    return kept and not (response.status in SUCCESSES and is_temporary(response.body))


def is_fresh(response: Response, seconds: float) -> bool:
    """Whether a cached response is young enough to be used without asking the service."""
    limit = min(seconds, EMPTY_SECONDS) if response.status in EMPTY else seconds
    age = (datetime.now(UTC) - response.fetched_at).total_seconds()
    # A response from the future means that a clock was moved: its age is unknown.
    return 0 <= age < limit


def allows_stale(error: errors.FetchError | errors.InternalError) -> bool:
    """Whether a stale response may be used instead: the service failed, and did not refuse."""
    if isinstance(error, errors.DecodeError):
        return error.problem == "truncated"
    return isinstance(error, errors.ConnectionFailed | errors.ServerFailed)


def is_temporary(body: bytes) -> bool:
    """Whether a response says that it failed or is pending, so that it must not be cached.

    Such a response says nothing else, so that a long one is never temporary.

    Examples
    --------
    >>> is_temporary(b'{"status": "processing", "jobId": 7}'), is_temporary(b'{"domains": []}')
    (True, False)
    """
    if len(body) > _BRIEF:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.SchemaDriftWarning)
        try:
            signals = signals_of(decode.decode(body))
        except errors.DecodeError:
            return False
    return any(
        signal.scope == "section"
        and signal.availability.status == Status.UNAVAILABLE
        and signal.availability.cause in (Cause.PENDING, Cause.FAILED)
        for signal in signals
    )
