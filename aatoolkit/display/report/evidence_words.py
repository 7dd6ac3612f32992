"""The evidence of numbers in words: places in responses, formulas, responses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from aatoolkit.display.plot.labels import describe_scope
from aatoolkit.display.report.markup import text
from aatoolkit.display.report.outline import chapter_of
from aatoolkit.display.report.wording import path_words, plain
from aatoolkit.frame.explain import CitedAnswer, Explanation, ValuePlace
from aatoolkit.jsontree.paths import KEY_SIGN, Step, format_json_path, parse_path

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


def answer_words(answer: CitedAnswer) -> str:
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
