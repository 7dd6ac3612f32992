"""Parts of a whole: shares, counts of rows by category, funnels and their stages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number
from aatoolkit.display.plot.data import Mask, PlotData
from aatoolkit.display.plot.drawn import Drawn, Place, drawn_of
from aatoolkit.display.plot.labels import capitalized, first_of, humanize, row_name, table_words
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import (
    NOT_GIVEN,
    NOT_MEASURED,
    style_without,
    why_missing,
    whys_missing,
)
from aatoolkit.display.plot.reduce import each_once
from aatoolkit.display.plot.rows import describe_mark, key, names_of, without_number
from aatoolkit.display.plot.spec import PITCH, Mark, Name, Panel, RowMarks, Scale, rows_of, rule
from aatoolkit.display.plot.style import (
    BLANK,
    OWN,
    REST_LEVEL,
    SERIES,
    UNMEASURED,
    styles_for,
)
from aatoolkit.sections.aggregation import FRACTION

_LACKING = (NOT_MEASURED, NOT_GIVEN)
"""The levels of rows without a value."""
_FEW_ROWS = 20
"""As few rows are read more easily in a table than as counts of them."""
_STAGES = ("crawled", "cited", "visited", "converted")
_STAGE = 0.76
"""The longest bar of a stage; each stage has a width of 1."""


def shares(data: PlotData, options: PlotOptions) -> Panel | None:
    """Columns that are shares of a whole: named ``*_share``, with sum 1 in each row."""
    x = options.x or data.label_column
    names = list(options.y) or [
        n for n in data.numbers if n.endswith("_share") and data.unit(n) == FRACTION
    ]
    if x is None or len(names) < 2 or data.frame.duplicated([x]).any():
        return None
    values = np.column_stack([data.values(name) for name in names])
    whole = values.sum(axis=1)
    if not np.allclose(whole[~np.isnan(whole)], 1, atol=0.01) or np.isnan(whole).all():
        return None
    sample = data.sample(names[0])
    sizes = data.values(sample) if sample else np.full(len(data), np.nan)
    order = np.argsort(np.where(np.isnan(sizes), np.inf, -sizes), kind="stable")
    order = order[: options.top or 15]
    labels = data.text(x)
    parts = pd.DataFrame(
        values[order],
        columns=[name.removesuffix("_share") for name in names],
        index=[labels[row] for row in order],
    )
    lacking: Mask = np.asarray(np.isnan(values[order]).all(axis=1))
    whys = [
        why_missing(data, names[0], int(row)) if gone else ""
        for row, gone in zip(order, lacking.tolist(), strict=True)
    ]
    words = ["" if np.isnan(n) else f"n={number(n)}" for n in sizes[order]]
    places = [[({x: label}, name) for name in names] for label in parts.index]
    what = f"Shares by {humanize(x)}: {', '.join(parts.columns)}"
    own = data.own()[order]
    return _stacked(
        "shares", data, Drawn(data.frame, tuple(names), tuple(dict.fromkeys((x, *data.keys)))),
        what + first_of(len(order), len(data) - len(order)), parts,
        [Name(label, "own" if mine else "") for label, mine in zip(parts.index, own, strict=True)],
        words, FRACTION, f"share; n: {humanize(sample)}" if sample else "", places, whys,
    )  # fmt: skip


def _stacked(
    kind: str, data: PlotData, drawn: Drawn, title: str, parts: pd.DataFrame,
    names: Sequence[Name], words: Sequence[str], unit: str | None, along: str,
    places: Sequence[Sequence[Place]], whys: Sequence[str],
) -> Panel:  # fmt: skip
    """A box for each part of each row, one after the other."""
    pieces = [str(name) for name in parts.columns]
    styles = styles_for(pieces)
    styles |= {piece: style_without(piece) for piece in pieces if piece in _LACKING}
    values = np.nan_to_num(parts.to_numpy(np.float64))
    ends = values.cumsum(axis=1)
    reach = float(ends[:, -1].max()) or 1.0 if len(ends) else 1.0
    marks = []
    for column, piece in enumerate(pieces):
        part, end = values[:, column], ends[:, column]
        rows = RowMarks(
            lambda row, piece=piece, part=part: (  # type: ignore[misc]
                f"{names[row].text}\n{humanize(piece)}: {number(part[row], unit)}"
                + (f"\nof {words[row]}" if words[row] else "")
            )
        )
        there = [places[row][column] for row in np.flatnonzero(part > 0).tolist()]
        marks.append(rows.boxes(part > 0, end, styles[piece], end - part, 0.7, places=there))
    marks += without_number(RowMarks(lambda row: names[row].text), whys)
    at = np.full(len(names), reach) if unit == FRACTION else ends[:, -1]
    marks.append(RowMarks().words([not why for why in whys], at, words))
    at_own = next((row for row, name in enumerate(names) if name.of), 0)
    texts = []
    for row in dict.fromkeys((0, at_own)):
        shown = [
            f"{piece} {number(float(values[row, column]), unit)}"
            for column, piece in enumerate(pieces)
            if values[row, column] > 0
        ]
        texts.append(f"{names[row].shown}: {', '.join(shown) or whys[row]}")
    legend = [(humanize(piece), key(styles[piece])) for piece in pieces] if len(pieces) > 1 else []
    room = 1.0 if unit == FRACTION else 1.02
    return Panel(
        kind, data, drawn, capitalized(title), "; ".join(texts),
        Scale(0.0, reach * room, unit=unit, label=along, is_whole=unit is None), rows_of(names),
        marks, legend=legend, height=PITCH * len(names), shared="x",
    )  # fmt: skip


def counts(data: PlotData, options: PlotOptions) -> Panel | None:
    """Counts of rows by one column, segmented by another."""
    if options.y or not len(data):
        return None
    x = options.x or _grouping(data, ())
    if x is None or data.kinds[x] in ("list", "number"):
        return None
    by = options.by or (None if options.x else _grouping(data, (x,)))
    is_chosen = bool(options.kind or options.x)
    if not (is_chosen or by) and data.metadata.key and len(data) <= _FEW_ROWS:
        return None
    columns = [x, *([by] if by else [])]
    whole, data = data, each_once(data, columns, columns)
    rows = pd.DataFrame({"x": _levels(data, x), "by": _segments(data, by) if by else "rows"})
    table = rows.value_counts(["x", "by"], sort=False).unstack(fill_value=0)
    if not is_chosen and _says_nothing(table):
        return None
    order = table.sum(axis=1).sort_values(ascending=False, kind="stable").index
    levels = table.sum().sort_values(ascending=False, kind="stable").index.to_list()
    # What is comes before what is not, and rows without a value are last.
    no = f"not {humanize(by)}" if by and data.kinds[by] == "flag" else None
    levels.sort(key=lambda level: (level in _LACKING, level == NOT_GIVEN, level == no))
    table = table.loc[order, pd.Index(levels, dtype=table.columns.dtype)]
    if len(levels) > len(SERIES):
        rest = table.iloc[:, len(SERIES) - 1 :].sum(axis=1)
        table = table.iloc[:, : len(SERIES) - 1].assign(**{REST_LEVEL: rest})
    kept = table.head(options.top or 12)
    own = {name for name, mine in zip(rows["x"], data.own(), strict=True) if mine}
    is_owned = x in ("brand", "advertiser")
    names = [Name(str(n), "own" if is_owned and n in own else "") for n in kept.index]
    # Rows that a join repeated are no number of the things that they were rows of.
    is_repeated = data is whole and data.table in data.metadata.repeated
    is_plain = is_repeated or data.table.startswith("statistics:")
    things = "rows" if is_plain else table_words(data) or "rows"
    what = f"number of {things} by {humanize(x)}" + (f" and {humanize(by)}" if by else "")
    places: list[list[Place]] = [
        [
            ({x: label, **({by: BLANK if level in _LACKING else level} if by else {})}, None)
            for level in map(str, kept.columns)
        ]
        for label in kept.index
    ]
    drawn = Drawn(data.frame, tuple(columns), tuple(dict.fromkeys((x, *data.keys))), counts=True)
    return _stacked(
        "counts", data, drawn, what + first_of(len(kept), len(table) - len(kept)),
        kept.astype(np.float64), names, [number(n) for n in kept.sum(axis=1).astype(float)],
        None, f"rows ({len(data):,} in all)", places, [""] * len(kept),
    )  # fmt: skip


def _says_nothing(table: pd.DataFrame) -> bool:
    """Whether all bars are of one length, and each of one colour."""
    is_one_length = len(table) > 1 and table.sum(axis=1).nunique() == 1
    return is_one_length and bool((table > 0).sum(axis=1).eq(1).all())


def _levels(data: PlotData, name: str) -> list[str]:
    """The levels of a column as words: a flag by its name."""
    words = data.text(name)
    if data.kinds[name] != "flag":
        return words
    yes, no = humanize(name), f"not {humanize(name)}"
    return [{"True": yes, "true": yes, "False": no, "false": no}.get(w, w) for w in words]


def _segments(data: PlotData, name: str) -> list[str]:
    """The levels of a column; those of rows without a value say whether it was measured."""
    levels, lacking = _levels(data, name), np.flatnonzero(data.frame[name].isna().to_numpy(bool))
    for row, why in zip(lacking, whys_missing(data, name, lacking.tolist()), strict=True):
        levels[row] = NOT_MEASURED if why == NOT_MEASURED else NOT_GIVEN
    return levels


def _grouping(data: PlotData, but: tuple[str, ...]) -> str | None:
    """The column that groups the rows best: the engine, else a category."""
    categories = [
        str(name)
        for name, dtype in data.frame.dtypes.items()
        if isinstance(dtype, pd.CategoricalDtype) and data.frame[name].nunique() > 1
    ]
    flags = [name for name in data.of_kind("flag") if data.frame[name].nunique() > 1]
    words = [n for n in data.of_kind("word") if 1 < data.frame[n].nunique() <= 12]
    if but:
        # Segments are what is found of each row, not another part of its key; whose a row is,
        # its mark says.
        others = [name for name in (*categories, *flags) if name not in (*but, "own")]
        told = [name for name in others if name not in data.keys] or others
        return told[0] if told else None
    engine = ["engine"] if "engine" in data.kinds else []
    brands = [name for name in ("brand",) if name in words]
    flags = [name for name in flags if name != "own"]
    only = data.keys if len(data.keys) == 1 else ()
    listed = (*engine, *brands, *categories, *flags, *words)
    return next((name for name in listed if name not in only), None)


def funnel(data: PlotData, options: PlotOptions) -> Panel | None:
    """The longest chain of counts in a row, each the whole of the next one's rate."""
    if len(data) != 1 or options.x or options.by:
        return None
    steps = options.y if options.kind and len(options.y) > 1 else None
    if not options.y:
        steps = _chain(data)
    if not steps:
        return None
    values = np.array([float(data.values(name)[0]) for name in steps])
    of = [""] + [
        f" ({number(now / before, FRACTION)} of those)" if before > 0 and now == now else ""
        for before, now in pairwise(values)
    ]
    reach = float(np.nanmax([*values, 0])) or 1.0
    there = ~np.isnan(values)
    whys = ["" if n == n else why_missing(data, s, 0) for s, n in zip(steps, values, strict=True)]
    titles = [capitalized(humanize(name)) for name in steps]
    rows = RowMarks(lambda row: describe_mark(data, steps[row], 0, titles[row]))
    marks = [
        rows.boxes(there, values, OWN, places=[(0, steps[row]) for row in np.flatnonzero(there)]),
        *without_number(rows, whys),
        rows.words(there, values, [number(n) + part for n, part in zip(values, of, strict=True)]),
    ]
    title = capitalized(f"from {humanize(steps[0])} to {humanize(steps[-1])}")
    finding = [
        f"{humanize(name)} {'not measured' if np.isnan(value) else number(value)}{part}"
        for name, value, part in zip(steps, values, of, strict=True)
    ]
    return Panel(
        "funnel",
        data,
        drawn_of(data, steps),
        f"{row}: {title}" if (row := row_name(data)) else title,
        "; ".join(finding),
        Scale(0.0, reach * 1.02, "number" if there.any() else "none"),
        rows_of([*map(Name, titles)]),
        marks,
        height=PITCH * 1.5 * len(steps),
        is_wide=True,
    )


