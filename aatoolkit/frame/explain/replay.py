"""Replay a recipe over the answers it names, such that each cell of the result can be explained."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from aatoolkit.errors import AAToolkitError, AAToolkitWarning
from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.complete import complete
from aatoolkit.frame.concat import concat
from aatoolkit.frame.explain.aggregates import AggregateCells
from aatoolkit.frame.explain.answers import AnswerCells
from aatoolkit.frame.explain.archived import ArchivedCells
from aatoolkit.frame.explain.cells import TableCells
from aatoolkit.frame.explain.evidence import AnswerFinder, TrailEnd
from aatoolkit.frame.explain.made import Made, View
from aatoolkit.frame.explain.passing import (
    CompleteCells,
    ConcatCells,
    ContextCells,
    LongCells,
    MergeCells,
    RenamedCells,
    SameCells,
)
from aatoolkit.frame.explain.traced import TracedCells
from aatoolkit.frame.merge import adopt, merge, rename
from aatoolkit.frame.reshape import to_long, with_constant, with_context
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.column import Source
from aatoolkit.metadata.recipe import ARCHIVED, DO, END, READ, VIEW, Recipe
from aatoolkit.sections.aggregation import Aggregation
from aatoolkit.stats import (
    answer_rows,
    changes,
    compare,
    concentration,
    decompose,
    funnel,
    headline,
    overlap,
    rank,
    stability,
    treatment,
)
from aatoolkit.stats import interval as intervals
from aatoolkit.stats.answer_rows import answers_of


def _adopt(frame: pd.DataFrame, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return adopt(frame, *frames)


def _rename(frame: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    return rename(frame, columns=names)


def _traced(verb: Any, module: Any, *inputs: str) -> tuple[Any, Any, tuple[str, ...]]:
    """A statistic, which explains its numbers by running once more on traced ones."""
    return verb, partial(TracedCells, trace=module.traced), inputs


VERBS: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "aggregate": (aggregate, AggregateCells, ("frame",)),
    "merge": (merge, MergeCells, ("left", "right")),
    "concat": (concat, ConcatCells, ("frames",)),
    "complete": (complete, CompleteCells, ("frame", "availability")),
    "rename": (_rename, RenamedCells, ("frame",)),
    "adopt": (_adopt, SameCells, ("frame", "frames")),
    "to_long": (to_long, LongCells, ("frame",)),
    "with_context": (with_context, ContextCells, ("frame",)),
    "with_constant": (with_constant, ContextCells, ("frame",)),
    "interval": _traced(intervals.interval, intervals, "frame"),
    "compare": _traced(compare.compare, compare, "now", "before"),
    "decompose": _traced(decompose.decompose, decompose, "now", "before"),
    "changes": _traced(changes.changes, changes, "frame"),
    "rank": _traced(rank.rank, rank, "frame"),
    "concentration": _traced(concentration.concentration, concentration, "frame"),
    "overlap": _traced(overlap.overlap, overlap, "frame"),
    "stability": _traced(stability.stability, stability, "frame"),
    "effect": _traced(treatment.effect, treatment, "series"),
    "answers": (answers_of, AnswerCells, ("whole", "mentions", "citations")),
    "cited_and_mentioned": _traced(answer_rows.association, answer_rows, "rows"),
    "funnel": _traced(funnel.funnel_of, funnel, "frames"),
    "headline": _traced(headline.headline_of, headline, "frames"),
}
"""By verb: what it calls, what explains the cells of its result, and which arguments are frames."""


def replay(recipe: Recipe, sources: Sequence[Source], finder: AnswerFinder) -> Made:
    """Make a frame again.

    Parameters
    ----------
    recipe : list
        How it was made.
    sources : sequence of Source
        The answers that the recipe names by number.
    finder : AnswerFinder
        Finds them.

    Raises
    ------
    TrailEnd
        If it cannot be made again, with the reason.
    """
    kind, *rest = recipe
    if kind == READ:
        return _read(rest[0], rest[1], sources, finder)
    if kind == VIEW:
        inner, changes_made = rest
        base = None if inner[0] == END else replay(inner, sources, finder)
        return View(base, changes_made, inner[1] if inner[0] == END else None)
    if kind == ARCHIVED:
        return ArchivedCells(finder.archived(rest[0], rest[1]), sources, finder)
    if kind == DO and rest[0] in VERBS:
        inputs = [replay(each, sources, finder) for each in rest[2]]
        return _done(rest[0], rest[1], inputs)
    raise TrailEnd(rest[0] if kind == END else f"{rest[0]} cannot be replayed by this version")


def _read(number: int, name: str, sources: Sequence[Source], finder: AnswerFinder) -> Made:
    if not 0 <= number < len(sources):
        raise TrailEnd("its metadata does not name the answer it was read from")
    answer = finder.find(sources[number])
    table = name.rpartition(":")[2]
    if table not in answer.tables:
        raise TrailEnd(f"the answer has no table {table} as it is declared now")
    frame = answer.tables[table]
    return TableCells(answer, table, frame, metadata_of(frame))


def _done(verb: str, arguments: dict[str, Any], inputs: Sequence[Made]) -> Made:
    """The result of a verb, replayed on the frames that went into it."""
    function, kind, names = VERBS[verb]
    given = {
        name: _frames(value, inputs) if name in names else _argument(value)
        for name, value in arguments.items()
    }
    if verb == "complete":
        given.setdefault("availability", None)
    problem = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AAToolkitWarning)
            frame = function(**given)
    except (AAToolkitError, LookupError, TypeError, ValueError) as error:
        problem = str(error)
    if problem:
        raise TrailEnd(f"{verb} cannot be replayed: {problem}")
    made: Made = kind(verb, frame, inputs, given)
    return made


def _frames(value: Any, inputs: Sequence[Made]) -> Any:
    if isinstance(value, list):
        return [inputs[number].frame for number in value]
    return None if value is None else inputs[value].frame


def _argument(value: Any) -> Any:
    """An argument as it was given, from its JSON value."""
    if isinstance(value, list):
        return [_argument(each) for each in value]
    if not isinstance(value, dict):
        return value
    (kind, body), *_ = value.items()
    if kind == "rule":
        facts: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in body.items()}
        return Aggregation(**facts)
    if kind == "grouper":
        return pd.Grouper(**body)
    if kind == "moment":
        return pd.Timestamp(body)
    return {name: _argument(each) for name, each in body.items()}
