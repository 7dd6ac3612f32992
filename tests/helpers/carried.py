"""What a frame carries, for tests that look inside: the one place that imports it."""

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
