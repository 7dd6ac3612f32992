"""The declared sections, one module each: found by looking, never listed.

A module of this package whose name has no leading underscore declares one ``SECTION``. It
is named after the section, and is imported when it is first asked for.
"""
