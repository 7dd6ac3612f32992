"""Metadata that travels with a frame: availability, units, sources, fingerprints, hashes.

In goes what the normalizer knows of each column; out comes what still holds of a frame after
whatever pandas did to it. In reading order:

- ``column``: `ColumnMetadata`, of one column, `Source`, a response, and the status of each row
- ``fingerprint``: detects columns that were changed since they were read
- ``recipe``: how a frame was made, as an expression of verbs that can be replayed
- ``attrs``: `FrameMetadata`, of a whole frame, and where it is stored: in ``DataFrame.attrs``
- ``recorded``: writes the recipe of the result of a verb
- ``arrow_schema``: the same metadata in the schema of a Parquet file; the logical hash of a table
"""
