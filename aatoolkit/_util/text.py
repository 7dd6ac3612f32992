"""Text from elsewhere, made safe to show or to write."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from typing import Any

_LONG = 300
"""How many characters of a piece of text a display shows."""

_UNSAFE = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that steer a terminal, reorder a line or are invisible; not those between the letters
of a word or the parts of an emoji."""

_NAME_BREAKS = re.compile(r"(?<=[./?&=])(?=\w)")
_CONTROLS = re.compile(f"[{_UNSAFE}]")
_ESCAPABLE = re.compile(rf"[\r{_UNSAFE}]|\\(?=u[0-9a-f]{{4}})")
_ESCAPE = re.compile(r"(?:\\u[0-9a-f]{4})+")


def shown(value: Any) -> str:
    """Return a value as a message shows it: short, on one line, whatever its ``repr`` does.

    Examples
    --------
    >>> shown(["a", None])
    "['a', None]"
    """
    if any(hasattr(value, name) for name in ("iloc", "read", "__array__", "schema")):
        return f"a {type(value).__name__}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a user's own object may fail in any way
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:79]}…"


def visible(text: str) -> str:
    r"""Text that cannot steer a terminal or reorder a line: what does not print is escaped.

    Examples
    --------
    >>> visible("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def name_parts(word: str) -> list[str]:
    """Split a long name where it may be broken, which is after dots, slashes and the like.

    Examples
    --------
    >>> name_parts("source_domains.rank")
    ['source_domains.', 'rank']
    """
    return _NAME_BREAKS.split(word)


def json_text(value: Any, *, indent: int | None = None) -> str:
    r"""Serialize to JSON in UTF-8, with control and bidirectional characters as escapes.

    Nothing is lost: whoever parses the text gets the same value.

    Examples
    --------
    >>> json_text(["Müller\u202e"])
    '["Müller\\u202e"]'
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return _CONTROLS.sub(_escaped, text)


def escaped(text: str) -> str:
    r"""Escape control and bidirectional characters as ``\uXXXX``; `unescaped` undoes it.

    Examples
    --------
    >>> escaped("a\x9bb\\u0041")
    'a\\u009bb\\u005cu0041'
    """
    return _ESCAPABLE.sub(_escaped, text)


def unescaped(text: str) -> str:
    r"""Undo `escaped`.

    Examples
    --------
    >>> unescaped(r"a\u009bb\u005cu0041") == "a\x9bb\\u0041"
    True
    """
    return _ESCAPE.sub(lambda found: str(json.loads(f'"{found[0]}"')), text)


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def joined(text: str) -> str:
    """Sentences that were joined, without their full stops before the next.

    Examples
    --------
    >>> joined("Gemini shows cited sources only.; One engine has not run.")
    'Gemini shows cited sources only; One engine has not run.'
    """
    return text.replace(".; ", "; ")


def clipped(text: str) -> str:
    """Visible text that is not longer than a display wants it.

    Examples
    --------
    >>> len(clipped("n" * 10_000))
    301
    """
    return visible(text if len(text) <= _LONG else f"{text[:_LONG]}…")


def combined_reason(reasons: Iterable[str | None]) -> str | None:
    """Reasons as one text, each once, separated by ``"; "``; one alone stays as it is.

    A reason may be joined itself: its parts are separate reasons. Full stops before a separator
    are left out, so that `str.split` gives the same parts in whatever order they were joined.

    Examples
    --------
    >>> combined_reason(["Claude has not run.", None, "No key.; Claude has not run."])
    'Claude has not run; No key'
    >>> combined_reason(["Claude has not run."])
    'Claude has not run.'
    """
    listed = [*dict.fromkeys(filter(None, reasons))]
    if len(listed) < 2:
        return listed[0] if listed else None
    parts = (part for reason in listed for part in reason.split("; "))
    return "; ".join(dict.fromkeys(part.rstrip(" .") or part for part in parts))


def counted(number: int, noun: str) -> str:
    """Format a number of things, such as "3 rows".

    Examples
    --------
    >>> counted(1, "row"), counted(1204, "row")
    ('1 row', '1,204 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def markup(text: str) -> str:
    """Text as HTML: clipped, visible, and no markup of its own.

    Examples
    --------
    >>> markup("<b>Acme</b>")
    '&lt;b&gt;Acme&lt;/b&gt;'
    """
    return html.escape(clipped(text))


def code(text: str) -> str:
    """One line of HTML that shows text unchanged, as code.

    Examples
    --------
    >>> code("<Client>")
    '<code class="tex2jax_ignore">&lt;Client&gt;</code>'
    """
    return f'<code class="tex2jax_ignore">{markup(text)}</code>'


def listing(title: str, items: Iterable[str]) -> str:
    """A title and a list, as HTML.

    Examples
    --------
    >>> listing("domains", ["source_domains"])
    '<div class="tex2jax_ignore"><b>domains</b><ul><li>source_domains</li></ul></div>'
    """
    listed = "".join(f"<li>{markup(item)}</li>" for item in items)
    return f'<div class="tex2jax_ignore"><b>{markup(title)}</b><ul>{listed}</ul></div>'
