"""Accounts: tokens, and the projects that each may see.

Only the SHA-256 digest of a token is kept. A personal token is long and random, so a plain
digest is enough: there is no dictionary to try against it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_DIGEST = re.compile(r"[0-9a-f]{64}")
_TOKEN = re.compile(r"[\x21-\x7e]+")


def digest(token: str) -> str:
    """Compute the digest of a token, which is all that is stored of it.

    Raises
    ------
    ValueError
        If the token is empty or holds something that a header cannot carry as one word.
    """
    if not _TOKEN.fullmatch(token):
        raise ValueError("A token is one word of printable ASCII characters.")
    return hashlib.sha256(token.encode()).hexdigest()


def canonical_host(host: str) -> str:
    """Normalise a host for comparison: lower case, without one trailing dot."""
    # Lower case is taken of ASCII alone: a Kelvin sign is no letter k in a host name.
    return (host.lower() if host.isascii() else host).removesuffix(".")


@dataclass(frozen=True)
class Account:
    """One account: the digest of its token and the hosts it may see; None means all."""

    token_sha256: str = field(repr=False)
    hosts: frozenset[str] | None = None

    def sees(self, host: str) -> bool:
        """Whether the project of this host is visible to the account."""
        return self.hosts is None or canonical_host(host) in self.hosts


class Accounts:
    """The accounts of a service.

    Parameters
    ----------
    accounts
        The accounts, each with a token of its own.

    Raises
    ------
    ValueError
        If there is no account, a digest is not one, or two accounts share a token.
    """

    def __init__(self, accounts: Iterable[Account]) -> None:
        self._accounts = tuple(accounts)
        digests = [account.token_sha256 for account in self._accounts]
        if not digests:
            raise ValueError("A service needs at least one account.")
        if not all(_DIGEST.fullmatch(known) for known in digests):
            raise ValueError("A token_sha256 is 64 hexadecimal digits in lower case.")
        if len(set(digests)) < len(digests):
            raise ValueError("Two accounts share one token.")

    def __repr__(self) -> str:
        return f"<Accounts: {len(self._accounts)}>"

    @classmethod
    def single(cls, token: str, hosts: Iterable[str] | None = None) -> Accounts:
        """Make accounts of one token that sees these hosts; None means all hosts.

        Raises
        ------
        ValueError
            If the token cannot travel in a header.
        """
        return cls([Account(digest(token), _visible(hosts))])

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
        found = _accounts(Path(path).read_bytes())
        if found is None:
            raise ValueError(
                f"{path} does not hold accounts: "
                '{"accounts": [{"token_sha256": "<64 hexadecimal digits>", '
                '"hosts": ["acme.example"] or "*"}]} is wanted.'
            )
        return cls(found)

    def find(self, token: str) -> Account | None:
        """Return the account of a token; None if there is none."""
        wanted = hashlib.sha256(token.encode()).hexdigest()
        found = None
        # Every digest is compared, so that the time taken does not tell which came close.
        for account in self._accounts:
            if hmac.compare_digest(account.token_sha256, wanted):
                found = account
        return found


def _accounts(text: bytes) -> list[Account] | None:
    # The parser's error is dropped: it holds the text, and perhaps a token in clear with it.
    try:
        return [_account(entry) for entry in json.loads(text)["accounts"]]
    except (TypeError, KeyError, ValueError):
        return None


def _account(entry: dict[str, Any]) -> Account:
    if set(entry) != {"token_sha256", "hosts"}:
        raise KeyError("token_sha256, hosts")
    token_sha256, hosts = entry["token_sha256"], entry["hosts"]
    listed = isinstance(hosts, list) and all(isinstance(host, str) for host in hosts)
    if not isinstance(token_sha256, str) or not (listed or hosts == "*"):
        raise TypeError("token_sha256, hosts")
    return Account(token_sha256, _visible(hosts if listed else None))


def _visible(hosts: Iterable[str] | None) -> frozenset[str] | None:
    return None if hosts is None else frozenset(map(canonical_host, hosts))
