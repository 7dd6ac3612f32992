"""Checksums of a study: the SHA-256 of each of its files, and the logical hash of each table."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aatoolkit.errors import AAToolkitError
from aatoolkit.jsontree import decode
from aatoolkit.metadata.table_hash import logical_hash
from aatoolkit.study.record import canonical
from aatoolkit.study.storage import SEAL

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset

Hashes = dict[str, dict[str, dict[str, Any]]]
"""By section and table: ``rows`` and ``hash``."""

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def sha256_of(data: bytes) -> str:
    """Compute the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def format_checksums(digests: Mapping[str, str]) -> bytes:
    """Format ``SHA256SUMS``, as ``sha256sum`` prints it, sorted by file name."""
    lines = (f"{digests[name]}  {name}\n" for name in sorted(digests) if name != SEAL)
    return "".join(lines).encode()


def parse_checksums(text: bytes) -> dict[str, str]:
    """Parse ``SHA256SUMS`` to hashes by file name; damaged lines are left out."""
    lines = text.decode("utf-8", "replace").split("\n")
    found = (_LINE.fullmatch(line) for line in lines)
    return {line[2]: line[1] for line in found if line}


def matches_seal(seal: bytes, name: str, data: bytes) -> bool:
    """Whether ``SHA256SUMS`` has the hash of these bytes for a file."""
    line = f"\n{sha256_of(data)}  {name}\n".encode()
    return line in b"\n" + seal


def table_hashes(dataset: Dataset) -> Hashes:
    """Count the rows and compute the logical hash of every table."""
    return {
        section: {
            name: {"rows": tables.rows[name], "hash": logical_hash(tables[name])} for name in tables
        }
        for section, tables in dataset.items()
    }


def format_tables(hashes: list[Hashes], versions: Mapping[str, str]) -> bytes:
    """Format ``tables.json``: one line for each line of the manifest."""
    head = canonical({"format": "aatoolkit-tables", "version": 1, "read_with": dict(versions)})
    lines = ",\n".join(canonical(of_one).decode() for of_one in hashes)
    return head[:-1] + f',"records":[\n{lines}\n]}}\n'.encode()


def parse_tables(text: bytes) -> list[Hashes]:
    """Parse the table hashes for each line of the manifest; empty if they are damaged."""
    try:
        body = decode.decode(text)
        found = body["records"]
        return [
            {
                section: {
                    name: {"rows": int(table["rows"]), "hash": str(table["hash"])}
                    for name, table in tables.items()
                }
                for section, tables in of_one.items()
            }
            for of_one in found
        ]
    except (AAToolkitError, KeyError, TypeError, ValueError, AttributeError):
        return []
