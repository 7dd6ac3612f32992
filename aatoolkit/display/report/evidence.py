"""The evidence of the numbers of a section: each number links to it, and it links back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import pandas as pd

from aatoolkit._util.text import counted
from aatoolkit.display.plot.labels import describe_scope
from aatoolkit.display.report.grid import element, text
from aatoolkit.display.report.outline import chapter_of, title_of
from aatoolkit.display.report.wording import (
    RowNames,
    column_title,
    path_words,
    plain,
    unit_words,
)
from aatoolkit.jsontree.paths import KEY_SIGN, Step, format_json_path, parse_path
from aatoolkit.metadata.attrs import stored_of
from aatoolkit.stats.explain import CitedResponse, Explainer, Explanation, ValuePlace
from aatoolkit.stats.explain.cells import Made
from aatoolkit.stats.explain.explainer import replay
from aatoolkit.stats.explain.explanation import same
from aatoolkit.stats.explain.responses import TrailEnd

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset

_MOST_NAMES = 4
"""The most values of a key that name a row."""


@dataclass
class RowEvidence:
    """The numbers of one row that are shown, and the anchors of the row and its evidence."""

    number: str
    label: str
    numbers: dict[str, Explanation] = field(default_factory=dict)
    is_placed: bool = False


class TableEvidence:
    """The evidence of the numbers of one table, row by row.

    Parameters
    ----------
    title : str
        What the table is called on the page.
    number : str
        What its anchors begin with, after their sign.
    explained : callable
        From the position of a row and a column to the explanation of the number there.
    names : RowNames, optional
        The names of rows that its keys refer to.
    """

    def __init__(
        self,
        title: str,
        number: str,
        explained: Callable[[int, str], Explanation],
        names: RowNames | None = None,
    ) -> None:
        self.title, self._number, self._explained = title, number, explained
        self._names = names
        self.rows: dict[int, RowEvidence] = {}
        self._anchors: dict[tuple[str, str], str] = {}

    def link(self, row: int, column: str, label: str, shown: str) -> str:
        """A number as a link to its evidence."""
        entry = self.rows.get(row)
        if entry is None:
            entry = RowEvidence(f"{self._number}-{len(self.rows) + 1}", label)
            self.rows[row] = entry
        if column not in entry.numbers:
            found = entry.numbers[column] = self._explained(row, column)
            if len(entry.numbers) == 1:
                entry.label = self._named(found, label)
        place = [*entry.numbers].index(column) + 1
        there = f"e{entry.number}-{place}"
        self._anchors.setdefault((column, label), there)
        missing = ' aria-label="missing"' if shown == "–" else ""
        return f'<a href="#{there}"{missing}>{text(shown)}</a>'

    def anchor(self, row: int) -> str:
        """The anchor of a row of the page, where its evidence links back to; empty if it has it."""
        entry = self.rows.get(row)
        if entry is None or entry.is_placed:
            return ""
        entry.is_placed = True
        return f"r{entry.number}"

    def evidence_of(self, column: str, label: str) -> str:
        """The anchor of the evidence of a number; empty if it is not shown."""
        return self._anchors.get((column, label), "")

    def _named(self, found: Explanation, label: str) -> str:
        """Name a row by its label, and by what else identifies it."""
        if self._names is None:
            return label
        others = [
            word
            for name, value in found.row.items()
            if name != "_row"
            for word in self._names.words(name, [str(value)])
        ]
        return ", ".join([*dict.fromkeys([label, *others])][:_MOST_NAMES])

    def __len__(self) -> int:
        return sum(len(entry.numbers) for entry in self.rows.values())


class SectionEvidence:
    """Collects the explanations of the numbers of one section, as they are shown.

    Parameters
    ----------
    at : int
        The number of the section, for anchors.
    explain : CellExplainer
        Explains a number.
    names : RowNames
        The names of rows that others refer to.
    """

    def __init__(self, at: int, explain: CellExplainer, names: RowNames) -> None:
        self._at, self._explain, self._names = at, explain, names
        self._tables: dict[str, TableEvidence] = {}
        self._answers: dict[CitedResponse, str] = {}
        self._stated: dict[str, int] = {}

    def of_table(self, table: str, frame: pd.DataFrame) -> TableEvidence:
        """The evidence of a table, which links its numbers."""
        if table not in self._tables:
            number = f"{self._at}-{len(self._tables) + 1}"
            self._tables[table] = TableEvidence(
                title_of(table),
                number,
                lambda row, column: self._explain(frame, row, column),
                self._names,
            )
        return self._tables[table]

    def anchor(self, table: str, column: str, label: str) -> str:
        """The anchor of the evidence of a number; empty if it is not shown."""
        rows = self._tables.get(table)
        return rows.evidence_of(column, label) if rows else ""

    def html(self) -> str:
        """The evidence, folded: the responses and what they state, then each table row by row."""
        tables = [each for each in self._tables.values() if len(each)]
        if not tables:
            return ""
        folds = "\n".join(map(self._table, tables))
        answers = "".join(
            element("p", answer_words(answer), id=anchor)
            for answer, anchor in self._answers.items()
        )
        stated = "".join(
            f'<li id="w{self._at}-{at}">{text(words, 300)} '
            f"<small>({counted(count, 'number')})</small></li>"
            for at, (words, count) in enumerate(self._stated.items(), 1)
        )
        stated = stated and f"<p>What the service says of some of them:</p><ul>{stated}</ul>"
        count = sum(map(len, tables))
        head = f"Where {'these' if count > 1 else 'this'} {counted(count, 'number')} "
        head += f"come{'' if count > 1 else 's'} from"
        return (
            f'<details class="why"><summary>{head}</summary>\n{answers}{stated}\n{folds}</details>'
        )

    def _table(self, table: TableEvidence) -> str:
        """The evidence of one table: what its columns mean, then its rows."""
        columns: dict[str, Explanation] = {}
        for entry in table.rows.values():
            for name, found in entry.numbers.items():
                if found.meaning:
                    columns.setdefault(name, found)
        number = next(iter(table.rows.values())).number.rpartition("-")[0]
        anchors = {name: f"m{number}-{at}" for at, name in enumerate(columns, 1)}
        meanings = "".join(
            f'<dt id="{anchors[name]}">{text(column_title(name))}</dt><dd>{_meaning(found)}</dd>'
            for name, found in columns.items()
        )
        rows = "\n".join(
            self._row(entry, anchors) for _, entry in sorted(table.rows.items(), key=_position)
        )
        return (
            f"<details><summary>{text(table.title)}: {counted(len(table), 'number')} in "
            f"{counted(len(table.rows), 'row')}</summary><dl>{meanings}</dl>\n"
            f"<ul>{rows}</ul></details>"
        )

    def _row(self, entry: RowEvidence, meanings: dict[str, str]) -> str:
        """The evidence of one row: where its record is, then each number."""
        found = [*entry.numbers.values()]
        inside = shared_place([one.place for one in found if one.place is not None])
        answers = dict.fromkeys(answer for one in found for answer in one.sources)
        links = [
            f'<a href="#{self._answer(answer)}">the response{"" if len(answers) == 1 else f" {at}"}'
            "</a>"
            for at, answer in enumerate(answers, 1)
        ]
        where = f", {text(path_words(inside), 300)}" if inside else ""
        of = f" in {' and '.join(links)}" if links else ""
        numbers = "".join(
            f'<span id="e{entry.number}-{at}">{_linked(column_title(name), meanings.get(name))} '
            f"{known_of(one, inside)}{''.join(self._why(one))}</span>"
            for at, (name, one) in enumerate(entry.numbers.items(), 1)
        )
        name = f'<a href="#r{entry.number}">{text(entry.label, 120)}</a>'
        return f"<li><p>{name}{where}{of}:</p>{numbers}</li>"

    def _answer(self, answer: CitedResponse) -> str:
        return self._answers.setdefault(answer, f"a{self._at}-{len(self._answers) + 1}")

    def _why(self, found: Explanation) -> Iterator[str]:
        """Yield links to what the service says of a number that is not wholly measured."""
        whys = (each.reason for each in found.statements if each.status != "available")
        for words in dict.fromkeys(why for why in whys if why):
            self._stated[words] = self._stated.get(words, 0) + 1
            place = [*self._stated].index(words) + 1
            yield f' <a href="#w{self._at}-{place}">Why</a>'


def _position(row: tuple[int, RowEvidence]) -> int:
    return row[0]


def _linked(words: str, anchor: str | None) -> str:
    return f'<a href="#{anchor}">{text(words)}</a>' if anchor else text(words)


def _meaning(found: Explanation) -> str:
    unit = unit_words(found.unit)
    return text(plain(found.meaning or "") + (f" Unit: {unit}." if unit else ""), 400)


_MOST_PARTS = 3


def known_of(found: Explanation, inside: str = "") -> str:
    """Describe how one number is known, as HTML.

    Parameters
    ----------
    found : Explanation
        The number.
    inside : str
        The JSON path of its row, which is named before.
    """
    exact = _exact(found.value)
    parts = []
    if found.value is None:
        exact = "missing"
        parts.append(plain(found.missing or "the response has no value here"))
    if found.place is not None:
        parts.append(_place_words(found.place, exact, inside))
    if found.formula:
        parts.append(f"= {plain(found.formula)}")
    if found.place is None:
        parts += _parts_of(found)
    if found.value is not None and (found.availability or "").startswith("partial"):
        parts.append("measured in part")
    parts += [plain(note) for note in found.notes]
    if found.end:
        parts.append(f"the trail ends here: {plain(found.end)}")
    words = "; ".join(part.rstrip(". ") for part in dict.fromkeys(parts))
    return f"<b>{text(exact)}</b>{text(f': {words}.' if words else '.', 700)}"


def shared_place(places: Sequence[ValuePlace]) -> str:
    """The JSON path that encloses all places: that of their row; empty for the whole response.

    Examples
    --------
    >>> shared_place([ValuePlace("$.rows[0].n"), ValuePlace("$.rows[0].byEngine.a")])
    '$.rows[0]'
    >>> shared_place([ValuePlace("$.rows[0].n")]), shared_place([ValuePlace("$.n")])
    ('$.rows[0]', '')
    """
    paths = [_steps(place.path)[:-1] for place in places]
    shared = [
        steps[0]
        for steps in takewhile(
            lambda steps: all(step == steps[0] for step in steps), zip(*paths, strict=False)
        )
    ]
    return format_json_path(shared) if shared else ""


def answer_words(answer: CitedResponse) -> str:
    """A response in a sentence, as HTML."""
    parts = [
        f"the response for <b>{text(chapter_of(answer.section or 'all sections').title)}</b>",
        f"about {text(answer.host)}" if answer.host else "",
        text(describe_scope(answer.scope)) if answer.scope else "",
        f"sent {text((answer.fetched_at or '')[:19].replace('T', ' '))} UTC"
        if answer.fetched_at
        else "",
        f"with status {answer.status}" if answer.status else "",
        "taken from a cache after it had expired" if answer.stale else "",
        f"SHA-256 <code>{text(answer.sha256)}</code>" if answer.sha256 else "",
    ]
    checked = (
        " Its bytes were checked against it when this page was made." if answer.checked else ""
    )
    return f"From {', '.join(part for part in parts if part)}.{checked}"


def _exact(value: object) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _steps(path: str) -> tuple[Step, ...]:
    return parse_path(path.removesuffix(KEY_SIGN))


def _place_words(place: ValuePlace, exact: str, inside: str) -> str:
    """Describe the place of a value in its response for a reader of the file."""
    steps, outer = _steps(place.path), len(_steps(inside)) if inside else 0
    where = path_words(format_json_path(steps[outer:]))
    if place.start is None:
        return f"looked for at {where}"
    spelled = f", spelled {place.text}" if place.text and place.text != exact else ""
    return f"read at {where}, bytes {place.start:,} to {place.end:,}{spelled}"


def _parts_of(found: Explanation) -> list[str]:
    """Name the first values of responses that a number was computed from."""
    leaves = [one for one in found.walk() if one.place is not None and one.place.start is not None]
    places = [*dict.fromkeys(one.place for one in leaves if one.place is not None)]
    if not places:
        return []
    first = [_place_words(place, place.text or "", "") for place in places[:_MOST_PARTS]]
    more = f" and {len(places) - _MOST_PARTS:,} more" if len(places) > _MOST_PARTS else ""
    return [f"computed from values {', '.join(first)}{more}"]


class CellExplainer:
    """Explains many cells of the tables of a dataset, and checks each table once.

    Parameters
    ----------
    dataset : Dataset
        The sections, whose answers are looked at.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.any = Explainer(dataset)
        self._made: dict[int, tuple[pd.DataFrame, Made | None]] = {}
        self._arrays: dict[tuple[int, str], Any] = {}

    def __call__(self, frame: pd.DataFrame, at: int, column: str) -> Explanation:
        """Explain the number in a column of the row at a position."""
        if id(frame) not in self._made:
            self._made[id(frame)] = frame, self._as_read(frame)
        _, made = self._made[id(frame)]
        if made is not None:
            found = made.explain(at, column)
            if (id(frame), column) not in self._arrays:
                self._arrays[id(frame), column] = frame[column].array
            if same(found.value, self._arrays[id(frame), column][at]):
                return found
        return self.any.explain(frame, frame.index[at], column)

    def _as_read(self, frame: pd.DataFrame) -> Made | None:
        """The table made again from its answer; None where rows or columns are not as read."""
        stored, answers = stored_of(frame)
        if stored.recipe is None:
            return None
        self.any.evidence.hold(answers)
        try:
            made = replay(stored.recipe, stored.sources, self.any.evidence)
        except TrailEnd:
            return None
        key = [name for name in made.metadata.key if name in made.frame.columns]
        is_whole = [*frame.columns] == [*made.frame.columns] and len(frame) == len(made.frame)
        return made if is_whole and frame[key].equals(made.frame[key]) else None
