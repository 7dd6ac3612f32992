"""`Collection`: the datasets of many hosts and scopes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aatoolkit._util.attributes import NamesNear
from aatoolkit._util.show import table_html
from aatoolkit._util.text import clipped, wrapped_in_ipython
from aatoolkit.availability import AbsentRows, Availability, Cause, Status
from aatoolkit.availability.subject import Condition
from aatoolkit.client.dataset import Dataset
from aatoolkit.errors import AAToolkitError, ItemNotFound, unknown
from aatoolkit.scope import Scope

if TYPE_CHECKING:
    import pandas as pd

HostScope = tuple[str, Scope]

_SHOWN = 20
"""How many hosts a printed collection lists."""


class Collection(Mapping[HostScope, Dataset], NamesNear):
    """The datasets of many hosts and scopes: a mapping, in the requested order.

    Its keys are pairs of host and `Scope`. Where there is only one scope, as usual, the host alone
    will do: ``collected["acme.example"]``.

    Attributes
    ----------
    hosts : tuple of str
        The hosts, each once.
    scopes : tuple of Scope
        The scopes, each once.
    errors : dict of (str, Scope, str) to AAToolkitError
        The errors of failed requests, by host, scope and section.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> client = aa.demo().client
    >>> collected = client.collect(["acme.example", "globex.example"], sections=["domains"])
    >>> collected.hosts, collected.errors
    (('acme.example', 'globex.example'), {})
    >>> len(collected["acme.example"]["domains"].main) > 0
    True
    """

    def __init__(self, results: Iterable[tuple[str, Scope, Dataset]]) -> None:
        self._results = {(host, scope): dataset for host, scope, dataset in results}
        self.hosts: tuple[str, ...] = tuple(dict.fromkeys(host for host, _ in self._results))
        self.scopes: tuple[Scope, ...] = tuple(dict.fromkeys(scope for _, scope in self._results))

    @property
    def errors(self) -> dict[tuple[str, Scope, str], AAToolkitError]:
        """The errors of failed requests, by host, scope and section."""
        return {
            (*target, section): error
            for target, dataset in self.items()
            for section, error in dataset.errors.items()
        }

    def __getitem__(self, target: str | HostScope) -> Dataset:
        key = target
        if isinstance(target, str) and target in self.hosts:
            if len(self.scopes) > 1:
                raise ItemNotFound(
                    f"{target} was asked for {len(self.scopes)} scopes; write "
                    f"collected[{target!r}, scope], with one of collected.scopes",
                    key=target,
                )
            key = (target, self.scopes[0])
        if not isinstance(key, str | tuple) or key not in self._results:
            raise ItemNotFound(unknown("dataset", target, self.hosts), key=target)
        return self._results[key]

    def __iter__(self) -> Iterator[HostScope]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def concat(self, section: str, table: str | None = None) -> pd.DataFrame:
        """Concatenate one table of all hosts and scopes, with host, scope and time as columns.

        Where a request failed, the availability of every column says that a part is missing.

        Parameters
        ----------
        section : str
            The section.
        table : str, optional
            One of its tables; by default the main table.

        Returns
        -------
        pandas.DataFrame
            The rows of all responses; ``host``, ``days``, ``filter_…`` and ``fetched_at`` come
            first, as `df.aa.with_context` adds them.

        Raises
        ------
        ItemNotFound
            If no response has the section, or the section has no such table.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> client = aa.demo().client
        >>> collected = client.collect(["acme.example", "globex.example"], sections=["domains"])
        >>> collected.concat("domains").groupby("host").size().index.tolist()
        ['acme.example', 'globex.example']
        """
        from aatoolkit.frame.merge import concat
        from aatoolkit.frame.reshape import with_context

        parts = [dataset[section] for dataset in self.values() if section in dataset]
        if not parts:
            failed = [f"; {error}" for (*_, name), error in self.errors.items() if name == section]
            there = dict.fromkeys(name for dataset in self.values() for name in dataset)
            raise ItemNotFound(unknown("section", section, there) + "".join(failed), key=section)
        frames = (tables.main if table is None else tables[table] for tables in parts)
        whole = concat([with_context(frame) for frame in frames], ignore_index=True)
        missing = [host for (host, _), dataset in self.items() if section in dataset.errors]
        return _with_failures(whole, missing, len(parts)) if missing else whole

    def compare(
        self,
        host: str | HostScope | None = None,
        baseline: str | HostScope | None = None,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Whether one host fares better than another, as `Dataset.compare` compares windows.

        Each host's own brand: the mention rate and mean position over all prompts and by topic,
        by engine and by brand, with intervals and verdicts. Hosts have prompts of their own, so
        that they are two samples of prompts; what the samples cannot show is not said.

        Parameters
        ----------
        host, baseline : str or (str, Scope), optional
            What is compared, and with what; of two datasets the first with the second.
        level : float
            The confidence level.

        Returns
        -------
        pandas.DataFrame
            One row a measure, ``subject`` and ``name``, with the columns of ``df.aa.compare``:
            the values of two hosts are in columns named by them, and "up" says that the host has
            more than the baseline. ``host`` and ``baseline_host`` say which is which.

        Raises
        ------
        ItemNotFound
            If there is no such host, or there are not two and none is named.
        ArgumentError
            If the level is not between 0 and 1.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> client, sections = aa.demo().client, ["overview", "prompts"]
        >>> collected = client.collect(["acme.example", "globex.example"], sections=sections)
        >>> found = collected.compare()
        >>> found.loc[found["subject"] == "all prompts", "verdict"].tolist()
        ['down', 'no evidence']
        """
        if host is None and baseline is None and len(self) == 2:
            host, baseline = self
        if host is None or baseline is None:
            raise ItemNotFound(
                f"there are {len(self)} datasets, of which two have to be named: "
                f"collected.compare({', '.join(map(repr, self.hosts[:2])) or 'host, baseline'})",
                key=None,
            )
        return self[host].compare(self[baseline], level)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.hosts)

    def _lines(self) -> Iterator[tuple[str, str, str, str, str]]:
        """Host, scope, sections, rows and failures of each dataset that is shown."""
        for (host, scope), dataset in [*self.items()][:_SHOWN]:
            rows = sum(rows for tables in dataset.values() for rows in tables.rows.values())
            errors = (f"{name}: {type(error).__name__}" for name, error in dataset.errors.items())
            failed = clipped(", ".join(errors)) or "none"
            yield clipped(host), clipped(scope._to_query()), f"{len(dataset)}", f"{rows:,}", failed

    def __repr__(self) -> str:
        lines = [
            f"  {host} {scope}: {sections} sections, {rows} rows, failed: {failed}"
            for host, scope, sections, rows, failed in self._lines()
        ]
        return "\n".join([f"<Collection of {self._title()}>", *lines])

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        heads = ("host", "scope", "sections", "rows", "failed")
        title = self._title()
        return table_html(heads, [*self._lines()], caption=title, numbers=(2, 3), codes=(0,))

    def _title(self) -> str:
        scopes = f", {len(self.scopes)} scopes" if len(self.scopes) > 1 else ""
        failed = f", {len(self.errors)} responses failed" if self.errors else ""
        more = f", the first {_SHOWN} datasets" if len(self) > _SHOWN else ""
        return f"{len(self.hosts)} hosts{scopes}{failed}{more}"


def _with_failures(frame: pd.DataFrame, failed: Sequence[str], read: int) -> pd.DataFrame:
    """Mark every column as lacking the rows of hosts of which a request failed."""
    from aatoolkit.metadata.attrs import metadata_of
    from aatoolkit.metadata.recorded import attach_changed

    known = metadata_of(frame)
    why = f"{len(failed)} of {len(failed) + read} responses failed"
    lacking = Availability(Status.UNAVAILABLE, Cause.FAILED, why)
    there = tuple(frame["host"].dropna().unique().tolist())
    absent = AbsentRows(lacking)
    if there and {*there}.isdisjoint(failed):
        absent = AbsentRows(lacking, Condition("host", "in", tuple(dict.fromkeys(failed))), there)
    columns = {name: column.lacking(absent) for name, column in known.columns.items()}
    return attach_changed(frame, replace(known, columns=columns))
