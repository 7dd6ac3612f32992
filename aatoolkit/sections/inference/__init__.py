"""Guess the tables, columns, units and keys in some JSON.

A wrong guess does more harm than a missing one. A doubtful guess is therefore applied only if the
numbers prove it.

``json_structure``
    Finds the lists and objects whose items are rows of tables, and the values of each column.
``words``
    Guesses the kind of values from the name of a field.
``table_search``
    Makes the tables.
``draft_tables``
    The classes for tables, columns and the guesses about them.
``field_formats``
    Finds how to parse values, such as numbers in text.
``masks``
    Applies booleans that say which values are valid.
``keys``
    Finds rows with totals, and the columns that identify rows.
``evidence``
    Tests which columns are sums, ratios or means of others.
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
