"""Fetch and normalise many sections concurrently, for `read_all` and `collect`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any

from aatoolkit import sections
from aatoolkit.availability.detect import envelope_of
from aatoolkit.client.concurrency import in_order
from aatoolkit.client.dataset import Dataset
from aatoolkit.client.progress import progress_bar
from aatoolkit.errors import AAToolkitError, InternalError, ScopeError, did_you_mean, near_matches
from aatoolkit.jsontree.decode import outline
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload
from aatoolkit.sections import Profile, Section
from aatoolkit.sections.declared import PROFILE

Fetch = Callable[[str], Payload]
"""A function that fetches one section of a host and scope."""


def read_many(
    fetches: Sequence[Fetch],
    names: Sequence[str],
    *,
    workers: int,
    progress: bool | None,
    unit: str = "section",
    profile: Profile | None = None,
    max_nodes: int = MAX_NODES,
) -> Generator[Dataset]:
    """Yield one dataset per host and scope, in order, as the answers come in."""
    calls = [(place, name) for place in range(len(fetches)) for name in names]
    if not names:
        yield from (Dataset({}) for _ in fetches)
        return

    def ask(call: tuple[int, str]) -> Payload:
        place, name = call
        return fetches[place](name)

    with closing(in_order(ask, calls, min(workers, max(1, len(calls))))) as answers:
        watched = progress_bar(answers, progress, total=len(calls), unit=unit)
        for _, group in groupby(watched, key=lambda answer: answer[0][0]):
            results = ((name, outcome.result) for (_, name), outcome in group)
            yield normalized(results, profile, max_nodes)


def normalized(
    answers: Iterable[tuple[str, Callable[[], Payload]]],
    profile: Profile | None = None,
    max_nodes: int = MAX_NODES,
    named: Mapping[str, str] | None = None,
) -> Dataset:
    """Normalise many answers; one that fails is in ``.errors`` of the dataset.

    Fields that most answers share are their envelope. Answers are named by their sections, or
    by other names, and then ``named`` has the section of each.
    """
    got: dict[str, Payload] = {}
    results: dict[str, Tables] = {}
    failed: dict[str, AAToolkitError] = {}
    for name, answer in answers:
        try:
            got[name] = answer()
        except AAToolkitError as error:
            failed[name] = error
    how = {"profile": profile, "envelope": _envelope(got), "max_nodes": max_nodes}
    for name, payload in got.items():
        try:
            section = name if named is None else named[name]
            results[name] = to_tables(section, payload, **how)
        except AAToolkitError as error:
            failed[name] = error
    return Dataset(results, failed)


def to_tables(section: str | Section, payload: Payload, **how: Any) -> Tables:
    """Normalise an answer; an internal error says that it is one and carries the answer.

    Raises
    ------
    InternalError
        If normalising fails for a reason that is no documented error.
    """
    try:
        return normalize(section, payload, **how)
    except (AAToolkitError, Warning, MemoryError):
        raise
    except Exception as error:
        name = section if isinstance(section, str) else section.name
        raise InternalError(
            f"{name}: the answer came, and aatoolkit failed to make tables of it "
            f"({type(error).__name__}); this is a fault of aatoolkit, please report it; the "
            "answer itself is in .payload",
            section=name,
            payload=payload,
        ) from error


def _envelope(payloads: Mapping[str, Payload]) -> set[str]:
    outlines = {name: outline(payload.body) for name, payload in payloads.items()}
    return envelope_of({name: found for name, found in outlines.items() if found is not None})


def raise_if_all_refused(dataset: Dataset, *kinds: type[AAToolkitError]) -> None:
    """Raise one error if all sections failed with it, as with a wrong token."""
    found = {type(error) for error in dataset.errors.values()}
    if not len(dataset) and len(found) == 1 and found <= {*kinds}:
        raise next(iter(dataset.errors.values()))


def section_names(profile: Profile | None) -> tuple[str, ...]:
    """The sections that may be requested: the API's, and those that a profile adds."""
    if profile is None:
        return sections.names()
    return tuple(sorted({*PROFILE.names, *profile.names}))


def known_sections(
    sections: Iterable[str] | None, profile: Profile | None = None
) -> tuple[str, ...]:
    """Validate section names and drop duplicates; all sections if None.

    Raises
    ------
    ScopeError
        If there is no such section.
    """
    if sections is None:
        return section_names(profile)
    sections = getattr(sections, "sections", sections)  # what holds them, such as a picker
    if not isinstance(sections, Iterable) or isinstance(sections, bytes):
        raise ScopeError(f"sections={sections!r} is no list of names", parameter="sections")
    listed = [sections] if isinstance(sections, str) else list(sections)
    return tuple(dict.fromkeys(known_section(name, profile) for name in listed))


def known_section(section: str, profile: Profile | None = None) -> str:
    """Validate the name of a section; the error suggests near matches."""
    names = section_names(profile)
    if isinstance(section, str) and section in names:
        return section
    near = near_matches(str(section), names)
    hint = did_you_mean(near, f"there are {', '.join(names)}")
    raise ScopeError(
        f"{str(section)[:80]!r} is not a section; {hint}",
        parameter="section",
        unknown=(str(section)[:80],),
        suggestions=near,
    )
