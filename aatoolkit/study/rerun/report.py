"""`Rerun`: the result of rerunning a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit._util.terminal import wrapped_in_ipython
from aatoolkit._util.text import markup, visible
from aatoolkit.study.rerun.comparison import DIFFERS, MISSING, NEW, SAME, ResultComparison

if TYPE_CHECKING:
    import pandas as pd

_STATUSES = (DIFFERS, MISSING, NEW, SAME)


@dataclass(frozen=True, repr=False)
class Rerun:
    """The result of a rerun; true if the notebook ended and each sealed result is the same.

    Attributes
    ----------
    notebook, study : Path
        The notebook that was run, and the study that answered.
    digest : str
        The digest of the study.
    started, ended : datetime
        When, in UTC.
    compared : tuple of ResultComparison
        The named results: those that were sealed, and those that are new.
    problem : str or None
        Why the notebook did not run to its end.
    cell : int or None
        The code cell that did not end, counted from 1.
    """

    notebook: Path
    study: Path
    digest: str
    started: datetime
    ended: datetime
    compared: tuple[ResultComparison, ...]
    problem: str | None = None
    cell: int | None = None

    @property
    def ok(self) -> bool:
        """Whether the notebook ran to its end and each sealed result is the same."""
        return self.problem is None and all(one.status in (SAME, NEW) for one in self.compared)

    def __bool__(self) -> bool:
        return self.ok

    @property
    def results(self) -> pd.DataFrame:
        """The compared results, one row each.

        Columns: ``name``, ``status``, ``sealed_rows``, ``rerun_rows``, ``rows_gone``,
        ``rows_new``, ``cells`` (that differ), ``largest`` (relative difference of numbers),
        ``notes``.
        """
        import pandas as pd

        dtypes: dict[str, Any] = dict.fromkeys(("name", "status"), "string")
        dtypes |= dict.fromkeys(("sealed_rows", "rerun_rows"), "Int64")
        dtypes |= dict.fromkeys(("rows_gone", "rows_new", "cells"), "Int64")
        columns = {
            name: pd.Series([getattr(one, name) for one in self.compared], dtype=dtype)
            for name, dtype in {**dtypes, "largest": "Float64"}.items()
        }
        notes = ["; ".join(one.notes) for one in self.compared]
        columns["notes"] = pd.Series(notes, dtype="string")
        return pd.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values."""
        return {
            "ok": self.ok,
            "notebook": str(self.notebook),
            "study": str(self.study),
            "digest": self.digest,
            "started": self.started.isoformat(),
            "ended": self.ended.isoformat(),
            "problem": self.problem,
            "cell": self.cell,
            "results": [one.to_dict() for one in self.compared],
        }

    def lines(self) -> Iterator[str]:
        """Yield the result in words, line by line."""
        if self.problem is not None:
            where = "" if self.cell is None else f" in code cell {self.cell}"
            yield f"the notebook did not run to its end{where}: {visible(self.problem)}"
        for one in self.compared:
            yield from one.lines()

    def __repr__(self) -> str:
        return "\n".join([f"<Rerun: {self._head()}>", *(f"  {line}" for line in self.lines())])

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{markup(line)}</li>" for line in self.lines())
        return f'<div class="tex2jax_ignore"><b>{markup(self._head())}</b><ul>{items}</ul></div>'

    def _head(self) -> str:
        counts = Counter(one.status for one in self.compared)
        listed = ", ".join(f"{counts[each]} {each}" for each in _STATUSES if counts[each])
        seconds = (self.ended - self.started).total_seconds()
        return f"{listed or 'no result'}, in {seconds:.0f} s"
