"""Draft declarations of sections from the values of their responses.

A wrong guess costs more than an open question, so a doubtful guess is applied only if it is proved.

``axes``
    Finds the structure: objects whose keys are data, and the values of each table.
``words``
    What the names of fields mean.
``shapes``
    Makes the tables.
``findings``
    The tables and columns of a draft, each with its evidence and confidence.
``readings``
    Finds how values are parsed.
``masks``
    Finds columns that say which values are valid.
``keys``
    Finds total rows, and the columns that identify rows.
``evidence``
    Tests which numbers are sums, ratios or means of others.
``units``
    Finds units and aggregation rules.
``analysis``
    Runs all these steps, and makes the declaration.
``profile_code``
    Writes the declaration as Python code.

>>> from aatoolkit.sections import propose
>>> propose({"hosts": [{"host": "a.example", "hits": 3}]}, "crawl").section.names
('crawl_hosts',)
"""
