"""Inference: draft the declaration of responses that nobody described, from their values.

The input is decoded responses of one section. The result is its tables, types, units, rules and
keys, each with its evidence and its confidence: proved, likely or open. A wrong guess costs more
than an open question, so a guess that could give wrong results is applied only if it is proved.

In reading order: ``axes`` finds which keys are data and which values belong to one table, by the
``words`` of the lexicon where structure leaves it open; ``shapes`` names the tables, as
``relations`` (the rows that were found, with the findings of each column); ``readings`` types their
values; ``masks`` finds validity flags; ``keys`` finds totals and the columns that identify rows;
``evidence`` tests which numbers are sums, ratios and means of others; ``units`` derives units and
rules from that; ``analysis`` does all this for one section and makes the declaration; ``source``
writes the declaration as Python.

>>> from aatoolkit.sections import propose
>>> propose({"hosts": [{"host": "a.example", "hits": 3}]}, "crawl").section.names
('crawl_hosts',)
"""
