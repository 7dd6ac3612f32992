"""Prepare the kernel of a rerun before the first cell: no network, and every client replays."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

from aatoolkit.client.client import Client
from aatoolkit.client.stand_in import stand_in
from aatoolkit.study.replay import replaying_client
from aatoolkit.study.rerunning import NOWHERE, STUDY
from aatoolkit.study.study import Study

_LOOKED_UP = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
_SENT = ("socket.connect", "socket.sendto", "socket.sendmsg")
_HERE = ("localhost", "127.0.0.1", "::1", "", "0.0.0.0", "::")


def enter() -> None:
    """Make this process the kernel of a rerun; nothing undoes it."""
    study = Study(os.environ[STUDY])
    sys.addaudithook(_refuse)
    stand_in(partial(_replaying, study))


def _replaying(study: Study, base_url: str | None) -> Client:
    """The client that replays a service: the only one, or the one of this base URL."""
    services = {record.base_url for record in study.current}
    named = (base_url or "").rstrip("/")
    return replaying_client(study, named if named in services else None)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _LOOKED_UP:
        host = arguments[0]
    elif event in _SENT:
        address = arguments[1]
        # Without an address it goes where it was connected to; a name in the file system stays.
        host = address[0] if isinstance(address, tuple) and address else None
    else:
        return
    if event in _SENT and arguments[1] == NOWHERE:
        raise ConnectionRefusedError("a rerun uses no network, only the study's answers")
    if host is not None and _text(host) not in _HERE:
        raise ConnectionRefusedError(f"a rerun uses no network, and {_text(host)} is elsewhere")


def _text(host: object) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
