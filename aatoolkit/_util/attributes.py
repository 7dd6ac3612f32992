"""Near matches where an attribute is mistyped: of an object (`NamesNear`) and of a module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aatoolkit.errors import did_you_mean, near_matches


def missing_attribute(owner: str, name: str, known: Sequence[str]) -> AttributeError:
    """Make the error for a name that a module or object does not have, with near matches.

    Examples
    --------
    >>> print(missing_attribute("module 'aatoolkit'", "demoo", ["demo", "read_parquet"]))
    module 'aatoolkit' has no attribute 'demoo'; did you mean 'demo'?
    """
    text = f"{owner} has no attribute {name!r}"
    if name.startswith("_"):  # asked for by Python and its tools
        return AttributeError(text)
    near = near_matches(name, known)
    hint = did_you_mean(near, f"there are {', '.join(known)}" if len(known) < 100 else "see dir()")
    return AttributeError(f"{text}; {hint}")


class NamesNear:
    """A class whose missing attributes are an `AttributeError` with near matches.

    Examples
    --------
    >>> class Menu(NamesNear):
    ...     def soup(self) -> None: ...
    >>> Menu().sup
    Traceback (most recent call last):
        ...
    AttributeError: Menu has no attribute 'sup'; did you mean 'soup'?
    """

    def _item_named(self, name: str) -> str:
        """What to write where the name is that of an item, not of an attribute; else nothing."""
        return ""

    if not TYPE_CHECKING:  # type checkers go by what is declared

        def __getattr__(self, name: str) -> Any:
            kind = type(self).__name__
            if name.startswith("_"):  # asked for by pickle, copy and notebooks
                raise AttributeError(f"{kind!r} object has no attribute {name!r}")
            there = [each for each in dir(type(self)) if not each.startswith("_")]
            near = near_matches(name, [*there, *(each for each in vars(self) if each[0] != "_")])
            hint = self._item_named(name) or did_you_mean(near, f"there are {', '.join(there)}")
            kind = {"Accessor": "df.aa"}.get(kind, kind)
            raise AttributeError(f"{kind} has no attribute {name!r}; {hint}")
