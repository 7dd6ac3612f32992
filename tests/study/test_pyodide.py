"""A packed study is replayed with what Pyodide has: no threads, connections, processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from processes import python

import aatoolkit as aa

ROOT = Path(aa.__file__).parents[1]

# What Pyodide 314 refuses, and which packages of ours it does not ship.
BROWSER = """
import socket, sys, threading

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in (
            "pwd", "grp", "resource", "requests_cache", "ipywidgets", "anywidget", "deltalake"
        ):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import subprocess
import pandas as pd
import pyarrow

def refuse(*args, **kwargs):
    raise RuntimeError("not in a browser")

threading.Thread.start = refuse
socket.socket.connect = socket.socket.bind = refuse
subprocess.Popen.__init__ = refuse
sys.platform = "emscripten"

import aatoolkit as aa

study = aa.Study(sys.argv[1]).pack(sys.argv[2])
study = aa.Study(study)
project = study.project("acme.example")
dataset = project.read_all(days=30)
assert len(dataset) == 17 and not dataset.errors, dataset.errors
overview = dataset["overview"].main
explained = overview.aa.explain(0, "value")
assert "SHA-256" in str(explained), explained
assert study.verify(replay=True)
print(dataset["overview"]["overview_engines"].aa.plot())
"""


@pytest.mark.thorough
def test_a_packed_study_is_replayed_with_what_a_browser_has(tmp_path: Path) -> None:
    done = python("-c", BROWSER, ROOT / "data" / "demo-study", tmp_path / "study.zip")
    assert done.returncode == 0, done.stderr
    assert "Mention rate by engine" in done.stdout
