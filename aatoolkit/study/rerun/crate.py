"""Write a rerun as a Workflow Run RO-Crate: the notebook, its results, and their provenance.

It follows the profiles Workflow Run Crate 0.5 and Process Run Crate 0.5 of RO-Crate 1.1
(https://w3id.org/ro/wfrun/workflow/0.5), in which a notebook is the workflow and the rerun one
``CreateAction`` with the study as its object.
"""

from __future__ import annotations

import hashlib
import json
import platform
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit import __version__
from aatoolkit._util.files import writing_folder
from aatoolkit.study.publish.crate import NO_LICENCE
from aatoolkit.study.storage import RESULTS

if TYPE_CHECKING:
    from aatoolkit.study.reader import StudyReader
    from aatoolkit.study.rerun.report import Rerun

_CRATE = "https://w3id.org/ro/crate/1.1"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
_CONTEXT = [
    "https://w3id.org/ro/crate/1.1/context",
    "https://w3id.org/ro/terms/workflow-run/context",
    {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"},
]
_NOTEBOOK, _PARQUET = "application/x-ipynb+json", "application/vnd.apache.parquet"


def write_crate(
    rerun: Rerun,
    study: StudyReader,
    out: Path,
    notebook: bytes,
    executed: bytes,
    results: Mapping[str, bytes],
) -> Path:
    """Write the crate of a rerun.

    Parameters
    ----------
    rerun
        What it found.
    study
        The study that answered.
    out
        The folder, new or empty; it appears whole or not at all.
    notebook, executed
        The notebook as it is, and with its outputs.
    results
        By name, the file of each result that the rerun gave.

    Raises
    ------
    NotWritten
        If the folder cannot be written, or is not empty.
    """
    name = rerun.notebook.name
    stem = rerun.notebook.stem
    files = {name: notebook, f"outputs/{stem}.executed.ipynb": executed}
    paths = {result: f"outputs/result-{at}.parquet" for at, result in enumerate(results, 1)}
    files |= {paths[result]: content for result, content in results.items()}
    body = _crate(rerun, study, [*files], files, paths)
    text = json.dumps(body, ensure_ascii=False, indent=1) + "\n"
    with writing_folder(out) as folder:
        for path, content in {**files, "ro-crate-metadata.json": text.encode()}.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return out


def _crate(
    rerun: Rerun,
    study: StudyReader,
    order: Sequence[str],
    files: Mapping[str, bytes],
    paths: Mapping[str, str],
) -> dict[str, Any]:
    workflow, executed = order[0], order[1]
    action = f"#{uuid.uuid4()}"
    compared = {one.name: one for one in rerun.compared}
    graph: list[dict[str, Any]] = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": [{"@id": _CRATE}, {"@id": [*_PROFILES][-1]}],
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"Rerun of {workflow}",
            "description": f"{workflow}, run offline from the study {study.title!r}: "
            + ("all sealed results are the same." if rerun.ok else "not all results are the same."),
            "datePublished": rerun.ended.isoformat(timespec="seconds"),
            "license": NO_LICENCE,
            "conformsTo": _ids(_PROFILES),
            "hasPart": _ids(order),
            "mainEntity": {"@id": workflow},
            "mentions": {"@id": action},
        },
        *(
            {"@id": address, "@type": "CreativeWork", "name": title, "version": version}
            for address, (title, version) in _PROFILES.items()
        ),
        {
            **_file(workflow, files[workflow], _NOTEBOOK),
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "name": rerun.notebook.stem,
            "programmingLanguage": {"@id": "#jupyter"},
            "output": _ids(f"#output-{at}" for at, _ in enumerate(paths, 1)),
        },
        {
            "@id": "#jupyter",
            "@type": "ComputerLanguage",
            "name": "Jupyter Notebook",
            "identifier": {"@id": "https://jupyter.org/"},
            "url": {"@id": "https://jupyter.org/"},
        },
        _software("#python", "Python", platform.python_version(), "https://www.python.org/"),
        _software("#aatoolkit", "aatoolkit", __version__, None),
        {
            "@id": action,
            "@type": "CreateAction",
            "name": f"Rerun of {workflow} offline from a study",
            "description": "; ".join(rerun.lines()) or "No result was given.",
            "startTime": rerun.started.isoformat(timespec="seconds"),
            "endTime": rerun.ended.isoformat(timespec="seconds"),
            "instrument": {"@id": workflow},
            "object": {"@id": "#study"},
            "result": _ids(order[1:]),
            "actionStatus": {
                "@id": "http://schema.org/"
                + ("CompletedActionStatus" if rerun.problem is None else "FailedActionStatus")
            },
            **({} if rerun.problem is None else {"error": rerun.problem}),
        },
        {
            "@id": "#study",
            "@type": "CreativeWork",
            "name": study.title,
            "identifier": f"sha256:{rerun.digest}",
            "description": f"The recorded answers, {len(study.records)} of them; the SHA-256 is "
            f"that of the study's SHA256SUMS. Sealed results are in its {RESULTS}.",
        },
        {
            **_file(executed, files[executed], _NOTEBOOK),
            "name": "The notebook with its outputs",
            "about": {"@id": action},
        },
    ]
    for at, (name, path) in enumerate(paths.items(), 1):
        one = compared.get(name)
        graph += [
            {
                "@id": f"#output-{at}",
                "@type": "FormalParameter",
                "name": name,
                "additionalType": "File",
                "encodingFormat": _PARQUET,
                "workExample": {"@id": path},
            },
            {
                **_file(path, files[path], _PARQUET),
                "name": name,
                "description": "" if one is None else "; ".join(one.lines()),
                "exampleOfWork": {"@id": f"#output-{at}"},
                "identifier": "" if one is None else f"aatoolkit-logical-hash-1:{one.rerun}",
            },
        ]
    return {"@context": _CONTEXT, "@graph": graph}


def _ids(names: Any) -> list[dict[str, str]]:
    return [{"@id": name} for name in names]


def _file(path: str, content: bytes, kind: str) -> dict[str, Any]:
    return {
        "@id": path,
        "@type": "File",
        "contentSize": str(len(content)),
        "encodingFormat": kind,
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _software(name: str, title: str, version: str, url: str | None) -> dict[str, Any]:
    found = {"@id": name, "@type": "SoftwareApplication", "name": title, "softwareVersion": version}
    return found | ({"url": url} if url else {})
