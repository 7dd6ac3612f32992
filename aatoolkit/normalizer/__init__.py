"""A declared section and an answer to tidy tables, without loss.

``normalize`` is the whole step. ``rows`` finds the rows of a table and the values of its columns,
``field_map`` says which fields the columns take, ``drift`` what is left over;
``column_availability`` brings to each column what the answer says of it, ``masking`` hides numbers
that the answer denies, ``provenance`` and ``reconstruct`` give the answer back. ``tables`` is what
a user gets.
"""
