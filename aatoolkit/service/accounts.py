"""Accounts: tokens, and the projects that each may see.

Only the SHA-256 digest of a token is kept. A personal token is long and random, so a plain
digest is enough: there is no dictionary to try against it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_DIGEST = re.compile(r"[0-9a-f]{64}")
_TOKEN = re.compile(r"[\x21-\x7e]+")


def digest(token: str) -> str:
    """Compute the digest of a token, which is all that is stored of it."""
    return hashlib.sha256(token.encode()).hexdigest()


def canonical_host(host: str) -> str:
    """Normalise a host for comparison: lower case, without one trailing dot."""
    # Lower case is taken of ASCII alone: a Kelvin sign is no letter k in a host name.
    return (host.lower() if host.isascii() else host).removesuffix(".")


class Accounts:
    """The accounts of a service.

    Parameters
    ----------
    hosts
        The hosts that an account may see, by the digest of its token; None means all hosts.

    Raises
    ------
    ValueError
        If there is no account, or a digest is not one.
    """

    def __init__(self, hosts: Mapping[str, Iterable[str] | None]) -> None:
        if not hosts:
            raise ValueError("A service needs at least one account.")
        if not all(map(_DIGEST.fullmatch, hosts)):
            raise ValueError("A token_sha256 is 64 hexadecimal digits in lower case.")
        self._hosts = {
            token_sha256: None if visible is None else frozenset(map(canonical_host, visible))
            for token_sha256, visible in hosts.items()
        }

    def __repr__(self) -> str:
        return f"<Accounts: {len(self._hosts)}>"

    @classmethod
    def single(cls, token: str, hosts: Iterable[str] | None = None) -> Accounts:
        """Make accounts of one token that sees these hosts; None means all hosts.

        Raises
        ------
        ValueError
            If the token is empty or holds something that a header cannot carry as one word.
        """
        if not _TOKEN.fullmatch(token):
            raise ValueError("A token is one word of printable ASCII characters.")
        return cls({digest(token): hosts})

    @classmethod
    def load(cls, path: str | Path) -> Accounts:
        """Read accounts from ``{"accounts": [{"token_sha256": …, "hosts": […] or "*"}]}``.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If it does not hold accounts; what it holds is not repeated.
        """
        hosts = _parsed(Path(path).read_bytes())
        if hosts is None:
            raise ValueError(
                f"{path} does not hold accounts: "
                '{"accounts": [{"token_sha256": "<64 hexadecimal digits>", '
                '"hosts": ["acme.example"] or "*"}]} is wanted.'
            )
        return cls(hosts)

    def knows(self, token: str) -> bool:
        """Whether an account has this token."""
        return digest(token) in self._hosts

    def sees(self, token: str, host: str) -> bool:
        """Whether the project of a host is visible to the account of a token."""
        hosts = self._hosts[digest(token)]
        return hosts is None or canonical_host(host) in hosts


def _parsed(text: bytes) -> dict[str, list[str] | None] | None:
    # The parser's error is dropped: it holds the text, and perhaps a token in clear with it.
    hosts: dict[str, list[str] | None] = {}
    try:
        entries: list[dict[str, Any]] = json.loads(text)["accounts"]
        for entry in entries:
            visible = entry["hosts"]
            if visible != "*" and not isinstance(visible, list):
                return None
            hosts[entry["token_sha256"]] = None if visible == "*" else [*map(_text, visible)]
            _text(entry["token_sha256"])
    except (TypeError, KeyError, ValueError):
        return None
    return hosts


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
