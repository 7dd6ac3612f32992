"""What a picture shows, read from the value that it was drawn from."""

from __future__ import annotations

from typing import Any


def row_words(axes: Any) -> dict[str, str]:
    """The words beside each row by its label, from the top."""
    names = axes.spec.y.category_names
    words = {
        round(y): word
        for mark in axes.spec.marks
        if mark.kind == "words"
        for y, word in zip(mark.y, mark.texts, strict=True)
    }
    return {names[row].text: words[row] for row in sorted(words)}


def row_looks(axes: Any) -> dict[str, str]:
    """The look of the box of each row by its label."""
    names = axes.spec.y.category_names
    return {
        names[round(y)].text: mark.style.fill
        for mark in axes.spec.marks
        if mark.kind == "boxes"
        for y in mark.y
    }
