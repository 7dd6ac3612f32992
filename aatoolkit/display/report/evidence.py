"""The evidence of the numbers of a section: each number links to it, and it links back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from aatoolkit.display.plot.labels import describe_scope
from aatoolkit.display.report.grid import Link
from aatoolkit.display.report.markup import element, text
from aatoolkit.display.report.outline import chapter_of
from aatoolkit.display.report.wording import column_title, path_words, plain, unit_words
from aatoolkit.frame.explain import CitedAnswer, Explainer, Explanation, ValuePlace
from aatoolkit.frame.explain.evidence import TrailEnd
from aatoolkit.frame.explain.made import Made
from aatoolkit.frame.explain.replay import replay
from aatoolkit.frame.explain.rows import same
from aatoolkit.metadata.attrs import stored_of

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.display.plot.canvas import Picture


class CellExplainer:
    """Explains many cells of the tables of a dataset, and checks each table once.

    Parameters
    ----------
    dataset : Dataset
        The sections, whose answers are looked at.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._any = Explainer(dataset)
        self._made: dict[int, tuple[pd.DataFrame, Made | None]] = {}

    def __call__(self, frame: pd.DataFrame, at: int, column: str) -> Explanation:
        """Explain the number in a column of the row at a position."""
        _, made = self._made.get(id(frame), (frame, None))
        if made is not None:
            found = made.explain(at, column)
            if same(found.value, frame[column].iloc[at]):
                return found
        return self._any.explain(frame, frame.index[at], column)

    def prepare(self, frame: pd.DataFrame) -> None:
        """Check once whether a table is as it was read, and keep it replayed."""
        self._made[id(frame)] = frame, self._as_read(frame)

    def _as_read(self, frame: pd.DataFrame) -> Made | None:
        """The table made again from its answer; None where rows or columns are not as read."""
        stored, answers = stored_of(frame)
        if stored.recipe is None:
            return None
        self._any.evidence.hold(answers)
        try:
            made = replay(stored.recipe, stored.sources, self._any.evidence)
        except TrailEnd:
            return None
        key = [name for name in made.known.key if name in made.frame.columns]
        is_whole = [*frame.columns] == [*made.frame.columns] and len(frame) == len(made.frame)
        return made if is_whole and frame[key].equals(made.frame[key]) else None


