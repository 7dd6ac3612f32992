"""The plan of the package: its root, its guide and its layers."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from modules import text_of, tree_of

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "aatoolkit"
MODULES = sorted(PACKAGE.rglob("*.py"))
HOMES = (PACKAGE, ROOT)


def test_the_root_of_the_package_can_be_seen_at_a_glance() -> None:
    # A folder without modules is what an earlier checkout left behind.
    entries = {path.name for path in PACKAGE.iterdir() if path.is_file() or [*path.glob("*.py")]}
    assert len(entries) <= 22
    modules = {name for name in entries if name.endswith(".py")}
    assert modules == {"__init__.py", "__main__.py", "errors.py", "scope.py", "payload.py"}


def test_no_stray_file_is_committed() -> None:
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    roots = {name.partition("/")[0] for name in done.stdout.splitlines()}  # none without git
    expected = {".ci", ".github", ".gitignore", "LICENSE", "README.md", "aatoolkit", "data"}
    assert roots <= expected | {"notebooks", "pyproject.toml", "tests"}


def test_every_file_that_the_guide_names_is_there() -> None:
    guide = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = {path for path in re.findall(r"`(\w+/[\w/]*\.\w+)`", guide) if "NAME" not in path}
    assert [path for path in sorted(named) if not any((at / path).exists() for at in HOMES)] == []


@pytest.mark.parametrize("words", ["no evidence", "cannot say", "* "])
def test_a_word_that_is_shown_is_written_in_one_place(words: str) -> None:
    homes = [
        path.name
        for path in MODULES
        if path.relative_to(PACKAGE).parts[0] in ("_util", "frame", "stats", "display")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and str(node.value).startswith(words)
    ]
    assert homes == ["results.py"] * words[0].isalpha()


def test_no_two_classes_have_one_name() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        for name in re.findall(r"^ *class ([A-Za-z]\w*)[(:\[]", text_of(path), re.MULTILINE):
            homes[name].append(path.relative_to(PACKAGE).as_posix())
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_the_layers_are_few_and_justify_what_they_leave_out() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.search(r'name = "Imports go downwards only".*?layers = \[(.*?)\]', project, re.S)
    assert layers is not None
    assert len(layers[1].strip().splitlines()) <= 18
    lines = project.splitlines()
    # An import that goes up has its reason in the comment above the list.
    assert all(
        above.startswith("#") for above, line in pairwise(lines) if line == "ignore_imports = ["
    )


def test_explain_goes_through_every_verb_of_frames():
    import aatoolkit.display.accessor  # noqa: F401  # which imports all verbs
    from aatoolkit.metadata.recorded import METHOD_BY_VERB
    from aatoolkit.stats.explain.cells import EXPLAIN_CELL_BY_VERB

    verbs = {
        verb
        for verb, (function, _) in METHOD_BY_VERB.items()
        if function.__module__.startswith("aatoolkit.frame.")
    }
    assert len(verbs) > 6
    assert verbs <= {*EXPLAIN_CELL_BY_VERB, "aggregate"}
