"""The progress bar of a notebook leaves nothing on its page."""

from __future__ import annotations

from typing import Any

import pytest

from aatoolkit.client.concurrency import progress_bar


class Shown:
    """A display of a notebook, and what it was updated with."""

    def __init__(self) -> None:
        self.things: list[Any] = []

    def __call__(self, thing: Any, *, display_id: bool = False) -> Shown | None:
        self.things.append(thing)
        return self if display_id else None

    def update(self, thing: Any, *, raw: bool = False) -> None:
        self.things.append(thing)


def test_a_bar_in_a_notebook_is_removed_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = pytest.importorskip("tqdm.notebook")
    monkeypatch.setattr("tqdm.auto.tqdm", notebook.tqdm)
    shown = Shown()
    monkeypatch.setattr("IPython.display.display", shown)
    monkeypatch.setattr(notebook, "display", shown)
    bar = iter(progress_bar(range(3), True, total=3, unit="answer"))
    assert next(bar) == 0
    assert len(shown.things) == 1, "it is displayed once"
    assert [*bar] == [1, 2]
    assert shown.things[1:] == [{"text/plain": ""}]
    stopped = iter(progress_bar(range(3), True, total=3, unit="answer"))
    next(stopped)
    stopped.close()  # type: ignore[attr-defined]
    assert shown.things[-1] == {"text/plain": ""}
