"""A declared section and an answer to tidy tables, without loss.

In come a `Section` and an answer; out come `Tables`. In reading order:

- ``normalize``: the whole step; ``draft``: a declaration made of an answer that nothing describes.
- ``abridge``: shortens objects of very many keys; ``field_map``: which fields the columns take.
- ``rows``, ``branch``: the rows of a table, and where the values of its columns are.
- ``columns``: typed columns; ``parse``: numbers, dates and flags in text;
  ``keys``: whether a key is unique; ``to_pandas``: Arrow tables as DataFrames.
- ``column_availability``, ``row_statements``: what the answer states of columns, and of some of
  their rows; ``masking``: numbers that the answer denies.
- ``watched_paths``: paths that a profile says may be about availability, for hints.
- ``drift``: differences from the declaration, and fields that no column takes.
- ``provenance``, ``formats``, ``reconstruct``: give the answer back, spelling included.
- ``batch``: many answers of one section at once; ``document_rows``: which rows are whose;
  ``batch_states``: the availability of their columns.
- ``tables``: the result, ``tables_export``: as files and Arrow, ``tables_pickle``: as a pickle;
  ``reread``: its answer, to be read again when a number is explained.
"""
