"""`Client`: one service, asked as one account."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, final

from aatoolkit._util.attributes import Closing, NamesNear
from aatoolkit._util.defaults import CACHE_SIZE, DEADLINE, EXPIRE_AFTER, WORKERS
from aatoolkit._util.text import shown
from aatoolkit.client import settings
from aatoolkit.client.collection import Collection
from aatoolkit.client.dataset import Dataset
from aatoolkit.client.project import Project
from aatoolkit.client.reading import ReadingOptions, known_sections, raise_if_all_refused, read_many
from aatoolkit.client.settings import client_in_place
from aatoolkit.errors import NotAuthorized, ScopeError
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.payload import Payload, Request
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile, default_profile
from aatoolkit.sections.profile import ProfileSource

if TYPE_CHECKING:
    from aatoolkit.http import Secret

__all__ = ["Client", "Project"]

T = TypeVar("T")


class AnswerSource(Protocol):
    """The source of a client's responses: a fetcher, or a study that records or replays."""

    offline: bool
    has_token: bool

    def get(self, request: Request) -> Payload:
        """Return the response to a request, or raise a `FetchError`."""

    def close(self) -> None:
        """Close the connections."""


@final
class Client(Closing, NamesNear):
    """The connection to one service as one account; its projects share cache and connections.

    Parameters
    ----------
    base_url : str, optional
        The address of the service; else ``AATOOLKIT_BASE_URL``.
    token : str, optional
        The account's token; else ``AATOOLKIT_TOKEN``, the file that ``AATOOLKIT_TOKEN_FILE``
        names, or the system's key store. It is sent to this service and nowhere else.
    cache : bool or path
        Whether to cache responses, or the folder to cache them in.
    cache_size : int
        The size limit of the cache in bytes; the least recently used responses are evicted.
    offline : bool
        Read from the cache only, without opening a socket.
    expire_after : float
        For how many seconds a cached response is fresh.
    deadline : float
        The seconds that one call may take, retries included.
    workers : int
        The number of concurrent requests.
    profile : Profile, module, str or path, optional
        The declarations of the service, or the Python file that holds them, which is run.
    max_nodes : int
        How many different JSON paths a response may have values at; they have some hundreds.

    Raises
    ------
    ArgumentError
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
        cache_size: int = CACHE_SIZE,
        offline: bool = False,
        expire_after: float = EXPIRE_AFTER,
        deadline: float = DEADLINE,
        workers: int = WORKERS,
        profile: ProfileSource | None = None,
        max_nodes: int = MAX_NODES,
    ) -> None:
        from aatoolkit.http import BaseUrl, Fetcher, Secret

        # Wrapped before anything can fail: tracebacks may show the arguments of a call.
        token = Secret.wrap(token)
        # They may show this object before it is complete, too.
        self.base_url: str = "?"
        self.offline: bool = offline
        replaying = client_in_place(base_url)
        if replaying is not None:
            vars(self).update(vars(replaying))
            if profile is not None:
                vars(self)["_profile"] = Profile.load(profile)
            return
        base = BaseUrl.parse(settings.find_base_url(base_url))
        self.base_url = base.url
        self.workers: int = max(1, workers)
        self.max_nodes: int = max_nodes
        self._profile = None if profile is None else Profile.load(profile)
        # What another process needs to make the same client; its token it finds itself.
        self._settings: dict[str, Any] | None = {
            "cache": cache,
            "cache_size": cache_size,
            "offline": offline,
            "expire_after": expire_after,
            "deadline": deadline,
            "workers": self.workers,
        }
        token = settings.find_token(token, base.origin)
        self._source: AnswerSource = Fetcher(base.url, token, **self._settings)

    @classmethod
    def _from_source(
        cls,
        source: AnswerSource,
        base_url: str,
        workers: int,
        profile: Profile | None = None,
        max_nodes: int = MAX_NODES,
    ) -> Client:
        """Make a client that gets its responses from somewhere else than a fetcher of its own."""
        client = cls.__new__(cls)
        client.base_url, client.workers, client._source = base_url, workers, source
        client.offline, client._profile = source.offline, profile
        client.max_nodes = max_nodes
        client._settings = None
        return client

    @property
    def profile(self) -> Profile:
        """The profile of the service; the default profile where none was given."""
        return default_profile() if self._profile is None else self._profile

    @property
    def _options(self) -> ReadingOptions:
        """How responses of the service become tables."""
        return ReadingOptions(self._profile, self.max_nodes)

    @property
    def _has_token(self) -> bool:
        """Whether requests carry a token."""
        return self._source.has_token

    def project(self, host: str, *, alias: str | None = None) -> Project:
        """Return the project of a host.

        Parameters
        ----------
        host : str
            Its domain.
        alias : str, optional
            A name that takes the host's place in captions, metadata, sources, explanations, files
            and reports, such as ``"client A"``. The host in a response's own rows is data, and
            stays there.

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
        return Project(self, host, alias)

    def collect(
        self,
        hosts: str | Iterable[str],
        sections: str | Iterable[str] | None = None,
        scopes: Scope | Iterable[Scope] | None = None,
        *,
        progress: bool | None = None,
    ) -> Collection:
        """Read the sections of many hosts into memory; an `Archive` takes any number of them.

        Requests run concurrently, as many as the client has ``workers``.

        Parameters
        ----------
        hosts : str or iterable of str
            The projects' domains.
        sections : str or iterable of str, optional
            The sections; by default all.
        scopes : Scope or iterable of Scope, optional
            The filters, one or several; by default everything of the last 30 days.
        progress : bool, optional
            Whether to show a progress bar; by default on a terminal.

        Returns
        -------
        Collection
            The datasets by host and scope; failed requests are in ``.errors``.

        Raises
        ------
        ScopeError
            If there is no such section, or a host is not a domain; before any request.
        NotAuthorized
            If every section of the first host fails so: the token is not accepted.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> client = aa.demo().client
        >>> collected = client.collect(["acme.example", "globex.example"], sections=["urls"])
        >>> collected.concat("urls")["host"].unique().tolist()
        ['acme.example', 'globex.example']
        """
        return Collection(self._datasets(hosts, sections, scopes, progress=progress))

    def _datasets(
        self,
        hosts: str | Iterable[str],
        sections: str | Iterable[str] | None = None,
        scopes: Scope | Iterable[Scope] | None = None,
        *,
        progress: bool | None = None,
    ) -> Iterator[tuple[str, Scope, Dataset]]:
        """Read one dataset at a time: few responses are in memory, however many hosts there are."""
        names = known_sections(sections, self._profile)
        projects = {project.host: project for project in map(self.project, each_of(hosts, str))}
        targets = [
            (project, scope)
            for project in projects.values()
            for scope in each_of(scopes, Scope) or [Scope()]
        ]
        fetches = [partial(project.fetch, scope=scope) for project, scope in targets]
        read = read_many(
            fetches,
            names,
            self._options,
            workers=self.workers,
            progress=progress,
            unit="response",
        )
        with closing(read) as datasets:
            for (project, scope), dataset in zip(targets, datasets, strict=True):
                if (project, scope) == targets[0]:
                    raise_if_all_refused(dataset, NotAuthorized)
                yield project.host, scope, dataset

    def close(self) -> None:
        """Close the connections; the client may be used again, with a connection for each call."""
        self._source.close()

    def __getstate__(self) -> NoReturn:
        raise TypeError("a client holds a token and connections, and is not pickled; make another")

    def __repr__(self) -> str:
        return f"<Client of {self.base_url}{', offline' if self.offline else ''}>"


def each_of(given: T | Iterable[T] | None, kind: type[T]) -> list[T]:
    """Return one value or several as a list without duplicates."""
    if given is None or isinstance(given, kind):
        return [] if given is None else [given]
    listed = list(given) if isinstance(given, Iterable) else [given]
    for thing in listed:
        if not isinstance(thing, kind):
            raise ScopeError(
                f"{shown(thing)} is not a {kind.__name__}",
                parameter="hosts" if kind is str else "scopes",
            )
    return list(dict.fromkeys(listed))
