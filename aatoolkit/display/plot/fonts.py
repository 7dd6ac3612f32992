"""Text that is safe to draw: literal, elided, in fonts that have its letters."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager

from aatoolkit.display.plot.labels import elide_middle
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


def safe_text(text: str, most: int = 200) -> str:
    """Text that can be drawn: elided, and with a box for characters that no font has."""
    covered = _covered(families())
    shown = elide_middle(text, most)
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
            stacklevel=6,
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


def wrap(text: str, width: int) -> str:
    """Safe text, wrapped to at most three lines."""
    lines = textwrap.wrap(safe_text(text, 3 * width), width, max_lines=3, placeholder=" …")
    return "\n".join(lines)
