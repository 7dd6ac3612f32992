"""A declared section and an answer to tidy tables, without loss.

In come a `Section` and an answer; out come `Tables`. In reading order:

- ``normalize``: the whole step; ``draft``: a declaration made of an answer that nothing describes.
- ``field_map``: which fields the columns take; ``rows``: the rows of a table, and where the values
  of its columns are; ``columns``: typed columns; ``parse``: numbers, dates and flags in text.
- ``column_availability``, ``row_statements``: what the answer states of columns, and of some of
  their rows; ``masking``: numbers that the answer denies; ``watched_paths``: hints.
- ``drift``: differences from the declaration, and fields that no column takes; ``abridge``
  shortens what is very long before statements are looked for.
- ``provenance``: gives the answer back, spelling included.
- ``to_pandas``: Arrow tables as DataFrames; ``tables``: the result, ``tables_export``: as files
  and Arrow, ``tables_pickle``: as a pickle; ``reread``: its answer, to be read again.
"""