class SectionEvidence:
    """Collects the explanations of the numbers of one section, as they are shown.

    Parameters
    ----------
    at : int
        The number of the section, for anchors.
    explain : CellExplainer
        Explains a number.
    """

    def __init__(self, at: int, explain: CellExplainer) -> None:
        self._at, self._explain = at, explain
        self._entries: list[str] = []
        self._meanings: dict[str, str] = {}
        self._answers: dict[CitedAnswer, None] = {}
        self._stated: dict[str, int] = {}
        self._anchors: dict[tuple[str, str], str] = {}
        self._cells: dict[tuple[str, int, str], str] = {}

    def link(self, table: str, frame: pd.DataFrame, rows: int, columns: Sequence[str]) -> Link:
        """Return a function that links the numbers in the first rows to their evidence."""
        self._explain.prepare(frame)

        def linked(row: int, column: str, label: str, shown: str) -> str:
            return self._linked(table, self._explain(frame, row, column), row, label, shown)

        return linked

    def again(self, table: str) -> Link:
        """Return a function that links numbers whose evidence is already given."""

        def linked(row: int, column: str, label: str, shown: str) -> str:
            del label  # the evidence names it
            there = self._cells.get((table, row, column))
            missing = ' aria-label="missing"' if shown == "–" else ""
            if there is None:
                return f"<span{missing}>{text(shown)}</span>" if missing else text(shown)
            return f'<a href="#{there}"{missing}>{text(shown)}</a>'

        return linked

    def drawn(self, picture: Picture, row: int, column: str, label: str, shown: str) -> str:
        """A number of the caption of a picture as a link to its evidence."""
        found = picture.explain(row, column, within=self._explain.dataset)
        return self._linked("", found, row, label, shown)

    def _linked(self, table: str, found: Explanation, row: int, label: str, shown: str) -> str:
        """A number as a link to its evidence, which links back."""
        column = found.column
        number = len(self._entries) + 1
        here, there = f"n{self._at}-{number}", f"e{self._at}-{number}"
        self._anchors.setdefault((f"{table}.{column}", label), there)
        if table:
            self._cells[table, row, column] = there
        self._note(table, found)
        name = f"{text(label, 80)}, {text(column_title(column).lower())}"
        self._entries.append(
            f'<li id="{there}"><a href="#{here}">{name}</a>: {_known_of(found, shown)}</li>'
        )
        missing = ' aria-label="missing"' if shown == "–" else ""
        return f'<a id="{here}" href="#{there}"{missing}>{text(shown)}</a>'

    def anchor(self, table: str, column: str, label: str) -> str:
        """The anchor of the evidence of a number; empty if it is not shown."""
        return self._anchors.get((f"{table}.{column}", label), "")

    def html(self) -> str:
        """The evidence, folded: what is the same for many numbers once, then each number."""
        if not self._entries:
            return ""
        meanings = "".join(
            f"<dt>{text(name)}</dt><dd>{text(words, 400)}</dd>"
            for name, words in self._meanings.items()
        )
        answers = "".join(element("p", _answer_words(answer)) for answer in self._answers)
        stated = "".join(
            f"<li>{text(words, 300)} <small>({count:,} of these numbers)</small></li>"
            for words, count in self._stated.items()
        )
        stated = stated and f"<p>What the service says of them:</p><ul>{stated}</ul>"
        return (
            f'<details class="why"><summary>Where these {len(self._entries):,} numbers come from'
            f"</summary>\n{answers}{stated}<dl>{meanings}</dl>\n<ul>"
            + "\n".join(self._entries)
            + "</ul></details>"
        )

    def _note(self, table: str, found: Explanation) -> None:
        for answer in found.sources:
            self._answers.setdefault(answer)
        whys = (stated.reason for stated in found.statements if stated.status != "available")
        for words in dict.fromkeys(why for why in whys if why):
            self._stated[words] = self._stated.get(words, 0) + 1
        if found.meaning:
            unit = unit_words(found.unit)
            words = plain(found.meaning) + (f" Unit: {unit}." if unit else "")
            self._meanings.setdefault(column_title(found.column), words)


def _known_of(found: Explanation, shown: str) -> str:
    """Describe in a few words how one number is known."""
    exact = _exact(found.value)
    parts = []
    if found.value is None:
        parts.append(f"missing; {plain(found.missing or 'the answer has no value here')}")
    elif exact != shown:
        parts.append(f"exactly {exact}")
    if found.formula:
        parts.append(f"= {plain(found.formula)}")
    if found.place is not None:
        parts.append(_place_words(found.place, exact))
    if found.value is not None and (found.availability or "").startswith("partial"):
        parts.append("measured in part")
    parts += [plain(note) for note in found.notes]
    if found.end:
        parts.append(f"the trail ends here: {plain(found.end)}")
    return text("; ".join(part.rstrip(". ") for part in dict.fromkeys(parts)) + ".", 700)


def _exact(value: object) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _place_words(place: ValuePlace, exact: str) -> str:
    """Describe the place of a value in its answer for a reader of the file."""
    if place.start is None:
        return f"looked for at {path_words(place.path)}"
    spelled = f", spelled {place.text}" if place.text and place.text != exact else ""
    return f"read at {path_words(place.path)}, bytes {place.start:,} to {place.end:,}{spelled}"


def _answer_words(answer: CitedAnswer) -> str:
    """An answer in a sentence."""
    parts = [
        f"the answer for <b>{text(chapter_of(answer.section or 'all sections').title)}</b>",
        f"about {text(answer.host)}" if answer.host else "",
        text(describe_scope(answer.scope)) if answer.scope else "",
        f"sent {text((answer.fetched_at or '')[:19].replace('T', ' '))} UTC"
        if answer.fetched_at
        else "",
        "taken from a cache after it had expired" if answer.stale else "",
        f"SHA-256 <code>{text(answer.sha256)}</code>" if answer.sha256 else "",
    ]
    checked = (
        " Its bytes were checked against it when this page was made." if answer.checked else ""
    )
    return f"From {', '.join(part for part in parts if part)}.{checked}"
