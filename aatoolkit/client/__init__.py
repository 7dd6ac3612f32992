"""The client: from a base URL and a token to tables.

In come a host, a section and a `Scope`; out come `Tables`, a `Dataset` or a `Collection`. In
reading order:

- ``connect``: the entry points ``aa.project`` and ``aa.demo``; ``settings`` finds
  base URL and token, ``demo`` starts the embedded service.
- ``client``: one service; ``project``: one host of it; ``options``: its scope options.
- ``reading``: fetch and normalise sections, concurrently (``concurrency``), by a filter, of the
  combined view, or from files; ``completion``: Tab offers sections.
- ``dataset`` (sections of one host and scope), ``dataset_statistics`` (what changed, funnel) and
  ``collection`` (many hosts and scopes).
"""
