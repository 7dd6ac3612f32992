"""Convert a JSON response to tables, without losing a value.

A section is one kind of response, such as ``domains``. Its declaration lists the tables and
columns, and the JSON paths of their values. The modules, in reading order:

- ``normalize`` has the function `normalize`; it also drafts a declaration if there is none
- ``rows`` finds the rows of a table and the values of its columns in the response
- ``columns`` makes typed columns, and DataFrames from them
- ``column_availability`` finds out which columns and rows could be measured
- ``provenance`` records the JSON path of each value, to rebuild the response
- ``tables`` has `Tables`, the result
"""
