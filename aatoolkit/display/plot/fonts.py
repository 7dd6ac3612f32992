"""Text that is safe to draw, and how wide it is: literal, in fonts that have its letters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font, LoadFlags

from aatoolkit._util.text import visible
from aatoolkit.errors import AAToolkitWarning

_lacking: ContextVar[set[str]] = ContextVar("lacking")
_FALLBACKS = (
    "Noto Sans",
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans CJK TC",
    "Noto Sans CJK KR",
    "Noto Sans JP",
    "Noto Sans SC",
    "Source Han Sans",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "IPAGothic",
    "TakaoGothic",
    "VL Gothic",
    "Droid Sans Fallback",
    "NanumGothic",
    "PingFang SC",
    "Malgun Gothic",
    "SimHei",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Symbols 2",
    "Hiragino Sans",
    "Yu Gothic",
    "Microsoft YaHei",
    "Segoe UI Symbol",
    "Arial Unicode MS",
)
"""Fonts for scripts that the default fonts lack, if installed."""


def literal_text(**properties: Any) -> dict[str, Any]:
    """Text properties for literal text: no mathematics, no TeX, with fallback fonts."""
    return {"parse_math": False, "usetex": False, "fontfamily": list(families()), **properties}


def safe_text(text: str) -> str:
    """Text that can be drawn: nothing invisible, and a box for characters that no font has."""
    covered = _covered(families())
    shown = visible(text)
    lacking = {char for char in shown if char != "\n" and ord(char) not in covered}
    _lacking.get(set()).update(lacking)
    return "".join("□" if char in lacking else char for char in shown)


@contextmanager
def warned_of_fonts() -> Iterator[None]:
    """Warn once of the letters that no font had, among all that is drawn in the block."""
    lacking: set[str] = set()
    token = _lacking.set(lacking)
    try:
        yield
    finally:
        _lacking.reset(token)
    letters = "".join(sorted(lacking))
    if letters:
        warnings.warn(
            f"no installed font has {letters[:20]!r}; they are drawn as boxes: install fonts such "
            "as Noto Sans CJK, or set matplotlib's font.family",
            AAToolkitWarning,
            stacklevel=5,
        )


def families() -> tuple[str, ...]:
    """The fonts of text: the usual ones, then those installed that have other scripts."""
    usual = mpl.rcParams["font.family"]
    installed = _installed()
    return (*usual, *(name for name in _FALLBACKS if name in installed))


@lru_cache(maxsize=1)
def _installed() -> frozenset[str]:
    return frozenset(font_manager.fontManager.get_font_names())


@lru_cache(maxsize=8)
def _covered(families: tuple[str, ...]) -> frozenset[int]:
    """The characters that the fonts cover, in regular and in bold."""
    weights = []
    for weight in ("normal", "bold"):
        found: set[int] = set()
        for family in families:
            font = font_manager.FontProperties(family=[family], weight=weight)
            found |= font_manager.get_font(font_manager.findfont(font)).get_charmap().keys()
        weights.append(found)
    return frozenset(set.intersection(*weights))


def width_of(text: str, size: float, is_bold: bool = False) -> float:
    """The width of a line of text in points."""
    usual = families()
    return size * _ROOM * sum(_advance(char, is_bold, usual) for char in text)


def fitted(text: str, width: float, size: float, is_bold: bool = False) -> str:
    """Safe text, without its middle where it is wider than some points."""
    shown = safe_text(text[:_LONGEST])
    if not shown or width_of(shown, size, is_bold) <= width:
        return shown
    kept = max(int(len(shown) * width / width_of(shown, size, is_bold)), 2)
    while kept > 2:
        end = kept // 2
        elided = f"{shown[: kept - end - 1]}…{shown[-end:]}"
        if width_of(elided, size, is_bold) <= width:
            return elided
        kept -= 1
    return f"{shown[:1]}…"


def wrapped(text: str, width: float, size: float, most: int = 3, *, is_bold: bool = False) -> str:
    """Safe text in lines of some points at most; what is beyond the most lines is left out."""
    lines = [""]
    for word in safe_text(text).split():
        word = fitted(word, width, size, is_bold)
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size, is_bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        last = fitted(f"{lines[most - 1]} …", width, size, is_bold)
        lines = [*lines[: most - 1], last if last.endswith("…") else f"{last[:-2]} …"]
    return "\n".join(lines)


_ROOM, _LONGEST = 1.03, 600
"""What is added to widths for kerning and rounding; the longest text that is measured."""


@lru_cache(maxsize=4096)
def _advance(char: str, is_bold: bool, usual: tuple[str, ...]) -> float:
    """The width of a letter, of a size of 1."""
    for font in _fonts(usual, is_bold):
        if font.get_char_index(ord(char)):
            glyph = font.load_char(ord(char), flags=LoadFlags.NO_SCALE)
            return float(glyph.horiAdvance) / float(font.units_per_EM)
    return 0.7


@lru_cache(maxsize=8)
def _fonts(usual: tuple[str, ...], is_bold: bool) -> tuple[FT2Font, ...]:
    """Fonts of our own: drawing resizes those of matplotlib."""
    weight = "bold" if is_bold else "normal"
    named = (font_manager.FontProperties(family=[name], weight=weight) for name in usual)
    return tuple(FT2Font(font_manager.findfont(font)) for font in named)
