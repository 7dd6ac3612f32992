"""What a frame carries, for tests that look inside: the one place that imports it."""

import pandas as pd

from aatoolkit import Availability, Cause, Status
from aatoolkit.metadata import attrs
from aatoolkit.stats import explain

ATTRIBUTE = attrs.ATTRS_KEY
ColumnMetadata = attrs.ColumnMetadata
FrameMetadata = attrs.FrameMetadata
LazyAttrs = dict
Source = attrs.Source
attach = attrs.attach
metadata_of = attrs.metadata_of
Explainer, Explanation = explain.Explainer, explain.Explanation

MEASURED = Availability(Status.AVAILABLE)
PARTIAL = Availability(Status.PARTIAL, Cause.TRUNCATED, "2 of 800.")
NOT_CONNECTED = Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED, "Create the CNAME.")


def described(
    frame: pd.DataFrame, table: str, key: tuple[str, ...] = (), *sources: attrs.Source
) -> pd.DataFrame:
    """A frame whose columns are those of a table, all of them measured."""
    columns = {name: ColumnMetadata(f"{table}.{name}", MEASURED) for name in frame}
    return attach(frame, FrameMetadata(columns, key, sources))