def _chain(data: PlotData) -> tuple[str, ...]:
    """The longest chain of counts that rates link."""
    follows = {
        rule.over[1]: rule.over[0]
        for name in reversed(data.numbers)
        if (rule := data.rule(name)) and rule.over and data.unit(name) == FRACTION
    }
    chains = []
    for start in (name for name in follows if name not in follows.values()):
        chain = [start]
        while chain[-1] in follows and follows[chain[-1]] not in chain:
            chain.append(follows[chain[-1]])
        chains.append(tuple(chain))
    return max(chains, key=lambda c: (len(c), -data.numbers.index(c[0])), default=())


def stages(data: PlotData, options: PlotOptions) -> Panel | None:
    """The stages from crawled to converted, each on a scale of its own; None for other frames."""
    if options.x or options.y or options.by or not data.table.startswith("statistics:funnel"):
        return None
    if not all(name in data.kinds for name in (*_STAGES, "method")) or not data.keys:
        return None
    most = options.top or (31 if data.times else 15)
    rows = data.sorted_by([*range(min(most, len(data)))])
    labels = rows.text(rows.keys[0])
    marks: list[Mark] = [rule(range(4), size=0.6)]
    for at, name in enumerate(_STAGES):
        values = rows.values(name)
        largest = 1.0 if np.isnan(values).all() else float(np.nanmax(values)) or 1.0
        there, none = ~np.isnan(values), "not measured" if np.isnan(values).all() else "no number"
        words = [none if n != n else number(n) for n in values.tolist()]
        of = RowMarks(
            lambda row, name=name, words=words: f"{labels[row]}\n{name}: {words[row]}",  # type: ignore[misc]
            name,
        )
        end = at + _STAGE * values / largest
        marks += [
            of.boxes(there, end, OWN, at, 0.66),
            of.boxes(~there, at + _STAGE, UNMEASURED, at, 0.66),
            of.words(there, end, words, 3),
            of.words(~there, float(at), words, 3, has_paper=True),
        ]
    is_missing = bool(rows.frame[list(_STAGES)].isna().any(axis=None))
    units = [rows.unit(name) or "" for name in _STAGES]
    heads = [Name(f"{capitalized(n)} ({u})") for n, u in zip(_STAGES, units, strict=True)]
    texts = []
    for row, label in enumerate(labels[:5]):
        shown = [float(rows.values(name)[row]) for name in _STAGES]
        words = [
            f"{name} {'not measured' if np.isnan(n) else number(n)}"
            for name, n in zip(_STAGES, shown, strict=True)
        ]
        texts.append(f"{label}: {', '.join(words)}")
    scale = "Each stage has a scale of its own: requests, answers and visits are not of one kind."
    return Panel(
        "stages",
        rows,
        drawn_of(rows, _STAGES),
        "From crawled to converted" + first_of(len(rows), len(data) - len(rows)),
        "; ".join(texts),
        Scale(0.0, 4.0, "names", names=tuple(heads), is_above=True),
        rows_of(names_of(rows, labels)),
        marks,
        [
            scale + (" Hatched: no number, which is not 0." if is_missing else ""),
            f"{capitalized(rows.text('method')[0])}.",
        ],
        height=PITCH * len(rows),
        is_wide=True,
    )
