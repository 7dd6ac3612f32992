"""JSON documents as columns: strict decoding, and any document to Arrow tables and back.

In goes a body, as bytes, or a JSON value; out come typed columns, Arrow tables, or the value
again. In reading order:

- ``decode`` decodes bytes strictly: ``split`` cuts a large body into chunks, ``exactness`` and
  ``members`` check in the bytes what orjson may have changed, ``stdlib_parser`` decides then.
- ``parse`` makes a tree of ``nodes`` of a document, each with all values of one path:
  ``grouping`` groups objects by key, ``keyed`` recognises objects whose keys are data,
  ``child_table`` has the rows of arrays and of such objects, ``kinds`` the kinds of scalars,
  ``chunks`` parts of columns, ``layout`` what is declared beforehand, and the limit of nodes.
  ``arrow_reader`` is the fast path for long arrays.
- ``arrow_tables`` has the public ``shred`` and ``unshred``: ``assemble`` makes Arrow tables of a
  tree, named by ``names``, and ``rebuild`` the document again.
- ``paths`` is the grammar of paths, ``walker`` the walk along one: ``cursor`` is a place whose
  values are columns, ``coerce`` makes typed arrays of them, ``values`` JSON values; ``vectors``
  have Python values.
- ``byte_span`` finds where in the bytes the values at some paths are.
- ``text_values`` reads single texts: amounts, durations, flags, days.
"""
