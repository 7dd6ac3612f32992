"""Whatever may be shown or kept of a thing: where a token could come to light."""

from __future__ import annotations

import copy
import io
import pickle
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import rich
from IPython.core.ultratb import VerboseTB
from rich.console import Console
from rich.traceback import Traceback

OURS = "aatoolkit"


def walked(thing: Any, depth: int = 8, seen: set[int] | None = None) -> Iterator[str]:
    """The text of a thing and of all that hangs on it: attributes, slots, members."""
    seen = set() if seen is None else seen
    if depth == 0 or id(thing) in seen:
        return
    seen.add(id(thing))
    parts: list[Any] = []
    if isinstance(thing, dict):
        parts += [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        parts += thing
    else:
        with suppress(Exception):  # a few things refuse to be shown
            yield repr(thing)
    parts += getattr(thing, "__dict__", {}).values()
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            parts.append(getattr(thing, name, None))
    for part in parts:
        yield from walked(part, depth - 1, seen)


def _attributes(thing: Any) -> str:
    return " ".join(repr(getattr(thing, name, None)) for name in dir(thing) if name[:2] != "__")


def _inspected(thing: Any) -> str:
    console = Console(file=io.StringIO(), width=300)
    rich.inspect(thing, console=console, private=True, dunder=True, docs=False)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


WAYS: dict[str, Callable[[Any], Any]] = {
    "repr": repr,
    "attributes": _attributes,
    "vars, all the way down": lambda thing: " ".join(walked(thing)),
    "pickle": pickle.dumps,
    "deepcopy": lambda thing: repr(vars(copy.deepcopy(thing))),
    "HTML": lambda thing: thing._repr_html_() if hasattr(thing, "_repr_html_") else "",
    "rich inspect": _inspected,
}
"""How things are shown, copied and written."""


def _plain(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _with_locals(error: BaseException) -> str:
    return "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())


def _ipython_verbose(error: BaseException) -> str:
    shower = VerboseTB(theme_name="nocolor", long_header=True, include_vars=True)
    return str(shower.text(type(error), error, error.__traceback__))


def _rich(error: BaseException) -> str:
    console = Console(file=io.StringIO(), width=300)
    trace = Traceback.from_exception(
        type(error),
        error,
        error.__traceback__,
        show_locals=True,
        locals_max_string=9999,
        extra_lines=0,
    )
    console.print(trace)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def _frames(error: BaseException) -> str:
    """What hangs on the locals of every frame, as a debugger would show it."""
    trace, text = error.__traceback__, ""
    while trace is not None:
        text += " ".join(walked(dict(trace.tb_frame.f_locals), depth=6))
        trace = trace.tb_next
    return text


RENDERERS: dict[str, Callable[[BaseException], Any]] = {
    "a traceback with locals": _with_locals,
    "IPython, verbose": _ipython_verbose,
    "rich with locals": _rich,
    "the frames, all the way down": _frames,
    "the exception, all the way down": lambda error: " ".join(walked(error)),
    "its pickle": pickle.dumps,
    "its string": str,
}
"""How errors are shown and kept."""


def of_thing(name: str, thing: Any) -> Iterator[tuple[str, bytes]]:
    """Every surface of a thing; where one cannot be had, what says so is the surface."""
    for way, show in WAYS.items():
        try:
            surface = show(thing)
        except Exception as error:
            surface = f"{_plain(_ours_alone(error))} {' '.join(walked(error))}"
        yield f"{name}: {way}", _bytes(surface)


def of_error(name: str, error: BaseException) -> Iterator[tuple[str, bytes]]:
    """Every surface of an error, of the frames that are ours to answer for."""
    for way, render in RENDERERS.items():
        yield f"{name}: {way}", _bytes(render(_ours_alone(error)))


def of_folder(name: str, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file in a folder, and its name."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            yield f"{name}: {file.name}", file.name.encode() + file.read_bytes()


def _ours_alone(error: BaseException) -> BaseException:
    """The error without the frames of the tests, which hold the token on purpose."""
    trace = error.__traceback__
    while trace is not None and OURS not in Path(trace.tb_frame.f_code.co_filename).parts[-3:]:
        trace = trace.tb_next
    return error.with_traceback(trace)


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else repr(value)).encode("utf-8", "backslashreplace")
