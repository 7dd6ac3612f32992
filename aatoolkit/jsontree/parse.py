"""Parse a JSON document into a tree of nodes: in one piece, or a long array chunk by chunk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.arrow_reader import read_array
from aatoolkit.jsontree.decode import (
    BOM,
    InexactParse,
    SplitBody,
    SplitError,
    check_exact,
    decode_exactly,
    gc_paused,
    is_json_value,
    split_body,
)
from aatoolkit.jsontree.layout import MAX_NODES, Layout, NodeLimit
from aatoolkit.jsontree.nodes import Node


@dataclass(frozen=True)
class ParsedDocument:
    """A document as a tree of nodes.

    Attributes
    ----------
    root : Node
        The node of the document.
    envelope : object
        The document as a Python value; of a long one, with no more than the first elements of
        its longest array.
    truncated : tuple of str or None
        The fields that lead to the array that is cut short; None if none is.
    """

    root: Node
    envelope: Any
    truncated: tuple[str, ...] | None = None

    @property
    def has_large_object(self) -> bool:
        """Whether an object has more than `MAX_FIELDS` keys."""
        return self.root.limit is not None and self.root.limit.has_large_object


def parse_document(
    answer: bytes | str | Any,
    layout: Layout | None = None,
    *,
    max_nodes: int = MAX_NODES,
    **facts: Any,
) -> ParsedDocument:
    """Parse a JSON document into a tree of nodes.

    Parameters
    ----------
    answer : bytes, str or object
        The document, as JSON in bytes or text; or a JSON value that is neither.
    layout : Layout, optional
        Which objects are rows with a key; where that is not declared, their keys decide.
    max_nodes : int
        How many different paths the document may have.
    **facts
        Facts for the error, as in `~aatoolkit.jsontree.decode.decode`.

    Raises
    ------
    DecodeError
        If it is not one JSON document.
    PayloadError
        If an object is no JSON value; `PayloadError` if it has more paths than are allowed.
    """
    with gc_paused():
        if not isinstance(answer, bytes | str):
            return _from_value(checked_value(answer, **facts), layout, max_nodes)
        body = _body(answer)
        try:
            return _from_body(body, layout, max_nodes)
        except InexactParse:
            pass
        return _from_value(decode_exactly(body, **facts), layout, max_nodes)


def parse_together(
    bodies: Sequence[bytes],
    documents: list[Any],
    layout: Layout | None = None,
    *,
    max_nodes: int = MAX_NODES,
) -> Node | None:
    """Parse documents as the rows of one node, each as `parse_document` would parse it.

    Objects whose keys nobody declared may be fields where they would have been rows alone.

    Parameters
    ----------
    bodies : sequence of bytes
        The documents as they came.
    documents : list
        The same, decoded by orjson.
    layout, max_nodes
        As for `parse_document`.

    Returns
    -------
    Node or None
        None if one of them is not decoded exactly, has an object of very many keys, or all
        together have more paths than one may have: then each is parsed alone.
    """
    limit = NodeLimit(max_nodes)
    root = Node(layout, limit)
    try:
        with gc_paused():
            members = root.add_values(documents, range(len(documents)), 0)
            check_exact(b"\n".join(bodies), members)
    except (InexactParse, SplitError, PayloadError):
        return None
    return None if limit.has_large_object else root


def _from_value(value: Any, layout: Layout | None, max_nodes: int) -> ParsedDocument:
    root = Node(layout, NodeLimit(max_nodes))
    root.add_values([value], range(1), 0)
    return ParsedDocument(root, value)


def _from_body(body: bytes, layout: Layout | None, max_nodes: int) -> ParsedDocument:
    try:
        return _from_parts(split_body(body), layout, max_nodes)
    except SplitError:
        return _from_parts(split_body(body, whole=True), layout, max_nodes)


def _from_parts(parts: SplitBody, layout: Layout | None, max_nodes: int) -> ParsedDocument:
    root = Node(layout, NodeLimit(max_nodes))
    check_exact(parts.text, root.add_values([parts.document], range(1), 0))
    if parts.first is None:
        return ParsedDocument(root, parts.document)
    array = root.array_at(parts.path)
    read_array(array, parts)
    parts.array.extend(parts.first.values)
    is_cut = array.size > len(parts.first.values)
    return ParsedDocument(root, parts.document, parts.path if is_cut else None)


def _body(answer: bytes | str) -> bytes:
    if isinstance(answer, str):
        return answer.encode("utf-8", "surrogatepass")
    return answer.removeprefix(BOM)


def checked_value(answer: Any, **facts: Any) -> Any:
    """Check that an object is a JSON value; one that may be none is encoded and decoded again.

    Raises
    ------
    PayloadError
        If it is none.
    """
    if is_json_value(answer):
        return answer
    try:
        body = json.dumps(answer).encode()
    except (TypeError, ValueError, RecursionError) as error:
        problem = str(error)
    else:
        if decode_exactly(body, **facts) == answer:
            return answer
        problem = "JSON cannot hold it as it is"
    raise PayloadError(f"the answer is not a JSON value: {problem}", problems=[f"{problem} @ $"])
