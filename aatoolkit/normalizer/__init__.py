"""Convert a JSON response to tables, without losing a value.

A section is one kind of response, such as ``domains``. Its declaration lists the tables and
columns, and where their values are in the response. The modules, in reading order:

- ``normalize`` has the function `normalize`, and drafts a declaration where there is none
- ``rows`` finds the rows of a table and the values of its columns in the response
- ``columns`` makes typed columns, and DataFrames of them
- ``column_availability`` finds out which columns and rows the service could measure
- ``provenance`` records the place of each value, to rebuild the response
- ``tables`` has `Tables`, the result
"""
