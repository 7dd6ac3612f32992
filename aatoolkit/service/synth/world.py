"""The synthetic world: hosts, answer engines, brands, prompts, pages. All of it is made up.

``world.json`` has the hosts and the pages that answers cite; ``fixed.json`` the rows of each
host that are not drawn, some with what they are drawn by: the ``rate`` at which a brand is
mentioned, the ``weight`` with which a prompt is asked.

Engines bear the names of real ones so that the tables read naturally; what they do and say
here is invented.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit.service.synth.columns import Array, listed

AS_OF = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)
TODAY = int(AS_OF.timestamp()) // 86_400
"""The last day, in days since 1970-01-01."""
HISTORY_DAYS = 200
"""The days before the end on which the synthetic hosts were observed."""
TURN = 30
"""Days before the end when things change noticeably, so that there is something to find."""

_WORLD, ROWS = (
    json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("world.json", "fixed.json")
)
"""Rows by host and table; those of no host are under an empty one."""

OWN_PATHS: dict[str, float] = {
    page["url"].removeprefix("https://{host}"): page["weight"]
    for page in _WORLD["pages"]
    if page["url"].startswith("https://{host}/")
}
"""Paths of a project's own site, and how much they are cited."""


@dataclass(frozen=True)
class HostPlan:
    """A project's plan: since when it is observed, and its share of all answers."""

    number: int
    host: str
    share: float
    days: int
    silent: list[int]

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Rows of a table that are not drawn."""
        rows: list[dict[str, Any]] = ROWS[self.host].get(table, [])
        return rows

    def values(self, table: str, column: str, missing: Any = None) -> list[Any]:
        """The values that the rows of a table have in one column."""
        return [row.get(column, missing) for row in self.rows(table)]

    def array(self, table: str, column: str, missing: Any) -> Array:
        """The same as an array."""
        return np.array(self.values(table, column, missing))

    def pages(self) -> list[dict[str, Any]]:
        """The pages that answers may cite, each with its ``domain``, without ``www``."""
        own = self.rows("brands")[0]["brand"]
        pages = []
        for page in _WORLD["pages"]:
            if _domain(page["url"]) != self.host:
                url, title = page["url"].format(host=self.host), page.get("title")
                names = {"url": url, "title": title and title.format(own=own)}
                pages.append({**page, **names, "domain": _domain(url)})
        return pages

    def domain_types(self) -> dict[str, str | None]:
        """The kind of site of every domain that is listed."""
        rivals = {row.get("domain") for row in self.rows("brands") if not row.get("own")}
        kinds: dict[str, str | None] = {}
        for page in self.pages():
            domain = page["domain"]
            is_own = domain == self.host or domain.endswith(f".{self.host}")
            usual = "competitor" if domain in rivals else page.get("domain_type", "other")
            kinds.setdefault(domain, "owned" if is_own else usual)
        return {domain: kind for domain, kind in kinds.items() if kind != "unlisted"}


def _domain(url: str) -> str:
    domain: str = url.split("/")[2]
    return domain.removeprefix("www.")


def fixed(host: str) -> dict[str, pa.Table]:
    """The tables of a host whose rows are not drawn: its set-up, examinations and work."""
    return {name: listed(name, host, rows) for name, rows in ROWS[host].items()}


HOSTS = tuple(HostPlan(number, **facts) for number, facts in enumerate(_WORLD["hosts"]))
