"""Convert a response to tidy tables by the declaration of its section, without loss.

The input is a response and the `Section` that declares its tables and columns; the result is
`Tables`. In reading order:

- ``normalize``: the function of that name; drafted declarations for responses that fit no given
  one; hints, i.e. values that may be about availability but were not read.
- ``rows``: finds the rows of a table and the values of its columns; drift, i.e. the differences
  between response and declaration; and ``extra``, i.e. the values that no column has.
- ``columns``: makes typed columns, and DataFrames of them.
- ``column_availability``: the availability of columns and rows as the response states it, and the
  numbers that, by the response, were not measured.
- ``provenance``: the JSON path of every cell, by which the response is rebuilt from tables.
- ``tables``: `Tables`, the result.
"""
