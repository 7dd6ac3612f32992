"""``df.aa``: the accessor that every DataFrame gets, one file per family of verbs.

- ``describe``: ``availability``, ``codebook``, ``sources``
- ``combine``: ``merge``, ``rename``, ``adopt``
- ``measures``: ``aggregate``, ``complete``
- ``statistics``: ``interval``, ``compare``, ``decompose``
- ``listings``: ``rank``, ``concentration``, ``overlap``
- ``repeats``: ``stability``, ``changes``
- ``select``: ``require``, ``drop_unavailable``, ``measured``
- ``reshape``: ``to_long``, ``with_context``
- ``explain``: ``explain``
- ``plot``: ``plot``
- ``export``: ``to_parquet``, ``to_excel``, ``to_arrow``

Each holds signatures and documentation only; the work is done by the modules of `aatoolkit.frame`.
A new verb goes into the family it belongs to, a new family into a file and into `Accessor`.
"""

from __future__ import annotations

import pandas as pd

from aatoolkit.frame.accessor.combine import Combine
from aatoolkit.frame.accessor.describe import Describe
from aatoolkit.frame.accessor.explain import Explain
from aatoolkit.frame.accessor.export import Export
from aatoolkit.frame.accessor.listings import Listings
from aatoolkit.frame.accessor.measures import Measures
from aatoolkit.frame.accessor.plot import Plot
from aatoolkit.frame.accessor.repeats import Repeats
from aatoolkit.frame.accessor.reshape import Reshape
from aatoolkit.frame.accessor.select import Select
from aatoolkit.frame.accessor.statistics import Statistics


class Accessor(
    Describe,
    Combine,
    Measures,
    Statistics,
    Repeats,
    Listings,
    Select,
    Reshape,
    Explain,
    Plot,
    Export,
):
    """Metadata-aware methods of a DataFrame.

    They work on any frame, never change it, and need no network.

    Examples
    --------
    >>> frame = pd.DataFrame({"n": [1]})
    >>> frame.aa.availability["status"].tolist()
    ['unknown']
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
