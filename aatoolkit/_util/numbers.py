"""Format numbers: counts, rates, percentage points, money and p-values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from aatoolkit._util.units import FRACTION, FRACTION_CHANGE, FRACTION_OF_BEFORE, UNITS

_FRACTION_UNITS = (FRACTION, FRACTION_OF_BEFORE)
_DASH_FOR_NO_NUMBER = "–"


def number(value: float, unit: str | None = None, *, exact: bool = False) -> str:
    """Format a number with its unit as text, such as ``51%`` for the fraction 0.508.

    With ``exact``, percentages have at least one decimal.

    Examples
    --------
    >>> number(0.508, FRACTION), number(0.508, FRACTION, exact=True)
    ('51%', '50.8%')
    >>> number(-0.022, FRACTION_CHANGE)
    '−2.2 pp'
    >>> number(1714.0), number(39.99999999999999), number(1e-12), number(240, "milliseconds")
    ('1,714', '40', '1e−12', '240 ms')
    >>> number(1.5, "EUR")
    '1.50 EUR'
    """
    if not math.isfinite(value):
        return _DASH_FOR_NO_NUMBER
    if unit == FRACTION_CHANGE:
        return signed(value, unit)
    if unit in _FRACTION_UNITS:
        percentage = 100 * value
        decimals = 0 if (abs(percentage) >= 10 and not exact) or not percentage else 1
        return _replace_hyphens(
            f"{percentage:.{3 if exact and 0 < abs(percentage) < 0.1 else decimals}f}%"
        )
    if _is_currency(unit):
        number_text = f"{value:,.2f}"
    elif abs(value) >= 1e15:
        number_text = f"{value:.3g}"
    elif _is_near_integer(value) or abs(value) >= 1000:
        number_text = f"{value:,.0f}"
    else:
        number_text = (
            f"{value:.{1 if abs(value) >= 10 else 2}f}" if abs(value) >= 0.01 else f"{value:.2g}"
        )
    return _replace_hyphens(number_text) + _unit_suffix(unit)


def numbers(values: Iterable[float], unit: str | None = None) -> list[str]:
    """Format the numbers of a column with their unit and the same number of decimals.

    Examples
    --------
    >>> numbers([1, 2.125]), numbers([1, 12]), numbers([0.5, 1], FRACTION)
    (['1.00', '2.12'], ['1', '12'], ['50%', '100%'])
    """
    float_values = [float(value) for value in values]
    finite_values = [value for value in float_values if math.isfinite(value)]
    max_absolute_value = max(map(abs, finite_values), default=0.0)
    if (
        unit in (*_FRACTION_UNITS, FRACTION_CHANGE)
        or _is_currency(unit)
        or max_absolute_value >= 1000
        or all(map(_is_near_integer, finite_values))
    ):
        return [number(value, unit) for value in float_values]
    decimal_count = 1 if max_absolute_value >= 10 else 2
    return [
        number(value, unit)
        if not math.isfinite(value) or 0 < abs(value) < 10**-decimal_count
        else _replace_hyphens(f"{value:.{decimal_count}f}") + _unit_suffix(unit)
        for value in float_values
    ]


def format_equal_digits(values: Sequence[float], *, has_mixed_units: bool = False) -> list[str]:
    """Format the numbers of a column with the same number of decimals.

    The number of decimals is such that the largest number has four digits. A number that would be
    rounded to 0 gets three significant digits instead. With ``has_mixed_units``, i.e. if the
    numbers differ in their units, all of them get three significant digits.

    Examples
    --------
    >>> format_equal_digits([917.5, 0.4689, 0.0])
    ['917.5', '0.5', '0.0']
    >>> format_equal_digits([3994.5, 0.4689, 0.0])
    ['3994', '0.469', '0']
    >>> format_equal_digits([0.5, 0.02795]), format_equal_digits([1.0, 12.0])
    (['0.5000', '0.0279'], ['1', '12'])
    >>> format_equal_digits([1234.5, float("nan")])
    ['1234', '<NA>']
    """
    magnitudes = [abs(value) for value in values if math.isfinite(value)]
    are_all_whole = all(magnitude == math.floor(magnitude) for magnitude in magnitudes)
    max_magnitude = max(magnitudes, default=0.0)
    decimal_count = (
        0
        if are_all_whole or not max_magnitude
        else min(max(3 - math.floor(math.log10(max_magnitude)), 0), 9)
    )

    def format_value(value: float) -> str:
        rounds_to_zero = value != 0 and round(value, decimal_count) == 0
        return f"{value:{'.3g' if has_mixed_units or rounds_to_zero else f'.{decimal_count}f'}}"

    return ["<NA>" if math.isnan(value) else format_value(value) for value in values]


def format_tick(value: float, unit: str | None = None) -> str:
    """Format a number as the tick label of an axis, without unnecessary digits.

    Examples
    --------
    >>> format_tick(0.05, FRACTION), format_tick(-0.1, FRACTION_CHANGE), format_tick(2.5)
    ('5%', '−10 pp', '2.5')
    >>> format_tick(0.125, FRACTION), format_tick(2.5e12), format_tick(4e-9)
    ('12.5%', '2.5e+12', '4e−09')
    """
    if unit == FRACTION_CHANGE:
        return _replace_hyphens(f"{round(100 * value, 6):+g} pp") if value else "0 pp"
    if unit in _FRACTION_UNITS:
        return _replace_hyphens(f"{round(100 * value, 6):g}%")
    if abs(value) >= 1e10 or 0 < abs(value) < 1e-4:
        tick_text = f"{value:.6g}"
    else:
        rounded_value = round(value, 6)
        tick_text = (
            f"{rounded_value:,.0f}" if float(rounded_value).is_integer() else f"{rounded_value:g}"
        )
    return _replace_hyphens(tick_text) + _unit_suffix(unit)


def signed(value: float, unit: str | None = None) -> str:
    """Format a difference as text with its sign; fractions are given in percentage points (pp).

    Examples
    --------
    >>> signed(-0.022, FRACTION), signed(0.0003, FRACTION), signed(1e-17, FRACTION)
    ('−2.2 pp', '+0.03 pp', '±0 pp')
    >>> signed(51), signed(-0.05), signed(0), signed(math.nan)
    ('+51', '−0.05', '±0', '–')
    """
    if not math.isfinite(value):
        return _DASH_FOR_NO_NUMBER
    is_fraction = unit in (FRACTION, FRACTION_CHANGE)
    magnitude = abs(100 * value if is_fraction else value)
    magnitude = magnitude if magnitude > 1e-9 else 0.0
    if is_fraction:
        magnitude_text = f"{magnitude:.1f} pp" if magnitude >= 0.05 else f"{magnitude:.0g} pp"
    else:
        magnitude_text = number(magnitude, unit)
    return (
        f"{'±' if not magnitude else '+' if value > 0 else '−'}{_replace_hyphens(magnitude_text)}"
    )


def format_p_value(value: float) -> str:
    """Format a p-value for a sentence, such as ``p = 0.036``.

    Examples
    --------
    >>> format_p_value(0.0004), format_p_value(0.0361), format_p_value(0.29)
    ('p < 0.001', 'p = 0.036', 'p = 0.29')
    """
    return "p < 0.001" if value < 0.001 else f"p = {value:.{3 if value < 0.1 else 2}f}"


def _is_near_integer(value: float) -> bool:
    """Return whether a number is an integer up to floating-point error."""
    nearest_integer = round(value)
    return value == nearest_integer or (
        nearest_integer != 0 and abs(value - nearest_integer) <= 1e-9 * abs(value)
    )


def _replace_hyphens(text: str) -> str:
    """Replace the hyphens in a number's text by minus signs."""
    return text.replace("-", "−")


def _unit_suffix(unit: str | None) -> str:
    """Return the suffix of numbers in a unit, such as " ms" or " EUR"."""
    return UNITS[unit].short if unit in UNITS else f" {unit}" * _is_currency(unit)


def _is_currency(unit: str | None) -> bool:
    """Return whether a unit is a currency code such as ``EUR``."""
    return unit is not None and len(unit) == 3 and unit.isupper()
