"""Find the study that a notebook names."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from aatoolkit._util.text import clipped
from aatoolkit.errors import StudyError
from aatoolkit.study.storage import MANIFEST, STUDY

_CALLS = ("Study", "create", "resume")


def study_named_in(notebook: Path) -> Path:
    """Return the study that a notebook opens or creates by a literal path.

    Raises
    ------
    StudyError
        If it names none that is there.
    """
    named = [*_names(notebook)]
    for name in named:
        found = notebook.parent / Path(name).expanduser()
        if found.is_file() or any((found / file).is_file() for file in (STUDY, MANIFEST)):
            return found
    listed = f" (it names {clipped(', '.join(named))})" if named else ""
    raise StudyError(
        f"the notebook {clipped(str(notebook))} names no study that is there{listed}; name it: "
        "aatoolkit study rerun NOTEBOOK STUDY",
        path=str(notebook),
    )


def _names(notebook: Path) -> Iterator[str]:
    """Yield the paths with which a notebook opens studies, in their order."""
    try:
        cells = json.loads(notebook.read_bytes())["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError):
        return  # what is wrong with it is said when it is to be run
    for source in sources:
        lines = (line for line in source.split("\n") if not line.lstrip().startswith(("%", "!")))
        try:
            tree = ast.parse("\n".join(lines))
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and _name(node.func) in _CALLS:
                given = node.args[0]
                if isinstance(given, ast.Call) and _name(given.func) == "Path" and given.args:
                    given = given.args[0]
                if isinstance(given, ast.Constant) and isinstance(given.value, str):
                    yield given.value


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        is_of_study = node.attr == "Study" or _name(node.value) == "Study"
        return node.attr if is_of_study else ""
    return node.id if isinstance(node, ast.Name) else ""
