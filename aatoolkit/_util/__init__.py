"""Small helpers that know nothing of analytics.

``text`` makes text from elsewhere safe to show and wraps it, ``show`` is the one way in which
tables are shown as text and HTML, ``numbers`` that in which a number is written, with ``units`` and
``dtypes``, what columns are declared with; ``lexicon`` the words of unknown services;
``files`` writes files and folders atomically, ``cancellation`` ends calls in other threads,
``defaults`` holds the defaults of settings and the optional packages,
``attributes`` what public classes have in common;
``hosts`` reads host names; days and moments, in ISO 8601 alone, are in ``text``.
"""
