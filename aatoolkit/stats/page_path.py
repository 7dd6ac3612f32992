"""Normalise paths of pages, so that the numbers of several sources join."""

from __future__ import annotations

import re
from posixpath import splitext
from urllib.parse import quote, unquote_to_bytes, urlsplit

NOT_SET = "(not set)"
"""The landing page of a visit that recorded none."""

_PAGES = ("", ".html", ".htm", ".php", ".asp", ".aspx", ".jsp", ".shtml", ".xhtml")
_KEPT = "/-._~!$&'()*+,;=:@"


def normal_path(address: str) -> str:
    """Normalise the path of an address or path.

    Without scheme, host, query and fragment (RFC 3986, 6.2.2 and 6.2.3): escapes are decoded and
    encoded once more, repeated and trailing slashes are dropped, as is an index file. Letters keep
    their case, as paths do.

    Parameters
    ----------
    address : str
        A URL, or its path.

    Examples
    --------
    >>> normal_path("https://acme.example/caf%c3%a9//?ref=top#end"), normal_path("/a/index.html")
    ('/café', '/a')
    >>> normal_path("/caf\\u00e9"), normal_path(""), normal_path("(not set)")
    ('/café', '/', '(not set)')
    """
    if address.strip() == NOT_SET:
        return NOT_SET
    try:
        path = urlsplit(address.strip()).path if "//" in address[:9] else address.strip()
    except ValueError:
        path = address
    path = re.split(r"[?#]", path, maxsplit=1)[0]
    spelt = quote(unquote_to_bytes(path), safe=_KEPT)
    try:
        shown = unquote_to_bytes(spelt).decode() if "%2F" not in spelt.upper() else spelt
    except UnicodeDecodeError:
        shown = spelt
    parts = [part for part in shown.split("/") if part]
    if parts and re.fullmatch(r"(index|default)\.(html?|php|aspx?)", parts[-1].lower()):
        parts.pop()
    return "/" + "/".join(parts)


def is_page(path: str) -> bool:
    """Whether a path is that of a page by its extension, not of a script, image or list.

    Examples
    --------
    >>> is_page("/pricing"), is_page("/robots.txt"), is_page("/v1.2/notes"), is_page("(not set)")
    (True, False, True, False)
    """
    end = splitext(path.rsplit("/", 1)[-1])[1].lower()
    return path != NOT_SET and (end in _PAGES or not re.fullmatch(r"\.[a-z][a-z0-9]{0,4}", end))
