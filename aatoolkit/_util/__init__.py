"""Small helpers for text, numbers, tables and files.

- ``text`` formats text, and ``numbers`` formats numbers.
- ``show`` formats tables as text and HTML.
- ``dtypes`` and ``units`` list the dtypes and units of columns.
- ``lexicon`` knows the meaning of words in the field names of services.
- ``files`` writes files and folders atomically.
- ``cancellation`` cancels calls in other threads.
- ``defaults`` has the defaults of settings.
- ``attributes`` has base classes for a short ``help`` and for attributes that are not there (the
  suggestions of similar names: ``errors.suggest_names``).
- ``hosts`` converts host names to one spelling.
- ``grouping`` groups values by a key.
- ``data`` reads the JSON files in this folder.
"""
