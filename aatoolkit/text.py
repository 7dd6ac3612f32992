"""Text from elsewhere, made safe to show."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""Text that cannot steer a terminal or reorder a line: what does not print is escaped.

    Examples
    --------
    >>> visible("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
