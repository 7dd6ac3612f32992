"""`Client`, a connection to a service, and `Project`, one host of the service.

The function ``project`` returns a project of a real service. The function ``demo`` returns one of a
built-in service with synthetic data.
"""

from __future__ import annotations

import atexit
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, final
from urllib.parse import quote

from aatoolkit._util.attributes import NameSuggestionMixin
from aatoolkit._util.defaults import (
    CACHE_BYTES,
    DEADLINE_SECONDS,
    DEMO_HOST,
    EXPIRE_AFTER_SECONDS,
    WORKERS,
    require_package,
)
from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import Names
from aatoolkit.client.dataset import Collection, Dataset
from aatoolkit.client.options import read_scope_options, register_completion
from aatoolkit.client.reading import (
    ReadingOptions,
    as_unique_list,
    check_section,
    check_sections,
    raise_if_all_refused,
    read_by_filter_value,
    read_combined,
    read_many,
    section_names,
)
from aatoolkit.errors import (
    ArgumentError,
    BadRequest,
    NotAuthorized,
    NotCached,
    NotVisible,
    ScopeError,
    unknown,
)
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload, Request
from aatoolkit.scope import FILTERS, UNTAGGED_LABEL, Scope, ScopeOptions
from aatoolkit.sections import Profile, default_profile
from aatoolkit.sections.profile import ProfileSource

if TYPE_CHECKING:
    from aatoolkit.http import Secret

T = TypeVar("T")


class ResponseSource(Protocol):
    """The protocol of objects from which a client gets its responses.

    Examples are a `Fetcher`, which asks a service, and a study, which is a folder of recorded
    responses.
    """

    offline: bool
    has_token: bool

    def get(self, request: Request) -> Payload:
        """Return the response to a request; raise `FetchError` if there is none."""

    def close(self) -> None:
        """Close the connections."""


