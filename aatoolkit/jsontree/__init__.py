"""JSON documents: strict decoding, one walk through them, and typed columns.

- ``decode`` decodes bytes strictly; ``layout`` counts what a document has, and recognises objects
  whose keys are data.
- ``paths`` is the grammar of paths, ``vectors`` the walk along one: all values of a path at once.
- ``coerce`` makes typed arrays of values, also of amounts and days that are written as text.
- ``shred`` makes Arrow tables of any document, and the document of them.
- ``byte_span`` finds where in the bytes the values at some paths are.
"""
