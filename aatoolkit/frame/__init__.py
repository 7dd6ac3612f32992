"""The methods of ``df.aa`` that return a DataFrame, and functions to read and write files.

They take and return DataFrames with metadata (`aatoolkit.metadata`), which says, for example,
whether each column was measured. The public signatures are in `aatoolkit.display.accessor`. The
modules, in reading order:

- ``cell_status`` tells which cells were measured, and why the others were not
- ``groupby`` groups rows, also by week or month, and sums each group
- ``reshape`` has ``to_long``, ``with_context``, and ``complete``, which adds missing rows
- ``duplicates`` finds rows that a sum would count twice
- ``merge`` has ``merge``, ``rename``, ``adopt`` and `aatoolkit.concat`
- ``aggregation_plan`` finds the rule (sum, mean, ratio …) by which each column is aggregated
- ``aggregate`` has ``aggregate``, which applies these rules
- ``views`` has ``codebook``, ``require``, ``measured`` and ``plain``
- ``parquet`` writes frames to Parquet files, and reads them
- ``csv`` (for the command line and publications) and ``excel`` write frames to files that are safe
  to open
"""

from __future__ import annotations

import importlib
from typing import Any

from pandas.api.extensions import register_dataframe_accessor


class _LazyAccessor:
    """The descriptor of ``df.aa``, which imports the accessor's module on first use."""

    def __call__(self, frame: Any) -> Any:
        return self._accessor()(frame)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._accessor(), name)

    def __dir__(self) -> list[str]:
        return dir(self._accessor())

    @staticmethod
    def _accessor() -> Any:
        """Import and return the accessor class, whose methods are those of ``df.aa``."""
        return importlib.import_module("aatoolkit.display.accessor").Accessor


# Whatever handles frames imports this package, so that no process is without the accessor.
register_dataframe_accessor("aa")(_LazyAccessor())  # type: ignore[type-var]
