"""A base class for what is closed at the end of a ``with`` block."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """Calls ``close`` at the end of a ``with`` block."""

    def close(self) -> None:
        """Release the resources that the object holds."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