@final
class Client(NameSuggestionMixin):
    """A connection to one service with one account.

    The API does not list the hosts that the account may see. Therefore name the host that you want,
    as in ``client.project("acme.example")``.

    Parameters
    ----------
    base_url : str, optional
        The base URL of the service; by default the environment variable ``AATOOLKIT_BASE_URL``.
    token : str, optional
        The account's token, which is sent to this service only. By default it comes from the
        environment variable ``AATOOLKIT_TOKEN``, from the file in ``AATOOLKIT_TOKEN_FILE``, or from
        the system's key store.
    cache : bool or path
        Whether to cache responses, or the folder to cache them in.
    cache_size : int
        The size limit of the cache in bytes; the oldest responses are evicted.
    offline : bool
        Whether to read from the cache only. Responses are cached for each token apart, so the same
        token is needed.
    expire_after : float
        For how many seconds a cached response is used without asking the service again.
    deadline : float
        The seconds that one call may take, with retries: after the statuses 429, 502, 503 and 504,
        and broken connections. A wait that would exceed them (``Retry-After``) raises the error.
    workers : int
        The number of concurrent requests.
    profile : Profile, module, str or path, optional
        The profile of the service: a description of the tables and columns in its responses. The
        path of a Python file is allowed; the file is executed.

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
        cache_size: int = CACHE_BYTES,
        offline: bool = False,
        expire_after: float = EXPIRE_AFTER_SECONDS,
        deadline: float = DEADLINE_SECONDS,
        workers: int = WORKERS,
        profile: ProfileSource | None = None,
    ) -> None:
        from aatoolkit.http import BaseUrl, Fetcher, Secret

        # Wrapped before anything can fail: tracebacks may show the arguments of a call.
        token = Secret.wrap(token)
        # They may show this object before it is complete, too.
        self.base_url: str = "?"
        self.offline: bool = offline
        if _client_factories:
            vars(self).update(vars(_client_factories[0](base_url)))
            if profile is not None:
                vars(self)["_profile"] = Profile.load(profile)
            return
        url_text = base_url or os.environ.get(BASE_URL_ENV)
        if not url_text:
            raise ArgumentError(
                f"no base URL: set {BASE_URL_ENV}, or name the service (base_url, --base-url); the "
                "demo needs none, it serves synthetic data on this machine",
                argument="base_url",
            )
        parsed_url = BaseUrl.parse(url_text)
        self.base_url = parsed_url.url
        self.workers: int = max(1, workers)
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
        token = find_token(token, parsed_url.origin)
        self._source: ResponseSource = Fetcher(parsed_url.url, token, **self._settings)

    @classmethod
    def _from_source(
        cls, source: ResponseSource, base_url: str, workers: int, profile: Profile | None
    ) -> Client:
        """Create a client that takes its responses from ``source`` instead of requesting them.

        An example of such a source is a study, which is a folder of recorded responses.
        ``workers`` is the number of concurrent requests. ``profile`` is as in the class.
        """
        client = cls.__new__(cls)
        client.base_url = base_url
        client.workers = workers
        client._source = source
        client.offline = source.offline
        client._profile = profile
        client._settings = None
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def profile(self) -> Profile:
        """The profile of the service: a description of the tables and columns in its responses."""
        return default_profile() if self._profile is None else self._profile

    @property
    def _options(self) -> ReadingOptions:
        """The options with which the client converts responses to tables."""
        return ReadingOptions(self._profile)

    def project(self, host: str, *, alias: str | None = None) -> Project:
        """Return the project of a host.

        Parameters
        ----------
        host : str
            The project's domain.
        alias : str, optional
            A name, such as ``"client A"``, to show instead of the host in captions, metadata, files
            and reports. The rows of tables keep the host, and so do the labels and headlines of
            pictures that are made from them.

        Returns
        -------
        Project
            The project; no request is sent yet.

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
        hosts: Names,
        sections: Names | None = None,
        scopes: Scope | Iterable[Scope] | None = None,
        *,
        progress: bool | None = None,
    ) -> Collection:
        """Read the tables of many hosts into memory.

        For more data than fit into memory, use an `Archive`.

        Parameters
        ----------
        hosts : str or iterable of str
            The projects' domains.
        sections : str or iterable of str, optional
            The sections to read, such as ``"domains"``; by default those that the client's profile
            declares, without a profile all.
        scopes : Scope or iterable of Scope, optional
            The days and filters of the requests; by default the last 30 days without filters.
        progress : bool, optional
            Whether to show a progress bar; by default on a terminal.

        Returns
        -------
        Collection
            A mapping from ``(host, scope)`` to `Dataset`; failed requests are in ``.errors``.

        Raises
        ------
        ScopeError
            If there is no such section, or a host is not a domain.
        NotAuthorized
            If the token is not accepted for any section of the first host.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> client = aa.demo().client
        >>> collected = client.collect(["acme.example", "globex.example"], sections=["urls"])
        >>> collected.concat("urls")["host"].unique().tolist()
        ['acme.example', 'globex.example']
        """
        return Collection(self._read_each_host(hosts, sections, scopes, progress=progress))

    def _read_each_host(
        self,
        hosts: Names,
        sections: Names | None,
        scopes: Scope | Iterable[Scope] | None,
        *,
        progress: bool | None = None,
    ) -> Iterator[tuple[str, Scope, Dataset]]:
        """Read the tables of several hosts, and yield them one host and scope after the other.

        Each item is a tuple: the host, the scope (days and filters), and the `Dataset`. The
        arguments are as for `collect`.
        """
        wanted_sections = check_sections(sections, self._profile)
        project_by_host = {
            project.host: project for project in map(self.project, as_unique_list(hosts, str))
        }
        project_scopes = [
            (project, scope)
            for project in project_by_host.values()
            for scope in [_with_filters(scope, {}) for scope in as_unique_list(scopes, Scope)]
            or [Scope()]
        ]
        fetchers = [partial(project.fetch, scope=scope) for project, scope in project_scopes]
        with closing(
            read_many(
                fetchers, wanted_sections, self._options, workers=self.workers, progress=progress
            )
        ) as datasets:
            for (project, scope), dataset in zip(project_scopes, datasets, strict=True):
                if (project, scope) == project_scopes[0]:
                    raise_if_all_refused(dataset, NotAuthorized)
                yield project.host, scope, dataset

    def close(self) -> None:
        """Close the connections; later requests open new ones."""
        self._source.close()

    def _hint_on_unknown_name(self, name: str) -> str:
        wants_hosts = name in ("hosts", "projects")
        return "the API lists no hosts: write client.project(host) for each" if wants_hosts else ""

    def __repr__(self) -> str:
        return f"<Client of {self.base_url}{', offline' if self.offline else ''}>"


# -- one project ---


