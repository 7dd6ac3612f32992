"""Optional packages: where they are not installed, what needs one says what to install."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from processes import python

import aatoolkit as aa
from aatoolkit._util import defaults

ROOT = Path(aa.__file__).parents[1]

CALLS = {
    "aa.demo()": ("duckdb", "demo"),
    "frame.aa.plot()": ("matplotlib", "plot"),
    "frame.aa.plot(interactive=True)": ("matplotlib", "interactive"),
    "frame.aa.to_excel(folder / 'n.xlsx')": ("xlsxwriter", "excel"),
    "aa.normalize('domains', ANSWER).to_excel(folder / 'm.xlsx')": ("xlsxwriter", "excel"),
    "aa.Archive(folder / 'archive')": ("deltalake", "archive"),
    "rerun(folder)": ("ipykernel", "notebook"),
}

# As in an environment without any extra: each of their packages is unknown to the import system.
LIGHT = """
import json, sys
from pathlib import Path

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

ABSENT, CALLS, folder = set(json.loads(sys.argv[1])), json.loads(sys.argv[2]), Path(sys.argv[3])
sys.meta_path.insert(0, Absent())
import pandas as pd
import aatoolkit as aa

ANSWER = {"domains": [{"domain": "acme.example", "citations": 3}]}
frame = aa.normalize("domains", ANSWER).main
frame.aa.to_parquet(folder / "n.parquet")
read = aa.read_parquet(folder / "n.parquet")
assert len(read) == len(frame) == 1, frame

def rerun(folder):
    study = aa.Study.create(folder / "study")
    study.results["n"] = frame
    study.seal()
    (folder / "n.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4}')
    study.rerun(folder / "n.ipynb")

found = {}
for call in CALLS:
    try:
        eval(call)
    except ImportError as error:
        found[call] = [type(error).__name__, str(error), error.package, error.extra]
print(json.dumps(found))
"""


def test_where_no_extra_is_installed_each_call_says_what_to_install(tmp_path: Path) -> None:
    absent = sorted({package for packages in defaults.EXTRAS.values() for package in packages})
    arguments = [json.dumps(absent), json.dumps(list(CALLS)), str(tmp_path)]
    done = python("-W", "ignore", "-c", LIGHT, *arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    errors = json.loads(done.stdout)
    assert errors.keys() == CALLS.keys()
    for call, (package, extra) in CALLS.items():
        kind, message, *facts = errors[call]
        assert (kind, facts) == ("PackageMissing", [package, extra]), call
        assert f'{package}, which is not installed: pip install "aatoolkit[{extra}]"' in message


def test_the_extras_are_those_of_the_project() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {
        extra: tuple(
            re.match(r"[\w-]+", package)[0]  # type: ignore[index]
            for package in packages
            if not package.startswith("aatoolkit[")
        )
        for extra, packages in declared["optional-dependencies"].items()
        if extra not in ("test", "browser")
    }
    assert extras == defaults.EXTRAS
