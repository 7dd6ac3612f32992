"""Pictures in the form of tables: key figures, funnels, states, statistics and texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from aatoolkit._util.defaults import LEVEL
from aatoolkit._util.numbers import number, signed
from aatoolkit._util.text import capitalized, counted, humanize, joined
from aatoolkit.availability import Status
from aatoolkit.display.plot.data import (
    APART,
    CONTEXT,
    NAMES,
    OWNER_COLUMNS,
    Options,
    PlotData,
    missing_reasons,
    per_column,
    shares_of_range,
    whiskers,
)
from aatoolkit.display.plot.rows import (
    FAR,
    NAN,
    Cell,
    missing_style,
    names_of,
    pairs_of,
    row_panel,
    scale_for,
    size_texts,
)
from aatoolkit.display.plot.spec import NONE, Mark, Name, Spec, WordColumn, floats, line_segments
from aatoolkit.display.plot.style import (
    BAD,
    BLANK,
    GOOD,
    INK,
    NO_NUMBER,
    OWN,
    REST,
    STATUS_WORDS,
    UNMEASURED,
    Style,
    Texts,
    column_title,
    in_words,
    styles_for,
)
from aatoolkit.sections.aggregation import FRACTION, FRACTION_CHANGE, RANK, SCORE
from aatoolkit.stats.interval import Bounds
from aatoolkit.stats.results import CANNOT_SAY, CHANGE_WORDS, NO_EVIDENCE, UP

# --- key figures ------------------------------------------------------------------------------

_OF_100 = " (0 to 100)"


class Card(NamedTuple):
    """A key figure as texts: its label, value, change, interval and sample size.

    If the value is a state, such as ``passed``, its symbol ``sign`` is drawn before it.
    """

    label: str
    value: str
    change: str = ""
    interval: str = ""
    sample: str = ""
    sign: Style | None = None

    @property
    def measure(self) -> str:
        """The name of the measure, such as ``share_of_voice``, made from the label."""
        return self.label.partition(" (")[0].lower().replace(" ", "_")


def figures(data: PlotData, options: Options) -> Spec | None:
    """Return a picture with a row per key figure, such as an overview; None if the data do not fit.

    For a frame with a single row, each column is a key figure.
    """
    is_single = len(data) == 1 and not options.x
    cards, columns = (_row_cards if is_single else key_figures)(data, options)
    if not cards:
        return None
    if data.overall_availability.status == Status.UNAVAILABLE:
        return empty(data.first(0), options)
    drawn = cards[: options.max_rows(12)]
    title = capitalized(data.table_words or ", ".join(map(humanize, columns)))
    name = ", ".join(data.constants().values())
    state = "" if is_single else next(filter(data.has_states, data.kinds), "")
    if is_single:
        leads = [
            f"{card.label} {card.value}" for card in cards
            if (card.sign or OWN) not in (OWN, REST) or "%" in card.value or _OF_100 in card.label
        ]  # fmt: skip
        leads.sort(key=lambda lead: "%" not in lead)
        if "verdict" in data.kinds and data.is_result:
            leads = [capitalized(data.texts("verdict")[0].partition(" (")[0])]
        headline = ": ".join(filter(None, [name, *leads[:1]])) * bool(leads)
    else:  # changes in percentage points are changes of rates
        leads = [f"{label} {value} ({change})" for label, value, change, *_ in drawn
                 if change.endswith("pp")]  # fmt: skip
        headline = _state_counts(data, state) if state else ", ".join(leads[:2])
    if name not in headline:
        title = f"{name}: {title}"
    labels, *texts, signs = zip(*drawn, strict=True)
    day_lines = []
    # The daily values are those of the whole; parts of it have no line.
    for row, card in enumerate(drawn if data.keys == ["metric"] and not name else ()):
        # A line of a few numbers in the row, which breaks where there is none.
        heights = row + 0.3 - 0.6 * shares_of_range(data.daily_values(card.measure))
        if heights.size and not np.isnan(data.values(columns[0])[row]):
            day_lines.append(Mark("line", np.linspace(0, 1, len(heights)), heights, OWN, size=1.2))
    how_to_read = "Lines: by day. " * bool(day_lines)
    if any(texts[2]) and not data.is_result:
        how_to_read += "Intervals: as if counts were independent"
    has_words = not {*columns} <= {*data.of_kind("number")}
    beside = [
        WordColumn(words, heading, "left" if has_words else "right", heading == "value",
                   signs if any(signs) and heading == "value" else ())
        for heading, words in zip(
            ("value", "change", f"{LEVEL:.0%} interval", "sample"), texts, strict=True
        )
        if any(words)
    ]  # fmt: skip
    if state:
        beside.append(_word_column(data.first(len(drawn)), state))
    return row_panel(
        "figures" if {*columns} & {*data.numbers} else "table", data, title,
        [*map(Name, labels)], (), NONE, columns, total=len(cards), beside=beside,
        over=day_lines, headline=headline, how=how_to_read.removesuffix(". "),
    )  # fmt: skip


def _cards(
    data: PlotData,
    labels: Texts,
    name: str,
    earlier_column: str = "",
    *,
    intervals: Bounds | None = None,
) -> list[Card]:
    """Return a `Card` (key figure as texts) for each row: the value in the column ``name``.

    If ``earlier_column`` is given, the card also has the change since then.
    """
    bounds = intervals or whiskers(data, name)
    return [
        Card(
            f"{label} (1 is best)" if unit == RANK else label,
            why or number(value, unit),
            signed(value - earlier, unit) if value + earlier == value + earlier else "",
            f"{number(low, unit)} to {number(high, unit)}" if low + high == low + high else "",
            sample * (unit in (FRACTION, RANK, SCORE)),
        )
        for label, value, earlier, unit, sample, why, low, high in zip(
            labels, data.values(name),
            data.values(earlier_column) if earlier_column else floats([NAN] * len(data)),
            data.units(name), size_texts(data, data.sample_column(name)),
            missing_reasons(data, name), bounds.low, bounds.high, strict=True,
        )
    ]  # fmt: skip


def _row_cards(data: PlotData, options: Options) -> tuple[list[Card], Texts]:
    """Convert a frame with a single row to one `Card` (key figure) per column.

    Returns the cards, and the names of the columns.
    """
    is_result = data.is_result and not options.y
    excluded = (*data.constants(), *CONTEXT, *OWNER_COLUMNS)
    # In a result of statistics, the interval belongs to the number before it.
    names = [*data.kinds]
    estimate = names[names.index("low") - 1] if is_result and "low" in names else ""
    if is_result:
        # Columns such as the p-value are no key figures, but describe one.
        about = NAMES["about_results"]
        names = [name for name in data.numbers if name.rpartition("_")[2] not in about]
    # States first, then numbers.
    names.sort(key=lambda name: (not data.has_states(name), data.kinds[name] != "number"))
    # Words are left out where there are none; a number says why it is missing.
    columns = options.y or [
        name for name in names if name not in excluded
        and (data.kinds[name] == "number" or data.texts(name)[0] not in (BLANK, "", "[]", "()"))
    ]  # fmt: skip
    cards = []
    for name in columns:
        words, intervals = _word_column(data, name), None
        if data.kinds[name] != "number":
            cards.append(Card(words.heading, words.words[0], sign=next(iter(words.signs), None)))
            continue
        if name == estimate:
            intervals = Bounds(data.values("low"), data.values("high"))
        label = f"{words.heading}{_OF_100 * (data.unit(name) == SCORE)}"
        cards += _cards(data, [label], name, intervals=intervals)
    return cards, columns


def key_figures(data: PlotData, options: Options) -> tuple[list[Card], Texts]:
    """Convert each row to a `Card` (key figure), if the rows are different metrics; else no cards.

    Returns the cards, and the names of the columns that they show.
    """
    x, columns = options.x or data.label_column, options.y
    if not columns:
        # The number and the earlier number; metrics without an earlier number have only theirs.
        alone = [n for n in data.numbers if data.unit_column(n) and "control" not in n][:1]
        columns = next(pairs_of(data), alone)
    if x is None or len(columns) not in (1, 2) or (options.y and not options.kind):
        return [], ()
    now_column = columns[-1]
    is_of_units = data.unit_column(now_column) is not None or x == "metric" or options.kind
    if not is_of_units or not data.has_one_row_per(x):
        return [], ()
    labels = [*map(capitalized, data.row_labels(x))]
    if "metric" in data.kinds and x != "metric":
        labels = [*map("{} · {}".format, labels, data.labels("metric"))]
    return _cards(data, labels, now_column, *columns[:-1]), columns[::-1]


# --- tables of states and of text -------------------------------------------------------------

_ROWS, _TEXT_ROWS, _COLUMNS = 15, 10, 4


def states(data: PlotData, options: Options) -> Spec | None:
    """Return a table in which states, such as ``passed``, have symbols; None if none are found."""
    x = options.x or data.label_column
    if x is None or options.color or options.y or not data.has_one_row_per(x):
        return None
    is_nameless = data.is_bare_key(x) or bool(data.frame[x].isna().any())
    if not options.kind and (len(data) > _ROWS or data.measures or is_nameless):
        return None
    columns = table_columns(data, x)
    if not (columns and _is_state(data, columns[0])):
        return None
    return _table("verdicts", data, options, columns, x, _state_counts(data, columns[0]))


def _is_state(data: PlotData, name: str) -> bool:
    # Own brands and sites are marked by their names.
    return name not in OWNER_COLUMNS and (data.kinds[name] == "flag" or data.has_states(name))


def table_columns(data: PlotData, x: str | None = None, most: int = _COLUMNS) -> list[str]:
    """Return at most ``most`` columns to show in a table; with ``x``, states come first."""
    excluded = (*CONTEXT, *((x, *APART, *data.keys) if x else ()))
    columns = [
        name for name, kind in data.kinds.items()
        if name not in excluded and (kind == "number" or data.frame[name].notna().any())
    ]  # fmt: skip
    # Constants and identifiers without a title come last, and of equal columns one is enough.
    rows = data.first(99)
    columns.sort(key=lambda name: (
        bool(x) and not _is_state(data, name), len({*cell_texts(rows, name)}) < 2,
        rows.is_bare_key(name), name in OWNER_COLUMNS,
    ))  # fmt: skip
    columns = [*{tuple(cell_texts(rows, name)): name for name in columns}.values()]
    numbers = [name for name in columns if data.kinds[name] == "number"]
    words = [name for name in columns if name not in numbers]
    words = words[: most - min(len(numbers), most // 2)]
    # Rows that have the same words are told apart by their key.
    are_alike = not x and rows.frame[words].astype(str).duplicated().any()
    keys = [name for name in columns if are_alike and name in data.keys]
    return [*dict.fromkeys([*keys, *words, *numbers])][:most]


def _state_counts(data: PlotData, name: str) -> str:
    """Return a text with the number of rows in each state, such as "Result: 5 passed, 2 failed"."""
    counts = Counter(_word_column(data, name).words)
    texts = [f"{count} {state}" for state, count in counts.most_common(4)]
    if {*counts} <= {"yes", "no"}:
        texts = [f"{counts['yes']} of {len(data)}"]
    return f"{column_title(name)}: {', '.join(texts)}"


def stages(data: PlotData, options: Options) -> Spec | None:
    """Return a table of the stages of a funnel; None if the frame is no funnel."""
    if options.is_chosen or not data.table.startswith("statistics:funnel"):
        return None
    columns = [name for name in data.numbers if name != "n"]
    return _table("stages", data, options, columns, data.keys[0])


def _table(
    kind: str, data: PlotData, options: Options, columns: Texts, x: str | None = None,
    headline: str = "",
) -> Spec:  # fmt: skip
    """Return the `Spec` (chart description) of a table: the first rows of ``columns``."""
    rows = data.first(options.max_rows(_ROWS if x else _TEXT_ROWS))
    names = names_of(rows, x) if x else [Name("")] * len(rows)
    title = data.table_words or ", ".join(map(humanize, columns)) or "no columns"
    if x:
        title += f" by {humanize(data.row_noun(x))}"
    return row_panel(
        kind, rows, capitalized(title), names, (), NONE, columns, total=len(data),
        headline=headline, beside=[_word_column(rows, name) for name in columns],
    )  # fmt: skip


def _word_column(data: PlotData, name: str) -> WordColumn:
    """Return a column as a `WordColumn`: its texts, with a coloured symbol before each state."""
    words, reasons, shown = data.texts(name), missing_reasons(data, name), cell_texts(data, name)
    styles = styles_for(words, states=True) if data.has_states(name) else {}
    if data.kinds[name] == "flag":
        styles = {"True": OWN, "False": REST}
    signs = [missing_style(reason) if reason else styles.get(word)
             for reason, word in zip(reasons, words, strict=True)] if styles else ()  # fmt: skip
    shown = [(reason if signs else "–") if reason else text
             for reason, text in zip(reasons, shown, strict=True)]  # fmt: skip
    align = "right" if data.kinds[name] in ("number", "code") else "left"
    return WordColumn(shown, column_title(name), align, signs=signs)


def empty(data: PlotData, options: Options) -> Spec:
    """Return a table of the first rows as text, or a note why the frame has no rows."""
    if len(data):
        return _table("table", data, options, table_columns(data) or [*data.kinds])
    status, reason = data.overall_availability.status, data.overall_availability.reason or ""
    rows_note = ", with no rows" if status != Status.UNAVAILABLE else ""
    message = f"{STATUS_WORDS[status]}{rows_note}. {in_words(joined(reason))}".strip()
    style = UNMEASURED if status in (Status.PARTIAL, Status.UNAVAILABLE) else NO_NUMBER
    end, middle = floats(FAR), floats(0.5)
    marks = [
        Mark("boxes", -end, middle, style, to=end, size=FAR),
        Mark("words", middle, middle, words=[capitalized(message)], shift=0),
    ]
    return Spec(
        "empty",
        data,
        (),
        capitalized(data.table_words) or "No rows",
        NONE,
        NONE,
        marks,
        height=90.0,
    )


@per_column
def cell_texts(data: PlotData, name: str) -> Texts:
    """Return the values of a column as a list of short texts."""
    if data.kinds[name] == "number":
        return [*map(number, data.values(name), data.units(name))]
    texts = data.labels(name)
    if data.kinds[name] == "flag":
        texts = [{"True": "yes", "False": "no"}.get(text, text) for text in texts]
    elif data.kinds[name] == "list":
        # Commas would not tell apart sentences.
        texts = [" · ".join(map(str, value)) if np.iterable(value) and not isinstance(value, str)
                 else str(value) for value in data.series[name]]  # fmt: skip
    return texts


# --- results of statistics --------------------------------------------------------------------


_DEFAULT, *_OTHERS = json.loads(Path(__file__).with_name("results.json").read_bytes()).items()
RESULTS = {verb: SimpleNamespace(**_DEFAULT[1] | row) for verb, row in _OTHERS}
"""How each kind of picture of a statistic is drawn: per row a number, its interval, and a text.

