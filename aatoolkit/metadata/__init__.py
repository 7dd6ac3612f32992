"""Metadata that travels with a frame: availability, units, sources, fingerprints, hashes.

The normalizer attaches metadata to a frame. After any pandas operations, this package returns the
part of the metadata that still holds. In reading order:

- ``column``: `ColumnMetadata` of one column, `Source` of one response, and the status of each row
- ``fingerprint``: detects columns that were changed since they were read
- ``recipe``: how a frame was made, as an expression of methods of ``df.aa`` (verbs) that can be
  replayed
- ``attrs``: `FrameMetadata` of a whole frame, and how it is stored in ``DataFrame.attrs``
- ``recorded``: attaches a recipe to the result of a verb
- ``arrow_schema``: the same metadata in the schema of a Parquet file
- ``table_hash``: the hash of the content of a table
"""
