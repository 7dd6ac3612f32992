"""What the API would have answered on thirteen Mondays at noon: the chapter on archives reads it.

A store's clock is the last moment observed. What was observed later is left out, so that the
reference service answers as it would have on that day.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

import aatoolkit as aa
from aatoolkit.service import Accounts, Service, Store, start_server, synthesize

HOSTS = ["acme.example", "globex.example", "initech.example"]
LAST = datetime(2026, 11, 16, 12, tzinfo=UTC)
OF_THE_OVERVIEW = ("projects", "engines", "brands", "own_terms", "prompts", "source_domains")


def responses(weeks: int = 13) -> Iterator[list[aa.Payload]]:
    """The responses of each Monday, the first one first."""
    tables = synthesize(seed=3, answers=1200)
    for week in reversed(range(weeks)):
        yield [*_of(tables, LAST - timedelta(weeks=week))]


def _of(tables: dict[str, pa.Table], moment: datetime) -> Iterator[aa.Payload]:
    store = _observed(tables, moment)
    with (
        start_server(Service(store, Accounts.single("a-token"))) as server,
        aa.Client(server.base_url, "a-token", cache=False) as client,
    ):
        for host in HOSTS:
            for days in (7, 30) if host == HOSTS[0] else (30,):
                response = client.project(host).fetch("overview", aa.Scope(days=days))
                yield replace(response, fetched_at=moment)
    store.close()


def _observed(tables: dict[str, pa.Table], moment: datetime) -> Store:
    """A store of what had been observed by a moment."""
    seen = {name: tables[name] for name in OF_THE_OVERVIEW}
    projects = seen["projects"]
    clock = projects.column_names.index("as_of")
    moments = pa.array([moment] * projects.num_rows, projects["as_of"].type)
    seen["projects"] = projects.set_column(clock, "as_of", moments)
    seen["answers"] = tables["answers"].filter(pc.field("ran_at") <= moment)
    keys = ["host", "chat_id"]
    for name in ("mentions", "citations"):
        seen[name] = tables[name].join(seen["answers"].select(keys), keys, join_type="left semi")
    return Store.of(seen)
