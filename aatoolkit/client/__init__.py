"""Connect to a service by its URL and a token, and read its tables.

The modules, in reading order:

- ``client``: `Client` for a service, `Project` for a host, ``aa.project`` and ``aa.demo``.
- ``options``: the values that each filter of a project may have.
- ``reading``: read many sections concurrently, from the service or from files.
- ``dataset``: `Dataset`, the tables of one host, and `Collection`, the tables of many hosts.
"""
