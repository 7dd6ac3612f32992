"""The study under ``data/``: as it was sealed, whatever reads it, and made by the code it names."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from serving import client_of

import aatoolkit as aa
from aatoolkit import sections
from aatoolkit.service import Store, synthesize

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data" / "demo-study"
README = (ROOT / "data" / "README.md").read_text("utf-8")
DIGEST = "54cb4bee5e486db20dbd3baede4345401e8549bd922426bdbd1b3a186d35cdb6"


@pytest.fixture(scope="module")
def study() -> aa.Study:
    return aa.Study(FOLDER)


def test_it_is_as_it_was_sealed_and_read_as_it_was_then(study: aa.Study) -> None:
    """The hashes in it were written with some pandas; those of today's are compared with them."""
    report = study.verify(replay=True)
    assert report, str(report)
    assert report.digest == DIGEST


def test_it_holds_what_its_datasheet_describes(study: aa.Study) -> None:
    assert study._hosts == ("acme.example", "globex.example")
    assert len(study.records) == int(re.search(r"(\d+) responses of the reference", README)[1])  # type: ignore[index]
    read = {record.section for record in study.records if record.host == "acme.example"}
    assert read == {*sections.names(), None}
    assert (
        study.project("globex.example")
        .read("crawl")
        ._availability_texts["crawl_bots"]
        .startswith("unavail")
    )
    assert sum(path.stat().st_size for path in FOLDER.rglob("*")) < 2_000_000
    assert "synthetic" in str(study.about["description"]).lower()


@pytest.mark.thorough
def test_its_commands_make_the_same_responses(study: aa.Study, tmp_path: Path) -> None:
    synth = shlex.split(next(line for line in README.splitlines() if "--synth" in line))
    seed, answers = (int(synth[synth.index(flag) + 1]) for flag in ("--seed", "--answers"))
    with (
        client_of(Store.of(synthesize(seed=seed, answers=answers))) as client,
        aa.Study.create(tmp_path / "again") as again,
    ):
        acme = again.record(client.project("acme.example"))
        acme.scope_options()
        acme.read_all(progress=False)
        acme.read_all(sections=["overview", "domains"], days=7, progress=False)
        globex = again.record(client.project("globex.example"))
        globex.scope_options()
        globex.read("crawl")
    difference = study.diff(again)
    assert difference.is_same, str(difference)
    names, kept = ({path.name for path in (s.path / "responses").iterdir()} for s in (again, study))
    assert names == kept


NOTEBOOK = ROOT / "notebooks" / "07_studies.ipynb"


def response(section: str) -> dict[str, Any]:
    """A response of the study, found and read without this package."""
    for line in (FOLDER / "manifest.jsonl").read_bytes().splitlines():
        record = json.loads(line)
        params = dict(record["request"]["params"])
        if (
            params == {"section": section, "days": "30"}
            and "/acme.example/" in record["request"]["path"]
        ):
            body = (FOLDER / "responses" / f"{record['response']['sha256']}.json").read_bytes()
            document: dict[str, Any] = json.loads(body)
            return document
    raise LookupError(section)


def test_the_figures_of_the_notebook_are_those_of_the_study() -> None:
    text = "".join(
        "".join(cell["source"])
        for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
        if cell["cell_type"] == "markdown"
    )
    figures = dict(re.findall(r"^\| ([^|]+) \| ([\d.]+(?: %)?) \|$", text, re.MULTILINE))
    kpis = response("overview")["kpis"]
    cited = {site["domain"]: site["citationCount"] for site in response("domains")["domains"]}
    most = max(cited, key=lambda site: cited[site])
    rate = kpis["mentionRate"]
    assert figures == {
        "answers in the window": str(rate["denominator"]),
        "of these, mention the brand": str(rate["numerator"]),
        "mention rate": f"{100 * rate['value']:.1f} %",
        "citations": str(sum(cited.values())),
        f"of these, of the site cited most, `{most}`": str(cited[most]),
    }
    assert DIGEST in text


# Libraries of the kernel's side warn of their own deprecations; the cells are what is tested.
