"""Small helpers that know nothing of analytics.

``text`` makes text from elsewhere safe to show, ``hosts`` gives a host name its canonical form,
``files`` writes files and folders atomically, ``cancellation`` ends calls in other threads,
``defaults`` holds the defaults of settings, ``extras`` the optional packages,
``attributes`` those of a mistyped attribute;
``days`` reads days and moments, in ISO 8601 alone;
``filter_values`` validates the values of a filter,
``html_table`` writes the tables of a notebook, ``options_html`` the filter values of a
project, ``terminal`` knows its width and wraps lines,
``listing`` shows a frame of names and sentences whole, ``result_frame`` key, numbers and verdict of
results; ``described`` is the base class of what shows a title and a list, ``closing`` that of what
a ``with`` block closes.
"""
