"""Inference: draft the declaration of responses that nobody described, from their values.

In go decoded responses of one section; out come its tables, types, units, rules and keys, each with
its evidence and one of three confidences. Wrong guesses cost more than open questions, so what a
wrong one would break is applied only if proved.

In reading order: ``axes`` says which keys are data and what belongs together, by the ``words`` of
the lexicon where structure leaves it open; ``shapes`` names the tables, as ``relations``;
``readings`` types their values; ``keys`` settles what rows are and what identifies them;
``evidence`` tests what numbers are sums, ratios and means of, from which ``units`` and ``rules``
follow; ``analysis`` does all this for one section and makes the declaration; ``source`` writes
the Python that makes it.

>>> from aatoolkit.sections import propose
>>> propose({"hosts": [{"host": "a.example", "hits": 3}]}, "crawl").section.names
('crawl_hosts',)
"""
