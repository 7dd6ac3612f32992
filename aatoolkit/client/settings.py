"""Find the base URL and the token in the environment, a file or the key store.

While a notebook is rerun from a study, `stand_in` replaces every client of the process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aatoolkit._util.files import read_regular_file
from aatoolkit.errors import ArgumentError

if TYPE_CHECKING:
    from aatoolkit.client.client import Client
    from aatoolkit.http import Secret

BASE_URL = "AATOOLKIT_BASE_URL"
TOKEN = "AATOOLKIT_TOKEN"
TOKEN_FILE = "AATOOLKIT_TOKEN_FILE"
KEYRING_SERVICE = "aatoolkit"

_MAX_FILE = 1 << 16


def find_base_url(given: str | None) -> str:
    """Return the base URL given, or else that of the environment.

    Raises
    ------
    ArgumentError
        If neither names one.
    """
    found = given or os.environ.get(BASE_URL)
    if not found:
        raise ArgumentError(
            f"no base URL: set {BASE_URL}, or name the service (base_url, --base-url); the "
            "demo needs none, it serves synthetic data on this machine",
            argument="base_url",
        )
    return found


def find_token(given: Secret | None, origin: str) -> Secret | None:
    """Return the token given, or else from the environment, a file it names, or the key store.

    Raises
    ------
    ArgumentError
        If the file that the environment names cannot be read.
    """
    from aatoolkit.http import Secret

    if given is not None:
        return given
    if os.environ.get(TOKEN):
        return Secret(os.environ[TOKEN])
    if os.environ.get(TOKEN_FILE):
        return _read_file(Path(os.environ[TOKEN_FILE]).expanduser())
    return _ask_keyring(origin)


def _read_file(path: Path) -> Secret:
    from aatoolkit.http import Secret

    try:
        return Secret(read_regular_file(path, _MAX_FILE))
    except (OSError, ValueError) as error:  # not text, or no path
        reason = getattr(error, "strerror", None) or "it is not text"
    # Raised outside the handler: a decoding error holds the content of the file.
    raise ArgumentError(
        f"the token file that {TOKEN_FILE} names cannot be read ({reason}); check its path and "
        "permissions",
        argument="token",
    )


def _ask_keyring(origin: str) -> Secret | None:
    """Return the token that the system's key store holds for this service, if any."""
    from aatoolkit.http import Secret

    try:
        import keyring

        found = keyring.get_password(KEYRING_SERVICE, origin)
    except Exception:  # key stores fail in many ways; each means no token
        return None
    return Secret.wrap(found or None)


MakeClient = Callable[[str | None], "Client"]
"""From the base URL that was asked for, if any, to a client that takes its place."""

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
