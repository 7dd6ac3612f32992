"""Every notebook runs from the top, and is kept without outputs or widget state."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CITED = "62f54033f15f7514cf80d4bd2ec97918b9f0a44e600337b1d133b52e564ed320"
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))

CHECKS = {
    "02_what_is_measured": {
        "silent": 'len(silent) and silent["mention_rate"].isna().all()',
        "unconnected.main.aa.plot()": (
            '(unconnected.main.dtypes == dataset["crawl"].main.dtypes).all()'
        ),
        "weeks": 'weeks["mention_rate"].notna().all()',
        'print(f"recomputed': "abs(whole - kpi) < 1e-12",
        "daily =": 'daily.aa.aggregate(columns="conversions")["conversions"].isna().all()',
        "asked_ones.aa.aggregate(": (
            'asked_ones.aa.availability.loc["mention_rate", "status"] == "available"'
        ),
        'print(f"pandas adds up': 'once < joined["citation_count_x"].sum()',
        "shops.aa.aggregate": (
            'shops.aa.aggregate("currency", "revenue")["revenue"].gt(0).tolist() == [True, True]'
        ),
        'engines.aa.plot(y="occurrences")': 'not (engines["occurrences"] == 0).any()',
    },
    "03_all_sections": {
        "dataset": "not dataset.errors and set(dataset) == set(aa.sections.names())",
        'print(f"{page.name}': (
            '"<script" not in text and "http-equiv=\\"Content-Security-Policy\\"" in text'
        ),
    },
    "04_your_service": {
        'project.fetch("domains")': '"parcel-token" not in repr(client)',
        "tables.main.aa.codebook": "tables.drafted and tables.rebuild() == tables.payload.json",
        "print(ads.counts())": 'ads.counts()["open"] == 0',
        "dataset.summary": (
            'dataset["domains"].main["reach"].between(0, 1).all() '
            'and set(dataset.summary["availability"]) == {"available", "partial (not run)"}'
        ),
        "aa.profile.check(project.client.profile, project)": (
            "client.profile is not project.client.profile"
        ),
        "changes": (
            'set(changes["section"]) == {"domains"} and '
            '{"no values any more", "another scale"} <= set(changes["change"])'
        ),
        "again.main.head(3)": "study.profiles and again.main.equals(live.main)",
    },
    "05_reproduce": {"found.digest ==": f'found.digest == "{CITED}"'},
    "06_is_it_real": {
        'found[["about"': (
            'found.iloc[1][["mention_rate_low", "mention_rate_high"]].astype(float).round(2)'
            ".tolist() == [0.3, 0.63]"
        ),
        "engines.aa.plot()": (
            'not engines["verdict"].isin(["up", "down"]).any() '
            'and engines["detectable"].dropna().between(0.23, 0.43).all()'
        ),
        'changed[["measure"': (
            'changed.set_index("name").loc["mentionRate", "verdict"] == "no evidence"'
        ),
        "days.aa.plot()": 'days["verdict"].tolist() == ["up"] and 0.035 < days["p"].item() < 0.045',
        "effect.aa.plot()": 'set(effect["verdict"]) == {"no evidence"}',
    },
    "07_history": {
        "trend.aa.plot()": 'trend["date"].is_unique and len(trend) > 100',
        'print("now': (
            'then.loc[then["date"] == day, "answer_count"].item() < revised["answer_count"].iloc[0]'
        ),
        "weeks.aa.plot(": 'weeks["window_end"].nunique() == 13',
        "days.rename(": "list(days.sort_index().index) == sorted(hosts)",
        "archive.verify()": "archive.verify(replay=True)",
    },
}
"""What holds after the cell in which a line begins so: what the text of the notebook says of it."""


def checked(notebook: Any, stem: str, new_cell: Callable[[str], Any]) -> Any:
    """The notebook with a cell of its own for each check."""
    cells = []
    left = dict(CHECKS.get(stem, {}))
    for cell in notebook.cells:
        cells.append(cell)
        lines = cell.source.split("\n") if cell.cell_type == "code" else []
        found = [start for start in left if any(line.startswith(start) for line in lines)]
        cells += [new_cell(f"assert {left.pop(start)}") for start in found]
    assert not left, f"no cell has a line that begins so: {list(left)}"
    notebook.cells = cells
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_holds_neither_outputs_nor_widget_state(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    assert "widgets" not in notebook["metadata"]
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@pytest.mark.thorough
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.timeout(400)  # a kernel of its own: 15 s on an idle machine
# Libraries of the kernel's side warn of their own deprecations; the cells are what is tested.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_it_runs_from_the_top(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(path, as_version=4)
    notebook = checked(notebook, path.stem, nbformat.v4.new_code_cell)
    nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
    shown = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    stderr = [out.text for out in shown if out.output_type == "stream" and out.name == "stderr"]
    assert not [text for text in stderr if "Warning" in text or "Error" in text]
    assert any("image/png" in out.get("data", {}) for out in shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_shows_no_bare_assertion(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert "assert " not in code
