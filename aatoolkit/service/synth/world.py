"""The settings of the synthetic data: hosts, engines, brands, prompts and pages, all made up.

``world.json`` has the hosts, the pages that answers cite, and lists of random choices.
``fixed.json`` has the rows of each host that do not depend on the seed, and settings of random
rows, such as the ``rate`` at which a brand is mentioned.

Only uniform random numbers are used, because those of other distributions can differ in the last
digits between platforms.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.service.schema import TABLES

Array: TypeAlias = npt.NDArray[Any]
Tables: TypeAlias = dict[str, pa.Table]
"""Tables of a store, by name."""


class RandomGenerator(np.random.Generator):
    """A random number generator for one part of the synthetic data.

    ``stream_numbers`` identify the part, such as the number of the host and that of the table.
    Generators for different parts are independent.
    """

    def __init__(self, seed: int, *stream_numbers: int) -> None:
        super().__init__(np.random.PCG64([seed, *stream_numbers]))

    def draw_weighted(self, weights: Sequence[float] | Array, draw_count: int) -> Array:
        """Return ``draw_count`` random indices, with probabilities proportional to ``weights``."""
        cumulative_weights = np.cumsum(weights, dtype=np.float64)
        random_indices = np.searchsorted(
            cumulative_weights, self.random(draw_count) * cumulative_weights[-1], side="right"
        )
        return np.minimum(random_indices, len(cumulative_weights) - 1)  # type: ignore[no-any-return]

    def draw_choices(self, choice_name: str, draw_count: int) -> tuple[Array, pa.Array]:
        """Return random indices of the list ``CHOICES[choice_name]``, and the values there.

        ``draw_count`` is the number of indices.
        """
        choice_values, weights = zip(*CHOICES[choice_name], strict=True)
        indices = self.draw_weighted(weights, draw_count)
        return indices, take_values(choice_values, indices)

    def draw_integers(self, low: int, high: int, draw_count: int) -> Array:
        """Return ``draw_count`` random integers from ``low`` to ``high``, both included."""
        return self.integers(low, high, size=draw_count, dtype=np.int64, endpoint=True)

    def draw_booleans(self, probability: float | Array, draw_count: int) -> Array:
        """Return ``draw_count`` random booleans that are true with a certain probability."""
        return np.asarray(self.random(draw_count) < probability)


def repeat_indices(counts: Array) -> tuple[Array, Array]:
    """Repeat each index of ``counts`` as often as its count; also number the repeats of an index.

    For the counts ``[2, 1]``, the two arrays are ``[0, 0, 1]`` (indices) and ``[0, 1, 0]`` (numbers
    of the repeats, from 0).
    """
    indices = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    first_positions = np.cumsum(counts) - counts
    return indices, np.arange(len(indices), dtype=np.int64) - first_positions[indices]


def take_values(source_values: Sequence[Any] | pa.Array, indices: Array) -> pa.Array:
    """Return the values at ``indices`` as an Arrow array."""
    return (source_values if isinstance(source_values, pa.Array) else pa.array(source_values)).take(
        pa.array(indices)
    )


def set_null_where(null_mask: Array, values: Any) -> pa.Array:
    """Return an Arrow array of values, with null where the boolean array ``null_mask`` is true.

    If ``values`` is a text, it is repeated.
    """
    values = pa.repeat(values, len(null_mask)) if isinstance(values, str) else pa.array(values)
    return pc.if_else(pa.array(null_mask), pa.scalar(None, values.type), values)


def make_serial_ids(prefix: str, id_count: int) -> pa.Array:
    """Return ``id_count`` ids with a serial number, such as ``ch_000001``."""
    return pa.array([f"{prefix}{number:06d}" for number in range(1, id_count + 1)], pa.string())


def to_timestamps(days: Array | int, seconds: Array) -> pa.Array:
    """Return Arrow timestamps in UTC, from days since 1970-01-01 and seconds to add to them."""
    return pa.array((days * 86_400 + seconds) * 1_000_000).cast(pa.timestamp("us", tz="UTC"))


def make_table(name: str, host: str, /, **values_by_column: Any) -> Tables:
    """Create the Arrow table ``name`` of a store (a folder of observations), as a dict by name.

    The dict has only this table. The column ``host`` is added to the given ``columns``. Columns of
    the schema that are left out have nulls.
    """
    row_count = len(next(iter(values_by_column.values())))
    values_by_column["host"] = pa.repeat(host, row_count)
    table = pa.table(
        [
            pa.array(values_by_column.get(column.name, pa.nulls(row_count))).cast(column.arrow_type)
            for column in TABLES[name].columns
        ],
        schema=TABLES[name].arrow_schema,
    )
    return {name: table}


def make_tables_from_rows(
    host: str, rows_by_table: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Tables:
    """Create Arrow tables of a store (a folder of observations) from rows, as a dict by name."""
    table_by_name: Tables = {}
    for table_name, rows in rows_by_table.items():
        values_by_column = {
            column_name: [row.get(column_name) for row in rows]
            for column_name in TABLES[table_name].column_names
        }
        table_by_name |= make_table(table_name, host, **values_by_column)
    return table_by_name


# --- the world ---------------------------------------------------------------------------------

AS_OF = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)
LAST_DAY_NUMBER = int(AS_OF.timestamp()) // 86_400
"""The last day, in days since 1970-01-01."""
HISTORY_DAYS = 200
"""The number of days on which the synthetic hosts were observed."""
RECENT_DAYS = 30
"""The number of days, up to the last one, on which mention rates differ from those before."""

_SETTINGS, ROWS = (
    json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("world.json", "fixed.json")
)
"""The rows that do not depend on the seed, by host and table; some tables have no host ("")."""

CHOICES: dict[str, list[Any]] = _SETTINGS["choices"]
"""Lists to choose from at random, by name; most have values with weights."""

WEIGHT_BY_OWN_PATH: dict[str, float] = {
    page["url"].removeprefix("https://{host}"): page["weight"]
    for page in _SETTINGS["pages"]
    if page["url"].startswith("https://{host}/")
}
"""Paths of a project's own site, and the weights with which they are cited."""


