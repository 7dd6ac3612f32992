"""The client: from a base URL and a token to tables.

In come a host, a section and a `Scope`; out come `Tables`, a `Dataset` or a `Collection`. In
reading order:

- ``connect``: the entry points ``aa.project``, ``aa.collect`` and ``aa.demo``; ``settings`` finds
  base URL and token, ``demo`` starts the embedded service.
- ``client``: one service; ``project``: one host of it; ``options``: its scope options.
- ``stand_in``: what answers in the place of services while a notebook is rerun from a study.
- ``read_many``: fetch and normalise sections concurrently, with ``concurrency`` and ``progress``;
  ``read_by``: one section, once for each value of a filter.
- ``dataset`` (sections of one host and scope), ``dataset_statistics`` (what changed, funnel) and
  ``collection`` (many hosts and scopes).
- ``read_files``: a dataset from the folder that it was written to.
- ``combined_view``: read the answer to a request without a section, split by section.
"""
