"""The client: from a base URL and a token to tables.

A host, a section and a `Scope` come in; `Tables`, a `Dataset` or a `Collection` comes out. The
modules, in reading order:

- ``client``: `Client` for a service, `Project` for a host, and ``aa.project`` and ``aa.demo``.
- ``options``: the scope options of a host, and what Tab completes.
- ``reading``: fetch and normalise many sections concurrently, one section for each value of a
  filter, all sections in one response (the combined view), or sections from files.
- ``dataset``: `Dataset`, the sections of one host and scope, with comparisons, the funnel and the
  report; `Collection`, the datasets of many hosts and scopes.
"""
