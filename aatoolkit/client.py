"""What a notebook begins with: a ``Client`` of one service, and the ways to a ``Project``."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from aatoolkit import settings
from aatoolkit.projects import Project
from aatoolkit.text import code

if TYPE_CHECKING:
    from aatoolkit.http import Secret

__all__ = ["Client", "Project", "demo", "project"]


class Client:
    """One service, asked as one account; its projects share a cache and connections.

    Parameters
    ----------
    base_url : str, optional
        The address of the service; else ``AATOOLKIT_BASE_URL``.
    token : str, optional
        The account's token; else ``AATOOLKIT_TOKEN``, the file that ``AATOOLKIT_TOKEN_FILE``
        names, or the system's key store. It is sent to this service and nowhere else.
    cache : bool or path
        Whether answers are kept, or the folder to keep them in.
    cache_size : int
        The bytes that the folder may take; what was used least recently makes room.
    offline : bool
        Answer from the cache alone, without opening a socket.
    expire_after : float
        For how many seconds a kept answer is fresh.
    deadline : float
        The seconds that one call may take in all.
    workers : int
        How many sections are asked for at once.

    Raises
    ------
    ConfigurationError
        If a setting is missing or cannot be used.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> with aa.Client("https://api.example", token="abc123", cache=False) as client:
    ...     client.project("acme.example")
    <Project acme.example at https://api.example>
    """

    def __init__(
        self,
        base_url: str | None = None,
        token: str | Secret | None = None,
        *,
        cache: bool | str | Path = True,
        cache_size: int = 2 * 10**9,
        offline: bool = False,
        expire_after: float = 3600.0,
        deadline: float = 60.0,
        workers: int = 8,
    ) -> None:
        from aatoolkit.http import BaseUrl, Fetcher, Secret

        # Hidden before anything can fail: tracebacks may show the arguments of a call.
        token = Secret.wrap(token)
        base = BaseUrl.parse(settings.find_base_url(base_url))
        self.base_url = base.url
        self.workers = max(1, workers)
        self._fetcher = Fetcher(
            base.url,
            settings.find_token(token, base.origin),
            cache=cache,
            cache_size=cache_size,
            offline=offline,
            expire_after=expire_after,
            deadline=deadline,
            workers=self.workers,
        )

    @property
    def offline(self) -> bool:
        """Whether answers come from the cache alone."""
        return self._fetcher.offline

    @property
    def has_token(self) -> bool:
        """Whether requests carry a token."""
        return self._fetcher.has_token

    def project(self, host: str) -> Project:
        """The project of a host.

        Raises
        ------
        ScopeError
            If the host is not a domain.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> client = aa.Client("https://api.example", cache=False)
        >>> client.project("Bücher.example").host
        'xn--bcher-kva.example'
        """
        return Project(self, host)

    def _together(self) -> AbstractContextManager[object]:
        from aatoolkit.http import ending_together

        return ending_together()

    def close(self) -> None:
        """Close the connections; the client may be used again."""
        self._fetcher.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __getstate__(self) -> NoReturn:
        raise TypeError("a client holds a token and connections, and is not pickled; make another")

    def __repr__(self) -> str:
        return f"<Client of {self.base_url}{', offline' if self.offline else ''}>"

    def _repr_html_(self) -> str:
        return code(repr(self))


def project(
    host: str,
    *,
    base_url: str | None = None,
    token: str | Secret | None = None,
    cache: bool | str | Path = True,
    offline: bool = False,
    **more: Any,
) -> Project:
    """The project of a host, from a service that is named here or in the environment.

    Parameters
    ----------
    host : str
        The project's domain.
    base_url, token, cache, offline, **more
        As for `Client`.

    Raises
    ------
    ConfigurationError
        If a setting is missing or cannot be used.
    ScopeError
        If the host is not a domain.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> aa.project("acme.example", base_url="https://api.example", cache=False)
    <Project acme.example at https://api.example>
    """
    from aatoolkit.http import Secret

    token = Secret.wrap(token)
    return Client(base_url, token, cache=cache, offline=offline, **more).project(host)


def demo(
    host: str = "acme.example",
    *,
    seed: int = 0,
    answers: int = 5000,
    cache: bool | str | Path = False,
    **more: Any,
) -> Project:
    """A project with synthetic data, from a service that this process runs for itself.

    Needs the ``demo`` extra. The service listens on a free port of this machine and ends
    with the process; calls with the same seed and size share it.

    Parameters
    ----------
    host : str
        The project's domain.
    seed : int
        What the data is drawn from.
    answers : int
        How many answers of engines the data holds.
    cache : bool or path
        As for `Client`; the demo has a port and a token of its own in every process, so that
        nothing kept would be found again.
    **more
        As for `Client`.

    Raises
    ------
    ImportError
        If the ``demo`` extra is not installed.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> aa.demo().host
    'acme.example'
    """
    from aatoolkit.embedded import serve_synthetic
    from aatoolkit.http import Secret

    base_url, token = serve_synthetic(seed, answers)
    return project(host, base_url=base_url, token=Secret(token), cache=cache, **more)
