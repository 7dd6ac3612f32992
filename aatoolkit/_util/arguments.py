"""Check arguments of public methods against their annotations, so that a wrong kind is named."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial, wraps
from typing import Any, TypeVar

from aatoolkit._util.argument_checks import CHECKS, Check
from aatoolkit._util.argument_checks import check_path as check_path
from aatoolkit._util.argument_checks import check_pictured as check_pictured
from aatoolkit._util.argument_kinds import is_beyond_64_bits, is_plain_listing, kind_of, shown
from aatoolkit._util.suggest import did_you_mean, near_matches
from aatoolkit.errors import AAToolkitError, ArgumentError, ArgumentTypeError

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
        given = _bound(function, args, kwargs)
        signature, checks = _checks(function)
        for name, check in checks.items():
            values = [given[name]] if name in given else []
            several = signature.parameters[name].kind == inspect.Parameter.VAR_POSITIONAL
            for value in values[0] if values and several else values:
                if several and is_plain_listing(value):
                    raise ArgumentTypeError(
                        f"{name}={shown(value)} is a list; give its values one by one, as in "
                        f"{function.__name__}(*{name})",
                        argument=name,
                    )
                check(name, value)
        return function(*args, **kwargs)

    return method  # type: ignore[return-value]


def checks_flags(kind: C) -> C:
    """Make the public methods of a class check what is True or False before they begin.

    Examples
    --------
    >>> @checks_flags
    ... class Reader:
    ...     def read(self, name: str, refresh: bool = False) -> str:
    ...         return f"{name}{refresh}"
    >>> Reader().read("a", refresh="no")
    Traceback (most recent call last):
        ...
    aatoolkit.errors.data.ArgumentTypeError: refresh='no' is neither True nor False
    """
    for name, function in vars(kind).items():
        if inspect.isfunction(function) and not name.startswith("_"):
            annotations = function.__annotations__
            flags = {each: CHECKS[of] for each, of in annotations.items() if of in _FLAGS}
            if flags:
                setattr(kind, name, _with_flags(function, flags))
    return kind


def _with_flags(function: F, flags: Mapping[str, Check]) -> F:
    @wraps(function)
    def method(*args: Any, **kwargs: Any) -> Any:
        for name in flags.keys() & kwargs.keys():
            flags[name](name, kwargs[name])
        return function(*args, **kwargs)

    return method  # type: ignore[return-value]


_FLAGS = ("bool", "bool | None")


def names_wrong_arguments(kind: C) -> C:
    """Make a class name the argument that is to blame where making or using an object fails.

    For what is made or called often: arguments are looked at only after a failure. Its methods
    are those that are public, and ``__init__``.

    Examples
    --------
    >>> @names_wrong_arguments
    ... class Greeter:
    ...     def __init__(self, name: str) -> None:
    ...         self.name = name.title()
    >>> Greeter(3)
    Traceback (most recent call last):
        ...
    aatoolkit.errors.data.ArgumentTypeError: name=3 cannot be used; give text
    """
    for name, function in vars(kind).items():
        if name != "__init__" and name.startswith("_"):
            continue
        if inspect.isfunction(function):
            setattr(kind, name, names_wrong(function))
        elif isinstance(function, classmethod | staticmethod):
            setattr(kind, name, type(function)(names_wrong(function.__func__)))
    return kind


def names_wrong(function: F) -> F:
    """Make a function name the argument that is to blame where it fails.

    A generator fails later than it is called: its arguments are looked at before.
    """
    begins_later = inspect.isgeneratorfunction(function)

    @wraps(function)
    def method(*args: Any, **kwargs: Any) -> Any:
        if begins_later:
            for name, value in _bound(function, args, kwargs).items():
                check_kind(function, name, value)
        try:
            return function(*args, **kwargs)
        except AAToolkitError:
            raise
        except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
            failure = error
        for name, value in _bound(function, args, kwargs).items():
            check_kind(function, name, value)
            if isinstance(failure, OverflowError) and is_beyond_64_bits(value):
                raise ArgumentError(f"{name}={shown(value)} is too large", argument=name)
        raise failure

    return method  # type: ignore[return-value]


def check_kind(function: Callable[..., Any], name: str, value: Any) -> None:
    """Raise `ArgumentTypeError` if a value is of another kind than its argument's annotation."""
    parameter = inspect.signature(function).parameters.get(name)
    if parameter is None or parameter.kind == inspect.Parameter.VAR_KEYWORD:
        return
    kind = kind_of(str(parameter.annotation), getattr(function, "__globals__", {}))
    several = parameter.kind == inspect.Parameter.VAR_POSITIONAL
    for each in value if several else [value]:
        if kind is not None and not kind.takes(each):
            error = ArgumentError if isinstance(each, str) and kind.choices else ArgumentTypeError
            raise error(kind.problem(name, each), argument=name)


def check_known(given: Iterable[str], function: Callable[..., Any], what: str) -> None:
    """Raise `ArgumentTypeError` for names that are no arguments of a function, with near matches.

    Examples
    --------
    >>> def connect(host: str, offline: bool = False) -> None: ...
    >>> check_known(["offlin"], connect, "the client")
    Traceback (most recent call last):
        ...
    aatoolkit.errors.data.ArgumentTypeError: the client takes no 'offlin'; did you mean 'offline'?
    """
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    for name in given:
        if name not in known:
            hint = did_you_mean(near_matches(name, known), f"it takes {', '.join(known)}")
            raise ArgumentTypeError(f"{what} takes no {name!r}; {hint}", argument=name)


def _bound(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of a call by the arguments' names."""
    signature, _ = _checks(function)
    problem = ""
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        problem = str(error)
    named = [name for name in signature.parameters if name != "self"]
    unknown = [name for name in kwargs if name not in named]
    if unknown:
        problem = f"got an unexpected keyword argument {unknown[0]!r}"
    near = near_matches(unknown, named)
    hint = did_you_mean(near, f"it takes {', '.join(named)}")
    called = function.__name__
    if called == "__init__":
        called = function.__qualname__.rpartition(".")[0]
    raise ArgumentTypeError(f"{called}: {problem}; {hint}")


@cache
def _checks(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Check]]:
    """The signature of a function, and the check of each argument that has one."""
    signature = inspect.signature(function)
    found: dict[str, Check] = {}
    for name, parameter in signature.parameters.items():
        annotation = str(parameter.annotation)
        check = CHECKS.get(annotation)
        if check is not None:
            found[name] = check
        elif parameter.kind != inspect.Parameter.VAR_KEYWORD and kind_of(annotation, {}):
            found[name] = partial(check_kind, function)
    return signature, found
