"""The reference service: the read-only API, computed from a store of observations.

It answers HTTP requests with JSON. The data come from a store, which is a folder of Parquet files.
The service shares no code with the rest of aatoolkit, so that each can be tested against the other.
In reading order:

==================== =================================================================
``schema``           the tables of a store, column by column, from ``schema.txt``
``store``            writes, validates and opens stores, and holds them in memory
``synth``            draws a synthetic store from a seed
``observations``     queries over the rows that pass the filters of a request
``measures``         measures that several sections use, such as the mention rate
``significance``     confidence intervals and tests for changes between two windows
``answer``           the response of a section, its availability, and the registry of sections
``sections``         the 17 sections, by topic
``app``              accounts, parameters, routes, envelope and errors as an ASGI application
``server``           runs the application, in a thread or in the foreground
==================== =================================================================

The service is a reference for correct responses. It is not made for many users.

The API's documentation leaves some questions open. This service decides them as listed below; a
real service may decide otherwise. The modules in ``sections`` say what each section computes.

Addresses and access

1.  There are two addresses, both for GET (and HEAD): ``/api/domains/{host}/scope-options``
    and ``/api/domains/{host}/agent-analytics``. Any other address gives 404, and any other
    method 405 with ``Allow``. The addresses have no trailing slash. There are no redirects.
2.  Case and one trailing dot of a host are ignored. A host with a scheme, a port or a path
    matches no project.
3.  A missing, malformed or unknown token gives 401 with ``WWW-Authenticate: Bearer``. Tokens do
    not expire. The service does not issue them, and stores only their SHA-256 digests.
4.  A host that does not exist and a host that the account may not see give 404 with equal
    bodies. The host is checked before any parameter.

Scope options

5.  ``engines[]``: ``id`` and ``label`` are text, ``configured`` is true or false; ``lastRunDay``
    is the last day on which the engine was sent a prompt (``2026-11-20``), or null if it never
    was. Engines that are not configured are listed, and are allowed filter values.
6.  ``topics[]`` and ``categories[]``: ``count`` is the number of prompts with this topic or
    category. An item with a null ``topic`` or ``category`` counts the prompts without one; no
    filter can select these prompts.
7.  ``brands[]``: ``tracked`` true or false; ``own`` true or false, absent where not known.
    ``ownTerms`` are lower case text; ``days`` is ``[7, 30, 90]``.
8.  ``refresh=1`` reads the store again from its folder before the response. Requests under way
    finish with the store that they began with. If the refresh fails, the response is 502, and the
    previous store is kept. Any other value of ``refresh`` gives 400.
9.  If the store cannot be read, scope options give 502, but agent analytics gives 500.

Parameters

10. These give 400: an unknown section, value or parameter; ``days`` other than 7, 30 or 90; and a
    parameter given twice. ``persona`` and ``country`` are unknown parameters. The error names the
    parameter, the unknown values, allowed values and near matches.
11. Filter values must be equal, including case. They are split at commas after URL-decoding, so no
    filter can select a value that contains a comma. Spaces around a value, empty items, repeats and
    order have no effect. An empty filter is ignored. A filter with only blanks gives 400.
12. ``days`` is a number of whole UTC days. The last of them is the day on which the project was
    last observed (the store's clock), not the day of the request.
13. ``engine`` selects answers by the engine that gave them, ``topic`` and ``category`` by their
    prompt. In visits, crawler activity and examinations, ``engine`` selects the visits from
    these engines, their crawlers, and their assistants. An answer passes a filter if it has any
    of the filter's values, and it has to pass all filters.
14. ``brand`` selects the brands in lists by brand. Key figures are about the brands of this
    filter instead of the project's own. In lists of answers, domains, addresses and query
    expansions, ``brand`` keeps the answers that mention one of its brands. In advertisements it
    is the advertiser, in shopping results the product's brand. It does not narrow the
    denominators of shares.
15. A section ignores a filter by a property that its observations do not have, but the values of
    the filter are checked. It is null under ``filters``, and ``availability.reason`` names it.

Responses

16. Every section has ``section``, ``domain``, ``window``, ``filters`` (for each applied filter a
    sorted list of values, else null), ``generatedAt`` and ``availability``, then its own fields.
17. A request without ``section`` is for all sections. The response begins with the same fields;
    ``section`` is null. Instead of ``availability`` it has ``sections``, which maps the name of
    each section to its ``filters``, ``availability`` and own fields. If one section fails, the
    whole response is 500.
18. ``generatedAt`` is the moment at which the project was last observed. The same store gives the
    same bytes.
19. ``availability`` has ``status``, ``reason``, ``sampleCount`` and ``asOf``, and if they are not
    empty ``requires``, ``fields`` and ``engines``. The values of ``status`` are ``available``,
    ``partial``, ``unavailable``, ``not_connected``, ``not_applicable``, ``pending`` and
    ``insufficient_sample``.
20. Null means not known; 0 is a measured zero. An empty or missing result gives 200, never an
    error.
21. Only runs with the outcome ``answered`` count as answers. Refused, empty and failed runs are in
    no denominator. Rates and shares are fractions and are not rounded.
22. If the CNAME or the domain validation of a host's gateway is missing, ``crawl`` gives 200 with
    availability ``not_connected`` and null totals. This does not apply to a host without a gateway
    if the store has requests from its own logs. The time series has a value per hour for 7 days,
    else per day. Without requests the value is 0 if all of that time was recorded, else null.
23. ``chats`` shows the latest 500 runs, of every outcome, and says how many matched.

Errors, headers, limits

24. An error is ``{"error": {"status", "code", "message"}}``; errors about a parameter also have
    ``parameter``, ``unknown``, ``allowed`` and ``suggestions``. The codes are ``unauthorized``,
    ``project_not_found``, ``not_found``, ``method_not_allowed``, ``invalid_parameter``,
    ``unsupported_parameter``, ``scope_options_unavailable`` and ``internal``.
25. Every response is JSON in UTF-8 with ``Vary: Authorization`` and an ``X-Request-Id``. From 1 kB
    on, it is compressed if the client accepts gzip. ``Cache-Control`` is ``private, no-cache``,
    because a response is for one account, and is out of date once the store is read again. For
    errors it is ``no-store``.
26. There is no rate limit, no quota, no version, and no paging parameter. As many requests as there
    are processors are handled at a time; others wait.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aatoolkit.service.answer import (
        SECTIONS,
        SectionAvailability,
        SectionResponse,
        ServiceSection,
    )
    from aatoolkit.service.app import Accounts, Service, hash_token
    from aatoolkit.service.observations import ServiceScope
    from aatoolkit.service.schema import SCHEMA, TABLES
    from aatoolkit.service.server import RunningServer, run_server, start_server
    from aatoolkit.service.store import Store, StoreError, write_store
    from aatoolkit.service.synth import synthesize, write_synthetic_store

__all__ = [
    "SCHEMA",
    "SECTIONS",
    "TABLES",
    "Accounts",
    "RunningServer",
    "SectionAvailability",
    "SectionResponse",
    "Service",
    "ServiceScope",
    "ServiceSection",
    "Store",
    "StoreError",
    "hash_token",
    "run_server",
    "start_server",
    "synthesize",
    "write_store",
    "write_synthetic_store",
]

_MODULES = ("answer", "app", "observations", "schema", "server", "store", "synth")


def __getattr__(name: str) -> Any:
    """Import a public name of the package on first access, and return it."""
    # So aatoolkit can be imported without the packages that only the service needs.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        modules = [importlib.import_module(f"{__name__}.{module}") for module in _MODULES]
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "aatoolkit":
            raise
        raise ModuleNotFoundError(
            f'The service needs {package}, which is not installed: pip install "aatoolkit[demo]"',
            name=package,
        ) from error
    return next(getattr(module, name) for module in modules if hasattr(module, name))
