"""The bearer token, held so that nothing prints, copies or pickles it."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NoReturn

from aatoolkit.errors import ConfigurationError

_B64TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_PUNCTUATION = re.compile(r"[^A-Za-z0-9]+")
_LETTER = rb"(?:3[0-9]|4[1-9a-fA-F]|5[0-9aA]|6[1-9a-fA-F]|7[0-9aA])"
_ESCAPED_LETTERS = (
    (rb"\u00", re.compile(rb"\\u00" + _LETTER)),
    (rb"%", re.compile(rb"%" + _LETTER)),
    (
        rb"&#",
        re.compile(
            rb"&#(?:0*(?:4[89]|5[0-7]|6[5-9]|[78][0-9]|90|9[789]|1[01][0-9]|12[012])(?![0-9])"
            rb"|[xX]0*" + _LETTER + rb")"
        ),
    ),
)
"""The escapes of letters and digits in JSON, URLs and HTML, which no ordinary encoder writes."""

_ESCAPED_SIGNS = (
    (b"&amp;", b"&"),
    *(
        (form.encode(), sign)
        for sign in (b"%", b"&", b"#", b"\\")
        for digits in sorted({sign.hex(), sign.hex().upper()})
        for form in (f"\\u00{digits}", f"%{digits}", f"&#x{digits};", f"&#{ord(sign)};")
    ),
)
"""How the signs that begin an escape are escaped themselves."""

_RAREST_FIRST = b"~+QXZJKYVWUGHNBFRLDOPEMIACST_/=zqjxkvbw9876543210fyghmpucdlirsonate-."
"""The bytes of tokens and of Base64, from the rarest in JSON to the most common."""

_MOST_PLACES = 256

_SHORT = 1 << 15
"""Up to so many bytes a plain search is quick, whatever they are."""

_ESCAPE = re.compile(
    rb"\\(?:u00([2-7][0-9a-fA-F])|([/\\]))|%([2-7][0-9a-fA-F])"
    rb"|&#(?:0*([0-9]{2,3})|[xX]0*([2-7][0-9a-fA-F]));?|(&)amp;"
)
_ROUNDS = 4
"""How many layers of escapes are decoded; each may be of another kind."""

_PART = 12
_CHANCE = 8
_PREFIX = re.compile(r"bearer\s+", re.IGNORECASE)


class Secret:
    """A bearer token; it prints as ``***``.

    White space around it and a ``Bearer`` prefix are removed: tokens read from a file end in a
    line break. The constructor never fails, so that no traceback shows the token; ``check``
    validates it.

    Examples
    --------
    >>> Secret("Bearer abc123")
    ***
    """

    __slots__ = ("_needles", "_parts", "reveal")

    def __init__(self, value: str) -> None:
        found = _PREFIX.sub("", value.strip(), count=1) if isinstance(value, str) else ""
        # Kept in a function: tools that list the attributes of an object show no token.
        self.reveal: Callable[[], str] = lambda: found
        self._parts = cache(lambda: _parts(found))
        self._needles = cache(lambda: _needles(found))

    @classmethod
    def wrap(cls, token: str | Secret | None) -> Secret | None:
        """Wrap a token; a `Secret` or None is returned as it is."""
        return token if token is None or isinstance(token, Secret) else cls(token)

    def check(self) -> Secret:
        """Validate the token by RFC 6750, and return the secret itself.

        Raises
        ------
        ConfigurationError
            If it is not valid; the message says where, and holds no part of the token.
        """
        # Computed in another frame: the one that raises holds neither the token nor a match.
        flaw = _flaw(self.reveal())
        if flaw is not None:
            raise ConfigurationError(flaw, setting="token")
        return self

    def is_in(self, text: bytes) -> bool:
        r"""Whether a text holds the token, with escapes of URLs, JSON or HTML or encoded as well.

        The encodings are Base64 and hexadecimal.

        Examples
        --------
        >>> secret = Secret("abc/12345")
        >>> secret.is_in(b"?t=abc%2f12345"), secret.is_in(rb"\u0061bc\/12345")
        (True, True)
        >>> secret.is_in(b"abc")
        False
        """
        token = self.reveal().encode()
        # Answers are long: escapes are decoded only where the longest run of letters and digits,
        # which ordinary encoders leave alone, is in the text, or the escape of any letter.
        run, forms = self._needles()
        suspicious = run.is_in(text) or _has_escaped_letter(text)
        if suspicious and any(token in layer for layer in _layers(text)):
            return True
        wide = _wide(token)
        return (b"\0" in text and wide in text) or any(form.is_in(text) for form in forms)

    @property
    def is_distinct(self) -> bool:
        """Whether it is too long to occur in a text by chance."""
        return len(self.reveal()) >= _CHANCE

    def hide_in(self, text: bytes) -> bytes:
        """Return the text with the token masked, encoded or not, and any longer part of it."""
        parts, spans = self._parts(), set[tuple[int, int]]()
        layer: bytes = text
        starts: Sequence[int] = range(len(text) + 1)
        for _ in range(_ROUNDS + 1):
            folded = layer.lower()
            for part in parts:
                spans |= {(starts[at], starts[end]) for at, end in _positions(part, folded)}
            if _ESCAPE.search(layer) is None:
                break
            layer, inner = _decoded_with_starts(layer)
            starts = [starts[at] for at in inner]
        shown, end = b"", 0
        for first, last in sorted(spans):
            if first > end or not end:
                shown += text[end:first] + b"***"
            end = max(end, last)
        return shown + text[end:]

    def __repr__(self) -> str:
        return "***"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is neither copied nor pickled")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self.__reduce__()


def _flaw(token: str) -> str | None:
    """Describe what is wrong with a token; None if nothing is."""
    if not token:
        return "the token is empty or no text; give one as text, or none"
    match = _B64TOKEN.match(token)
    end = match.end() if match else 0
    if end == len(token):
        return None
    return (
        f"character {end + 1} of the token is not allowed in a token: letters, digits and -._~+/ "
        "are, and = at its end; was it copied whole?"
    )


def _parts(token: str) -> frozenset[bytes]:
    """Every part of the token and its forms, in lower case, too long to occur by chance."""
    plain = token.lower().encode()
    wide = _wide(plain)
    forms = [(plain, _PART), *((form.lower(), _PART) for form in _forms(token))]
    return frozenset(
        part[start : start + size]
        for part, size in (*forms, (wide, 2 * _PART - 1))
        for start in range(max(1, len(part) - size + 1))
        if part
    )


def _wide(text: bytes) -> bytes:
    """What both orders of UTF-16 have between the first byte and the last."""
    # Without the codec: a process that has given up its rights may not be able to load it.
    return b"\0".join(text[at : at + 1] for at in range(len(text)))


def _forms(token: str) -> list[bytes]:
    """Return a token in Base64 and in hexadecimal, where that is too long to occur by chance."""
    encoded = token.encode()
    digits = encoded.hex().encode()
    forms = {*_base64_forms(encoded), digits, digits.upper()}
    return sorted(form for form in forms if len(form) >= _CHANCE)


class _Needle:
    """A byte string to search for by its rarest byte, which is many times faster."""

    def __init__(self, part: bytes) -> None:
        self._part = part
        self._offset = min(range(len(part)), key=lambda at: _RAREST_FIRST.find(part[at]), default=0)
        self._rarest = part[self._offset : self._offset + 1]

    def is_in(self, text: bytes) -> bool:
        """Whether a text holds the byte string; a plain search where its rarest byte is common."""
        place = self._offset - 1
        for _ in range(_MOST_PLACES):
            place = text.find(self._rarest, place + 1)
            if place < 0 or text.startswith(self._part, place - self._offset):
                return place >= 0
        return text.find(self._part, place - self._offset) >= 0


def _needles(token: str) -> tuple[_Needle, list[_Needle]]:
    """The longest run of letters and digits in a token, and its encoded forms."""
    run = max(_PUNCTUATION.split(token), key=len).encode()
    return _Needle(run), [*map(_Needle, _forms(token))]


def _has_escaped_letter(text: bytes) -> bool:
    """Whether a text holds an escape of a letter or digit, in so many layers of escapes."""
    for _ in range(_ROUNDS):
        if _has_plainly_escaped_letter(text):
            return True
        begins = [first for first in (b"\\", b"%", b"&") if first in text]
        simpler = text
        for escaped, sign in _ESCAPED_SIGNS:
            if escaped[:1] in begins:
                simpler = simpler.replace(escaped, sign)
        if simpler == text:
            return False
        text = simpler
    return _has_plainly_escaped_letter(text)


def _has_plainly_escaped_letter(text: bytes) -> bool:
    for sign, pattern in _ESCAPED_LETTERS:
        at = text.find(sign[:1])
        if at >= 0 and (at := _first_of(sign, text)) >= 0 and pattern.search(text, at):
            return True
    return False


def _first_of(sign: bytes, text: bytes) -> int:
    """Return what ``text.find(sign)`` does, quickly also where the first byte occurs very often."""
    if len(sign) == 1 or len(text) < _SHORT:
        return text.find(sign)
    import numpy as np

    codes = np.frombuffer(text, np.uint8)
    found = np.flatnonzero(codes[: max(0, len(codes) - len(sign) + 1)] == sign[0])
    for number, code in enumerate(sign[1:], 1):
        found = found[codes[found + number] == code]
    return int(found[0]) if len(found) else -1


def _layers(text: bytes) -> Iterator[bytes]:
    """Yield a text, then the text with one more layer of escapes decoded each time."""
    yield text
    for _ in range(_ROUNDS):
        decoded = _ESCAPE.sub(_character, text)
        if decoded == text:
            return
        yield decoded
        text = decoded


def _character(found: re.Match[bytes]) -> bytes:
    """The character that an escape represents."""
    plain, decimal = found[2] or found[6], found[4]
    if plain:
        return plain
    code = int(decimal) if decimal else int(found[1] or found[3] or found[5], 16)
    return bytes([code]) if code < 128 else found[0]


def _decoded_with_starts(text: bytes) -> tuple[bytes, list[int]]:
    """A text with one layer of escapes decoded, and where each of its bytes began."""
    pieces, starts, end = [], list[int](), 0
    for found in _ESCAPE.finditer(text):
        decoded = _character(found)
        pieces += [text[end : found.start()], decoded]
        starts += range(end, found.start())
        starts += [found.start()] * len(decoded)
        end = found.end()
    starts += range(end, len(text) + 1)
    return b"".join((*pieces, text[end:])), starts


def _base64_forms(token: bytes) -> Iterator[bytes]:
    """The token within Base64, at each of the three alignments."""
    for before in range(3):
        # Characters that also depend on the bytes before and after are left out.
        first, last = -(-before * 8 // 6), (before + len(token)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + token)[first:last]


def _positions(part: bytes, text: bytes) -> Iterator[tuple[int, int]]:
    """The positions of a part in a text."""
    start = text.find(part)
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + 1)
