"""A declared section and a response to tidy tables, without loss.

In come a `Section` and a response; out come `Tables`. In reading order:

- ``normalize``: the whole step; a draft, made of a response that no declaration fits.
- ``rows``: the rows of a table, where the values of its columns are; and one walk through the
  response beside its declaration, which finds what no column takes.
- ``columns``: typed columns, and DataFrames of them.
- ``column_availability``: what the response states of columns and of some of their rows, and
  numbers that it denies.
- ``provenance``: gives the response back, spelling included.
- ``tables``: the result, also as files, and its response, to be read again.
"""
