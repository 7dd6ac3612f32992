"""The methods of ``df.aa`` that return a frame (verbs), and reading and writing files.

They take frames with metadata (`aatoolkit.metadata`) and return frames with metadata. Their
signatures are in `aatoolkit.display.accessor`. In reading order:

- ``cell_status``: the availability of each cell, which the modules below share, and how it prints
- ``groupby``: rows in groups, weeks and months; the sums and the availability of each group
- ``reshape``: ``to_long``, ``with_context``, and ``complete``, which adds rows that are missing
- ``duplicates``: rows that would count twice, after a join or in responses that overlap
- ``merge``: ``merge``, ``rename``, ``adopt``, `aatoolkit.concat`; columns that no section declares
  are declared by a new table before a merge
- ``aggregation_plan``: the rule and unit by which each column is aggregated, or why it has none,
  also for rates and shares of several responses
- ``aggregate``: ``aggregate``, by those rules
- ``views``: ``codebook``, ``require``, ``measured``, ``plain``
- ``parquet``: frames to Parquet files and back
- ``csv``, ``excel``: frames to CSV and Excel files that are safe to open
"""

from __future__ import annotations

import importlib
from typing import Any

from pandas.api.extensions import register_dataframe_accessor


class _LazyAccessor:
    """``df.aa``: imports the module of the accessor only when it is first used."""

    def __call__(self, frame: Any) -> Any:
        return self._accessor()(frame)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._accessor(), name)

    def __dir__(self) -> list[str]:
        return dir(self._accessor())

    @staticmethod
    def _accessor() -> Any:
        return importlib.import_module("aatoolkit.display.accessor").Accessor


# Whatever handles frames imports this package, so that no process is without the accessor.
register_dataframe_accessor("aa")(_LazyAccessor())  # type: ignore[type-var]
