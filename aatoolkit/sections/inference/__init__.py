"""Inference: draft the declaration of answers that nobody described, from their values.

In go decoded answers of one section; out come its tables, types, units, rules and keys, each with
its evidence and one of three confidences. Wrong guesses cost more than open questions, so what a
wrong one would break is applied only if proved.

In reading order: ``axes`` with ``vocabulary`` says which keys are data and what belongs together;
``shapes`` names the tables, as ``relations``; ``readings`` types their values, with
``text_formats``; ``totals``, ``keys`` and ``inherit`` settle what rows are and what identifies
them, ``texts`` what texts need beside them; ``words``, ``identities``, ``sums`` and
``experiments`` are the ``evidence``, from which ``units``, ``metrics``, ``differences`` and
``rules`` follow, in ``findings``; ``analysis`` does all this for one section. ``declare`` makes
declarations of it and ``source`` the Python that makes them; ``standard`` gives columns the names
that they have everywhere else, and ``proposal`` is what single answers are drafted by.

>>> from aatoolkit.sections.inference.proposal import propose
>>> propose({"hosts": [{"host": "a.example", "hits": 3}]}, "crawl").section.names
('crawl_hosts',)
"""
