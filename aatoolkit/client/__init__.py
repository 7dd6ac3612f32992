"""The client: from a base URL and a token to datasets.

``connect`` has the functions that notebooks begin with; ``client`` is one service, ``project`` one
host of it. ``read_many`` fetches and normalises sections concurrently, ``dataset`` and
``collection`` hold what was read, ``combined_view`` splits the answer without a section.
"""
