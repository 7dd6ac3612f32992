"""Base classes that give public classes a short ``help`` and suggestions of similar names."""

from __future__ import annotations

import inspect
import sys
from abc import ABCMeta
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from aatoolkit.errors import make_attribute_error

K = TypeVar("K")
V = TypeVar("V")


class ShortHelpMeta(ABCMeta):
    """A metaclass that shortens ``help(Class)`` to the class docstring and one line per member.

    Examples
    --------
    >>> class Menu(metaclass=ShortHelpMeta):
    ...     '''What there is to eat.'''
    ...
    ...     def soup(self) -> None:
    ...         '''Return the soup.'''
    >>> print(Menu.__doc__)
    What there is to eat.
    <BLANKLINE>
    Members
    -------
    soup             Return the soup.
    <BLANKLINE>
    ``help(Menu.soup)`` has the arguments and examples of one.
    """

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_: Any
    ) -> None:
        super().__init__(name, bases, namespace)
        cls.__doc__ = class_doc = inspect.cleandoc(namespace.get("__doc__") or "")
        names_and_first_lines = [*members_of(cls)]
        if class_doc and names_and_first_lines:
            help_lines = [
                f"{member:{_NAME_WIDTH}} {first_line}"
                for member, first_line in names_and_first_lines
            ]
            if "``help(" not in class_doc:
                member = names_and_first_lines[0][0]
                help_lines += [
                    "",
                    f"``help({name}.{member})`` has the arguments and examples of one.",
                ]
            cls.__doc__ = "\n".join([class_doc, "", "Members", "-------", *help_lines])

    def __dir__(cls) -> list[str]:
        # ``help`` would print the whole documentation of each member after the chapter.
        is_called_by_help = sys._getframe(1).f_code is inspect.classify_class_attrs.__code__
        return [] if is_called_by_help else [*super().__dir__()]


# The width of the column of names in the list of members, in characters.
_NAME_WIDTH = 16


def members_of(class_: type) -> list[tuple[str, str]]:
    """Return the name and the first line of the docstring of each public member of a class.

    Members that the class's own docstring already describes are left out.
    """
    first_line_by_name = {}
    for base_class in reversed(class_.__mro__):
        for name, member in vars(base_class).items():
            member_doc = (
                inspect.getdoc(member) if base_class.__module__.startswith("aatoolkit.") else ""
            )
            is_listed = f"\n{name} : " in (class_.__doc__ or "") or isinstance(
                member, str | int | tuple
            )
            if not name.startswith("_") and member_doc and not is_listed:
                first_line_by_name[name] = member_doc.partition("\n")[0]
    return [*first_line_by_name.items()]


class NameSuggestionMixin(metaclass=ShortHelpMeta):
    """A base class whose `AttributeError` for an unknown attribute suggests similar names.

    Examples
    --------
    >>> class Menu(NameSuggestionMixin):
    ...     def soup(self) -> None: ...
    >>> Menu().sup
    Traceback (most recent call last):
        ...
    AttributeError: Menu has no attribute 'sup'; did you mean 'soup'?
    """

    _name_in_errors = ""
    """The name of the object in the error message; by default the name of the class."""

    def _hint_on_unknown_name(self, name: str) -> str:
        """Return a hint on a missing attribute, e.g. ``write tables['rank']``; "" if none fits."""
        return ""

    if not TYPE_CHECKING:  # type checkers go by what is declared

        def __getattr__(self, name: str) -> Any:
            names = [name for name in (*dir(type(self)), *vars(self)) if name[0] != "_"]
            hint = "" if name[0] == "_" else self._hint_on_unknown_name(name)
            raise make_attribute_error(
                self._name_in_errors or type(self).__name__, name, names, hint
            )


class ReadOnlyMapping(Mapping[K, V], NameSuggestionMixin):
    """A base class of read-only mappings; in a notebook, Tab completes their keys."""

    _items: Mapping[K, Any]

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def _ipython_key_completions_(self) -> list[Any]:
        return list(self)
