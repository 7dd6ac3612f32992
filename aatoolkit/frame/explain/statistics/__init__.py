"""Explain results of statistics: every number with its formula, down to the rows it was made of.

In goes a result that was made again, out come explanations of its cells. In reading order:

- ``formula``: formulas in names, evaluated, and written again in numbers.
- ``side``: the rows of one side, added up by group and cluster.
- ``cells``: `StatisticsCells`, what all results have in common.
- ``change``, ``compared``, ``headline``: `df.aa.compare` and ``Dataset.compare``.
- ``intervals``: `df.aa.interval`; ``decomposed``: `df.aa.decompose`.
- ``listings``: ranks and concentrations; ``overlaps``; ``repeats``: agreement, days of change.
- ``panel``, ``effects``: ``aa.stats.effect``; ``answers``: one row an answer.
- ``funnel``: ``Dataset.funnel``.
"""
