"""JSON documents: strict decoding, one walk through them, and typed columns.

- ``decode`` decodes bytes strictly; ``layout`` has the limits of a document, and recognises objects
  whose keys are data.
- ``paths`` parses and formats JSON paths; ``vectors`` has all values at a path as one list.
- ``coerce`` converts values to typed Arrow arrays, such as amounts and days that are written as
  text.
- ``shred`` converts any document to Arrow tables and back.
- ``byte_span`` finds the bytes of a value by its path.
"""
