"""Typed modules: made of any profile."""

from __future__ import annotations

import ast
import os
import runpy
from pathlib import Path

import pytest

import aatoolkit as aa
from aatoolkit import cli
from aatoolkit.errors import ArgumentError
from aatoolkit.sections import Profile, default_profile, typed_module


def test_a_profile_with_odd_names_gives_a_module_that_runs(tmp_path: Path) -> None:
    odd = {'a"b': 1, "größe\n": "x", "class": True, "\\": 1.5}
    sections = [
        aa.sections.propose({name: [odd]}, name).section for name in ("2nd", "class", "a_b", "aB")
    ]
    path = tmp_path / "odd.py"
    path.write_text(typed_module(Profile("odd-one", *sections)), encoding="utf-8")
    module = runpy.run_path(str(path))
    project = aa.Client("https://api.example", "t", cache=False).project("acme.example")
    assert module["typed"](project) is project
    literals = {
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    for section in sections:
        assert {section.name, *section.names} <= literals
        assert {name for table in section for name in table.names} <= literals


def test_the_command_writes_it(tmp_path: Path, capsys: object) -> None:
    source = tmp_path / "mine.py"
    source.write_text(
        "import aatoolkit as aa\n"
        "SECTION = aa.sections.propose({'items': [{'id': 'a', 'n': 1}]}, 'things').section\n"
    )
    out = tmp_path / "mine_types.py"
    assert cli.main(["profile", "types", str(source), "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == typed_module(Profile.load(source))
    assert cli.main(["profile", "types", "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == typed_module(default_profile())


def test_a_profile_is_read_from_regular_files_alone(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    for path in (pipe, "x" * 5000):
        with pytest.raises(ArgumentError, match="no regular file"):
            Profile.load(path)
