"""The tables of the profile ``reference`` as types; the stub beside it is made of the profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from aatoolkit.client.project import Project
    from aatoolkit.client.reference_types import ReferenceProject


def typed(project: Project) -> ReferenceProject:
    """The project itself, as a type that knows its tables."""
    return cast("ReferenceProject", project)