class Project(NameSuggestionMixin):
    """One host of a service; its methods read the host's data.

    ``aa.project``, ``aa.demo`` and ``Client.project`` return a project. Pass filters to its methods
    as a `Scope`, as keywords such as ``days=7``, or as both; keywords win.

    Attributes
    ----------
    host : str
        The project's domain.
    alias : str or None
        A name to show instead of the host in captions, metadata, files and reports. The rows of
        tables keep the host.
    client : Client
        The client that reads from the service or from a study.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> with aa.demo() as project:
    ...     project.read("domains", days=7).section
    'domains'
    """

    def __init__(self, client: Client, host: str, alias: str | None) -> None:
        self.client = client
        if alias is not None and not alias.strip():
            raise ArgumentError("alias= is empty; give a name that stands for the host")
        self.alias = alias
        self.host: str = "?"  # until it is validated: tracebacks may show the object
        self.host = canonical_host(host)
        register_completion()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def scope_options(self, refresh: bool = False) -> ScopeOptions:
        """Fetch the values that each filter of the project may have.

        The result also says which engines have never run. Pass it to `aatoolkit.normalize` to mark
        the data of these engines as unavailable.

        Parameters
        ----------
        refresh : bool
            Whether the service must compute the values again, instead of using a cached response.

        Returns
        -------
        ScopeOptions
            A DataFrame of values for each filter, such as ``.engines``.

        Raises
        ------
        FetchError
            If no usable response came back, such as `ServerFailed` (502).

        Examples
        --------
        >>> import aatoolkit as aa
        >>> aa.demo().scope_options().days
        (7, 30, 90)
        """
        payload = self._fetch_response(Request.for_scope_options(self.host, refresh=refresh))
        return read_scope_options(self.alias or self.host, payload, self.client._options)

    def _fetch_response(self, request: Request) -> Payload:
        """Return the response to a request.

        If the project has an alias, it replaces the host in the result and in error messages.
        """
        if self.alias is None:
            return self.client._source.get(request)
        try:
            payload = self.client._source.get(request)
        except NotCached as error:
            error.message = error.message.replace(self.host, self.alias)
            error.args = (error.message,)
            raise
        url_path = f"/api/domains/{self.host}/"
        quoted_alias = quote(self.alias, safe="")
        url = payload.url.replace(url_path, f"/api/domains/{quoted_alias}/")
        return replace(payload, host=self.alias, url=url)

    def fetch(
        self,
        section: str | None,
        scope: Scope | None = None,
        *,
        refresh: bool = False,
        expire_after: float | None = None,
        **filters: Any,
    ) -> Payload:
        """Fetch one response, without converting it to tables.

        Parameters
        ----------
        section : str or None
            The section, such as ``"domains"``; None for all sections in one response.
        scope : Scope, optional
            The days and filters; by default the last 30 days without filters.
        refresh : bool
            Whether to ask the service even if a response is cached.
        expire_after : float, optional
            The age, in seconds, up to which a cached response is used; by default as set in the
            client.
        **filters
            Filters by name, such as ``engine="chatgpt"``.

        Returns
        -------
        Payload
            The response: ``.json`` is the decoded body, ``.body`` its bytes.

        Raises
        ------
        ScopeError
            If there is no such section or filter; ``.suggestions`` holds near matches.
        BadRequest
            If the service knows no such value of a filter, such as an engine.
        FetchError
            If no usable response came back.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> payload = aa.demo().fetch("domains", days=7)
        >>> payload.status, payload.scope
        (200, Scope(days=7))
        """
        merged_scope = _with_filters(scope, filters)
        section_name = None if section is None else check_section(section, self.client._profile)
        return self._fetch_response(
            Request.for_section(
                self.host,
                section_name,
                merged_scope,
                refresh=refresh,
                expire_after=expire_after,
                base_url=self.client.base_url,
            )
        )

    def read(
        self,
        section: str,
        scope: Scope | None = None,
        *,
        strict: bool = False,
        dtype_backend: str = "numpy_nullable",
        refresh: bool = False,
        split: str | None = None,
        **filters: Any,
    ) -> Tables:
        """Read one section, and return its tables as DataFrames.

        If the service could not measure the section and says why, the tables are empty. Then
        ``df.aa.availability`` has the reason.

        Parameters
        ----------
        section : str
            The section, such as ``"domains"``.
        scope : Scope, optional
            The days and filters; by default the last 30 days without filters.
        strict : bool
            Whether to raise an error if the response has other fields than declared.
        dtype_backend : {"numpy_nullable", "pyarrow"}
            Which dtypes the columns have, as in the functions of pandas.
        refresh : bool
            Whether to ask the service even if a response is cached.
        split : {"engine", "topic", "category", "brand"}, optional
            Read the section once for each value of this filter, and put the value into the first
            column. The values are those in the scope, or all that the project has. The column is
            named after the filter, or ``filter_engine`` if the table has a column ``engine``. What
            was not measured, such as an engine that never ran or is not configured, has rows with
            missing values; pandas adds these up to 0, and ``df.aa.aggregate`` does not. For some
            engines only, name them, as in ``engine=["chatgpt", "gemini"]``.
        **filters
            Filters by name, such as ``engine="chatgpt"``.

        Returns
        -------
        Tables
            A mapping from table names to DataFrames; ``.main`` is the first table.

        Raises
        ------
        ScopeError
            If there is no such section or filter.
        BadRequest
            If the service knows no such value of a filter, such as an engine.
        FetchError
            If no usable response came back.
        PayloadError
            If ``strict`` and the response has other fields than declared.

        Warns
        -----
        AAToolkitWarning
            If ``split`` gives the same counts for all values: the service may ignore the filter.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> tables = aa.demo().read("domains", engine="chatgpt")
        >>> list(tables)[0]
        'source_domains'
        >>> aa.demo().read("overview", split="engine").main["engine"].unique().tolist()[:2]
        ['chatgpt', 'claude']
        """
        if not isinstance(section, str):
            raise ScopeError(
                "read takes the name of one section; read_all reads several, combined() all in one",
                parameter="section",
            )
        if split is not None:
            read_arguments = {"strict": strict, "dtype_backend": dtype_backend, "refresh": refresh}
            return read_by_filter_value(
                self, section, _with_filters(scope, filters), split, read_arguments
            )
        payload = self.fetch(section, scope, refresh=refresh, **filters)
        reading_options = replace(self.client._options, strict=strict, dtype_backend=dtype_backend)
        return reading_options.tables(section, payload)

    def read_all(
        self,
        sections: Names | None = None,
        scope: Scope | None = None,
        *,
        progress: bool | None = None,
        **filters: Any,
    ) -> Dataset:
        """Read several sections in parallel, and return their tables as DataFrames.

        Parameters
        ----------
        sections : str or iterable of str, optional
            The sections, such as ``["urls", "domains"]``; by default those that the client's
            profile declares, without a profile all.
        scope : Scope, optional
            The days and filters; by default the last 30 days without filters.
        progress : bool, optional
            Whether to show a progress bar; by default on a terminal.
        **filters
            Filters by name, such as ``engine="chatgpt"``.

        Returns
        -------
        Dataset
            A mapping from section names to `Tables`. Failed sections are in ``.errors``.

        Raises
        ------
        ScopeError
            If there is no such section or filter.
        BadRequest, NotAuthorized, NotVisible
            If every section failed for this same reason, such as an unknown engine.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> list(aa.demo().read_all(["urls", "domains"], days=7))
        ['urls', 'domains']
        """
        merged_scope = _with_filters(scope, filters)
        wanted_sections = check_sections(sections, self.client._profile)
        (dataset,) = read_many(
            [partial(self.fetch, scope=merged_scope)],
            wanted_sections,
            self.client._options,
            workers=self.client.workers,
            progress=progress,
        )
        raise_if_all_refused(dataset, BadRequest, NotAuthorized, NotVisible)
        return dataset

    def combined(
        self, scope: Scope | None = None, *, refresh: bool = False, **filters: Any
    ) -> Dataset:
        """Read all sections by one request, instead of one request per section.

        Sections are found by their names, at any level of the response. If none is found, the
        dataset has one section, ``combined``, with tables inferred from the whole response.

        Parameters
        ----------
        scope : Scope, optional
            The days and filters; by default the last 30 days without filters.
        refresh : bool
            Whether to ask the service even if a response is cached.
        **filters
            Filters by name, such as ``engine="chatgpt"``.

        Returns
        -------
        Dataset
            A mapping from section names to `Tables`.

        Raises
        ------
        FetchError
            If no usable response came back.
        PayloadError
            If nothing in the response can become a table; ``fetch(None)`` returns the response.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> "domains" in aa.demo().combined()
        True
        """
        payload = self.fetch(None, scope, refresh=refresh, **filters)
        return read_combined(payload, self.client._options)

    def _section_names(self) -> tuple[str, ...]:
        """Return the names of all sections, for Tab completion."""
        return section_names(self.client._profile)

    def _hint_on_unknown_name(self, name: str) -> str:
        hint_by_name = {
            "sections": "aa.sections.names() lists them",
            **dict.fromkeys(FILTERS.values(), f"write project.scope_options().{name}"),
            **dict.fromkeys(vars(Dataset), f"write project.read_all().{name}"),
            **dict.fromkeys(
                self._section_names(), f"it is a section: write project.read({name!r})"
            ),
        }
        return hint_by_name.get(name, "")

    def __repr__(self) -> str:
        offline_note = ", offline" if self.client.offline else ""
        return f"<Project {self.alias or self.host} at {self.client.base_url}{offline_note}>"


