"""`Project`: one host at one service, its scope options and its sections; Tab offers those."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from aatoolkit._util.attributes import NamesNear
from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import shown
from aatoolkit.client.dataset import Dataset
from aatoolkit.client.reading import (
    ReadingOptions,
    known_section,
    known_sections,
    raise_if_all_refused,
    read_by,
    read_combined,
    read_many,
    section_names,
)
from aatoolkit.errors import ArgumentError, NotAuthorized, NotVisible, ScopeError
from aatoolkit.jsontree.paths import Each, Field
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload, Request
from aatoolkit.scope import DAYS, FILTERS, UNTAGGED, Scope, ScopeOptions
from aatoolkit.sections import Section, Table, get
from aatoolkit.sections.profile import SCOPE_OPTIONS

if TYPE_CHECKING:
    from aatoolkit.client.client import Client


class Project(NamesNear):
    """One host at one service: its scope options and its sections.

    Made by ``aa.project``, ``aa.demo`` or ``Client.project``. Filters are given as a `Scope`, as
    keywords, or as both: keywords replace filters of the scope.

    Attributes
    ----------
    host : str
        The project's domain.
    alias : str or None
        The name that stands for the host in what is read: in captions, metadata, sources,
        explanations, files and reports. Where the host is in the rows of a response it is data, and
        stays.
    client : Client
        The service, or the study that is replayed or recorded.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> with aa.demo() as project:
    ...     project.read("domains", days=7).section
    'domains'
    """

    def __init__(self, client: Client, host: str, alias: str | None = None) -> None:
        self.client = client
        if alias is not None and not alias.strip():
            raise ArgumentError("alias= is empty; give a name that stands for the host")
        self.alias = alias
        self.host: str = "?"  # until it is validated: tracebacks may show the object
        self.host = canonical_host(host)
        offer_sections()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def scope_options(self, refresh: bool = False) -> ScopeOptions:
        """Fetch the filter values that the project allows.

        They also say which engines could not report. Later reads of this object take that into
        account; no read fetches the scope options on its own.

        Parameters
        ----------
        refresh : bool
            Have the service compute its options again.

        Raises
        ------
        FetchError
            If no usable response came back; the documented failure is `ServerFailed`, 502.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> aa.demo().scope_options().days
        (7, 30, 90)
        """
        payload = self._get(Request.for_scope_options(self.host, refresh=refresh))
        name = self.alias or self.host
        return read_options(name, payload, self.client._options)

    def _get(self, request: Request) -> Payload:
        """Fetch a response; where the host has an alias, it names that."""
        payload = self.client._source.get(request)
        if self.alias is None:
            return payload
        path, name = f"/api/domains/{self.host}/", quote(self.alias, safe="")
        url = payload.url.replace(path, f"/api/domains/{name}/")
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
        """Fetch one response, without normalising it.

        Parameters
        ----------
        section : str or None
            The section; None for the combined view.
        scope : Scope, optional
            The filters; by default everything of the last 30 days.
        refresh : bool
            Ask the service in any case, and replace the cached response. In a replay the recorded
            response is used.
        expire_after : float, optional
            The age, in seconds, up to which a cached response is used this time.
        **filters
            Filters by name, such as ``engine="chatgpt"``.

        Raises
        ------
        ScopeError
            If there is no such section or filter; ``.suggestions`` holds near matches.
        FetchError
            If no usable response came back.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> payload = aa.demo().fetch("domains", days=7)
        >>> payload.status, payload.scope
        (200, Scope(days=7))
        """
        whole = _scope(scope, filters)
        named = None if section is None else known_section(section, self.client._profile)
        return self._get(
            Request.for_section(
                self.host,
                named,
                whole,
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
        """Read one section as tidy tables.

        Where the service explains with an error status why the section could not be measured, the
        tables are empty and their availability says so; any other error is raised.

        Parameters
        ----------
        section : str
            The section.
        scope : Scope, optional
            The filters; by default everything of the last 30 days.
        strict : bool
            Whether to raise if a response differs from its declaration.
        dtype_backend : {"numpy_nullable", "pyarrow"}
            The kind of dtypes, as in pandas.
        refresh : bool
            Ask the service in any case, and replace the cached response.
        split : {"engine", "topic", "category", "brand"}, optional
            Read the section once for each value of this filter (those in the scope, or all that
            the scope options list), concurrently. Each table has the value as its first column,
            named as the filter, or ``filter_engine`` where the table has such a column itself.
        **filters
            Filters by name.

        Raises
        ------
        ScopeError
            If there is no such section or filter.
        FetchError
            If no usable response came back; with ``split``, the first of the failures.
        PayloadError
            If ``strict``, and the response differs from its declaration.

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
            whole = _scope(scope, filters)
            how = {"strict": strict, "dtype_backend": dtype_backend, "refresh": refresh}
            return read_by(self, section, whole, split, how)
        payload = self.fetch(section, scope, refresh=refresh, **filters)
        options = replace(self.client._options, strict=strict, dtype_backend=dtype_backend)
        return options.tables(section, payload)

    def read_all(
        self,
        sections: str | Iterable[str] | None = None,
        scope: Scope | None = None,
        *,
        progress: bool | None = None,
        **filters: Any,
    ) -> Dataset:
        """Read many sections concurrently; the result has the requested order.

        Parameters
        ----------
        sections : str or iterable of str, optional
            The sections; by default all.
        scope : Scope, optional
            The filters; by default everything of the last 30 days.
        progress : bool, optional
            Whether to show a progress bar; by default on a terminal.
        **filters
            Filters by name.

        Returns
        -------
        Dataset
            The tables by section. A section that failed is in ``.errors``.

        Raises
        ------
        ScopeError
            If there is no such section or filter.
        NotAuthorized, NotVisible
            If every section failed for this same reason.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> list(aa.demo().read_all(["urls", "domains"], days=7))
        ['urls', 'domains']
        """
        whole, names = _scope(scope, filters), known_sections(sections, self.client._profile)
        (dataset,) = read_many(
            [partial(self.fetch, scope=whole)],
            names,
            self.client._options,
            workers=self.client.workers,
            progress=progress,
        )
        raise_if_all_refused(dataset, NotAuthorized, NotVisible)
        return dataset

    def combined(
        self, scope: Scope | None = None, *, refresh: bool = False, **filters: Any
    ) -> Dataset:
        """Read the combined view, split by section.

        Its shape is not documented. Sections are found by name, wherever they are in the response;
        what is beside them stays in the payload. Where none is found the whole response is under
        ``combined``, with tables inferred from it.

        Raises
        ------
        FetchError
            If no usable response came back.
        PayloadError
            If nothing in the response can be made a table; ``fetch(None)`` gives it as it came.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> "domains" in aa.demo().combined()
        True
        """
        payload = self.fetch(None, scope, refresh=refresh, **filters)
        return read_combined(payload, self.client._options)

    def _section_names(self) -> tuple[str, ...]:
        """The sections that may be read; Tab offers them."""
        return section_names(self.client._profile)

    def _item_named(self, name: str) -> str:
        known = self._section_names()
        if name in known:
            return f"it is a section: write project.read({name!r})"
        near = get_close_matches(name, known, n=1, cutoff=0.8)
        return f"did you mean project.read({near[0]!r})?" if near else ""

    def __repr__(self) -> str:
        offline = ", offline" if self.client.offline else ""
        return f"<Project {self.alias or self.host} at {self.client.base_url}{offline}>"


