"""The plan of the package: its root, its size, its names and its words."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from modules import text_of, tree_of

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "aatoolkit"
MODULES = sorted(PACKAGE.rglob("*.py"))
HOMES = (PACKAGE, ROOT)
PAGES = [ROOT / "README.md", *sorted((ROOT / "notebooks").glob("*.ipynb"))]
TESTS = [path for path in sorted((ROOT / "tests").rglob("*.py")) if path != Path(__file__)]


def test_the_root_of_the_package_can_be_seen_at_a_glance() -> None:
    # A folder without modules is what an earlier checkout left behind.
    entries = {path.name for path in PACKAGE.iterdir() if path.is_file() or [*path.glob("*.py")]}
    assert len(entries) <= 22
    modules = {name for name in entries if name.endswith(".py")}
    assert modules == {"__init__.py", "__main__.py", "scope.py", "payload.py"}


def test_no_module_is_longer_than_can_be_read_at_once() -> None:
    lengths = {path: len(text_of(path).splitlines()) for path in MODULES}
    assert {path.name: length for path, length in lengths.items() if length > 350} == {}


def test_every_package_describes_its_modules() -> None:
    missing = []
    for init in PACKAGE.rglob("__init__.py"):
        package = init.parent
        doc = ast.get_docstring(tree_of(init)) or ""
        inner = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
        inner |= {path.parent.name for path in package.glob("*/__init__.py")}
        # One module for each section: these packages say so, and list none.
        if package in (PACKAGE / "sections" / "declared", PACKAGE / "service" / "sections"):
            continue
        missing += [
            f"{package.relative_to(ROOT)}: {name}"
            for name in sorted(inner)
            if not re.search(rf"\b{name}\b", doc)
        ]
    assert missing == []


def test_every_file_that_the_guide_names_is_there() -> None:
    guide = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = {path for path in re.findall(r"`(\w+/[\w/]*\.\w+)`", guide) if "NAME" not in path}
    assert len(named) > 80
    assert [path for path in sorted(named) if not any((at / path).exists() for at in HOMES)] == []


def test_no_two_classes_have_one_name() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        for name in re.findall(r"^ *class ([A-Za-z]\w*)[(:\[]", text_of(path), re.MULTILINE):
            homes[name].append(path.relative_to(PACKAGE).as_posix())
    assert len(homes) > 300
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


# --- words ----------------------------------------------------------------------------------

INSTEAD = {
    r"\bwitness(es)?\b": "fingerprint",
    r"\bstrictjson\b": "jsontree.decode",
    r"\bMiscut\b": "SplitError",
    r"\bmishaps?\b": "error",
    r"\b(is|are|be) told\b": "is reported, is read",
    r"\btold apart\b": "distinguished",
    r"\bwhat may be asked\b": "allowed filter values",
    r"\bshut out\b": "refused (401, 403)",
    r"\b(is|are) let go\b": "is released",
    r"\bunhurried\b": "gc_paused",
    r"[;:,] null = ": "missing where",
    r"\bbucket start\b": "start of the hour, day or week",
}
"""Words that the package does not use, as patterns, and what it says instead."""

INSTEAD_IN_DOCS = {
    r"\btold\b": "is reported, is described",
    r"\b(is|are|was|were) said\b": "is stated",
    r"\b(heard|spoken)\b": "read, detected",
    r"\b(stood|stands? (here|there))\b": "is, was",
    r"\bwho asks\b": "the caller",
    r"\bmay be asked\b": "may be requested",
    r"\bwhat (it|an answer|a column|a name) says of itself\b": "its statements, its availability",
    r"\bplays a part\b": "has a role",
}
"""Patterns never right in the first line of a docstring or a message, and what is."""

NOT_IN_NAMES = ("said", "told", "asked", "heard", "spoken", "telling")
"""Words that no name is made of: `message`, `statement`, `stated`, `reported`, `requested`."""

TERMS = ("parse", "decode", "validate", "normalise", "cache", "evict", "retry", "lock", "hash")
"""Standard terms: where the code does one of these things, it says so in this word."""


@pytest.mark.parametrize("pattern", INSTEAD)
def test_the_house_uses_plain_words(pattern: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:90]}"
        for path in (*MODULES, *PAGES, *TESTS)
        if re.search(pattern, text_of(path), re.IGNORECASE)
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if re.search(pattern, line, re.IGNORECASE)
    ]
    assert not found, f"say {INSTEAD[pattern]!r} instead:\n" + "\n".join(found)


@pytest.mark.parametrize("folder", ["aatoolkit", "tests", "data"])
def test_names_are_plain_words(folder: str) -> None:
    words = re.compile(rf"(?i)(?<![a-z])({'|'.join(NOT_IN_NAMES)})(?![a-z])")
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        if words.search(text_of(path))
        for line, name in names_in(path)
        if words.search(name)
    ]
    assert found == []


def names_in(path: Path) -> Iterator[tuple[int, str]]:
    """The functions, classes, arguments, variables and attributes of a module."""
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name():
                yield node.lineno, node.id
            case ast.Attribute():
                yield node.lineno, node.attr


@cache
def first_lines_and_messages() -> list[tuple[Path, str]]:
    """The first lines of all docstrings, and the texts that modules raise or warn with."""
    return [(path, text) for path in MODULES for text in _first_lines_and_messages(path)]


def _first_lines_and_messages(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield (ast.get_docstring(node, clean=False) or "").lstrip().partition("\n")[0]
        elif isinstance(node, ast.Raise) or (
            isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "warn"
        ):
            texts = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
            yield from (text for text in texts if isinstance(text, str))


@pytest.mark.parametrize("pattern", INSTEAD_IN_DOCS)
def test_docstrings_and_messages_read_like_documentation(pattern: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line[:90]}"
        for path, line in first_lines_and_messages()
        if re.search(pattern, line, re.IGNORECASE)
    ]
    assert not found, f"say {INSTEAD_IN_DOCS[pattern]!r} instead:\n" + "\n".join(found)


def test_the_house_uses_the_terms_of_the_field() -> None:
    text = "\n".join(map(text_of, MODULES))
    assert [term for term in TERMS if not re.search(rf"\b{term}", text, re.IGNORECASE)] == []


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