def _with_filters(scope: Scope | None, filters: Mapping[str, Any]) -> Scope:
    """Return a copy of a scope (days and filters) in which ``filters`` are added or replaced.

    ``filters`` maps names of filters to values, such as ``{"engine": "chatgpt"}``.
    """
    scope = getattr(scope, "scope", scope)  # what holds one, such as a picker
    if scope is not None and not isinstance(scope, Scope):
        raise ScopeError(
            f"{scope!r:.60} is not a Scope; write aa.Scope(days=7, engine='chatgpt'), "
            "or give filters by name",
            parameter="scope",
        )
    for filter_name, filter_value in filters.items():
        if filter_name in FILTERS and not isinstance(filter_value, str) and not filter_value:
            raise ScopeError(
                f"{filter_name}={filter_value!r} chooses no value; leave {filter_name} out to "
                "read all",
                parameter=filter_name,
            )
    merged_scope = (scope or Scope())._replace(**filters)
    for filter_name, filter_values in merged_scope._filters.items():
        if UNTAGGED_LABEL in filter_values:
            raise ScopeError(
                f"{UNTAGGED_LABEL!r} counts the prompts without a {filter_name}; no filter finds "
                "those",
                parameter=filter_name,
                unknown=(UNTAGGED_LABEL,),
            )
    return merged_scope


