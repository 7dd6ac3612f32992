"""The kinds of values that annotations of arguments mean, and words for them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import Any, TypeVar

from aatoolkit._util.suggest import did_you_mean, near_matches


@dataclass(frozen=True)
class Kind:
    """The values that an argument takes, and words for them.

    Examples
    --------
    >>> kind = kind_of("str | Iterable[str] | None", {})
    >>> kind.takes("a"), kind.takes(None), kind.takes(3), kind.takes(["a", 3])
    (True, True, False, False)
    >>> kind.words
    ('text', 'a list of text')
    """

    takes: Callable[[Any], bool]
    words: tuple[str, ...] = ()
    choices: tuple[Any, ...] = ()

    def problem(self, name: str, value: Any) -> str:
        """The message for an argument that has a value of another kind."""
        if self.choices and isinstance(value, str):
            texts = [each for each in self.choices if isinstance(each, str)]
            near = near_matches(value, texts)
            hint = did_you_mean(near, f"there are {', '.join(map(repr, self.choices))}")
            return f"{name}={shown(value)} is not known; {hint}"
        wanted = self.words or ("None",)
        listed = " or ".join(filter(None, (", ".join(wanted[:-1]), wanted[-1])))
        return f"{name}={shown(value)} cannot be used; give {listed}"


def shown(value: Any) -> str:
    """Return a value as a message shows it: short, on one line, whatever its ``repr`` does.

    Examples
    --------
    >>> shown("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…"
    """
    if is_large(value):
        return f"a {type(value).__name__}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a user's own object may fail in any way
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:79]}…"


def is_large(value: Any) -> bool:
    """Whether a value is a frame, an array or a file, which no message shows."""
    return any(hasattr(value, name) for name in ("iloc", "read", "__array__", "schema"))


def is_beyond_64_bits(value: Any) -> bool:
    """Whether a value is a number that no integer of 64 bits holds, such as infinity."""
    number: Any = value
    return isinstance(value, Real) and not abs(number) < 2**63


def is_plain_listing(value: Any) -> bool:
    """Whether a value is a list or the like: neither text, nor a mapping, nor a frame."""
    return (
        isinstance(value, Iterable)
        and not isinstance(value, str | bytes | Mapping)
        and (not is_large(value) or hasattr(value, "tolist"))
        and not hasattr(value, "iloc")
        and not hasattr(value, "columns")
        and hasattr(value, "__len__")
    )


def kind_of(annotation: str, names: Mapping[str, Any]) -> Kind | None:
    """Return the kind that an annotation means, or None where it does not say.

    Parameters
    ----------
    annotation
        The annotation, as text.
    names
        The names that it may use for classes, such as the globals of its module.

    Examples
    --------
    >>> kind_of("int", {}).problem("workers", "many")
    "workers='many' cannot be used; give a whole number"
    >>> kind_of("Literal['light', 'dark']", {}).problem("theme", "drak")
    "theme='drak' is not known; did you mean 'dark'?"
    >>> kind_of("Any", {}) is None
    True
    """
    parts = [_part(each, names) for each in _split(annotation, "|")]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    has_path = any("a path" in part.words for part in known)
    if len(known) == 1 and not has_path:
        return known[0]
    words = dict.fromkeys(word for part in known for word in part.words)
    if has_path:
        words.pop("text", None)
    choices = tuple(choice for part in known for choice in part.choices)

    def takes(value: Any) -> bool:
        if has_path and isinstance(value, str):
            return bool(value) and "\0" not in value
        return any(part.takes(value) for part in known)

    return Kind(takes, tuple(words), choices)


def _part(annotation: str, names: Mapping[str, Any]) -> Kind | None:
    outer, _, inner = annotation.partition("[")
    outer = outer.rpartition(".")[2]
    if outer in _PLAIN and not inner:
        return _PLAIN[outer]
    if outer == "PathLike":
        return _PLAIN["Path"]
    if outer == "Callable":
        return Kind(callable, ("a function",))
    arguments = [each for each in _split(inner.removesuffix("]"), ",") if each != "..."]
    if outer == "Literal":
        choices = tuple(ast.literal_eval(each) for each in arguments)
        return Kind(partial(_is_among, choices), tuple(map(repr, choices)), choices)
    within = [kind_of(each, names) for each in arguments]
    if outer in ("Iterable", "Sequence", "Collection", "list", "tuple", "Set", "frozenset"):
        length = len(within) if outer == "tuple" and "..." not in inner else None
        of = within[0].words if within and within[0] is not None else ()
        listing = f"a list of {' or '.join(of)}" if of else "a list"
        word = f"{length} values" if length is not None else listing
        return Kind(partial(_is_listing, within, length), (word,))
    if outer in ("Mapping", "dict"):
        return Kind(partial(_is_mapping, within[:1]), ("a dict",))
    found = names.get(outer)
    if isinstance(found, type) and found is not Any and not inner:
        return Kind(partial(_is_instance, found), (_with_article(found.__name__),))
    if isinstance(found, TypeVar) and found.__constraints__:
        return kind_of(" | ".join(each.__name__ for each in found.__constraints__), names)
    if found is None and outer in _OURS:
        return Kind(partial(_is_named, outer), (_with_article(outer),))
    return None


def _split(annotation: str, by: str) -> list[str]:
    """The parts of an annotation between separators that are in no brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for letter in annotation:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        depth += (letter in "[(") - (letter in "])") if not quote else 0
        if letter == by and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _is_among(choices: Sequence[Any], value: Any) -> bool:
    return any(type(value) is type(choice) and value == choice for choice in choices)


def _is_listing(within: Sequence[Kind | None], length: int | None, value: Any) -> bool:
    if length is not None:
        return (
            isinstance(value, tuple | list)
            and len(value) == length
            and all(of is None or of.takes(one) for of, one in zip(within, value, strict=True))
        )
    if not is_plain_listing(value):  # what is read once only is not looked at
        return (
            isinstance(value, Iterable)
            and not isinstance(value, str | bytes | Mapping)
            and (not is_large(value) and not hasattr(value, "__len__"))
        )
    of = within[0] if within else None
    return of is None or all(of.takes(each) for each in value)


def _is_mapping(keys: Sequence[Kind | None], value: Any) -> bool:
    of = keys[0] if keys else None
    return isinstance(value, Mapping) and (of is None or all(of.takes(each) for each in value))


def _is_instance(kind: type, value: Any) -> bool:
    return isinstance(value, kind)


def _is_named(name: str, value: Any) -> bool:
    return any(kind.__name__ == name for kind in type(value).__mro__)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _is_number(kind: type, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _is_frame(value: Any) -> bool:
    return hasattr(value, "iloc") and hasattr(value, "columns")


def _with_article(name: str) -> str:
    return f"a{'n' * (name[0] in 'AEIOU')} {name}"


_PLAIN: dict[str, Kind] = {
    "None": Kind(lambda value: value is None),
    "str": Kind(partial(_is_instance, str), ("text",)),
    "bytes": Kind(partial(_is_instance, bytes), ("bytes",)),
    "bool": Kind(_is_flag, ("True or False",)),
    "int": Kind(partial(_is_number, Integral), ("a whole number",)),
    "float": Kind(partial(_is_number, Real), ("a number",)),
    "Path": Kind(lambda value: isinstance(value, PathLike), ("a path",)),
    "DataFrame": Kind(_is_frame, ("a DataFrame",)),
    "datetime": Kind(partial(_is_instance, datetime), ("a datetime",)),
    "date": Kind(partial(_is_instance, date), ("a date",)),
}

_OURS = frozenset({"Client", "Payload", "Project", "Record", "Scope", "ScopeOptions", "Secret"})
"""Classes of this package that modules import for their annotations alone."""
