"""What a frame carries, for tests that look inside: the one place that imports it."""

from aatoolkit.metadata.attrs import (
    ATTRIBUTE as ATTRIBUTE,
)
from aatoolkit.metadata.attrs import (
    ColumnMetadata as ColumnMetadata,
)
from aatoolkit.metadata.attrs import (
    FrameMetadata as FrameMetadata,
)
from aatoolkit.metadata.attrs import (
    LazyAttrs as LazyAttrs,
)
from aatoolkit.metadata.attrs import (
    Source as Source,
)
from aatoolkit.metadata.attrs import (
    attach as attach,
)
from aatoolkit.metadata.attrs import (
    metadata_of as metadata_of,
)
from aatoolkit.stats.explain import Explainer as Explainer
from aatoolkit.stats.explain import Explanation as Explanation
