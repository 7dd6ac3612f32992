"""A declared section and an answer to tidy tables, without loss.

In come a `Section` and an answer; out come `Tables`. In reading order:

- ``normalize``: the whole step; a draft, made of an answer that no declaration fits.
- ``rows``: the rows of a table, where the values of its columns are; and one walk through the
  answer beside its declaration, which finds what no column takes.
- ``columns``: typed columns, and DataFrames of them.
- ``column_availability``: what the answer states of columns and of some of their rows, and numbers
  that it denies.
- ``provenance``: gives the answer back, spelling included.
- ``tables``: the result, also as files, and its answer, to be read again.
"""
