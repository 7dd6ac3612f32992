"""Pyright, which is also what VS Code completes with: names complete, mistyped ones are errors."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from processes import python

import aatoolkit as aa
from aatoolkit.sections import Profile, typed_module

HERE = Path(__file__).parent
SETTINGS: dict[str, Any] = {
    "extraPaths": [str(Path(aa.__file__).parent.parent)],
    "reportUnnecessaryTypeIgnoreComment": "error",
    "typeCheckingMode": "standard",
}


def checked(folder: Path, text: str) -> list[str]:
    """What pyright says of a file in a folder: the errors, as line and rule."""
    (folder / "use.py").write_text(text, encoding="utf-8")
    (folder / "pyrightconfig.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    done = python(
        "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, "-p", folder
    )
    diagnostics = json.loads(done.stdout)["generalDiagnostics"]
    return [
        f"{diagnostic['range']['start']['line'] + 1} {diagnostic['message'][:200]}"
        for diagnostic in diagnostics
        if diagnostic["severity"] == "error"
    ]


@pytest.fixture
def typed_folder(tmp_path: Path) -> Path:
    """A folder with the typed module of the reference."""
    module = typed_module(aa.sections.default_profile())
    (tmp_path / "reference_types.py").write_text(module, encoding="utf-8")
    return tmp_path


def test_a_mistyped_name_is_an_error_and_ordinary_pandas_is_none(typed_folder: Path) -> None:
    assert checked(typed_folder, (HERE / "usage.py").read_text(encoding="utf-8")) == []


@pytest.mark.thorough
def test_mypy_is_as_strict(typed_folder: Path) -> None:
    shutil.copy(HERE / "usage.py", typed_folder / "use.py")
    path = SETTINGS["extraPaths"][0]
    done = python("-m", "mypy", "--strict", "use.py", folder=typed_folder, MYPYPATH=path)
    assert done.returncode == 0, done.stdout


def test_the_types_of_a_profile_of_ones_own(tmp_path: Path) -> None:
    answer = {"items": [{"id": "a", "n": 1, "größe": 1.5, 'a"b': True, "class": "x"}]}
    section = aa.sections.propose(answer, "things").section
    (tmp_path / "mine.py").write_text(typed_module(Profile("mine", section)), encoding="utf-8")
    lines = checked(
        tmp_path,
        "import aatoolkit as aa\n"
        "from mine import typed\n"
        "main = typed(aa.project('acme.com', profile='mine.json')).read('things').main\n"
        "main['n'].sum() + main['größe'].mean()\n"
        "main['a_b'].all()\n"
        "main[['class', 'id']].aa.availability\n"
        "main['klass']\n",
    )
    assert {line.split()[0] for line in lines} == {"7"}
