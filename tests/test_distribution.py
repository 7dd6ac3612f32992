"""What is released: the wheel is the package and nothing else, the sdist all that tests it."""

from __future__ import annotations

import subprocess
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from processes import python

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def committed(*folders: str) -> set[str]:
    """The files of folders that are under version control, or all where there is none."""
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = done.stdout.splitlines() if done.returncode == 0 else every(folders)
    return {name for name in names if (ROOT / name).is_file()}


def every(folders: Iterable[str]) -> list[str]:
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    return [path.relative_to(ROOT).as_posix() for path in paths if "__pycache__" not in path.parts]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    done = python("-m", "hatchling", "build", "-d", folder)
    assert done.returncode == 0, done.stderr
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_the_wheel_holds_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (metadata,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        facts = wheel.read(metadata).decode()
        (entries,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
        assert "aatoolkit = aatoolkit.cli:main" in wheel.read(entries).decode()
        assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())
    assert names == committed("aatoolkit")
    assert "aatoolkit/py.typed" in names
    assert {name.rpartition(".")[2] for name in names} >= {"py", "js", "css"}
    for url in PROJECT["urls"].values():
        assert url in facts
    assert {f"Provides-Extra: {extra}" for extra in PROJECT["optional-dependencies"]} <= {
        *facts.splitlines()
    }


def test_the_sdist_holds_what_builds_and_tests_it(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    folders = ("aatoolkit", "tests", "notebooks", "data", ".ci", ".github")
    assert committed(*folders) | {"pyproject.toml", "README.md", "LICENSE"} <= names
    assert not [name for name in names if name.startswith((".venv", ".git/", "dist"))]
