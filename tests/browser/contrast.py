"""How well text can be read on a page."""

from __future__ import annotations

from typing import Any

CONTRAST = """(element) => {
  const parse = (colour) => {
    const at = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    at.fillStyle = colour;
    at.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = at.getImageData(0, 0, 1, 1).data;
    return { rgb: [r, g, b], a: a / 255 };
  };
  const over = (top, under) => top.rgb.map((c, i) => c * top.a + under[i] * (1 - top.a));
  const layers = [];
  for (let at = element; at; at = at.parentElement)
    layers.unshift(parse(getComputedStyle(at).backgroundColor));
  const paper = layers.reduce((under, layer) => over(layer, under), [255, 255, 255]);
  const ink = over(parse(getComputedStyle(element).color), paper);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => {
      c /= 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low, high] = [light(ink), light(paper)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}"""
"""The ratio of contrast of an element's text, as in WCAG 2.2: at least 4.5 for text."""


def contrast(view: Any, selector: str) -> float:
    ratio: float = view.locator(selector).first.evaluate(CONTRAST)
    return ratio


def assert_words_can_be_read(view: Any, within: str) -> None:
    """All words in an element contrast with what is behind them."""
    words = "xpath=.//*[text()[normalize-space()]][not(self::style or self::script)]"
    found = view.locator(within).locator(words).all()
    assert found
    for each in found[:60]:
        assert each.evaluate(CONTRAST) >= 4.5, each.text_content()


def assert_picker_can_be_read(view: Any) -> None:
    """The words of a picker contrast with what is behind them."""
    for part in (".aa-label", ".aa-title", ".aa-note", ".aa-copy", ".aa-python", "legend"):
        assert contrast(view, f".aa-picker {part}") >= 4.5, part
