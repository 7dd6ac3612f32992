"""Imports go downwards only: the contracts hold, and would notice if one did not."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

from modules import text_of, tree_of
from processes import python

ROOT = Path(__file__).parents[1]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    code = "from importlinter.cli import lint_imports_command as main; main()"
    return python("-c", code, "--no-cache", folder=folder, PYTHONPATH=str(folder), PATH="")


def test_every_contract_is_kept() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


ONLY = {
    "requests": "aatoolkit/http/",
    "requests_cache": "aatoolkit/http/",
    "urllib3": "aatoolkit/http/",
    "duckdb": ("aatoolkit/service/", "aatoolkit/archive/store.py"),
    "deltalake": "aatoolkit/archive/store.py",
    "dask": "aatoolkit/archive/reading.py",
    "starlette": "aatoolkit/service/",
    "uvicorn": "aatoolkit/service/",
    "xlsxwriter": "aatoolkit/frame/excel.py",
    "ipywidgets": ("aatoolkit/display/widgets/", "aatoolkit/profile/confirming.py"),
    "anywidget": "aatoolkit/display/widgets/",
    "traitlets": "aatoolkit/display/widgets/",
    # A progress bar shows itself where its work is.
    "IPython": ("aatoolkit/display/", "aatoolkit/client/", "aatoolkit/profile/confirming.py"),
    # The accessor names the type of what it gives, and no more.
    "matplotlib": ("aatoolkit/display/plot/", "aatoolkit/display/accessor.py"),
}
"""Packages that one folder only may import, even at call time."""


def trees(*words: str) -> dict[Path, ast.Module]:
    """The modules of the package that hold one of some words, parsed."""
    return {
        path: tree_of(path)
        for path in (ROOT / "aatoolkit").rglob("*.py")
        if any(word in text_of(path) for word in words)
    }


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_only_http_uses_the_network_and_only_the_service_computes_answers() -> None:
    users: dict[str, set[str]] = {name: set() for name in ONLY}
    for path, tree in trees(*ONLY).items():
        for name in imported(tree):
            if name in ONLY:
                users[name].add(path.relative_to(ROOT).as_posix())
    astray = {
        name: [path for path in paths if not path.startswith(ONLY[name])]
        for name, paths in users.items()
    }
    assert astray == {name: [] for name in ONLY}
    assert users["requests"]


def test_the_service_is_imported_by_the_demo_and_the_command_line_alone_and_at_call_time() -> None:
    users, at_once = set(), set()
    for path, tree in trees("aatoolkit.service").items():
        name = path.relative_to(ROOT / "aatoolkit").as_posix()
        if not name.startswith("service/"):
            users |= {name for node in ast.walk(tree) if of_service(node)}
            at_once |= {name for node in tree.body if of_service(node)}
    assert users <= {"client/client.py", "cli/app.py"}
    assert at_once == set()


def of_service(node: ast.AST) -> bool:
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
    return any(name.startswith("aatoolkit.service") for name in names)
