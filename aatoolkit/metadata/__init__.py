"""Metadata that travels with a frame: availability, units, sources, fingerprints, hashes.

In goes the metadata that the normalizer attaches to a frame; out comes the part of it that still
holds after any pandas operations. In reading order:

- ``column``: `ColumnMetadata` of one column, `Source` of one response, and the status of each row
- ``fingerprint``: detects columns that were changed since they were read
- ``recipe``: how a frame was made, as an expression of methods of ``df.aa`` (verbs) that can be
  replayed
- ``attrs``: `FrameMetadata`, of a whole frame, and where it is stored: in ``DataFrame.attrs``
- ``recorded``: writes the recipe of the result of a verb
- ``arrow_schema``: the same metadata in the schema of a Parquet file; the logical hash of a table
"""
