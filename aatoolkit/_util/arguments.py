"""Check arguments of public methods against their annotations, so that a wrong kind is named."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from numbers import Integral, Real
from os import PathLike
from typing import Any, TypeVar

from aatoolkit.errors import ArgumentError, ArgumentTypeError

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])


def checks_arguments(kind: C) -> C:
    """Make the public methods of a class check the kinds of what they are given.

    What an annotation of plain kinds says is checked: text, numbers, flags, frames, names of
    columns. A number that is text, or a frame where a name belongs, is an `ArgumentTypeError`, and
    a name that is missing or unknown an `ArgumentError`, each with the argument's name.

    Examples
    --------
    >>> @checks_arguments
    ... class Greeter:
    ...     def greet(self, name: str = "you") -> str:
    ...         return f"Hello {name}"
    >>> Greeter().greet("Ada")
    'Hello Ada'
    >>> Greeter().greet(3)
    Traceback (most recent call last):
        ...
    aatoolkit.errors.data.ArgumentTypeError: name=3 is no text
    """
    for name, function in vars(kind).items():
        if inspect.isfunction(function) and not name.startswith("_"):
            setattr(kind, name, checked(function))
    return kind


def checked(function: F) -> F:
    """Make a function check the kinds of what it is given, as `checks_arguments` does."""

    @wraps(function)
    def method(*args: Any, **kwargs: Any) -> Any:
        signature, checks = _checks(function)
        problem = ""
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            problem = str(error)
        if problem:
            raise ArgumentTypeError(f"{function.__name__}: {problem}; it takes {signature}")
        for name, check in checks.items():
            values = [given[name]] if name in given else []
            several = signature.parameters[name].kind == inspect.Parameter.VAR_POSITIONAL
            for value in values[0] if values and several else values:
                check(name, value)
        return function(*args, **kwargs)

    return method  # type: ignore[return-value]


Check = Callable[[str, Any], None]


@cache
def _checks(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Check]]:
    """The signature of a function, and the check of each argument that has one."""
    signature = inspect.signature(function)
    found = {
        name: _KINDS[str(parameter.annotation)]
        for name, parameter in signature.parameters.items()
        if str(parameter.annotation) in _KINDS
    }
    return signature, found


def check_path(name: str, value: Any) -> None:
    """Raise `ArgumentTypeError` if an argument is no path."""
    _path(name, value)


def check_pictured(**given: Any) -> None:
    """Raise `ArgumentTypeError` if what names columns or words of a picture is no text."""
    for name, value in given.items():
        several = name in ("y", "color") and not isinstance(value, str) and _is_plain_listing(value)
        for each in value if several else [value]:
            if each is not None and not isinstance(each, str):
                raise _refused(name, each, "no text")


def _refused(name: str, value: Any, what: str) -> ArgumentTypeError:
    shown = f"a {type(value).__name__}" if _is_large(value) else repr(value)[:80]
    return ArgumentTypeError(f"{name}={shown} is {what}", argument=name)


def _is_large(value: Any) -> bool:
    return hasattr(value, "iloc") or hasattr(value, "read")


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
    if not _is_plain_listing(value):
        raise _refused(name, value, "neither the name of a column nor a list of them")
    for each in value:
        if not isinstance(each, str):
            raise _refused(name, each, "no name of a column")
    return None


def _by(name: str, value: Any) -> None:
    """Names of columns and groupers of pandas."""
    if type(value).__name__ in ("Grouper", "TimeGrouper"):
        return
    if isinstance(value, str) or not _is_plain_listing(value):
        _names(name, value)
        return
    for each in value:
        if type(each).__name__ not in ("Grouper", "TimeGrouper"):
            _names(name, [each])


def _path(name: str, value: Any) -> None:
    if not isinstance(value, str | PathLike) or not str(value):
        raise _refused(name, value, "no path")


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
    if isinstance(value, bytes) or not isinstance(value, Iterable) or _is_large(value):
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


def _is_plain_listing(value: Any) -> bool:
    return (
        isinstance(value, Iterable)
        and not isinstance(value, bytes | Mapping)
        and not _is_large(value)
        and hasattr(value, "__len__")
    )


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
_KINDS: dict[str, Check] = {
    **_PLAIN,
    **{f"{words} | None": _or_none(check) for words, check in _PLAIN.items()},
    'pd.DataFrame | Literal["previous"]': _frame_or_text,
    "pd.DataFrame | Literal['previous']": _frame_or_text,
}
