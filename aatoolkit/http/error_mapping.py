"""What went wrong between here and the service, told from the exceptions of the libraries."""

from __future__ import annotations

import http.client
import ssl
import traceback
from collections.abc import Iterator
from dataclasses import dataclass

import requests
import urllib3.exceptions as urllib3

from aatoolkit.http.body import Packed, TooMuch
from aatoolkit.http.deadline import Flooded, Late, Stopped
from aatoolkit.http.framing import Malformed
from aatoolkit.http.sockets import NotHere, Silent, UnknownName


class UnfitProxy(Exception):
    """The environment names a proxy that is none for HTTP."""


class NoBundle(Exception):
    """The environment names certificates that are not there."""


@dataclass(frozen=True)
class Mishap:
    """What went wrong.

    Parameters
    ----------
    reason
        Why there is no answer, in our own words: those of the libraries may hold anything.
    again
        Whether another attempt may help.
    kind
        What it is a case of: ``late``, ``too_large``, ``packed`` or ``broken``.
    """

    reason: str
    again: bool = True
    kind: str = "broken"


LATE = Mishap("no whole answer came before the deadline", again=False, kind="late")

_MISHAPS: tuple[tuple[tuple[type[BaseException], ...], Mishap], ...] = (
    ((Late,), LATE),
    ((Stopped,), Mishap("the call was ended", again=False)),
    ((TooMuch,), Mishap("the answer is too large", again=False, kind="too_large")),
    ((Flooded,), Mishap("the answer does not end", again=False, kind="too_large")),
    ((Packed,), Mishap("the answer cannot be unpacked", again=False, kind="packed")),
    ((UnfitProxy,), Mishap("only http:// and https:// proxies can be used", again=False)),
    ((NoBundle,), Mishap("REQUESTS_CA_BUNDLE names no file or folder", again=False)),
    ((UnknownName,), Mishap("the name of the service is not known")),
    ((NotHere,), Mishap("a name that should mean this machine leads elsewhere", again=False)),
    ((Silent,), Mishap("no connection in time")),
    ((ConnectionRefusedError,), Mishap("the connection was refused")),
    (
        (ssl.SSLCertVerificationError,),
        Mishap("the service could not prove who it is (TLS)", again=False),
    ),
    ((ssl.SSLEOFError,), Mishap("the connection broke off")),
    (
        (ssl.SSLError, urllib3.SSLError, requests.exceptions.SSLError),
        Mishap("there is no agreement on an encrypted connection (TLS)", again=False),
    ),
    ((requests.exceptions.ProxyError,), Mishap("the proxy could not be used")),
    ((requests.exceptions.Timeout,), Mishap("the service went silent")),
    (
        (http.client.RemoteDisconnected, ConnectionError, http.client.IncompleteRead),
        Mishap("the connection broke off"),
    ),
    ((Malformed, http.client.HTTPException), Mishap("what came is not HTTP", again=False)),
)


def mishap(error: Exception) -> Mishap:
    """What an exception means; the first meaning that any exception behind it has."""
    behind = tuple(_behind(error))
    for kinds, found in _MISHAPS:
        if any(isinstance(each, kinds) for each in behind):
            return found
    return Mishap("the connection broke off")


def let_go(error: BaseException) -> None:
    """Let go of all that an exception holds: frames with requests and sockets in them, and more."""
    for each in tuple(_behind(error)):
        traceback.clear_frames(each.__traceback__)
        each.__traceback__ = each.__cause__ = each.__context__ = None


def _behind(error: BaseException) -> Iterator[BaseException]:
    """An exception, and those that it was made of."""
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if not isinstance(each, BaseException) or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [*each.args, getattr(each, "reason", None), each.__cause__, each.__context__]
