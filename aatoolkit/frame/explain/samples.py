"""Find the sampled chats behind a number, by its row and filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.frame.explain.evidence import AnswerFinder
from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.rows import matching
from aatoolkit.frame.explain.text import plain
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.tables import Tables

OF_ANSWERS = ("overview", "prompts", "domains", "urls", "perception", "ranking", "fanouts", "gaps")
"""The sections whose numbers are counted from the answers of engines."""

_SHOWN = ("chat_id", "engine", "prompt", "ran_at", "outcome", "answer_text")
_MOST = 20

_OWN = ("engine", "prompt_id", "prompt")
_BESIDE = {
    "brand": ("chat_mentions", "brand"),
    "source_domain": ("chat_citations", "source_domain"),
    "url": ("chat_citations", "url"),
}
"""By column of a row, the table of chats and the column that say which chats it is about."""


def with_samples(found: Explanation, finder: AnswerFinder) -> Explanation:
    """Add the sampled chats that an explanation's row is about, where they are at hand."""
    answer = found.answer or next(iter(found.sources), None)
    if answer is None or answer.section not in OF_ANSWERS:
        return found
    wanted = Source(host=answer.host, section=answer.section, scope=answer.scope)
    for tables in finder.sampled(wanted):
        if "chats" in tables:
            chats, used = _chosen(tables, found.row, "retriev" in found.column)
            return replace(found, samples=_listed(chats), samples_note=_note(tables, chats, used))
    return found


def _chosen(
    tables: Tables, row: Mapping[str, Any], retrieved: bool
) -> tuple[pd.DataFrame, list[str]]:
    """Select the chats that a row is about; return also the columns used.

    A source counts where it is cited; where it was ``retrieved`` only, if that is what is asked.
    """
    chats = tables["chats"]
    mask, used = np.ones(len(chats), bool), []
    for name, value in row.items():
        if name in _OWN and name in chats.columns:
            mask &= matching(chats[name], value)
        elif name == "date" and "ran_at" in chats.columns:
            mask &= np.array([str(plain(ran))[:10] == str(value)[:10] for ran in chats["ran_at"]])
        elif name in _BESIDE and _BESIDE[name][0] in tables:
            beside, column = _BESIDE[name]
            if column not in tables[beside].columns:
                continue
            about = matching(tables[beside][column], value)
            if "cited" in tables[beside].columns and not retrieved:
                about &= tables[beside]["cited"].fillna(False).to_numpy(bool)
            ids = tables[beside].loc[about, "chat_id"]
            mask &= chats["chat_id"].isin(ids).to_numpy(bool)
        else:
            continue
        used.append(f"{name} = {value}")
    return chats[mask], used


def _listed(chats: pd.DataFrame) -> tuple[Mapping[str, Any], ...]:
    names = [name for name in _SHOWN if name in chats.columns]
    rows = chats[names].head(_MOST).itertuples(index=False, name=None)
    return tuple(dict(zip(names, map(plain, row), strict=True)) for row in rows)


def _note(tables: Tables, chats: pd.DataFrame, used: list[str]) -> str:
    about = f" with {', '.join(used)}" if used else ""
    listed = f", the first {_MOST} listed" if len(chats) > _MOST else ""
    return (
        f"{len(chats):,} of {len(tables['chats']):,} sampled chats{about}{listed}; the service "
        "samples and caps them: they are examples, and not all that was counted"
    )
