"""What pickers are tested with: scope options of any size, and names meant to do harm."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

import aatoolkit as aa

NFC, NFD = "caf\u00e9", "cafe\u0301"

HOSTILE = (
    "<img src=x onerror=\"document.title='broken'\">",
    "</script><script>document.title='broken'</script>",
    "&lt;b&gt; &amp; \"quoted\" 'and' `ticked` \\ $x^2$",
    "abc\u202edrow sdrawkcab\u202c",
    "\u2067isolated",
    "new\nline\ttab\x1b[31m\x00",
    "\u2028line\u2029paragraph\u200bnothing\ufeff",
    "👩\u200d💻 writes \U0001f3f4\U000e0067\U000e0062\U000e007f",
    "\U0001d4d0 \uffee",
    "نص عربي",
    "עברית",
    "Acme",
    "ACME",
    "acme",
    NFC,
    NFD,
    " space before and after ",
    "two  spaces",
    "n" * 10_000,
    "z\u0334\u0335\u0336" * 200,
    "__proto__",
    "constructor",
    "None",
    "0",
    "{}",
    "(none) ",
)
"""Names that a service may well answer with; every one can be asked for."""


def options_of(
    topics: Sequence[str] = ("CRM", "Sales"),
    *,
    engines: Sequence[str] = ("chatgpt", "gemini"),
    days: Sequence[int] = (7, 30, 90),
    host: str = "acme.example",
) -> aa.ScopeOptions:
    """Scope options; of the engines the last is not configured, of the brands the first is own."""
    last = len(engines) - 1
    return aa.ScopeOptions(
        host,
        engines=pd.DataFrame(
            {
                "engine": pd.array(list(engines), dtype="string"),
                "label": pd.array([name.title() for name in engines], dtype="string"),
                "configured": pd.array([at != last for at in range(len(engines))], dtype="boolean"),
                "last_run_day": pd.to_datetime(
                    [None if at == last else "2026-11-20" for at in range(len(engines))]
                ),
            }
        ),
        topics=pd.DataFrame(
            {
                "topic": pd.array([*topics, "(none)"], dtype="string"),
                "prompt_count": pd.array([*range(len(topics)), 3], dtype="Int64"),
            }
        ),
        categories=pd.DataFrame(
            {
                "category": pd.array(["discovery", "how, and why", "pricing"], dtype="string"),
                "prompt_count": pd.array([1, 2, None], dtype="Int64"),
            }
        ),
        brands=pd.DataFrame(
            {
                "brand": pd.array(["Acme", "Zenith"], dtype="string"),
                "tracked": pd.array([True, True], dtype="boolean"),
                "own": pd.array([True, None], dtype="boolean"),
            }
        ),
        own_terms=("acme",),
        days=days,
    )
