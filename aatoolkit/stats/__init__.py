"""Statistics on frames: is it real?

In come frames of counts, rates and means; out go frames whose rows say how sure a number is, with
``n``, the number of prompts, the method in words and a verdict. What was not measured gives
"cannot say" and the cause, never "no change". Reached through ``df.aa``. In reading order:

================ =====================================================================
``trace``        numbers that remember how they were computed: what explanations run on; Student's t
``cluster_sums`` numerators and denominators by group and cluster, of what was measured
``estimate``     rates, means and changes over clusters: variance, design effect, interval, p-value
``results``      what each column of a result says, and the frames that hold them
``interval``     ``df.aa.interval``: how sure a rate or mean is; those of pictures too
``compare``      ``df.aa.compare``: whether two frames differ; ``df.aa.decompose``: in what
``headline``     ``Dataset.compare``: what changed between two datasets
``stability``    ``df.aa.stability`` and ``aa.stats.samples``: repeats, and how many it takes
``changes``      ``df.aa.changes``: the days on which a rate, count or mean changed
``treatment``    ``aa.stats.effect``: whether an action worked
``members``      ``df.aa.rank`` and ``df.aa.concentration``: ranks, and how few members have most
``overlap``      ``df.aa.overlap``: how much two engines have in common
``funnel``       ``Dataset.funnel``: from crawled to converted
``answer_rows``  ``aa.stats.answers`` and ``aa.stats.cited_and_mentioned``: one row an answer
================ =====================================================================

Two questions look alike and have different answers. How do *these prompts* fare? Then the prompts
are all there is, and only the answers to each are a sample (``panel="fixed"``). How do *prompts
like these* fare? Then prompts are a sample too, and as answers to one prompt resemble each other, a
hundred answers to five prompts may be worth as few as 34 independent ones (correlation 0.1), 15
(0.3) or 6 (0.8) (``panel="sampled"``). In simulations of 25 prompts with 30 answers each, an
interval that takes all answers for independent covers 68 to 30 % where it promises 95 %
(intra-class correlations from 0.1 to 0.8).

What a verdict is
-----------------
"up" and "down" mean a p-value below one less the level, 5 % by default. Whose p-value that is:

- ``Dataset.compare``: that of the planned comparison alone; the rest is a family.
- ``compare``, ``overlap``: that of the row, adjusted over all rows. With Holm's method, of twenty
  families without any change about one, at most, has such a verdict.
- ``changes``: that of no change in the whole series; single rows have none of their own.
- ``effect``: that of the effect alone; its checks are adjusted over each other.
- ``decompose``, ``aa.stats.cited_and_mentioned``: that of the one test they make, not adjusted.

Other verbs test nothing: their verdicts put the result into words, or why there is none.

"no evidence" means that none was shown, not that there is none; ``detectable`` is the change that
such a sample shows in four of five cases. "cannot say" means that no verdict is given, because no
test was possible (fewer than five prompts, a side that was not measured, windows that overlap) or
because a check of its assumptions failed (groups that moved apart before); ``why`` says which.

Methods, assumptions and checks are in ``aatoolkit.stats.results``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from aatoolkit._util.attributes import missing_attribute

if TYPE_CHECKING:
    from aatoolkit.stats.answer_rows import answers as answers
    from aatoolkit.stats.answer_rows import cited_and_mentioned as cited_and_mentioned
    from aatoolkit.stats.stability import samples as samples
    from aatoolkit.stats.treatment import effect as effect

_HOME_OF = {
    "answers": "answer_rows",
    "cited_and_mentioned": "answer_rows",
    "effect": "treatment",
    "samples": "stability",
}
_PUBLIC = ["answers", "cited_and_mentioned", "effect", "samples"]


def __dir__() -> list[str]:
    return _PUBLIC


if not TYPE_CHECKING:  # type checkers read the names above

    def __getattr__(name: str) -> Any:
        if name not in _HOME_OF:
            raise missing_attribute(f"module {__name__!r}", name, _PUBLIC)
        return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
