"""`NamesNear`: objects that name near matches where an attribute is mistyped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aatoolkit._util.suggest import did_you_mean, near_matches
from aatoolkit.errors import AttributeNotFound


class NamesNear:
    """A class whose missing attributes are an `AttributeNotFound` with near matches.

    Examples
    --------
    >>> class Menu(NamesNear):
    ...     def soup(self) -> None: ...
    >>> Menu().sup
    Traceback (most recent call last):
        ...
    aatoolkit.errors.data.AttributeNotFound: Menu has no attribute 'sup'; did you mean 'soup'?
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
            raise AttributeNotFound(
                f"{kind} has no attribute {name!r}; {hint}", attribute=name, suggestions=near
            )
