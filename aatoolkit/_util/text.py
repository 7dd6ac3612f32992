"""Text from elsewhere, made safe to show."""

from __future__ import annotations

import html
from collections.abc import Iterable

_LONG = 300
"""How many characters of a piece of text a display shows."""


def visible(text: str) -> str:
    r"""Text that cannot steer a terminal or reorder a line: what does not print is escaped.

    Examples
    --------
    >>> visible("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def clipped(text: str) -> str:
    """Visible text that is not longer than a display wants it.

    Examples
    --------
    >>> len(clipped("n" * 10_000))
    301
    """
    return visible(text if len(text) <= _LONG else f"{text[:_LONG]}…")


def markup(text: str) -> str:
    """Text as HTML: clipped, visible, and no markup of its own.

    Examples
    --------
    >>> markup("<b>Acme</b>")
    '&lt;b&gt;Acme&lt;/b&gt;'
    """
    return html.escape(clipped(text))


def code(text: str) -> str:
    """One line of HTML that shows text as it stands.

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
