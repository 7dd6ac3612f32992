"""`AAToolkitError`: facts as attributes, and how an error pickles."""

from __future__ import annotations

from typing import Any, ClassVar


class AAToolkitError(Exception):
    """Base class of all errors of this package.

    Parameters
    ----------
    message
        What went wrong and what to do about it.
    **facts
        Further facts; each becomes an attribute.

    Examples
    --------
    >>> from aatoolkit.errors import ScopeError
    >>> error = ScopeError("unknown engine 'chatgbt'", parameter="engine", unknown=("chatgbt",))
    >>> error.parameter, error.unknown
    ('engine', ('chatgbt',))
    """

    facts: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.facts = (*cls.facts, *cls.__annotations__)

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        unknown = set(facts) - set(self.facts)
        if unknown:
            raise TypeError(f"{type(self).__name__} has no fact {', '.join(sorted(unknown))}")
        for name in self.facts:
            setattr(self, name, facts.get(name))

    def __reduce__(self) -> tuple[Any, ...]:
        facts = {name: getattr(self, name) for name in self.facts}
        return _rebuild, (type(self), self.message, facts)


def _rebuild(kind: type[AAToolkitError], message: str, facts: dict[str, Any]) -> AAToolkitError:
    return kind(message, **facts)