@dataclass(frozen=True)
class HostPlan:
    """The settings for the synthetic data of one project.

    ``number`` counts the projects from 0. ``answer_share`` is the project's share of all answers.
    ``run_days`` is the number of days, up to the last one, on which it has runs. ``silent_days``
    lists the days in between that have no runs, as numbers of days before the last day.
    """

    number: int
    host: str
    answer_share: float
    run_days: int
    silent_days: list[int]

    def get_fixed_rows(self, table_name: str) -> list[dict[str, Any]]:
        """Return the rows of a table that are the same for every seed."""
        return ROWS[self.host].get(table_name, [])  # type: ignore[no-any-return]

    def get_fixed_values(self, table_name: str, column_name: str, default: Any = None) -> list[Any]:
        """Return one column of a table as a list, from the rows that are the same for every seed.

        ``default`` stands for the value in rows that lack the column.
        """
        return [row.get(column_name, default) for row in self.get_fixed_rows(table_name)]

    def get_fixed_array(self, table_name: str, column_name: str, default: Any = None) -> Array:
        """Return one column of a table as `get_fixed_values` does, but as a NumPy array."""
        return np.array(self.get_fixed_values(table_name, column_name, default))

    def list_pages(self) -> list[dict[str, Any]]:
        """Return the pages that answers can cite, as dicts with their URL, title and domain."""
        own_brand = self.get_fixed_rows("brands")[0]["brand"]
        page_dicts = []
        for page in _SETTINGS["pages"]:
            if _find_domain(page["url"]) != self.host:
                url = page["url"].format(host=self.host)
                title = page.get("title")
                page_dicts.append(
                    {
                        **page,
                        "url": url,
                        "title": title and title.format(own=own_brand),
                        "domain": _find_domain(url),
                    }
                )
        return page_dicts

    def find_type_by_domain(self) -> dict[str, str | None]:
        """Return a dict from each domain that answers can cite to its type, such as ``owned``."""
        competitor_domains = {
            row.get("domain") for row in self.get_fixed_rows("brands") if not row.get("own")
        }
        type_by_domain: dict[str, str | None] = {}
        for page in self.list_pages():
            domain = page["domain"]
            is_own = domain == self.host or domain.endswith(f".{self.host}")
            default_type = (
                "competitor" if domain in competitor_domains else page.get("domain_type", "other")
            )
            type_by_domain.setdefault(domain, "owned" if is_own else default_type)
        return {
            domain: domain_type
            for domain, domain_type in type_by_domain.items()
            if domain_type != "unlisted"
        }


def _find_domain(url: str) -> str:
    """Return the domain of a URL, without ``www.``."""
    return url.split("/")[2].removeprefix("www.")


HOSTS = tuple(HostPlan(number, **settings) for number, settings in enumerate(_SETTINGS["hosts"]))
