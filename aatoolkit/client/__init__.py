"""The client: from a base URL and a token to tables.

In come a host, a section and a `Scope`; out come `Tables`, a `Dataset` or a `Collection`. In
reading order:

- ``connect``: the entry points ``aa.project`` and ``aa.demo``, with its embedded service;
  ``settings`` finds base URL and token.
- ``client``: one service; ``project``: one host of it, and its scope options.
- ``reading``: fetch and normalise sections, concurrently (``concurrency``), by a filter, of the
  combined view, or from files.
- ``dataset`` (sections of one host and scope: what changed, funnel, report) and ``collection``
  (many hosts and scopes).
"""
