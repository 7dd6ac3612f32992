"""Map the exceptions of the libraries to the reason why there is no answer."""

from __future__ import annotations

import http.client
import ssl
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import requests
import urllib3.exceptions as urllib3

from aatoolkit.http.body import BadEncoding, IncompleteBody
from aatoolkit.http.deadline import CallCancelled, DeadlineReached, ResponseTooLarge
from aatoolkit.http.framing import MalformedResponse
from aatoolkit.http.sockets import HostNotFound, NoResponse, NotLoopback


class UnsupportedProxy(Exception):
    """The environment names a proxy that is not an HTTP proxy."""


class MissingBundle(Exception):
    """The environment names a file of certificates that does not exist."""


@dataclass(frozen=True)
class TransportProblem:
    """The reason why there is no answer.

    Parameters
    ----------
    reason
        The reason in our own words: the messages of the libraries may hold anything.
    retryable
        Whether another attempt may help.
    kind
        The kind of error that it becomes.
    """

    reason: str
    retryable: bool = True
    kind: Literal["connection", "deadline", "too_large", "encoding", "internal"] = "connection"


DEADLINE_REACHED = TransportProblem(
    "no complete answer came before the deadline", retryable=False, kind="deadline"
)
_BROKEN = TransportProblem("the connection broke off")

_PROBLEMS: tuple[tuple[tuple[type[BaseException], ...], TransportProblem], ...] = (
    ((DeadlineReached,), DEADLINE_REACHED),
    ((CallCancelled,), TransportProblem("the call was cancelled", retryable=False)),
    (
        (ResponseTooLarge,),
        TransportProblem("the response does not end", retryable=False, kind="too_large"),
    ),
    (
        (BadEncoding,),
        TransportProblem("the answer cannot be decompressed", retryable=False, kind="encoding"),
    ),
    (
        (UnsupportedProxy,),
        TransportProblem("only http:// and https:// proxies can be used", retryable=False),
    ),
    (
        (MissingBundle,),
        TransportProblem("REQUESTS_CA_BUNDLE names no file or folder", retryable=False),
    ),
    (
        # Before what befell the connection, which is one to the proxy.
        (requests.exceptions.ProxyError,),
        TransportProblem("the proxy that the environment names could not be used"),
    ),
    ((HostNotFound,), TransportProblem("the name of the service is not known")),
    (
        (NotLoopback,),
        TransportProblem("a name that should mean this machine leads elsewhere", retryable=False),
    ),
    ((NoResponse,), TransportProblem("no connection in time")),
    ((ConnectionRefusedError,), TransportProblem("the connection was refused")),
    (
        (ssl.SSLCertVerificationError,),
        TransportProblem("the service could not prove who it is (TLS)", retryable=False),
    ),
    ((ssl.SSLEOFError,), _BROKEN),
    (
        (ssl.SSLError, urllib3.SSLError, requests.exceptions.SSLError),
        TransportProblem("there is no agreement on an encrypted connection (TLS)", retryable=False),
    ),
    ((requests.exceptions.Timeout,), TransportProblem("the service went silent")),
    ((http.client.RemoteDisconnected, ConnectionError, http.client.IncompleteRead), _BROKEN),
    (
        (MalformedResponse, http.client.HTTPException),
        TransportProblem("what came is not HTTP", retryable=False),
    ),
)


_OF_THE_NETWORK = (
    OSError,
    EOFError,
    IncompleteBody,
    urllib3.HTTPError,
    requests.RequestException,
)
"""What the libraries raise for the network's faults; anything else is a fault of this package."""


def problem_of(error: Exception) -> TransportProblem:
    """Return the first problem that an exception, or any exception behind it, maps to."""
    chain = tuple(_chain(error))
    for kinds, problem in _PROBLEMS:
        if any(isinstance(each, kinds) for each in chain):
            return problem
    if any(isinstance(each, _OF_THE_NETWORK) for each in chain):
        return _BROKEN
    return TransportProblem(
        f"{type(error).__name__} within aatoolkit", retryable=False, kind="internal"
    )


def release(error: BaseException) -> None:
    """Drop what an exception references: tracebacks, frames with requests and sockets, causes."""
    for each in tuple(_chain(error)):
        traceback.clear_frames(each.__traceback__)
        each.__traceback__ = each.__cause__ = each.__context__ = None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception, and every exception that it was made from."""
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if not isinstance(each, BaseException) or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [*each.args, getattr(each, "reason", None), each.__cause__, each.__context__]
