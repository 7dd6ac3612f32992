"""Convert host names to one spelling, for requests and for keys of the cache."""

from __future__ import annotations

import re

import idna

from aatoolkit.errors import ScopeError

_DNS_LABEL_PATTERN = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMERIC_DNS_LABEL_PATTERN = re.compile(r"[0-9]+|0x[0-9a-f]*")
_MAX_NAME_LENGTH = 253


def canonical_host(host: str) -> str:
    """Return a domain name in one spelling: lower case, punycode, no dot at its end.

    The domain is that of a project, i.e. of a brand's website. The function does not check whether
    the project exists.

    Raises
    ------
    ScopeError
        If ``host`` is not a valid domain name with a dot, such as ``acme.example``.

    Examples
    --------
    >>> canonical_host(" Bücher.Example. ")
    'xn--bcher-kva.example'
    """
    host_name = normalize_host_name(host.strip()) if isinstance(host, str) else None
    if host_name is not None and "." in host_name:
        return host_name
    raise ScopeError(
        f"{host!r} is not a project's domain; give it without scheme and path, as in "
        "'acme.example'",
        parameter="host",
        unknown=(str(host),),
    )


def normalize_host_name(host: str) -> str | None:
    """Return a host name in one spelling: lower case, punycode; None if the name is not valid."""
    ascii_host = host.lower() if host.isascii() else host
    if not ascii_host.isascii() or any(label.startswith("xn--") for label in ascii_host.split(".")):
        try:
            ascii_host = idna.encode(ascii_host, uts46=True, std3_rules=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            return None
    dns_labels = ascii_host.removesuffix(".").split(".")
    is_well_formed = all(
        map(_DNS_LABEL_PATTERN.fullmatch, dns_labels)
    ) and not _NUMERIC_DNS_LABEL_PATTERN.fullmatch(dns_labels[-1])
    host_name = ".".join(dns_labels)
    return host_name if is_well_formed and len(host_name) <= _MAX_NAME_LENGTH else None
