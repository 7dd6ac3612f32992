"""Any JSON document to Arrow tables and back, without loss; it knows nothing of sections.

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
                   are not all of one kind; else the plan says which.
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

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.arrow_reader import read_array
from aatoolkit.jsontree.assemble import assemble
from aatoolkit.jsontree.decode import (
    InexactParse,
    SplitBody,
    SplitError,
    check_exact,
    decode_exactly,
    gc_paused,
    is_json_value,
    split_body,
)
from aatoolkit.jsontree.nodes import Layout, Node
from aatoolkit.jsontree.rebuild import unshred

__all__ = ["Layout", "Node", "ParsedDocument", "parse_document", "shred", "unshred"]

_BOM = b"\xef\xbb\xbf"


def shred(answer: bytes | str | Any) -> dict[str, pa.Table]:
    """Turn a JSON document into Arrow tables, from which `unshred` makes it again.

    Parameters
    ----------
    answer : bytes, str or object
        The document, as JSON in bytes or text; or a JSON value that is neither.

    Returns
    -------
    dict of str to pyarrow.Table
        The document's own table, ``$``, first; those below it follow.

    Raises
    ------
    DecodeError
        If it is not one JSON document.
    PayloadError
        If an object is no JSON value.
    """
    with gc_paused():
        return assemble(parse_document(answer).root)


@dataclass(frozen=True)
class ParsedDocument:
    """A document as a tree of places.

    Attributes
    ----------
    place : Place
        The document's place.
    envelope : object
        The document; a long one with no more than the beginning of its longest array.
    truncated : tuple of str or None
        The fields that lead to the array that is cut short; None if none is.
    """

    root: Node
    envelope: Any
    truncated: tuple[str, ...] | None = None


def parse_document(
    answer: bytes | str | Any, layout: Layout | None = None, **facts: Any
) -> ParsedDocument:
    """The tree of places of a document, before any table is made of it.

    Parameters
    ----------
    answer : bytes, str or object
        As in `shred`.
    layout : Layout, optional
        Which objects are rows with a key, where it is not to be inferred.
    **facts
        Facts for the error, as in `~aatoolkit.jsontree.decode.decode`.

    Raises
    ------
    DecodeError, PayloadError
        As `shred`.
    """
    with gc_paused():
        if not isinstance(answer, bytes | str):
            return _from_value(_json_value(answer, facts), layout)
        body = _body(answer)
        try:
            return _parsed(body, layout)
        except InexactParse:
            pass
        return _from_value(decode_exactly(body, **facts), layout)


def _from_value(value: Any, layout: Layout | None) -> ParsedDocument:
    document = Node(layout)
    document.add_values([value], range(1), 0)
    return ParsedDocument(document, value)


def _parsed(body: bytes, layout: Layout | None) -> ParsedDocument:
    try:
        return _from_parts(split_body(body), layout)
    except SplitError:
        return _from_parts(split_body(body, whole=True), layout)


def _from_parts(parts: SplitBody, layout: Layout | None) -> ParsedDocument:
    document = Node(layout)
    check_exact(parts.text, document.add_values([parts.document], range(1), 0))
    if parts.first is not None:
        read_array(document.array_at(parts.path), parts)
        parts.array.extend(parts.first.values)
        return ParsedDocument(document, parts.document, parts.path)
    return ParsedDocument(document, parts.document)


def _body(answer: bytes | str) -> bytes:
    if isinstance(answer, str):
        return answer.encode("utf-8", "surrogatepass")
    return answer.removeprefix(_BOM)


def _json_value(answer: Any, facts: dict[str, Any]) -> Any:
    """A JSON value; what may be none is written as JSON and read again, as strictly as bytes."""
    if is_json_value(answer):
        return answer
    try:
        body = json.dumps(answer).encode()
    except (TypeError, ValueError, RecursionError) as error:
        problem = str(error)
    else:
        if decode_exactly(body, **facts) == answer:
            return answer
        problem = "it would not come back as it is"
    raise PayloadError(f"the answer is no JSON value: {problem}", problems=[f"{problem} @ $"])
