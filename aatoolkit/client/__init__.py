"""The client: from a base URL and a token to tables.

In come a host, a section and a `Scope`; out come `Tables`, a `Dataset` or a `Collection`. In
reading order:

- ``client``: one service, one host of it, and the entry points ``aa.project`` and ``aa.demo``.
- ``options``: the scope options of a host, and what Tab completes.
- ``reading``: fetch and normalise many sections concurrently, one section for each value of a
  filter, all sections in one response (the combined view), or sections from files.
- ``dataset``: sections of one host and scope (what changed, funnel, report), and of many.
"""