def _scope(scope: Scope | None, filters: Mapping[str, Any]) -> Scope:
    """Replace filters of a scope by those given as keywords; refuse what cannot be requested."""
    scope = getattr(scope, "scope", scope)  # what holds one, such as a picker
    if scope is not None and not isinstance(scope, Scope):
        raise ScopeError(
            f"{shown(scope)} is not a Scope; write aa.Scope(days=7, engine='chatgpt'), or give "
            "filters by name",
            parameter="scope",
        )
    for name, value in filters.items():
        if name in FILTERS and not isinstance(value, str) and not value:
            raise ScopeError(
                f"{name}={value!r} chooses no value; leave {name} out to read all", parameter=name
            )
    merged = (scope or Scope())._with(**filters)
    for name in ("topic", "category"):
        if UNTAGGED in getattr(merged, name):
            raise ScopeError(
                f"{UNTAGGED!r} counts the prompts without a {name}; no filter finds those",
                parameter=name,
                unknown=(UNTAGGED,),
            )
    return merged


# -- scope options -----------------------------------------------------------------------------

_TABLES = ("scope_engines", "scope_topics", "scope_categories", "scope_brands")


def read_options(
    host: str, payload: Payload, options: ReadingOptions | None = None
) -> ScopeOptions:
    """Return the scope options of a response.

    Raises
    ------
    DecodeError
        If the response is not one JSON document.
    """
    reading = options or ReadingOptions()
    profile = reading.profile
    declared = get(SCOPE_OPTIONS) if profile is None else profile.get(SCOPE_OPTIONS)
    if declared is None or not {*_TABLES} <= {*declared.names}:
        # A declaration that names the tables otherwise is no help in finding them.
        declared = get(SCOPE_OPTIONS)
    declared, document = _as_values(declared, payload), payload.json
    tables = normalize(declared, payload, max_nodes=reading.max_nodes)
    days = tuple(number for number in _listed(payload, "days") if type(number) is int)
    engines, topics, categories, brands = (tables[name] for name in _TABLES)
    result = ScopeOptions(
        host,
        engines=engines,
        topics=topics,
        categories=categories,
        brands=brands,
        own_terms=(term for term in _listed(payload, "ownTerms") if isinstance(term, str)),
        # Without windows in the response, the documented ones apply.
        days=days or DAYS,
        unknown=[
            name
            for name, table in zip(FILTERS, _TABLES, strict=True)
            if not _is_recognised(declared[table], document)
        ],
    )
    runs = replace(declared["scope_engines"], key=("last_run_day",))
    result.has_runs = _is_recognised(runs, document)
    return result


