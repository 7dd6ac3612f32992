"""A declared section and a response to tidy tables, without loss.

In come a `Section` and a response; out come `Tables`. In reading order:

- ``normalize``: the function of that name; drafts of responses that no declaration fits; hints.
- ``rows``: the rows of a table and the values of its columns; drift, and the values for ``extra``.
- ``columns``: typed columns, and DataFrames of them.
- ``column_availability``: the availability of columns and rows as the response states it, and the
  numbers that it denies.
- ``provenance``: the path of every cell, and the response rebuilt from tables.
- ``tables``: `Tables`, the result.
"""
