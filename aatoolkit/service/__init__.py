"""The reference service: the read-only API, computed from a store of observations.

From a store (a folder of Parquet files) and accounts, it answers requests over HTTP in JSON. It
shares no code with the rest of aatoolkit, so that a mistake in the client is not repeated in the
service, where it would go unnoticed. In reading order:

==================== =================================================================
``schema``           the tables of a store, column by column, from ``schema.txt``
``store``            writes, validates and opens stores, and holds them in memory
``synth``            draws a synthetic store from a seed
``observations``     a question (a validated request), tables of the rows in its scope, and
                     queries over them
``measures``         measures shared by sections; with ``significance``
``answer``           what a section returns, its availability, and the registry of sections
``sections``         the 17 sections, by topic
``app``              accounts, parameters, routes, envelope and errors as an ASGI application
``server``           runs it, in a thread or in the foreground
==================== =================================================================

It is a reference for correct answers, and not made for many users. A request takes a cursor of the
one database in memory, creates the tables it needs of the rows in its scope, and calls the function
of the section.

A real service may answer differently where the API's documentation does not say what is right.
These are the choices of this service; the module of each section says what it computes.

Addresses and access

1.  There are two addresses, both for GET (and HEAD): ``/api/domains/{host}/scope-options``
    and ``/api/domains/{host}/agent-analytics``. Another address is 404, another method 405
    with ``Allow``. Neither has a trailing slash, and nothing redirects.
2.  A host is matched without regard to case and to one trailing dot. A scheme, a port or a
    path in it makes it a host that no project has.
3.  A missing, malformed or unknown token is 401 with ``WWW-Authenticate: Bearer``. Tokens do
    not expire. The service does not issue them, and stores only their SHA-256 digests.
4.  A host that does not exist and a host that the account may not see are the same 404, to
    the byte of the body. It is checked before any parameter.

Scope options

5.  ``engines[]``: ``id`` and ``label`` text, ``configured`` true or false, ``lastRunDay`` the
    last day (``2026-11-20``) on which it was asked anything, null if never. Engines that are
    not configured are listed, and are allowed filter values.
6.  ``topics[]`` and ``categories[]``: ``count`` is a whole number, the prompts that have it. A
    null ``topic`` or ``category`` counts prompts without one; no filter can ask for it.
7.  ``brands[]``: ``tracked`` true or false; ``own`` true or false, absent where not known.
    ``ownTerms`` are lower case text; ``days`` is ``[7, 30, 90]``.
8.  ``refresh=1`` reads the store again from its folder before it answers. Requests under way
    finish with the store that they began with. A refresh that fails is 502, and the store that was
    served before stays in place. Any other value of ``refresh`` is 400.
9.  Only here, a store that cannot be read is 502. Agent analytics answers 500 instead.

Questions

10. No mistake is ignored: an unknown section, value or parameter, ``days`` other than 7, 30 or 90,
    and a parameter given twice are 400. So are persona and country. The error names the
    parameter, the unknown values, allowed values and near matches.
11. Filter values are compared to the letter. Commas separate them after URL-decoding, so a
    value with a comma in it cannot be asked for. Spaces around a value, empty items, repeats
    and order mean nothing. An empty filter is no filter, but one of blanks alone is 400.
12. ``days`` is a number of whole UTC days, the last being the day of the store's clock for
    the project. That clock is the last moment observed, not the moment of asking.
13. ``engine``, ``topic`` and ``category`` narrow the answers: the engine that gave them, the
    topic and the category of their prompt. In visits, crawler activity and examinations the
    engine filter picks the visits from that engine and the crawlers that serve it. Values of
    one filter widen, filters narrow each other.
14. ``brand`` in lists by brand selects the brands; in key figures it names the brand they
    are about, instead of the project's own; in lists of answers, domains, addresses and
    query expansions it keeps the answers that mention one of the brands; in advertisements
    it is the advertiser, in shopping results the product's brand. It does not narrow the
    denominators of shares.
15. A filter that a section's observations do not carry is not applied, though its values
    are checked: it is null under ``filters``, and ``availability.reason`` says so.

Answers

16. Every section has ``section``, ``domain``, ``window``, ``filters`` (those in force: a
    sorted list of values, or null), ``generatedAt`` and ``availability``, then its own fields.
17. Without ``section`` the answer has the same beginning with a null ``section`` and, in place
    of ``availability``, ``sections``: by name, each section's own ``filters``, ``availability``
    and fields. Where one section fails the whole view is 500.
18. ``generatedAt`` is the store's clock for the project. The same store gives the same bytes.
19. ``availability`` has ``status``, ``reason``, ``sampleCount`` and ``asOf``, and where they say
    more ``requires``, ``fields`` and ``engines``. The words for ``status`` are ``available``,
    ``partial``, ``unavailable``, ``not_connected``, ``not_applicable``, ``pending`` and
    ``insufficient_sample``.
20. Null is not known; 0 is measured. An empty or missing result is 200, never an error.
21. An answer counts where its outcome is ``answered``; refused, empty and failed runs are no
    denominator. Rates and shares are fractions and are not rounded.
22. ``crawl`` of a host whose gateway lacks its CNAME or validation is 200 with availability
    ``not_connected`` and null totals; a host with records of its own needs no gateway. Buckets
    are hours for 7 days, else days; one without requests is 0 where recording went on
    throughout, else null.
23. ``chats`` shows the latest 500 runs, of every outcome, and says how many matched.

Errors, headers, limits

24. An error is ``{"error": {"status", "code", "message"}}`` with ``parameter``, ``unknown``,
    ``allowed`` and ``suggestions`` where they make sense. The codes are ``unauthorized``,
    ``project_not_found``, ``not_found``, ``method_not_allowed``, ``invalid_parameter``,
    ``unsupported_parameter``, ``scope_options_unavailable`` and ``internal``.
25. Every answer is JSON in UTF-8, compressed from 1 kB on where the caller takes gzip, with
    ``Vary: Authorization`` and an ``X-Request-Id``. ``Cache-Control`` is ``private, no-cache``:
    answers belong to one account, and hold until the store is read again, which may be at
    any moment. Errors are ``no-store``.
26. There is no rate limit, no quota, no version, and no paging parameter. As many requests are
    answered at a time as there are processors; others wait.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aatoolkit.service.answer import (
        SECTIONS,
        SectionAnswer,
        SectionAvailability,
        ServiceSection,
    )
    from aatoolkit.service.app import Accounts, Service, digest
    from aatoolkit.service.observations import Question
    from aatoolkit.service.schema import SCHEMA, TABLES
    from aatoolkit.service.server import RunningServer, run_server, start_server
    from aatoolkit.service.store import Store, StoreError, write_store
    from aatoolkit.service.synth import synthesize, write_synthetic_store

__all__ = [
    "SCHEMA",
    "SECTIONS",
    "TABLES",
    "Accounts",
    "Question",
    "RunningServer",
    "SectionAnswer",
    "SectionAvailability",
    "Service",
    "ServiceSection",
    "Store",
    "StoreError",
    "digest",
    "run_server",
    "start_server",
    "synthesize",
    "write_store",
    "write_synthetic_store",
]

_MODULES = ("answer", "app", "observations", "schema", "server", "store", "synth")


def __getattr__(name: str) -> Any:
    """Import a public name on first use, and return it: the service needs an extra package."""
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
