"""Metadata that travels with a frame: availability, units, sources, fingerprints, hashes.

In goes what the normalizer knows of each column; out comes what still holds of a frame after
whatever pandas did to it. In reading order:

- ``column``: `ColumnMetadata`, of one column, and `Source`, an answer
- ``frame_metadata``: `FrameMetadata`, of a whole frame
- ``attrs``: where it is stored and read again, in ``DataFrame.attrs``; ``lazy_attrs`` makes its
  text when somebody reads it
- ``carrier``: that text, and the answers and hashes that stay in memory beside it
- ``recipe``: how a frame was made, as an expression of verbs that can be replayed;
  ``recorded`` writes it for the result of a verb, ``row_codes`` rows and values in short
- ``serialize``: their form as JSON
- ``fingerprint`` and ``fingerprint_check``: detect columns that were changed since they were read
- ``row_status``: the status of each row, where a statement is about some rows only
- ``cell_hash``: the hashes of cells that a fingerprint is made of
- ``arrow_schema``: the same metadata in the schema of a Parquet file
- ``table_hash``: the logical hash of a whole table
"""
