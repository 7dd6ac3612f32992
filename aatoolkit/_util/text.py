"""Format text: escape it, shorten it and wrap it to the terminal."""

from __future__ import annotations

import html
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

from aatoolkit._util.attributes import ShortHelpMeta
from aatoolkit._util.lexicon import meaning_by_word

_MAX_SHOWN_CHARACTERS = 300
"""The maximum number of characters of a text that is displayed."""

_UNSAFE_CHARACTERS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that control a terminal, reorder a line or are invisible."""

plain_json = json.JSONEncoder(ensure_ascii=False, default=str).encode
"""Serialize a value to JSON text without escaping characters outside of ASCII."""

Names = str | Iterable[str]
"""One name, or several."""

_NAME_BREAK_PATTERN = re.compile(r"(?<=[./?&=])(?=\w)")
_UNSAFE_CHARACTER_PATTERN = re.compile(f"[{_UNSAFE_CHARACTERS}]")
_ESCAPABLE_PATTERN = re.compile(rf"[\r{_UNSAFE_CHARACTERS}]|\\(?=u[0-9a-f]{{4}})")


def visible(text: str) -> str:
    r"""Escape the unprintable characters of a text.

    Examples
    --------
    >>> visible("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def split_long_name(word: str) -> list[str]:
    """Split a long name after dots and slashes, where a line may break.

    Examples
    --------
    >>> split_long_name("source_domains.rank")
    ['source_domains.', 'rank']
    """
    return _NAME_BREAK_PATTERN.split(word)


def to_json_text(value: Any, *, indent: int | None = None) -> str:
    r"""Serialize a value to JSON text, with characters escaped that would control a terminal.

    Examples
    --------
    >>> to_json_text(["Müller\u202e"])
    '["Müller\\u202e"]'
    """
    encoded_json = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return _UNSAFE_CHARACTER_PATTERN.sub(_json_escape, encoded_json)


def canonical_json(value: Any) -> str:
    """Serialize a value to JSON with sorted keys and no spaces.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": [None]})
    '{"a":[null],"b":1}'
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def escape_text(text: str) -> str:
    r"""Escape control and invisible characters, and the backslash of ``\uXXXX``, as ``\uXXXX``.

    Examples
    --------
    >>> escape_text("a\x9bb\\u0041")
    'a\\u009bb\\u005cu0041'
    """
    return _ESCAPABLE_PATTERN.sub(_json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    r"""Return the JSON escape of the matched character, such as ``\u202e``."""
    hex_digits = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(
        f"\\u{hex_digits[digit_position : digit_position + 4]}"
        for digit_position in range(0, len(hex_digits), 4)
    )


def drop_inner_stops(text: str) -> str:
    """Remove the full stop before each semicolon of a text with several sentences.

    Examples
    --------
    >>> drop_inner_stops("Gemini shows cited sources only.; One engine has not run.")
    'Gemini shows cited sources only; One engine has not run.'
    """
    return text.replace(".; ", "; ")


def clipped(text: str, max_length: int = _MAX_SHOWN_CHARACTERS) -> str:
    """Truncate a text for display, by default to 300 characters, followed by ``…``.

    Examples
    --------
    >>> len(clipped("n" * 10_000))
    301
    """
    return visible(text if len(text) <= max_length else f"{text[:max_length]}…")


def combine_reasons(reasons: Iterable[str | None]) -> str | None:
    """Join several reasons by ``"; "`` without duplicates.

    Examples
    --------
    >>> combine_reasons(["Claude has not run.", None, "No key.; Claude has not run."])
    'Claude has not run; No key'
    >>> combine_reasons(["Claude has not run."])
    'Claude has not run.'
    """
    distinct_reasons = [*dict.fromkeys(filter(None, reasons))]
    if len(distinct_reasons) < 2:
        return distinct_reasons[0] if distinct_reasons else None
    split_reasons = (
        reason_part for reason in distinct_reasons for reason_part in reason.split("; ")
    )
    return "; ".join(
        dict.fromkeys(reason_part.rstrip(" .") or reason_part for reason_part in split_reasons)
    )


def join_some(names: Sequence[str], max_count: int = 3, separator: str = ", ") -> str:
    """Join the first ``max_count`` names as text, and add how many others there are.

    Examples
    --------
    >>> join_some([*"abc"]), join_some([*"abcde"])
    ('a, b, c', 'a, b, c and 2 more')
    """
    omission_note = f" and {len(names) - max_count} more" if len(names) > max_count else ""
    return separator.join(names[:max_count]) + omission_note


def counted(count: int, noun: str) -> str:
    """Return a number with a noun in the singular or plural, such as "3 rows".

    Examples
    --------
    >>> counted(1, "row"), counted(1204, "row")
    ('1 row', '1,204 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def humanize(name: str) -> str:
    """Convert the name of a column to words, for headers and axes.

    Examples
    --------
    >>> humanize("ai_session_share"), humanize("averagePosition")
    ('AI session share', 'average position')
    """
    if name[:1].islower() and name.isalnum():
        name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    spelling_by_word = meaning_by_word("spelling")
    return " ".join(spelling_by_word.get(word, word) for word in visible(name).split("_")).strip()


def capitalize(text: str) -> str:
    """Return a text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def markup(text: str) -> str:
    """Escape a text as HTML; a long text is truncated.

    Examples
    --------
    >>> markup("<b>Acme</b>")
    '&lt;b&gt;Acme&lt;/b&gt;'
    """
    return html.escape(clipped(text))


def code(text: str) -> str:
    """Return a text as an HTML ``code`` element; a long text is truncated.

    Examples
    --------
    >>> code("<Client>")
    '<code class="tex2jax_ignore">&lt;Client&gt;</code>'
    """
    return f'<code class="tex2jax_ignore">{markup(text)}</code>'


# -- within a width ----------------------------------------------------------------------------

_DEFAULT_WIDTH = 80


def terminal_width() -> int:
    """Return the line width for printed text: as set in pandas, else that of the terminal, else 80.

    Examples
    --------
    >>> import pandas as pd
    >>> with pd.option_context("display.width", 120):
    ...     terminal_width()
    120
    """
    pandas = sys.modules.get("pandas")  # declarations are printed without it
    width: int | None = pandas.get_option("display.width") if pandas else None
    if width and width != _DEFAULT_WIDTH:  # pandas has 80 where nobody set it
        return width
    return shutil.get_terminal_size((_DEFAULT_WIDTH, 24)).columns


def wrap_cell(cell_text: str, width: int) -> list[str]:
    """Wrap a text into lines; long names are broken after dots and slashes.

    Examples
    --------
    >>> wrap_cell("see source_domains.retrieved_answer_count", 24)
    ['see source_domains.', 'retrieved_answer_count']
    """
    breakable_words = []
    for word in cell_text.split(" "):
        fitting_text = ""
        for name_part in split_long_name(word) if len(word) > width else [word]:
            if fitting_text and len(fitting_text) + len(name_part) > width:
                breakable_words.append(fitting_text)
                fitting_text = ""
            fitting_text += name_part
        breakable_words.append(fitting_text)
    return textwrap.wrap(" ".join(breakable_words), width, break_on_hyphens=False) or [""]


def wrap_lines(text: str) -> str:
    r"""Wrap the lines of a text that are wider than the terminal; continuations are indented.

    Examples
    --------
    >>> import pandas as pd
    >>> with pd.option_context("display.width", 24):
    ...     print(wrap_lines("a table\n  name  partial: no engine has run yet"))
    a table
      name  partial: no
        engine has run yet
    """
    width = terminal_width()
    lines = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        if len(line) > width:
            lines += textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)
        else:
            lines.append(line)
    return "\n".join(lines)


def print_wrapped(value: Any, printer: Any, cycle: bool) -> None:
    """Print the ``repr`` of a value in IPython, with lines wrapped to the width of the terminal."""
    printer.text(wrap_lines(repr(value)))


class TitledRepr(metaclass=ShortHelpMeta):
    """A base class of objects whose ``repr`` is a title with indented lines below it."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # IPython prefers the ``repr`` of a class to what it inherits.
        cls._repr_pretty_ = TitledRepr._repr_pretty_  # type: ignore[method-assign]

    def _title_and_lines(self) -> tuple[str, Sequence[str]]:
        """Return the title of the ``repr`` and the lines below it."""
        raise NotImplementedError

    def __str__(self) -> str:
        title, lines = self._title_and_lines()
        return "\n".join([clipped(title), *(f"  {clipped(line)}" for line in lines)])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(wrap_lines(str(self)))

    def _repr_html_(self) -> str:
        title, lines = self._title_and_lines()
        list_items = "".join(f"<li>{markup(line)}</li>" for line in lines)
        return f'<div class="tex2jax_ignore"><b>{markup(title)}</b><ul>{list_items}</ul></div>'


def parse_datetime(text: str) -> date | datetime | None:
    """Parse a day or a timestamp in ISO 8601; return None for any other text.

    Examples
    --------
    >>> parse_datetime("2026-11-05"), parse_datetime("05.11.2026")
    (datetime.date(2026, 11, 5), None)
    """
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def find_unused_name(name: str, used_names: Iterable[str]) -> str:
    """Return a name that is not used yet: ``name`` itself, or with a number appended.

    Examples
    --------
    >>> find_unused_name("hits", ["hits", "hits_2"])
    'hits_3'
    """
    taken_names = set(used_names)
    candidate_name = name
    suffix_number = 2
    while candidate_name in taken_names:
        candidate_name = f"{name}_{suffix_number}"
        suffix_number = suffix_number + 1
    return candidate_name
