"""Metadata of a DataFrame: units, sources, and whether the columns could be measured.

The metadata is stored in ``DataFrame.attrs``. pandas may change the values and keep the ``attrs``.
This package then detects which part of the metadata is still valid. The modules, in reading order:

- ``column``: `ColumnMetadata` of one column, `Source` of one response, and the status of each row
- ``fingerprint``: hashes that detect columns whose values were changed
- ``recipe``: how a DataFrame was made, as an expression that can be run again
- ``attrs``: `FrameMetadata` of a whole DataFrame, stored in ``DataFrame.attrs``
- ``recorded``: a decorator that adds a recipe to the results of ``df.aa`` methods
- ``arrow_schema``: the same metadata in a Parquet file
- ``table_hash``: a hash of the content of a table
"""