The first entry of the file has the default of each of these attributes:

- ``verb``: the beginning of the name of the result's table; empty for any method of ``df.aa``.
- ``value``, ``low``, ``high``: the columns with the number and the ends of its interval.
- ``tick``: the column of numbers that are drawn as short strokes; empty for none.
- ``title``, ``axis``: the template of the title, and the label of the axis of numbers.
- ``how``: the caption, which says what the symbols in the picture mean.
- ``words``: a format string for the text beside a row; its fields are columns.
- ``names``, ``join``: the columns that name a row (by default the key), and the separator
  between their values.
- ``nothing``: the name of a row in which these columns are empty.
- ``colour``: which rows are coloured: ``all``, only the ``certain`` ones (``low`` equals
  ``high``), or each by its ``verdict``.
- ``is_change``: whether the numbers are changes, which are written with their sign.
- ``has_lead``: whether the text of the first row is the headline.
- ``needs``: the columns that the frame must have.
- ``is_comparison``: whether the rows are several comparisons, perhaps in several units.
"""


_VERDICTS = {UP: GOOD, NO_EVIDENCE: REST, CANNOT_SAY: REST, "no interval": REST}
"""The style of each verdict, where a result is coloured by verdict; any other verdict is bad."""


def result(kind: str, data: PlotData, options: Options) -> Spec | None:
    """Return the picture of a statistic's result, as `RESULTS` declares it; else None."""
    plot = RESULTS[kind]
    is_of_verb = data.table.startswith(plot.verb) and {*plot.needs} <= data.kinds.keys()
    if options.is_chosen or not is_of_verb:
        return None
    unit, undrawn_count = data.unit(plot.value), len(data)
    if "unit" in data.kinds and plot.is_comparison:
        # Changes in several units have no scale in common.
        row_units = np.array(data.texts("unit"), object)
        unit = Counter(row_units).most_common(1)[0][0]
        data = data.rows_at(np.flatnonzero(row_units == unit))
    undrawn_count -= len(data)
    rows = data.first(options.max_rows(20))
    texts = {name: cell_texts(rows, name) for name in rows.kinds}
    for name in {"measure", "name"} & texts.keys():
        texts[name] = [*map(in_words, texts[name])]
    verdicts = texts.get("verdict") or ["no interval"] * len(rows)
    is_undecided = np.array(verdicts) == CANNOT_SAY
    value, low, high, tick = (
        np.where(is_undecided, NAN, rows.values(name) if name else NAN)
        for name in (plot.value, plot.low, plot.high, plot.tick)
    )  # fmt: skip
    if plot.is_change:
        texts[plot.value] = [signed(n, unit) for n in value]
    keys = [n for n in rows.metadata.key or rows.keys[:2] if n in rows.kinds and n != "verdict"]
    naming_columns = [*filter(rows.varies, keys)] or keys
    columns = zip(*(texts[name] for name in plot.names or naming_columns), strict=True)
    # A row without a name is about all prompts, or is the group without a topic, "(none)".
    labels = [plot.join.join(word for word in dict.fromkeys(row)
                             if word != BLANK or not (plot.names or "all prompts" in row))
              or plot.nothing for row in columns]  # fmt: skip
    labels = labels or [plot.nothing] * len(rows)
    cells, row_texts = [], []
    for row, verdict in enumerate(verdicts):
        ends = value[row], low[row], high[row]
        text = plot.words.format(**{name: column[row] for name, column in texts.items()})
        style = _VERDICTS.get(verdict, BAD) if plot.colour == "verdict" else OWN
        if unit == RANK and plot.is_change and verdict in CHANGE_WORDS:
            # A higher position is worse.
            style, judgement = (BAD, "worse") if verdict == UP else (GOOD, "better")
            text += f", which is {judgement}"
        if plot.colour == "certain" and ends[1] != ends[2]:
            style = REST
        reason = "" if np.isfinite(ends).any() else verdict.partition(" (")[0]
        row_texts.append(text * (not reason))
        cells.append(Cell(row, ends[0], style, 0.0, *ends[1:], kind="dots", why=reason,
                          tip=f"{labels[row]}\n{reason or text}"))  # fmt: skip
    headline = f"{labels[0]}: {row_texts[0] or cells[0].why}".replace("  ", ", ")
    headline *= plot.has_lead or len(rows) == 1
    headline = capitalized(headline) if plot.names or "measure" in texts else headline
    if plot.is_comparison and len(rows) > 1:
        change_count = sum(verdict in CHANGE_WORDS for verdict in verdicts)
        headline = f"{change_count} of {len(rows)}" if change_count else "Nothing is"
        headline += " shown to have changed"
        headline = "It cannot be said what changed" if is_undecided.all() else headline
    elif not plot.names and not keys and "verdict" in texts:
        headline = capitalized(verdicts[0].partition(" (")[0])
    measures = {*texts.get("measure", ())}
    by_texts = [humanize(n) for n in naming_columns if n != "measure"]
    title = plot.title.format(
        by=f" by {' and '.join(by_texts)}" * bool(by_texts),
        measure=measures.pop() if len(measures) == 1 else "measures",
    )  # fmt: skip
    at = np.arange(len(rows))
    label = plot.axis + ", lower is better" * (unit == RANK and plot.is_change)
    scale = scale_for(
        np.concatenate([value, low, high, tick]),
        {FRACTION: FRACTION_CHANGE, RANK: None}.get(unit or "", unit) if plot.is_change else unit,
        1.04, label=label, is_whole=unit == RANK,
    )  # fmt: skip
    low_column = data.column(plot.low or plot.value)
    level_match = re.search(r"\d+%", low_column.doc if low_column else "")
    assumption_match = re.search("takes .+? for independent", "; ".join(texts.get("method", ())))
    return row_panel(
        kind, rows, title, names_of(rows, [*rows.kinds, *naming_columns][-1], labels), cells, scale,
        [plot.value], total=len(data),
        headline=headline, beside=[WordColumn(row_texts)],
        over=[line_segments(tick, tick, at - 0.28, at + 0.28, INK, 1.6)],
        how=plot.how.format(level=f"{level_match[0]} " if level_match else "")
        + (f". The test {assumption_match[0]}" if assumption_match else ""),
        n=f"not drawn, in other units: {counted(undrawn_count, 'change')}" * bool(undrawn_count),
    )  # fmt: skip
