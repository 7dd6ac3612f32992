"""Convert any JSON document to Arrow tables and back, without loss or any declaration.

The layout of the tables is a contract.

**Tables.** The document is the one row of the table ``$``. An array becomes a table of its own, a
row for each element, named after its path: ``chats[]``, ``chats[].citations[]``, ``matrix[][]``.
An object whose keys are data becomes one too, a row for each entry: ``byDay{}``. Which objects
these are is decided in `aatoolkit.jsontree.keyed`; the others are columns.

**Columns** of tables other than ``$``, first: ``_parent``, the number of the row above it in the
table above, from 0; ``_pos``, the place in the array or object, from 0; ``_key``, the key of an
entry. Then those of the row itself, named by the path from the row, and sorted by it:

=================  =============================================================================
``engine``         the field's numbers, text or booleans, where it has one kind of them
``answer.text``    a field of an object in a field
``x@string`` …     one column a kind, where it has several: ``@boolean``, ``@integer``,
                   ``@number`` (floats), ``@string``, ``@big`` (integers beyond 64 bits, as text)
``chats[]``        how many elements the array has; they are in the table of that name
``byDay{}``        how many entries the object has; they are in the table of that name
``x@kind``         what the field is in a row: ``missing``, ``null``, ``object``, or ``array``,
                   ``entries`` or a kind of scalar. It is there only where rows without a value
                   are not all of one kind; else the kind is in the plan.
``_value…``        the same of the row itself, where it is no object
=================  =============================================================================

Integers and floats share a column of floats where no float is a whole number and no integer
beyond 2**53: then the two can be distinguished. Text that looks like dates stays text.

**Names** depend on the fields and their kinds, never on the order of rows. In them ``.`` ``[``
``{`` ``@`` ``%`` ``/`` and the like are written ``%2E`` and so on, so that no key looks like a
path or a column of ours, and names can be file names; long table names end in a hash.

**The plan**, JSON in the metadata of each table's schema under ``aatoolkit.shred``, holds the
true keys and what each column is. It is all that `unshred` goes by, with the columns it names,
and Parquet keeps it.

>>> tables = shred('{"host": "a.example", "chats": [{"id": 1, "tags": ["x"]}, {"id": null}]}')
>>> {name: table.column_names for name, table in tables.items()}
{'$': ['chats[]', 'host'],
 'chats[]': ['_parent', '_pos', 'id', 'tags[]'],
 'chats[].tags[]': ['_parent', '_pos', '_value']}
>>> tables["chats[]"].to_pylist()
[{'_parent': 0, '_pos': 0, 'id': 1, 'tags[]': 1},
 {'_parent': 0, '_pos': 1, 'id': None, 'tags[]': None}]
>>> unshred(tables)
{'chats': [{'id': 1, 'tags': ['x']}, {'id': None}], 'host': 'a.example'}
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from aatoolkit.jsontree.assemble import assemble
from aatoolkit.jsontree.chunks import own_buffers
from aatoolkit.jsontree.decode import gc_paused
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.jsontree.parse import parse_document
from aatoolkit.jsontree.rebuild import unshred

__all__ = ["shred", "unshred"]


def shred(answer: bytes | str | Any, *, max_nodes: int = MAX_NODES) -> dict[str, pa.Table]:
    """Convert a JSON document to Arrow tables, from which `unshred` rebuilds it.

    Parameters
    ----------
    answer : bytes, str or object
        The document, as JSON in bytes or text; or a JSON value that is neither.
    max_nodes : int
        How many different paths the document may have.

    Returns
    -------
    dict of str to pyarrow.Table
        The document's own table, ``$``, first; those below it follow.

    Raises
    ------
    DecodeError
        If it is not one JSON document.
    PayloadError
        If an object is no JSON value; `PayloadError` if it has more paths than are allowed.

    Examples
    --------
    >>> tables = shred({"rows": [{"n": 1}, {"n": None}, {}]})
    >>> {name: table.num_rows for name, table in tables.items()}
    {'$': 1, 'rows[]': 3}
    """
    with gc_paused():
        tables = assemble(parse_document(answer, max_nodes=max_nodes).root)
    return {name: own_buffers(table) for name, table in tables.items()}
