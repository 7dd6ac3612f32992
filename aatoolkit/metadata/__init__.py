"""Metadata of a DataFrame: units, sources, and whether the columns could be measured.

The metadata is stored in ``DataFrame.attrs``. pandas may change the values and keep the ``attrs``;
then this package finds the part of the metadata that is still true. The modules, in reading order:

- ``column``: `ColumnMetadata` of one column, `Source` of one response, and the status of each row
- ``fingerprint``: detects columns whose values were changed
- ``recipe``: how a frame was made, as an expression that can be run again
- ``attrs``: `FrameMetadata` of a whole frame, stored in ``DataFrame.attrs``
- ``recorded``: attaches a recipe to the results of ``df.aa`` methods
- ``arrow_schema``: the same metadata in a Parquet file
- ``table_hash``: a hash of the content of a table
"""
