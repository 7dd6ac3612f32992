"""The verb that goes from a number to its evidence: `explain`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from aatoolkit.frame.explain.explanation import Explanation


class Explain:
    """The method that explains a number."""

    _frame: pd.DataFrame

    def explain(
        self,
        row: int | Hashable | Mapping[str, Any] | None = None,
        column: str | None = None,
        *,
        within: Any = None,
    ) -> Explanation:
        """Explain a number, down to the bytes of the answers it was made of; or why there is none.

        ``df.aa.explain("mention_rate")``, without a row, answers "why is this missing?": of the
        first value of the column that is, with how many are, by cause.

        The frame is made again from the answers' bytes, and the explanation holds only if that
        gives the same value; where it does not, or where plain pandas changed the value since, it
        says so. Answers are at hand as long as the frame is in memory; a frame of another
        process, or from a file, needs a study or archive that holds them.

        Parameters
        ----------
        row : int, label or mapping of str to object, optional
            The row: the values of columns that identify it, such as ``{"engine": "chatgpt"}``; or
            its label in the index, as in ``df.loc``; or its position, where there is no such label.
            By default the first row without a value in the column, or the first if none is.
        column : str
            The column. A single argument that names a column is the column.
        within : Study, Archive, Tables, Dataset, or a list of these, optional
            Where answers are looked for, beside those in memory.

        Returns
        -------
        Explanation
            A tree: value, unit, meaning, formula, JSON path and bytes, answer, availability.

        Raises
        ------
        ColumnNotFound
            If there is no such column.
        ItemNotFound
            If there is no such row, or several.
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        TypeError
            If no column is given.

        Examples
        --------
        >>> pd.DataFrame({"n": [1]}).aa.explain(0, "n")
        n: 1
          unknown
          the trail ends here: nothing is known of where this frame comes from: it has no metadata
        >>> import aatoolkit as aa
        >>> engines = aa.demo().read("overview", days=7)["overview_engines"]
        >>> found = engines.aa.explain("mention_rate")
        >>> found.row, found.missing.partition(";")[0]
        ({'engine': 'google-ai-overview'}, 'the answer holds null here')
        """
        from aatoolkit.frame.explain.explainer import Explainer

        return Explainer(within).explain(self._frame, row, column)
