"""Draft declarations of sections from the values of their responses.

The input is decoded responses of one section that has no declaration. The result is the section's
tables, dtypes, units, aggregation rules and keys, each with its evidence and its confidence:
proved, likely or open. A wrong guess costs more than an open question, so a guess that could give
wrong results is applied only if it is proved.

In reading order: ``axes`` finds the objects whose keys are data, and the values that belong to one
table; ``words`` decides by names if the structure does not; ``shapes`` makes and names the tables,
which are ``relations`` (rows, with the findings about each column); ``readings`` finds how values
are parsed; ``masks`` finds validity flags; ``keys`` finds the rows that are totals of other rows,
and the columns that identify rows;
``evidence`` tests whether numbers are sums, ratios or means of others; ``units`` derives units and
rules from this evidence; ``analysis`` runs all these steps for one section and makes the
declaration; ``profile_code`` writes the declaration as Python code.

>>> from aatoolkit.sections import propose
>>> propose({"hosts": [{"host": "a.example", "hits": 3}]}, "crawl").section.names
('crawl_hosts',)
"""
