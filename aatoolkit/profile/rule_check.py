"""Check a rule of availability against the answers of a draft, before it is set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from aatoolkit.availability import Cause, Status
from aatoolkit.availability.detect import raw, read_word, state_by
from aatoolkit.errors import did_you_mean, near_matches
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, parse_pattern
from aatoolkit.sections import Rule

_MEANINGS = (
    *(str(one) for one in Status if one != Status.UNKNOWN),
    *(str(one) for one in Cause if one not in (Cause.ABSENT, Cause.NO_ROW)),
)
_SHOWN, _DEEPEST, _WIDEST = 8, 8, 200

Seen = tuple[tuple[str, ...], Any]
"""The fields on the way to a value, and the value."""


def problem_of(
    rule: Rule, answers: Sequence[Any], headers: Iterable[Mapping[str, str]] = ()
) -> str | None:
    """Describe what is wrong with a rule for the answers seen; None if it reads some of them.

    Parameters
    ----------
    rule : Rule
        The rule.
    answers : sequence
        Decoded answers of the section.
    headers : iterable of mapping
        The headers of answers.

    Examples
    --------
    >>> answers = [{"rivit": [{"lkm": 0, "tyhja": True}]}]
    >>> problem_of(Rule(at="rivit[].tyhja", words={True: "not_run"}), answers) is None
    True
    >>> problem_of(Rule(at="rivit[].tyhjä", words={True: "not_run"}), answers)
    "no answer has 'rivit[].tyhjä'; did you mean 'rivit[].tyhja' or 'rivit[].lkm'?"
    """
    meanings = [one for one in rule.words.values() if _means_nothing(one)]
    if meanings:
        listed = ", ".join(map(repr, meanings))
        return f"{listed} is no status; there are {', '.join(_MEANINGS)}"
    if not answers:
        return None
    seen = [*_values(rule, answers, headers)]
    if not seen:
        return _absent(rule, answers)
    states = [state_by(rule, value, names) for names, value in seen]
    if any(state is not None and state.status != Status.UNKNOWN for state in states):
        return None
    values = [*dict.fromkeys(raw(value)[:80] for _, value in seen)]
    given = ((one.get(rule.status) if isinstance(one, dict) else one) for _, one in seen)
    texts = {(type(one), one): one for one in given if isinstance(one, str | int)}
    example = ", ".join(f"{one!r}: …" for one in [*texts.values()][:_SHOWN]) or "…"
    inner = _fields_of(rule, seen)
    if inner:
        return (
            f"{rule.at!r} holds objects without {rule.status!r}; say status=, one of "
            f"{', '.join(inner)}"
        )
    return (
        f"none of the values of {rule.at!r} is known: {', '.join(values[:_SHOWN])}; say what they "
        f"mean, as words={{{example}}} with {', '.join(_MEANINGS)}"
    )


def complete(
    at: str, answers: Sequence[Any], engine_maps: Collection[str]
) -> tuple[dict[str, str], list[str]] | None:
    """Complete a rule about a word by what stands beside it; None where nothing does.

    Parameters
    ----------
    at : str
        The path of the word.
    answers : sequence
        Decoded answers of the section.
    engine_maps : collection of str
        The paths of objects whose keys are engines.

    Returns
    -------
    tuple of dict and list
        The arguments of the rule, and the words of its engines.

    Examples
    --------
    >>> state = {"vaihe": "kesken", "syy": "Ei vielä ajettu", "m": {"a": {"vaihe": "ei"}}}
    >>> complete("tila.vaihe", [{"tila": state}], ["tila.m"])
    ({'at': 'tila', 'status': 'vaihe', 'reason': 'syy', 'engines': 'm'}, ['ei'])
    """
    above, _, status = at.rpartition(".")
    if not above or set(at) & set("[{"):
        return None
    steps = parse_pattern(above)
    objects = [one for each in answers for one in values_at(each, steps) if isinstance(one, dict)]
    names = dict.fromkeys(name for one in objects for name in one)
    texts = [
        name for name in names
        if name != status and all(isinstance(one.get(name, ""), str) for one in objects)
        and any(" " in str(one.get(name, "")).strip() for one in objects)
    ]  # fmt: skip
    maps = [name for name in names if f"{above}.{name}" in engine_maps]
    found = {"at": above, "status": status}
    found |= {"reason": texts[0]} if len(texts) == 1 else {}
    found |= {"engines": maps[0]} if len(maps) == 1 else {}
    if len(found) == 2:
        return None
    held = [one.get(found.get("engines", "")) for one in objects]
    inner = [state for one in held if isinstance(one, dict) for state in one.values()]
    words = (one.get(status) if isinstance(one, dict) else one for one in inner)
    return found, [*dict.fromkeys(one for one in words if isinstance(one, str))]


def _means_nothing(word: Any) -> bool:
    return not isinstance(word, str) or read_word(word).status == Status.UNKNOWN


def _fields_of(rule: Rule, seen: Iterable[Seen]) -> list[str]:
    """The fields that may be the status, where no object has the one that the rule names."""
    objects = [value for _, value in seen if isinstance(value, dict)]
    if not objects or any(rule.status in one for one in objects):
        return []
    names = dict.fromkeys(name for one in objects for name in one)
    return [
        name for name in names
        if any(isinstance(one.get(name), str | bool | int) for one in objects)
    ]  # fmt: skip


def _values(
    rule: Rule, answers: Iterable[Any], headers: Iterable[Mapping[str, str]]
) -> Iterator[Seen]:
    """Yield the values that a rule reads."""
    if rule.kind == "header":
        for given in headers:
            yield from (
                ((rule.header,), text)
                for name, text in given.items()
                if name.lower() == rule.header
            )
        return
    steps = parse_pattern(rule.at)
    names = tuple(step.name for step in steps if isinstance(step, Field))
    for answer in answers:
        for value in values_at(answer, steps):
            if rule.kind == "object" and isinstance(value, dict):
                yield from _of_object(rule, value, names)
            elif value is not None and not isinstance(value, list):
                yield (names[-1:] if rule.kind == "rows" else names), value


def _of_object(rule: Rule, value: dict[str, Any], names: tuple[str, ...]) -> Iterator[Seen]:
    yield names, value
    for name in (rule.fields, rule.engines):
        inner = value.get(name)
        for one in inner.values() if isinstance(inner, dict) else ():
            if one is not None and not isinstance(one, list):
                yield (*names, name), one


def values_at(value: Any, steps: Sequence[Step]) -> Iterator[Any]:
    """Yield the values at a pattern."""
    if not steps:
        yield value
        return
    first, rest = steps[0], steps[1:]
    if isinstance(first, Field):
        if isinstance(value, dict) and first.name in value:
            yield from values_at(value[first.name], rest)
    else:
        each = value if isinstance(value, list) else []
        if isinstance(first, Entries) and isinstance(value, dict):
            each = [*value.values()]
        for one in each:
            yield from values_at(one, rest)


def _absent(rule: Rule, answers: Iterable[Any]) -> str:
    if rule.kind == "header":
        return f"no answer has the header {rule.header!r}"
    known = {format_path(steps): None for answer in answers for steps in _patterns(answer, ())}
    near = near_matches(rule.at, known)
    top = [one for one in known if not set(".[{") & set(one)]
    hint = did_you_mean(near, f"at the top is {', '.join(top)}")
    return f"no answer has {rule.at!r}; {hint}"


def _patterns(value: Any, path: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield the paths of an answer at which a rule may be."""
    if len(path) > _DEEPEST:
        return
    if isinstance(value, dict) and len(value) <= _WIDEST:
        for name, one in value.items():
            yield (*path, Field(name))
            if isinstance(one, dict):
                yield (*path, Field(name), Entries())
            yield from _patterns(one, (*path, Field(name)))
    elif isinstance(value, list):
        for one in value[:_WIDEST]:
            yield from _patterns(one, (*path, Each()))
