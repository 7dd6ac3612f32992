"""A validated request: a host, a window of days and four filters."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

FILTERS = ("engine", "topic", "category", "brand")
DAYS = (7, 30, 90)
DEFAULT_DAYS = 30


@dataclass(frozen=True)
class Window:
    """A run of whole UTC days, both ends included."""

    start: date
    end: date

    @classmethod
    def until(cls, as_of: datetime, days: int) -> Window:
        """The window of ``days`` days that ends on the day of ``as_of``."""
        return cls(as_of.date() - timedelta(days=days - 1), as_of.date())

    @property
    def days(self) -> int:
        """The number of days, both ends counted."""
        return (self.end - self.start).days + 1

    @property
    def previous(self) -> Window:
        """The window of equal length that ends the day before this one starts."""
        return Window(self.start - timedelta(days=self.days), self.start - timedelta(days=1))


@dataclass(frozen=True)
class Question:
    """A validated request: everything that a section may depend on, and nothing else."""

    host: str
    days: int = DEFAULT_DAYS
    filters: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def filter(self, name: str) -> tuple[str, ...]:
        """The values of one filter; empty where it is not in force."""
        return self.filters.get(name, ())
