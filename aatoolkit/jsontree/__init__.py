"""JSON documents as columns: strict decoding, and any document to Arrow tables and back.

In reading order: ``decode`` parses bytes strictly, ``split`` cuts a large body into chunks,
``nodes`` holds a document as a tree whose nodes have the values of one path, ``assemble`` makes
Arrow tables of it and ``rebuild`` the document again. ``arrow_tables`` is the public entry.
``paths`` is the grammar of paths, ``cursor`` walks the tree along one, ``coerce`` makes typed
arrays of what is there.
"""
