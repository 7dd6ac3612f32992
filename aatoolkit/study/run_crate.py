"""Write a rerun as a Workflow Run RO-Crate: the notebook, its results, and their provenance.

It follows the profiles Workflow Run Crate 0.5 and Process Run Crate 0.5 of RO-Crate 1.1
(https://w3id.org/ro/wfrun/workflow/0.5), in which a notebook is the workflow and the rerun one
``CreateAction`` with the study as its object.
"""

from __future__ import annotations

import json
import platform
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit import __version__
from aatoolkit._util.files import writing_folder
from aatoolkit.study.files import RESULTS, sha256_of

if TYPE_CHECKING:
    from aatoolkit.study.rerun import Rerun
    from aatoolkit.study.study import Study

NO_LICENCE = "No licence is stated; ask the creators before you use or share it."

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
    study: Study,
    out: Path,
    notebook: bytes,
    executed: bytes,
    results: Mapping[str, bytes],
) -> Path:
    """Write the crate of a rerun to a new or empty folder, whole or not at all.

    Parameters
    ----------
    rerun
        What it found.
    study
        The study that answered.
    out
        The folder.
    notebook, executed
        The notebook as it is, and with its outputs.
    results
        By name, the file of each result that the rerun gave.

    Raises
    ------
    NotWritten
        If the folder cannot be written, or is not empty.
    """
    workflow = rerun.notebook.name
    outputs = f"outputs/{rerun.notebook.stem}.executed.ipynb"
    paths = {name: f"outputs/result-{at}.parquet" for at, name in enumerate(results, 1)}
    files = {workflow: notebook, outputs: executed}
    files |= {paths[name]: content for name, content in results.items()}
    action = f"#{uuid.uuid4()}"
    compared = {one.name: one for one in rerun.compared}

    def file(path: str, media: str, name: str, **more: Any) -> dict[str, Any]:
        facts = {
            "@type": "File",
            "name": name,
            "contentSize": str(len(files[path])),
            "encodingFormat": media,
            "sha256": sha256_of(files[path]),
        }
        return {"@id": path, **facts, **more}

    graph: list[dict[str, Any]] = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": _ids([_CRATE, [*_PROFILES][-1]]),
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"Rerun of {workflow}",
            "description": f"{workflow}, run from the study {study._title!r}: "
            + ("all sealed results are the same." if rerun.ok else "not all results are the same."),
            "datePublished": rerun.ended.isoformat(timespec="seconds"),
            "license": NO_LICENCE,
            "conformsTo": _ids(_PROFILES),
            "hasPart": _ids(files),
            "mainEntity": {"@id": workflow},
            "mentions": {"@id": action},
        },
        *(
            {"@id": address, "@type": "CreativeWork", "name": title, "version": version}
            for address, (title, version) in _PROFILES.items()
        ),
        file(workflow, _NOTEBOOK, rerun.notebook.stem)
        | {
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
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
        *(
            {"@id": f"#{name}", "@type": "SoftwareApplication", "name": name, "softwareVersion": of}
            for name, of in (("Python", platform.python_version()), ("aatoolkit", __version__))
        ),
        {
            "@id": action,
            "@type": "CreateAction",
            "name": f"Rerun of {workflow} from a study",
            "description": "; ".join(rerun.lines()) or "No result was given.",
            "startTime": rerun.started.isoformat(timespec="seconds"),
            "endTime": rerun.ended.isoformat(timespec="seconds"),
            "instrument": {"@id": workflow},
            "object": {"@id": "#study"},
            "result": _ids([*files][1:]),
            "actionStatus": {
                "@id": "http://schema.org/"
                + ("CompletedActionStatus" if rerun.problem is None else "FailedActionStatus")
            },
            **({} if rerun.problem is None else {"error": rerun.problem}),
        },
        {
            "@id": "#study",
            "@type": "CreativeWork",
            "name": study._title,
            "identifier": f"sha256:{rerun.digest}",
            "description": f"The recorded responses, {len(study.records)} of them; the SHA-256 is "
            f"that of the study's SHA256SUMS. Sealed results are in its {RESULTS}.",
        },
        file(outputs, _NOTEBOOK, "The notebook with its outputs", about={"@id": action}),
    ]
    for at, (name, path) in enumerate(paths.items(), 1):
        one = compared.get(name)
        graph.append(
            {
                "@id": f"#output-{at}",
                "@type": "FormalParameter",
                "name": name,
                "additionalType": "File",
                "encodingFormat": _PARQUET,
                "workExample": {"@id": path},
            }
        )
        facts = {
            "description": "; ".join(one.lines()) if one else "",
            "exampleOfWork": {"@id": f"#output-{at}"},
            "identifier": f"aatoolkit-logical-hash-1:{one.rerun}" if one else "",
        }
        graph.append(file(path, _PARQUET, name, **facts))
    text = json.dumps({"@context": _CONTEXT, "@graph": graph}, ensure_ascii=False, indent=1) + "\n"
    with writing_folder(out) as folder:
        for path, content in {**files, "ro-crate-metadata.json": text.encode()}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
    return out


def _ids(names: Iterable[str]) -> list[dict[str, str]]:
    return [{"@id": name} for name in names]
