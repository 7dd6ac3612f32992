"""Convert a response to tidy tables by the declaration of its section, without loss.

The input is a response and the `Section` that declares its tables and columns; the result is
`Tables`. In reading order:

- ``normalize``: the function of that name; drafts for responses that fit no declaration; hints,
  i.e. values that may be about availability.
- ``rows``: the rows of a table and the values of its columns; drift, i.e. the differences from the
  declaration; and the values for ``extra``, i.e. those that no column has.
- ``columns``: typed columns, and DataFrames of them.
- ``column_availability``: the availability of columns and rows as stated by the response, and the
  numbers that the response states were not measured.
- ``provenance``: the path of every cell; the response rebuilt from tables.
- ``tables``: `Tables`, the result.
"""
