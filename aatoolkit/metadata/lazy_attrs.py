"""`LazyAttrs`: the ``attrs`` of a frame, with a text of metadata that is made when it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_values

    from aatoolkit.metadata.carrier import HeldMetadata

ATTRIBUTE = "aatoolkit"
"""The key in ``DataFrame.attrs``, and in the schema of a Parquet file."""


class LazyAttrs(dict[Any, Any]):
    """A dict that makes one of its values when it is first read, compared, copied or pickled.

    Copies and pickles are plain dicts. Compiled code that reads the dict past its methods finds
    ``instead`` in place of the value.

    Parameters
    ----------
    others : mapping
        The other items.
    source : HeldMetadata
        What the value is the text of.
    instead : str
        What stands in its place until then.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> lazy = LazyAttrs({"title": "Domains"}, SimpleNamespace(text="made"), "not yet")
    >>> lazy.is_pending, lazy["aatoolkit"], lazy.is_pending
    (True, 'made', False)
    """

    def __init__(self, others: Mapping[Any, Any], source: HeldMetadata, instead: str) -> None:
        super().__init__(others)
        super().__setitem__(ATTRIBUTE, instead)
        self.source = source
        self._instead = instead

    @property
    def is_pending(self) -> bool:
        """Whether the value was not made yet, nor replaced, nor removed."""
        return super().get(ATTRIBUTE) is self._instead

    def others(self) -> dict[Any, Any]:
        """The items beside the value."""
        get = super().get
        return {key: get(key) for key in self if key != ATTRIBUTE}

    def _fill(self) -> None:
        if self.is_pending:
            super().__setitem__(ATTRIBUTE, self.source.text)

    def __iter__(self) -> Iterator[Any]:
        # That it is defined makes `dict`, `update` and `**` ask the methods of this class.
        return super().__iter__()

    def __getitem__(self, key: Any) -> Any:
        self._fill()
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a value, or the default."""
        self._fill()
        return super().get(key, default)

    def items(self) -> dict_items[Any, Any]:
        """View the items."""
        self._fill()
        return super().items()

    def values(self) -> dict_values[Any, Any]:
        """View the values."""
        self._fill()
        return super().values()

    def pop(self, key: Any, *default: Any) -> Any:
        """Remove a key and return its value."""
        self._fill()
        return super().pop(key, *default)

    def popitem(self) -> tuple[Any, Any]:
        """Remove the last item and return it."""
        self._fill()
        return super().popitem()

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return a value; the default, which is set, where there is none."""
        self._fill()
        return super().setdefault(key, default)

    def copy(self) -> dict[Any, Any]:
        """Return a plain dict of the items."""
        self._fill()
        return super().copy()

    def __eq__(self, other: object) -> bool:
        self._fill()
        return super().__eq__(other.copy() if isinstance(other, LazyAttrs) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __or__(self, other: Any) -> Any:
        return self.copy() | (other.copy() if isinstance(other, LazyAttrs) else other)

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __repr__(self) -> str:
        return repr(self.copy())

    def __copy__(self) -> dict[Any, Any]:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[Any, Any]:
        return deepcopy(self.copy(), memo)

    def __reduce_ex__(self, protocol: Any) -> tuple[type[dict[Any, Any]], tuple[dict[Any, Any]]]:
        return dict, (self.copy(),)
