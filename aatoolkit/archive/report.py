"""The result of adding answers to an archive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aatoolkit._util.html_table import table_html
from aatoolkit._util.terminal import wrapped_in_ipython
from aatoolkit._util.text import clipped, code, visible
from aatoolkit.archive.answers import Question
from aatoolkit.errors import AAToolkitError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class AddReport:
    """The result of adding answers to an archive: counts and failures; true if none failed.

    Attributes
    ----------
    run : str or None
        The run; None if nothing was new.
    answers : int
        The answers that were added.
    resumed : int
        Those of them that an earlier, unfinished run had fetched.
    skipped : int
        The questions that had an answer of today already.
    failed : dict of (str, str, str) to AAToolkitError
        The requests that failed, by host, section and scope.
    problems : dict of str to AAToolkitError
        The answers and tables that are stored only as answers, and why.
    """

    run: str | None
    answers: int = 0
    resumed: int = 0
    skipped: int = 0
    failed: dict[Question, AAToolkitError] = field(default_factory=dict)
    problems: dict[str, AAToolkitError] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failed and not self.problems

    def __bool__(self) -> bool:
        return self.ok

    @property
    def failures(self) -> pd.DataFrame:
        """One row per failure: ``host``, ``section``, ``scope``, ``error``, ``message``."""
        import pandas as pd

        rows: list[tuple[str | None, ...]] = [
            (*request, type(error).__name__, str(error)) for request, error in self.failed.items()
        ]
        rows += [
            (None, name, None, type(error).__name__, str(error))
            for name, error in self.problems.items()
        ]
        names = ("host", "section", "scope", "error", "message")
        return pd.DataFrame(
            {name: pd.array([row[at] for row in rows], "string") for at, name in enumerate(names)}
        )

    def __repr__(self) -> str:
        parts = [f"{self.answers} answers added"]
        if self.resumed:
            parts.append(f"{self.resumed} of them fetched by an unfinished run")
        if self.skipped:
            parts.append(f"{self.skipped} there already today")
        if self.failed:
            parts.append(f"{len(self.failed)} failed")
        if self.problems:
            parts.append(f"{len(self.problems)} stored as answers only")
        lines = [f"<AddReport: {', '.join(parts)}>"]
        shown = [(" ".join(request), error) for request, error in self.failed.items()]
        shown += [*self.problems.items()]
        lines += [f"  {visible(name)}: {visible(str(error))}" for name, error in shown[:5]]
        lines += [f"  … {len(shown) - 5} more (see .failures)"] if len(shown) > 5 else []
        return "\n".join(lines)

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        title = repr(self).splitlines()[0]
        failures = self.failures.head(20).fillna("")
        if not len(failures):
            return code(title)
        rows = [tuple(map(clipped, row)) for row in failures.itertuples(index=False)]
        return table_html([*failures.columns], rows, caption=title[1:-1])
