"""Where a known service states its availability: the rule that a declaration may give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aatoolkit.jsontree.paths import Field, parse_pattern


@dataclass(frozen=True)
class Rule:
    """Where a service keeps its availability: an object with a status, and maps of narrower ones.

    Given to a `Section`, it wins over recognition: where an answer has what it describes,
    nothing else of the answer is read as availability. Where an answer lacks it, the general
    rules are tried.

    Parameters
    ----------
    name : str
        The rule's name, kept with what it reads.
    at : str
        The path to the object, such as ``meta.dataStatus``; a word or a flag may be there
        instead.
    status, reason, sample_size, as_of : str
        The object's fields.
    fields, engines : str
        Its maps from a field's path, or an engine's id, to such an object, word or flag.
    words : mapping of str to str
        What the service's own words mean, in words that are known: ``{"amber": "partial"}``.

    Raises
    ------
    ValueError
        If ``at`` is no path of plain fields.

    Examples
    --------
    >>> rule = Rule("theirs", at="meta.data", status="light", words={"red": "not_connected"})
    >>> rule.find({"meta": {"data": {"light": "red"}}})
    {'light': 'red'}
    """

    name: str = "declared"
    at: str = "availability"
    status: str = "status"
    reason: str = "reason"
    sample_size: str = "sampleCount"
    as_of: str = "asOf"
    fields: str = "fields"
    engines: str = "engines"
    words: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not all(isinstance(step, Field) for step in parse_pattern(self.at)):
            raise ValueError(f"{self.at!r} leads through lists or keys; name plain fields only")

    @property
    def steps(self) -> Iterator[str]:
        """The names of the fields on the way to the object."""
        return (step.name for step in parse_pattern(self.at) if isinstance(step, Field))

    def find(self, document: Any) -> dict[str, Any] | None:
        """The object that the rule reads, if a document has it; a bare word as such an object."""
        found = document
        for name in self.steps:
            found = found.get(name) if isinstance(found, dict) else None
        if isinstance(found, str | bool):
            return {self.status: found}
        return found if isinstance(found, dict) else None

    def is_whole(self, stated: Mapping[str, Any]) -> bool:
        """Whether an object has all the fields of the rule: then it can be nothing else."""
        names = (self.status, self.reason, self.sample_size, self.as_of)
        return isinstance(stated.get(self.status), str) and all(name in stated for name in names)


REFERENCE = Rule("reference")
"""The reference service's own rule; an answer that fits it whole is read by it alone."""
