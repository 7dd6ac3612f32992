"""Metadata that travels with a frame: availability, units, sources, fingerprints, hashes.

In goes what the normalizer knows of each column; out comes what still holds of a frame after
whatever pandas did to it. In reading order:

- ``attrs``: `FrameMetadata` and `ColumnMetadata`, stored in ``DataFrame.attrs``
- ``fingerprint``: detects columns that were changed since they were read
- ``cell_hash``: the hashes of cells that a fingerprint is made of
- ``arrow_schema``: the same metadata in the schema of a Parquet file
- ``table_hash``: the logical hash of a whole table
"""