# -- entry points ---


def project(
    host: str,
    *,
    base_url: str | None = None,
    token: str | Secret | None = None,
    cache: bool | str | Path = True,
    offline: bool = False,
    alias: str | None = None,
    **more: Any,
) -> Project:
    """Connect to a service, and return one of its hosts, whose data you can read.

    Parameters
    ----------
    host : str
        The project's domain.
    base_url, token, cache, offline, **more
        As for `Client`.
    alias : str, optional
        A name, such as ``"client A"``, to show instead of the host in captions, metadata, files and
        reports. The rows of tables keep the host.

    Returns
    -------
    Project
        The project; no request is sent yet.

    Raises
    ------
    ArgumentError
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
    return Client(base_url, token, cache=cache, offline=offline, **more).project(host, alias=alias)


def demo(
    host: str = DEMO_HOST,
    *,
    seed: int = 0,
    answers: int = 5000,
    icc: float = 0.3,
    cache: bool | str | Path = False,
    alias: str | None = None,
    **more: Any,
) -> Project:
    """Start a service with synthetic data in this process, and return one of its hosts.

    It needs the ``demo`` extra: ``pip install "aatoolkit[demo]"``. The service stops with the
    process: to use a study or an archive without it, start a new one.

    Parameters
    ----------
    host : str
        The project's domain: ``acme.example``, ``globex.example``, ``initech.example`` or
        ``newco.example``.
    seed : int
        The seed of the random data.
    answers : int
        The number of engine answers in the data.
    icc : float
        The intra-class correlation, from 0 to below 1: how much answers to the same prompt resemble
        each other.
    cache : bool or path
        As for `Client`. Cached responses are used within one process only.
    alias, **more
        As for `aatoolkit.project`.

    Returns
    -------
    Project
        The project, ready to be read.

    Raises
    ------
    PackageMissing
        If the ``demo`` extra is not installed.
    ArgumentError
        If ``seed``, ``answers`` or ``icc`` is out of range, or the demo has no such host.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> aa.demo().host
    'acme.example'
    """
    if _client_factories:
        return Client(**more).project(host, alias=alias)
    with _demo_lock:
        base_url, token = _start_demo_service(seed, answers, icc)
    from aatoolkit.service.synth.world import HOSTS

    demo_hosts = [host_plan.host for host_plan in HOSTS]
    if isinstance(host, str) and canonical_host(host) not in demo_hosts:
        raise ArgumentError(unknown("demo project", host, demo_hosts), argument="host")
    return project(host, base_url=base_url, token=token, cache=cache, alias=alias, **more)


_demo_lock = threading.Lock()


@lru_cache(maxsize=64)
def _start_demo_service(seed: int, answers: int, icc: float) -> tuple[str, Secret]:
    """Start a service with synthetic data in this process; return its base URL and token.

    The arguments are as for `demo`.
    """
    from aatoolkit.http import Secret

    if seed < 0 or answers < 0 or not 0 <= icc < 1:
        raise ArgumentError(
            f"synthetic data take a seed and a number of answers from 0, not {seed} and "
            f"{answers}, and a correlation (icc) from 0 to below 1, not {icc}",
            argument="demo",
        )
    with require_package("the demo needs", "demo"):
        from aatoolkit.service import Accounts, Service, Store, start_server, synthesize

    token = secrets.token_urlsafe(32)
    store = Store.of(synthesize(seed=seed, answers=answers, icc=icc))
    server = start_server(Service(store, Accounts.single(token)))
    # Last in, first out: nobody asks the store when it is closed.
    atexit.register(store.close)
    atexit.register(server.stop)
    return server.base_url, Secret(token)


# -- settings ---

BASE_URL_ENV = "AATOOLKIT_BASE_URL"
TOKEN_ENV = "AATOOLKIT_TOKEN"
TOKEN_FILE_ENV = "AATOOLKIT_TOKEN_FILE"
KEYRING_SERVICE = "aatoolkit"

_MAX_TOKEN_FILE_BYTES = 1 << 16


def find_token(token: Secret | None, origin: str) -> Secret | None:
    """Return the token to use: ``token`` if there is one, else the token in the settings.

    The settings are environment variables, a file, and the system's key store. In the key store,
    tokens are stored under ``origin``, the beginning of the service's URL, such as
    ``https://api.example``. The result is None if no token is found.
    """
    from aatoolkit.http import Secret

    if token is not None:
        return token
    if os.environ.get(TOKEN_ENV):
        return Secret(os.environ[TOKEN_ENV])
    if not os.environ.get(TOKEN_FILE_ENV):
        try:
            import keyring

            return Secret.wrap(keyring.get_password(KEYRING_SERVICE, origin) or None)
        except Exception:  # key stores fail in many ways; each means no token
            return None
    return read_token_file(Path(os.environ[TOKEN_FILE_ENV]), TOKEN_FILE_ENV)


def read_token_file(file: Path, option_name: str) -> Secret:
    """Read a token from a file.

    ``option_name`` is the option or environment variable that names the file, for error messages.
    """
    from aatoolkit.http import Secret

    problem_text = "it is no regular file"  # which might never end
    try:
        token_path = file.expanduser()
        if token_path.is_file() or not token_path.exists():
            with open(token_path, "rb") as stream:
                return Secret(stream.read(_MAX_TOKEN_FILE_BYTES).decode())
    except (OSError, ValueError) as error:  # not text, or no path
        problem_text = getattr(error, "strerror", None) or "it is not text"
    # Raised outside the handler: a decoding error holds the content of the file.
    raise ArgumentError(
        f"the token file that {option_name} names cannot be read ({problem_text}); check its path "
        "and permissions",
        argument="token",
    )


ClientFactory = Callable[[str | None], "Client"]
"""A function that returns a substitute for a client, from its base URL."""

_client_factories: list[ClientFactory] = []
"""The function that makes all clients, once `replace_client_factory` was called."""


def replace_client_factory(make_client: ClientFactory) -> None:
    """From now on, let code in this process that creates a `Client` get another client instead.

    ``make_client`` takes the base URL of a client, and returns the client to use instead. In this
    way, a notebook that is rerun from a study reads the recorded responses.
    """
    _client_factories[:] = [make_client]
