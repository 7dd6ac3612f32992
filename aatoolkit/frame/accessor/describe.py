"""Properties that describe a frame: `availability`, `codebook`, `sources`."""

from __future__ import annotations

from dataclasses import asdict, fields

import pandas as pd

from aatoolkit._util.listing import Listing
from aatoolkit.availability import Status
from aatoolkit.frame.accessor.overview import as_html, as_text
from aatoolkit.frame.cell_status import availability_of
from aatoolkit.frame.codebook import codebook_of
from aatoolkit.jsontree.coerce import coerce_values
from aatoolkit.metadata.attrs import Source, metadata_of


class Describe:
    """The metadata of a frame, as tables."""

    _frame: pd.DataFrame

    @property
    def availability(self) -> pd.DataFrame:
        """Whether each column could be measured: ``status``, ``cause``, ``reason``.

        One row a column, by name. It says what the service could give, not what later steps
        kept. A column of which nothing is known is ``unknown``.

        Raises
        ------
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        states = [
            (name, availability_of(self._frame, name, column))
            for name, column in metadata_of(self._frame).columns.items()
        ]
        return Listing(
            {
                "status": pd.Categorical(
                    [str(state.status) for _, state in states], [str(each) for each in Status]
                ),
                "cause": _words(state.cause and str(state.cause) for _, state in states),
                "reason": _words(state.reason for _, state in states),
            },
            index=_index(name for name, _ in states),
        )

    @property
    def codebook(self) -> pd.DataFrame:
        """The meaning, unit and rule of each column, one row a column, by name.

        Columns: ``dtype``, ``unit``, ``aggregation``, ``doc``, ``availability``, ``caution``,
        ``of``. ``of`` is the declared column, as ``table.column``; a column that is no
        declared one has no unit, rule or meaning here. Where each metric has a unit of its own,
        it is that of the rows that are left, if they have one. ``caution`` says why an aggregate of
        it would be approximate, where the counts of its rule are not reported.

        Raises
        ------
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        return codebook_of(self._frame)

    @property
    def sources(self) -> pd.DataFrame:
        """The answers the frame was read from, one row each.

        Columns: ``host``, ``section``, ``scope``, ``url``, ``fetched_at`` (UTC), ``sha256`` (of
        the body), ``stale``, ``window_start`` and ``window_end`` (the days that the answer says
        it covers).

        Raises
        ------
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        found = [asdict(source) for source in metadata_of(self._frame).sources]
        table = Listing(
            {
                field.name: pd.array(
                    [source[field.name] for source in found],
                    dtype="boolean" if field.name == "stale" else "string",
                )
                for field in fields(Source)
            }
        )
        moments, _ = coerce_values([source["fetched_at"] for source in found], "timestamp")
        table["fetched_at"] = moments.to_pandas()
        return table

    def __repr__(self) -> str:
        counts = self.availability["status"].value_counts()
        listed = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        return as_text(type(self), f"<df.aa of {self._frame.shape[1]} columns: {listed or 'none'}>")

    def _repr_html_(self) -> str:
        shown: str = Listing(self.availability)._repr_html_()
        return shown + as_html(type(self), "df.aa: what can be done with this frame")


def _words(values: object) -> pd.api.extensions.ExtensionArray:
    return pd.array(list(values), dtype="string")  # type: ignore[call-overload]


def _index(names: object) -> pd.Index:
    return pd.Index(list(names), dtype="string", name="column")  # type: ignore[call-overload]
