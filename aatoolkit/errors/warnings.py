"""The warnings."""

from __future__ import annotations


class AAToolkitWarning(UserWarning):
    """Base class of all warnings of this package."""


class DraftWarning(AAToolkitWarning):
    """No declaration fits the answers: they are read by drafts made of the answers themselves."""


class SchemaDriftWarning(AAToolkitWarning):
    """An answer has fields that its declaration does not list, or lacks declared ones."""


class UnknownAvailabilityWarning(AAToolkitWarning):
    """Words about availability are read as unknown; a `Rule` of the declaration explains them."""


class DetectionWarning(AAToolkitWarning):
    """Availability could not be read in full: a fault of this package; the answer is as it was."""


class RedactionWarning(AAToolkitWarning):
    """Text that is left out of one column of a publication is in another column."""


class StaleDataWarning(AAToolkitWarning):
    """An expired answer was used, as the service failed."""


class MergeWarning(AAToolkitWarning):
    """Keys of a merge do not meet: no value is on both sides, or some differ by spelling only."""


class FontWarning(AAToolkitWarning):
    """Letters of a picture that no installed font has."""


class ScopeWarning(AAToolkitWarning):
    """A value of a filter is no longer offered by a picker, or could not be checked; it stays."""


class CacheWarning(AAToolkitWarning):
    """The cache cannot be used; answers come from the network."""
