"""Checks of single arguments: each raises an `ArgumentError` that names the argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from os import PathLike
from typing import Any

from aatoolkit._util.argument_kinds import is_large, is_plain_listing, shown
from aatoolkit.errors import ArgumentError, ArgumentTypeError

Check = Callable[[str, Any], None]


def check_path(name: str, value: Any) -> None:
    """Raise `ArgumentTypeError` if an argument is no path."""
    _path(name, value)


def check_pictured(**given: Any) -> None:
    """Raise `ArgumentTypeError` if what names columns or words of a picture is no text."""
    for name, value in given.items():
        several = name in ("y", "color") and not isinstance(value, str) and is_plain_listing(value)
        for each in value if several else [value]:
            if each is not None and not isinstance(each, str):
                raise _refused(name, each, "no text")


def _refused(name: str, value: Any, what: str) -> ArgumentTypeError:
    return ArgumentTypeError(f"{name}={shown(value)} is {what}", argument=name)


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise _refused(name, value, "no text")
    if not value:
        raise ArgumentError(f"{name}='' is empty; leave it out, or name one", argument=name)


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool) and type(value).__name__ not in ("bool_", "bool"):
        raise _refused(name, value, "neither True nor False")


def _number(name: str, value: Any) -> None:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise _refused(name, value, "no number")


def _whole(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise _refused(name, value, "no whole number")


def _frame(name: str, value: Any) -> None:
    if not hasattr(value, "iloc") or not hasattr(value, "columns"):
        raise _refused(name, value, "no DataFrame")


def _frame_or_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        _frame(name, value)


def _names(name: str, value: Any) -> None:
    """One name of a column, or several."""
    if isinstance(value, str):
        return _text(name, value)
    if not is_plain_listing(value):
        raise _refused(name, value, "neither the name of a column nor a list of them")
    for each in value:
        if not isinstance(each, str):
            raise _refused(name, each, "no name of a column")
    return None


def _by(name: str, value: Any) -> None:
    """Names of columns and groupers of pandas."""
    if type(value).__name__ in ("Grouper", "TimeGrouper"):
        return
    if isinstance(value, str) or not is_plain_listing(value):
        _names(name, value)
        return
    for each in value:
        if type(each).__name__ not in ("Grouper", "TimeGrouper"):
            _names(name, [each])


def _path(name: str, value: Any) -> None:
    if not isinstance(value, str | PathLike) or not str(value):
        raise _refused(name, value, "no path")
    if "\0" in str(value):
        raise ArgumentError(f"{name} holds a null character, which no path has", argument=name)


def _mapping(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise _refused(name, value, "no mapping, such as tables or a dict of frames")


def _rules(name: str, value: Any) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value):
        raise _refused(name, value, "no rules, such as {'visits': 'sum'}")


def _tabular(name: str, value: Any) -> None:
    if not hasattr(value, "columns") or isinstance(value, type):
        raise _refused(name, value, "no DataFrame or Arrow table")


def _listing(name: str, value: Any) -> None:
    """Several texts, or one."""
    if isinstance(value, bytes) or not isinstance(value, Iterable) or is_large(value):
        raise _refused(name, value, "no list of names")


def _pair(name: str, value: Any) -> None:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise _refused(name, value, "no pair of texts")


def _flag_or_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        _flag(name, value)


def _path_or_mapping(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        _path(name, value)


def _declaration(name: str, value: Any) -> None:
    if type(value).__name__ != "Table":
        raise _refused(name, value, "no Table: aatoolkit.sections.table(name) gives one")


def _or_none(check: Check) -> Check:
    def unless_none(name: str, value: Any) -> None:
        if value is not None:
            check(name, value)

    return unless_none


_PLAIN: dict[str, Check] = {
    "str": _text,
    "bool": _flag,
    "float": _number,
    "int": _whole,
    "pd.DataFrame": _frame,
    "str | Sequence[str]": _names,
    "str | Iterable[str]": _names,
    "Sequence[str]": _names,
    "By": _or_none(_by),
    "str | os.PathLike[str]": _path,
    "str | Path": _path,
    "Mapping[str, pd.DataFrame]": _mapping,
    "Mapping[str, pa.Table]": _mapping,
    "Rules": _rules,
    "pd.DataFrame | pa.Table": _tabular,
    "Iterable[str]": _listing,
    "tuple[str | None, str | None]": _pair,
    "bool | str": _flag_or_text,
    "Tables | str | os.PathLike[str]": _path_or_mapping,
    "Table": _declaration,
}
CHECKS: dict[str, Check] = {
    **_PLAIN,
    **{f"{words} | None": _or_none(check) for words, check in _PLAIN.items()},
    'pd.DataFrame | Literal["previous"]': _frame_or_text,
    "pd.DataFrame | Literal['previous']": _frame_or_text,
}
