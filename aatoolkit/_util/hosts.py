"""Convert host names to one spelling, for requests and for keys of the cache."""

from __future__ import annotations

import re

import idna

from aatoolkit.errors import ScopeError

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
_MAX_NAME_LENGTH = 253


def canonical_host(host: str) -> str:
    """Return the domain of a project in one spelling: lower case, punycode, no dot at its end.

    Raises
    ------
    ScopeError
        If ``host`` is not the domain of a project, such as ``acme.example``.

    Examples
    --------
    >>> canonical_host(" Bücher.Example. ")
    'xn--bcher-kva.example'
    """
    name = canonical_name(host.strip()) if isinstance(host, str) else None
    if name is not None and "." in name:
        return name
    raise ScopeError(
        f"{host!r} is not a project's domain; give it without scheme and path, as in "
        "'acme.example'",
        parameter="host",
        unknown=(str(host),),
    )


def canonical_name(host: str) -> str | None:
    """Return a host name in one spelling (lower case, punycode); None if it is not valid."""
    lower_text = host.lower() if host.isascii() else host
    if not lower_text.isascii() or any(label.startswith("xn--") for label in lower_text.split(".")):
        try:
            lower_text = idna.encode(lower_text, uts46=True, std3_rules=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            return None
    labels = lower_text.removesuffix(".").split(".")
    is_well_formed = all(map(_LABEL.fullmatch, labels)) and not _NUMERIC_LABEL.fullmatch(labels[-1])
    name = ".".join(labels)
    return name if is_well_formed and len(name) <= _MAX_NAME_LENGTH else None
