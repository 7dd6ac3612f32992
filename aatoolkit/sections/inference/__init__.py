"""Guess from some JSON which tables, columns, units and keys are in it.

A wrong guess costs more than an open question. So a doubtful guess is applied only if the numbers
prove it.

``axes``
    Finds the lists and objects that hold the rows of tables, and the values of each column.
``words``
    Guesses from the name of a field what its values are.
``shapes``
    Makes the tables.
``findings``
    The classes for tables and columns, and for what was found out about them.
``readings``
    Finds how to parse values, such as numbers in text.
``masks``
    Applies booleans that say which values are valid.
``keys``
    Finds rows with totals, and the columns that identify rows.
``evidence``
    Tests which numbers are sums, ratios or means of others.
``units``
    Guesses units and ways to aggregate.
``analysis``
    Runs all these steps, and makes a `Section`.
``profile_code``
    Writes the `Section` as Python code.

>>> from aatoolkit.sections import propose
>>> propose({"hosts": [{"host": "a.example", "hits": 3}]}, "crawl").section.names
('crawl_hosts',)
"""
