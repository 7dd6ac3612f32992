"""Find the answers that a frame was made of by their hash, and read them again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aatoolkit.errors import AAToolkitError, ArgumentError
from aatoolkit.frame.explain.explanation import CitedAnswer
from aatoolkit.jsontree.byte_span import ByteIndex, ByteSpan
from aatoolkit.metadata.carrier import HeldAnswer
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

_NOWHERE = (
    "its answer is no longer in memory; give a study or an archive that holds it, with within="
)


class TrailEnd(Exception):
    """The reason why a trail ends, raised and caught within this package only."""


@dataclass(frozen=True, eq=False)
class ReadAnswer:
    """An answer that was found, checked and read again.

    Parameters
    ----------
    source : Source
        Which answer it is.
    tables : Tables
        Its tables.
    body : bytes
        Its bytes.
    found_in : str
        Where they were found.
    """

    source: Source
    tables: Tables
    body: bytes
    found_in: str

    @cached_property
    def cited(self) -> CitedAnswer:
        """Return the answer as explanations cite it."""
        payload = self.tables.payload
        digest = hashlib.sha256(self.body).hexdigest()
        return CitedAnswer(
            **asdict(self.source) | {"sha256": digest},
            status=None if payload is None else payload.status,
            found_in=self.found_in,
            checked=self.source.sha256 == digest,
        )

    def span(self, path: str) -> ByteSpan | None:
        """Find the bytes of the value at a path; None if it is not there."""
        return self._index.span(path)

    @cached_property
    def _index(self) -> ByteIndex:
        return ByteIndex(self.body)

    @cached_property
    def extra(self) -> Mapping[str, tuple[str, str]]:
        """By path, what no column took: its JSON text, and why."""
        frame = self.tables.extra
        return {
            path: (value, why)
            for path, value, why in zip(frame["path"], frame["value"], frame["why"], strict=True)
        }


class AnswerFinder:
    """The answers that are at hand, each read at most once.

    Parameters
    ----------
    within : study, archive, Tables, Dataset, or several of these
        Where answers are looked for beside those that a frame still holds.
    """

    def __init__(self, within: Any = None) -> None:
        self._within = within
        self._held: dict[HeldAnswer, None] = {}
        self._read: dict[Source, ReadAnswer | str] = {}

    def hold(self, answers: Iterable[HeldAnswer]) -> None:
        """Look among further answers too."""
        new = {each: None for each in answers if each not in self._held}
        self._held |= new
        if new:
            self._read = {s: one for s, one in self._read.items() if isinstance(one, ReadAnswer)}

    def find(self, source: Source) -> ReadAnswer:
        """The answer of a source.

        Raises
        ------
        TrailEnd
            If it is not at hand, or is damaged.
        """
        if source not in self._read:
            self._read[source] = self._found(source)
        found = self._read[source]
        if isinstance(found, str):
            raise TrailEnd(found)
        return found

    def _found(self, source: Source) -> ReadAnswer | str:
        why = _NOWHERE
        for where, answer in self._candidates(source):
            if isinstance(answer, str):
                why = answer
                continue
            try:
                body = answer.body
                if body is None:
                    continue
                if source.sha256 and hashlib.sha256(body).hexdigest() != source.sha256:
                    why = f"the answer in {where} does not have the SHA-256 of its source"
                    continue
                tables = answer.tables()
            except AAToolkitError as error:
                why = str(error)
                continue
            if tables is not None:
                damaged = "" if why == _NOWHERE else f"; {why}"
                return ReadAnswer(source, tables, body, f"{where}{damaged}")
        return why

    def _candidates(self, source: Source) -> Iterator[tuple[str, HeldAnswer | str]]:
        """The answers that may be the one of a source, or why one that should be is not."""
        yield from _within(self._within, source)
        for each in self._held:
            if _fits(each.source, source):
                yield "in memory", each

    def archived(self, how: str, options: Mapping[str, Any]) -> pd.DataFrame:
        """A frame of an archive, read again.

        Raises
        ------
        TrailEnd
            If there is no archive at hand, or it cannot be read.
        """
        for store in self._within if isinstance(self._within, list | tuple) else [self._within]:
            if hasattr(store, "_archived_frame"):
                try:
                    frame: pd.DataFrame = store._archived_frame(how, options)
                    return frame
                except AAToolkitError as error:
                    raise TrailEnd(str(error)) from None
        raise TrailEnd("it was read from an archive, which is not at hand; give it with within=")

    def sampled(self, source: Source) -> Iterator[Tables]:
        """The sampled chats about a host under the same filters, where they are at hand."""
        wanted = Source(host=source.host, section="chats", scope=source.scope)
        for _, answer in _within(self._within, wanted):
            if not isinstance(answer, str):
                tables = answer.tables()
                if tables is not None:
                    yield tables


def _fits(held: Source, wanted: Source) -> bool:
    if wanted.sha256 is not None:
        return held.sha256 == wanted.sha256 and held.section == wanted.section
    return all(
        getattr(wanted, name) in (None, getattr(held, name))
        for name in ("host", "section", "scope")
    )


def _within(place: Any, source: Source) -> Iterator[tuple[str, HeldAnswer | str]]:
    """Look for an answer in a study, archive, tables or several of these."""
    if place is None:
        return
    if isinstance(place, Tables):
        for each in place._parts.held:
            if _fits(each.source, source):
                yield "in memory", each
    elif hasattr(place, "_stored_responses"):
        try:
            for response in place._stored_responses(source):
                yield f"in {place._store_name}", response
        except AAToolkitError as error:
            yield "", str(error)
    elif isinstance(place, Mapping):
        for each in place.values():
            yield from _within(each, source)
    elif isinstance(place, Iterable) and not isinstance(place, str | bytes):
        for each in place:
            yield from _within(each, source)
    else:
        raise ArgumentError(
            f"within= is a study, an archive, Tables or a Dataset, not a {type(place).__name__}",
            argument="within",
        )
