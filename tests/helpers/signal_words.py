"""Signals as the canonical words of the variants, for tests that compare many of them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from aatoolkit import Availability, Cause, ScopeOptions
from aatoolkit.availability.detect import detect
from aatoolkit.normalizer.column_availability import find_section_availability

_WORDS = {
    Cause.NOT_CONNECTED: "not_connected",
    Cause.NOT_CONFIGURED: "not_connected",
    Cause.NOT_RUN: "not_run",
    Cause.PENDING: "pending",
    Cause.INSUFFICIENT_SAMPLE: "insufficient_sample",
    Cause.WITHHELD: "forbidden",
    Cause.FAILED: "error",
    Cause.NOT_SUPPORTED: "not_applicable",
}


def canonical(state: Availability) -> str:
    return _WORDS.get(state.cause, str(state.status)) if state.cause else str(state.status)


def statements_in(document: Any, **options: Any) -> dict[str, str]:
    """Statements of an answer by ``section``, ``field NAME``, ``row PATH`` and ``engine ID``."""
    signals = detect(document, **options).signals
    section = find_section_availability(signals)
    words = {} if section is None else {"section": canonical(section)}
    for signal in signals:
        if signal.scope != "section":
            name = f"{signal.scope} {signal.target}"
            assert name not in words, f"{name} is stated twice"
            words[name] = canonical(signal.availability)
    return words


def options_of(engines: dict[str, tuple[bool | None, str | None]]) -> ScopeOptions:
    """Scope options with engines, each configured or not, with its last day."""
    frame = pd.DataFrame([*engines.values()], columns=["configured", "last_run_day"])
    frame["engine"] = pd.array([*engines], dtype="string")
    types = {"configured": "boolean", "last_run_day": "datetime64[us]"}
    none = pd.DataFrame()
    parts = {"topics": none, "categories": none, "brands": none, "own_terms": (), "days": (30,)}
    return ScopeOptions("acme.example", engines=frame.astype(types), **parts)
