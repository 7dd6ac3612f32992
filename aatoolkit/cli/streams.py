"""The standard streams: data and text on standard output, notes on standard error.

Data, CSV and JSON, is UTF-8 whatever the locale, so that a pipe gets the bytes that a file gets.
Text for people has the encoding of the terminal; letters that it lacks are escaped.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

_STRICT = ("strict", "surrogateescape")
"""How streams take letters that their encoding lacks, outside and within the C locale."""


def prepare() -> None:
    """Let no letter that a stream's encoding lacks be an error, nor a stream that is closed."""
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors in _STRICT:
            stream.reconfigure(errors="backslashreplace")


def note(text: str) -> None:
    """Print a note to standard error; that nobody reads it any more is no error."""
    try:
        print(text, file=sys.stderr, flush=True)
    except BrokenPipeError:
        discard(sys.stderr)


def write_data(content: bytes) -> None:
    """Write data to standard output, byte for byte."""
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.flush()
        stream.buffer.write(content)
        stream.buffer.flush()
    else:  # a notebook's
        stream.write(content.decode())


def discard(stream: TextIO) -> None:
    """Discard what else is written to a stream that nobody reads.

    Without this the interpreter would complain when it ends.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
