"""Small helpers for text, numbers, tables and files.

- ``text`` escapes and wraps text, and parses days and moments; ``numbers`` formats numbers.
- ``show`` formats tables as text and HTML.
- ``dtypes`` and ``units`` list the dtypes and units that columns can have; ``lexicon`` has the
  words by which field names and texts of unknown services are understood.
- ``files`` writes files and folders atomically; ``cancellation`` ends calls in other threads.
- ``defaults`` has the defaults of settings, and the optional packages.
- ``attributes`` has base classes: short help, near matches, keys for Tab.
- ``hosts`` brings host names into their canonical form.
"""
