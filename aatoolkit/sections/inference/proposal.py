"""Proposals: the declaration of a section drafted from one answer of it, or from a few."""

from __future__ import annotations

from typing import Any

from aatoolkit.errors import PayloadError
from aatoolkit.jsontree import decode
from aatoolkit.jsontree.decode import checked_value
from aatoolkit.payload import Payload
from aatoolkit.sections.inference.analysis import Analysis, analyse
from aatoolkit.sections.inference.declare import section_of
from aatoolkit.sections.inference.source import code_of
from aatoolkit.sections.inference.vocabulary import Vocabulary
from aatoolkit.sections.section import ENVELOPE, Section


class Proposal:
    """A proposed declaration: prints as the Python that makes it, with the evidence in comments.

    Attributes
    ----------
    section : Section
        The declaration itself, ready to register.
    code : str
        The Python that makes it.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.section: Section = section_of(analysis)
        self.code: str = code_of(analysis)

    def __str__(self) -> str:
        return self.code

    __repr__ = __str__


def propose(answers: Any, name: str | None = None) -> Proposal:
    """Draft a declaration from an answer, or from several of one section.

    Parameters
    ----------
    answers : Payload, bytes, str, dict, or list of these
        The answers; more of them show more fields.
    name : str, optional
        The section's name; by default what a payload or the answer itself says.

    Raises
    ------
    DecodeError
        If an answer is not one JSON document.
    PayloadError
        If nothing in the answers can be made a table, or an object is no JSON value.

    Examples
    --------
    >>> rows = [{"day": "2026-11-03", "hits": "1,204"}, {"day": "2026-11-04", "hits": "n/a"}]
    >>> column = propose({"rows": rows}, "crawl").section.tables[0]["hits"]
    >>> column.parse, column.missing, column.unit
    ('number', ('n/a',), 'count')
    """
    return Proposal(_analysed(answers, name, measures=True))


def outline(answer: Any, name: str) -> Section:
    """Draft the declaration of one answer as it is written; units and rules stay open.

    Raises
    ------
    DecodeError, PayloadError
        As `propose`.
    """
    return section_of(_analysed(answer, name, measures=False))


def _analysed(answers: Any, name: str | None, *, measures: bool) -> Analysis:
    given = answers if isinstance(answers, list | tuple) else [answers]
    documents = [_decoded(answer) for answer in given]
    name = name or next(filter(None, map(_section_of, [*given, *documents])), "answer")
    enveloped = any(isinstance(document, dict) and "window" in document for document in documents)
    words = Vocabulary.of(None, documents)
    whole, *others = documents or [None]
    skipped = ENVELOPE if enveloped else ()
    found = analyse(name, whole, {}, words, others, measures=measures, passed_over=skipped)
    if not found.relations:
        raise PayloadError(
            f"nothing in this answer of {name} can be made a table", section=name, problems=[]
        )
    return found


def _decoded(answer: Any) -> Any:
    if isinstance(answer, Payload):
        return answer.json
    if isinstance(answer, str):
        answer = answer.encode("utf-8", "surrogatepass")
    return decode.decode(answer) if isinstance(answer, bytes) else checked_value(answer)


def _section_of(answer: Any) -> str | None:
    """The section's name, where a payload or an answer says it."""
    section = answer.section if isinstance(answer, Payload) else None
    if isinstance(answer, dict):
        section = answer.get("section")
    return section if isinstance(section, str) else None
