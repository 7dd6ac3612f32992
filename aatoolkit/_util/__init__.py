"""Small helpers for text, numbers, tables and files.

- ``text`` escapes and wraps text, and parses days and moments; ``numbers`` formats numbers.
- ``show`` formats tables as text and HTML.
- ``dtypes`` and ``units`` list the dtypes and units that columns can have; ``lexicon`` has the
  meanings of words in the field names and texts of services.
- ``files`` writes files and folders atomically; ``cancellation`` ends calls in other threads.
- ``defaults`` has the defaults of settings, and the optional packages.
- ``attributes`` has base classes of public classes: they make ``help`` short, suggest similar names
  for a missing attribute, and complete keys by Tab.
- ``hosts`` converts host names to their canonical form.
"""
