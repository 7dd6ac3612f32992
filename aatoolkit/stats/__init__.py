"""Statistics on frames: is a difference real, how certain is a rate, would more runs show it?

The functions take frames of counts, rates and means. They return frames that say how certain each
number is, with ``n``, the number of prompts, the method in words and a verdict. If the data were
not measured, the verdict is "cannot say" with the cause, never "no change".

    answers = aa.stats.answers(dataset["chats"])             one row per answer
    answers.aa.interval("mentioned", cluster="prompt_id")    how certain is the rate
    now.aa.compare(before, "mentioned", by="engine")         has it changed, and where
    dataset.compare()                                        the headline against the window before
    aa.stats.effect(answers, since=day, treated=prompts)     did the action work
    aa.stats.cited_and_mentioned(dataset["chats"])           do citations and mentions go together
    answers.aa.stability()                                   do repeated answers agree
    aa.stats.samples(0.4, 0.05)                              how many prompts are needed

There are also ``decompose``, ``changes``, ``rank``, ``overlap`` and ``concentration`` for frames,
and ``funnel`` for datasets. ``.aa.plot()`` draws each result. ``.aa.explain(row, column)`` goes
from a number to its formula, its counts and the bytes of the responses.

Two questions look alike and have different answers:

- How do *these prompts* fare? Then only the answers to each are a sample (``panel="fixed"``).
- How do *prompts like these* fare? Then prompts are a sample too (``panel="sampled"``).

For the second question, many answers to few prompts are worth little, as answers to one prompt
resemble each other. A hundred answers to five prompts are worth 34 independent answers if their
correlation is 0.1, and 6 if it is 0.8.

"up" and "down" mean that a p-value is below 1 - ``level``. The p-value depends on the function:

- ``Dataset.compare``: in the first row, the planned comparison, the p-value of this row,
  unadjusted; in all other rows the p-value adjusted over these rows;
- ``compare`` and ``overlap``: the p-value of the row, adjusted over all rows;
- ``changes``: the p-value of "no change in the whole series";
- ``effect``: the p-value of the effect, unadjusted; those of its checks are adjusted.

"no evidence" means that no change was shown, not that there is none. ``detectable`` is the size of
a change that 80 % of such samples would show. "cannot say" means that no test was possible, or that
a check of its assumptions failed; ``why`` says which.

Methods, assumptions and checks: ``help("aatoolkit.stats.results")``.
"""

# In reading order: trace (numbers that remember how they were computed), sums (numerators
# and denominators by group and cluster), estimate (the arithmetic of rates and changes), results
# (what each column says), then the verbs: interval, compare, headline, changes, treatment, members,
# funnel, answer_rows.

from typing import TYPE_CHECKING

from aatoolkit.errors import make_module_lookup
from aatoolkit.stats.answer_rows import (
    answers as answers,
    cited_and_mentioned as cited_and_mentioned,
)
from aatoolkit.stats.interval import samples as samples
from aatoolkit.stats.treatment import effect as effect

if not TYPE_CHECKING:  # type checkers go by what is declared
    __dir__, __getattr__ = make_module_lookup(
        __name__, ["answers", "cited_and_mentioned", "effect", "samples"]
    )
