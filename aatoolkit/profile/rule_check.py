"""Try a rule of availability on the responses of a draft, and complete one, before it is set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from aatoolkit.availability import Cause, Status
from aatoolkit.availability.detect import raw, read_word, state_by
from aatoolkit.errors import did_you_mean, near_matches
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, parse_pattern
from aatoolkit.sections import Rule

_MEANINGS = (
    *(str(status) for status in Status if status != Status.UNKNOWN),
    *(str(cause) for cause in Cause if cause not in (Cause.ABSENT, Cause.NO_ROW)),
)
_SHOWN, _DEEPEST, _WIDEST = 8, 8, 200


def problem_of(
    rule: Rule, responses: Sequence[Any], headers: Iterable[Mapping[str, str]] = ()
) -> str | None:
    """Describe what is wrong with a rule for the responses seen; None if it reads some of them.

    Examples
    --------
    >>> responses = [{"rivit": [{"lkm": 0, "tyhja": True}]}]
    >>> problem_of(Rule(at="rivit[].tyhja", words={True: "not_run"}), responses) is None
    True
    >>> problem_of(Rule(at="rivit[].tyhjä", words={True: "not_run"}), responses)
    "no response has 'rivit[].tyhjä'; did you mean 'rivit[].tyhja' or 'rivit[].lkm'?"
    """
    for meaning in rule.words.values():
        if not isinstance(meaning, str) or read_word(meaning).status == Status.UNKNOWN:
            return f"{meaning!r} is no status; there are {', '.join(_MEANINGS)}"
    seen = [*_values(rule, responses, headers)]
    if not seen and responses:
        patterns = {format_path(path): 0 for one in responses for path in _patterns(one, ())}
        hint = did_you_mean(near_matches(rule.at, patterns), "look at the response for its fields")
        return f"no response has {rule.at!r}; {hint}"
    states = [state_by(rule, value, names) for names, value in seen]
    if not seen or any(state and state.status != Status.UNKNOWN for state in states):
        return None
    texts = dict.fromkeys(raw(value)[:80] for _, value in seen)
    stated = ((one.get(rule.status) if isinstance(one, dict) else one) for _, one in seen)
    words = {(type(one), one): one for one in stated if isinstance(one, str | int)}
    example = ", ".join(f"{word!r}: …" for word in [*words.values()][:_SHOWN]) or "…"
    return (
        f"none of the values of {rule.at!r} is known: {', '.join([*texts][:_SHOWN])}; say what "
        f"they mean, as words={{{example}}} with {', '.join(_MEANINGS)}, or which field says it, "
        "as status="
    )


def complete(
    at: str, responses: Sequence[Any], engine_maps: Collection[str]
) -> tuple[dict[str, str], list[str]] | None:
    """Complete a rule about a word by what stands beside it; None where nothing does.

    Parameters
    ----------
    at : str
        The path of the word.
    responses : sequence
        Decoded responses of the section.
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
    objects = [o for one in responses for o in values_at(one, steps) if isinstance(o, dict)]
    names = dict.fromkeys(name for record in objects for name in record)
    texts = [
        name for name in names
        if name != status and any(" " in str(record.get(name, "")).strip() for record in objects)
        and all(isinstance(record.get(name, ""), str) for record in objects)
    ]  # fmt: skip
    maps = [name for name in names if f"{above}.{name}" in engine_maps]
    rule = {"at": above, "status": status}
    rule |= {"reason": texts[0]} if len(texts) == 1 else {}
    rule |= {"engines": maps[0]} if len(maps) == 1 else {}
    if len(rule) == 2:
        return None
    states = [
        state
        for record in objects
        if isinstance(inner := record.get(rule.get("engines", "")), dict)
        for state in inner.values()
    ]
    words = (state.get(status) if isinstance(state, dict) else state for state in states)
    return rule, [*dict.fromkeys(word for word in words if isinstance(word, str))]


def _values(
    rule: Rule, responses: Iterable[Any], headers: Iterable[Mapping[str, str]]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values that a rule reads, each with the fields on the way to it."""
    if rule.kind == "header":
        sent = (item for lines in headers for item in lines.items())
        yield from (((rule.header,), text) for name, text in sent if name.lower() == rule.header)
        return
    steps, names = parse_pattern(rule.at), tuple(rule.steps)
    for value in (value for one in responses for value in values_at(one, steps)):
        if rule.kind == "object" and isinstance(value, dict):
            yield names, value
            maps = ((name, value.get(name)) for name in (rule.fields, rule.engines))
            for name, inner in maps:
                for state in inner.values() if isinstance(inner, dict) else ():
                    yield (*names, name), state
        elif value is not None and not isinstance(value, list):
            yield (names[-1:] if rule.kind == "rows" else names), value


def values_at(value: Any, steps: Sequence[Step]) -> Iterator[Any]:
    """Yield the values at a pattern."""
    if not steps:
        yield value
    elif isinstance(steps[0], Field):
        if isinstance(value, dict) and steps[0].name in value:
            yield from values_at(value[steps[0].name], steps[1:])
    elif isinstance(value, list | dict):
        is_map = isinstance(steps[0], Entries)
        inner = value.values() if is_map and isinstance(value, dict) else value
        for item in inner if is_map or isinstance(value, list) else ():
            yield from values_at(item, steps[1:])


def _patterns(value: Any, path: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield the paths of a response at which a rule may be."""
    if isinstance(value, dict) and len(value) <= _WIDEST and len(path) <= _DEEPEST:
        for name, inner in value.items():
            yield (*path, Field(name))
            yield from _patterns(inner, (*path, Field(name)))
    elif isinstance(value, list):
        for inner in value[:_WIDEST]:
            yield from _patterns(inner, (*path, Each()))
