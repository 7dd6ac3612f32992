"""Text that is safe to draw, and how wide it is: literal, in fonts that have its letters."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font, LoadFlags

from aatoolkit._util.text import visible

_FALLBACKS = (
    "Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC",
    "Source Han Sans", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "IPAGothic", "NanumGothic",
    "Droid Sans Fallback", "PingFang SC", "Malgun Gothic", "Noto Sans Arabic", "Noto Sans Hebrew",
    "Noto Sans Devanagari", "Noto Sans Symbols 2", "Hiragino Sans", "Yu Gothic", "Microsoft YaHei",
    "Segoe UI Symbol", "Arial Unicode MS",
)  # fmt: skip
"""Fonts for scripts that the default fonts lack, if installed."""
_ROOM, _LONGEST = 1.03, 600
"""What is added to widths for kerning and rounding; the longest text that is measured."""


def literal_text(**properties: Any) -> dict[str, Any]:
    """Text properties for literal text: no mathematics, no TeX, with fallback fonts."""
    return {"parse_math": False, "usetex": False, "fontfamily": list(families()), **properties}


def families() -> tuple[str, ...]:
    """The fonts of text: the usual ones, then those installed that have other scripts."""
    return (*mpl.rcParams["font.family"], *_installed())


@lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    installed = {*font_manager.fontManager.get_font_names()}
    return tuple(name for name in _FALLBACKS if name in installed)


@lru_cache(maxsize=8)
def _fonts(names: tuple[str, ...], is_bold: bool) -> tuple[FT2Font, ...]:
    """Fonts of our own: drawing resizes those of matplotlib."""
    weight = "bold" if is_bold else "normal"
    fonts = (font_manager.FontProperties(family=[name], weight=weight) for name in names)
    return tuple(FT2Font(font_manager.findfont(font)) for font in fonts)


@lru_cache(maxsize=4096)
def _advance(char: str, is_bold: bool, names: tuple[str, ...]) -> float:
    """The width of a letter, of a size of 1; 0 if no font has it."""
    for font in _fonts(names, is_bold):
        if font.get_char_index(ord(char)):
            glyph = font.load_char(ord(char), flags=LoadFlags.NO_SCALE)
            return float(glyph.horiAdvance) / float(font.units_per_EM) or 0.01
    return 0.0


def safe_text(text: str) -> str:
    """Text that can be drawn: nothing invisible, and a box for characters that no font has."""
    names = families()
    return "".join(
        char
        if char == "\n" or (_advance(char, False, names) and _advance(char, True, names))
        else "□"
        for char in visible(text)
    )


def width_of(text: str, size: float, is_bold: bool = False) -> float:
    """The width of a line of text in points."""
    names = families()
    return size * _ROOM * sum(_advance(char, is_bold, names) for char in text)


def fitted(text: str, width: float, size: float, is_bold: bool = False) -> str:
    """Safe text, without its middle where it is wider than some points."""
    text = safe_text(text[:_LONGEST])
    if not text or width_of(text, size, is_bold) <= width:
        return text
    for kept in range(max(int(len(text) * width / width_of(text, size, is_bold)), 2), 2, -1):
        elided = f"{text[: kept - kept // 2 - 1]}…{text[-(kept // 2) :]}"
        if width_of(elided, size, is_bold) <= width:
            return elided
    return f"{text[:1]}…"


def wrapped(text: str, width: float, size: float, most: int = 3, *, is_bold: bool = False) -> str:
    """Safe text in lines of some points at most; what is beyond the most lines is left out."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {fitted(word, width, size, is_bold)}".strip()
        if width_of(longer, size, is_bold) <= width:
            lines[-1] = longer
        else:
            lines.append(fitted(word, width, size, is_bold))
    last = lines[most - 1] if len(lines) > most else ""
    while last:
        lines[most - 1] = f"{last} …"
        last = last.rpartition(" ")[0] * (width_of(f"{last} …", size, is_bold) > width)
    return "\n".join(lines[:most])
