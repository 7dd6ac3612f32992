"""A notebook is rerun offline from a study: what it gives is compared with what was sealed."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbformat import v4
from serving import TOKEN, client_of

import aatoolkit as aa
from aatoolkit.cli import main
from aatoolkit.errors import ArgumentError
from aatoolkit.service import Store, synthesize

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(300)]

HOST = "acme.example"


def notebook(path: Path, *cells: str) -> Path:
    """A notebook with these cells of code."""
    nbformat.write(v4.new_notebook(cells=[*map(v4.new_code_cell, cells)]), path)
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> aa.Study:
    """A sealed study with three named results."""
    path = tmp_path_factory.mktemp("rerun") / "mine"
    with client_of(Store.of(synthesize(seed=3, answers=300))) as client:
        study = aa.Study.create(path, title="Reruns")
        project = study.record(client.project(HOST))
        brands = project.read("ranking").main[["brand", "rank", "mention_count"]]
        study.results["brands"] = brands
        study.results["mean"] = pd.DataFrame({"mean": [brands["mention_count"].mean()]})
        study.results["gone"] = pd.DataFrame({"x": [1]})
        study.seal()
    return study


START = f"""import aatoolkit as aa, os
study = aa.Study.create("mine", title="Reruns")
project = study.record(aa.project("{HOST}", base_url="https://api.example", token="not-used"))
brands = project.read("ranking").main[["brand", "rank", "mention_count"]].copy()"""


def test_a_changed_notebook_is_run_offline_and_its_differences_are_named(
    study: aa.Study,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("AATOOLKIT_TOKEN", TOKEN)
    seen = """token = {"token": [os.environ.get("AATOOLKIT_TOKEN", "none")]}
study.results["seen"] = __import__("pandas").DataFrame(token)
aa.demo().fetch("ranking").sha256 == study.records[0].sha256"""
    changed = """brands.loc[1, "mention_count"] += 7
study.results["brands"] = brands.iloc[:-1]
study.results["mean"] = brands[["mention_count"]].mean().to_frame("mean").reset_index(drop=True)
try:
    study.results["mean"] = brands
except aa.errors.StudyError as error:
    print(error)
try:
    study.results["gone"] = study.results["gone"]
except KeyError as error:
    print(error)
print(study.seal(), "te" + "st-token-of-one-account")"""
    book = notebook(tmp_path / "book.ipynb", START, seen, changed)
    before = book.read_bytes()
    out = tmp_path / "executed.ipynb"
    command = ["study", "rerun", str(book), str(study.path), "--out", str(out)]
    assert main([*command, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["problem"], report["digest"]) == (False, None, study.digest)
    by_name = {result["name"]: result for result in report["results"]}
    assert {name: result["status"] for name, result in by_name.items()} == {
        "brands": "differs",
        "mean": "differs",
        "gone": "missing",
        "seen": "new",
    }
    brands = study.results["brands"]
    count = brands["mention_count"][1]
    cell = f"[brand={brands['brand'][1]}] mention_count: {count} → {count + 7} (+7)"
    assert {"1 row gone", "1 cell changed", cell} <= {*by_name["brands"]["differences"]}
    executed = json.loads(out.read_text("utf-8"))
    texts = [str(cell["outputs"]) for cell in executed["cells"]]
    assert "True" in texts[1], "the demo replays too"
    assert "another result is named 'mean'" in texts[2]
    assert "a rerun computes its results anew" in texts[2]
    assert str(study.digest) in texts[2]
    assert "[token removed]" in texts[2]
    assert TOKEN not in out.read_text("utf-8")
    assert book.read_bytes() == before


def test_what_a_notebook_states_is_not_believed(study: aa.Study, tmp_path: Path) -> None:
    lies = f"""brands.loc[1, "mention_count"] += 7
study.results["brands"] = brands
import json, pathlib
folder = pathlib.Path(os.environ["AATOOLKIT_RERUN_RESULTS"])
listed = json.loads((folder / "results.json").read_text())
(row,) = listed["results"]
(folder / "results" / (row["hash"] + ".parquet")).rename(
    folder / "results" / "{study.results.hashes["brands"]}.parquet")
row["hash"] = "{study.results.hashes["brands"]}"
(folder / "results.json").write_text(json.dumps(listed))"""
    rerun = study.rerun(notebook(tmp_path / "book.ipynb", START, lies))
    status = {result.name: (result.status, result.differences[:1]) for result in rerun.compared}
    assert status["brands"] == ("differs", ("1 cell changed",))

    copy = aa.Study(shutil.copytree(study.path, tmp_path / "copy"))
    alters = """study.results["brands"] = brands
file = study.path / "results.json"
file.write_bytes(file.read_bytes().replace(b"gone", b"come"))"""
    rerun = copy.rerun(notebook(tmp_path / "other.ipynb", START, alters))
    assert not rerun
    assert str(rerun.problem).startswith("the study is not as it was before the rerun")
    assert "did not run to its end" not in repr(rerun)
    assert {result.name for result in rerun.compared} == {"brands", "mean", "gone"}


def test_a_notebook_that_never_ends_is_ended_with_all_that_it_started(
    study: aa.Study, tmp_path: Path
) -> None:
    started = tmp_path / "child"
    child = f"""import subprocess, sys
made = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(started)!r}, "w").write(str(made.pid))"""
    endless = "while True:\n    pass"
    rerun = study.rerun(notebook(tmp_path / "book.ipynb", START, child, endless), timeout=6)
    assert not rerun
    assert rerun.cell == 3
    assert rerun.problem == "it did not end within 6 seconds"
    assert {result.status for result in rerun.compared} == {"missing"}
    assert "in code cell 3" in repr(rerun)
    until = time.monotonic() + 20
    while os.name == "posix" and is_alive(int(started.read_text())) and time.monotonic() < until:
        time.sleep(0.1)
    assert os.name != "posix" or not is_alive(int(started.read_text()))


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def test_a_notebook_that_fails_keeps_what_it_gave(
    study: aa.Study,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("AATOOLKIT_TOKEN", TOKEN)
    fails = 'study.results["brands"] = brands\nraise ValueError("te" + "st-token-of-one-account")'
    book = notebook(tmp_path / "book.ipynb", START, fails)
    assert main(["study", "rerun", str(book), str(study.path)]) == 1
    printed = capsys.readouterr().out
    assert "did not run to its end in code cell 2: ValueError: [token removed]" in printed
    assert "same: brands" in printed
    assert "missing: mean" in printed


def test_what_cannot_be_rerun_is_refused_before_a_kernel_starts(
    study: aa.Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = notebook(tmp_path / "book.ipynb", START)
    with pytest.raises(ArgumentError, match="cannot be run: No such file"):
        study.rerun(tmp_path / "none.ipynb")
    (tmp_path / "no.ipynb").write_text("{}")
    with pytest.raises(ArgumentError, match="no notebook"):
        study.rerun(tmp_path / "no.ipynb")
    with pytest.raises(ArgumentError, match="the notebook itself"):
        study.rerun(book, out=book)
    assert main(["study", "rerun", str(book), str(tmp_path / "none")]) == 2
    assert "there is no study" in capsys.readouterr().err
