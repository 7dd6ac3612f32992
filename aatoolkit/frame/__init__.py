"""``df.aa``: the accessor and its verbs, and Parquet.

``accessor`` is what a frame has; each verb has a module of its own (``merge``, ``aggregate``,
``complete``, ``reshape``, ``require``). ``groupby``, ``cell_status`` and ``aggregation_plan`` are
what the verbs share. ``parquet`` writes frames with their metadata and reads them back.
"""
