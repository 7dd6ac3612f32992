"""``df.aa``: the accessor and its verbs, and Parquet.

In go frames with metadata (`aatoolkit.metadata`); out come frames with metadata. In reading order:

- ``accessor``: signatures and documentation of every verb; ``overview``: the verbs by purpose
- ``merge``: ``merge``, ``rename``, ``adopt``, and the rows of frames that no section declares;
  ``merge_keys``: whether keys meet
- ``concat``: `aatoolkit.concat`
- ``statements``: what is stated of groups, and of rows of answers that have none
- ``cell_status``: the availability of each cell, which the verbs below share
- ``groupby``: rows in groups, the numbers and the availability of each; ``periods``: weeks, months
- ``duplicates``: rows that would count twice, after a join or in answers that overlap
- ``aggregation_plan``: which rule each column follows in which unit, or why it has none
- ``no_rule``: what a column without a rule has lost, and sums that would count twice
- ``aggregate``: ``aggregate``, by those rules
- ``wide``: how results of ``aggregate`` are printed
- ``complete``: ``complete``, explicit rows for what was not reported
- ``reshape``: ``to_long`` and ``with_context``
- ``require``: ``require`` and ``measured``
- ``dtypes``: one dtype a column over several frames, and those that files name
- ``parquet``: frames to Parquet files and back
- ``explain``: how a cell is known, down to the bytes of the answers
- ``csv``, ``excel``: to CSV and workbooks that are safe to open
"""

from __future__ import annotations

import importlib
from typing import Any

from pandas.api.extensions import register_dataframe_accessor


class _LazyAccessor:
    """``df.aa``: loads the accessor when it is first used."""

    def __call__(self, frame: Any) -> Any:
        return self._accessor()(frame)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._accessor(), name)

    def __dir__(self) -> list[str]:
        return dir(self._accessor())

    @staticmethod
    def _accessor() -> Any:
        return importlib.import_module("aatoolkit.frame.accessor").Accessor


# Whatever handles frames imports this package, so that no process is without the accessor.
register_dataframe_accessor("aa")(_LazyAccessor())  # type: ignore[type-var]
