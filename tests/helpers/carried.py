"""What a frame carries, for tests that look inside: the one place that imports it."""

import pandas as pd

from aatoolkit import Availability, Status
from aatoolkit.metadata import attrs
from aatoolkit.stats import explain

ATTRIBUTE = attrs.ATTRIBUTE
ColumnMetadata = attrs.ColumnMetadata
FrameMetadata = attrs.FrameMetadata
LazyAttrs = attrs.LazyAttrs
Source = attrs.Source
attach = attrs.attach
metadata_of = attrs.metadata_of
Explainer, Explanation = explain.Explainer, explain.Explanation


def described(
    frame: pd.DataFrame, table: str, key: tuple[str, ...] = (), *sources: attrs.Source
) -> pd.DataFrame:
    """A frame whose columns are those of a table, all of them measured."""
    state = Availability(Status.AVAILABLE)
    columns = {name: ColumnMetadata(f"{table}.{name}", state) for name in frame}
    return attach(frame, FrameMetadata(columns, key, sources))
