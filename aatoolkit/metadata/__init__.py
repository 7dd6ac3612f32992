"""What travels with a frame: availability, units, sources, and the proof that they still hold.

``attrs`` carries it in ``DataFrame.attrs``, ``fingerprint`` detects columns that were changed,
``cell_hash`` and ``table_hash`` are the hashes, ``arrow_schema`` is its form in Parquet.
"""
