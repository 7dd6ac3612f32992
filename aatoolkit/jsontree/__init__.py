"""JSON documents: decode them strictly, find values by path, convert values to typed columns.

- ``decode`` decodes bytes, and ``layout`` limits the size of a document
- ``paths`` parses and formats JSON paths
- ``vectors`` returns all values at a path as one list
- ``coerce`` converts values to typed Arrow arrays; it also parses amounts and days in text
- ``shred`` converts any document to Arrow tables and back
- ``byte_span`` finds the bytes of a value by its path
"""