def _is_recognised(table: Table, document: Any) -> bool:
    """Whether a response has the list of a filter's values: an empty one, or one with its key."""
    keys = [table[name].source or "." for name in table.key]
    found = [document]
    for step in table.rows.steps:
        if isinstance(step, Field):
            found = [one[step.name] for one in found if isinstance(one, dict) and step.name in one]
        elif not any(map(_is_listing, found)):
            return False
        elif not any(found):
            return True
        elif isinstance(step, Each):
            found = [one for each in found if isinstance(each, list) for one in each]
        else:
            return all(isinstance(one, dict) for one in found)
    return any(
        one is not None if key == "." else isinstance(one, dict) and key.split(".")[0] in one
        for one in found
        for key in keys
    )


def _is_listing(value: Any) -> bool:
    return isinstance(value, list | dict)


def _as_values(declared: Section, payload: Payload) -> Section:
    """Return the declaration with tables of plain values where the response lists them so."""
    tables = list(declared)
    for at, table in enumerate(tables):
        listed = _listed(payload, table.rows.path.removesuffix("[]"))
        # One that is no text, such as null, is reported as of a wrong type; the others are values.
        if any(isinstance(one, str) for one in listed) and not any(
            isinstance(one, Mapping) for one in listed
        ):
            columns = (
                replace(column, source="." if column.name in table.key else column.source)
                for column in table.columns
            )
            tables[at] = replace(table, columns=tuple(columns))
    if tables == list(declared):
        return declared
    return Section(
        declared.name,
        declared.doc,
        *tables,
        kept=declared.kept,
        availability=declared.availability,
        watched=declared.watched,
        emptied=declared.emptied,
    )


def _listed(payload: Payload, name: str) -> list[Any]:
    document = payload.json
    found = document.get(name) if isinstance(document, Mapping) else None
    return found if isinstance(found, list) else []


# -- Tab ---------------------------------------------------------------------------------------

_CALL = re.compile(
    r"(?P<object>[^\W\d]\w*)\.(?:read|fetch|read_all)\(\s*(?:sections\s*=\s*)?"
    r"\[?\s*(?:['\"]\w*['\"]\s*,\s*)*(?P<quote>['\"])(?P<start>\w*)$"
)
"""A call on a plain name, up to the cursor within the first argument."""


def offer_sections() -> None:
    """Add the completion to the running shell, once; nothing happens outside of IPython."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    completer = getattr(shell, "Completer", None)
    if completer is None or any(
        getattr(matcher, "matcher_identifier", "") == _IDENTIFIER
        for matcher in completer.custom_matchers
    ):
        return
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier=_IDENTIFIER)  # type: ignore[untyped-decorator]
    def match_sections(context: Any) -> Any:
        call = _CALL.search(context.text_until_cursor)
        project = shell.user_ns.get(call["object"]) if call else None
        names = sections_of(project)
        if call is None or not names:
            return {"completions": []}
        fitting = [name for name in names if name.startswith(call["start"])]
        return {
            "completions": [SimpleCompletion(text=name, type="section") for name in fitting],
            "matched_fragment": call["start"],
            "suppress": bool(fitting),  # files and magics are not sections
        }

    completer.custom_matchers.append(match_sections)


def sections_of(project: Project | Any) -> tuple[str, ...]:
    """Return the sections that an object of the shell can read; none of any other object."""
    names = getattr(type(project), "_section_names", None)
    return () if names is None else tuple(names(project))


_IDENTIFIER = "aatoolkit.sections"
