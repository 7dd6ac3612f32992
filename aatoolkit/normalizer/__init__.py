"""A declared section and an answer to tidy tables, without loss.

In come a `Section` and an answer; out come `Tables`. In reading order:

- ``normalize``: the whole step; ``draft``: a declaration made of an answer that nothing describes.
- ``walk``: one walk through the answer beside its declaration, which finds what no column takes.
- ``rows``: the rows of a table, where the values of its columns are; ``columns``: typed columns.
- ``column_availability``: what the answer states of columns and of some of their rows, and numbers
  that it denies.
- ``provenance``: gives the answer back, spelling included.
- ``to_pandas``: Arrow tables as DataFrames; ``tables``: the result, also as files, and its answer,
  to be read again.
"""
