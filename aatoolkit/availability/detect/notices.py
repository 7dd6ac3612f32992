"""Notes and notices: what an answer says of itself in sentences and codes beside its data."""

from __future__ import annotations

import re
from typing import Any

from aatoolkit.availability import Availability, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import Answer
from aatoolkit.availability.detect.parts import explained, reason_in
from aatoolkit.availability.detect.phrases import STRONG
from aatoolkit.availability.detect.vocabulary import Word, because, in_prose, is_code, tokens, understand

_ASIDE = re.compile(
    r"(?i)deprecat|\b(parameter|argument|endpoint|version|browser|locale|currency|time ?zone)\b"
)
"""Notices that are about the call, and not about data."""

_IDLE = ("id", "name", "key", "section", "property", "path")
"""Names in a notice that are the notice's own, not those of a field."""


def read(answer: Answer, key: str, value: Any, path: str) -> bool:
    """Read what stands under a key of notes or notices; whether it is such a key."""
    note = roles.is_note(key)
    # Remarks are about anything; where nothing was measured, they may say why.
    remark = roles.is_remark(key) and not answer.measured
    if not note and not roles.is_notice(key) and not remark:
        return False
    listed = [(item, f"{path}[{at}]") for at, item in enumerate(value)] if _is_list(value) else []
    for item, place in listed or [(value, path)]:
        if note:
            _note(answer, item, place)
        else:
            _notice(answer, key, item, place)
    return True


def hear(answer: Answer) -> None:
    """Take a notice of prose for what it says, where nothing else speaks of the section."""
    for text, path, value in () if answer.has_section else answer.prose:
        known = None if _ASIDE.search(text) else understand(text) or in_prose(text)
        if known is not None and _is_heard(text, known):
            state = answer.weighed(known.availability)
            part = state.status == Status.UNAVAILABLE and answer.counted
            state = Availability(Status.PARTIAL if part else state.status, state.cause, text)
            answer.add("section", None, state, path, "notice", value)
            return


def _is_heard(text: str, known: Word) -> bool:
    """Whether a word of a notice can be trusted; everyday words only where they are the code."""
    if known.canonical == "available":
        return False
    coded = is_code(text) and known.canonical not in ("unavailable", "error")
    return known.strength >= STRONG or coded


def named_reason(answer: Answer, key: str, value: str, path: str) -> None:
    """A reason for an absence that its own key names: ``emptyReason``, ``noDataReason``."""
    state = keys.denial(" ".join(tokens(key)[:-1]))
    if state is not None:
        state = answer.weighed(explained(state, {"reason": value}))
        answer.add("section", None, state, path, "reason", value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _note(answer: Answer, item: Any, path: str) -> None:
    text = reason_in(item) if isinstance(item, dict) else item
    if isinstance(text, str) and text.strip():
        known = understand(text) if is_code(text) else None
        cause = known.availability.cause if known else None
        answer.add("section", None, Availability(Status.PARTIAL, cause, text), path, "note", item)


def _notice(answer: Answer, key: str, item: Any, path: str) -> None:
    """A notice with a code says something; one of prose is kept until all else is read."""
    given = item if isinstance(item, dict) else {}
    texts = [text for text in given.values() if isinstance(text, str)]
    texts += [item] if isinstance(item, str) else []
    for text in texts:
        known = understand(text) if is_code(text) else None
        if known and known.strength >= STRONG and known.canonical != "available":
            state = answer.weighed(because(known.availability, reason_in(given) or text))
            _add(answer, given, state, path, item)
            return
    if (roles.is_prose(key) or roles.is_remark(key)) and not any(map(_ASIDE.search, texts)):
        answer.prose += [(text, path, item) for text in texts]


def _add(answer: Answer, given: dict[str, Any], state: Availability, path: str, item: Any) -> None:
    """Keep what a notice says of the field or engine it names, else of the section."""
    named = roles.name_of({name: value for name, value in given.items() if name not in _IDLE})
    if named is None:
        answer.add("section", None, state, path, "notice", item)
    elif named[0] == "engine":
        answer.add("engine", named[1], state, path, "notice", item)
    else:
        answer.add("field", answer.about(named[1]), state, path, "notice", item)
