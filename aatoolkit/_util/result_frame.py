"""`ResultFrame`: a DataFrame of results that shows key, numbers and verdict where room is short."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from aatoolkit._util.html_table import table_html
from aatoolkit._util.listing import cell_text
from aatoolkit._util.sorted_frame import SortedFrame
from aatoolkit._util.terminal import terminal_width
from aatoolkit._util.text import visible

_ROWS = 60
"""How many rows are shown."""

_GAP = 2
_SENTENCE = 30
"""The narrowest column of sentences that can be read."""

_CELL = 40
"""Longer cells are wrapped in a notebook."""

_LATER = ("p_adjusted", "n")
"""Numbers that are shown where there is room."""

_WORDS = 20
"""Longer verdicts are sentences."""

_REASONS = 4
"""How many different reasons are listed below the table."""

_RANGES = 8
"""How many runs of rows are named; beyond it, they are counted."""

_PAGE = 110
"""How many characters of a table are in sight in a notebook, beside each other."""

_LEAST = 12
"""Where the column that rows are sorted by needs the room, a key is cut, to no less than this."""

_FILL = ("detectable", "p", "n_before", "n_baseline", "clusters", "deff")
"""Numbers that are shown in a notebook where there is room, besides what matters most."""

_DETAILS = (
    "method",
    "why",
    "unit",
    "p",
    "n_before",
    "n_baseline",
    "clusters",
    "detectable",
    "deff",
)


class ResultFrame(SortedFrame):
    """A DataFrame of results: in a terminal its key, its numbers and its verdict are in sight.

    It is a `pandas.DataFrame` in all it does. Where pandas would leave out columns in the middle or
    cut sentences, it shows what matters of each row, with the column that the rows are sorted by,
    names the columns that are left out, and says why there is no verdict. A result without a
    verdict is shown by pandas.

    Examples
    --------
    >>> why = "nothing says how mentions vary between prompts, as the section was not read"
    >>> ResultFrame({"brand": ["Acme"], "change": [0.02795], "verdict": "cannot say", "why": why})
       brand   change  verdict
    0  Acme   0.02795  cannot say
    cannot say: nothing says how mentions vary between prompts, as the section was
    not read
    not shown: why
    """

    @property
    def _constructor(self) -> type[ResultFrame]:
        return ResultFrame

    def __repr__(self) -> str:
        width = terminal_width()
        if self._verdict is None or self._is_short(width):
            return pd.DataFrame(self).__repr__()
        constant, columns, verdict, sentences, shown = self._layout(width)
        if sentences:
            lines = _with_lines_below([*columns, *verdict], sentences, width)
        else:
            room = max(width - _width(columns) - _GAP, min(_SENTENCE, max(map(len, verdict[0]))))
            lines = _lines([*columns, *verdict], room)
        return "\n".join([*constant, *lines, *self._notes(shown, width)])

    def _repr_html_(self) -> str:
        if self._verdict is None or not len(self):
            return str(pd.DataFrame(self)._repr_html_())  # type: ignore[operator]
        constant, columns, verdict, sentences, shown = self._layout(_PAGE, _FILL)
        named = [str(name) for name in self.columns]
        numbers = [at for at, text in enumerate(columns) if text[0].strip() in self._numbers]
        heads, *rows = (
            [cell.strip() for cell in row] for row in zip(*columns, *verdict, strict=True)
        )
        table = table_html(
            heads, rows, numbers=numbers, labels=1, unbroken=_CELL, below=sentences[1:]
        )
        whole = [list(row) for row in zip(*map(self._texts, named), strict=True)]
        notes = self._notes(shown, 10_000)[:-1]
        above, below = ("".join(f"<p>{html.escape(n)}</p>" for n in ns) for ns in (constant, notes))
        fold = (
            f"<details><summary>all {self.shape[1]} columns</summary>"
            f"{table_html(whole[0], whole[1:])}</details>"
        )
        fold = fold if {*named} - {*shown} else ""
        return f'<div class="tex2jax_ignore">{above}{table}{below}{fold}</div>'

    def _layout(
        self, width: int, fill: Sequence[str] = ()
    ) -> tuple[list[str], list[list[str]], list[list[str]], list[str], list[str]]:
        """Choose what of the result is shown in so many characters, as texts with their headers.

        Where all that matters fits, columns of ``fill`` follow that fit as well.

        Returns
        -------
        constant : list of str
            The parts of the key that are the same in all rows, a line each.
        columns : list of list of str
            Index, key and numbers.
        verdict : list of list of str
            The column of verdicts, or none where they are the sentences.
        sentences : list of str
            What is on a line below each row; empty if nothing is.
        shown : list of str
            The names of all columns that are shown.
        """
        constant = self._constant
        shown = [name for name in self._essential if name not in constant]
        texts = {name: self._texts(name) for name in shown}
        index, keys, verdict = _index_texts(self.head(_ROWS)), self._key_size, shown[-1]
        keys -= len(constant)
        covered: list[str] = []
        order = [name for name in shown[:-1] if name in self._order]
        longest = max(map(len, texts[verdict]))
        beside = min(longest, max(_SENTENCE, len(texts[verdict][0])))
        needed = [name for name in shown[:-1] if name not in _LATER or name in order]
        fits = _width([index, *(texts[name] for name in needed)]) + _GAP + beside <= width
        sentences: list[str] = []
        if not fits and longest > _WORDS:
            sentences = texts[verdict]
        elif not fits and "why" in self.columns:
            room = width - _GAP - beside
            if keys > 1 and _width([index, *(texts[name] for name in needed[: keys + 3])]) > room:
                joined = " ".join(shown[:keys])
                texts[joined] = self._joined(shown[:keys])
                shown, covered, keys = [joined, *shown[keys:]], shown[:keys], 1
            if _width([index, *(texts[name] for name in shown[:2])]) > room:
                shown, sentences = [*shown[:-1][:1], verdict], self._texts("why")
        order = [name for name in order if name not in covered]
        shown = [*shown[:-1], *(name for name in order if name not in shown), verdict]
        beside = 0 if sentences == texts[verdict] else beside + _GAP
        room = width - beside
        if keys and order:
            rest = [name for name in order if name != shown[0]]
            left = room - _width([index, *(texts[name] for name in rest)]) - _GAP
            texts[shown[0]] = [_cut(text, max(left, _LEAST)) for text in texts[shown[0]]]
        kept = [name for name in shown[:-1] if name in order]
        for name in (name for name in shown[:-1] if name not in order):
            if _width([index, *(texts[each] for each in (*kept, name))]) > room:
                break
            kept.append(name)
        kept.sort(key=shown.index)
        if kept and kept[-1] == "low" and "low" not in order:
            kept.pop()  # one end alone says little
        is_all = len(kept) == len(shown) - 1
        for name in (each for each in fill if is_all and each in self.columns):
            texts[name] = self._texts(name)
            if _width([index, *(texts[each] for each in (*kept, name))]) <= width - beside:
                kept.append(name)
        columns = [index, *(texts[name] for name in kept)]
        kept += [verdict, *constant, *covered, *(["why"] if beside and sentences else [])]
        return [*constant.values()], columns, [texts[verdict]] if beside else [], sentences, kept

    @property
    def _numbers(self) -> set[str]:
        names = [str(name) for name in self.columns]
        return {visible(n) for n in names if pd.api.types.is_numeric_dtype(self[n].dtype)}

    @property
    def _verdict(self) -> str | None:
        """The column of verdicts, if there is one."""
        named = [str(name) for name in self.columns]
        found = [name for name in named if name == "verdict" or name.endswith("_verdict")]
        return found[0] if len(found) == 1 and len(set(named)) == len(named) else None

    @property
    def _key_size(self) -> int:
        """The number of leading columns that are the key: all before the first number."""
        for at, name in enumerate(self._essential):
            if pd.api.types.is_numeric_dtype(self[name].dtype) or name == self._verdict:
                return at
        return 0

    @property
    def _essential(self) -> tuple[str, ...]:
        """The columns that matter, the verdict last."""
        verdict = self._verdict
        named = [str(name) for name in self.columns]
        details = (name for name in named if name in _DETAILS or name.endswith(_ENDINGS))
        less = [name for name in details if name not in self._order]
        return (*(name for name in named if name not in (*less, verdict)), str(verdict))

    @property
    def _order(self) -> tuple[str, ...]:
        """The columns that the rows are sorted by: as asked, or by the change, as results come."""
        return self._sorted_by or ("change",)

    def _texts(self, name: str) -> list[str]:
        """The name of a column and its cells as text, numbers with four digits."""
        values = self[name].head(_ROWS)
        if pd.api.types.is_datetime64_any_dtype(values.dtype):
            return [visible(name), *(str(each).removesuffix(" 00:00:00") for each in values)]
        if not pd.api.types.is_numeric_dtype(values.dtype):
            return [visible(name), *map(cell_text, values)]
        digits = f".{_digits(values)}f"
        if "unit" in self.columns and self["unit"].nunique(dropna=False) > 1:
            digits = ".3g"
        whole = not pd.api.types.is_float_dtype(values.dtype)
        cells = [cell_text(v) if whole or pd.isna(v) else f"{v:{digits}}" for v in values]
        size = max(map(len, (name, *cells)))
        return [each.rjust(size) for each in (visible(name), *cells)]

    def _joined(self, names: Sequence[str]) -> list[str]:
        """The header and the cells of several columns of the key as one column."""
        rows = self[[*names]].head(_ROWS).itertuples(index=False, name=None)
        cells = (" ".join(cell_text(each) for each in row if not pd.isna(each)) for row in rows)
        return [" ".join(map(visible, names)), *cells]

    def _corrected(self) -> str:
        """Say why there is no evidence though an interval leaves 0 out, of rows that do so."""
        names = ("low", "high", "p_adjusted")
        if not {*names, "verdict"} <= {*map(str, self.columns)}:
            return ""
        low, high, p = (self[name].to_numpy(np.float64, na_value=np.nan) for name in names)
        beyond = (low * high > 0) & self["verdict"].eq("no evidence").fillna(False).to_numpy(bool)
        if not beyond.any():
            return ""
        least = f"{p[beyond].min():.2g}{' or more' * (int(beyond.sum()) > 1)}"
        return (
            f"no evidence ({row_ranges(self.index, beyond)}) though the interval, which is of its "
            f"row alone, leaves out 0: adjusted for all rows that were compared, p is {least}"
        )

    def _is_short(self, width: int) -> bool:
        """Whether pandas shows all of it."""
        if not len(self) or len(self) > _ROWS:
            return not len(self)
        texts = [[str(name), *map(cell_text, self[name])] for name in self.columns]
        longest = pd.get_option("display.max_colwidth") or 10_000
        whole = all(len(text) < longest for column in texts for text in column)
        return whole and _width([_index_texts(self), *texts]) <= width

    @property
    def _constant(self) -> dict[str, str]:
        """The parts of the key that are the same in all rows, each as a line."""
        names = self._essential[: self._key_size]
        same = [
            name
            for name in names
            if (len(self) > 1 or name.endswith("host")) and self[name].nunique(dropna=False) == 1
        ]
        return {
            name: f"{visible(name)}: {cell_text(self[name].iloc[0])}"
            for name in same[: len(names) - 1]
        }

    def _notes(self, shown: Sequence[str], width: int = 80) -> list[str]:
        notes = [f"… {len(self) - _ROWS:,} more rows"] if len(self) > _ROWS else []
        if "why" in self.columns and "why" not in shown:
            is_open = self[str(self._verdict)].eq("cannot say").fillna(False).to_numpy(bool)
            reasons = [*self["why"][is_open].value_counts().index]
            for reason in reasons[:_REASONS]:
                of_it = is_open & self["why"].eq(reason).fillna(False).to_numpy(bool)
                where = f" ({row_ranges(self.index, of_it)})" if len(reasons) > 1 else ""
                notes += textwrap.wrap(f"cannot say{where}: {visible(str(reason))}", width)
            if len(reasons) > _REASONS:
                notes.append(f"cannot say: {len(reasons) - _REASONS} more reasons, in .why")
        notes += textwrap.wrap(self._corrected(), width)
        rest = [str(name) for name in self.columns if str(name) not in shown]
        return [*notes, *textwrap.wrap(f"not shown: {', '.join(rest) or 'nothing'}", width)]


_ENDINGS = tuple(f"_{name}" for name in (*_DETAILS, "n"))


def _digits(values: pd.Series) -> int:
    """Compute how many decimals show four digits of the largest number; 0 for integers."""
    sizes = values.abs().to_numpy(np.float64, na_value=np.nan)
    finite = sizes[np.isfinite(sizes)]
    if (finite == np.floor(finite)).all():
        return 0
    return min(max(3 - math.floor(math.log10(finite.max())), 0), 9)


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size - 1]}…"


def _index_texts(frame: pd.DataFrame) -> list[str]:
    return ["", *map(cell_text, frame.index)]


def row_ranges(index: pd.Index, chosen: np.ndarray) -> str:
    """Name the chosen rows, neighbours together; how many they are where labels are no numbers.

    Examples
    --------
    >>> row_ranges(pd.RangeIndex(6), np.array([True, False, True, True, True, False]))
    'rows 0, 2-4'
    >>> row_ranges(pd.Index(["a", "b"]), np.array([True, False]))
    '1 row'
    """
    places = np.flatnonzero(chosen)
    runs = np.split(places, np.flatnonzero(np.diff(places) != 1) + 1)
    if not index.equals(pd.RangeIndex(len(index))) or len(runs) > _RANGES:
        return f"{len(places):,} row{'s' * (len(places) != 1)}"
    named = (f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
    return f"row{'s' * (len(places) != 1)} {', '.join(named)}"


def _width(columns: Iterable[Sequence[str]]) -> int:
    sizes = [max(map(len, texts)) for texts in columns]
    return sum(sizes) + _GAP * (len(sizes) - 1)


def _with_lines_below(
    columns: Sequence[Sequence[str]], sentences: Sequence[str], width: int
) -> Iterable[str]:
    """The rows as text, each with its sentence on lines of its own."""
    start = " " * (max(map(len, columns[0])) + _GAP)
    for at, line in enumerate(_lines([*columns, [""] * len(sentences)], 1)):
        yield line
        if at:
            wrapped = textwrap.wrap(sentences[at], width - len(start))
            yield from (start + part for part in wrapped)


def _lines(columns: Sequence[Sequence[str]], last: int) -> Iterable[str]:
    """The rows as text; the last column is wrapped."""
    sizes = [max(map(len, texts)) for texts in columns[:-1]]
    for row in zip(*columns, strict=True):
        words = textwrap.wrap(row[-1], last) or [""]
        for at, part in enumerate(words):
            cells = [f"{'' if at else cell:{size}}" for cell, size in zip(row, sizes, strict=False)]
            yield (" " * _GAP).join([*cells, part]).rstrip()
