"""The guide: every chapter runs from the top, is kept with its outputs, and the recipes run."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aatoolkit import sections

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
INDEX = FOLDER / "README.md"
CITED = "54cb4bee5e486db20dbd3baede4345401e8549bd922426bdbd1b3a186d35cdb6"

CHECKS = {
    "02_what_is_missing": {
        "silent": 'len(silent) and silent["mention_rate"].isna().all()',
        "unconnected.main.aa.plot()": (
            '(unconnected.main.dtypes == dataset["crawl"].main.dtypes).all()'
        ),
        'engines.aa.plot(y="occurrences")': 'not (engines["occurrences"] == 0).any()',
    },
    "03_aggregate_and_merge": {
        "weeks": 'weeks["mention_rate"].notna().all()',
        'print(f"recomputed': "abs(whole - kpi) < 1e-12",
        "daily =": 'daily.aa.aggregate(columns="conversions")["conversions"].isna().all()',
        'print(f"pandas adds up': 'once < joined["citation_count_x"].sum()',
        "shops.aa.aggregate": (
            'shops.aa.aggregate("currency", "revenue")["revenue"].gt(0).tolist() == [True, True]'
        ),
        "brands.aa.aggregate": 'brands["segment"].notna().any()',
    },
    "05_pictures_and_report": {
        "dataset = ": "not dataset.errors and set(dataset) == set(aa.sections.names())",
        'print(f"{page.name}': (
            '"<script" not in text and "http-equiv=\\"Content-Security-Policy\\"" in text'
        ),
    },
    "06_your_service": {
        'project.fetch("domains")': '"parcel-token" not in repr(project.client)',
        "tables.main.aa.codebook": "tables.drafted and tables.rebuild() == tables.payload.json",
        "print(ads.counts())": 'ads.counts()["open"] == 0',
        "dataset.summary": (
            'dataset["domains"].main["reach"].between(0, 1).all() '
            'and set(dataset.summary["availability"].str.partition(":")[0]) '
            '== {"available", "partial (not run)"}'
        ),
        "aa.profile.check(project.client.profile, project)": ("project.client.profile.name"),
        "changes": (
            'set(changes["section"]) == {"domains"} and '
            '{"no values any more", "another scale"} <= set(changes["change"])'
        ),
        "again.main.head(3)": "study._profile_by_url and again.main.equals(live.main)",
    },
    "07_studies": {"found.digest ==": f'found.digest == "{CITED}"'},
    "04_is_it_real": {
        'found[["about"': (
            'found.iloc[1][["mention_rate_low", "mention_rate_high"]].astype(float).round(2)'
            ".tolist() == [0.3, 0.63]"
        ),
        "engines.aa.plot()": (
            'not engines["verdict"].isin(["up", "down"]).any() '
            'and engines["detectable"].dropna().between(0.33, 0.94).all()'
        ),
        'changed[["measure"': (
            'changed.iloc[0][["measure", "verdict"]].tolist() == ["mention_rate", "no evidence"]'
        ),
        "days.aa.plot()": 'days["verdict"].tolist() == ["cannot say"] and days["p"].item() < 0.05',
        "effect.aa.plot()": 'set(effect["verdict"]) == {"no evidence"}',
    },
    "08_archives": {
        "trend.aa.plot()": 'trend["date"].is_unique and len(trend) > 100',
        'print("now': (
            'then.loc[then["date"] == day, "answer_count"].item() < revised["answer_count"].iloc[0]'
        ),
        "weeks.aa.plot(": 'weeks["window_end"].nunique() == 13',
        "days.rename(": "len(days) == 3",
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
        starts = [start for start in left if any(line.startswith(start) for line in lines)]
        cells += [new_cell(f"assert {left.pop(start)}") for start in starts]
    assert not left, f"no cell has a line that begins so: {list(left)}"
    notebook.cells = cells
    return notebook


def cells_of(path: Path) -> list[dict[str, Any]]:
    """The cells of code of a notebook."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_with_its_outputs_and_without_state(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    assert "widgets" not in notebook["metadata"]
    cells = cells_of(path)
    assert all(cell["execution_count"] is None for cell in cells)
    assert all(cell["outputs"] for cell in cells)
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert not any(WIDGET in output.get("data", {}) for output in outputs)
    first = "".join(cells[0]["source"]).splitlines()
    assert len(first) <= 10, "an interesting line within the first ten"
    assert "assert " not in "".join("".join(cell["source"]) for cell in cells)


WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.mark.thorough
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.timeout(400)  # a kernel of its own: 15 s on an idle machine
# Libraries of the kernel's side warn of their own deprecations; the cells are what is tested.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_it_runs_from_the_top(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import nbclient
    import nbformat

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(path, as_version=4)
    if not os.environ.get("AATOOLKIT_UPDATE_GUIDE"):
        notebook = checked(notebook, path.stem, nbformat.v4.new_code_cell)
    where = {"metadata": {"path": str(FOLDER)}}
    nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3", resources=where).execute()
    outputs = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    stderr = [out.text for out in outputs if out.output_type == "stream" and out.name == "stderr"]
    assert not [text for text in stderr if "Warning" in text or "Error" in text]
    assert any("image/png" in out.get("data", {}) for out in outputs)
    if os.environ.get("AATOOLKIT_UPDATE_GUIDE"):
        nbformat.write(without_state(notebook), path)


def without_state(notebook: Any) -> Any:
    """The notebook as it is kept: with outputs, and nothing that differs from run to run."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
            for output in cell.outputs:
                output.get("data", {}).pop(WIDGET, None)
                if output.output_type == "execute_result":
                    output.execution_count = None
    return notebook


def test_every_chapter_is_in_the_index() -> None:
    linked = re.findall(r"\]\((\w+\.ipynb)\)", INDEX.read_text("utf-8"))
    assert linked == [path.name for path in NOTEBOOKS]


def listed_sections() -> str:
    """The table of sections, as the declarations give it."""
    rows = [
        f"| `{name}` | {section.doc} | {', '.join(f'`{table.name}`' for table in section)} |"
        for name, section in sections.all().items()
    ]
    return "\n".join(
        ["| section | what it holds | tables, the main one first |", "| --- | --- | --- |", *rows]
    )


def test_the_table_lists_every_section() -> None:
    start, end = "<!-- sections -->\n", "\n<!-- /sections -->"
    text = INDEX.read_text("utf-8")
    if os.environ.get("AATOOLKIT_UPDATE_GUIDE"):
        before, _, rest = text.partition(start)
        after = rest.partition(end.strip())[2]
        INDEX.write_text(f"{before}{start}{listed_sections()}{end}{after}", "utf-8")
        return
    assert start + listed_sections() + end in text


@pytest.mark.timeout(400)  # 12 s on an idle machine
def test_the_recipes_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AATOOLKIT_CACHE_FOLDER", str(tmp_path / "cache"))
    names: dict[str, object] = {}
    text = INDEX.read_text("utf-8")
    with contextlib.redirect_stdout(io.StringIO()):
        for code in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            exec(compile(code, INDEX.name, "exec"), names)
    assert {"boss.xlsx", "tables", "prompts.sqlite", "kept"} <= {
        path.name for path in tmp_path.iterdir()
    }
