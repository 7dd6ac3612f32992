"""Convert a response to tidy tables by the declaration of its section, without loss.

The input is a `Section` (which tables and columns a response has, and where) and a response; the
result is `Tables`. In reading order:

- ``normalize``: the function of that name; drafts for responses that no declaration fits; hints,
  i.e. values that may be about availability.
- ``rows``: the rows of a table and the values of its columns; drift, i.e. the differences from the
  declaration; and the values for ``extra``, which no column has.
- ``columns``: typed columns, and DataFrames of them.
- ``column_availability``: the availability of columns and rows as the response states it, and the
  numbers that it denies.
- ``provenance``: the path of every cell, and the response rebuilt from tables.
- ``tables``: `Tables`, the result.
"""
