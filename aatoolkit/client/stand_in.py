"""Replace every client of this process while a notebook is rerun from a study."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aatoolkit.client.client import Client

MakeClient = Callable[[str | None], "Client"]
"""From the base URL that was asked for, if any, to a client that answers in its place."""

_made_by: list[MakeClient] = []


def stand_in(make: MakeClient) -> None:
    """Replace every client that is made from now on in this process by another one."""
    _made_by[:] = [make]


def has_stand_in() -> bool:
    """Whether the clients of this process are replaced by another one."""
    return bool(_made_by)


def client_in_place(base_url: str | None) -> Client | None:
    """Return the client that replaces one of a service; None if clients are not replaced."""
    return _made_by[0](base_url) if _made_by else None
