"""Write a rerun as a Workflow Run RO-Crate: the notebook, its results, and their provenance.

It follows the profiles Workflow Run Crate 0.5 and Process Run Crate 0.5 of RO-Crate 1.1
(https://w3id.org/ro/wfrun/workflow/0.5), in which a notebook is the workflow and the rerun one
``CreateAction`` with the study as its object.
"""

from __future__ import annotations

import platform
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit import __version__
from aatoolkit._util.files import writing_folder
from aatoolkit._util.text import json_text
from aatoolkit.study.documents import NO_LICENCE, file_entity, filled, ids
from aatoolkit.study.files import sha256_of

if TYPE_CHECKING:
    from aatoolkit.study.comparing import Rerun
    from aatoolkit.study.study import Study


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
        The study that the notebook read.
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

    def file(path: str, name: str, **more: Any) -> dict[str, Any]:
        return file_entity(path, len(files[path]), sha256_of(files[path]), name, **more)

    crate = filled(
        _CRATE,
        workflow=workflow,
        name=f"Rerun of {workflow}",
        description=f"{workflow}, run from the study {study._title!r}: "
        + ("all sealed results are the same." if rerun.ok else "not all results are the same."),
        licence=NO_LICENCE,
        parts=ids(files),
        action=action,
        title=f"Rerun of {workflow} from a study",
        lines="; ".join(rerun.lines()) or "No result was given.",
        started=rerun.started.isoformat(timespec="seconds"),
        ended=rerun.ended.isoformat(timespec="seconds"),
        result=ids([*files][1:]),
        status="http://schema.org/"
        + ("CompletedActionStatus" if rerun.problem is None else "FailedActionStatus"),
        error=rerun.problem,
        study=study._title,
        digest=f"sha256:{rerun.digest}",
        python=platform.python_version(),
        version=__version__,
    )
    graph = [{n: v for n, v in one.items() if v is not None} for one in crate["@graph"]]
    graph += [
        file(workflow, rerun.notebook.stem)
        | {
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "programmingLanguage": {"@id": "#jupyter"},
            "output": ids(f"#output-{at}" for at, _ in enumerate(paths, 1)),
        },
        file(outputs, "The notebook with its outputs", about={"@id": action}),
    ]
    for at, (name, path) in enumerate(paths.items(), 1):
        one = compared.get(name)
        graph.append(filled(_OUTPUT, id=f"#output-{at}", name=name, path=path))
        facts = {"exampleOfWork": {"@id": f"#output-{at}"}}
        if one is not None:
            identifier = f"aatoolkit-logical-hash-1:{one.rerun}"
            facts |= {"description": "; ".join(one.lines()), "identifier": identifier}  # type: ignore[dict-item]
        graph.append(file(path, name, **facts))
    crate["@graph"] = graph
    text = json_text(crate, indent=1) + "\n"
    with writing_folder(out) as folder:
        for path, content in {**files, "ro-crate-metadata.json": text.encode()}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
    return out


_OUTPUT = """{
"@id": $id,
"@type": "FormalParameter",
"name": $name,
"additionalType": "File",
"encodingFormat": "application/vnd.apache.parquet",
"workExample": {"@id": $path}
}"""
_CRATE = """{
"@context": [
  "https://w3id.org/ro/crate/1.1/context",
  "https://w3id.org/ro/terms/workflow-run/context",
  {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
],
"@graph": [
  {
    "@id": "ro-crate-metadata.json",
    "@type": "CreativeWork",
    "about": {"@id": "./"},
    "conformsTo": [
      {"@id": "https://w3id.org/ro/crate/1.1"},
      {"@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0"}
    ]
  },
  {
    "@id": "./",
    "@type": "Dataset",
    "name": $name,
    "description": $description,
    "datePublished": $ended,
    "license": $licence,
    "conformsTo": [
      {"@id": "https://w3id.org/ro/wfrun/process/0.5"},
      {"@id": "https://w3id.org/ro/wfrun/workflow/0.5"},
      {"@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0"}
    ],
    "hasPart": $parts,
    "mainEntity": {"@id": $workflow},
    "mentions": {"@id": $action}
  },
  {
    "@id": "https://w3id.org/ro/wfrun/process/0.5",
    "@type": "CreativeWork",
    "name": "Process Run Crate",
    "version": "0.5"
  },
  {
    "@id": "https://w3id.org/ro/wfrun/workflow/0.5",
    "@type": "CreativeWork",
    "name": "Workflow Run Crate",
    "version": "0.5"
  },
  {
    "@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
    "@type": "CreativeWork",
    "name": "Workflow RO-Crate",
    "version": "1.0"
  },
  {
    "@id": "#jupyter",
    "@type": "ComputerLanguage",
    "name": "Jupyter Notebook",
    "identifier": {"@id": "https://jupyter.org/"},
    "url": {"@id": "https://jupyter.org/"}
  },
  {"@id": "#Python", "@type": "SoftwareApplication", "name": "Python", "softwareVersion": $python},
  {
    "@id": "#aatoolkit",
    "@type": "SoftwareApplication",
    "name": "aatoolkit",
    "softwareVersion": $version
  },
  {
    "@id": $action,
    "@type": "CreateAction",
    "name": $title,
    "description": $lines,
    "startTime": $started,
    "endTime": $ended,
    "instrument": {"@id": $workflow},
    "object": {"@id": "#study"},
    "result": $result,
    "actionStatus": {"@id": $status},
    "error": $error
  },
  {
    "@id": "#study",
    "@type": "CreativeWork",
    "name": $study,
    "identifier": $digest,
    "description": "The recorded responses; the SHA-256 is that of the study's SHA256SUMS."
  }
]
}"""
